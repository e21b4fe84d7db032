#include "backends/cpu/jit_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "backends/cpu/support_object.h"
#include "codegen/cache_folder.h"
#include "codegen/device_library.h"
#include "codegen/kernel_cache.h"
#include "codegen/tier0/tier0.h"
#include "core/cpu_level.h"
#include "core/error.h"
#include "runtime/fork.h"

namespace bc::cpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryName = "libbroadcloth_jit.so";

// Macros for the device library: in kernels its rare functions may stay calls; the support object defines these functions.
#ifdef __SANITIZE_THREAD__
constexpr const char* kKernelPrefix = "#define BC_CPU_KERNEL 1\n#define BC_THREAD_CHECKS 1\n";
#else
constexpr const char* kKernelPrefix = "#define BC_CPU_KERNEL 1\n";
#endif
constexpr const char* kSupportPrefix = "#define BC_CPU_SUPPORT 1\n";
constexpr bc_jit_flags kSupportFlags{3, 0, 0, 0};

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

/// The folder for precompiled headers and the support object; nullopt if the disk cache is off.
std::optional<fs::path> keep_folder() {
  const std::string folder = kernel_cache_folder();
  if (folder.empty()) return std::nullopt;
  fs::path path = fs::path(folder) / "pch";
  const std::string refusal = why_refused(path.string());
  if (refusal.empty()) return path;
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) warn(refusal);
  return std::nullopt;
}

XXH128_hash_t digest_of(std::string_view bytes) { return XXH3_128bits(bytes.data(), bytes.size()); }

/// The trailer of a cached file; its presence proves that the file is complete.
struct Trailer {
  char magic[8];
  uint64_t size;
  uint64_t digest[2];
};
constexpr char kMagic[8] = {'b', 'c', '-', 'p', 'c', 'h', '-', '1'};

/// Reads a cached file and appends the zero byte that clang needs. The file is read, not mapped: if a mapped file were truncated later, the
/// process would be killed.
std::optional<std::vector<char>> read_kept(const fs::path& path, bool trusted = false) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status{};
  std::vector<char> bytes;
  bool ok = fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(sizeof(Trailer));
  ok = ok && (trusted || why_not_trusted(path.string(), status).empty());
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

/// Deletes files that were written more than a month ago, by older builds or other machines.
void drop_old(const fs::path& folder) {
  std::error_code error;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const auto written = entry.last_write_time(error);
    if (!error && written < limit) fs::remove(entry.path(), error);
  }
}

