#pragma once

namespace bc {

/// Whose locks are taken before a fork, outermost first: the order in which a thread that computes takes them. A module that registered
/// with the C library by itself would come in the order of registration instead, and could wait for a thread that waits for it.
enum class ForkLevel { Python, Tapes, KernelCache, Compiler, Pools, Backends, Plans, Threads, Interrupts };

/// Calls `before` in the forking thread before a fork, in the order of levels, and `after` in the reverse order in the parent (child:
/// false) and in the child (true). Registering a level again does nothing. Python's lock is held throughout, so no handler may need it.
void at_fork(ForkLevel level, void (*before)(), void (*after)(bool child));

}  // namespace bc
