#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>

/// How a user ends a long computation (Ctrl-C). Python runs signal handlers in its main thread only, and only there can be seen whether one
/// is due. So while the main thread computes, another thread counts up a word every 50 ms; loops compare that word with what they saw
/// last, and ask where it has changed.
namespace bc {

/// Thrown out of a computation that is to end. What the user's handler raised is kept by the front end.
struct Interrupted {};

namespace interrupt {

/// What an Interrupted may do to the computation of a scope.
enum class Mode : uint8_t {
  none,   ///< outside of scopes
  never,  ///< it runs to its end, with all scopes inside: what it writes in place must be whole
  look,   ///< it ends when a SIGINT waits; whoever catches the Interrupted calls deliver(), where no lock is held
  run,    ///< handlers run inside the computation, which ends when one of them raises
};

/// The word that loops compare.
const std::atomic<uint32_t>& word();

/// A computation of this thread. Scopes nest; the innermost one's mode counts, but `never` stays. In other threads than the main one it
/// does nothing.
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

/// A loop that several threads run, whose owner may be told to end it.
struct Stop {
  std::atomic<bool> set{false};
  const Stop* parent = nullptr;  ///< of the loop around it
};
/// This thread works for a loop; gives the one before.
const Stop* work_for(const Stop* stop);

const Stop* works_for();

/// Whether the computation is to end now.
bool asked();
/// Throws Interrupted where asked() says so; asks only where the word has changed since this thread's last call.
void poll();
/// Runs the handlers of the signal that ended a computation of Mode::look; throws Interrupted where one of them raises.
void deliver();

// Waits and work that the main thread can leave. Inside of scopes their mode counts; outside handlers run, so that no lock may be held that
// a handler could need. In other threads, and where a scope says never, they are what they would be without Ctrl-C.

/// Whether Ctrl-C can end a wait of this thread now.
bool may_end();
/// Around waits that call poll().
Scope wait_scope();
/// Asks `ready` until it says yes, at first without a pause; where the wait has become long, or from the beginning (`sleeps`), the thread
/// sleeps in between. Throws Interrupted.
void wait_until(const std::function<bool()>& ready, bool sleeps = false);
/// Runs work that cannot be ended in a thread of its own and waits for it; an exception of the work is thrown here. An Interrupted leaves
/// it running, so it must own all that it uses.
void run_apart(std::function<void()> work);
/// Waits, for some seconds at most, for the work that was left running: before what it uses is taken down.
void finish_apart();

/// What the front end does, always in the main thread: `ask` tells whether the computation must end, `deliver` as above.
struct FrontEnd {
  pthread_t main_thread;
  bool (*ask)(Mode mode);
  bool (*deliver)();
};
/// Called once.
void set_front_end(const FrontEnd& front_end);

}  // namespace interrupt
}  // namespace bc
