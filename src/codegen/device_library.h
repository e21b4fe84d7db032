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

/// One header of src/device.
struct DeviceSection {
  const char* header;
  uint32_t needs;     ///< a bit for each section that it needs, itself among them
  const char* names;  ///< what it may define, parted by blanks
  const char* text;
};
/// The headers in order of dependence.
extern const std::span<const DeviceSection> kDeviceSections;
/// The part of the device library that texts with these words use: a compiler reads a fifth of it for `a * b`. Words of strings and comments
/// count as well, so the part may be larger than it must, never smaller.
std::string device_library_for(std::span<const std::string_view> texts);

/// The text of src/device/cuda: CUDA C++'s own names over the device library, for kernels on the CPU.
extern const char* const kCudaLibrary;
extern const size_t kCudaLibrarySize;
/// The headers of src/device/cuda/include, which such kernels may include: name and text.
extern const std::span<const std::pair<const char*, const char*>> kCudaHeaders;

}  // namespace bc