/// Writes a file atomically, so that other processes see it complete or not at all. A failure is not an error.
void write_kept(const fs::path& path, const std::vector<char>& bytes) {
  if (!make_private_folder(path.parent_path().string())) return;
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
  // mkostemp creates a private file; shipped files must be readable by others.
  const bool ok = fchmod(file, 0644) == 0 && put(bytes.data(), bytes.size() - 1) && put(&trailer, sizeof trailer);
  const bool closed = close(file) == 0;
  if (!ok || !closed || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
  drop_old(path.parent_path());
}

/// Returns the bytes of `name` in the cache folder, or else the result of `make`, which is then stored there. A zero byte is appended.
template <class Make>
std::vector<char> kept(const std::string& name, const Make& make) {
  const std::optional<fs::path> folder = keep_folder();
  if (folder) {
    if (auto bytes = read_kept(*folder / name)) return std::move(*bytes);
  }
  std::vector<char> bytes = make();
  bytes.push_back(0);
  if (folder) write_kept(*folder / name, bytes);
  return bytes;
}

std::string hex(const std::string& key) {
  const XXH128_hash_t digest = digest_of(key);
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string header_text(std::string_view prelude) {
  return kKernelPrefix + std::string(kDeviceLibrary, kDeviceLibrarySize) + std::string(prelude);
}
std::string header_name(const std::string& target, const std::string& text) { return "device-" + hex(target + '\0' + text) + ".pch"; }

}  // namespace

/// The precompiled headers of this process, one for each set of flags. A header's bytes never move and are never freed.
struct JitLibrary::Headers {
  struct Slot {
    std::mutex mutex;
    std::vector<char> bytes;             // empty: not built yet
    std::atomic<bool> made{false};       // `bytes` is final
    std::atomic<bool> under_way{false};  // a thread builds it, or it was not found in the folder
  };
  Slot& slot(const bc_jit_flags& flags, std::string_view prelude) {
    const std::lock_guard lock(mutex);
    return slots[{flags.opt_level, flags.contract, flags.fast_math, flags.program * 2 + flags.exceptions,
                  prelude.empty() ? 0 : digest_of(prelude).low64}];
  }
  std::mutex mutex;
  std::map<std::tuple<int, int, int, int, uint64_t>, Slot> slots;
  std::mutex support_mutex;
  bc_jit_object* support = nullptr;  // never unloaded: kernels call into it
  std::atomic<bool> support_wanted{false};
  std::unique_ptr<Headers> parents;  // the headers of the parent process, kept after a fork because their locks may be held for ever
};

JitLibrary& JitLibrary::get() {
  // Never destroyed: loaded kernels are used until the process ends. If the constructor throws, the next call tries again.
  static JitLibrary& library = *new JitLibrary;
  // A fork waits for running compiles. The child must not wait for locks that threads of its parent held, so it starts with empty Headers.
  at_fork(
      ForkLevel::Compiler, [] { library.fork_(0); },
      [](bool child) {
        library.fork_(child ? 2 : 1);
        if (child) library.forget_headers();
      });
  return library;
}

void JitLibrary::forget_headers() {
  auto fresh = std::make_unique<Headers>();
  fresh->support = headers_->support;
  fresh->support_wanted = headers_->support_wanted.load();
  fresh->parents = std::move(headers_);
  headers_ = std::move(fresh);
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
  const LibraryCall call;
  void* handle = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    raise(
        ErrorKind::Runtime,
        "compile for the CPU: expected the compiler {} beside libbroadcloth.so, got: {}. Install the wheel of broadcloth, which brings it, "
        "build with LLVM and clang 19 (apt-get install llvm-19-dev libclang-19-dev lld-19), or set BROADCLOTH_JIT to its path",
        kLibraryName, reason == nullptr ? "no reason from dlopen" : reason);
  }
  const auto find = [&](auto& function, const char* name) {
    function.set(dlsym(handle, name));
    if (!function) {
      dlclose(handle);
      raise(ErrorKind::Runtime,
            "compile for the CPU: expected the function {} in {}, got a library without it; install both from one build", name, path_);
    }
  };
  find(abi_, "bc_jit_abi");
  find(set_cpu_, "bc_jit_set_cpu");
  find(version_, "bc_jit_version");
  find(cpu_, "bc_jit_cpu");
  find(features_, "bc_jit_features");
  find(command_line_, "bc_jit_command_line");
  find(precompile_, "bc_jit_precompile");
  find(compile_, "bc_jit_compile");
  find(inspect_, "bc_jit_inspect");
  find(program_, "bc_jit_program");
  find(specialise_, "bc_jit_specialise");
  find(load_, "bc_jit_load");
  find(symbol_, "bc_jit_symbol");
  find(unload_, "bc_jit_unload");
  find(free_, "bc_jit_free");
  find(fork_, "bc_jit_fork");
  if (abi_() != BC_JIT_ABI) {
    const int found = abi_();
    dlclose(handle);
    raise(ErrorKind::Runtime, "compile for the CPU: expected interface {} in {}, got {}; install both libraries from one build", BC_JIT_ABI,
          path_, found);
  }
  if (const char* cpu = requested_cpu()) set_cpu_(cpu);
  // LLVM's static objects are destroyed at exit by handlers that were registered when the library was loaded.
  arm_exit_barrier();
}

std::string JitLibrary::take(bc_jit_buffer& buffer) const {
  std::string text = buffer.data == nullptr ? std::string() : std::string(buffer.data, buffer.size);
  free_(&buffer);
  return text;
}

std::string JitLibrary::target(const bc_jit_flags& flags) const {
  bc_jit_buffer line{};
  command_line_(&flags, &line);
  return fmt::format("{} {} {}", version_(), BC_JIT_ABI, take(line));
}

std::span<const char> JitLibrary::header(const bc_jit_flags& flags, std::string_view prelude) {
  Headers::Slot& slot = headers_->slot(flags, prelude);
  if (slot.made.load(std::memory_order_acquire)) return {slot.bytes.data(), slot.bytes.size() - 1};
  // Other threads that need the same header wait for it, since building it again would take as long.
  const std::lock_guard lock(slot.mutex);
  if (!slot.bytes.empty()) return {slot.bytes.data(), slot.bytes.size() - 1};

  const std::string text = header_text(prelude);
  if (auto shipped = read_kept(shipped_header(flags, text), true)) {
    slot.bytes = std::move(*shipped);
    slot.made.store(true, std::memory_order_release);
    return {slot.bytes.data(), slot.bytes.size() - 1};
  }
  slot.bytes = kept(header_name(target(flags), text), [&] {
    bc_jit_buffer made{}, log{};
    const int failed = precompile_(text.data(), text.size(), "device_library.h", &flags, &made, &log);
    const std::string messages = take(log);
    const std::string bytes = take(made);
    BC_CHECK(failed == 0, Runtime, "compile for the CPU: the device library does not compile:\n{}", messages);
    return std::vector<char>(bytes.begin(), bytes.end());
  });
  slot.made.store(true, std::memory_order_release);
  return {slot.bytes.data(), slot.bytes.size() - 1};
}

