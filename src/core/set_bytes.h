#pragma once
#include <array>
#include <cstdint>
#include <cstring>

namespace bc {

/// For each set of bits of a byte, the places of those that are set, in ascending order.
inline constexpr auto kSetPlaces = [] {
  std::array<std::array<int64_t, 8>, 256> all{};
  for (size_t set = 0; set < 256; ++set)
    for (int64_t bit = 0, n = 0; bit < 8; ++bit)
      if (set >> bit & 1) all[set][static_cast<size_t>(n++)] = bit;
  return all;
}();

/// Eight bytes as a word whose bytes are 1 where they are not zero.
inline uint64_t set_bytes(const void* bytes) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return (((word & kLow) + kLow) | word) >> 7 & 0x0101010101010101;
}

/// The room that find_set_bytes() needs behind the places it finds.
inline constexpr int64_t kSetBytesRoom = 8;

/// Writes begin + i for each i below `count` whose byte is not zero, in ascending order. Returns how many there are. Places are always
/// written, and kept only if the byte is set: this avoids a branch that a random mask would mispredict.
inline int64_t find_set_bytes(const uint8_t* bytes, int64_t count, int64_t begin, int64_t* places) {
  using Pair = int64_t __attribute__((vector_size(16)));
  int64_t n = 0, i = 0;
  for (; i + 8 <= count; i += 8) {
    const uint64_t set = set_bytes(bytes + i);
    const int64_t* from = kSetPlaces[set * 0x0102040810204080 >> 56].data();  // byte k's bit comes to bit 56 + k
    for (int p = 0; p < 8; p += 2) {
      Pair pair;
      std::memcpy(&pair, from + p, sizeof pair);
      pair += begin + i;
      std::memcpy(places + n + p, &pair, sizeof pair);
    }
    n += static_cast<int64_t>(set * 0x0101010101010101 >> 56);
  }
  for (; i < count; ++i) {
    places[n] = begin + i;
    n += bytes[i] != 0;
  }
  return n;
}

}  // namespace bc
