#pragma once
#include <cstddef>

namespace bc {

/// The text of src/device, all headers in one, ready to be put before a kernel: it includes nothing. Written at build time.
extern const char* const kDeviceLibrary;
/// Its length in bytes, without the closing zero.
extern const size_t kDeviceLibrarySize;

/// The text of src/device/cuda: CUDA C++'s own names over the device library, for kernels on the CPU.
extern const char* const kCudaLibrary;
extern const size_t kCudaLibrarySize;

}  // namespace bc