std::span<const char> JitLibrary::header_if_made(const bc_jit_flags& flags) {
  Headers::Slot& slot = headers_->slot(flags, {});
  if (slot.made.load(std::memory_order_acquire)) return {slot.bytes.data(), slot.bytes.size() - 1};
  std::error_code ignored;
  if (fs::exists(shipped_header(flags, header_text({})), ignored)) return header(flags);
  if (slot.under_way.exchange(true)) return {};
  const std::optional<fs::path> folder = keep_folder();
  if (folder && fs::exists(*folder / header_name(target(flags), header_text({})), ignored)) return header(flags);
  try {
    std::thread([this, flags] {
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5);  // lower priority than the program
      try {
        header(flags);
      } catch (...) {
        // The next compile also runs without the header and raises the error.
      }
    }).detach();
  } catch (const std::system_error&) {
    return header(flags);
  }
  return {};
}

std::string JitLibrary::shipped_header(const bc_jit_flags& flags, std::string_view text) const {
  // The header is a syntax tree, which is the same for every processor with the features that the library's macros test.
  if (!Tier0Program::supported()) return {};
  std::string key =
      fmt::format("{} {} {} {} {}", version_(), flags.opt_level, flags.contract, flags.fast_math, flags.program * 2 + flags.exceptions);
  key.append(1, '\0').append(text);
  return (fs::path(path_).parent_path() / "headers" / ("device-" + hex(key) + ".pch")).string();
}

void JitLibrary::write_headers(const std::string& folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);  // readable by all users
  const std::pair<bc_jit_flags, std::string_view> all[] = {{{3, 0, 0, 0}, {}}, {{3, 1, 0, 1}, {kCudaLibrary, kCudaLibrarySize}}};
  for (const auto& [flags, prelude] : all) {
    const std::string text = header_text(prelude), path = shipped_header(flags, text);
    if (path.empty()) return;
    bc_jit_buffer made{}, log{};
    const int failed = precompile_(text.data(), text.size(), "device_library.h", &flags, &made, &log);
    const std::string messages = take(log);
    std::string bytes = take(made);
    BC_CHECK(failed == 0, Runtime, "compile for the CPU: the device library does not compile:\n{}", messages);
    bytes.push_back(0);
    write_kept(fs::path(folder) / fs::path(path).filename(), std::vector<char>(bytes.begin(), bytes.end()));
  }
}

const bc_jit_object* JitLibrary::support() {
  const std::lock_guard lock(headers_->support_mutex);
  if (headers_->support != nullptr) return headers_->support;
  if (const std::span<const char> built = support_object(); !built.empty()) {
    bc_jit_buffer log{};
    headers_->support = load_(built.data(), built.size(), nullptr, &log);
    take(log);
    if (headers_->support != nullptr) return headers_->support;
  }
  const std::string text = kSupportPrefix + std::string(kDeviceLibrary, kDeviceLibrarySize);
  const std::vector<char> bytes = kept("support-" + hex(target(kSupportFlags) + '\0' + text) + ".o", [&] {
    bc_jit_buffer made{}, log{};
    const int failed = compile_(text.data(), text.size(), "device_library.h", &kSupportFlags, nullptr, 0, &made, &log);
    const std::string messages = take(log);
    const std::string object = take(made);
    BC_CHECK(failed == 0, Runtime, "compile for the CPU: the device library does not compile:\n{}", messages);
    return std::vector<char>(object.begin(), object.end());
  });
  bc_jit_buffer log{};
  headers_->support = load_(bytes.data(), bytes.size() - 1, nullptr, &log);
  const std::string messages = take(log);
  BC_CHECK(headers_->support != nullptr, Runtime, "load for the CPU: the device library's functions cannot be loaded: {}", messages);
  return headers_->support;
}

