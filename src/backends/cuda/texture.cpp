#include "backends/cuda/texture.h"

#include "backends/cuda/cuda_backend.h"

namespace bc::cuda {

namespace {

CUDA_RESOURCE_DESC describe(const TextureResource& r) {
  CUDA_RESOURCE_DESC d = {};
  d.resType = static_cast<int>(r.kind);
  switch (r.kind) {
    case TextureResource::Kind::Array: d.res.array.hArray = r.array; break;
    case TextureResource::Kind::Linear: d.res.linear = {r.pointer, r.format.format, r.format.channels, r.bytes}; break;
    case TextureResource::Kind::Pitch2D: d.res.pitch2D = {r.pointer, r.format.format, r.format.channels, r.width, r.height, r.pitch}; break;
  }
  return d;
}

}  // namespace

TextureFormat texture_format(const int bits[4], int kind) {
  TextureFormat f;
  f.channels = 0;
  while (f.channels < 4 && bits[f.channels] != 0) ++f.channels;
  bool even = f.channels == 1 || f.channels == 2 || f.channels == 4;
  for (unsigned i = 1; i < 4; ++i) even = even && bits[i] == (i < f.channels ? bits[0] : 0);
  struct Row {
    int kind, bits, format;
  };
  constexpr Row kRows[] = {{0, 8, 0x08},  {0, 16, 0x09}, {0, 32, 0x0a}, {1, 8, 0x01},
                           {1, 16, 0x02}, {1, 32, 0x03}, {2, 16, 0x10}, {2, 32, kFormatFloat}};
  for (const Row& row : kRows) {
    if (!even || row.kind != kind || row.bits != bits[0]) continue;
    f.format = row.format;
    f.channel_bytes = static_cast<size_t>(row.bits) / 8;
    return f;
  }
  raise(
      ErrorKind::Value,
      "ChannelFormatDescriptor: expected one, two or four channels of 8, 16 or 32 bits each (floats of 16 or 32), got ({}, {}, {}, {}) of "
      "kind {}",
      bits[0], bits[1], bits[2], bits[3], kind);
}

TextureArray::TextureArray(CudaBackend& backend, TextureFormat format, size_t width, size_t height, size_t depth, unsigned flags)
    : backend_(backend), format_(format), width_(width), height_(height), depth_(depth) {
  const auto current = backend_.make_current();
  const CUDA_ARRAY3D_DESCRIPTOR d = {width, height, depth, format.format, format.channels, flags};
  const CUresult result = driver().cuArray3DCreate(&array_, &d);
  BC_CHECK(result != kErrorInvalidValue, Value, "CUDAarray: the device has no array of {} x {} x {} elements of {} bytes with flags {}",
           width, height, depth, format.element_bytes(), flags);
  check(result, "cuArray3DCreate");
}

TextureArray::~TextureArray() {
  // Queued kernels may still read the array.
  if (array_) backend_.release_after_work([array = array_] { driver().cuArrayDestroy(array); });
}

void TextureArray::copy(void* memory, bool on_device, bool to_array, Stream stream) {
  const auto current = backend_.make_current();
  CUDA_MEMCPY3D c = {};
  c.WidthInBytes = width_ * format_.element_bytes();
  c.Height = rows();
  c.Depth = slices();
  constexpr int kHost = 1, kDevice = 2, kArray = 3;  // CUmemorytype
  if (to_array) {
    c.srcMemoryType = on_device ? kDevice : kHost;
    c.srcHost = on_device ? nullptr : memory;
    c.srcDevice = on_device ? reinterpret_cast<CUdeviceptr>(memory) : 0;
    c.srcPitch = c.WidthInBytes;
    c.srcHeight = c.Height;
    c.dstMemoryType = kArray;
    c.dstArray = array_;
  } else {
    c.srcMemoryType = kArray;
    c.srcArray = array_;
    c.dstMemoryType = on_device ? kDevice : kHost;
    c.dstHost = on_device ? nullptr : memory;
    c.dstDevice = on_device ? reinterpret_cast<CUdeviceptr>(memory) : 0;
    c.dstPitch = c.WidthInBytes;
    c.dstHeight = c.Height;
  }
  CUstream queue = static_cast<CUstream>(stream.native);
  BC_DRIVER(cuMemcpy3DAsync, &c, queue);
  if (!on_device) BC_DRIVER(cuStreamSynchronize, queue);
}

TextureHandle::TextureHandle(CudaBackend& backend, const TextureResource& resource, const TextureSampling& sampling)
    : backend_(backend), surface_(false) {
  const auto current = backend_.make_current();
  const CUDA_RESOURCE_DESC r = describe(resource);
  CUDA_TEXTURE_DESC t = {};
  for (int d = 0; d < 3; ++d) t.addressMode[d] = sampling.address[d];
  t.filterMode = sampling.linear ? 1 : 0;
  constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 16;
  t.flags = (sampling.normalized_read ? 0 : kReadAsInteger) | (sampling.normalized_coordinates ? kNormalizedCoordinates : 0) |
            (sampling.srgb ? kSrgb : 0);
  t.maxAnisotropy = sampling.anisotropy;
  for (int i = 0; i < 4; ++i) t.borderColor[i] = sampling.border[i];
  const CUresult result = driver().cuTexObjectCreate(&object_, &r, &t, nullptr);
  BC_CHECK(result != kErrorInvalidValue, Value, "TextureObject: the device has no texture of this resource and these ways to read it");
  check(result, "cuTexObjectCreate");
}

TextureHandle::TextureHandle(CudaBackend& backend, const TextureResource& resource) : backend_(backend), surface_(true) {
  const auto current = backend_.make_current();
  const CUDA_RESOURCE_DESC r = describe(resource);
  const CUresult result = driver().cuSurfObjectCreate(&object_, &r);
  BC_CHECK(result != kErrorInvalidValue, Value, "SurfaceObject: expected a CUDAarray made with the flag cudaArraySurfaceLoadStore");
  check(result, "cuSurfObjectCreate");
}

TextureHandle::~TextureHandle() {
  if (!object_) return;
  // Queued kernels may still use the object.
  backend_.release_after_work([object = object_, surface = surface_] {
    if (surface)
      driver().cuSurfObjectDestroy(object);
    else
      driver().cuTexObjectDestroy(object);
  });
}

}  // namespace bc::cuda
