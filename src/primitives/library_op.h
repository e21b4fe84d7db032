#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"
#include "runtime/backend.h"

namespace bc {

/// The arguments that only some ops have.
struct Extra {
  virtual ~Extra() = default;
};

/// A pointer with its layout, as library bodies receive it.
struct View {
  void* ptr = nullptr;  ///< address of the element at offset 0
  DType dtype = DType::f64;
  Layout layout;
};

/// The kinds of library ops: ops that are not one pass of a generated kernel. library.h has the classes of their arguments.
enum class LibraryKind : uint8_t {
  matmul,
  scan,
  reduceat,
  nonzero,
  compress,
  scatter,
  sort,
  partition,
  select,
  searchsorted,
  linalg,
  fft,
  sparse
};
inline constexpr int kLibraryKinds = static_cast<int>(LibraryKind::sparse) + 1;

/// The arguments of a library op. Its body gets every input in memory and writes the C-contiguous result.
struct LibraryExtra : Extra {
  const LibraryKind kind;
  const char* name = "";
  std::vector<Dims> input_shapes;  ///< the shape under which each operand is read
  uint64_t key = 0;                ///< distinguishes plans of equal structure with different arguments
  bool moves_elements = false;     ///< the op only moves elements, so it works for any dtype
  bool in_place = false;           ///< the result is in[0] changed in place; the body gets `region` of it as output
  Layout region;

  explicit LibraryExtra(LibraryKind kind_) : kind(kind_) {}
};

/// The device, stream and memory for a body. The body queues its work on `stream` and returns when its host work is done.
struct LibraryContext {
  Device device;
  Stream stream;
  std::span<const View> inputs;
  const View& output;
};

/// The function with which the devices of one type run a kind of library op. A body must not record ops.
using LibraryBody = void (*)(const LibraryExtra& op, const LibraryContext& context);

/// Sets the body of a kind for a device type; nullptr: the type has no body. A backend registers its bodies before it is opened.
void register_body(DeviceType type, LibraryKind kind, LibraryBody body);

/// Whether the device has a body for the op.
bool has_body(const LibraryExtra& op, Device device);
/// Raises ErrorKind::NotImplemented, naming the op and the device, where the device has no body for it.
void require_body(const LibraryExtra& op, Device device);

/// Runs the body for the context's device. Throws the body's exceptions; if a user's text does not compile, throws ErrorKind::Compile with
/// the compiler's log.
void run_library(const LibraryExtra& op, const LibraryContext& context);

}  // namespace bc