std::vector<char> JitLibrary::compile(std::string_view text, std::string_view name, const bc_jit_flags& flags, std::string_view prelude) {
  const std::span<const char> pch = prelude.empty() ? header_if_made(flags) : header(flags, prelude);
  // Precompiling takes as long as compiling several kernels: until the header is ready, a kernel reads only the declarations that it uses.
  std::string whole;
  if (pch.empty()) {
    const std::string_view texts[] = {text};
    whole = kKernelPrefix + device_library_for(LibraryTarget::Cpu, texts) + fmt::format("\n#line 1 \"{}\"\n", name);
    text = whole.append(text);
  }
  bc_jit_buffer object{}, log{};
  const int failed =
      compile_(text.data(), text.size(), std::string(name).c_str(), &flags, pch.empty() ? nullptr : pch.data(), pch.size(), &object, &log);
  const std::string messages = take(log);
  if (failed != 0 || object.data == nullptr) {
    free_(&object);
    raise(ErrorKind::Compile, "compile for the CPU: {} does not compile with {}:\n{}", name, version_(), messages);
  }
  std::vector<char> bytes(object.data, object.data + object.size);
  free_(&object);
  return bytes;
}

std::string JitLibrary::inspect(std::string_view text, const bc_jit_flags& flags, const char* stage, std::string_view prelude) {
  const std::span<const char> pch = header(flags, prelude);
  bc_jit_buffer out{}, log{};
  const int failed = inspect_(text.data(), text.size(), "kernel.cpp", &flags, pch.data(), pch.size(), stage, &out, &log);
  const std::string messages = take(log);
  const std::string result = take(out);
  BC_CHECK(failed == 0, Runtime, "inspect for the CPU: the text does not compile with {}:\n{}", version_(), messages);
  return result;
}

JitLibrary::Parsed JitLibrary::parse(const bc_jit_program_source& source, const bc_jit_flags& flags) {
  const std::span<const char> pch = header(flags, {kCudaLibrary, kCudaLibrarySize});
  bc_jit_buffer bitcode{}, data{}, manifest{}, log{};
  const int failed = program_(&source, &flags, pch.data(), pch.size(), &bitcode, &data, &manifest, &log);
  const std::string messages = take(log), code = take(bitcode), variables = take(data);
  Parsed parsed{{code.begin(), code.end()}, {variables.begin(), variables.end()}, take(manifest)};
  if (failed != 0) {
    const std::string_view text(source.text, source.text_size);
    const char* hint = text.find("asm") != text.npos ? "\nInline PTX runs on CUDA devices only." : "";
    raise(ErrorKind::Compile, "compile: {} does not compile for the CPU:\n{}{}", source.name, messages, hint);
  }
  return parsed;
}

std::vector<char> JitLibrary::specialise(std::span<const char> bitcode, const std::string& symbol, const uint32_t block[3],
                                         const bc_jit_flags& flags, bc_jit_kernel& facts, const char* stage) {
  bc_jit_buffer object{}, log{};
  const int failed = specialise_(bitcode.data(), bitcode.size(), symbol.c_str(), block, &flags, stage, &object, &facts, &log);
  const std::string messages = take(log), bytes = take(object);
  BC_CHECK(
      failed == 0, Compile, "compile: kernel '{}' cannot run on the CPU with blocks of ({}, {}, {}):\n{}{}", symbol, block[0], block[1],
      block[2], messages,
      messages.find("mnemonic") != messages.npos || messages.find("asm") != messages.npos ? "Inline PTX runs on CUDA devices only." : "");
  return {bytes.begin(), bytes.end()};
}

JitLibrary::Object JitLibrary::load(std::span<const char> bytes, const bc_jit_object* first, bool with_support) {
  if (first == nullptr && with_support) first = support();
  if (first == nullptr) return load(bytes);
  bc_jit_buffer log{};
  bc_jit_object* object = load_(bytes.data(), bytes.size(), first, &log);
  const std::string messages = take(log);
  BC_CHECK(object != nullptr, Runtime, "load for the CPU: the object file of {} bytes cannot be loaded: {}", bytes.size(), messages);
  return Object(object, unload_.pointer());
}

JitLibrary::Object JitLibrary::load(std::span<const char> bytes) {
  bc_jit_buffer log{};
  std::string messages;
  bc_jit_object* object = nullptr;
  // Few kernels call rare functions; the support object is loaded for the first kernel that does.
  if (!headers_->support_wanted.load(std::memory_order_acquire)) {
    object = load_(bytes.data(), bytes.size(), nullptr, &log);
    messages = take(log);
  }
  if (object == nullptr) {
    object = load_(bytes.data(), bytes.size(), support(), &log);
    messages = take(log);
    if (object != nullptr) headers_->support_wanted.store(true, std::memory_order_release);
  }
  BC_CHECK(object != nullptr, Runtime, "load for the CPU: the object file of {} bytes cannot be loaded: {}", bytes.size(), messages);
  return Object(object, unload_.pointer());
}

}  // namespace bc::cpu
