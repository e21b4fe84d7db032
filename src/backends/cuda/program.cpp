#include "backends/cuda/program.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <unordered_map>

#include "backends/cuda/cubin.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/standard_headers.h"
#include "backends/cuda/toolkit.h"
#include "codegen/device_library.h"
#include "codegen/kernel_cache.h"

namespace bc::cuda {

namespace fs = std::filesystem;

namespace {

// ---- Options ------------------------------------------------------------------------------------------------------------------------

/// Options in the compilers' form: options that are split into two strings ("-I", "path") are joined.
std::vector<std::string> joined_options(const std::vector<std::string>& given) {
  std::vector<std::string> options;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& o = given[i];
    const bool more = i + 1 < given.size();
    if (more && (o == "-I" || o == "-D" || o == "-U"))
      options.push_back(o + given[++i]);
    else if (more &&
             (o == "--include-path" || o == "--define-macro" || o == "--undefine-macro" || o == "-include" || o == "--pre-include" ||
              o == "--gpu-architecture" || o == "-arch" || o == "-maxrregcount" || o == "--maxrregcount" || o == "-std" || o == "--std"))
      options.push_back((o == "-include" ? "--pre-include" : o) + "=" + given[++i]);
    else if (!o.empty())
      options.push_back(o);
  }
  return options;
}

bool is_relocatable(const std::string& option) {
  return option == "-dc" || option == "--device-c" || option == "-rdc=true" || option == "--relocatable-device-code=true";
}

/// The architecture that the options select; empty if they select none.
std::string chosen_arch(const std::vector<std::string>& options) {
  for (const std::string& option : options)
    for (std::string_view prefix : {"-arch=", "--gpu-architecture=", "-gpu-architecture="})
      if (option.starts_with(prefix)) return option.substr(prefix.size());
  return {};
}

bool includes_something(std::string_view text) {
  for (size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1)) {
    const size_t word = text.find_first_not_of(" \t", at + 1);
    if (word != text.npos && text.substr(word).starts_with("include")) return true;
  }
  return false;
}

/// Tells whether the program may include headers: in the text, in its own headers or by "--pre-include".
bool needs_headers(const ProgramSource& source) {
  return includes_something(source.text) ||
         std::any_of(source.headers.begin(), source.headers.end(), [](const auto& header) { return includes_something(header.second); }) ||
         std::any_of(source.options.begin(), source.options.end(), [](const std::string& o) { return o.find("include") != o.npos; });
}

/// The complete text: the parts of the libraries that the program uses (with `whole`, all of them), then the user's text with its own line
/// numbers.
std::string full_text(const ProgramSource& source, bool whole) {
  if (!source.device_library) return source.text;
  const std::string line = fmt::format("\n#line 1 \"{}\"\n", source.name);
  if (whole) return std::string(kDeviceLibrary, kDeviceLibrarySize) + line + source.text;
  const std::string_view library = std::string_view(source.text).substr(0, source.library_bytes);
  std::vector<std::string_view> texts{std::string_view(source.text).substr(source.library_bytes)};
  for (const std::string& option : source.options) texts.emplace_back(option);
  for (const auto& [name, header] : source.headers) texts.emplace_back(header);
  for (const std::string& name : source.name_expressions) texts.emplace_back(name);
  return device_library_for(LibraryTarget::Cuda, texts, library).append(line).append(texts[0]);
}

/// Tells whether headers from the user's folders may be included; they may use any part of the library.
bool reads_folders(const ProgramSource& source) {
  return std::any_of(source.options.begin(), source.options.end(),
                     [](const std::string& option) { return option.starts_with("-I") || option.starts_with("--include-path"); });
}

// ---- Linking ------------------------------------------------------------------------------------------------------------------------

