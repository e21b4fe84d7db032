#pragma once
#include "graph/node.h"

namespace bc {

class Tape;

// Memory that belongs to several buffers: each import of another library's array creates a buffer, and so does an array of ours that comes
// back through another library. Overlapping buffers share one record of the streams that used them last. All functions are called with the
// device's lock held.

/// Joins an exposed buffer with all buffers that overlap it, so that they share one Uses. If both sides have uses, the stream of `t` waits
/// for the writes of both, and later uses wait for `t`. Only memory of asynchronous devices needs this.
void share_uses(Tape& t, Buffer& buffer);
/// The uses of a buffer's memory: its own, or the shared uses of its overlapping buffers.
Uses& uses_of(const Buffer& buffer);
/// Removes a buffer that is being destroyed.
void forget_uses(const Buffer& buffer) noexcept;

}  // namespace bc
