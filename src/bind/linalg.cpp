// Decompositions by LAPACK on the host, in double precision. Matrices of a GPU are copied to it; a body for CUDA belongs in their place.
#include "bind/linalg.h"

#include "bind/args.h"
#include "kernels/host_runtime.h"

namespace bc::bind {
namespace {

// What host::lapack computes (host_lapack.cpp).
constexpr int32_t kSvd = 1, kEigenvalues = 4;

/// The elements of a matrix in double precision, column by column.
std::vector<double> columns_of(const char* op, const Array& a) {
  BC_CHECK(a.ndim() == 2, Value, "{}: expected a matrix, got shape {}", op, a.shape());
  BC_CHECK(a.dtype() == DType::f64 || a.dtype() == DType::c128, Type, "{}: expected float64 or complex128, got {}", op,
           info(a.dtype()).name);
  std::vector<double> elements(static_cast<size_t>(a.size()) * (is_complex(a.dtype()) ? 2 : 1) + 1);
  to_host(transpose(a), elements.data());
  return elements;
}

/// An array of a matrix that lies column by column.
Array from_columns(const std::vector<double>& elements, int64_t rows, int64_t columns, DType t, Device device) {
  Layout l;
  l.shape = {rows, columns};
  l.strides = {1, rows};
  return from_host(elements.data(), t, l, device);
}

/// U, the singular values and V^H; nothing where the algorithm did not converge.
std::vector<Array> singular_values(const Array& a) {
  std::vector<double> elements = columns_of("svd", a);
  const int64_t m = a.shape()[0], n = a.shape()[1], least = std::min(m, n);
  const bool wide = is_complex(a.dtype());
  const size_t parts = wide ? 2 : 1;
  std::vector<double> u(static_cast<size_t>(m * least) * parts + 1), v(static_cast<size_t>(least * n) * parts + 1),
      s(static_cast<size_t>(least) + 1);
  const int64_t failed = least > 0 ? host::lapack(kSvd, wide, m, n, elements.data(), s.data(), u.data(), v.data()) : 0;
  BC_CHECK(failed >= 0, Runtime, "svd: LAPACK is not there");
  if (failed != 0) return {};
  return {from_columns(u, m, least, a.dtype(), a.device()), from_host(s.data(), DType::f64, contiguous_layout(Dims{least}), a.device()),
          from_columns(v, least, n, a.dtype(), a.device())};
}

/// The eigenvalues as complex numbers; nothing where the algorithm did not converge.
std::vector<Array> eigenvalues(const Array& a) {
  std::vector<double> elements = columns_of("eigvals", a);
  const int64_t n = a.shape()[0];
  BC_CHECK(n == a.shape()[1], Value, "eigvals: expected a square matrix, got shape {}", a.shape());
  const bool wide = is_complex(a.dtype());
  const auto count = static_cast<size_t>(n);
  std::vector<double> found(2 * count + 1), numbers(2 * count + 1);
  const int64_t failed = n > 0 ? host::lapack(kEigenvalues, wide, 0, n, elements.data(), found.data(), nullptr, nullptr) : 0;
  BC_CHECK(failed >= 0, Runtime, "eigvals: LAPACK is not there");
  if (failed != 0) return {};
  // Of a real matrix all real parts come before the imaginary ones.
  for (size_t i = 0; i < count; ++i) {
    numbers[2 * i] = wide ? found[2 * i] : found[i];
    numbers[2 * i + 1] = wide ? found[2 * i + 1] : found[count + i];
  }
  return {from_host(numbers.data(), DType::c128, contiguous_layout(Dims{n}), a.device())};
}

}  // namespace

std::vector<PyMethodDef> linalg_functions() {
  return {
      BC_LOOKING("lapack_svd(a) U, the singular values and V^H of a matrix of doubles; nothing where they do not converge.",
                 [](const Array& a) { return singular_values(a); }),
      BC_LOOKING("lapack_eigvals(a) The complex eigenvalues of a matrix of doubles; nothing where they do not converge.",
                 [](const Array& a) { return eigenvalues(a); }),
  };
}

}  // namespace bc::bind
