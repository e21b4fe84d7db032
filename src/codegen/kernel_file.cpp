#include "codegen/kernel_file.h"

#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

namespace bc {
namespace {

constexpr size_t kDigestFrom = 24;

}  // namespace

File::~File() {
  if (fd_ >= 0) close(fd_);
}

bool File::close_now() { return close(std::exchange(fd_, -1)) == 0; }

bool read_at(const File& file, char* to, size_t bytes, size_t at) {
  while (bytes) {
    const ssize_t n = pread(file.get(), to, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    at += static_cast<size_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool write_all(int fd, const char* from, size_t bytes) {
  while (bytes) {
    const ssize_t n = write(fd, from, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    from += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

const KernelHeader* verify(std::span<const char> bytes) {
  if (bytes.size() < sizeof(KernelHeader)) return nullptr;
  const auto* header = reinterpret_cast<const KernelHeader*>(bytes.data());
  if (std::memcmp(header->magic, kKernelMagic, sizeof kKernelMagic) != 0 || header->version != kKernelVersion) return nullptr;
  if (header->stored_bytes > kMaxFile || header->raw_bytes > kMaxFile) return nullptr;
  if (bytes.size() != sizeof(KernelHeader) + header->meta_bytes + header->stored_bytes) return nullptr;
  if (header->digest != digest(bytes.data() + kDigestFrom, bytes.size() - kDigestFrom)) return nullptr;
  return header;
}

void seal(std::vector<char>& bytes, KernelHeader header, std::string_view meta) {
  std::memcpy(bytes.data() + sizeof(KernelHeader), meta.data(), meta.size());
  std::memcpy(bytes.data(), &header, sizeof(KernelHeader));
  header.digest = digest(bytes.data() + kDigestFrom, bytes.size() - kDigestFrom);
  std::memcpy(bytes.data(), &header, sizeof(KernelHeader));
}

std::unique_ptr<char[]> read_file(const File& file, const struct stat& status) {
  const auto size = static_cast<size_t>(status.st_size);
  if (size > kMaxFile) return nullptr;
  auto bytes = std::make_unique_for_overwrite<char[]>(size);
  return read_at(file, bytes.get(), size, 0) ? std::move(bytes) : nullptr;
}

std::optional<StoredKernel> unpack(std::unique_ptr<char[]> bytes, const KernelHeader* header, const ZSTD_DDict_s* dictionary) {
  StoredKernel kernel;
  std::string_view meta(bytes.get() + sizeof(KernelHeader), header->meta_bytes);
  for (uint32_t i = 0; i <= header->entries; ++i) {  // the target comes first
    const size_t end = meta.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    if (i) kernel.entries.emplace_back(meta.substr(0, end));
    meta.remove_prefix(end + 1);
  }
  const char* stored = bytes.get() + sizeof(KernelHeader) + header->meta_bytes;
  if (header->flags & kCompressed) {
    const size_t raw = header->raw_bytes;
    auto expanded = std::make_unique_for_overwrite<char[]>(raw);
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
    const bool by_dictionary = header->flags & kByDictionary;
    if (!context || (by_dictionary && !dictionary)) return std::nullopt;
    const size_t got =
        ZSTD_decompress_usingDDict(context.get(), expanded.get(), raw, stored, header->stored_bytes, by_dictionary ? dictionary : nullptr);
    if (got != raw) return std::nullopt;
    kernel.binary = {expanded.get(), raw};
    kernel.bytes = std::move(expanded);
  } else {
    if (header->raw_bytes != header->stored_bytes) return std::nullopt;
    kernel.binary = {stored, header->stored_bytes};
    kernel.bytes = std::move(bytes);
  }
  return kernel;
}

}  // namespace bc
