#pragma once
#include <cstdint>
#include <type_traits>

namespace bc::cpu {

/// The number of threads that parallel loops use, including the calling thread: BROADCLOTH_NUM_THREADS, else the cores that this process
/// may run on (its affinity and its container's CPU quota). A forked child starts threads of its own.
int thread_count();

/// The maximum number of threads for loops of the calling thread: thread_count() unless set_thread_limit() changed it. Inside a loop's
/// pieces it is the limit of the thread that started the loop.
int thread_limit();
void set_thread_limit(int threads);
/// Inside a piece: the number of its thread among the loop's threads, below the loop's limit. Elsewhere 0.
int thread_id();

/// Runs a piece [begin, end) of a loop.
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);

/// Calls `run` once for each piece of `grain` items of [0, items), on all threads, and returns when all are done. Pieces begin at multiples
/// of `grain`, whatever the number of threads. Which thread runs which piece is not fixed. An exception of a piece ends the loop and is
/// rethrown here; an interrupt (runtime/interrupt.h) does so too, where the surrounding computation may be interrupted.
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
