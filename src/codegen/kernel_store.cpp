#include "codegen/kernel_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include "codegen/cache_folder.h"
#include "codegen/kernel_file.h"
#include "core/error.h"

namespace bc {

namespace {

constexpr uint32_t kVersion = KernelStore::kVersion;
constexpr char kArchiveMagic[8] = {'B', 'C', 'A', 'R', 'C', 'H', 'I', 'V'};
constexpr std::string_view kSuffix = ".bck";
constexpr std::string_view kTemporary = "tmp-";
constexpr const char* kCollected = "collected";  // a marker file; its time is the last collect() of any process
constexpr size_t kDefaultLimit = size_t{2} << 30;
// zstd decompresses about 1 GB/s: a CPU object (5-30 KB) would take as long to decompress as to load, but for a large cubin compression
// pays off.
constexpr size_t kCompressFrom = size_t{128} << 10;
constexpr time_t kTemporaryAge = 600;  // seconds; a write takes milliseconds
constexpr time_t kTouchAge = 3600;
constexpr time_t kCollectAge = 3600;

struct ArchiveHeader {
  char magic[8];
  uint64_t version;
  uint64_t files;
};

struct Folder {
  explicit Folder(const std::string& path) : dir(opendir(path.c_str())) {}
  ~Folder() {
    if (dir) closedir(dir);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  DIR* dir;
};

std::string name_of(const Hash128& key) { return to_string(key) + std::string(kSuffix); }

bool is_entry(std::string_view name) { return name.size() == 32 + kSuffix.size() && name.ends_with(kSuffix); }

}  // namespace

KernelStore::KernelStore() : limit_(kDefaultLimit) {
  set_folder(cache_folder_of_environment());
  if (const char* text = std::getenv("BROADCLOTH_CACHE_LIMIT"); text && *text) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    const std::string_view unit = end;
    const double factor = unit.empty()                   ? 1.0
                          : unit == "K" || unit == "KiB" ? 1024.0
                          : unit == "M" || unit == "MiB" ? 1048576.0
                          : unit == "G" || unit == "GiB" ? 1073741824.0
                                                         : -1.0;
    if (end != text && factor > 0 && value >= 0 && value * factor < 9e18) {
      limit_ = static_cast<size_t>(value * factor);
    } else {
      warning_ = fmt::format("BROADCLOTH_CACHE_LIMIT: expected a number of bytes such as 500M or 2G, got '{}'; 2 GiB is used", text);
    }
  }
}

KernelStore::KernelStore(std::string folder, bool trusted) : limit_(kDefaultLimit), read_only_(true), trusts_all_(trusted) {
  set_folder(std::move(folder));
  writable_ = false;
}

std::string KernelStore::folder() const {
  std::lock_guard lock(mutex_);
  return limit_ ? folder_ : std::string();
}

std::string KernelStore::usable_folder() {
  std::string folder;
  {
    std::lock_guard lock(mutex_);
    if (!limit_ || verdict_ == Verdict::refused) return {};
    if (verdict_ == Verdict::trusted) return folder_;
    folder = folder_;
  }
  struct stat status;
  if (folder.empty() || stat(folder.c_str(), &status) != 0) return folder;  // checked when it exists
  const std::string refusal = trusts_all_ ? std::string() : why_refused(folder);
  {
    std::lock_guard lock(mutex_);
    if (folder != folder_ || verdict_ != Verdict::unknown) return verdict_ == Verdict::refused ? std::string() : folder_;
    verdict_ = refusal.empty() ? Verdict::trusted : Verdict::refused;
    if (refusal.empty()) return folder;
    warning_ = refusal;
    writable_ = false;
  }
  warn(refusal);
  return {};
}

bool KernelStore::trusts(const std::string& path, const struct stat& status) {
  if (trusts_all_) return true;
  const std::string reason = why_not_trusted(path, status);
  if (reason.empty()) return true;
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    first = !std::exchange(warned_of_file_, true);
  }
  if (first) warn(fmt::format("kernel cache: {}: it is not loaded, but compiled again", reason));
  return false;
}

std::string KernelStore::warning() const {
  std::lock_guard lock(mutex_);
  return warning_;
}

size_t KernelStore::limit() const {
  std::lock_guard lock(mutex_);
  return limit_;
}

