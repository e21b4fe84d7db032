#include "backends/cuda/nvrtc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "backends/cuda/cuda_libraries.h"
#include "codegen/device_library.h"
#include "codegen/kernel_cache.h"

namespace bc::cuda {

namespace {

constexpr nvrtcResult kInvalidOption = 5;      // NVRTC_ERROR_INVALID_OPTION
constexpr nvrtcResult kCompilationFailed = 6;  // NVRTC_ERROR_COMPILATION

// --minimal leaves out the built-in texture, surface and launch declarations, which saves 1-2 ms of the front end; NVRTC before 12.0 lacks
// it. -default-device lets the device library and user kernels leave out __device__.
constexpr const char* kMinimal = "--minimal";
// NVRTC's own `max` skips all optimisation of the front end's output, which costs the assembler more time than it saves; so the front end
// uses `mid` and only the assembler `max`.
constexpr const char* kQuick[] = {"-DBC_QUICK", "--Ofast-compile=mid", "--ptxas-options=--Ofast-compile=max"};
const auto fast = [](const std::string& option) { return option.find("--Ofast-compile") != option.npos; };  // since 12.8
constexpr const char* kCommon[] = {"--std=c++17", "-default-device", "--disable-warnings"};

std::atomic<bool> minimal_known{true};

/// Extra flags for experiments, separated by spaces; they are a part of the cache key.
std::vector<std::string> extra_flags() {
  std::vector<std::string> flags;
  const char* text = std::getenv("BROADCLOTH_NVRTC_FLAGS");
  for (std::string_view rest(text ? text : ""); !rest.empty();) {
    size_t space = std::min(rest.find(' '), rest.size());
    if (space) flags.emplace_back(rest.substr(0, space));
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return flags;
}

void check_nvrtc(nvrtcResult result, const char* call) {
  if (result != 0) raise(ErrorKind::Runtime, "{}: {}", call, nvrtc().nvrtcGetErrorString(result));
}

class ProgramHandle {
 public:
  explicit ProgramHandle(const CompilerInput& program) {
    std::vector<const char*> names, texts;
    for (const std::string& name : program.header_names) names.push_back(name.c_str());
    for (const std::string& text : program.header_texts) texts.push_back(text.c_str());
    BC_CHECK(names.size() == texts.size(), Value, "compile: expected one text for each header name, got {} texts and {} names",
             texts.size(), names.size());
    check_nvrtc(nvrtc().nvrtcCreateProgram(&program_, program.text.c_str(), program.name.c_str(), static_cast<int>(names.size()),
                                           texts.data(), names.data()),
                "nvrtcCreateProgram");
  }
  ~ProgramHandle() { nvrtc().nvrtcDestroyProgram(&program_); }
  ProgramHandle(const ProgramHandle&) = delete;
  ProgramHandle& operator=(const ProgramHandle&) = delete;

  nvrtcProgram get() const { return program_; }

  std::string log() const {
    size_t bytes = 0;
    if (nvrtc().nvrtcGetProgramLogSize(program_, &bytes) != 0 || bytes <= 1) return {};
    std::string text(bytes, '\0');
    if (nvrtc().nvrtcGetProgramLog(program_, text.data()) != 0) return {};
    text.resize(bytes - 1);  // the size includes the terminating zero
    return text;
  }

 private:
  nvrtcProgram program_ = nullptr;
};

/// NVRTC allocates about ten megabytes for a compile and frees them afterwards. The C library returns them to the system, so the next
/// compile has a page fault for each page (2,400 faults, 10 % of its time). Freeing one block of this size raises the C library's
/// threshold, so that it keeps the memory.
void keep_freed_memory() {
  static const bool done = [] {
    void* volatile block = std::malloc(size_t{16} << 20);
    std::free(block);
    return true;
  }();
  (void)done;
}

CompiledProgram compile_once(const CompilerInput& program, std::string_view arch, const std::vector<std::string>& options,
                             nvrtcResult& result) {
  const NvrtcApi& api = nvrtc();
  keep_freed_memory();
  ProgramHandle handle(program);
  for (const std::string& name : program.name_expressions)
    check_nvrtc(api.nvrtcAddNameExpression(handle.get(), name.c_str()), "nvrtcAddNameExpression");
  std::vector<const char*> flags;
  for (const std::string& option : options) flags.push_back(option.c_str());
  result = api.nvrtcCompileProgram(handle.get(), static_cast<int>(flags.size()), flags.data());
  CompiledProgram compiled;
  compiled.log = handle.log();
  if (result != 0) return compiled;
  bool cubin = !arch.starts_with("compute_");
  const bool lto =
      std::any_of(options.begin(), options.end(), [](const std::string& o) { return o == "-dlto" || o == "--dlink-time-opt"; });
  size_t bytes = 0;
  if (lto) {
    // The result is LTO-IR for the linker instead of code.
    using Size = nvrtcResult (*)(nvrtcProgram, size_t*);
    using Get = nvrtcResult (*)(nvrtcProgram, char*);
    check_nvrtc(reinterpret_cast<Size>(library_symbol(Library::Nvrtc, "nvrtcGetLTOIRSize"))(handle.get(), &bytes), "nvrtcGetLTOIRSize");
    compiled.binary.resize(bytes);
    check_nvrtc(reinterpret_cast<Get>(library_symbol(Library::Nvrtc, "nvrtcGetLTOIR"))(handle.get(), compiled.binary.data()),
                "nvrtcGetLTOIR");
  } else if (cubin) {
    check_nvrtc(api.nvrtcGetCUBINSize(handle.get(), &bytes), "nvrtcGetCUBINSize");
    compiled.binary.resize(bytes);
    check_nvrtc(api.nvrtcGetCUBIN(handle.get(), compiled.binary.data()), "nvrtcGetCUBIN");
  } else {
    check_nvrtc(api.nvrtcGetPTXSize(handle.get(), &bytes), "nvrtcGetPTXSize");
    compiled.binary.resize(bytes);
    check_nvrtc(api.nvrtcGetPTX(handle.get(), compiled.binary.data()), "nvrtcGetPTX");
  }
  for (const std::string& name : program.name_expressions) {
    const char* lowered = nullptr;
    check_nvrtc(api.nvrtcGetLoweredName(handle.get(), name.c_str(), &lowered), "nvrtcGetLoweredName");
    compiled.lowered_names.emplace_back(lowered);
  }
  return compiled;
}

}  // namespace

CompiledProgram compile_program(const CompilerInput& program, std::string_view arch, ErrorKind failure) {
  std::vector<std::string> options = program.options;
  options.push_back(fmt::format("--gpu-architecture={}", arch));
  auto standard = [](const std::string& option) { return option.starts_with("-std") || option.starts_with("--std"); };
  if (std::none_of(options.begin(), options.end(), standard)) options.push_back(kCommon[0]);
  nvrtcResult result = 0;
  CompiledProgram compiled = compile_once(program, arch, options, result);
  if (result == kInvalidOption && std::erase_if(options, fast) != 0) compiled = compile_once(program, arch, options, result);
  if (result == kInvalidOption && std::erase(options, std::string(kMinimal)) != 0) {
    CompiledProgram again = compile_once(program, arch, options, result);
    if (result != kInvalidOption) minimal_known.store(false, std::memory_order_relaxed);
    compiled = std::move(again);
  }
  if (result == 0) return compiled;
  // For errors in a user's kernel the log is enough; any other error needs the whole command.
  if (failure == ErrorKind::Compile && result == kCompilationFailed)
    raise(failure, "compile: NVRTC could not compile {} for {}:\n{}", program.name, arch, compiled.log);
  raise(failure, "compile: NVRTC could not compile {} for {} with {} ({}):\n{}", program.name, arch, fmt::join(options, " "),
        nvrtc().nvrtcGetErrorString(result), compiled.log);
}

std::vector<char> compile_for(const KernelSource& source, std::string_view arch, bool quick) {
  constexpr std::string_view kKernelLine = "\n#line 1 \"kernel.cu\"\n";  // so that line numbers in messages are those of the kernel
  CompilerInput program;
  program.options.assign(std::begin(kCommon), std::end(kCommon));
  program.options.push_back(source.contract ? "--fmad=true" : "--fmad=false");
  if (minimal_known.load(std::memory_order_relaxed)) program.options.push_back(kMinimal);
  if (quick) program.options.insert(program.options.end(), std::begin(kQuick), std::end(kQuick));
  for (std::string& flag : extra_flags()) program.options.push_back(std::move(flag));
  const std::string_view texts[] = {source.text};
  program.text = device_library_for(LibraryTarget::Cuda, texts).append(kKernelLine).append(source.text);
  try {
    return compile_program(program, arch).binary;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Runtime) throw;
    // A user's macro may form names by token pasting, which device_library_for() cannot see: compiles with the whole library.
    program.text = std::string(kDeviceLibrary, kDeviceLibrarySize).append(kKernelLine).append(source.text);
    return compile_program(program, arch).binary;
  }
}

void start_compiler(int device) {
  static std::once_flag once;
  std::call_once(once, [device] {
    kernel_cache_prepare([device] {
      CUdevice native = 0;
      int major = 0, minor = 0;
      BC_DRIVER(cuDeviceGet, &native, device);
      BC_DRIVER(cuDeviceGetAttribute, &major, static_cast<int>(DeviceAttribute::ComputeCapabilityMajor), native);
      BC_DRIVER(cuDeviceGetAttribute, &minor, static_cast<int>(DeviceAttribute::ComputeCapabilityMinor), native);
      // The text resembles the kernels of array expressions: a compile is faster after an earlier one has executed the same parts of NVRTC.
      KernelSource source;
      source.text = R"(namespace bc {
extern "C" __global__ void __launch_bounds__(256) start(const float* __restrict__ a,
                                                                const float* __restrict__ b, float* __restrict__ y, i32 n) {
  if (const i32 i = (i32(blockIdx.x) * 256 + i32(threadIdx.x)) * 4; i + 4 <= n) {
    const Vec<float, 4> u = *reinterpret_cast<const Vec<float, 4>*>(a + i), v = *reinterpret_cast<const Vec<float, 4>*>(b + i);
    Vec<float, 4> w;
#pragma unroll
    for (int k = 0; k < 4; ++k) w.v[k] = add(multiply(sin(u.v[k]), sqrt(v.v[k])), exp(u.v[k]));
    *reinterpret_cast<Vec<float, 4>*>(y + i) = w;
  } else {
    for (i32 k = i; k < n; ++k) y[k] = add(multiply(sin(a[k]), sqrt(b[k])), exp(a[k]));
  }
}
}
)";
      source.entries = {"start"};
      compile_for(source, arch_for(major, minor));
    });
  });
}

