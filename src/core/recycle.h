#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

namespace bc {

/// A thread-local free list of memory for objects of type T: reusing a freed block takes a few instructions where malloc takes fifty.
template <class T>
class Recycler {
 public:
  static void* get() {
    if (Block* b = list_.first) [[likely]] {
      list_.first = b->next;
      --list_.count;
      return b;
    }
    return ::operator new(sizeof(T));
  }
  static void put(void* p) {
    if (list_.count >= kKept || !ready()) {
      ::operator delete(p);
      return;
    }
    auto* b = static_cast<Block*>(p);
    b->next = list_.first;
    list_.first = b;
    ++list_.count;
  }

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr uint32_t kKept = 0;  // reuse of blocks would hide errors from the sanitizers
#else
  static constexpr uint32_t kKept = 256;
#endif
  struct Block {
    Block* next;
  };
  struct List {
    Block* first = nullptr;
    uint32_t count = 0;
    bool watched = false, ended = false;
  };
  /// Frees the list when its thread ends.
  struct Watch {
    ~Watch() {
      list_.ended = true;
      while (Block* b = list_.first) {
        list_.first = b->next;
        ::operator delete(b);
      }
    }
  };
  static bool ready() {
    if (!list_.watched) [[unlikely]] {
      static thread_local Watch watch;
      static_cast<void>(&watch);
      list_.watched = true;
    }
    return !list_.ended;
  }

  // initial-exec: found without a call. It takes static TLS space, which libraries opened by dlopen share, so it must stay small.
  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local List list_{};
};

}  // namespace bc
