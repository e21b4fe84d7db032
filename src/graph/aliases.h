#pragma once
#include "graph/node.h"

namespace bc {

class Tape;

// Memory in which several buffers lie: each import of another library's array is a buffer of its own, and so is an array of ours that comes
// back through another library. Which stream used such memory last is known of all of it together. All of this is called with the device's
// lock held.

/// Joins a buffer that others see with all that overlap it. Where both sides have users, the stream `t` waits for the writes of both, and
/// who uses the memory later waits for `t`. Only memory of asynchronous devices has an order.
void share_uses(Tape& t, Buffer& buffer);
/// Who used a buffer's memory: its own uses, or those of all that overlap it.
Uses& uses_of(const Buffer& buffer);
/// The buffer ends.
void forget_uses(const Buffer& buffer) noexcept;

}  // namespace bc