std::vector<int> supported_archs() {
  int count = 0;
  check_nvrtc(nvrtc().nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> archs(static_cast<size_t>(count));
  check_nvrtc(nvrtc().nvrtcGetSupportedArchs(archs.data()), "nvrtcGetSupportedArchs");
  std::sort(archs.begin(), archs.end());
  return archs;
}

std::string arch_for(int major, int minor) {
  int own = major * 10 + minor;
  int best = 0;
  std::vector<int> archs = supported_archs();
  for (int arch : archs)
    if (arch <= own) best = arch;
  if (best == own) return fmt::format("sm_{}", own);
  BC_CHECK(best != 0, Runtime,
           "compile: the device has compute capability {}.{}, older than all that this NVRTC compiles for ({} and later); install an older "
           "one with: pip install nvidia-cuda-nvrtc-cu12",
           major, minor, archs.empty() ? 0 : archs.front());
  return fmt::format("compute_{}", best);
}

void write_kernels(const std::string& folder, const std::string& arch, std::span<const KernelSource> sources) {
  kernel_cache_write(folder, target_for(arch), sources, [&](const KernelSource& source) { return compile_for(source, arch); });
}

std::string target_for(const std::string& arch) { return arch + " " + compiler_description(); }

std::string compiler_description() {
  int major = 0, minor = 0;
  check_nvrtc(nvrtc().nvrtcVersion(&major, &minor), "nvrtcVersion");
  std::string text = fmt::format("nvrtc-{}.{} {}", major, minor, fmt::join(kCommon, " "));
  for (const std::string& flag : extra_flags()) text += " " + flag;
  return text;
}

}  // namespace bc::cuda
