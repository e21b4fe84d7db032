#pragma once
#include <cstdint>

/// The structures of DLPack 1.1 (https://dmlc.github.io/dlpack), written from its specification.
namespace bc::bind::dlpack {

struct Version {
  uint32_t major;
  uint32_t minor;
};

enum DeviceKind : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };

struct Device {
  int32_t kind;
  int32_t index;
};

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6, kFloat8E4m3fn = 10, kFloat8E5m2 = 12 };

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  ///< in elements; nullptr: C-contiguous
  uint64_t byte_offset;
};

/// Before 1.0; in capsules named "dltensor".
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

/// From 1.0 on; in capsules named "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace bc::bind::dlpack
