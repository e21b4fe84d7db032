#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/hash.h"
#include "runtime/backend.h"

namespace bc {

/// A view of a function that writes a kernel's source text; it is called before kernel_cache_get or kernel_cache_try returns, in the
/// calling thread, and only when the kernel is not in memory. Owns nothing, so a lambda with captures costs no allocation on a hit.
class SourcePrinter {
 public:
  template <class F>
  requires(std::is_invocable_r_v<KernelSource, const F&> && !std::same_as<F, SourcePrinter>)
  SourcePrinter(const F& print)  // NOLINT(google-explicit-constructor)
      : object_(&print), call_([](const void* object) -> KernelSource { return (*static_cast<const F*>(object))(); }) {}
  KernelSource operator()() const { return call_(object_); }

 private:
  const void* object_;
  KernelSource (*call_)(const void*);
};

/// The kernel of a structural key on a backend: from memory, from disk (the user's folder, then what came with broadcloth: the folder
/// `kernels` beside the library, or BROADCLOTH_SHIPPED_KERNELS, where "0" means none), or compiled now. Several threads that ask for one
/// kernel compile it once. Throws what Backend::compile and load throw. The kernel stays loaded until the process ends. With `quick`, a
/// kernel that is nowhere may be what Backend::compile_quick gives.
LoadedKernel& kernel_cache_get(Backend& backend, const Hash128& key, const SourcePrinter& print, bool quick = false);

/// As kernel_cache_get, but never waits for a compiler: nullptr while a background thread compiles. A kernel that lies on disk is loaded
/// and returned at once. Throws the compiler's error at the first call after it failed, and at every later one. `nanoseconds`: what the
/// caller has spent for want of the kernel since its last call; the kernel for which most was spent is compiled next.
LoadedKernel* kernel_cache_try(Backend& backend, const Hash128& key, const SourcePrinter& print, int64_t nanoseconds = 0);

/// The bytes that `make` gives and the names beside them, kept on disk under a digest of `key` and `target` (the compiler, its flags and
/// what it compiles for) in the same folder. `key` must stand for all that goes into the bytes. `make`
/// owns what it uses: it goes on when Ctrl-C ends the wait for it.
struct CachedBinary {
  std::vector<char> bytes;
  std::vector<std::string> names;
};
CachedBinary kernel_cache_binary(const std::string& target, const Hash128& key, std::function<CachedBinary()> make);

/// Has a background thread compile the whole of a kernel that is `quick` and put it in the kernel's place; with `wait`, returns when that
/// is done. Nothing is done for a kernel that is whole, or has been asked for already.
void kernel_cache_improve(LoadedKernel& kernel, bool wait = false);

struct CacheStats {
  uint64_t memory_hits = 0;
  uint64_t disk_hits = 0;
  uint64_t shipped_hits = 0;
  uint64_t compiles = 0;
  uint64_t replaced = 0;  ///< quick code, by the whole that was compiled in the background; not among the compiles
  double compile_seconds = 0;
  size_t disk_bytes = 0;
  size_t disk_files = 0;
  size_t disk_limit = 0;
  std::string folder;          ///< empty when nothing is kept on disk
  std::string warning;         ///< why the folder is not used, if so
  std::string shipped_folder;  ///< of the kernels that came with broadcloth; empty when there are none
  size_t shipped_bytes = 0;
  size_t shipped_files = 0;
};
CacheStats kernel_cache_stats();
/// Of those only how long compilers ran: the disk is not looked at.
double kernel_compile_seconds();

/// Forgets the kernels in memory (those handed out stay loaded) and, with `disk`, deletes the files.
void kernel_cache_clear(bool disk);

/// Writes all entries on disk into one file, to be imported on another machine. Returns their number.
size_t kernel_cache_export(const std::string& path);
/// Puts the entries of an exported file into the folder; each is verified to be whole, not to be harmless. Returns their number.
size_t kernel_cache_import(const std::string& path);

/// Compiles for `target` (Backend::target) and puts the results into `folder` as the cache would: what a wheel ships.
void kernel_cache_write(const std::string& folder, const std::string& target, std::span<const KernelSource> sources,
                        const std::function<std::vector<char>(const KernelSource&)>& compile);
/// Compresses what lies in such a folder by what the kernels share (KernelStore::pack).
void kernel_cache_pack(const std::string& folder);

/// Another folder, in the place of what the environment says (BROADCLOTH_CACHE_DIR, else XDG_CACHE_HOME/broadcloth, else
/// ~/.cache/broadcloth); empty: keep nothing on disk.
void kernel_cache_set_folder(const std::string& folder);
/// The folder on disk that code may be loaded from and kept in; empty when there is none, or it is refused.
std::string kernel_cache_folder();
/// Another cap for the bytes on disk than BROADCLOTH_CACHE_LIMIT (2 GiB); the files used longest ago go first. 0: keep nothing on disk.
void kernel_cache_set_limit(size_t bytes);

/// Runs `work`, which makes a compiler ready, on a thread of its own. Forks and the end of the process wait for it as for a compile. What
/// it throws is dropped: a compile that needs the same will say it.
void kernel_cache_prepare(std::function<void()> work);

/// Waits until the background thread has compiled all it was asked for.
void kernel_cache_wait();
/// Ends the background thread after the compile it is at, drops what is queued. Called when the interpreter or the process ends; the
/// thread starts again when needed.
void kernel_cache_shutdown();
/// The same at the end of the interpreter or of the process, for good: no thread is started after it. Compiles in other threads are ended
/// with all calls of libraries (runtime/exit.h).
void kernel_cache_close();

}  // namespace bc