/// The functions of nvJitLink that are used here. Its versioned names differ between releases; the plain names do not.
struct LinkApi {
  int (*create)(void**, uint32_t, const char**) = nullptr;
  int (*destroy)(void**) = nullptr;
  int (*add_data)(void*, int, const void*, size_t, const char*) = nullptr;
  int (*add_file)(void*, int, const char*) = nullptr;
  int (*complete)(void*) = nullptr;
  int (*cubin_size)(void*, size_t*) = nullptr;
  int (*cubin)(void*, void*) = nullptr;
  int (*log_size)(void*, size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
};

const LinkApi& linker() {
  static const LinkApi api = [] {
    LinkApi a;
    const auto fill = [](auto& member, const char* name) {
      member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(library_symbol(Library::NvJitLink, name));
    };
    fill(a.create, "nvJitLinkCreate");
    fill(a.destroy, "nvJitLinkDestroy");
    fill(a.add_data, "nvJitLinkAddData");
    fill(a.add_file, "nvJitLinkAddFile");
    fill(a.complete, "nvJitLinkComplete");
    fill(a.cubin_size, "nvJitLinkGetLinkedCubinSize");
    fill(a.cubin, "nvJitLinkGetLinkedCubin");
    fill(a.log_size, "nvJitLinkGetErrorLogSize");
    fill(a.log, "nvJitLinkGetErrorLog");
    return a;
  }();
  return api;
}

constexpr int kLinkCubin = 1, kLinkPtx = 2, kLinkLibrary = 6;  // nvJitLinkInputType
int link_type(const LinkedCode& code) {
  constexpr std::pair<const char*, int> types[] = {{"cubin", kLinkCubin}, {"ptx", kLinkPtx}, {"ltoir", 3},
                                                   {"fatbin", 4},         {"object", 5},     {"archive", kLinkLibrary}};
  for (const auto& [kind, type] : types)
    if (code.kind == kind) return type;
  raise(ErrorKind::Value, "compile: {} cannot be linked: it is no PTX, cubin, fatbin, object, archive or LTO-IR but {}", code.name,
        code.kind);
}

/// Links a relocatable cubin (or PTX), other code and the device runtime into one program.
std::vector<char> link(const std::vector<char>& binary, const std::string& name, const std::string& arch,
                       const std::vector<LinkedCode>& others = {}, int tries = 8) {
  const LinkApi& api = linker();
  void* handle = nullptr;
  const bool ptx = arch.starts_with("compute_");
  const std::string option = "-arch=sm_" + arch.substr(arch.find('_') + 1);
  const bool lto = std::any_of(others.begin(), others.end(), [](const LinkedCode& code) { return code.kind == "ltoir"; });
  const char* options[] = {option.c_str(), "-lto"};
  std::string log;
  const auto failed = [&](const char* call, int result) {
    size_t bytes = 0;
    if (handle && api.log_size(handle, &bytes) == 0 && bytes > 1) {
      log.resize(bytes);
      api.log(handle, log.data());
      log.resize(std::strlen(log.c_str()));
    }
    if (handle) api.destroy(&handle);
    raise(ErrorKind::Compile, "compile: {} could not be linked for {}: {} gives error {}{}{}", name, arch, call, result,
          log.empty() ? "" : ":\n", log);
  };
  if (int result = api.create(&handle, lto ? 2 : 1, options)) failed("nvJitLinkCreate", result);
  if (int result = api.add_data(handle, ptx ? kLinkPtx : kLinkCubin, binary.data(), binary.size(), name.c_str()))
    failed("nvJitLinkAddData", result);
  for (const LinkedCode& code : others) {
    const bool text = code.kind == "ptx";  // ends with a zero
    if (int result = api.add_data(handle, link_type(code), code.bytes.c_str(), code.bytes.size() + (text ? 1 : 0), code.name.c_str()))
      failed(fmt::format("nvJitLinkAddData({})", code.name).c_str(), result);
  }
  const std::string runtime =
      toolkit_file({"lib64/libcudadevrt.a", "lib/libcudadevrt.a", "targets/x86_64-linux/lib/libcudadevrt.a", "lib/x64/cudadevrt.lib"});
  if (!runtime.empty())
    if (int result = api.add_file(handle, kLinkLibrary, runtime.c_str())) failed("nvJitLinkAddFile(libcudadevrt.a)", result);
  if (int result = api.complete(handle)) {
    if (runtime.empty() && others.empty())
      log = "libcudadevrt.a, which dynamic parallelism needs, was not found; it comes with the CUDA toolkit";
    failed("nvJitLinkComplete", result);
  }
  size_t bytes = 0;
  if (int result = api.cubin_size(handle, &bytes)) failed("nvJitLinkGetLinkedCubinSize", result);
  // nvJitLink 13.0 sometimes returns no error but a wrong size, of 500 MB to gigabytes, when it links a cubin; then the link is tried
  // again.
  size_t most = (size_t{64} << 20) + 16 * binary.size();
  for (const LinkedCode& code : others) most += 16 * code.bytes.size();
  std::vector<char> linked;
  if (bytes <= most) {
    linked.resize(bytes);
    if (int result = api.cubin(handle, linked.data())) failed("nvJitLinkGetLinkedCubin", result);
  }
  if (!std::string_view(linked.data(), linked.size()).starts_with("\177ELF")) {
    if (tries <= 1) failed("nvJitLinkGetLinkedCubinSize", static_cast<int>(bytes));
    api.destroy(&handle);
    return link(binary, name, arch, others, tries - 1);
  }
  api.destroy(&handle);
  return linked;
}

// ---- nvcc ---------------------------------------------------------------------------------------------------------------------------

/// A temporary folder that its destructor deletes with all its files.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "broadcloth-XXXXXX").string();
    BC_CHECK(mkdtemp(pattern.data()), Runtime, "compile: no temporary folder can be made in {}", fs::temp_directory_path().string());
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a command in `folder` with stdout and stderr in `log`; returns its exit status.
int run(const std::vector<std::string>& command, const ScratchFolder& folder, const fs::path& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.path().c_str());
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  BC_CHECK(error == 0, Import, "compile: {} cannot be run: {}", command[0], std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ProgramBinary compile_nvcc(const ProgramSource& source, const std::string& arch, const std::vector<std::string>& options) {
  const std::string nvcc = nvcc_path();
  BC_CHECK(!nvcc.empty(), Import, "compile: backend='nvcc' needs nvcc, and none was found in CUDA_HOME, /usr/local/cuda* or PATH");
  BC_CHECK(source.name_expressions.empty(), Value, "compile: name expressions need backend='nvrtc'");
  const ScratchFolder folder;
  std::string name = fs::path(source.name).filename().string();
  if (!name.ends_with(".cu")) name += ".cu";
  std::ofstream(folder / name, std::ios::binary) << full_text(source, true);
  for (const auto& [header, text] : source.headers) {
    const fs::path place = folder / header;
    std::error_code ignored;
    fs::create_directories(place.parent_path(), ignored);
    std::ofstream(place, std::ios::binary) << text;
  }
  std::vector<std::string> command = {nvcc, "-arch=" + arch, "-I."};
  bool relocatable = false;
  for (const std::string& option : options) {
    relocatable = relocatable || is_relocatable(option);
    if (!is_relocatable(option) && option != "-default-device") command.push_back(option);
  }
  const bool ptx = arch.starts_with("compute_");
  if (relocatable) command.insert(command.end(), {"-rdc=true"});
  command.insert(command.end(), {ptx ? "-ptx" : "-cubin", "-o", "program.out", name});
  const int status = run(command, folder, folder / "log");
  ProgramBinary made;
  made.log = read_file(folder / "log");
  BC_CHECK(status == 0, Compile, "compile: nvcc could not compile {} for {}:\n{}", source.name, arch, made.log);
  const std::string bytes = read_file(folder / "program.out");
  made.bytes.assign(bytes.begin(), bytes.end());
  if (ptx) made.bytes.push_back('\0');
  if (relocatable) made.bytes = link(made.bytes, source.name, arch);
  return made;
}

}  // namespace

// ---- Compiling ----------------------------------------------------------------------------------------------------------------------

ProgramBinary compile_source(const ProgramSource& source, std::string_view default_arch, bool linked) {
  CompilerInput input;
  input.options = joined_options(source.options);
  std::string arch = chosen_arch(input.options);
  if (arch.empty()) arch = default_arch;
  std::erase_if(input.options, [](const std::string& o) { return !chosen_arch({o}).empty(); });
  if (source.nvcc) return compile_nvcc(source, arch, input.options);

  bool whole = source.device_library && reads_folders(source);
  input.text = full_text(source, whole);
  input.name = source.name;
  input.name_expressions = source.name_expressions;
  bool relocatable = std::any_of(input.options.begin(), input.options.end(), is_relocatable);
  if (!source.linked.empty() && !relocatable) {
    relocatable = true;
    input.options.push_back("-rdc=true");
  }
  // -default-device: functions without __device__ are device functions, since there is no host code here.
  input.options.push_back("-default-device");
  if (source.device_library && !relocatable && !source.foreign_text) input.options.push_back("--minimal");
  for (const auto& [name, text] : source.headers) {
    input.header_names.push_back(name);
    input.header_texts.push_back(text);
  }
  if (needs_headers(source)) {
    for (const auto& [name, text] : standard_headers()) {
      if (std::find(input.header_names.begin(), input.header_names.end(), name) != input.header_names.end()) continue;
      input.header_names.emplace_back(name);
      input.header_texts.emplace_back(text);
    }
    for (const std::string& folder : toolkit_include_folders()) input.options.push_back("-I" + folder);
    if (source.text.find("<thrust/") != std::string::npos) {
      input.options.push_back(std::string("--pre-include=") + kThrustPrelude);
      for (const char* side : {"HOST", "DEVICE"}) {
        const std::string option = fmt::format("-DTHRUST_{0}_SYSTEM=THRUST_{0}_SYSTEM_CPP", side);
        const auto given = [&](const std::string& o) { return o.find(fmt::format("THRUST_{}_SYSTEM=", side)) != o.npos; };
        if (std::none_of(input.options.begin(), input.options.end(), given)) input.options.push_back(option);
      }
    }
  }
  CompiledProgram compiled;
  for (;;) {
    try {
      compiled = compile_program(input, arch, ErrorKind::Compile);
      break;
    } catch (const Error& e) {
      if (!relocatable && std::string_view(e.what()).find("device-side kernel launch") != std::string_view::npos) {
        // A kernel that launches kernels must be compiled as relocatable code; this happens automatically.
        relocatable = true;
        std::erase(input.options, "--minimal");
        input.options.push_back("-rdc=true");
      } else if (source.device_library && !whole) {
        // The program uses a name that its text does not show (a macro forms it by token pasting), or it has an error. It is compiled again
        // with the whole library, so that the messages are correct.
        whole = true;
        input.text = full_text(source, whole);
      } else {
        throw;
      }
    }
  }
  if (relocatable && linked) compiled.binary = link(compiled.binary, source.name, arch, source.linked);
  return {std::move(compiled.binary), std::move(compiled.lowered_names), std::move(compiled.log)};
}

std::string source_compiler(const ProgramSource& source, std::string_view arch) {
  std::string text = fmt::format("{} {}", arch, compiler_description());
  if (source.nvcc) text += " nvcc " + nvcc_path();
  if (needs_headers(source)) {
    // The key includes the toolkit's version for its headers, and a hash of our own headers.
    static const Hash128 own = [] {
      Hasher hasher;
      for (const auto& [name, header] : standard_headers()) hasher.add(std::string_view(name)).add(std::string_view(header));
      return hasher.finish();
    }();
    text += fmt::format(" {} {}", fmt::join(toolkit_include_folders(), ":"), to_string(own));
  }
  if (source.device_library) {
    static const Hash128 library = digest(kDeviceLibrary, kDeviceLibrarySize);
    text += " library " + to_string(library);
  }
  return text;
}

// ---- Loaded programs ----------------------------------------------------------------------------------------------------------------

namespace {

std::atomic<bool> programs_stay{false};

CUstream native(Stream stream) { return static_cast<CUstream>(stream.native); }

/// "scale" of "void scale<float>(float*, float)"; the name itself if it is not mangled.
std::string plain_name(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  if (status != 0 || !text) return mangled;
  std::string name(text);
  std::free(text);
  int depth = 0;
  size_t end = name.size(), begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || (c == '(' && depth == 0)) {
      if (depth == 0 && end == name.size()) end = i;
      if (c == '(') break;
      ++depth;
    } else if (c == '>') {
      --depth;
    } else if (c == ' ' && depth == 0 && end == name.size()) {
      begin = i + 1;  // after a template's return type
    }
  }
  return name.substr(begin, end - begin);
}

