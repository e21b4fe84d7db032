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

/// The kernel of a structural key on a backend: from memory, from disk (the user's folder, then the shipped kernels: the folder `kernels`
/// beside the library, or BROADCLOTH_SHIPPED_KERNELS, where "0" means none), or compiled now. If several threads request one kernel, it is
/// compiled once. Throws the errors of Backend::compile and load. The kernel stays loaded until the process ends. With `quick`, a kernel
/// that must be compiled may be compiled by Backend::compile_quick.
LoadedKernel& kernel_cache_get(Backend& backend, const Hash128& key, const SourcePrinter& print, bool quick = false);

/// The kernel of a key if it is in memory, else nullptr.
LoadedKernel* kernel_cache_find(Backend& backend, const Hash128& key);

/// Tells that kernel_cache_get will be called soon: a kernel that is neither in memory nor on disk is compiled by another thread, so that
/// several kernels are compiled at the same time. An error of the compiler is raised by kernel_cache_get.
void kernel_cache_request(Backend& backend, const Hash128& key, const SourcePrinter& print, bool quick = false);

/// Like kernel_cache_get, but never waits for a compiler: returns nullptr while a background thread compiles. A kernel on disk is loaded
/// and returned at once. After a failed compile, this and every later call throws the compiler's error. `nanoseconds`: the time that the
/// caller has spent without the kernel since its last call; the kernel with the largest total is compiled next.
LoadedKernel* kernel_cache_try(Backend& backend, const Hash128& key, const SourcePrinter& print, int64_t nanoseconds = 0);
/// The kernel if it is in memory or on disk, else nullptr; nothing is compiled.
LoadedKernel* kernel_cache_load(Backend& backend, const Hash128& key, const SourcePrinter& print);

/// The bytes and names that `make` returns, cached in the same folder under a digest of `key` and `target` (the compiler, its flags and its
/// target architecture). `key` must cover everything that the bytes depend on. `make` must own everything that it uses, because it goes on
/// running when Ctrl-C ends the wait for it.
struct CachedBinary {
  std::vector<char> bytes;
  std::vector<std::string> names;
};
CachedBinary kernel_cache_binary(const std::string& target, const Hash128& key, std::function<CachedBinary()> make);

/// Lets a background thread compile the optimized code of a `quick` kernel and replace the quick code; with `wait`, returns when that is
/// done. Does nothing for a kernel that is optimized already, and requests each kernel only once.
void kernel_cache_improve(LoadedKernel& kernel, bool wait = false);

struct CacheStats {
  uint64_t memory_hits = 0;
  uint64_t disk_hits = 0;
  uint64_t shipped_hits = 0;
  uint64_t compiles = 0;
  uint64_t replaced = 0;  ///< quick kernels that were replaced by optimized code; not counted in `compiles`
  double compile_seconds = 0;
  size_t disk_bytes = 0;
  size_t disk_files = 0;
  size_t disk_limit = 0;
  std::string folder;          ///< empty when the disk cache is off
  std::string warning;         ///< why the folder is not used; empty if it is
  std::string shipped_folder;  ///< the folder of shipped kernels; empty when there are none
  size_t shipped_bytes = 0;
  size_t shipped_files = 0;
};
CacheStats kernel_cache_stats();
/// CacheStats::compile_seconds alone, without an access to the disk.
double kernel_compile_seconds();

/// Removes the kernels from the memory cache (kernels in use stay loaded) and, with `disk`, deletes the files.
void kernel_cache_clear(bool disk);

/// Writes all entries on disk into one file for kernel_cache_import on another machine. Returns the number of entries.
size_t kernel_cache_export(const std::string& path);
/// Copies the entries of an exported file into the folder. Verifies that each entry is complete, but not that its code is harmless. Returns
/// the number of entries.
size_t kernel_cache_import(const std::string& path);

/// Compiles for `target` (Backend::target) and writes the results into `folder` in the cache's format. Wheels ship such a folder.
void kernel_cache_write(const std::string& folder, const std::string& target, std::span<const KernelSource> sources,
                        const std::function<std::vector<char>(const KernelSource&)>& compile);
/// Writes what kernel_cache_binary looks for into such a folder.
void kernel_cache_write_binary(const std::string& folder, const std::string& target, const Hash128& key, const CachedBinary& binary);
/// Compresses such a folder with a dictionary shared by its kernels (KernelStore::pack).
void kernel_cache_pack(const std::string& folder);

/// Sets the cache folder, instead of the environment's (BROADCLOTH_CACHE_DIR, else XDG_CACHE_HOME/broadcloth, else ~/.cache/broadcloth);
/// empty: nothing is kept on disk.
void kernel_cache_set_folder(const std::string& folder);
/// The folder on disk from which code may be loaded; empty when there is none or it is refused.
std::string kernel_cache_folder();
/// Sets the limit of bytes on disk, instead of BROADCLOTH_CACHE_LIMIT (2 GiB); the least recently used files are deleted first. 0: nothing
/// is kept on disk.
void kernel_cache_set_limit(size_t bytes);

/// Runs `work`, which prepares a compiler, on a separate thread. Forks and the end of the process wait for it as for a compile. Its
/// exceptions are dropped: a later compile raises the same error.
void kernel_cache_prepare(std::function<void()> work);

/// Tells whether the CPU's compiler, which also loads kernels, is open, so that kernel_cache_try does not wait for that. If not, another
/// thread opens it, by asking for the name of the target.
bool kernel_cache_opened(Backend& backend);

/// Waits until the background thread has finished all requested compiles.
void kernel_cache_wait();
/// Stops the background thread after its current compile and drops queued compiles. Called when the interpreter or the process ends; the
/// thread starts again when needed.
void kernel_cache_shutdown();
/// The same at the end of the interpreter or of the process, permanently: no thread is started afterwards. Compiles in other threads end
/// like all library calls (runtime/exit.h).
void kernel_cache_close();

}  // namespace bc
