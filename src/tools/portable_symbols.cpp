// Older versions of what headers and archives of Debian 12 ask of the C and C++ libraries, so that what is built there runs where glibc is
// 2.34 and libstdc++ that of GCC 11 (cmake/Portable.cmake has the linker call these in the place of the symbols).
#include <sys/random.h>

#include <condition_variable>
#include <cstdint>

extern "C" {

// hypot@GLIBC_2.35 and hypotf@GLIBC_2.35 leave errno alone; their results are the same.
double bc_hypot_of_2_2_5(double x, double y);
asm(".symver bc_hypot_of_2_2_5, hypot@GLIBC_2.2.5");
double __wrap_hypot(double x, double y) { return bc_hypot_of_2_2_5(x, y); }
float bc_hypotf_of_2_2_5(float x, float y);
asm(".symver bc_hypotf_of_2_2_5, hypotf@GLIBC_2.2.5");
float __wrap_hypotf(float x, float y) { return bc_hypotf_of_2_2_5(x, y); }

// std::condition_variable::wait@GLIBCXX_3.4.30 is the same function under a new version.
void bc_wait_of_gcc_4(std::condition_variable* self, std::unique_lock<std::mutex>* lock);
asm(".symver bc_wait_of_gcc_4, _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* self, std::unique_lock<std::mutex>* lock) {
  bc_wait_of_gcc_4(self, lock);
}

// glibc has arc4random() since 2.36; std::random_device takes its numbers from it.
uint32_t __wrap_arc4random() {
  uint32_t number = 0;
  // The kernel gives up to 256 bytes whole once it has started.
  while (getrandom(&number, sizeof number, 0) != sizeof number) {}
  return number;
}
}
