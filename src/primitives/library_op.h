#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"
#include "runtime/backend.h"

namespace bc {

/// What only some ops carry.
struct Extra {
  virtual ~Extra() = default;
};

/// A pointer with its layout, as library bodies receive it.
struct View {
  void* ptr = nullptr;  ///< of element `offset` 0
  DType dtype = DType::f64;
  Layout layout;
};

/// The kinds of library ops, which are what is not one pass of a generated kernel. The classes of their arguments are in library.h.
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

/// A library op: the body gets every input as memory and writes the C-contiguous result.
struct LibraryExtra : Extra {
  const LibraryKind kind;
  const char* name = "";
  std::vector<Dims> input_shapes;  ///< the shape under which each operand is read
  uint64_t key = 0;                ///< tells plans of equal structure but different arguments apart
  bool moves_elements = false;     ///< looks at no element, so that it takes any dtype
  bool in_place = false;           ///< the result is in[0]'s content, changed; the body gets `region` of it as output
  Layout region;

  explicit LibraryExtra(LibraryKind kind_) : kind(kind_) {}
};

/// What a body works on. It queues its work on `stream`, and returns when the host's part of it is done.
struct LibraryContext {
  Device device;
  Stream stream;
  std::span<const View> inputs;
  const View& output;
};

/// How the devices of one type run a kind of library op. A body may not record ops.
using LibraryBody = void (*)(const LibraryExtra& op, const LibraryContext& context);

/// Makes `body` what devices of a type run for a kind; nullptr: they have none. A backend registers its bodies before it is opened.
void register_body(DeviceType type, LibraryKind kind, LibraryBody body);

/// Raises ErrorKind::NotImplemented, naming the op and the device, where the device has no body for it.
void require_body(const LibraryExtra& op, Device device);

/// Runs the body of the context's device. Throws what the body throws; the log of a user's text that does not compile is
/// ErrorKind::Compile.
void run_library(const LibraryExtra& op, const LibraryContext& context);

}  // namespace bc
