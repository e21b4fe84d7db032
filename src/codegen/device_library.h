#pragma once
#include <cstddef>

namespace bc {

/// The text of src/device, all headers in one, ready to be put before a kernel: it includes nothing. Written at build time.
extern const char* const kDeviceLibrary;
/// Its length in bytes, without the closing zero.
extern const size_t kDeviceLibrarySize;

}  // namespace bc
