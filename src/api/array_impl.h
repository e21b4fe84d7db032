#pragma once
#include <utility>
#include <vector>

#include "array/array.h"
#include "broadcloth/broadcloth.h"
#include "ops/composite.h"

/// The public array is a handle on the engine's; every file of this folder converts between the two by this.
namespace broadcloth {

/// An array of the engine, or a number that has met none yet.
struct array::impl {
  bc::Arg value;
  shape_t shape;
};

namespace face {

inline bc::DType engine(dtype t) { return static_cast<bc::DType>(t); }
inline bc::Dims dims(const shape_t& s) { return bc::Dims(std::span<const int64_t>(s)); }

inline array made(bc::Array a) {
  shape_t shape(a.shape().begin(), a.shape().end());
  return array(std::make_shared<const array::impl>(array::impl{bc::Arg(std::move(a)), std::move(shape)}));
}
/// The engine's array; a number becomes one on the default device.
inline bc::Array real_array(const array& a) {
  const bc::Arg& arg = a.get().value;
  return arg.array ? arg.array : bc::as_array(arg, bc::default_device());
}

}  // namespace face
}  // namespace broadcloth
