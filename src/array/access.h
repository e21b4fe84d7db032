#pragma once
#include <vector>

#include "array/array.h"

namespace bc {

class Tape;

/// Memory of arrays for work that is queued on a stream at once and that the engine does not record (users' kernels, raw copies). For each
/// array: what waits for it runs first, `stream` waits for other streams that use its memory, and what is recorded from then on sees what
/// the work wrote. While the object lives the memory stays where it is.
///
///     ArrayAccess access(stream);
///     void* p = access.add(a);      // … launch on `stream` …
class ArrayAccess {
 public:
  explicit ArrayAccess(Stream stream) : stream_(stream) {}
  /// Ends the use: work of other streams, queued later, waits for what `stream` has queued until now.
  ~ArrayAccess();
  ArrayAccess(const ArrayAccess&) = delete;
  ArrayAccess& operator=(const ArrayAccess&) = delete;

  /// The address of the array's first element (its offset is in it). `write` false: the work only reads it. Throws ErrorKind::Value when
  /// the array lies on a device whose memory the stream's cannot use, or is read-only and written. Arrays that share memory share it in the
  /// work too; of such arrays those that are written must be added first.
  void* add(const Array& a, bool write = true);

 private:
  struct Held {
    Ref<Buffer> buffer;
    bool write = false;
    Tape* peer = nullptr;  ///< of the device where the array lies, where that is another one
  };
  static constexpr size_t kInline = 12;
  void* add_peer(const Array& a, bool write);
  Held& use(size_t i) { return i < kInline ? inline_[i] : more_[i - kInline]; }

  Stream stream_;
  Tape* tape_ = nullptr;
  size_t count_ = 0;
  Held inline_[kInline];  ///< most launches need no heap
  std::vector<Held> more_;
};

}  // namespace bc
