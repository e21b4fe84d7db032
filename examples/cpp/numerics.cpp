// Heat along a rod, three ways: its steady state by a sparse matrix and conjugate gradients, the same by a dense solver, and how it cools
// by a sine transform. The difference of the first two is printed, so that the program checks itself.
//
//   cmake --install build --component cpp --prefix DIR
//   a CMakeLists.txt with find_package(broadcloth) and target_link_libraries(... broadcloth::broadcloth), CMAKE_PREFIX_PATH=DIR
#include <algorithm>
#include <cstdio>
#include <numbers>
#include <vector>

#include <broadcloth/fft.h>
#include <broadcloth/linalg.h>
#include <broadcloth/sparse.h>
#include <broadcloth/special.h>

namespace bw = broadcloth;

namespace {

/// The matrix of -u[i - 1] + 2 u[i] - u[i + 1] for n points between two cold ends.
bw::sparse::csr_array laplacian(int64_t n) {
  std::vector<double> values;
  std::vector<int64_t> rows, columns;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = std::max<int64_t>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      values.push_back(i == j ? 2.0 : -1.0);
      rows.push_back(i);
      columns.push_back(j);
    }
  return bw::sparse::coo_array(bw::from(values), bw::from(rows), bw::from(columns), {n, n}).tocsr();
}

/// x of a x = b for a positive definite matrix (Hestenes and Stiefel, 1952).
bw::array conjugate_gradients(const bw::sparse::csr_array& a, const bw::array& b, int64_t most_steps) {
  bw::array x = bw::zeros(b.shape()), residual = b, direction = b, size = (b * b).sum();
  for (int64_t k = 0; k < most_steps && size.item<double>() > 1e-24; ++k) {
    const bw::array image = bw::sparse::matmul(a, direction), step = size / (direction * image).sum();
    x = x + step * direction;
    residual = residual - step * image;
    const bw::array next = (residual * residual).sum();
    direction = residual + next / size * direction;
    size = next;
  }
  return x;
}

}  // namespace

int main() {
  constexpr int64_t kPoints = 255;
  const bw::sparse::csr_array a = laplacian(kPoints);
  // Heat comes in as a bell around the middle: the error function's derivative.
  const bw::array place = bw::linspace(-4.0, 4.0, kPoints);
  const bw::array heat = bw::special::erf(place + 0.05) - bw::special::erf(place - 0.05);

  const bw::array by_steps = conjugate_gradients(a, heat, 2 * kPoints), at_once = bw::linalg::solve(a.toarray(), heat);
  const double difference = bw::abs(by_steps - at_once).max().item<double>() / bw::abs(at_once).max().item<double>();

  // The waves of the sine transform of type 1 are the matrix's eigenvectors: each decays by itself.
  const bw::array wave = bw::arange(1, kPoints + 1), eigenvalues = 2.0 - 2.0 * bw::cos(wave * (std::numbers::pi / (kPoints + 1)));
  const bw::array later = bw::fft::idst(bw::fft::dst(at_once, 1) * bw::exp(-1000.0 * eigenvalues), 1);

  std::printf("warmest point %.4f, after a while %.4f; the two solutions differ by %.1e (%s)\n", at_once.max().item<double>(),
              later.max().item<double>(), difference, at_once.device().c_str());
  return difference < 1e-9 ? 0 : 1;
}
