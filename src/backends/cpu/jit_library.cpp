#include "backends/cpu/jit_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "codegen/device_library.h"
#include "core/error.h"

namespace bc::cpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryName = "libbroadcloth_jit.so";

/// Where the JIT library may be: BROADCLOTH_JIT, else beside the library that holds this function.
std::string library_path() {
  if (const char* path = std::getenv("BROADCLOTH_JIT"); path != nullptr && *path != 0) return path;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&library_path), &here) != 0 && here.dli_fname != nullptr) {
    std::error_code ignored;
    const fs::path own = fs::weakly_canonical(here.dli_fname, ignored);
    if (own.has_parent_path()) return (own.parent_path() / kLibraryName).string();
  }
  return kLibraryName;
}

std::optional<fs::path> header_folder() {
  const auto set = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0 ? value : nullptr;
  };
  if (const char* folder = set("BROADCLOTH_CACHE_DIR")) return fs::path(folder) / "pch";
  if (const char* folder = set("XDG_CACHE_HOME")) return fs::path(folder) / "broadcloth" / "pch";
  if (const char* home = set("HOME")) return fs::path(home) / ".cache" / "broadcloth" / "pch";
  return std::nullopt;
}

XXH128_hash_t digest_of(std::string_view bytes) { return XXH3_128bits(bytes.data(), bytes.size()); }

/// The end of a header file: says that all of it was written.
struct Trailer {
  char magic[8];
  uint64_t size;
  uint64_t digest[2];
};
constexpr char kMagic[8] = {'b', 'c', '-', 'p', 'c', 'h', '-', '1'};

/// A header's bytes with the zero byte after them that clang wants. Read, not mapped: a file cut short later would kill the process.
std::optional<std::vector<char>> read_header(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status{};
  std::vector<char> bytes;
  bool ok = fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(sizeof(Trailer));
  if (ok) {
    bytes.resize(static_cast<size_t>(status.st_size));
    size_t have = 0;
    while (have < bytes.size()) {
      const ssize_t got = read(file, bytes.data() + have, bytes.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      have += static_cast<size_t>(got);
    }
    ok = have == bytes.size();
  }
  close(file);
  if (!ok) return std::nullopt;
  Trailer trailer;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  if (std::memcmp(trailer.magic, kMagic, sizeof kMagic) != 0 || trailer.size != bytes.size() - sizeof trailer) return std::nullopt;
  bytes.resize(trailer.size);
  const XXH128_hash_t digest = digest_of({bytes.data(), bytes.size()});
  if (digest.low64 != trailer.digest[0] || digest.high64 != trailer.digest[1]) return std::nullopt;
  bytes.push_back(0);
  return bytes;
}

/// Headers of older builds and other machines, not touched for a month.
void drop_old_headers(const fs::path& folder) {
  std::error_code error;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const auto written = entry.last_write_time(error);
    if (!error && written < limit) fs::remove(entry.path(), error);
  }
}

/// Writes a header so that other processes see all of it or nothing. A cache that cannot be written is no error.
void write_header(const fs::path& path, const std::vector<char>& bytes) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::string temporary = path.string() + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return;
  const XXH128_hash_t digest = digest_of({bytes.data(), bytes.size() - 1});
  Trailer trailer{{}, bytes.size() - 1, {digest.low64, digest.high64}};
  std::memcpy(trailer.magic, kMagic, sizeof kMagic);
  const auto put = [&](const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t put = write(file, at, size);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      at += put;
      size -= static_cast<size_t>(put);
    }
    return true;
  };
  // mkostemp makes it private; a cache may be shared.
  const bool ok = fchmod(file, 0644) == 0 && put(bytes.data(), bytes.size() - 1) && put(&trailer, sizeof trailer);
  const bool closed = close(file) == 0;
  if (!ok || !closed || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
  drop_old_headers(path.parent_path());
}

}  // namespace

/// Precompiled headers of this process, one for each set of flags. Vectors never move or go once they are in.
struct JitLibrary::Headers {
  struct Slot {
    std::mutex mutex;
    std::vector<char> bytes;  // empty: not made yet
  };
  std::mutex mutex;
  std::map<std::tuple<int, int, int>, Slot> slots;
};

JitLibrary& JitLibrary::get() {
  // Never destroyed: loaded kernels live on until the process ends. A throw leaves it unmade, so that the next call tries again.
  static JitLibrary& library = *new JitLibrary;
  return library;
}

bool JitLibrary::available() noexcept {
  try {
    get();
    return true;
  } catch (...) {
    return false;
  }
}

