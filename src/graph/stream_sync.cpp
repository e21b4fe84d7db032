// The order between streams: which work waits for which.
#include <algorithm>

#include "core/error.h"
#include "graph/aliases.h"
#include "graph/tape.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace bc {

namespace {

/// Tells whether a stream of the device is being captured. Called with the device's lock held.
bool any_capture(Device device) {
  if (!many_streams()) return false;
  const std::vector<Tape*> all = tapes(device);
  return std::any_of(all.begin(), all.end(), [](const Tape* t) { return t->capture() != nullptr; });
}

}  // namespace

void Tape::before(Buffer& buffer, bool write) {
  Uses& uses = uses_of(buffer);
  if (!uses.write.tape) {
    // No use is recorded: only the default stream has used the buffer, before another stream existed.
    Tape& usual = default_tape(buffer.device);
    uses.write = {&usual, usual.tick()};
  }
  if (write)
    wait_for_uses(buffer);
  else
    wait_for(uses.write);
  if (capture_) capture_->keep(buffer);
}

void Tape::wait_for_uses(const Buffer& buffer) {
  const Uses& uses = uses_of(buffer);
  wait_for(uses.write);
  wait_for(uses.read);
  if (uses.reads)
    for (const Use& use : *uses.reads) wait_for(use);
}

void Tape::after(Buffer& buffer, bool write) {
  Uses& uses = uses_of(buffer);
  const Use now{this, tick()};
  if (write) {
    uses.write = now;
    uses.read = {};
    uses.reads.reset();
  } else if (!uses.read.tape || uses.read.tape == this) {
    uses.read = now;
  } else {
    if (!uses.reads) uses.reads = std::make_unique<std::vector<Use>>();
    const auto mine = std::find_if(uses.reads->begin(), uses.reads->end(), [&](const Use& use) { return use.tape == this; });
    if (mine != uses.reads->end())
      *mine = now;
    else
      uses.reads->push_back(now);
  }
}

void Tape::borrow() {
  if (!foreign_) return;
  TapeLock lock(*this);
  if (borrowers_.fetch_add(1, std::memory_order_acq_rel) > 0) return;
  catch_up();
}

void Tape::catch_up() {
  std::lock_guard events(event_mutex_);
  if (!event_ || event_tick_ <= done_.load(std::memory_order_acquire) || event_->query()) return;
  if (!backend(device()).capturing(stream_)) backend(device()).wait_event(stream_, *event_);
}

void Tape::give_back() noexcept {
  if (!foreign_) return;
  TapeLock lock(*this);
  try {
    const interrupt::Scope scope(interrupt::Mode::never);
    if (borrowers_.load(std::memory_order_relaxed) == 1) flush();
  } catch (...) {
    // Reading a node that could not run raises the error.
  }
  borrowers_.fetch_sub(1, std::memory_order_acq_rel);
}

void Tape::mark() {
  if (!foreign_) return;
  try {
    {
      std::lock_guard events(event_mutex_);
      if (event_tick_ < tick()) {
        // Work inside another library's capture is not queued, so an event cannot mark it.
        if (!backend(device()).capturing(stream_)) {
          if (!event_) event_ = backend(device()).make_event({});
          event_->record(stream_);
        }
        event_tick_ = tick();
      }
    }
    if (!unowned()) return;
    default_tape(device()).wait_for({this, tick()});
    pool_hand_over(device(), stream_.native);
  } catch (const Error&) {
    // The device is lost, so its work has ended.
  }
}

