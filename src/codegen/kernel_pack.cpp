#include "codegen/kernel_pack.h"

#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace bc {
namespace {

constexpr char kPackMagic[8] = {'B', 'C', 'K', 'P', 'A', 'C', 'K', '1'};
constexpr size_t kDictionaryBytes = size_t{1} << 20;

/// The index follows, then the dictionary, then the kernels' files. `digest` covers the header after it, the index and the dictionary; each
/// kernel has a digest of its own.
struct PackHeader {
  char magic[8];
  Hash128 digest;
  uint64_t version;
  uint64_t kernels;
  uint64_t dictionary_bytes;
};
static_assert(sizeof(PackHeader) == 48);
constexpr size_t kDigestFrom = 24;

std::vector<char> train(const std::vector<KernelFile>& kernels) {
  std::vector<char> samples, trained(kDictionaryBytes);
  std::vector<size_t> sizes;
  for (const KernelFile& kernel : kernels) {
    samples.insert(samples.end(), kernel.binary.begin(), kernel.binary.end());
    sizes.push_back(kernel.binary.size());
  }
  const size_t bytes =
      ZDICT_trainFromBuffer(trained.data(), trained.size(), samples.data(), sizes.data(), static_cast<unsigned>(sizes.size()));
  trained.resize(ZDICT_isError(bytes) ? 0 : bytes);
  return trained;
}

}  // namespace

void KernelPack::Freed::operator()(ZSTD_DDict_s* dictionary) const { ZSTD_freeDDict(dictionary); }

bool KernelPack::before(const Place& place, const Hash128& key) { return std::memcmp(&place.key, &key, sizeof key) < 0; }

std::shared_ptr<const KernelPack> KernelPack::open(File file, size_t bytes) {
  PackHeader header;
  if (bytes < sizeof header || !read_at(file, reinterpret_cast<char*>(&header), sizeof header, 0)) return nullptr;
  if (std::memcmp(header.magic, kPackMagic, sizeof kPackMagic) != 0 || header.version != kKernelVersion) return nullptr;
  if (header.kernels > bytes / sizeof(Place) || header.dictionary_bytes > bytes) return nullptr;
  const size_t index_bytes = header.kernels * sizeof(Place), known = sizeof header + index_bytes + header.dictionary_bytes;
  if (known > bytes) return nullptr;
  std::vector<char> all(known);
  if (!read_at(file, all.data(), known, 0) || header.digest != digest(all.data() + kDigestFrom, known - kDigestFrom)) return nullptr;
  std::shared_ptr<KernelPack> pack(new KernelPack(std::move(file), bytes));
  pack->index_.resize(header.kernels);
  std::memcpy(pack->index_.data(), all.data() + sizeof header, index_bytes);
  if (header.dictionary_bytes) pack->dictionary_.reset(ZSTD_createDDict(all.data() + sizeof header + index_bytes, header.dictionary_bytes));
  return pack;
}

std::optional<StoredKernel> KernelPack::load(const Hash128& key) const {
  const auto place = std::lower_bound(index_.begin(), index_.end(), key, before);
  if (place == index_.end() || place->key != key || place->bytes > kMaxFile) return std::nullopt;
  auto bytes = std::make_unique_for_overwrite<char[]>(place->bytes);
  if (!read_at(file_, bytes.get(), place->bytes, place->at)) return std::nullopt;
  const KernelHeader* header = verify({bytes.get(), place->bytes});
  if (!header || header->key != key) return std::nullopt;
  return unpack(std::move(bytes), header, dictionary_.get());
}

std::vector<char> KernelPack::make(std::vector<KernelFile> kernels) {
  const std::vector<char> shared = train(kernels);
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  const std::unique_ptr<ZSTD_CDict, decltype(&ZSTD_freeCDict)> dictionary(
      shared.empty() ? nullptr : ZSTD_createCDict(shared.data(), shared.size(), ZSTD_maxCLevel()), ZSTD_freeCDict);
  std::vector<Place> index;
  std::vector<char> files;
  const size_t first = sizeof(PackHeader) + kernels.size() * sizeof(Place) + shared.size();
  for (KernelFile& kernel : kernels) {
    const size_t before = sizeof(KernelHeader) + kernel.meta.size();
    std::vector<char> bytes(before + ZSTD_compressBound(kernel.binary.size()));
    char* to = bytes.data() + before;
    const size_t room = bytes.size() - before;
    const size_t stored =
        dictionary ? ZSTD_compress_usingCDict(context.get(), to, room, kernel.binary.data(), kernel.binary.size(), dictionary.get())
                   : ZSTD_compressCCtx(context.get(), to, room, kernel.binary.data(), kernel.binary.size(), ZSTD_maxCLevel());
    BC_CHECK(!ZSTD_isError(stored), Runtime, "cache pack: {}", ZSTD_getErrorName(stored));
    bytes.resize(before + stored);
    kernel.header.flags = kCompressed | (dictionary ? kByDictionary : 0);
    kernel.header.stored_bytes = stored;
    seal(bytes, kernel.header, kernel.meta);
    index.push_back({kernel.header.key, first + files.size(), bytes.size()});
    files.insert(files.end(), bytes.begin(), bytes.end());
  }
  std::sort(index.begin(), index.end(), [](const Place& a, const Place& b) { return before(a, b.key); });

  PackHeader header{};
  std::memcpy(header.magic, kPackMagic, sizeof kPackMagic);
  header.version = kKernelVersion;
  header.kernels = index.size();
  header.dictionary_bytes = shared.size();
  std::vector<char> out(sizeof header);
  const auto* places = reinterpret_cast<const char*>(index.data());
  out.insert(out.end(), places, places + index.size() * sizeof(Place));
  out.insert(out.end(), shared.begin(), shared.end());
  std::memcpy(out.data(), &header, sizeof header);
  header.digest = digest(out.data() + kDigestFrom, out.size() - kDigestFrom);
  std::memcpy(out.data(), &header, sizeof header);
  out.insert(out.end(), files.begin(), files.end());
  return out;
}

}  // namespace bc
