#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace bc {

/// Base class of objects with an intrusive reference count.
class RefCounted {
 public:
  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Tells whether this was the last owner.
  bool drop() const { return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// Adds an owner unless the count is 0 already; for weak pointers that a lock guards.
  bool try_retain() const {
    uint32_t n = refs_.load(std::memory_order_relaxed);
    while (n != 0)
      if (refs_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  uint32_t refs(std::memory_order order = std::memory_order_relaxed) const { return refs_.load(order); }
  /// retain() for a new object that no other thread knows yet; needs no atomic addition.
  void retain_first() const { refs_.store(1, std::memory_order_relaxed); }

 protected:
  RefCounted() = default;
  ~RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 private:
  mutable std::atomic<uint32_t> refs_{0};
};

/// A RefCounted object without weak pointers: when the count is 1, its only owner can drop it without an atomic subtraction.
class OwnedCounted : public RefCounted {
 public:
  bool drop() const { return refs(std::memory_order_acquire) == 1 || RefCounted::drop(); }

 protected:
  OwnedCounted() = default;
  ~OwnedCounted() = default;
};

/// A smart pointer to a RefCounted object. The last Ref calls `destroy(T*)`, found by argument-dependent lookup.
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
