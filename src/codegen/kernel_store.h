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

/// A compiled kernel read from a file: `binary` is a part of `bytes`.
struct StoredKernel {
  std::unique_ptr<char[]> bytes;
  std::span<const char> binary;
  std::vector<std::string> entries;
};

/// Compiled kernels in a folder, one file each, named by a digest of everything that the binary depends on. A file appears complete by a
/// rename and is verified when it is read, so many processes may share a folder and may die at any time. Folders and files that other users
/// may write are not used (cache_folder.h), with one warning. Only archive(), import() and pack() throw: without a usable cache the program
/// is only slower.
class KernelStore {
 public:
  /// The version of the file format. It is a part of every key, so that versions of the library may share a folder.
  static constexpr uint32_t kVersion = 1;

  /// Takes the folder and the limit from the environment.
  KernelStore();
  /// Opens a folder for reading only: files are not changed, not even damaged ones. A `trusted` folder is used whatever its permissions.
  KernelStore(std::string folder, bool trusted);

  /// Loads the kernel of a digest; nullopt when there is none or its file is damaged. A damaged file is deleted, unless the folder is
  /// read-only.
  std::optional<StoredKernel> load(const Hash128& key);
  void save(const Hash128& key, const std::string& target, std::span<const std::string> entries, std::span<const char> binary);
  void remove(const Hash128& key);

  /// Writes all files into one. Throws ErrorKind::Runtime when it cannot be written.
  size_t archive(const std::string& path);
  /// Throws ErrorKind::Value when the file is damaged or not an archive, ErrorKind::Runtime when it cannot be read. The archive contains
  /// native code that will run with the rights of this folder's users: the caller must make sure that its origin is trusted.
  size_t import(const std::string& path);
  /// Compresses all files with a dictionary of their common parts, stored in the folder as the file `dictionary`; for shipped kernels. Too
  /// few files give no dictionary and are compressed without one. Throws ErrorKind::Runtime when a file cannot be written.
  void pack();

  struct Usage {
    size_t bytes = 0;
    size_t files = 0;
  };
  Usage usage() const;
  void clear();
  /// Deletes old temporary files of processes that have died, and the least recently used kernels while the limit is exceeded.
  void collect();

  std::string folder() const;
  /// The folder from which code may be loaded; empty when there is none or it is refused.
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
  /// The dictionary of a packed folder; nullptr if there is none. It is read once for each folder.
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
