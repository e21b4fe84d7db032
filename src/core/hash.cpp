#include "core/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bc {

Hash128 digest(const void* data, size_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return {hash.low64, hash.high64};
}

std::string to_string(const Hash128& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[(hash.hi >> (4 * i)) & 15];
    text[31 - i] = kDigits[(hash.lo >> (4 * i)) & 15];
  }
  return text;
}

Hasher& Hasher::add(const void* data, size_t bytes) { return add(digest(data, bytes)).add(static_cast<uint64_t>(bytes)); }

}  // namespace bc
