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

#include "codegen/kernel_pack.h"
#include "core/hash.h"

namespace bc {

/// Compiled kernels in a folder, one file each, named by a digest of everything that the binary depends on. A file appears complete by a
/// rename and is verified when it is read, so many processes may share a folder and may die at any time. Folders and files that other users
/// may write are not used (cache_folder.h), with one warning. Only archive(), import() and pack() throw: without a usable cache the program
/// is only slower.
class KernelStore {
 public:
  static constexpr uint32_t kVersion = kKernelVersion;

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
  /// Makes one file of all (kernel_pack.h), for shipped kernels. Throws ErrorKind::Runtime when it cannot be written.
  void pack();

  struct Usage {
    size_t bytes = 0;
    size_t files = 0;
  };
  Usage usage();
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
  enum class Verdict : uint8_t { unknown, trusted, refused };

  bool trusts(const std::string& path, const struct stat& status);
  /// The pack of a folder; nullptr if there is none. It is opened once for each folder.
  std::shared_ptr<const KernelPack> pack_of(const std::string& folder);
  bool write_file(const std::string& folder, const std::string& name, std::span<const char> bytes);
  void stop_writing(const std::string& folder, const char* what, int error);

  mutable std::mutex mutex_;  // guards the fields; never held over file operations
  std::string folder_;        // empty: nothing is kept on disk
  std::string warning_;
  size_t limit_ = 0;
  Verdict verdict_ = Verdict::unknown;
  bool pack_read_ = false;
  std::shared_ptr<const KernelPack> pack_;
  bool warned_of_file_ = false;
  const bool read_only_ = false;
  const bool trusts_all_ = false;
  bool writable_ = true;
  size_t written_ = 0;  // bytes since the last collect()
  bool collected_ = false;
};

}  // namespace bc