void KernelStore::set_folder(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (!folder.empty() && folder[0] != '/') {
    // Made absolute now, since programs may change their working directory.
    char here[4096];
    if (getcwd(here, sizeof here)) folder = std::string(here) + "/" + folder;
  }
  std::lock_guard lock(mutex_);
  folder_ = std::move(folder);
  verdict_ = Verdict::unknown;
  warned_of_file_ = false;
  pack_read_ = false;
  pack_.reset();
  warning_.clear();
  writable_ = true;
  collected_ = false;
  written_ = 0;
}

void KernelStore::set_limit(size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    limit_ = bytes;
  }
  if (bytes) collect();
}

void KernelStore::stop_writing(const std::string& folder, const char* what, int error) {
  std::lock_guard lock(mutex_);
  if (folder != folder_) return;
  writable_ = false;
  warning_ = fmt::format("kernel cache: {} {}: {}; new kernels are kept in memory only", what, folder, std::strerror(error));
}

std::optional<StoredKernel> KernelStore::load(const Hash128& key) {
  const std::string folder = usable_folder();
  if (folder.empty()) return std::nullopt;
  if (const auto packed = pack_of(folder))
    if (auto kernel = packed->load(key)) return kernel;
  const std::string path = folder + "/" + name_of(key);
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  struct stat status;
  if (fstat(file.get(), &status) != 0 || !trusts(path, status)) return std::nullopt;
  if (auto bytes = read_file(file, status)) {
    const KernelHeader* header = verify({bytes.get(), static_cast<size_t>(status.st_size)});
    if (header && header->key == key) {
      if (auto kernel = unpack(std::move(bytes), header, nullptr)) {
        // Records the time of last use, since many file systems do not.
        if (!read_only_ && time(nullptr) - status.st_mtime > kTouchAge) futimens(file.get(), nullptr);
        return kernel;
      }
    }
  }
  if (!read_only_) unlink(path.c_str());
  return std::nullopt;
}

std::shared_ptr<const KernelPack> KernelStore::pack_of(const std::string& folder) {
  {
    std::lock_guard lock(mutex_);
    if (pack_read_ && folder == folder_) return pack_;
  }
  std::shared_ptr<const KernelPack> opened;
  const std::string path = folder + "/" + KernelPack::kName;
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (file && fstat(file.get(), &status) == 0 && trusts(path, status))
    opened = KernelPack::open(std::move(file), static_cast<size_t>(status.st_size));
  std::lock_guard lock(mutex_);
  if (folder != folder_) return opened;
  pack_read_ = true;
  return pack_ = std::move(opened);
}

