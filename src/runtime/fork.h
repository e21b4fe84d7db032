#pragma once

namespace bc {

/// The modules whose locks are taken before a fork, outermost first: the same order in which a computing thread takes them. pthread_atfork
/// by each module would give the order of registration instead, and the forking thread could deadlock with a computing one.
enum class ForkLevel { Python, Tapes, KernelCache, Compiler, Pools, Backends, Plans, Threads, Interrupts };

/// Calls `before` in the forking thread before a fork, in the order of levels, and `after` in the reverse order in the parent (child:
/// false) and in the child (true). Registering a level again does nothing. The GIL is held throughout, so no handler may wait for it.
void at_fork(ForkLevel level, void (*before)(), void (*after)(bool child));

}  // namespace bc
