#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace bc {

/// An object that counts its owners inside itself.
class RefCounted {
 public:
  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Tells whether this was the last owner.
  bool drop() const { return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// Becomes an owner unless the last one has gone already; for weak pointers that are guarded by a lock.
  bool try_retain() const {
    uint32_t n = refs_.load(std::memory_order_relaxed);
    while (n != 0)
      if (refs_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  uint32_t refs(std::memory_order order = std::memory_order_relaxed) const { return refs_.load(order); }
  /// retain() for the one who made the object, before any other thread knows it.
  void retain_first() const { refs_.store(1, std::memory_order_relaxed); }

 protected:
  RefCounted() = default;
  ~RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 private:
  mutable std::atomic<uint32_t> refs_{0};
};

/// A RefCounted object to which nobody keeps weak pointers: its only owner needs no atomic exchange to know that it is the last.
class OwnedCounted : public RefCounted {
 public:
  bool drop() const { return refs(std::memory_order_acquire) == 1 || RefCounted::drop(); }

 protected:
  OwnedCounted() = default;
  ~OwnedCounted() = default;
};

/// A counted pointer to a RefCounted object; `destroy(T*)` is found by argument-dependent lookup when the last one goes.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  /// Takes over a reference that is counted already.
  static Ref adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  /// The first reference to a new object.
  static Ref first(T* p) {
    p->retain_first();
    return adopt(p);
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_ && p_->drop()) destroy(p_);
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref& o) const { return p_ == o.p_; }

 private:
  T* p_ = nullptr;
};

}  // namespace bc
