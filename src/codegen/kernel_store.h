#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/hash.h"

namespace bc {

/// A compiled kernel as it was read from a file: `binary` lies in `bytes`.
struct StoredKernel {
  std::unique_ptr<char[]> bytes;
  std::span<const char> binary;
  std::vector<std::string> entries;
};

/// Compiled kernels in a folder, one file each, named by a digest of all that went into the binary. Files appear complete by a rename and
/// are verified when read, so any number of processes may share a folder and die at any time. A folder and files that others may write are
/// not used (cache_folder.h); the reason is said once. Nothing here throws but archive() and import(): a cache that cannot be used is only
/// slower.
class KernelStore {
 public:
  /// Of the files' format. A part of every key, so that versions of the library may share a folder.
  static constexpr uint32_t kVersion = 1;

  /// The folder and the cap of the environment.
  KernelStore();
  /// A folder that is only read: files stay as they are, damaged ones too. A `trusted` one is used whoever may write it.
  KernelStore(std::string folder, bool trusted);

  /// The kernel of a digest; nothing when there is none, or when its file is damaged, which is then deleted (unless the folder is only
  /// read).
  std::optional<StoredKernel> load(const Hash128& key);
  void save(const Hash128& key, const std::string& target, std::span<const std::string> entries, std::span<const char> binary);
  void remove(const Hash128& key);

  /// Writes all files into one. Throws ErrorKind::Runtime when it cannot be written.
  size_t archive(const std::string& path);
  /// Throws ErrorKind::Value when the file is no archive or damaged, ErrorKind::Runtime when it cannot be read. Who made the archive can
  /// run code with the rights of all that use this folder: the caller asks.
  size_t import(const std::string& path);
  /// Compresses all files by a dictionary of what they share, kept in the folder as the file `dictionary`: for kernels that are shipped.
  /// Too few files make none, and are compressed each for itself. Throws ErrorKind::Runtime when it cannot be written.
  void pack();

  struct Usage {
    size_t bytes = 0;
    size_t files = 0;
  };
  Usage usage() const;
  void clear();
  /// Deletes temporary files that somebody left behind long ago, and what was used longest ago while the cap is exceeded.
  void collect();

  std::string folder() const;
  /// The folder that code may be loaded from; empty when there is none, or it is refused.
  std::string usable_folder();
  std::string warning() const;
  size_t limit() const;
  void set_folder(std::string folder);
  void set_limit(size_t bytes);

  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

 private:
  struct Dictionary;
  enum class Verdict : uint8_t { unknown, trusted, refused };

  bool trusts(const std::string& path, const struct stat& status);
  /// The dictionary of a folder that was packed; nullptr if there is none. It is read once a folder.
  std::shared_ptr<const Dictionary> dictionary(const std::string& folder);
  bool write_file(const std::string& folder, const std::string& name, std::span<const char> bytes);
  void stop_writing(const std::string& folder, const char* what, int error);

  mutable std::mutex mutex_;  // guards the fields; never held over file operations
  std::string folder_;        // empty: nothing is kept on disk
  std::string warning_;
  size_t limit_ = 0;
  Verdict verdict_ = Verdict::unknown;
  bool dictionary_read_ = false;
  std::shared_ptr<const Dictionary> dictionary_;
  bool warned_of_file_ = false;
  const bool read_only_ = false;
  const bool trusts_all_ = false;
  bool writable_ = true;
  size_t written_ = 0;  // bytes since the last collect()
  bool collected_ = false;
};

}  // namespace bc
