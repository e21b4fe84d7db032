// The lock of containers that threads share. Under ThreadSanitizer it also finds what the lock does not order.
#include "runtime/container_lock.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace bc::host {
namespace {

struct Object {
  ContainerLock lock;
  int64_t first = 0, second = 0;
};

/// `turns` turns in each of `threads` threads, of which each `every`-th writes (0: none).
void use(Object* object, Object* inner, int threads, int turns, int every, int64_t* torn) {
  std::vector<std::thread> all;
  std::vector<int64_t> found(static_cast<size_t>(threads));
  for (int k = 0; k < threads; ++k)
    all.emplace_back([&, k] {
      for (int i = 0; i < turns; ++i) {
        const bool writes = every != 0 && (i + k) % every == 0;
        object->lock.enter(writes);
        if (writes) {
          ++object->first;
          object->lock.enter(false);  // again, by who has it
          ++object->second;
          object->lock.leave();
        } else {
          found[static_cast<size_t>(k)] += object->first != object->second;
        }
        // What it holds.
        inner->lock.enter(i % 7 == 0);
        inner->first += i % 7 == 0;
        inner->lock.leave();
        object->lock.leave();
        EXPECT_FALSE(holds_container());
      }
    });
  for (std::thread& t : all) t.join();
  for (int64_t n : found) *torn += n;
}

class ContainerLocks : public testing::TestWithParam<int> {};

TEST_P(ContainerLocks, ReadersSeeWholeWrites) {
  const int threads = 4, turns = 5000, every = GetParam();
  auto object = std::make_unique<Object>(), inner = std::make_unique<Object>();
  int64_t torn = 0;
  use(object.get(), inner.get(), threads, turns, every, &torn);
  EXPECT_EQ(torn, 0);
  int64_t writes = 0;
  for (int k = 0; k < threads; ++k)
    for (int i = 0; i < turns && every != 0; ++i) writes += (i + k) % every == 0;
  EXPECT_EQ(object->first, writes);
  EXPECT_EQ(object->second, writes);
  EXPECT_EQ(inner->first, threads * ((turns + 6) / 7));
}
// Seldom enough that readers use their slots, and so often that they do not.
INSTANTIATE_TEST_SUITE_P(Every, ContainerLocks, testing::Values(0, 2, 100, 2000));

}  // namespace
}  // namespace bc::host
