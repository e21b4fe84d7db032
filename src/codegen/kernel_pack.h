#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "codegen/kernel_file.h"

namespace bc {

/// Many kernels in one file that is only read, as a wheel ships them: an index of keys, a dictionary of the binaries' common parts, and the
/// kernels' files, compressed with it. Too few kernels give no dictionary and are compressed without one.
class KernelPack {
 public:
  static constexpr const char* kName = "kernels.pack";

  /// Reads the index and the dictionary of an open file; nullptr if it is damaged or of another version.
  static std::shared_ptr<const KernelPack> open(File file, size_t bytes);
  /// The bytes of a pack of these kernels. Throws ErrorKind::Runtime when one cannot be compressed.
  static std::vector<char> make(std::vector<KernelFile> kernels);

  /// The kernel of a digest; nullopt when there is none or it is damaged.
  std::optional<StoredKernel> load(const Hash128& key) const;
  size_t kernels() const { return index_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Place {
    Hash128 key;
    uint64_t at, bytes;
  };
  struct Freed {
    void operator()(ZSTD_DDict_s* dictionary) const;
  };
  explicit KernelPack(File file, size_t bytes) : file_(std::move(file)), bytes_(bytes) {}
  static bool before(const Place& place, const Hash128& key);

  File file_;
  size_t bytes_;
  std::vector<Place> index_;  // by key
  std::unique_ptr<ZSTD_DDict_s, Freed> dictionary_;
};

}  // namespace bc
