#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bc {

/// The text of src/device, all headers in one, ready to be put before a kernel: it includes nothing. Written at build time.
extern const char* const kDeviceLibrary;
/// Its length in bytes, without the closing zero.
extern const size_t kDeviceLibrarySize;

enum class LibraryTarget { Cuda, Cpu };
/// The declarations of the device library that programs use: a compiler reads a twentieth of it for `a * b`. `more` is a library beside it
/// (src/device/python), whose declarations come the same way.
std::string device_library_for(LibraryTarget target, std::span<const std::string_view> programs, std::string_view more = {});

/// Of `library` alone, a text that is read after all of the device library.
std::string library_part_for(LibraryTarget target, std::span<const std::string_view> programs, std::string_view library);

/// Tells whether the device library may declare a name, on any device: a function, a type or a macro.
bool device_library_has(std::string_view name);

/// The text of src/device/cuda: CUDA C++'s own names over the device library, for kernels on the CPU.
extern const char* const kCudaLibrary;
extern const size_t kCudaLibrarySize;
/// The headers of src/device/cuda/include, which such kernels may include: name and text.
extern const std::span<const std::pair<const char*, const char*>> kCudaHeaders;

}  // namespace bc
