#include "backends/cpu/openblas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace bc::cpu {
namespace {

/// Sets a variable of the environment for as long as OpenBLAS starts, which reads its settings only from there.
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

struct Opened {
  void* handle = nullptr;
  OpenBlas functions;
};

void* open_library(std::string& path, std::string& problems) {
  std::vector<std::string> names;
  if (const char* set = std::getenv("BROADCLOTH_OPENBLAS"); set != nullptr && *set != 0) {
    names = {set};
  } else {
    Dl_info here;
    if (dladdr(reinterpret_cast<const void*>(&openblas), &here) != 0 && here.dli_fname != nullptr) {
      std::error_code ignored;
      const std::filesystem::path own = std::filesystem::weakly_canonical(here.dli_fname, ignored);
      if (own.has_parent_path()) names.push_back((own.parent_path() / "libopenblas.so.0").string());
    }
    names.emplace_back("libopenblas.so.0");
    names.emplace_back("libopenblas.so");
  }
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      path = name;
      return handle;
    }
    if (const char* reason = dlerror()) problems += std::string(problems.empty() ? "" : "; ") + reason;
  }
  return nullptr;
}

std::string core_name(void* library) {
  auto* name = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"));
  return name ? name() : "";
}

Opened open_openblas() {
  // Its own threads would spin beside the pool's for 25 ms after each call.
  const EnvironmentGuard threads("OPENBLAS_NUM_THREADS", "1");
  Opened opened;
  std::string path;
  std::string problems;
  opened.handle = open_library(path, problems);
  if (opened.handle && !std::getenv(kCoreVariable)) {
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    if (const char* core = openblas_core(core_name(opened.handle), __builtin_cpu_supports("avx2"), avx512)) {
      const EnvironmentGuard type(kCoreVariable, core);
      dlclose(opened.handle);
      opened.handle = open_library(path, problems);
    }
  }
  if (opened.handle == nullptr) {
    raise(
        ErrorKind::Runtime,
        "matmul: expected OpenBLAS, got: {}. Install the wheel of broadcloth, which brings it, or apt-get install libopenblas0-pthread, or "
        "set BROADCLOTH_OPENBLAS to its path",
        problems);
  }
  const auto find = [&](const std::string& name) {
    void* address = dlsym(opened.handle, name.c_str());
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
  if (auto* config = reinterpret_cast<char* (*)()>(dlsym(opened.handle, "openblas_get_config"))) {
    opened.functions.description += std::string(", ") + config();
  }
  if (const std::string name = core_name(opened.handle); !name.empty()) opened.functions.description += ", " + name;
  return opened;
}

const Opened& opened() {
  static const Opened& library = *new Opened(open_openblas());
  return library;
}

}  // namespace

const char* openblas_core(std::string_view chosen, bool avx2, bool avx512) {
  if (chosen != "Prescott" || !avx2) return nullptr;
  return avx512 ? "SkylakeX" : "Haswell";
}

const OpenBlas& openblas() { return opened().functions; }

void* openblas_symbol(const char* name) { return dlsym(opened().handle, name); }

}  // namespace bc::cpu
