#pragma once
#include <string>
#include <vector>

namespace bc::cuda {

/// Folders with the CUDA toolkit's headers (cuda_fp16.h, cooperative_groups.h, curand_kernel.h, CUB, Thrust, libcu++), for "-I". From
/// BROADCLOTH_CUDA_PATH, CUDA_HOME, CUDA_PATH, the folders of the libraries in use, /usr/local/cuda* and the nvidia-* wheels; of NVRTC's
/// own major version where there is a choice. Searched once; empty when nothing is installed.
const std::vector<std::string>& toolkit_include_folders();

/// A file of the toolkit by its path below the root ("lib64/libcudadevrt.a"), in any of its installations; empty when there is none.
std::string toolkit_file(const std::vector<std::string>& paths);

/// The nvcc that programs ask for by name: from NVCC, the toolkit or PATH; empty when there is none.
std::string nvcc_path();

}  // namespace bc::cuda