class CudaProgramKernel final : public ProgramKernel {
 public:
  CudaProgramKernel(CudaBackend& backend, CUfunction function, std::string name, std::optional<std::vector<uint32_t>> parameters)
      : backend_(backend), function_(function), name_(std::move(name)), parameters_(std::move(parameters)) {}

  std::span<const uint32_t> parameter_bytes() const override {
    return parameters_ ? std::span<const uint32_t>(*parameters_) : std::span<const uint32_t>();
  }
  bool knows_parameters() const override { return parameters_.has_value(); }

  void launch(const KernelLaunch& l, void** arguments, Stream stream) override {
    const auto current = backend_.make_current();
    if (l.shared_bytes > shared_limit_.load(std::memory_order_relaxed)) [[unlikely]]
      raise_shared_limit(l.shared_bytes);
    CUresult result;
    if (l.cluster[0] == 0 && !l.cooperative) [[likely]] {
      result = driver().cuLaunchKernel(function_, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared_bytes,
                                       native(stream), arguments, nullptr);
    } else {
      result = launch_with_attributes(l, arguments, native(stream));
    }
    if (result != kSuccess) [[unlikely]]
      refuse(result, l);
  }

  int attribute(int number) const override {
    const auto current = backend_.make_current();
    int value = 0;
    BC_DRIVER(cuFuncGetAttribute, &value, number, function_);
    return value;
  }

