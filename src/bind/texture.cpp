// Textures, surfaces and CUDA arrays for broadcloth.cuda.texture; its classes hold what the functions here give.
#include "backends/cuda/texture.h"

#include "array/access.h"
#include "backends/cuda/cuda_backend.h"
#include "bind/args.h"
#include "bind/cuda_stream.h"

namespace bc::bind {
namespace {

constexpr const char* kArray = "broadcloth.texture_array";
constexpr const char* kHandle = "broadcloth.texture_handle";

template <class T>
PyRef capsule_of(std::unique_ptr<T> held, const char* name) {
  PyRef capsule = PyRef::steal(PyCapsule_New(held.get(), name, [](PyObject* o) {
    auto* object = static_cast<T*>(PyCapsule_GetPointer(o, PyCapsule_GetName(o)));
    // Destroying waits for the device.
    GilRelease released;
    delete object;
  }));
  held.release();
  return capsule;
}

template <class T>
T& from_capsule(PyObject* capsule, const char* name) {
  auto* object = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (!object) throw PythonError();
  return *object;
}

CudaBackend& cuda_backend(Device device, const char* what) {
  if (device.type != DeviceType::cuda)
    raise(ErrorKind::NotImplemented, "{}: textures and surfaces are for CUDA devices, got {}; use an array there", what, to_string(device));
  return static_cast<CudaBackend&>(backend(device));
}

cuda::TextureFormat format_of(PyObject* bits, int64_t kind) {
  const Axes list = to_axes(bits);
  if (list.size() != 4) raise(ErrorKind::Value, "ChannelFormatDescriptor: expected bits of four channels, got {}", list.size());
  const int four[4] = {static_cast<int>(list[0]), static_cast<int>(list[1]), static_cast<int>(list[2]), static_cast<int>(list[3])};
  return cuda::texture_format(four, static_cast<int>(kind));
}

PyRef new_array(Device device, PyObject* bits, int64_t kind, uint64_t width, uint64_t height, uint64_t depth, int64_t flags) {
  CudaBackend& b = cuda_backend(device, "CUDAarray");
  return capsule_of(std::make_unique<cuda::TextureArray>(b, format_of(bits, kind), width, height, depth, static_cast<unsigned>(flags)),
                    kArray);
}

PyRef copy_array(PyObject* capsule, PyObject* memory, bool to_array, PyObject* stream) {
  auto& texture = from_capsule<cuda::TextureArray>(capsule, kArray);
  const char* name = to_array ? "copy_from" : "copy_to";
  const Device device = texture.backend().device();
  const Stream queue = stream_of(stream, device).stream();
  const auto check_bytes = [&](size_t bytes, bool contiguous) {
    if (!contiguous) raise(ErrorKind::Value, "{}: expected a C-contiguous array", name);
    if (bytes != texture.bytes()) raise(ErrorKind::Value, "{}: expected {} bytes, got {}", name, texture.bytes(), bytes);
  };
  if (is_array(memory)) {
    const Array& a = array_of(memory);
    if (!to_array) writable(memory, name);
    check_bytes(static_cast<size_t>(a.size()) * itemsize(a.dtype()), a.contiguous());
    without_gil([&] {
      ArrayAccess access(queue);
      texture.copy(access.add(a, !to_array), true, to_array, queue);
    });
  } else if (is_numpy_array(memory)) {
    const NumpyView view(memory);
    check_bytes(static_cast<size_t>(view.layout().size()) * itemsize(view.dtype()), view.contiguous() && !view.copied());
    if (!to_array && !view.writable()) raise(ErrorKind::Value, "{}: the array is read-only", name);
    without_gil([&] { texture.copy(view.data(), false, to_array, queue); });
  } else {
    raise(ErrorKind::Type, "{}: expected a broadcloth or NumPy array, got {}", name, type_name(memory));
  }
  return PyRef::borrow(Py_None);
}

PyRef new_handle(Device device, int64_t kind, PyObject* array, PyObject* bits, int64_t channel_kind, uint64_t bytes, uint64_t width,
                 uint64_t height, uint64_t pitch, PyObject* sampling) {
  CudaBackend& b = cuda_backend(device, sampling == Py_None ? "SurfaceObject" : "TextureObject");
  cuda::TextureResource r;
  r.kind = static_cast<cuda::TextureResource::Kind>(kind);
  if (r.kind == cuda::TextureResource::Kind::Array) {
    r.array = from_capsule<cuda::TextureArray>(array, kArray).get();
  } else {
    const Array& a = writable(array, "TextureObject");
    BC_CHECK(a.device() == device, Value, "TextureObject: expected an array on {}, got one on {}", to_string(device),
             to_string(a.device()));
    char* base = static_cast<char*>(expose_forever(a));
    r.pointer = reinterpret_cast<cuda::CUdeviceptr>(base + a.offset() * itemsize(a.dtype()));
    r.format = format_of(bits, channel_kind);
    r.bytes = bytes ? bytes : static_cast<size_t>(a.size()) * itemsize(a.dtype());
    r.width = width;
    r.height = height;
    r.pitch = pitch;
  }
  if (sampling == Py_None) return capsule_of(std::make_unique<cuda::TextureHandle>(b, r), kHandle);
  cuda::TextureSampling s;
  int linear = 0, normalized_read = 0, normalized_coordinates = 0, srgb = 0;
  if (!PyArg_ParseTuple(sampling, "(iii)ppppI(ffff)", &s.address[0], &s.address[1], &s.address[2], &linear, &normalized_read,
                        &normalized_coordinates, &srgb, &s.anisotropy, &s.border[0], &s.border[1], &s.border[2], &s.border[3]))
    throw PythonError();
  s.linear = linear != 0;
  s.normalized_read = normalized_read != 0;
  s.normalized_coordinates = normalized_coordinates != 0;
  s.srgb = srgb != 0;
  return capsule_of(std::make_unique<cuda::TextureHandle>(b, r, s), kHandle);
}

}  // namespace

void init_texture(PyObject* module) {
  add_functions(
      module,
      {BC_FUNCTION("texture_array(device, bits: Sequence[int], kind, width, height, depth, flags) -> object", new_array),
       BC_FUNCTION("texture_array_ptr(array: object) -> int",
                   [](PyObject* array) { return PyRef::steal(PyLong_FromVoidPtr(from_capsule<cuda::TextureArray>(array, kArray).get())); }),
       BC_FUNCTION("texture_array_copy(array: object, memory, to_array, stream=None) -> None", copy_array),
       BC_FUNCTION("texture_handle(device, kind, array, bits: Sequence[int], channel_kind, bytes, width, height, pitch, sampling: "
                   "tuple[Any, ...] | None=None) -> object",
                   new_handle),
       BC_FUNCTION("texture_handle_ptr(handle: object) -> int", [](PyObject* handle) {
         return PyRef::steal(PyLong_FromUnsignedLongLong(from_capsule<cuda::TextureHandle>(handle, kHandle).get()));
       })});
}

}  // namespace bc::bind