bool KernelStore::write_file(const std::string& folder, const std::string& name, std::span<const char> bytes) {
  static std::atomic<uint64_t> counter{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  // Machines that share a folder may have equal process ids; the time makes the name unique, and O_EXCL detects a collision.
  const std::string temporary =
      fmt::format("{}/{}{}-{}-{}{:09}", folder, kTemporary, getpid(), counter.fetch_add(1), now.tv_sec, now.tv_nsec);
  File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return false;
  // No fsync: if a crash of the machine truncates the file, its digest does not match.
  const bool written = write_all(file.get(), bytes.data(), bytes.size());
  int error = errno;
  if (written && file.close_now() && rename(temporary.c_str(), (folder + "/" + name).c_str()) == 0) return true;
  if (written) error = errno;
  unlink(temporary.c_str());
  errno = error;
  return false;
}

void KernelStore::save(const Hash128& key, const std::string& target, std::span<const std::string> entries, std::span<const char> binary) {
  const std::string folder = usable_folder();
  {
    std::lock_guard lock(mutex_);
    if (!writable_ || folder.empty()) return;
  }
  std::string meta = target.substr(0, target.find('\0')) + '\0';
  for (const std::string& entry : entries) meta += entry + '\0';

  KernelHeader header{};
  std::memcpy(header.magic, kKernelMagic, sizeof kKernelMagic);
  header.key = key;
  header.version = kVersion;
  header.raw_bytes = binary.size();
  header.meta_bytes = static_cast<uint32_t>(meta.size());
  header.entries = static_cast<uint32_t>(entries.size());

  const size_t before = sizeof(KernelHeader) + meta.size();
  std::vector<char> bytes;
  if (binary.size() >= kCompressFrom) {
    bytes.resize(before + ZSTD_compressBound(binary.size()));
    const size_t stored = ZSTD_compress(bytes.data() + before, bytes.size() - before, binary.data(), binary.size(), 3);
    if (!ZSTD_isError(stored) && stored < binary.size()) {
      header.flags = kCompressed;
      header.stored_bytes = stored;
    }
  }
  if (!(header.flags & kCompressed)) {
    header.stored_bytes = binary.size();
    bytes.resize(before + binary.size());
    std::copy(binary.begin(), binary.end(), bytes.begin() + static_cast<ptrdiff_t>(before));
  }
  bytes.resize(before + header.stored_bytes);
  if (bytes.size() > kMaxFile || header.raw_bytes > kMaxFile) return;
  seal(bytes, header, meta);

  if (!make_private_folder(folder)) return stop_writing(folder, "cannot make", errno);
  if (!write_file(folder, name_of(key), bytes)) return stop_writing(folder, "cannot write to", errno);

  bool due = false;
  {
    std::lock_guard lock(mutex_);
    written_ += bytes.size();
    if (!collected_) {
      collected_ = true;
      struct stat status;
      due = stat((folder + "/" + kCollected).c_str(), &status) != 0 || time(nullptr) - status.st_mtime > kCollectAge;
    }
    due = due || written_ > limit_ / 16;
  }
  if (due) collect();
}

void KernelStore::remove(const Hash128& key) {
  const std::string folder = this->folder();
  if (!folder.empty() && !read_only_) unlink((folder + "/" + name_of(key)).c_str());
}

KernelStore::Usage KernelStore::usage() {
  Usage usage;
  const std::string path = this->folder();
  if (path.empty()) return usage;
  if (const auto packed = pack_of(path)) usage = {packed->bytes(), packed->kernels()};
  const Folder folder(path);
  if (!folder.dir) return usage;
  while (const dirent* item = readdir(folder.dir)) {
    struct stat status;
    if (!is_entry(item->d_name) || fstatat(dirfd(folder.dir), item->d_name, &status, 0) != 0) continue;
    usage.bytes += static_cast<size_t>(status.st_size);
    ++usage.files;
  }
  return usage;
}

void KernelStore::clear() {
  std::string path;
  {
    std::lock_guard lock(mutex_);
    path = folder_;
  }
  if (path.empty()) return;
  const Folder folder(path);
  if (!folder.dir) return;
  while (const dirent* item = readdir(folder.dir)) {
    // Temporary files stay: running writers are about to rename them.
    if (is_entry(item->d_name) || std::string_view(item->d_name) == KernelPack::kName) unlinkat(dirfd(folder.dir), item->d_name, 0);
  }
  std::lock_guard lock(mutex_);
  pack_read_ = false;
  pack_.reset();
}

void KernelStore::collect() {
  std::string path;
  size_t limit = 0;
  {
    std::lock_guard lock(mutex_);
    path = folder_;
    limit = limit_;
    written_ = 0;
    if (path.empty() || !writable_) return;
  }
  const Folder folder(path);
  if (!folder.dir) return;
  const int fd = dirfd(folder.dir);
  const File marker(openat(fd, kCollected, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (marker) futimens(marker.get(), nullptr);

  struct Found {
    timespec used;
    size_t bytes;
    std::string name;
  };
  std::vector<Found> found;
  size_t total = 0;
  const time_t now = time(nullptr);
  while (const dirent* item = readdir(folder.dir)) {
    const std::string_view name = item->d_name;
    const bool temporary = name.starts_with(kTemporary);
    struct stat status;
    if ((!temporary && !is_entry(name)) || fstatat(fd, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (temporary) {
      if (now - status.st_mtime > kTemporaryAge) unlinkat(fd, item->d_name, 0);
      continue;
    }
    total += static_cast<size_t>(status.st_size);
    found.push_back({status.st_mtim, static_cast<size_t>(status.st_size), std::string(name)});
  }
  if (total <= limit) return;
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  // Stays a little below the limit, so that the next files do not exceed it at once.
  for (const Found& file : found) {
    if (total <= limit / 8 * 7) break;
    unlinkat(fd, file.name.c_str(), 0);
    total -= file.bytes;
  }
}

size_t KernelStore::archive(const std::string& path) {
  ArchiveHeader header{};
  std::memcpy(header.magic, kArchiveMagic, sizeof kArchiveMagic);
  header.version = kVersion;
  std::vector<char> out(sizeof header);
  std::vector<std::string> names;
  const std::string from = usable_folder();
  if (from.empty() && !folder().empty()) raise(ErrorKind::Runtime, "cache export: {}", warning());
  if (!from.empty()) {
    const Folder folder(from);
    while (const dirent* item = folder.dir ? readdir(folder.dir) : nullptr) {
      if (is_entry(item->d_name)) names.emplace_back(item->d_name);
    }
  }
  std::sort(names.begin(), names.end());  // equal kernels give equal archives
  for (const std::string& name : names) {
    const File file(open((from + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0) continue;  // another process deleted it
    if (!trusts(from + "/" + name, status)) continue;
    const auto size = static_cast<uint64_t>(status.st_size);
    if (size > kMaxFile) continue;
    std::vector<char> bytes(size);
    const KernelHeader* whole = read_at(file, bytes.data(), size, 0) ? verify(bytes) : nullptr;
    if (!whole || name_of(whole->key) != name) continue;
    const auto* size_bytes = reinterpret_cast<const char*>(&size);
    out.insert(out.end(), size_bytes, size_bytes + sizeof size);
    out.insert(out.end(), bytes.begin(), bytes.end());
    ++header.files;
  }
  std::memcpy(out.data(), &header, sizeof header);
  const size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  BC_CHECK(!name.empty() && write_file(folder, name, out), Runtime, "cache export: cannot write {}: {}", path,
           name.empty() ? "it names no file" : std::strerror(errno));
  return header.files;
}

size_t KernelStore::import(const std::string& path) {
  const std::string to = usable_folder();
  BC_CHECK(!to.empty() || folder().empty(), Runtime, "cache import: {}", warning());
  BC_CHECK(!to.empty(), Runtime, "cache import: there is no cache folder; set BROADCLOTH_CACHE_DIR");
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  BC_CHECK(file && fstat(file.get(), &status) == 0, Runtime, "cache import: cannot read {}: {}", path, std::strerror(errno));
  std::vector<char> bytes(static_cast<size_t>(status.st_size));
  BC_CHECK(read_at(file, bytes.data(), bytes.size(), 0), Runtime, "cache import: cannot read {}: {}", path, std::strerror(errno));
  ArchiveHeader header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  BC_CHECK(std::memcmp(header.magic, kArchiveMagic, sizeof kArchiveMagic) == 0, Value,
           "cache import: expected a file that `cache export` wrote, got {}", path);
  BC_CHECK(header.version == kVersion, Value, "cache import: expected version {}, got version {} in {}", kVersion, header.version, path);

  // Verifies all entries before writing any. The entries are copied, because they are not aligned in the archive.
  std::vector<std::vector<char>> entries;
  size_t at = sizeof header;
  for (uint64_t i = 0; i < header.files; ++i) {
    uint64_t size = 0;
    const bool head = bytes.size() - at >= sizeof size;
    if (head) std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    BC_CHECK(head && size <= bytes.size() - at, Value, "cache import: {} ends in kernel {} of {}", path, i + 1, header.files);
    entries.emplace_back(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(at + size));
    at += size;
    BC_CHECK(verify(entries.back()), Value, "cache import: kernel {} of {} in {} is damaged", i + 1, header.files, path);
  }
  BC_CHECK(make_private_folder(to), Runtime, "cache import: cannot make {}: {}", to, std::strerror(errno));
  for (const auto& entry : entries) {
    const auto* kernel = reinterpret_cast<const KernelHeader*>(entry.data());
    BC_CHECK(write_file(to, name_of(kernel->key), entry), Runtime, "cache import: cannot write to {}: {}", to, std::strerror(errno));
  }
  collect();
  return entries.size();
}

void KernelStore::pack() {
  const std::string path = usable_folder();
  std::vector<std::string> names;
  {
    const Folder folder(path);
    while (const dirent* item = folder.dir ? readdir(folder.dir) : nullptr)
      if (is_entry(item->d_name)) names.emplace_back(item->d_name);
  }
  std::sort(names.begin(), names.end());  // equal kernels give equal packs
  std::vector<KernelFile> kernels;
  for (const std::string& name : names) {
    const File file(open((path + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0) continue;
    auto bytes = read_file(file, status);
    const KernelHeader* header = bytes ? verify({bytes.get(), static_cast<size_t>(status.st_size)}) : nullptr;
    if (!header) continue;
    KernelFile kernel{*header, std::string(bytes.get() + sizeof(KernelHeader), header->meta_bytes), {}};
    const auto stored = unpack(std::move(bytes), header, nullptr);
    if (!stored) continue;
    kernel.binary.assign(stored->binary.begin(), stored->binary.end());
    kernels.push_back(std::move(kernel));
  }
  BC_CHECK(write_file(path, KernelPack::kName, KernelPack::make(std::move(kernels))), Runtime, "cache pack: cannot write to {}: {}", path,
           std::strerror(errno));
  for (const std::string& name : names) unlink((path + "/" + name).c_str());
}

}  // namespace bc