  void set_attribute(int number, int value) override {
    const auto current = backend_.make_current();
    const CUresult result = driver().cuFuncSetAttribute(function_, number, value);
    BC_CHECK(result != kErrorInvalidValue, Value, "kernel {}: {} is no value for attribute {}", name_, value, number);
    check(result, "cuFuncSetAttribute");
    if (number == kFunctionMaxDynamicShared) shared_limit_.store(static_cast<unsigned>(value), std::memory_order_relaxed);
  }

  int max_active_blocks(int block_threads, size_t shared_bytes) const override {
    const auto current = backend_.make_current();
    int blocks = 0;
    BC_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function_, block_threads, shared_bytes);
    return blocks;
  }

  std::pair<int, int> best_block(size_t shared_bytes) const override {
    const auto current = backend_.make_current();
    int grid = 0, block = 0;
    BC_DRIVER(cuOccupancyMaxPotentialBlockSize, &grid, &block, function_, nullptr, shared_bytes, 0);
    return {grid, block};
  }

 private:
  CUresult launch_with_attributes(const KernelLaunch& l, void** arguments, CUstream stream) {
    CUlaunchAttribute attributes[2] = {};
    CUlaunchConfig config = {l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared_bytes, stream, attributes, 0};
    if (l.cooperative) {
      attributes[config.numAttrs].id = kLaunchCooperative;
      attributes[config.numAttrs++].cooperative = 1;
    }
    if (l.cluster[0]) {
      const unsigned blocks = l.cluster[0] * l.cluster[1] * l.cluster[2];
      BC_CHECK(backend_.properties().compute_major >= 9, Value, "kernel {}: clusters need a device of compute capability 9.0, {} has {}.{}",
               name_, backend_.properties().name, backend_.properties().compute_major, backend_.properties().compute_minor);
      for (int d = 0; d < 3; ++d)
        BC_CHECK(l.cluster[d] && l.grid[d] % l.cluster[d] == 0, Value,
                 "kernel {}: expected a grid that is a multiple of the cluster, got grid ({}, {}, {}) and cluster ({}, {}, {})", name_,
                 l.grid[0], l.grid[1], l.grid[2], l.cluster[0], l.cluster[1], l.cluster[2]);
      // Every device supports clusters of eight blocks; larger clusters must be enabled.
      if (blocks > 8) BC_DRIVER(cuFuncSetAttribute, function_, kFunctionNonPortableCluster, 1);
      attributes[config.numAttrs].id = kLaunchClusterDimension;
      attributes[config.numAttrs++].cluster = {l.cluster[0], l.cluster[1], l.cluster[2]};
    }
    if (driver().cuLaunchKernelEx) return driver().cuLaunchKernelEx(&config, function_, arguments, nullptr);
    BC_CHECK(l.cluster[0] == 0, Runtime, "kernel {}: the driver is too old for clusters", name_);
    return driver().cuLaunchCooperativeKernel(function_, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2],
                                              l.shared_bytes, stream, arguments);
  }

  void raise_shared_limit(unsigned bytes) {
    const CudaProperties& p = backend_.properties();
    const int fixed = attribute(kFunctionSharedBytes);
    const int most = std::max(0, p.shared_per_block_optin - fixed);
    BC_CHECK(bytes <= static_cast<unsigned>(most), Value,
             "kernel {}: {} bytes of dynamic shared memory are asked for; {} has {} bytes a block, of which the kernel's own arrays use {}",
             name_, bytes, p.name, p.shared_per_block_optin, fixed);
    BC_DRIVER(cuFuncSetAttribute, function_, kFunctionMaxDynamicShared, most);
    shared_limit_.store(static_cast<unsigned>(most), std::memory_order_relaxed);
  }

  /// Raises the most specific error for a launch that the driver refused.
  [[noreturn]] void refuse(CUresult result, const KernelLaunch& l) const {
    if (is_sticky(result) || result == kErrorOutOfMemory) detail::raise_driver(result, "cuLaunchKernel", "kernel " + name_);
    const auto shape = [&](const unsigned* n) { return fmt::format("({}, {}, {})", n[0], n[1], n[2]); };
    const uint64_t threads = uint64_t{l.block[0]} * l.block[1] * l.block[2];
    const int most = attribute(kFunctionMaxThreadsPerBlock);
    BC_CHECK(threads > 0 && uint64_t{l.grid[0]} * l.grid[1] * l.grid[2] > 0, Value,
             "kernel {}: expected a grid and a block without zeros, got grid {} and block {}", name_, shape(l.grid), shape(l.block));
    BC_CHECK(threads <= static_cast<uint64_t>(most), Value,
             "kernel {}: a block can have {} threads of it ({} registers each), got block {} with {}", name_, most,
             attribute(kFunctionRegisters), shape(l.block), threads);
    BC_CHECK(l.block[2] <= 64 && l.grid[0] <= 2147483647u && l.grid[1] <= 65535 && l.grid[2] <= 65535, Value,
             "kernel {}: expected a grid of at most (2147483647, 65535, 65535) blocks and a block of at most (1024, 1024, 64) threads, got "
             "grid {} and block {}",
             name_, shape(l.grid), shape(l.block));
    if (l.cooperative) {
      const int blocks = max_active_blocks(static_cast<int>(threads), l.shared_bytes) * backend_.properties().multiprocessors;
      const uint64_t asked = uint64_t{l.grid[0]} * l.grid[1] * l.grid[2];
      BC_CHECK(asked <= static_cast<uint64_t>(blocks), Value,
               "kernel {}: all blocks of a cooperative launch run at once, {} at most with {} threads each, got {}", name_, blocks, threads,
               asked);
    }
    detail::raise_driver(
        result, "cuLaunchKernel",
        fmt::format("kernel {} with grid {}, block {}, cluster {}, {} bytes of dynamic shared memory{}", name_, shape(l.grid),
                    shape(l.block), shape(l.cluster), l.shared_bytes, l.cooperative ? ", cooperative" : ""));
  }

  CudaBackend& backend_;
  const CUfunction function_;
  const std::string name_;
  const std::optional<std::vector<uint32_t>> parameters_;  ///< size of each parameter; nullopt: not known
  std::atomic<unsigned> shared_limit_{48u << 10};
};

