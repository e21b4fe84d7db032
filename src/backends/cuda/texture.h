#pragma once
#include <cstddef>

#include "backends/cuda/cuda_api.h"
#include "runtime/backend.h"

namespace bc {
class CudaBackend;
}

namespace bc::cuda {

/// The elements of a CUDA array or of memory behind a texture: one, two or four channels of one format.
struct TextureFormat {
  int format = kFormatFloat;  ///< CUarray_format
  unsigned channels = 1;
  size_t channel_bytes = 4;
  size_t element_bytes() const { return channels * channel_bytes; }
};

/// The format with bits[i] bits in channel i, of signed (kind 0), unsigned (1) or floating-point (2) numbers. Throws ErrorKind::Value.
TextureFormat texture_format(const int bits[4], int kind);

/// A CUDA array: memory in a layout for textures and surfaces, which only they can address.
class TextureArray {
 public:
  /// `height` or `depth` 0: the array has fewer dimensions. `flags`: cudaArrayLayered 1, SurfaceLoadStore 2, Cubemap 4, TextureGather 8.
  TextureArray(CudaBackend& backend, TextureFormat format, size_t width, size_t height, size_t depth, unsigned flags);
  ~TextureArray();
  TextureArray(const TextureArray&) = delete;
  TextureArray& operator=(const TextureArray&) = delete;

  CUarray get() const { return array_; }
  const TextureFormat& format() const { return format_; }
  CudaBackend& backend() const { return backend_; }
  size_t bytes() const { return format_.element_bytes() * width_ * rows() * slices(); }
  /// Copies the whole array from or to C-contiguous memory of the host or the device, in the stream's order.
  void copy(void* memory, bool on_device, bool to_array, Stream stream);

 private:
  size_t rows() const { return height_ ? height_ : 1; }
  size_t slices() const { return depth_ ? depth_ : 1; }
  CudaBackend& backend_;
  const TextureFormat format_;
  const size_t width_, height_, depth_;
  CUarray array_ = nullptr;
};

/// The memory that a texture or surface reads.
struct TextureResource {
  enum class Kind { Array = 0, Linear = 2, Pitch2D = 3 };  // CUresourcetype
  Kind kind = Kind::Array;
  CUarray array = nullptr;
  CUdeviceptr pointer = 0;
  TextureFormat format;
  size_t bytes = 0, width = 0, height = 0, pitch = 0;
};

/// The sampling modes of a texture.
struct TextureSampling {
  int address[3] = {1, 1, 1};  ///< CUaddress_mode: wrap, clamp, mirror, border
  bool linear = false;
  bool normalized_read = false;  ///< integers are read as fractions of their range
  bool normalized_coordinates = false;
  bool srgb = false;
  unsigned anisotropy = 0;
  float border[4] = {};
};

/// A texture or surface object, which kernels take as a number.
class TextureHandle {
 public:
  TextureHandle(CudaBackend& backend, const TextureResource& resource, const TextureSampling& sampling);
  /// Makes a surface.
  TextureHandle(CudaBackend& backend, const TextureResource& resource);
  ~TextureHandle();
  TextureHandle(const TextureHandle&) = delete;
  TextureHandle& operator=(const TextureHandle&) = delete;
  unsigned long long get() const { return object_; }

 private:
  CudaBackend& backend_;
  const bool surface_;
  unsigned long long object_ = 0;
};

}  // namespace bc::cuda
