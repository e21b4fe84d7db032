// numpy.random and random of compiled functions: states of threads, how they are seeded, and MT19937's next words.
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <random>
#include <vector>

#include "runtime/compiled_functions.h"

namespace bc::host {
namespace {

constexpr uint32_t kWords = RandomState::kWords, kMiddle = 397;

/// A child must not go on with its parent's numbers.
std::atomic<uint32_t> forks{0};

/// States outlive their threads: compiled code may still know one where a generator went to another thread.
struct States {
  std::mutex mutex;
  std::vector<RandomState*> unused;
};
States& states() {
  static States& s = *new States;
  return s;
}

struct Mine {
  RandomState* of[2] = {nullptr, nullptr};
  uint32_t forks = 0;
  ~Mine() {
    const std::lock_guard lock(states().mutex);
    for (RandomState* s : of)
      if (s != nullptr) states().unused.push_back(s);
  }
};

/// The word after x and y, by the word in the middle.
__attribute__((always_inline)) inline uint32_t twist(uint32_t x, uint32_t y, uint32_t middle) {
  const uint32_t mixed = (x & 0x80000000u) | (y & 0x7fffffffu);
  return middle ^ (mixed >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
}

}  // namespace

void seed_random(RandomState* s, uint64_t seed) {
  uint32_t word = static_cast<uint32_t>(seed);
  for (uint32_t i = 0; i < kWords; ++i) {
    s->state[i] = word;
    word = 1812433253u * (word ^ (word >> 30)) + i + 1;
  }
  s->at = kWords;
  s->has_normal = 0;
  s->normal = 0;
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#endif
void refill_random(RandomState* s) {
  uint32_t* const x = s->state;
  // In three parts, none of which reads what it writes, so that each is a loop over vectors.
  uint32_t last[kWords - kMiddle];
  for (uint32_t i = 0; i < kWords - kMiddle; ++i) last[i] = twist(x[i], x[i + 1], x[i + kMiddle]);
  const uint32_t first = last[0];
  uint32_t next[kWords - kMiddle];
  for (uint32_t i = 0; i < kWords - kMiddle; ++i) next[i] = twist(x[i + kWords - kMiddle], x[i + 1 + kWords - kMiddle], last[i]);
  constexpr uint32_t kDone = 2 * (kWords - kMiddle);
  uint32_t rest[kWords - kDone];
  for (uint32_t i = 0; i + 1 < kWords - kDone; ++i) rest[i] = twist(x[i + kDone], x[i + kDone + 1], next[i]);
  rest[kWords - kDone - 1] = twist(x[kWords - 1], first, next[kWords - kDone - 1]);
  for (uint32_t i = 0; i < kWords - kMiddle; ++i) x[i] = last[i];
  for (uint32_t i = 0; i < kWords - kMiddle; ++i) x[i + kWords - kMiddle] = next[i];
  for (uint32_t i = 0; i < kWords - kDone; ++i) x[i + kDone] = rest[i];
  for (uint32_t i = 0; i < kWords; ++i) {
    uint32_t y = x[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    s->words[i] = y ^ (y >> 18);
  }
  s->at = 0;
}

RandomState* random_state(int32_t which) {
  thread_local Mine mine;
  const uint32_t now = forks.load(std::memory_order_relaxed);
  RandomState*& s = mine.of[which];
  if (s != nullptr && mine.forks == now) return s;
  static const bool watched = [] {
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    return true;
  }();
  (void)watched;
  const auto seed_by_system = [](RandomState* to) {
    std::random_device device;
    seed_random(to, 0);
    // Steele, Lea & Flood (2014): each word from a number of its own.
    uint64_t number = (static_cast<uint64_t>(device()) << 32) | device();
    for (uint32_t& word : to->state) {
      uint64_t z = number += 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = static_cast<uint32_t>((z ^ (z >> 31)) >> 32);
    }
  };
  if (s == nullptr) {
    const std::lock_guard lock(states().mutex);
    if (states().unused.empty()) states().unused.push_back(new RandomState);
    s = states().unused.back();
    states().unused.pop_back();
    seed_by_system(s);
  }
  if (mine.forks != now) {
    mine.forks = now;
    for (RandomState* other : mine.of)
      if (other != nullptr) seed_by_system(other);
  }
  return s;
}

}  // namespace bc::host