void Tape::wait_for(Use use) {
  if (!use.tape || use.tape == this) return;
  Tape& other = *use.tape;
  // CPU work is done as soon as it is queued.
  if (traits(other.device()).on_host || use.tick <= other.done_.load(std::memory_order_acquire) || seen(other) >= use.tick) return;
  if (capture_ && capture_ != other.capture_) {
    // A graph cannot wait for work outside of it.
    const interrupt::Scope scope(interrupt::Mode::never);
    backend(other.device()).synchronize(other.stream_);
    return;
  }
  uint64_t reached = use.tick;
  std::lock_guard lock(other.event_mutex_);
  if (capture_) {
    // The wait becomes an edge of the graph; the event has no meaning outside the graph.
    const std::unique_ptr<StreamEvent> edge = backend(other.device()).make_event({});
    edge->record(other.stream_);
    backend(device()).wait_event(stream_, *edge);
    return waited(use);
  }
  if (!other.event_) other.event_ = backend(other.device()).make_event({});
  if (other.event_tick_ >= use.tick) {
    reached = other.event_tick_;
  } else if (other.capture_) {
    return;  // the work is part of a graph that has not been launched
  } else {
    // A thread that holds another device's lock may be queueing work right now, so queued() of another device's tape is not reliable.
    reached = &other.mutex_ == &mutex_ ? other.queued() : use.tick;
    other.event_->record(other.stream_);
    other.event_tick_ = reached;
  }
  if (traits(device()).on_host) {
    const interrupt::Scope scope(interrupt::Mode::never);
    other.event_->synchronize();
  } else {
    backend(device()).wait_event(stream_, *other.event_);
  }
  waited({&other, reached});
}

void Tape::wait_for(const StreamEvent& event, const Use& marked) {
  if (traits(device()).on_host) {
    const interrupt::Scope scope(interrupt::Mode::never);
    event.synchronize();
  } else {
    backend(device()).wait_event(stream_, event);
  }
  waited(marked);
}

/// Records that a wait for `use` was queued.
void Tape::waited(const Use& use) {
  if (use.tape) {
    const auto number = static_cast<size_t>(use.tape->number_);
    if (number >= seen_.size()) seen_.resize(number + 1);
    seen_[number] = std::max(seen_[number], use.tick);
  }
  submit();
}

void Tape::note_done(uint64_t tick) {
  uint64_t known = done_.load(std::memory_order_relaxed);
  while (known < tick && !done_.compare_exchange_weak(known, tick, std::memory_order_release, std::memory_order_relaxed)) {}
  release_kept(static_cast<size_t>(std::count_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.tick <= tick; })));
}

void Tape::keep(std::function<void()> release, bool soon) {
  constexpr size_t kUnmarked = 16;  // one event for each would add 10 % to the time of a launch
  TapeLock lock(*this);
  if (!traits(device()).asynchronous) return release_unlocked(std::move(release));
  if (capture_) {
    capture_->owned.emplace_back(nullptr, [release = std::move(release)](void*) { release_unlocked(release); });
    return;
  }
  if (soon && kept_.empty() && !any_capture(device())) {
    bool idle = tick() <= done_.load(std::memory_order_relaxed);
    try {
      idle = idle || backend(device()).query(stream_);
    } catch (const Error&) {
      // The error of failed work is raised at the next synchronisation.
    }
    if (idle) return release_unlocked(std::move(release));
  }
  kept_.push_back({tick(), queued(), nullptr, std::move(release)});
  size_t unmarked = 0;
  while (unmarked < kept_.size() && !kept_[kept_.size() - 1 - unmarked].event) ++unmarked;
  if (soon || unmarked >= kUnmarked) release_kept();
}

/// Records an event for the last entries, and releases the first entries, whose work is done.
void Tape::release_kept() {
  // The driver allows neither during a capture; a later call will do it.
  if (kept_.empty() || any_capture(device())) return;
  size_t count = 0;
  uint64_t done = 0;
  try {
    if (backend(device()).capturing(stream_)) return;
    if (Kept& last = kept_.back(); !last.event) {
      std::unique_ptr<StreamEvent> event;
      if (spare_events_.empty()) {
        event = backend(device()).make_event({});
      } else {
        event = std::move(spare_events_.back());
        spare_events_.pop_back();
      }
      event->record(stream_);
      last.event = std::move(event);
      last.done = queued();
    }
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i].event) continue;
      if (!kept_[i].event->query()) break;
      count = i + 1;
      done = kept_[i].done;
    }
  } catch (const Error&) {
    // The error of failed work is raised at the next synchronisation.
  }
  release_kept(count);
  if (count) note_done(done);
}

void Tape::release_kept(size_t count) {
  for (; count > 0; --count) {
    Kept first = std::move(kept_.front());
    kept_.pop_front();
    if (first.event) spare_events_.push_back(std::move(first.event));
    release_unlocked(std::move(first.release));
  }
}

