#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace bc {

/// A 128-bit hash of a structure or a text.
struct Hash128 {
  uint64_t lo = 0;
  uint64_t hi = 0;
  bool operator==(const Hash128&) const = default;
};

/// XXH3-128 of `bytes` bytes. The disk cache compares only this digest.
Hash128 digest(const void* data, size_t bytes);
/// 32 hexadecimal digits.
std::string to_string(const Hash128& hash);

/// Hashes a sequence of 64-bit words with one multiplication each. For keys in memory: fast and well mixed, but not safe against an
/// adversary. Only the sequence of words counts, not the calls that added them: before a run of unknown length, add its length
/// (`add(bytes)` does so itself).
class Hasher {
 public:
  explicit Hasher(uint64_t seed = 0) : a_(seed ^ 0x9e3779b97f4a7c15u), b_(0xd1b54a32d192ed03u) {}

  Hasher& add(uint64_t word) {
    // (a ^ word) * K is injective in its 128 bits, so no word is lost; b_ carries the earlier words into both halves.
    const auto product = static_cast<unsigned __int128>(a_ ^ word) * 0xa0761d6478bd642fu;
    a_ = static_cast<uint64_t>(product) ^ b_;
    b_ = static_cast<uint64_t>(product >> 64) + std::rotl(b_, 29) + 0xe7037ed1a0b428dbu;
    return *this;
  }
  template <class T>
  requires(std::is_enum_v<T>)
  Hasher& add(T value) {
    return add(static_cast<uint64_t>(value));
  }
  Hasher& add(const Hash128& hash) { return add(hash.lo).add(hash.hi); }
  Hasher& add(const void* data, size_t bytes);
  Hasher& add(std::string_view text) { return add(text.data(), text.size()); }
  /// Adds the span's length and then its words.
  Hasher& add(std::span<const int64_t> words) {
    add(static_cast<uint64_t>(words.size()));
    for (int64_t word : words) add(static_cast<uint64_t>(word));
    return *this;
  }

  Hash128 finish() const {
    const uint64_t x = avalanche(a_ ^ std::rotl(b_, 32));
    const uint64_t y = avalanche(b_ + 0x8ebc6af09c88c6e3u * a_);
    return {x + y, y ^ std::rotl(x, 21)};
  }

 private:
  static uint64_t avalanche(uint64_t x) {
    x = (x ^ (x >> 32)) * 0xe9846af9b1a615du;  // Maiga's constants for Stafford's mixer
    x = (x ^ (x >> 32)) * 0xe9846af9b1a615du;
    return x ^ (x >> 28);
  }

  uint64_t a_;
  uint64_t b_;
};

}  // namespace bc

template <>
struct std::hash<bc::Hash128> {
  size_t operator()(const bc::Hash128& hash) const noexcept { return hash.lo; }
};
