// Highway's library measures the resolution of the processor's timer when it is loaded, 3 ms of each process's start, for benchmarks that
// nothing here runs. It asks by its own symbol, which the loader finds in this library first (cmake/broadcloth.map).
#include <cstdint>

namespace hwy::platform {

uint64_t TimerResolution();  // ticks; in which of Highway's headers it is declared depends on the version
uint64_t TimerResolution() { return 1; }

}  // namespace hwy::platform
