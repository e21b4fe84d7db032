#include "graph/node.h"

#include "graph/tape.h"
#include "runtime/pool.h"

namespace bc {
namespace {

// Owners of foreign memory may need locks of their own (Python's), so they are called only when this thread holds no tape.
thread_local int held_tapes = 0;
thread_local std::vector<std::function<void()>> releases;

void run_releases() {
  while (!releases.empty()) {
    auto release = std::move(releases.back());
    releases.pop_back();
    release();
  }
}

}  // namespace

TapeLock::TapeLock(Tape& tape) : tape_(tape) {
  tape_.mutex().lock();
  ++held_tapes;
}

TapeLock::~TapeLock() {
  tape_.mutex().unlock();
  if (--held_tapes == 0 && !releases.empty()) run_releases();
}

Ref<Buffer> Buffer::allocate(Device device, size_t bytes) {
  auto* b = new Buffer;
  b->device = device;
  b->bytes = bytes;
  Ref<Buffer> ref(b);
  b->ptr = pool_allocate(device, bytes);
  return ref;
}

Ref<Buffer> Buffer::foreign(Device device, void* ptr, size_t bytes, std::function<void()> release) {
  auto* b = new Buffer;
  b->device = device;
  b->ptr = ptr;
  b->bytes = bytes;
  b->exposed = true;
  b->release = release ? std::move(release) : [] {};
  return b;
}

void destroy(Buffer* buffer) {
  if (buffer->release) {
    releases.push_back(std::move(buffer->release));
    if (held_tapes == 0) run_releases();
  } else if (buffer->ptr) {
    pool_free(buffer->device, buffer->ptr);
  }
  delete buffer;
}

void destroy(Node* node) {
  if (node->tape) node->tape->forget(node);
  delete node;
}

Storage::Storage(Ref<Node> value) : device(value->device), current(std::move(value)) { ++current->handles; }

Storage::~Storage() { --current->handles; }

void Storage::rebind(Ref<Node> value) {
  ++value->handles;
  --current->handles;
  current = std::move(value);
  ++version;
}

void destroy(Storage* storage) {
  // The handle count is read by a flush, which may run in another thread.
  TapeLock lock(tape(storage->device));
  delete storage;
}

}  // namespace bc
