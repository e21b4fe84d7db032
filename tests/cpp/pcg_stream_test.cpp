// Draws on all threads against a loop over the words, for a sampler that gets in step late: pieces have to be drawn again.
#include "ops/pcg_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace bc::pcg {
namespace {

using u128 = unsigned __int128;

/// One word after the other, as the published algorithm says.
struct Loop {
  u128 state, increment;
  int64_t words = 0;
  uint64_t next() {
    constexpr u128 multiplier = static_cast<u128>(2549297995355413924u) << 64 | 4865540595714422341u;
    state = state * multiplier + increment;
    ++words;
    const auto high = static_cast<uint64_t>(state >> 64), mixed = high ^ static_cast<uint64_t>(state);
    const auto turn = static_cast<unsigned>(high >> 58);
    return turn == 0 ? mixed : mixed >> turn | mixed << (64 - turn);
  }
};

/// A ziggurat of equal layers that takes half of the units. Of the others it throws away units until one has low bits that are zero, so
/// that two that began at different units take long to meet.
double slow_to_meet(BitGenerator* b) {
  const uint64_t unit = b->next_uint64(b->state);
  const uint64_t number = unit >> 9 & ((uint64_t{1} << 52) - 1);
  if (number < uint64_t{1} << 51) return (unit >> 8 & 1 ? -1.0 : 1.0) * static_cast<double>(number);
  int thrown = 0;
  // The script of the search for layers gives the same unit for ever.
  while (thrown < 40 && (b->next_uint64(b->state) >> 9 & 31) != 0) ++thrown;
  return 0.5 + thrown;
}

/// Takes exactly two units, always: samplers that begin at neighbours never meet.
double never_meets(BitGenerator* b) {
  const uint64_t unit = b->next_uint64(b->state);
  b->next_uint64(b->state);
  return static_cast<double>(unit >> 11);
}

void expect_draws_of_the_loop(double (*one)(BitGenerator*), int64_t count) {
  State state{static_cast<u128>(987654321) << 64 | 12345, static_cast<u128>(77) << 64 | 4321, false, true, 99};
  Loop loop{state.state, state.increment};
  BitGenerator b{};
  b.state = &loop;
  b.next_uint64 = [](void* s) { return static_cast<Loop*>(s)->next(); };
  std::vector<double> expected(static_cast<size_t>(count)), drawn(expected.size());
  for (double& x : expected) x = one(&b);
  Draw what{Kind::normal, DType::f64};
  what.one = reinterpret_cast<void*>(one);
  draw(state, what, drawn.data(), count);
  EXPECT_EQ(drawn, expected);
  EXPECT_TRUE(state.state == loop.state);
  EXPECT_TRUE(state.has_half);
  EXPECT_EQ(state.half, 99u);
}

TEST(PcgStream, SamplersThatGetInStepLateAreDrawnAgain) {
  for (const int64_t count : {int64_t{1}, int64_t{100}, int64_t{5000}, int64_t{100'003}, int64_t{400'000}}) {
    expect_draws_of_the_loop(slow_to_meet, count);
    expect_draws_of_the_loop(never_meets, count);
  }
}

TEST(PcgStream, NothingIsDrawnOfNothing) {
  State state{5, 7, false, true, 3};
  draw(state, {Kind::uniform, DType::f32}, nullptr, 0);
  EXPECT_TRUE(state.state == 5);
  EXPECT_TRUE(state.has_half);
  EXPECT_EQ(state.half, 3u);
}

TEST(PcgStream, HalvesOfWordsAreKeptBetweenDraws) {
  State whole{5, 7, false, false, 0}, parts = whole;
  std::vector<float> all(100'000), some(all.size());
  draw(whole, {Kind::uniform, DType::f32}, all.data(), 100'000);
  int64_t at = 0;
  for (const int64_t n : {1, 2, 3, 4094, 4097, 30'001, 61'802}) {
    draw(parts, {Kind::uniform, DType::f32}, some.data() + at, n);
    at += n;
  }
  ASSERT_EQ(at, 100'000);
  EXPECT_EQ(some, all);
  EXPECT_TRUE(parts.state == whole.state);
  EXPECT_EQ(parts.has_half, whole.has_half);
}

}  // namespace
}  // namespace bc::pcg
