#include "backends/cpu/openblas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cpu_level.h"
#include "core/error.h"

namespace bc::cpu {
namespace {

/// Sets an environment variable while OpenBLAS starts, because OpenBLAS reads its settings only from the environment.
class EnvironmentGuard {
 public:
  EnvironmentGuard(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    changed_ = setenv(name, value, 1) == 0;
  }
  ~EnvironmentGuard() {
    if (!changed_) return;
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  EnvironmentGuard(const EnvironmentGuard&) = delete;
  EnvironmentGuard& operator=(const EnvironmentGuard&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
  bool changed_ = false;
};

constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

constexpr const char* kLibraryName = "libbroadcloth_openblas.so";

struct Opened {
  void* handle = nullptr;
  std::string prefix;  ///< of every name: "scipy_" in the builds for NumPy and SciPy
  OpenBlas functions;

  void* find(const std::string& name) const { return dlsym(handle, (prefix + name).c_str()); }
  std::string text(const char* name) const {
    auto* function = reinterpret_cast<char* (*)()>(find(name));
    return function ? function() : "";
  }
};

/// The possible paths of the library, in order: only BROADCLOTH_OPENBLAS if it is set; beside the engine, as in wheels and builds; the
/// system's library.
std::vector<std::string> candidates() {
  if (const char* set = std::getenv("BROADCLOTH_OPENBLAS"); set != nullptr && *set != 0) return {set};
  std::vector<std::string> names;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&openblas), &here) != 0 && here.dli_fname != nullptr) {
    std::error_code ignored;
    const std::filesystem::path own = std::filesystem::weakly_canonical(here.dli_fname, ignored);
    if (own.has_parent_path()) names.push_back((own.parent_path() / kLibraryName).string());
  }
  names.emplace_back("libopenblas.so.0");
  names.emplace_back("libopenblas.so");
  return names;
}

bool open_first(Opened& opened, std::string& path, std::string& problems) {
  for (const std::string& name : path.empty() ? candidates() : std::vector<std::string>{path}) {
    opened.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened.handle != nullptr) {
      path = name;
      opened.prefix = dlsym(opened.handle, "scipy_sgemm_") != nullptr ? "scipy_" : "";
      return true;
    }
    if (const char* reason = dlerror()) problems += std::string(problems.empty() ? "" : "; ") + reason;
  }
  return false;
}

Opened open_openblas() {
  // OpenBLAS's own threads would spin for 25 ms after each call and compete with the pool's threads.
  const EnvironmentGuard threads("OPENBLAS_NUM_THREADS", "1");
  const char* core_of_user = std::getenv(kCoreVariable);
  const bool chosen_by_user = core_of_user != nullptr && *core_of_user != 0;
  std::optional<EnvironmentGuard> core;
  if (requested_cpu() != nullptr && !chosen_by_user) core.emplace(kCoreVariable, openblas_core(cpu_level()));
  Opened opened;
  std::string path;
  std::string problems;
  bool found = open_first(opened, path, problems);
  if (found && !core && !chosen_by_user && cpu_level() != CpuLevel::baseline &&
      openblas_core_is_old(opened.text("openblas_get_corename"))) {
    // For a processor newer than the library, OpenBLAS chooses its kernels of 2004: load it again with a named core.
    core.emplace(kCoreVariable, openblas_core(cpu_level()));
    dlclose(opened.handle);
    found = open_first(opened, path, problems);
  }
  BC_CHECK(
      found, Runtime,
      "matmul: expected OpenBLAS, got: {}. The wheel of broadcloth brings it (python -m pip install --force-reinstall broadcloth); else "
      "apt-get install libopenblas0-pthread, or set BROADCLOTH_OPENBLAS to its path",
      problems);
  const auto find = [&](const std::string& name) {
    void* address = opened.find(name);
    BC_CHECK(address != nullptr, Runtime, "matmul: expected the function {} in {}, got a library without it", name, path);
    return address;
  };
  constexpr char kTypes[4] = {'s', 'd', 'c', 'z'};
  for (int i = 0; i < 4; ++i) {
    opened.functions.gemm[i] = reinterpret_cast<OpenBlas::Gemm>(find(std::string(1, kTypes[i]) + "gemm_"));
    opened.functions.gemv[i] = reinterpret_cast<OpenBlas::Gemv>(find(std::string(1, kTypes[i]) + "gemv_"));
  }
  opened.functions.sdot = reinterpret_cast<decltype(OpenBlas::sdot)>(find("sdot_"));
  opened.functions.ddot = reinterpret_cast<decltype(OpenBlas::ddot)>(find("ddot_"));
  opened.functions.description = path;
  for (const char* name : {"openblas_get_config", "openblas_get_corename"})
    if (const std::string text = opened.text(name); !text.empty()) opened.functions.description += ", " + text;
  return opened;
}

const Opened& opened() {
  static const Opened& library = *new Opened(open_openblas());
  return library;
}

}  // namespace

const char* openblas_core(CpuLevel level) {
  switch (level) {
    case CpuLevel::baseline: return "Prescott";
    case CpuLevel::v3: return "Haswell";
    case CpuLevel::v4: return "SkylakeX";
  }
  return "Prescott";
}

bool openblas_core_is_old(std::string_view core) {
  // One set of kernels has several names; 0.3.34 returns the first of them.
  return core == "Prescott" || core == "Katmai" || core == "Coppermine" || core == "Northwood";
}

const OpenBlas& openblas() { return opened().functions; }

void* openblas_symbol(const char* name) { return opened().find(name); }

}  // namespace bc::cpu
