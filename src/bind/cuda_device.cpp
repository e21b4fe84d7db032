// What programs ask of a GPU: attributes, properties, peers, addresses.
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_libraries.h"
#include "bind/args.h"
#include "core/error.h"

namespace bc::bind {
namespace {

CudaBackend& gpu(int64_t index) { return static_cast<CudaBackend&>(backend({DeviceType::cuda, static_cast<int>(index)})); }

/// None where the driver does not know the number.
PyRef attribute(int64_t device, int64_t number) {
  CudaBackend& b = gpu(device);
  try {
    return to_py(int64_t{b.attribute(static_cast<int>(number))});
  } catch (const Error&) {
    return PyRef::borrow(Py_None);
  }
}

PyRef properties(int64_t device) {
  CudaBackend& b = gpu(device);
  PyRef d = PyRef::steal(PyDict_New());
  auto put = [&](const char* key, const std::string& v) { check(PyDict_SetItemString(d.get(), key, to_py(v).get())); };
  put("name", b.properties().name);
  put("pci_bus_id", b.properties().pci_bus_id);
  put("uuid", b.uuid());
  return d;
}

/// (kind, device): 0 pageable, 1 page-locked, 2 of a device, 3 managed.
PyRef pointer_facts(int64_t device, uint64_t address) {
  const CudaPointerInfo info = gpu(device).pointer_info(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
  return tuple_of({to_py(static_cast<int64_t>(info.kind)).get(), to_py(int64_t{info.device}).get()});
}

}  // namespace

void init_cuda_device(PyObject* module) {
  add_functions(
      module,
      {
          BC_FUNCTION("cuda_attribute(index, number)", attribute),
          BC_FUNCTION("cuda_properties(index)", properties),
          BC_FUNCTION("cuda_can_access_peer(index, peer)", [](int64_t d, int64_t peer) { return gpu(d).can_access(gpu(peer)); }),
          BC_FUNCTION("cuda_forget_peer(index, peer)",
                      [](int64_t d, int64_t peer) { gpu(d).forget_peer({DeviceType::cuda, static_cast<int>(peer)}); }),
          BC_FUNCTION("cuda_enable_peer(index, peer)", [](int64_t d, int64_t peer) { return gpu(d).enable_peer_access(gpu(peer)); }),
          // What cuda_enter gives undoes it: a context, by its address.
          BC_FUNCTION("cuda_enter(index)", [](int64_t d) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(gpu(d).enter())); }),
          BC_FUNCTION("cuda_leave(index, before)",
                      [](int64_t d, int64_t before) {
                        gpu(d).leave(reinterpret_cast<void*>(static_cast<intptr_t>(before)));  // NOLINT(performance-no-int-to-ptr)
                      }),
          BC_FUNCTION("cuda_context(index)", [](int64_t d) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(gpu(d).context())); }),
          BC_FUNCTION("cuda_pointer_info(index, address)", pointer_facts),
          BC_FUNCTION("nvrtc_version()",
                      []() -> int64_t {
                        int major = 0, minor = 0;
                        try {
                          cuda::nvrtc().nvrtcVersion(&major, &minor);
                        } catch (const Error&) {
                          return 0;  // there is none
                        }
                        return major * 1000 + minor * 10;
                      }),
      });
}

}  // namespace bc::bind