class CudaProgram final : public Program {
 public:
  CudaProgram(CudaBackend& backend, const ProgramSource& source, ProgramBinary binary)
      : backend_(backend),
        name_(source.name),
        expressions_(source.name_expressions),
        lowered_(std::move(binary.lowered)),
        log_(std::move(binary.log)),
        parameter_counts_(cuda::parameter_counts(binary.bytes)) {
    const auto current = backend_.make_current();
    const RelaxedCapture relaxed;
    char log[8192] = {};
    int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferBytes};
    void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
    const CUresult result = driver().cuModuleLoadDataEx(&module_, binary.bytes.data(), 2, options, values);
    if (result == kSuccess) return;
    const CudaProperties& p = backend_.properties();
    const bool foreign = result == kErrorInvalidImage || result == kErrorNoBinaryForGpu || result == kErrorUnsupportedPtxVersion;
    detail::raise_driver(
        result, "cuModuleLoadDataEx",
        fmt::format("loading {} ({} bytes) on sm_{}{}{}{}{}", name_, binary.bytes.size(), p.compute_major, p.compute_minor,
                    foreign ? ": the code is for another device or a newer driver" : "", log[0] ? "; driver log: " : "", log));
  }

  ~CudaProgram() override {
    if (!module_ || programs_stay.load(std::memory_order_relaxed)) return;
    // Code that runs must not be unloaded.
    backend_.release_after_work([module = module_] { driver().cuModuleUnload(module); });
  }

  ProgramKernel& kernel(std::string_view name, std::string_view shown) override {
    std::lock_guard lock(mutex_);
    const std::string key(name);
    if (const auto known = kernels_.find(key); known != kernels_.end()) return *known->second;
    const auto current = backend_.make_current();
    const RelaxedCapture relaxed;  // with lazy loading, the driver loads a function at this call
    CUfunction function = nullptr;
    std::string symbol = lowered(key);
    CUresult result = driver().cuModuleGetFunction(&function, module_, symbol.c_str());
    if (result == kErrorNotFound) {
      // Without extern "C" the symbol is mangled; if only one kernel has this plain name, it is taken.
      std::vector<std::string> fits;
      for (const std::string& other : symbols())
        if (plain_name(other.c_str()) == key) fits.push_back(other);
      if (fits.size() == 1) {
        symbol = fits[0];
        result = driver().cuModuleGetFunction(&function, module_, symbol.c_str());
      }
    }
    if (result == kErrorNotFound) {
      std::vector<std::string> known = expressions_;
      for (const std::string& other : symbols())
        if (std::find(lowered_.begin(), lowered_.end(), other) == lowered_.end()) known.push_back(plain_name(other.c_str()));
      raise(ErrorKind::Attribute, "{}: there is no kernel '{}'; the program has {}", name_, key,
            known.empty() ? "none that can be named" : fmt::format("{}", fmt::join(known, ", ")));
    }
    check(result, "cuModuleGetFunction");
    auto made = std::make_unique<CudaProgramKernel>(backend_, function, shown.empty() ? key : std::string(shown),
                                                    parameter_sizes(function, symbol, parameter_counts_));
    return *kernels_.emplace(key, std::move(made)).first->second;
  }

  std::pair<void*, size_t> variable(std::string_view name) override {
    const auto current = backend_.make_current();
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const std::string key(name);
    const CUresult result = driver().cuModuleGetGlobal(&address, &bytes, module_, lowered(key).c_str());
    BC_CHECK(result != kErrorNotFound, Attribute,
             "{}: there is no __device__ or __constant__ variable '{}'; one in a namespace or of a template needs a name expression", name_,
             key);
    check(result, "cuModuleGetGlobal");
    return {reinterpret_cast<void*>(address), bytes};
  }

  const std::string& log() const override { return log_; }

 private:
  /// The symbol of a name expression, or the name itself.
  std::string lowered(const std::string& name) const {
    for (size_t i = 0; i < expressions_.size() && i < lowered_.size(); ++i)
      if (expressions_[i] == name || (expressions_[i].starts_with('&') && expressions_[i].substr(1) == name)) return lowered_[i];
    return name;
  }

  /// The kernels' symbols; empty if the driver cannot list them.
  std::vector<std::string> symbols() const {
    unsigned count = 0;
    std::vector<std::string> names;
    if (!driver().cuModuleGetFunctionCount || !driver().cuModuleEnumerateFunctions || !driver().cuFuncGetName) return names;
    if (driver().cuModuleGetFunctionCount(&count, module_) != kSuccess) return names;
    std::vector<CUfunction> functions(count);
    if (driver().cuModuleEnumerateFunctions(functions.data(), count, module_) != kSuccess) return names;
    for (CUfunction function : functions) {
      const char* name = nullptr;
      if (driver().cuFuncGetName(&name, function) == kSuccess && name) names.emplace_back(name);
    }
    return names;
  }

  CudaBackend& backend_;
  CUmodule module_ = nullptr;
  const std::string name_;
  const std::vector<std::string> expressions_, lowered_;
  const std::string log_;
  const std::optional<ParameterCounts> parameter_counts_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<CudaProgramKernel>> kernels_;
};

}  // namespace

