#pragma once
#include <vector>

#include "array/array.h"

namespace bc {

class Tape;

/// While it lives, no flush begins to run without the device's lock, and those that did so have ended: what they planned may depend on
/// whether memory is exposed. Made with the lock held.
class LastFlushesApart {
 public:
  explicit LastFlushesApart(Tape& t);
  ~LastFlushesApart();
  LastFlushesApart(const LastFlushesApart&) = delete;
  LastFlushesApart& operator=(const LastFlushesApart&) = delete;
};

/// Gives access to arrays' memory for work that is queued directly on a stream, without the tape (users' kernels, raw copies). For each
/// array, pending nodes that use it run first, `stream` waits for other streams that use its memory, and ops recorded later see the new
/// elements. While the object lives, the memory is not moved or freed.
///
///     ArrayAccess access(stream);
///     void* p = access.add(a);      // … launch on `stream` …
class ArrayAccess {
 public:
  explicit ArrayAccess(Stream stream) : stream_(stream) {}
  /// Ends the access: work that other streams queue later waits for the work queued on `stream` until now.
  ~ArrayAccess();
  ArrayAccess(const ArrayAccess&) = delete;
  ArrayAccess& operator=(const ArrayAccess&) = delete;

  /// Returns the address of the array's first element (the array's offset is included). `write` false: the work only reads it. Throws
  /// ErrorKind::Value if the stream's device cannot access the array's device, or if a read-only array is written. Arrays that share memory
  /// get addresses in the same memory; those that are written must be added first.
  void* add(const Array& a, bool write = true);

  /// Exposes the memory that is written while the access lasts, also of arrays that are added later, for work on the host beside which
  /// other threads run: their ops and accesses then use the same memory, and nothing that either side writes is lost.
  void share();

 private:
  struct Held {
    Ref<Buffer> buffer;
    bool write = false;
    bool lent = false;
    Tape* peer = nullptr;  ///< the tape of the array's device, if that is another device
  };
  static constexpr size_t kInline = 12;
  void* add_peer(const Array& a, bool write);
  Held& use(size_t i) { return i < kInline ? inline_[i] : more_[i - kInline]; }

  Stream stream_;
  bool shares_ = false;
  Tape* tape_ = nullptr;
  size_t count_ = 0;
  Held inline_[kInline];  ///< enough for most launches without heap memory
  std::vector<Held> more_;
};

}  // namespace bc
