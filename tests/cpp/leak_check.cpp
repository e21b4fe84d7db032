// Where AddressSanitizer's search for leaks takes place.
#if defined(__SANITIZE_ADDRESS__)
#include <unistd.h>

namespace {
const pid_t tests = getpid();
}

/// Asked by LeakSanitizer before it searches at the end of a process. A forked child has the memory of its parent's threads, but not these
/// threads, whose stacks and thread-local variables point to it: all of it would be called lost. So only the tests' own process searches.
extern "C" __attribute__((used)) int __lsan_is_turned_off() { return getpid() != tests; }
#endif
