#pragma once

namespace bc {

/// What has to be still before the libraries that work calls into (CUDA's driver, NVRTC) take down their own state at the end of the process:
/// `barrier` returns when no other thread is inside such work, or after some seconds.
void set_exit_barrier(void (*barrier)());

/// Puts the barrier before the exit handlers of all libraries that are open by now; for who opened one.
void arm_exit_barrier();

}  // namespace bc
