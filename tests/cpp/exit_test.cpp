// The end of the process while threads are inside libraries that take their state down.
#include "runtime/exit.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace bc {
namespace {

using namespace std::chrono_literals;

/// A library whose state goes by an exit handler, as a driver's does. A call after that ends the process as a crash would.
std::atomic<bool> library_stands{false};
void library_function(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  do
    if (!library_stands.load()) _exit(3);
  while (std::chrono::steady_clock::now() < end);
}

int exit_status_of(void (*program)()) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    library_stands = true;
    std::atexit([] {
      library_stands = false;
      std::this_thread::sleep_for(20ms);
    });
    arm_exit_barrier();
    program();
    std::exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class Exit : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a fork of several threads";
#endif
  }
};

TEST_F(Exit, WaitsForLibraryCallsAndBeginsNoOther) {
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(exit_status_of([] {
                for (int t = 0; t < 4; ++t)
                  std::thread([t] {
                    for (;;) {
                      const LibraryCall call;
                      library_function(std::chrono::microseconds(200 * t));
                    }
                  }).detach();
                std::this_thread::sleep_for(5ms);
              }),
              7);
  }
}

TEST_F(Exit, ThreadsThatBeginLaterSleep) {
  EXPECT_EQ(exit_status_of([] {
              // Runs after the barrier.
              std::atexit([] {});
              for (int t = 0; t < 3; ++t)
                std::thread([] {
                  for (;;) {
                    std::thread([] {
                      const LibraryCall call;
                      const LibraryCall inner;
                      library_function(50us);
                    }).join();
                  }
                }).detach();
              std::this_thread::sleep_for(5ms);
            }),
            7);
}

TEST_F(Exit, TheEndingThreadMayStillCall) {
  EXPECT_EQ(exit_status_of([] {
              // Runs between the barrier, armed once more, and the library's own handler.
              static const LibraryFunction<void(std::chrono::microseconds)> call = [] {
                LibraryFunction<void(std::chrono::microseconds)> f;
                f.set(reinterpret_cast<void*>(library_function));
                return f;
              }();
              std::atexit([] { call(1us); });
              arm_exit_barrier();
            }),
            7);
}

}  // namespace
}  // namespace bc
