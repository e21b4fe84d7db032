#include "runtime/pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "backends/null/null_backend.h"
#include "core/error.h"
#include "runtime/caching_pool.h"

namespace bc {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr Device kNull{DeviceType::null, 3};   // index 0 is left to other tests
constexpr Device kFresh{DeviceType::null, 2};  // nobody opens its pool in this process
constexpr Device kCpu{DeviceType::cpu, 0};
void* const kStreamA = reinterpret_cast<void*>(0x10);
void* const kStreamB = reinterpret_cast<void*>(0x20);

class Pool : public testing::Test {
 protected:
  void SetUp() override {
    pool_trim(kNull);
    ASSERT_EQ(pool_stats(kNull).used, 0u);
    ASSERT_EQ(pool_stats(kNull).held, 0u);
    pool_reset_peak(kNull);
  }
  void TearDown() override {
    pool_set_limit(kNull, 0);
    pool_set_allocator(kNull, nullptr);
    null_set_capacity(0);
    null_set_captured({});
    null_on_commit({});
    pool_trim(kNull);
    null_set_pages(0);
  }
};

TEST_F(Pool, GivesAlignedDistinctMemoryOfEverySize) {
  for (Device device : {kNull, kCpu}) {
    const size_t align = device == kCpu ? 64 : 256;
    std::vector<std::pair<char*, size_t>> blocks;
    for (size_t bytes = 0; bytes < 3 * kMiB; bytes = bytes < 100 ? bytes + 1 : bytes * 9 / 8) {
      auto* p = static_cast<char*>(pool_allocate(device, bytes));
      ASSERT_NE(p, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0u);
      ASSERT_GE(pool_usable_size(device, p), std::max<size_t>(bytes, 1));
      std::memset(p, 1, bytes);
      blocks.emplace_back(p, pool_usable_size(device, p));
    }
    std::sort(blocks.begin(), blocks.end());
    for (size_t i = 1; i < blocks.size(); ++i) ASSERT_LE(blocks[i - 1].first + blocks[i - 1].second, blocks[i].first);
    for (auto& [p, size] : blocks) pool_free(device, p);
    EXPECT_EQ(pool_stats(device).used, 0u);
  }
}

TEST_F(Pool, WastesAtMostAQuarterOfASmallRequestAndAlmostNothingOfALargeOne) {
  for (size_t bytes = 4096; bytes < 8 * kMiB; bytes = bytes * 17 / 16 + 1) {
    void* p = pool_allocate(kNull, bytes);
    const size_t usable = pool_usable_size(kNull, p);
    EXPECT_LE(usable, bytes <= 32768 ? bytes * 5 / 4 + 256 : bytes + 4096);
    pool_free(kNull, p);
  }
}

TEST_F(Pool, CountsUsedPeakAndCalls) {
  const PoolStats before = pool_stats(kNull);
  void* a = pool_allocate(kNull, 1000);
  void* b = pool_allocate(kNull, 2 * kMiB);
  PoolStats now = pool_stats(kNull);
  EXPECT_EQ(now.used, 1024 + 2 * kMiB);
  EXPECT_GE(now.held, now.used);
  EXPECT_EQ(now.allocations, before.allocations + 2);
  EXPECT_EQ(now.chunk_allocations, before.chunk_allocations + 2);
  pool_free(kNull, b);
  now = pool_stats(kNull);
  EXPECT_EQ(now.used, 1024u);
  EXPECT_EQ(now.peak, 1024 + 2 * kMiB);
  EXPECT_EQ(now.frees, before.frees + 1);
  pool_reset_peak(kNull);
  EXPECT_EQ(pool_stats(kNull).peak, 1024u);
  pool_free(kNull, a);
}

TEST_F(Pool, ReusesWhatWasFreedOnTheSameStream) {
  for (size_t bytes : {size_t{100}, size_t{100000}, 5 * kMiB}) {
    void* a = pool_allocate(kNull, bytes, kStreamA);
    pool_free(kNull, a, kStreamA);
    void* b = pool_allocate(kNull, bytes, kStreamA);
    EXPECT_EQ(a, b);
    pool_free(kNull, b, kStreamA);
  }
}

TEST_F(Pool, KeepsWhatWasFreedOnOneStreamFromAnotherUntilItIsSynchronised) {
  for (size_t bytes : {size_t{100}, size_t{100000}, 20 * kMiB}) {
    void* a = pool_allocate(kNull, bytes, kStreamA);
    pool_free(kNull, a, kStreamA);
    std::vector<void*> others;
    for (int i = 0; i < 2000; ++i) others.push_back(pool_allocate(kNull, bytes, kStreamB));
    EXPECT_EQ(std::count(others.begin(), others.end(), a), 0);
    for (void* p : others) pool_free(kNull, p, kStreamB);
    pool_synchronized(kNull, kStreamA);
    pool_synchronized(kNull, kStreamB);
    // Now it is free for all: as many as before fit into what is held.
    const size_t held = pool_stats(kNull).held;
    others.clear();
    for (int i = 0; i < 2000; ++i) others.push_back(pool_allocate(kNull, bytes, kStreamA));
    EXPECT_EQ(pool_stats(kNull).held, held);
    for (void* p : others) pool_free(kNull, p, kStreamA);
    pool_trim(kNull);
  }
}

TEST_F(Pool, FreeOnAnotherStreamThanTheAllocatingOneKeepsItThere) {
  void* a = pool_allocate(kNull, 512, kStreamA);
  pool_free(kNull, a, kStreamB);
  void* b = pool_allocate(kNull, 512, kStreamA);
  EXPECT_NE(a, b);
  EXPECT_EQ(pool_allocate(kNull, 512, kStreamB), a);
  pool_hand_over(kNull, kStreamB);
  // Two items are in use: a trim must not take their slab away.
  pool_trim(kNull);
  EXPECT_EQ(pool_usable_size(kNull, a), 512u);
  pool_free(kNull, a, kStreamA);
  EXPECT_GT(pool_stats(kNull).held, 0u);
  pool_free(kNull, b, kStreamA);
  EXPECT_EQ(pool_stats(kNull).used, 0u);
}

TEST_F(Pool, MergesNeighboursSoThatALargeBlockFitsAgain) {
  std::vector<void*> parts;
  for (int i = 0; i < 16; ++i) parts.push_back(pool_allocate(kNull, 2 * kMiB));
  EXPECT_EQ(pool_stats(kNull).held, 32 * kMiB);
  std::shuffle(parts.begin(), parts.end(), std::mt19937(7));
  for (void* p : parts) pool_free(kNull, p);
  void* whole = pool_allocate(kNull, 16 * kMiB);
  void* half = pool_allocate(kNull, 16 * kMiB);
  EXPECT_EQ(pool_stats(kNull).held, 32 * kMiB);
  pool_free(kNull, whole);
  pool_free(kNull, half);
}

TEST_F(Pool, TakesTheSmallestBlockThatFits) {
  char* a = static_cast<char*>(pool_allocate(kNull, 4 * kMiB));
  void* wall = pool_allocate(kNull, 2 * kMiB);
  char* b = static_cast<char*>(pool_allocate(kNull, 3 * kMiB));
  void* wall2 = pool_allocate(kNull, 2 * kMiB);
  pool_free(kNull, a);
  pool_free(kNull, b);
  EXPECT_EQ(pool_allocate(kNull, 3 * kMiB - 8192), b);
  for (void* p : {static_cast<void*>(b), wall, wall2}) pool_free(kNull, p);
}

TEST_F(Pool, TrimGivesEveryEmptyChunkBack) {
  std::vector<void*> blocks;
  for (int i = 0; i < 3000; ++i) blocks.push_back(pool_allocate(kNull, static_cast<size_t>(i) * 97, i % 2 ? kStreamA : kStreamB));
  for (size_t i = 0; i < blocks.size(); ++i) pool_free(kNull, blocks[i], i % 3 ? kStreamA : nullptr);
  EXPECT_GT(pool_stats(kNull).held, 100 * kMiB);
  pool_trim(kNull);
  EXPECT_EQ(pool_stats(kNull).held, 0u);
}

TEST_F(Pool, LimitIsKeptAndTheErrorSaysWhoHoldsWhat) {
  pool_set_limit(kNull, 64 * kMiB);
  void* a = pool_allocate(kNull, 40 * kMiB);
  try {
    pool_allocate(kNull, 30 * kMiB);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Memory);
    const std::string text = error.what();
    for (const char* part : {"30 MiB asked for on null:3", "40 MiB used by 1 allocations; the largest: 40 MiB", "limit 64 MiB"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  EXPECT_LE(pool_stats(kNull).held, 64 * kMiB);
  pool_free(kNull, a);
  // The chunk of 40 MiB is cut for this one …
  void* b = pool_allocate(kNull, 30 * kMiB);
  EXPECT_LE(pool_stats(kNull).held, 64 * kMiB);
  pool_free(kNull, b);
  // … and given back for this one.
  void* c = pool_allocate(kNull, 64 * kMiB);
  EXPECT_EQ(pool_stats(kNull).held, 64 * kMiB);
  pool_free(kNull, c);
}

TEST_F(Pool, ExhaustionUsesWhatOtherStreamsFreed) {
  null_set_capacity(64 * kMiB);
  for (void* stream : {kStreamA, kStreamB}) {
    std::vector<void*> blocks;
    for (int i = 0; i < 6; ++i) blocks.push_back(pool_allocate(kNull, 10 * kMiB, stream));
    for (void* p : blocks) pool_free(kNull, p, stream);
  }
  // Small items of another stream give way to a large block too.
  std::vector<void*> items;
  for (int i = 0; i < 10000; ++i) items.push_back(pool_allocate(kNull, 4096, kStreamA));
  for (void* p : items) pool_free(kNull, p, kStreamA);
  void* p = pool_allocate(kNull, 60 * kMiB, kStreamB);
  pool_free(kNull, p, kStreamB);
  EXPECT_THROW(pool_allocate(kNull, 65 * kMiB), Error);
  EXPECT_EQ(pool_stats(kNull).used, 0u);
  EXPECT_THROW(pool_allocate(kNull, ~size_t{0}), Error);
  EXPECT_THROW(pool_allocate(kNull, ~size_t{0} / 2), Error);
}

TEST_F(Pool, PressureLeavesMemoryOfCapturedStreamsAndPagesInTheirPlace) {
  for (size_t page : {size_t{0}, 2 * kMiB}) {
    null_set_pages(page);
    null_set_capacity(64 * kMiB);
    std::vector<void*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(pool_allocate(kNull, 10 * kMiB, kStreamA));
    void* other = pool_allocate(kNull, 10 * kMiB, kStreamB);
    for (void* p : blocks) pool_free(kNull, p, kStreamA);
    pool_free(kNull, other, kStreamB);
    // The work of A has not ended, and nobody can wait for it: its memory is not for B, nor do pages leave it.
    null_set_captured({kStreamA});
    EXPECT_THROW(pool_allocate(kNull, 40 * kMiB, kStreamB), Error);
    pool_trim(kNull);
    EXPECT_GE(pool_stats(kNull).held, 50 * kMiB);
    EXPECT_EQ(pool_allocate(kNull, 10 * kMiB, kStreamB), other);
    void* own = pool_allocate(kNull, 10 * kMiB, kStreamA);
    EXPECT_NE(std::find(blocks.begin(), blocks.end(), own), blocks.end());
    pool_free(kNull, own, kStreamA);
    pool_free(kNull, other, kStreamB);
    null_set_captured({});
    void* large = pool_allocate(kNull, 40 * kMiB, kStreamB);
    pool_free(kNull, large, kStreamB);
    pool_trim(kNull);
    EXPECT_EQ(pool_stats(kNull).held, 0u);
  }
}

TEST_F(Pool, PressureHookMayFree) {
  null_set_capacity(64 * kMiB);
  void* cached = pool_allocate(kNull, 40 * kMiB);
  int pressed = 0;
  const int hook = pool_add_hook([&](PoolEvent event, Device device, void*, size_t) {
    if (event != PoolEvent::Pressure || !cached) return;
    ++pressed;
    EXPECT_EQ(device, kNull);
    pool_free(kNull, std::exchange(cached, nullptr));
  });
  void* p = pool_allocate(kNull, 50 * kMiB);
  pool_remove_hook(hook);
  EXPECT_EQ(pressed, 1);
  pool_free(kNull, p);
}

TEST_F(Pool, HooksSeeEveryEvent) {
  std::map<PoolEvent, int> seen;
  const int hook = pool_add_hook([&](PoolEvent event, Device, void*, size_t) { ++seen[event]; });
  void* a = pool_allocate(kNull, 10);
  void* b = pool_allocate(kNull, 5 * kMiB);
  pool_free(kNull, a);
  pool_free(kNull, b);
  pool_trim(kNull);
  pool_remove_hook(hook);
  pool_free(kNull, pool_allocate(kNull, 10));
  EXPECT_EQ(seen[PoolEvent::Allocate], 2);
  EXPECT_EQ(seen[PoolEvent::Free], 2);
  EXPECT_EQ(seen[PoolEvent::ChunkAllocate], 2);
  EXPECT_EQ(seen[PoolEvent::ChunkFree], 2);
}

TEST_F(Pool, AnotherAllocatorTakesTheArenasPlace) {
  void* own = pool_allocate(kNull, 1000);
  std::map<void*, size_t> given;
  pool_set_allocator(
      kNull,
      [&](size_t bytes, int device, void*) -> void* {
        EXPECT_EQ(device, kNull.index);
        if (bytes > kMiB) return nullptr;
        void* p = std::malloc(bytes);
        given[p] = bytes;
        return p;
      },
      [&](void* p, size_t bytes, int, void*) {
        EXPECT_EQ(given[p], bytes);
        given.erase(p);
        std::free(p);
      });
  void* a = pool_allocate(kNull, 5000);
  void* b = pool_allocate(kNull, 0);
  EXPECT_EQ(given.size(), 2u);
  EXPECT_EQ(pool_usable_size(kNull, a), 5000u);
  EXPECT_THROW(pool_allocate(kNull, 2 * kMiB), Error);
  EXPECT_EQ(pool_stats(kNull).used, 1024u + 5000 + 512);
  pool_free(kNull, own);
  pool_set_allocator(kNull, nullptr);
  pool_free(kNull, a);
  pool_free(kNull, b);
  EXPECT_TRUE(given.empty());
  EXPECT_EQ(pool_stats(kNull).used, 0u);
}

TEST_F(Pool, RefusesWhatIsNotAllocated) {
  char* a = static_cast<char*>(pool_allocate(kNull, 1024));
  char* b = static_cast<char*>(pool_allocate(kNull, kMiB * 3));
  int local = 0;
  EXPECT_THROW(pool_free(kNull, &local), Error);
  EXPECT_THROW(pool_free(kNull, a + 64), Error);
  EXPECT_THROW(pool_free(kNull, b + 64), Error);
  pool_free(kNull, a);
  pool_free(kNull, b);
  EXPECT_THROW(pool_free(kNull, a), Error);
  EXPECT_THROW(pool_free(kNull, b), Error);
  EXPECT_EQ(pool_stats(kNull).used, 0u);
  pool_free(kNull, nullptr);
}

TEST_F(Pool, KeepsContentsApartUnderRandomUseFromManyThreads) {
  for (Device device : {kNull, kCpu}) {
    const size_t used = pool_stats(device).used;
    auto work = [device](unsigned seed) {
      std::mt19937 random(seed);
      void* stream = reinterpret_cast<void*>(static_cast<uintptr_t>(seed % 3));
      struct Piece {
        uint32_t* p;
        size_t words;
        uint32_t tag;
      };
      std::vector<Piece> pieces;
      const auto drop = [&](size_t i) {
        const Piece piece = pieces[i];
        ASSERT_EQ(piece.p[0], piece.tag);
        ASSERT_EQ(piece.p[piece.words - 1], piece.tag);
        ASSERT_EQ(piece.p[piece.words / 2], piece.tag);
        pool_free(device, piece.p, stream);
        pieces[i] = pieces.back();
        pieces.pop_back();
      };
      for (int step = 0; step < 20000; ++step) {
        if (pieces.size() > 100 || (!pieces.empty() && random() % 2)) {
          drop(random() % pieces.size());
        } else {
          const size_t bytes = 4 + (random() & ((size_t{1} << (2 + random() % 20)) - 1));
          auto* p = static_cast<uint32_t*>(pool_allocate(device, bytes, stream));
          const auto tag = static_cast<uint32_t>(random());
          p[0] = p[bytes / 4 - 1] = p[bytes / 8] = tag;
          pieces.push_back({p, bytes / 4, tag});
          if (pieces.back().words / 2 != bytes / 8) p[pieces.back().words / 2] = tag;
        }
        if (step % 5000 == 4999) pool_trim(device);
        if (step % 777 == 0) pool_synchronized(device, stream);
      }
      while (!pieces.empty()) drop(pieces.size() - 1);
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 6; ++i) threads.emplace_back(work, 100 + i);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(pool_stats(device).used, used);
  }
}

TEST_F(Pool, ChildOfAForkKeepsWorkingWhileOtherThreadsAllocate) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        pool_free(kCpu, pool_allocate(kCpu, 100));
        pool_free(kCpu, pool_allocate(kCpu, 3 * kMiB));
      }
    });
  }
  int failures = 0;
  for (int round = 0; round < 50; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int i = 0; i < 100; ++i) {
        void* p = pool_allocate(kCpu, static_cast<size_t>(i) * 1000);
        std::memset(p, 1, static_cast<size_t>(i) * 1000);
        pool_free(kCpu, p);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failures += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

TEST(PoolLimit, EnvironmentSetsItAsBytesOrShare) {
  // A pool reads the variable once, so each value is tried in a process of its own.
  const auto in_child = [](const char* value, auto check) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("BROADCLOTH_POOL_LIMIT", value, 1);
      int code = 1;
      try {
        code = check() ? 0 : 2;
      } catch (const Error& error) {
        code = error.kind() == ErrorKind::Value ? 3 : 4;
      }
      _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  const auto limit_is = [&](size_t bytes) { return [=] { return pool_stats(kFresh).limit == bytes; }; };
  EXPECT_EQ(in_child("1000000", limit_is(1000000)), 0);
  EXPECT_EQ(in_child("64MiB", limit_is(64 * kMiB)), 0);
  EXPECT_EQ(in_child("50%", limit_is(size_t{1} << 39)), 0);
  for (const char* bad : {"lots", "-5", "nan", "5 apples", "1e30"}) EXPECT_EQ(in_child(bad, limit_is(0)), 3) << bad;
}

// ---- Pools of programs ----

TEST_F(Pool, ACachingPoolIsToldOfStreams) {
  auto pool = std::make_shared<CachingPool>(memory_source(MemoryKind::chunk), true, "test's");
  pool_set_allocator(kNull, pool);
  void* a = pool_allocate(kNull, 1000, kStreamA);
  pool_free(kNull, a, kStreamA);
  void* b = pool_allocate(kNull, 1000, kStreamB);
  EXPECT_NE(a, b);
  // Synchronised: for every stream.
  pool_synchronized(kNull, kStreamA);
  EXPECT_EQ(pool_allocate(kNull, 1000, kStreamB), a);
  pool_free(kNull, a, kStreamB);
  // Handed over: for the default stream, and not for a new one of the same handle.
  pool_hand_over(kNull, kStreamB);
  void* c = pool_allocate(kNull, 1000, kStreamB);
  EXPECT_NE(c, a);
  EXPECT_EQ(pool_allocate(kNull, 1000, nullptr), a);
  pool_free(kNull, a, kStreamA);
  // A captured stream keeps what waits.
  null_set_captured({kStreamA});
  const size_t blocks = pool->free_blocks(kNull);
  pool_trim(kNull);
  EXPECT_EQ(pool->free_blocks(kNull), blocks);
  null_set_captured({});
  pool_trim(kNull);
  EXPECT_EQ(pool->free_blocks(kNull), 0u);
  pool_free(kNull, b, kStreamB);
  pool_free(kNull, c, kStreamB);
  pool_set_allocator(kNull, nullptr);
}

// ---- Ranges of virtual memory ----

TEST_F(Pool, FragmentsOfARangeMakeOneLargeBlock) {
  null_set_pages(2 * kMiB);
  null_set_capacity(1024 * kMiB);
  std::vector<void*> pieces;
  for (int i = 0; i < 30; ++i) pieces.push_back(pool_allocate(kNull, 32 * kMiB, kStreamA));
  const size_t held = pool_stats(kNull).held;
  EXPECT_LE(held, 1024 * kMiB);
  for (size_t i = 0; i < pieces.size(); i += 2) {
    pool_free(kNull, pieces[i], kStreamA);
    pieces[i] = nullptr;
  }
  // 480 MiB are free in pieces of 32: only pages that move can make 500 of them and the rest of the device.
  auto* large = static_cast<char*>(pool_allocate(kNull, 500 * kMiB, kStreamA));
  ASSERT_NE(large, nullptr);
  for (size_t at = 0; at < 500 * kMiB; at += kMiB) large[at] = 1;  // memory is there
  EXPECT_EQ(pool_stats(kNull).used, 500 * kMiB + 15 * 32 * kMiB);
  EXPECT_LE(pool_stats(kNull).held, 1024 * kMiB);
  pool_free(kNull, large, kStreamA);
  for (void* p : pieces)
    if (p) pool_free(kNull, p, kStreamA);
  pool_trim(kNull);
  EXPECT_EQ(pool_stats(kNull).held, 0u);
}

TEST_F(Pool, ARangeGrowsAtItsFreeEndByWhatIsMissing) {
  null_set_pages(2 * kMiB);
  void* a = pool_allocate(kNull, 600 * kMiB);
  pool_free(kNull, a);
  pool_synchronized(kNull, nullptr);
  const size_t held = pool_stats(kNull).held;
  void* b = pool_allocate(kNull, 700 * kMiB);
  EXPECT_EQ(b, a);
  EXPECT_LE(pool_stats(kNull).held, std::max(held, 700 * kMiB));
  pool_free(kNull, b);
}

TEST_F(Pool, AStreamMayBeHandedOverWhileARangeGrowsBesideItsMemory) {
  null_set_pages(2 * kMiB);
  void* a = pool_allocate(kNull, 32 * kMiB, kStreamA);
  pool_free(kNull, a, kStreamA);
  // What is free for the stream lies beside the pages that come, and its arena goes while they do.
  null_on_commit([] { pool_hand_over(kNull, kStreamA); });
  void* b = pool_allocate(kNull, 48 * kMiB, kStreamA);
  null_on_commit({});
  ASSERT_NE(b, nullptr);
  std::memset(b, 1, 48 * kMiB);
  pool_free(kNull, b, kStreamA);
  pool_trim(kNull);
  EXPECT_EQ(pool_stats(kNull).held, 0u);
}

TEST_F(Pool, ARangeKeepsToTheLimitAndSaysWhatIsUsed) {
  null_set_pages(2 * kMiB);
  pool_set_limit(kNull, 100 * kMiB);
  void* a = pool_allocate(kNull, 64 * kMiB);
  try {
    pool_allocate(kNull, 64 * kMiB);
    FAIL() << "the limit was not kept";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Memory);
    EXPECT_NE(std::string(e.what()).find("64 MiB used by 1 allocations; the largest: 64 MiB"), std::string::npos) << e.what();
  }
  void* b = pool_allocate(kNull, 30 * kMiB);
  EXPECT_LE(pool_stats(kNull).held, 100 * kMiB);
  pool_free(kNull, a);
  pool_free(kNull, b);
}

