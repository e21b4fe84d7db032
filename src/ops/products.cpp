// Sums of products.
#include "array/placement.h"
#include "array/record.h"
#include "array/small_host.h"
#include "ops/compose.h"
#include "primitives/library.h"

namespace bc {
using namespace compose;

namespace {

/// a · b of matrices (…, m, k) and (…, k, n) whose leading axes are broadcast already.
Array multiply_matrices(const Array& a, const Array& b, DType t) {
  Dims shape = a.shape();
  shape.back() = b.shape().back();
  if (a.shape().back() == 0) return zeros(shape, t, a.device());
  if (product(shape) == 0) return empty(shape, t, a.device());
  if (placed_by_size()) [[unlikely]]
    if (const auto place = place_of_op({&a, &b}, product(shape), product(shape) * a.shape().back()))
      return multiply_matrices(brought(a, *place), brought(b, *place), t);
  return record_library({cast(a, t), cast(b, t)}, {a.shape(), b.shape()}, std::make_unique<MatmulExtra>(), shape, t, a.device());
}

Array dot_of_vectors(const Array& a, const Array& b, DType t) {
  if (std::optional<Array> few = dot_small(a, b, t)) return *few;
  if (is_bool(t)) return reduce(Op::reduce_any, ufunc(Op::logical_and, {a, b}));
  ReduceOptions o;
  o.dtype = t;  // small integers stay small here, unlike in sum()
  return sum(multiply(a, b), o);
}

constexpr const char* kMatmul = "(n?,k),(k,m?)->(n?,m?)";

/// Leading axes of two gufunc operands, broadcast; the remaining `core` axes stay.
Dims broadcast_batch(const Dims& a, const Dims& b, int core_a, int core_b, const Dims& wanted) {
  const int na = a.size() - core_a, nb = b.size() - core_b, n = std::max(na, nb);
  Dims r(n, 1);
  bool fits = true;
  for (int d = 1; d <= n; ++d) {
    const int64_t x = d <= na ? a[na - d] : 1, y = d <= nb ? b[nb - d] : 1;
    fits &= x == y || x == 1 || y == 1;
    r[n - d] = x == 1 ? y : x;
  }
  if (!fits) {
    auto remapped = [&](const Dims& s, int leading) {
      std::string text = tight(s) + "->(";
      for (int d = 0; d < leading; ++d) text += (d ? "," : "") + std::to_string(s[d]);
      for (int d = 0; d < wanted.size(); ++d) text += leading || d ? ",newaxis" : "newaxis";
      return text + ") ";
    };
    raise(ErrorKind::Value,
          "operands could not be broadcast together with remapped shapes [original->remapped]: {}{} and requested shape {}",
          remapped(a, na), remapped(b, nb), tight(wanted));
  }
  return r;
}

Dims joined(Dims a, const Dims& b) {
  for (int64_t n : b) a.push_back(n);
  return a;
}

}  // namespace

Array matmul(const Array& a_in, const Array& b_in, std::optional<DType> dtype, Array out, Casting casting) {
  if (!out && !dtype)
    if (std::optional<Array> made = matmul_small(a_in, b_in)) return std::move(*made);
  check_one_place("matmul", a_in, b_in);
  if (const DType t = dtype.value_or(promote(a_in.dtype(), b_in.dtype())); is_float8(t) && !is_time(a_in.dtype())) {
    // In float32, rounded once.
    const auto wide = [](const Array& x) { return cast(x, DType::f32); };
    const Array r = cast(matmul(wide(a_in), wide(b_in), std::nullopt, Array(), casting), t);
    return out ? deliver("matmul", r, out, casting) : r;
  }
  for (const Array* x : {&a_in, &b_in})
    BC_CHECK(x->ndim() > 0, Value,
             "matmul: Input operand {} does not have enough dimensions (has 0, gufunc core with signature {} requires 1)",
             x == &a_in ? 0 : 1, kMatmul);
  const DType t = dtype.value_or(promote(a_in.dtype(), b_in.dtype()));
  for (const Array* x : {&a_in, &b_in})
    BC_CHECK(can_cast(x->dtype(), t, casting), UFuncTypeError,
             "Cannot cast ufunc 'matmul' input {} from dtype('{}') to dtype('{}') with casting rule '{}'", x == &a_in ? 0 : 1,
             info(x->dtype()).name, info(t).name, to_string(casting));
  const Array a = a_in.ndim() == 1 ? insert_axis(a_in, 0) : a_in, b = b_in.ndim() == 1 ? insert_axis(b_in, 1) : b_in;
  const int64_t m = a.shape()[a.ndim() - 2], k = a.shape().back(), n = b.shape().back(), kb = b.shape()[b.ndim() - 2];
  BC_CHECK(k == kb, Value,
           "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {} (size {} is different from {}); the "
           "shapes are {} and {}",
           kMatmul, kb, k, a_in.shape(), b_in.shape());
  Array r;
  if (a_in.ndim() == 1 && b_in.ndim() == 1) {
    r = dot_of_vectors(cast(a_in, t), cast(b_in, t), t);
  } else {
    Dims core;
    if (a_in.ndim() > 1) core.push_back(m);
    if (b_in.ndim() > 1) core.push_back(n);
    const Dims batch = broadcast_batch(a.shape(), b.shape(), 2, 2, core);
    r = multiply_matrices(broadcast_to(a, joined(batch, {m, k})), broadcast_to(b, joined(batch, {k, n})), t);
    if (a_in.ndim() == 1) r = pick(r, r.ndim() - 2, 0);
    if (b_in.ndim() == 1) r = pick(r, r.ndim() - 1, 0);
  }
  if (!out) return r;
  BC_CHECK(can_cast(t, out.dtype(), casting), UFuncTypeError,
           "Cannot cast ufunc 'matmul' output from dtype('{}') to dtype('{}') with casting rule '{}'", info(t).name, info(out.dtype()).name,
           to_string(casting));
  return deliver("matmul", r, out, casting);
}

Array dot(const Array& a, const Array& b, Array out) {
  check_one_place("dot", a, b);
  const DType t = promote(a.dtype(), b.dtype());
  Array r;
  if (a.ndim() == 0 || b.ndim() == 0) {
    r = multiply(a, b);
  } else {
    const int at = std::max(b.ndim() - 2, 0);
    const int64_t k = a.shape().back();
    BC_CHECK(k == b.shape()[at], Value, "shapes {} and {} not aligned: {} (dim {}) != {} (dim {})", tight(a.shape()), tight(b.shape()), k,
             a.ndim() - 1, b.shape()[at], at);
    if (a.ndim() == 1 && b.ndim() == 1) {
      r = dot_of_vectors(a, b, t);
    } else if (a.ndim() <= 2 && b.ndim() <= 2) {
      r = matmul(a, b);
    } else {
      r = tensordot(a, b, Axes{-1}, Axes{at});
    }
  }
  if (!out) return r;
  BC_CHECK(out.shape() == r.shape() && out.dtype() == r.dtype() && out.contiguous(), Value,
           "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)");
  assign(out, r);
  return out;
}

Array vdot(const Array& a_in, const Array& b_in) {
  check_one_place("vdot", a_in, b_in);
  const Array a = ravel(a_in), b = ravel(b_in);
  BC_CHECK(a.size() == b.size(), Value, "cannot reshape array of size {} into shape {}", b.size(), a.shape());
  return dot_of_vectors(is_complex(a.dtype()) ? ufunc(Op::conj, {a}) : a, b, promote(a.dtype(), b.dtype()));
}

Array inner(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  // The shapes in the error are those of the product that NumPy makes of it: b's last axis goes before the one in front of it.
  BC_CHECK(a.shape().back() == b.shape().back(), Value, "shapes {} and {} not aligned: {} (dim {}) != {} (dim {})", tight(a.shape()),
           tight(b.ndim() > 1 ? swapaxes(b, -1, -2).shape() : b.shape()), a.shape().back(), a.ndim() - 1, b.shape().back(),
           std::max(b.ndim() - 2, 0));
  if (b.ndim() <= 2) return dot(a, b.ndim() == 2 ? swapaxes(b, 0, 1) : b);
  return tensordot(a, b, Axes{-1}, Axes{-1});
}

Array outer(const Array& a, const Array& b, Array out) {
  UfuncOptions o;
  o.out = std::move(out);
  return ufunc(Op::multiply, {insert_axis(ravel(a), 1), insert_axis(ravel(b), 0)}, o);
}

Array tensordot(const Array& a, const Array& b, int64_t n) {
  BC_CHECK(n >= 0, Value, "tensordot: expected a number of axes of at least 0, got {}", n);
  BC_CHECK(n <= a.ndim() && n <= b.ndim(), Index, "tuple index out of range");
  Axes x, y;
  for (int64_t i = 0; i < n; ++i) x.push_back(i - n), y.push_back(i);
  return tensordot(a, b, x, y);
}

Array tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes) {
  check_one_place("tensordot", a, b);
  BC_CHECK(a_axes.size() == b_axes.size(), Value, "shape-mismatch for sum");
  Dims order_a, order_b, shape;
  uint64_t used_a = 0, used_b = 0;
  int64_t k = 1;
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const int x = normalize_axis(a_axes[i], a.ndim(), "tensordot"), y = normalize_axis(b_axes[i], b.ndim(), "tensordot");
    BC_CHECK(a.shape()[x] == b.shape()[y] && !(used_a >> x & 1) && !(used_b >> y & 1), Value, "shape-mismatch for sum");
    used_a |= uint64_t{1} << x;
    used_b |= uint64_t{1} << y;
    order_b.push_back(y);
    k *= a.shape()[x];
  }
  int64_t m = 1, n = 1;
  for (int d = 0; d < a.ndim(); ++d)
    if (!(used_a >> d & 1)) order_a.push_back(d), shape.push_back(a.shape()[d]), m *= a.shape()[d];
  for (int64_t axis : a_axes) order_a.push_back(normalize_axis(axis, a.ndim(), "tensordot"));
  for (int d = 0; d < b.ndim(); ++d)
    if (!(used_b >> d & 1)) order_b.push_back(d), shape.push_back(b.shape()[d]), n *= b.shape()[d];
  const Array left = reshape(transpose(a, order_a), Dims{m, k}), right = reshape(transpose(b, order_b), Dims{k, n});
  return reshape(multiply_matrices(left, right, promote(a.dtype(), b.dtype())), shape);
}

