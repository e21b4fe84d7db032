#pragma once
#include <string>
#include <vector>

namespace bc::cuda {

/// Folders with the CUDA toolkit's headers (cuda_fp16.h, cooperative_groups.h, curand_kernel.h, CUB, Thrust, libcu++), for "-I". From
/// BROADCLOTH_CUDA_PATH, CUDA_HOME, CUDA_PATH, the folders of the libraries in use, /usr/local/cuda* and the nvidia-* wheels; if there are
/// several, the one of NVRTC's major version. Searched once; empty when none is installed.
const std::vector<std::string>& toolkit_include_folders();

/// Finds a file of the toolkit by its possible paths below the root ("lib64/libcudadevrt.a") in any installation; empty when none exists.
std::string toolkit_file(const std::vector<std::string>& paths);

/// The path of nvcc: from NVCC, the toolkit or PATH; empty when none is found.
std::string nvcc_path();

}  // namespace bc::cuda
