#pragma once
#include <cstdint>

#include "ops/pcg_stream.h"

namespace bc::pcg {

/// The map x -> multiplier * x + addend, modulo 2^128.
struct Step {
  unsigned __int128 multiplier, addend;
  unsigned __int128 operator()(unsigned __int128 x) const { return multiplier * x + addend; }
};

/// The generator's words from any position on, in blocks of kBlock. Word 0 is the word whose upper half was not drawn yet
/// (State::has_half), or the generator's next word where there is no such half.
class Words {
 public:
  static constexpr int64_t kBlock = 512;

  /// `state` must live as long as the object.
  explicit Words(const State& state);
  /// 1 where word 0 is the kept half-used word instead of a new one of the generator, else 0.
  int64_t kept() const { return state_.has_half ? 1 : 0; }
  /// The generator's state before it makes word `index`.
  unsigned __int128 state_at(int64_t index) const;
  void seek(int64_t index);
  /// Writes the next kBlock words.
  void next(char* out);

 private:
  static constexpr int kLanes = 16;

  const State& state_;
  Step step_, long_step_;  ///< a step of one word; a step of kLanes words
  int64_t index_ = 0;
  // The states from which the next kLanes words are made.
  alignas(64) uint64_t high_[kLanes] = {}, low_[kLanes] = {};
};

}  // namespace bc::pcg