/// A program as the cache keeps it: the log is the last of the names.
CachedBinary compile_to_cache(const ProgramSource& source, const std::string& arch) {
  ProgramBinary made = compile_source(source, arch);
  made.lowered.push_back(std::move(made.log));
  return {std::move(made.bytes), std::move(made.lowered)};
}

void write_program(const std::string& folder, const std::string& arch, const ProgramSource& source) {
  kernel_cache_write_binary(folder, source_compiler(source, arch), source.digest(), compile_to_cache(source, arch));
}

void keep_programs_loaded() { programs_stay.store(true, std::memory_order_relaxed); }

std::shared_ptr<Program> load_binary(CudaBackend& backend, const ProgramSource& source, ProgramBinary binary) {
  return std::make_shared<CudaProgram>(backend, source, std::move(binary));
}

}  // namespace bc::cuda

namespace bc {

std::shared_ptr<Program> CudaBackend::open_program(const ProgramSource& source) {
  cuda::ProgramBinary binary;
  if (!source.binary.empty()) {
    binary.bytes = source.binary;
    binary.bytes.push_back('\0');  // PTX ends with a zero
  } else {
    const std::string arch = this->arch();
    CachedBinary cached = kernel_cache_binary(cuda::source_compiler(source, arch), source.digest(),
                                              [source, arch] { return cuda::compile_to_cache(source, arch); });
    binary.bytes = std::move(cached.bytes);
    binary.lowered = std::move(cached.names);
    binary.log = std::move(binary.lowered.back());
    binary.lowered.pop_back();
  }
  return cuda::load_binary(*this, source, std::move(binary));
}

}  // namespace bc