Array kron(const Array& a, const Array& b) {
  const int nd = std::max(a.ndim(), b.ndim());
  Array x = a, y = b;
  while (x.ndim() < nd) x = insert_axis(x, 0);
  while (y.ndim() < nd) y = insert_axis(y, 0);
  Dims shape;
  for (int d = 0; d < nd; ++d) shape.push_back(x.shape()[d] * y.shape()[d]);
  for (int d = nd - 1; d >= 0; --d) {
    x = insert_axis(x, d + 1);
    y = insert_axis(y, d);
  }
  return reshape(multiply(x, y), shape);
}

namespace {
void check_core(const char* op, const Array& a, int core, int operand, const char* signature) {
  BC_CHECK(a.ndim() >= core, Value,
           "{}: Input operand {} does not have enough dimensions (has {}, gufunc core with signature {} requires {})", op, operand,
           a.ndim(), signature, core);
}
void check_sizes(const char* op, int64_t got, int64_t expected, const char* signature) {
  BC_CHECK(got == expected, Value,
           "{}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {} (size {} is different from {})", op,
           signature, got, expected);
}
}  // namespace

Array vecdot(const Array& a_in, const Array& b_in, int64_t axis) {
  check_core("vecdot", a_in, 1, 0, "(n),(n)->()");
  check_core("vecdot", b_in, 1, 1, "(n),(n)->()");
  const Array a = moveaxis(a_in, {axis}, {-1}), b = moveaxis(b_in, {axis}, {-1});
  check_sizes("vecdot", b.shape().back(), a.shape().back(), "(n),(n)->()");
  const DType t = promote(a.dtype(), b.dtype());
  if (is_bool(t)) return reduce(Op::reduce_any, ufunc(Op::logical_and, {a, b}), over({-1}));
  // BLAS multiplies two long vectors faster than a kernel for one row.
  if (a.ndim() == 1 && b.ndim() == 1 && (t == DType::f32 || t == DType::f64) && traits(a.device()).on_host) return dot(a, b);
  ReduceOptions o = over({-1});
  o.dtype = t;
  return sum(multiply(is_complex(a.dtype()) ? ufunc(Op::conj, {a}) : a, b), o);
}

Array matvec(const Array& a, const Array& b) {
  check_core("matvec", a, 2, 0, "(m,n),(n)->(m)");
  check_core("matvec", b, 1, 1, "(m,n),(n)->(m)");
  check_sizes("matvec", b.shape().back(), a.shape().back(), "(m,n),(n)->(m)");
  const Array r = matmul(a, insert_axis(b, b.ndim()));
  return pick(r, r.ndim() - 1, 0);
}

Array vecmat(const Array& a, const Array& b) {
  check_core("vecmat", a, 1, 0, "(n),(n,m)->(m)");
  check_core("vecmat", b, 2, 1, "(n),(n,m)->(m)");
  check_sizes("vecmat", b.shape()[b.ndim() - 2], a.shape().back(), "(n),(n,m)->(m)");
  const Array r = matmul(insert_axis(is_complex(a.dtype()) ? ufunc(Op::conj, {a}) : a, a.ndim() - 1), b);
  return pick(r, r.ndim() - 2, 0);
}

}  // namespace bc
