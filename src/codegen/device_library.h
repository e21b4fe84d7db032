#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bc {

/// The text of all headers of src/device in one, without #include, to be put before a kernel. Generated at build time.
extern const char* const kDeviceLibrary;
/// Its length in bytes, without the terminating zero.
extern const size_t kDeviceLibrarySize;

enum class LibraryTarget { Cuda, Cpu };
/// The declarations of the device library that programs use: for `a * b` the compiler reads a twentieth of the library. `more` is an
/// additional library (src/device/python), reduced in the same way.
std::string device_library_for(LibraryTarget target, std::span<const std::string_view> programs, std::string_view more = {});

/// The declarations that programs use of `library` only, whose text is compiled after the complete device library.
std::string library_part_for(LibraryTarget target, std::span<const std::string_view> programs, std::string_view library);

/// The text of src/device/user/names.h, which users' functions are compiled after: C's and CUDA's names over the device library.
extern const char* const kUserNames;
extern const size_t kUserNamesSize;
inline std::string_view user_names() { return {kUserNames, kUserNamesSize}; }

/// The text of src/device/random/pcg_streams.h: kernels of NumPy's random streams.
extern const char* const kPcgStreams;
extern const size_t kPcgStreamsSize;

/// The text of src/device/cuda: CUDA C++'s own names over the device library, for kernels on the CPU.
extern const char* const kCudaLibrary;
extern const size_t kCudaLibrarySize;
/// The headers of src/device/cuda/include, which CUDA C++ kernels on the CPU may include, and cupy/complex.cuh on every device: name and
/// text.
extern const std::span<const std::pair<const char*, const char*>> kCudaHeaders;

}  // namespace bc