void Tape::synchronize() {
  uint64_t reached = 0;
  {
    TapeLock lock(*this);
    BC_CHECK(!capture_, Runtime, "synchronize: the stream is being captured; end the capture first");
    flush();
    reached = tick();
  }
  try {
    // Waits without the lock, so that other threads can record.
    if (!unowned())
      backend(device()).synchronize(stream_);
    else if (const StreamEvent* last = last_event())
      last->synchronize();
  } catch (const Error& error) {
    if (!file_) throw;
    raise(error.kind(), "{}; the last operation of the stream was recorded at {}:{}", error.what(), file_, line_);
  }
  TapeLock lock(*this);
  note_done(reached);
  check_errors();
  // If work was queued meanwhile, memory freed since then may still be in use.
  if (reached == tick() && !unowned()) pool_synchronized(device(), stream_.native);
}

void Tape::begin_capture(std::shared_ptr<Capture> capture) {
  TapeLock lock(*this);
  flush();
  while (others_running() != 0) wait_for_flush();
  for (Tape* t : tapes(device())) {
    if (t == this || t->capture_) continue;
    t->flush();
    wait_for({t, t->tick()});
  }
  // Status memory that is allocated during the capture would be zeroed only when the graph runs, so it is allocated before.
  if (traits(device()).asynchronous) {
    tickets(1);
    error_word();
  }
  before_capture();
  capture->origin = this;
  enter_capture(std::move(capture));
}

void Tape::before_capture() {
  TapeLock lock(*this);
  if (capture_) return;
  flush();
  std::lock_guard events(event_mutex_);
  if (!event_) event_ = backend(device()).make_event({});
  event_->record(stream_);
  event_tick_ = tick();
  // Waits inside a capture are only edges of the graph, including the wait by which a stream joins; outside the graph they have not
  // happened.
  seen_outside_ = seen_;
}

void Tape::enter_capture(std::shared_ptr<Capture> capture) {
  status_outside_ = status;
  if (capture->origin != this) {
    // The graph waits only for its origin, so this stream may run other work at the same time and needs counters of its own in the graph.
    // Errors are reported in the origin's word.
    status.tickets = nullptr;
    status.count = 0;
    status.error = capture->origin->status.error;
  }
  status.watched = false;
  capture_ = std::move(capture);
}

void Tape::join_capture(const Tape& other) {
  TapeLock lock(*this);
  if (!capture_ && other.capture_) enter_capture(other.capture_);
}

void Tape::leave_capture() {
  TapeLock lock(*this);
  if (!capture_) return;
  flush();
  if (status.watched) {
    capture_->checked = true;
    capture_->file = status.file;
    capture_->line = status.line;
  }
  status = status_outside_;
  seen_ = std::move(seen_outside_);
  capture_ = nullptr;
}

void Tape::launch_graph(const std::shared_ptr<Capture>& graph, const std::function<void()>& launch) {
  TapeLock lock(*this);
  flush();
  flush_others(*this);
  Tape& origin = *graph->origin;
  // The graph uses its origin's scratch memory, so the two must never run at the same time.
  wait_for({&origin, origin.tick()});
  for (const Ref<Buffer>& b : graph->buffers) before(*b, true);
  launch();
  submit();
  for (const Ref<Buffer>& b : graph->buffers) after(*b, true);
  origin.wait_for({this, tick()});
  graph->launched = this;
  // A graph inside a graph lives as long as the outer graph.
  if (capture_) capture_->owned.push_back(graph);
  if (!graph->checked) return;
  StreamStatus& w = origin.status;
  w.watched = true;
  w.file = graph->file;
  w.line = graph->line;
  if (&origin != this) graphs_.push_back(&origin);
}

void Tape::end_graph(std::shared_ptr<Capture> graph) {
  // Device memory is freed in stream order. Host functions and host memory must stay until the driver has called and copied them.
  if (!graph || graph->owned.empty() || !graph->launched) return;
  Tape& last = *graph->launched;
  TapeLock lock(last);
  last.keep([graph = std::move(graph)] {}, true);
}

}  // namespace bc
