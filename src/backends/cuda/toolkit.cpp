#include "backends/cuda/toolkit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cuda/cuda_libraries.h"

namespace bc::cuda {

namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The roots of the installations: the parents of their library folders.
std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  const auto add = [&](const fs::path& root) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(root, error);
    if (!error && fs::is_directory(real, error) && std::find(roots.begin(), roots.end(), real) == roots.end()) roots.push_back(real);
  };
  const auto add_library_folder = [&](const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(folder, error);
    if (error || !fs::is_directory(real, error)) return;
    const std::string name = real.filename().string();
    if (name.starts_with("lib") || name == "bin")
      add(real.parent_path());
    else
      add(real);
    // <root>/targets/x86_64-linux/lib
    const fs::path targets = real.parent_path().parent_path();
    if (targets.filename() == "targets") add(targets.parent_path());
  };
  if (const char* root = std::getenv("BROADCLOTH_CUDA_PATH")) add(root);
  nvrtc();
  if (const std::string own = library_path(Library::Nvrtc); !own.empty()) add_library_folder(fs::path(own).parent_path());
  for (const std::string& folder : library_folders()) add_library_folder(folder);
  // The wheels of CUDA 12 have one folder for each component, side by side.
  for (size_t i = 0, n = roots.size(); i < n; ++i) {
    const fs::path parent = roots[i].parent_path();
    std::error_code error;
    if (parent.filename() != "nvidia") continue;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) add(it->path());
  }
  return roots;
}

/// The major version that the headers define; 0 if they define none.
int header_version(const fs::path& include) {
  for (const auto& [file, macro] :
       {std::pair("cuda.h", "#define CUDA_VERSION "), std::pair("cuda_runtime_api.h", "#define CUDART_VERSION ")}) {
    std::ifstream in(include / file);
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with(macro)) continue;
      std::string_view digits(line);
      digits.remove_prefix(std::string_view(macro).size());
      digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
      int value = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (value) return value / 1000;
    }
  }
  return 0;
}

std::vector<std::string> find_include_folders() {
  // The headers to look for; a toolkit has all of them, a wheel only some.
  constexpr std::array kMarks = {"cuda_fp16.h", "cuda_runtime.h", "cooperative_groups.h", "curand_kernel.h", "mma.h", "crt/host_defines.h"};
  std::array<bool, kMarks.size()> found{};
  bool cccl = false;
  int major = 0, minor = 0;
  nvrtc().nvrtcVersion(&major, &minor);
  std::vector<std::string> folders;
  for (const fs::path& root : toolkit_roots()) {
    const fs::path include = root / "include";
    if (!is_there(include)) continue;
    if (const int version = header_version(include); version != 0 && version != major) continue;
    bool wanted = false;
    for (size_t i = 0; i < kMarks.size(); ++i) {
      if (found[i] || !is_there(include / kMarks[i])) continue;
      found[i] = wanted = true;
    }
    if (!cccl && is_there(include / "cccl" / "cub")) {
      cccl = true;
      folders.push_back((include / "cccl").string());
    } else if (!cccl && is_there(include / "cub" / "cub.cuh")) {
      cccl = wanted = true;
    }
    if (wanted) folders.push_back(include.string());
  }
  return folders;
}

}  // namespace

const std::vector<std::string>& toolkit_include_folders() {
  static const auto& folders = *new std::vector<std::string>(find_include_folders());
  return folders;
}

std::string toolkit_file(const std::vector<std::string>& paths) {
  for (const fs::path& root : toolkit_roots())
    for (const std::string& path : paths)
      if (is_there(root / path)) return (root / path).string();
  return {};
}

std::string nvcc_path() {
  if (const char* own = std::getenv("NVCC"); own && *own) return own;
  if (std::string found = toolkit_file({"bin/nvcc"}); !found.empty()) return found;
  const char* path = std::getenv("PATH");
  for (std::string_view rest(path ? path : ""); !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path file = fs::path(rest.substr(0, colon)) / "nvcc";
    if (colon && is_there(file)) return file.string();
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

}  // namespace bc::cuda
