#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>

/// How Ctrl-C ends a long computation. Python runs signal handlers only in its main thread, and only that thread can check for a pending
/// signal. Therefore, while the main thread computes, a counting thread increments a word every 50 ms. Loops compare the word with its last
/// value and check for a signal only when it has changed.
namespace bc {

/// Thrown out of a computation that must end. The front end keeps the exception that the user's signal handler raised.
struct Interrupted {};

namespace interrupt {

/// How the computation of a scope reacts to an interrupt.
enum class Mode : uint8_t {
  none,   ///< no scope is open
  never,  ///< it runs to its end, and so do the scopes inside it, because it writes in place
  look,   ///< it ends when a SIGINT is pending; the code that catches Interrupted calls deliver(), without holding a lock
  run,    ///< signal handlers run inside the computation, which ends when one of them raises
};

/// The word that the counting thread increments and loops compare.
const std::atomic<uint32_t>& word();

/// Marks a computation of the main thread; in other threads it does nothing. Scopes nest: the mode of the innermost scope applies, except
/// that nothing inside a `never` scope changes that mode.
class Scope {
 public:
  explicit Scope(Mode mode);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Mode before_;
  bool main_;
};

/// The stop flag of a loop that several threads run. The loop's owner sets it when it is interrupted.
struct Stop {
  std::atomic<bool> set{false};
  const Stop* parent = nullptr;  ///< the flag of the enclosing loop
};
/// From now on this thread works for the loop of `stop`; returns the previous loop's flag.
const Stop* work_for(const Stop* stop);

const Stop* works_for();

/// Whether the computation must end now.
bool asked();
/// Throws Interrupted if asked() is true. Calls asked() only when the word has changed since this thread's last call.
void poll();
/// Runs the handlers of the signal that ended a computation of Mode::look; throws Interrupted when a handler raises.
void deliver();

// Waits and work that the main thread can abandon at Ctrl-C. Inside a scope its mode applies; outside scopes signal handlers run, so the
// caller must hold no lock that a handler could need. In other threads, and inside a `never` scope, they are ordinary waits and work.

/// Whether Ctrl-C can end a wait of this thread now.
bool may_end();
/// The scope for waits that call poll().
Scope wait_scope();
/// Calls `ready` until it returns true. It spins at first; after a while, or from the beginning with `sleeps`, the thread sleeps between
/// the calls. Throws Interrupted.
void wait_until(const std::function<bool()>& ready, bool sleeps = false);
/// Runs work that cannot be interrupted in a separate thread and waits for it; an exception of the work is rethrown here. After an
/// Interrupted the work goes on running, so it must own everything that it uses.
void run_apart(std::function<void()> work);
/// Waits at most five seconds for work that run_apart() left running. Called before the libraries that it uses shut down.
void finish_apart();

/// The front end's functions, called in the main thread only: `ask` tells whether the computation must end; `deliver` runs the handlers and
/// returns whether one raised.
struct FrontEnd {
  pthread_t main_thread;
  bool (*ask)(Mode mode);
  bool (*deliver)();
};
/// Sets the front end. Called once.
void set_front_end(const FrontEnd& front_end);

}  // namespace interrupt
}  // namespace bc
