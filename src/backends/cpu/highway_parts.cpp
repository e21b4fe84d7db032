// Functions of Highway's library that cost time which nothing here needs. It calls them by their symbols, which the loader finds in this
// library first (cmake/broadcloth.map).
#include <hwy/contrib/sort/vqsort.h>

#include <cstdint>
#include <cstring>

namespace hwy {

namespace platform {

// Highway measures the resolution of the processor's timer when it is loaded, for benchmarks: 3 ms of each process's start.
uint64_t TimerResolution();  // ticks; in which of Highway's headers it is declared depends on the version
uint64_t TimerResolution() { return 1; }

}  // namespace platform

// The state by which each sort draws the keys that it splits at. Highway asks the operating system for it, which takes as long as sorting
// 50 keys does. What keys can be arranged against is no danger: a sort that splits badly goes on as a heap sort.
void Sorter::Fill24Bytes(const void*, size_t, void* bytes) {
  static constexpr uint64_t kState[3] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};
  std::memcpy(bytes, kState, sizeof(kState));
}

}  // namespace hwy