TEST_F(Pool, RandomUseOfARangeNeverOverlapsAndNeverRunsOutWhileAQuarterIsFree) {
  null_set_pages(2 * kMiB);
  null_set_capacity(512 * kMiB);
  std::mt19937 random(7);
  std::map<char*, std::pair<size_t, void*>> live;
  size_t used = 0;
  for (int step = 0; step < 4000; ++step) {
    const size_t bytes = (kMiB + kMiB / 2) << (random() % 6);
    void* stream = random() % 2 ? kStreamA : kStreamB;
    while (used + bytes > 384 * kMiB) {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      pool_free(kNull, victim->first, victim->second.second);
      used -= victim->second.first;
      live.erase(victim);
    }
    auto* p = static_cast<char*>(pool_allocate(kNull, bytes, stream));
    p[0] = p[bytes - 1] = 1;
    const auto after = live.lower_bound(p);
    if (after != live.end()) {
      ASSERT_LE(p + bytes, after->first);
    }
    if (after != live.begin()) {
      ASSERT_LE(std::prev(after)->first + std::prev(after)->second.first, p);
    }
    live.emplace(p, std::pair(bytes, stream));
    used += bytes;
    ASSERT_LE(pool_stats(kNull).held, 512 * kMiB);
  }
  for (const auto& [p, what] : live) pool_free(kNull, p, what.second);
  pool_trim(kNull);
  EXPECT_EQ(pool_stats(kNull).held, 0u);
}

}  // namespace
}  // namespace bc
