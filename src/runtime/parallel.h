#pragma once
#include <cstdint>
#include <type_traits>

namespace bc::cpu {

/// Threads that parallel loops use, the calling one included: BROADCLOTH_NUM_THREADS, else the cores that this process may run on (its
/// affinity and its container's share). A forked child has threads of its own.
int thread_count();

/// The most threads that loops of the calling thread use: thread_count() unless it was set. Pieces of a loop see its own.
int thread_limit();
void set_thread_limit(int threads);
/// Inside a piece the number of its thread among those of the loop, below the loop's limit; 0 elsewhere.
int thread_id();

/// Runs a piece [begin, end) of a loop.
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);

/// Calls `run` once for each piece of `grain` items of [0, items), on all threads, and returns when all are done. Pieces begin at multiples
/// of `grain`, whatever the number of threads. Which thread takes which piece is not fixed. An exception ends the loop and is thrown here;
/// so does an interrupt (runtime/interrupt.h), where the computation around the loop may be interrupted.
void run_pieces(int64_t items, int64_t grain, RangeFunction run, void* context);

/// `body(begin, end)` over pieces of [0, items); see run_pieces. A loop of one piece costs one call.
template <class F>
void parallel_for(int64_t items, int64_t grain, F&& body) {
  if (items <= grain) {
    if (items > 0) body(int64_t{0}, items);
    return;
  }
  using Body = std::remove_reference_t<F>;
  run_pieces(
      items, grain, [](void* context, int64_t begin, int64_t end) { (*static_cast<Body*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace bc::cpu
