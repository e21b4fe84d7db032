#pragma once
#include <cstring>
#include <vector>

#include "graph/node.h"

/// Helpers for bodies that iterate over views.
namespace bc::cpu {

/// The address of a view's first element.
inline char* first(const View& v) { return static_cast<char*>(v.ptr) + v.layout.offset * itemsize(v.dtype); }

/// Calls `f.template operator()<U>()` with an unsigned type of the element's size; 16 bytes go as a pair.
struct Pair64 {
  uint64_t a, b;
};
template <class F>
decltype(auto) by_size(int bytes, F&& f) {
  switch (bytes) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    default: return f.template operator()<Pair64>();
  }
}

/// Iterates over an index space in C order and keeps the offset for each of several stride lists.
class Walker {
 public:
  Walker(const Dims& shape, std::vector<const Dims*> strides) : shape_(shape), strides_(std::move(strides)), index_(shape.size(), 0) {
    offsets_.assign(strides_.size(), 0);
  }
  int64_t offset(size_t k) const { return offsets_[k]; }
  /// Moves to the element of a linear index.
  void seek(int64_t linear) {
    std::fill(offsets_.begin(), offsets_.end(), 0);
    for (int d = shape_.size() - 1; d >= 0; --d) {
      index_[d] = linear % shape_[d];
      linear /= shape_[d];
      for (size_t k = 0; k < strides_.size(); ++k) offsets_[k] += index_[d] * (*strides_[k])[d];
    }
  }
  void next() {
    for (int d = shape_.size() - 1; d >= 0; --d) {
      ++index_[d];
      for (size_t k = 0; k < strides_.size(); ++k) offsets_[k] += (*strides_[k])[d];
      if (index_[d] < shape_[d]) return;
      index_[d] = 0;
      for (size_t k = 0; k < strides_.size(); ++k) offsets_[k] -= shape_[d] * (*strides_[k])[d];
    }
  }

 private:
  const Dims& shape_;
  std::vector<const Dims*> strides_;
  Dims index_;
  std::vector<int64_t> offsets_;
};

/// Copies a view to C-contiguous memory, row by row; not meant for hot paths.
std::vector<char> packed(const View& v);

}  // namespace bc::cpu
