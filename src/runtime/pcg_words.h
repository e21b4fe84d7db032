#pragma once
#include <cstdint>

#include "runtime/pcg_stream.h"

namespace bc::pcg {

/// The map x -> multiplier * x + addend, modulo 2^128.
struct Step {
  unsigned __int128 multiplier, addend;
  unsigned __int128 operator()(unsigned __int128 x) const { return multiplier * x + addend; }
};

/// The words of a stream from any place on, a block at a time. Word 0 is the one whose upper half is left, where there is one, and the
/// generator's next word else.
class Words {
 public:
  static constexpr int64_t kBlock = 512;

  /// `state` must live as long as the object.
  explicit Words(const State& state);
  /// How many words do not come from the generator.
  int64_t kept() const { return state_.has_half ? 1 : 0; }
  /// The generator's state where word `index` is the next one.
  unsigned __int128 state_at(int64_t index) const;
  void seek(int64_t index);
  /// Writes the next kBlock words.
  void next(char* out);

 private:
  static constexpr int kLanes = 16;

  const State& state_;
  Step step_, long_step_;  ///< one word; as many as there are lanes
  int64_t index_ = 0;
  // What the next kLanes words are made of.
  alignas(64) uint64_t high_[kLanes] = {}, low_[kLanes] = {};
};

}  // namespace bc::pcg
