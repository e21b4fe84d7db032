#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hash.h"

struct ZSTD_DDict_s;

/// The file of one compiled kernel: a header, a text (the target, then the entry names, each ending in a zero) and the binary.
namespace bc {

/// A compiled kernel read from a file: `binary` is a part of `bytes`.
struct StoredKernel {
  std::unique_ptr<char[]> bytes;
  std::span<const char> binary;
  std::vector<std::string> entries;
};

constexpr char kKernelMagic[8] = {'B', 'C', 'K', 'E', 'R', 'N', 'E', 'L'};
/// The version of the file format. It is a part of every key, so that versions of the library may share a folder.
constexpr uint32_t kKernelVersion = 1;
constexpr uint32_t kCompressed = 1;
constexpr uint32_t kByDictionary = 2;  ///< compressed with a pack's dictionary (KernelPack)
constexpr size_t kMaxFile = size_t{1} << 30;

/// `digest` covers all bytes after it.
struct KernelHeader {
  char magic[8];
  Hash128 digest;
  Hash128 key;
  uint64_t raw_bytes;
  uint64_t stored_bytes;
  uint32_t version;
  uint32_t flags;
  uint32_t meta_bytes;
  uint32_t entries;
};
static_assert(sizeof(KernelHeader) == 72);

/// A kernel's file in parts, the binary not compressed.
struct KernelFile {
  KernelHeader header;
  std::string meta;
  std::vector<char> binary;
};

/// An open file, closed by the destructor.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  bool close_now();

 private:
  int fd_;
};

/// Reads `bytes` at `at`; false if they cannot all be read.
bool read_at(const File& file, char* to, size_t bytes, size_t at);
bool write_all(int fd, const char* from, size_t bytes);
/// Reads a whole file of the given `status`; nullptr if it cannot be read.
std::unique_ptr<char[]> read_file(const File& file, const struct stat& status);

/// The header of a complete file, whose sizes, version and digest match its bytes; nullptr if the file is damaged.
const KernelHeader* verify(std::span<const char> bytes);
/// Writes the header and the text into `bytes`, before the binary that is there already.
void seal(std::vector<char>& bytes, KernelHeader header, std::string_view meta);
/// Extracts the kernel of a complete file. `dictionary` may be nullptr.
std::optional<StoredKernel> unpack(std::unique_ptr<char[]> bytes, const KernelHeader* header, const ZSTD_DDict_s* dictionary);

}  // namespace bc