JitLibrary::JitLibrary() : path_(library_path()), headers_(std::make_unique<Headers>()) {
  void* handle = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    raise(ErrorKind::Runtime,
          "compile for the CPU: expected the compiler {} beside libbroadcloth.so, got: {}. Install the wheel of broadcloth, which brings it, build "
          "with LLVM and clang 19 (apt-get install llvm-19-dev libclang-19-dev lld-19), or set BROADCLOTH_JIT to its path",
          kLibraryName, reason == nullptr ? "no reason from dlopen" : reason);
  }
  const auto find = [&]<class F>(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(handle, name));
    if (function == nullptr) {
      dlclose(handle);
      raise(ErrorKind::Runtime, "compile for the CPU: expected the function {} in {}, got a library without it; install both from one build", name,
            path_);
    }
  };
  find(abi_, "bc_jit_abi");
  find(version_, "bc_jit_version");
  find(cpu_, "bc_jit_cpu");
  find(features_, "bc_jit_features");
  find(command_line_, "bc_jit_command_line");
  find(precompile_, "bc_jit_precompile");
  find(compile_, "bc_jit_compile");
  find(inspect_, "bc_jit_inspect");
  find(load_, "bc_jit_load");
  find(symbol_, "bc_jit_symbol");
  find(unload_, "bc_jit_unload");
  find(free_, "bc_jit_free");
  if (abi_() != BC_JIT_ABI) {
    const int found = abi_();
    dlclose(handle);
    raise(ErrorKind::Runtime, "compile for the CPU: expected interface {} in {}, got {}; install both libraries from one build", BC_JIT_ABI, path_,
          found);
  }
}

std::string JitLibrary::take(bc_jit_buffer& buffer) const {
  std::string text = buffer.data == nullptr ? std::string() : std::string(buffer.data, buffer.size);
  free_(&buffer);
  return text;
}

std::string JitLibrary::target(const bc_jit_flags& flags) const {
  bc_jit_buffer line{};
  command_line_(&flags, &line);
  return std::string(version_()) + " " + take(line);
}

std::span<const char> JitLibrary::header(const bc_jit_flags& flags) {
  Headers::Slot* slot;
  {
    const std::lock_guard lock(headers_->mutex);
    slot = &headers_->slots[{flags.opt_level, flags.contract, flags.fast_math}];
  }
  // Others that need the same header wait for it; building it twice would take as long.
  const std::lock_guard lock(slot->mutex);
  if (!slot->bytes.empty()) return {slot->bytes.data(), slot->bytes.size() - 1};

  std::optional<fs::path> path = header_folder();
  if (path) {
    const std::string key = target(flags) + '\0' + std::string(kDeviceLibrary, kDeviceLibrarySize);
    const XXH128_hash_t digest = digest_of(key);
    *path /= fmt::format("device-{:016x}{:016x}.pch", digest.high64, digest.low64);
    if (auto bytes = read_header(*path)) {
      slot->bytes = std::move(*bytes);
      return {slot->bytes.data(), slot->bytes.size() - 1};
    }
  }
  bc_jit_buffer made{}, log{};
  const int failed = precompile_(kDeviceLibrary, kDeviceLibrarySize, "device_library.h", &flags, &made, &log);
  const std::string messages = take(log);
  if (failed != 0 || made.data == nullptr) {
    free_(&made);
    raise(ErrorKind::Runtime, "compile for the CPU: the device library does not compile:\n{}", messages);
  }
  slot->bytes.assign(made.data, made.data + made.size);
  slot->bytes.push_back(0);
  free_(&made);
  if (path) write_header(*path, slot->bytes);
  return {slot->bytes.data(), slot->bytes.size() - 1};
}

std::vector<char> JitLibrary::compile(std::string_view text, std::string_view name, const bc_jit_flags& flags) {
  const std::span<const char> pch = header(flags);
  bc_jit_buffer object{}, log{};
  const int failed = compile_(text.data(), text.size(), std::string(name).c_str(), &flags, pch.data(), pch.size(), &object, &log);
  const std::string messages = take(log);
  if (failed != 0 || object.data == nullptr) {
    free_(&object);
    raise(ErrorKind::Runtime, "compile for the CPU: {} does not compile with {}:\n{}", name, version_(), messages);
  }
  std::vector<char> bytes(object.data, object.data + object.size);
  free_(&object);
  return bytes;
}

std::string JitLibrary::inspect(std::string_view text, const bc_jit_flags& flags, const char* stage) {
  const std::span<const char> pch = header(flags);
  bc_jit_buffer out{}, log{};
  const int failed = inspect_(text.data(), text.size(), "kernel.cpp", &flags, pch.data(), pch.size(), stage, &out, &log);
  const std::string messages = take(log);
  const std::string result = take(out);
  BC_CHECK(failed == 0, Runtime, "inspect for the CPU: the text does not compile with {}:\n{}", version_(), messages);
  return result;
}

JitLibrary::Object JitLibrary::load(std::span<const char> bytes) {
  bc_jit_buffer log{};
  bc_jit_object* object = load_(bytes.data(), bytes.size(), &log);
  const std::string messages = take(log);
  BC_CHECK(object != nullptr, Runtime, "load for the CPU: the object file of {} bytes cannot be loaded: {}", bytes.size(), messages);
  return Object(object, unload_);
}

}  // namespace bc::cpu
