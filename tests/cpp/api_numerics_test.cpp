// The public headers of linear algebra, transforms, special functions and sparse matrices, beside their examples: forms of calls, dtypes
// and errors, on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <tuple>

#include <broadcloth/fft.h>
#include <broadcloth/linalg.h>
#include <broadcloth/sparse.h>
#include <broadcloth/special.h>

namespace bw = broadcloth;

namespace {

using Numbers = std::vector<double>;
using Places = std::vector<int32_t>;

bw::array of(const Numbers& values, bw::shape_t shape) { return bw::from(values, std::move(shape)); }
double largest_of(const bw::array& a) { return bw::abs(a).max().item<double>(); }

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no error";
}

bw::array random_matrix(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937_64 random(seed);
  Numbers values(static_cast<size_t>(rows * columns));
  for (double& v : values) v = std::normal_distribution<>()(random);
  return of(values, {rows, columns});
}

/// A matrix of which about one place in `one_in` has an element.
bw::array scattered(int64_t rows, int64_t columns, int one_in, unsigned seed) {
  std::mt19937_64 random(seed);
  Numbers values(static_cast<size_t>(rows * columns));
  for (double& v : values) v = random() % static_cast<unsigned>(one_in) == 0 ? static_cast<double>(random() % 9) - 4 : 0;
  return of(values, {rows, columns});
}

class NumericsApi : public testing::Test {
 protected:
  void SetUp() override { bw::set_default_device("cpu"); }
};

}  // namespace

TEST_F(NumericsApi, LinalgTakesStacksAndKeepsDtypes) {
  const bw::array a = random_matrix(12, 4, 1).reshape({3, 4, 4}), b = random_matrix(4, 2, 2);
  const bw::array x = bw::linalg::solve(a, b);
  EXPECT_EQ(x.shape(), (bw::shape_t{3, 4, 2}));
  EXPECT_LT(largest_of(bw::matmul(a, x) - b), 1e-10);
  EXPECT_EQ(bw::linalg::det(a).shape(), (bw::shape_t{3}));
  EXPECT_EQ(bw::linalg::solve(a.astype(bw::dtype::float32), b.astype(bw::dtype::float32)).type(), bw::dtype::float32);
  EXPECT_EQ(bw::linalg::inv(bw::arange(1, 5).reshape({2, 2})).type(), bw::dtype::float64);
  EXPECT_EQ(bw::linalg::svdvals(a.astype(bw::dtype::complex64)).type(), bw::dtype::float32);
  const auto [u, s, vh] = bw::linalg::svd(random_matrix(5, 3, 3), false);
  EXPECT_EQ(u.shape(), (bw::shape_t{5, 3}));
  EXPECT_EQ(vh.shape(), (bw::shape_t{3, 3}));
  EXPECT_EQ(bw::linalg::qr(random_matrix(5, 3, 3), true).q.shape(), (bw::shape_t{5, 5}));
}

TEST_F(NumericsApi, LinalgErrorsAreNumPys) {
  const bw::array singular = bw::ones({2, 2}), b = bw::ones({2});
  EXPECT_EQ(error_of([&] { bw::linalg::solve(singular, b); }), "Singular matrix");
  EXPECT_EQ(error_of([&] { bw::linalg::inv(singular); }), "Singular matrix");
  EXPECT_EQ(error_of([&] { bw::linalg::cholesky(-singular); }), "Matrix is not positive definite");
  EXPECT_EQ(error_of([&] { bw::linalg::det(bw::ones({2, 3})); }), "Last 2 dimensions of the array must be square");
  EXPECT_NE(error_of([&] { bw::linalg::svd(bw::ones({2})); }).find("at least two-dimensional"), std::string::npos);
  EXPECT_EQ(error_of([&] { bw::linalg::eig(singular * std::numeric_limits<double>::quiet_NaN()); }), "Array must not contain infs or NaNs");
  EXPECT_NE(error_of([&] { bw::linalg::solve(singular.astype(bw::dtype::float16), b); }).find("float16"), std::string::npos);
  EXPECT_NE(error_of([&] { bw::linalg::lstsq(singular.astype(bw::dtype::float16), b); }).find("float16"), std::string::npos);
  EXPECT_NE(error_of([&] { bw::linalg::lstsq(bw::ones({2, 0}), b); }).find("(2, 0)"), std::string::npos);
  EXPECT_EQ(error_of([&] { bw::linalg::lstsq(singular, bw::ones({3})); }), "Incompatible dimensions");
  EXPECT_NE(error_of([&] { bw::linalg::matrix_norm(singular, 3.0); }), "no error");
}

TEST_F(NumericsApi, LeastSquaresOfEveryShapeAndRank) {
  const bw::array a = random_matrix(6, 3, 4), x = bw::ones({3});
  const bw::linalg::lstsq_result tall = bw::linalg::lstsq(a, bw::matmul(a, x));
  EXPECT_LT(largest_of(tall.x - x), 1e-12);
  EXPECT_EQ(tall.residuals.shape(), (bw::shape_t{1}));
  const bw::linalg::lstsq_result wide = bw::linalg::lstsq(a.transpose(), bw::ones({3, 2}));
  EXPECT_EQ(wide.x.shape(), (bw::shape_t{6, 2}));
  EXPECT_EQ(wide.residuals.size(), 0);
  const bw::linalg::lstsq_result single = bw::linalg::lstsq(bw::ones({4, 2}, bw::dtype::float32), bw::ones({4}, bw::dtype::float32));
  EXPECT_EQ(single.rank, 1);
  EXPECT_EQ(single.x.type(), bw::dtype::float32);
  EXPECT_EQ(single.residuals.size(), 0);
  EXPECT_EQ(bw::linalg::lstsq(of({1, 0, 0, 1e-3}, {2, 2}), bw::ones({2}), 1e-2).rank, 1);
}

TEST_F(NumericsApi, MatrixNormsOfStacks) {
  const bw::array a = random_matrix(6, 5, 5).reshape({2, 3, 5}), s = bw::linalg::svdvals(a);
  EXPECT_LT(largest_of(bw::linalg::matrix_norm(a, 2.0) - s.max(bw::shape_t{-1})), 1e-13);
  EXPECT_LT(largest_of(bw::linalg::matrix_norm(a, -2.0) - s.min(bw::shape_t{-1})), 1e-13);
  EXPECT_EQ(bw::linalg::matrix_norm(a, 2.0, true).shape(), (bw::shape_t{2, 1, 1}));
  EXPECT_LT(largest_of(bw::linalg::matrix_norm(a) - bw::sqrt((a * a).sum(bw::shape_t{-2, -1}))), 1e-13);
  EXPECT_EQ(bw::linalg::matrix_norm(a.astype(bw::dtype::float16), 2.0).type(), bw::dtype::float16);
}

TEST_F(NumericsApi, TransformsCutFillAndChooseAxes) {
  const bw::array a = random_matrix(3, 8, 6);
  EXPECT_EQ(bw::fft::fft(a, 5).shape(), (bw::shape_t{3, 5}));
  EXPECT_EQ(bw::fft::fft(a, 4, 0).shape(), (bw::shape_t{4, 8}));
  EXPECT_EQ(bw::fft::rfftn(a, bw::shape_t{6}).shape(), (bw::shape_t{3, 4}));
  EXPECT_EQ(bw::fft::rfftn(a, bw::shape_t{4, 6}, bw::shape_t{1, 0}).shape(), (bw::shape_t{4, 4}));
  EXPECT_LT(largest_of(bw::fft::irfftn(bw::fft::rfftn(a)) - a), 1e-14);
  EXPECT_LT(largest_of(bw::fft::fft(a, {}, -1, bw::fft::scaling::forward) * 8.0 - bw::fft::fft(a)), 1e-13);
  EXPECT_EQ(bw::fft::fft(a.astype(bw::dtype::float32)).type(), bw::dtype::complex64);
  EXPECT_LT(largest_of(bw::fft::ifftshift(bw::fft::fftshift(a)) - a), 1e-300);
  EXPECT_LT(largest_of(bw::fft::fftshift(a, bw::shape_t{1})({{0, 3}, {4, 8}}) - a({{0, 3}, {0, 4}})), 1e-300);
  const bw::fft::real_options ortho{.norm = bw::fft::scaling::ortho};
  EXPECT_NEAR(bw::linalg::vector_norm(bw::fft::dct(a, 2, ortho)).item<double>(), bw::linalg::vector_norm(a).item<double>(), 1e-13);
}

TEST_F(NumericsApi, TransformErrorsSayWhat) {
  const bw::array a = bw::ones({4});
  EXPECT_NE(error_of([&] { bw::fft::fft(a, 0); }).find("0"), std::string::npos);
  EXPECT_NE(error_of([&] { bw::fft::fft(a, {}, 1); }).find("axis 1"), std::string::npos);
  EXPECT_NE(error_of([&] { bw::fft::rfft(a.astype(bw::dtype::complex128)); }).find("complex128"), std::string::npos);
  EXPECT_EQ(error_of([&] { bw::fft::fftn(a, bw::shape_t{2, 2}, bw::shape_t{0}); }), "Shape and axes have different lengths.");
  EXPECT_EQ(error_of([&] { bw::fft::dct(a, 5); }), "expected a type from 1 to 4, got 5");
  EXPECT_NE(error_of([&] { bw::fft::fftshift(a, bw::shape_t{3}); }).find("axis 3"), std::string::npos);
  EXPECT_NE(error_of([&] { bw::fft::fftfreq(0); }), "no error");
}

TEST_F(NumericsApi, SpecialFunctionsBroadcastAndRefuseComplexNumbers) {
  const bw::array a = of({0.5, 1, 2}, {3, 1}), x = of({0.25, 4}, {2});
  const bw::array p = bw::special::gammainc(a, x) + bw::special::gammaincc(a, x);
  EXPECT_EQ(p.shape(), (bw::shape_t{3, 2}));
  EXPECT_LT(largest_of(p - 1.0), 1e-14);
  EXPECT_EQ(bw::special::erf(a.astype(bw::dtype::float32)).type(), bw::dtype::float32);
  EXPECT_EQ(bw::special::gamma(bw::arange(1, 4)).type(), bw::dtype::float64);
  EXPECT_TRUE(std::isnan(bw::special::loggamma(-0.5).item<double>()));
  EXPECT_NE(error_of([&] { bw::special::j0(a.astype(bw::dtype::complex128)); }), "no error");
}

TEST_F(NumericsApi, SparseMatricesAreTheDenseOnes) {
  for (const auto& [rows, columns, one_in] : {std::tuple(40, 30, 3), std::tuple(70, 90, 20), std::tuple(1, 50, 2), std::tuple(5, 1, 1)}) {
    const bw::array dense = scattered(rows, columns, one_in, 7), other = scattered(rows, columns, one_in, 8);
    const bw::array right = scattered(columns, 33, one_in, 9);
    const bw::sparse::csr_array a(dense), b(other);
    const bw::sparse::csc_array c(dense);
    EXPECT_LT(largest_of(a.toarray() - dense) + largest_of(c.toarray() - dense), 1e-300);
    EXPECT_LT(largest_of(a.tocsc().toarray() - dense) + largest_of(c.tocsr().toarray() - dense), 1e-300);
    EXPECT_LT(largest_of(a.tocoo().toarray() - dense) + largest_of(c.tocoo().tocsc().toarray() - dense), 1e-300);
    for (int64_t width : {1, 3, 8, 33}) {
      const bw::array x = right({{0, columns}, {0, width}}).copy();
      const bw::array expected = bw::matmul(dense, x);
      EXPECT_LT(largest_of(bw::sparse::matmul(a, x) - expected) + largest_of(bw::sparse::matmul(c, x) - expected), 1e-12);
    }
    const bw::array x = right({{0, columns}, {0, 1}}).reshape({columns});
    EXPECT_LT(largest_of(bw::sparse::matmul(a, x) - bw::matmul(dense, x)), 1e-12);
    EXPECT_LT(largest_of(bw::sparse::matmul(a, bw::sparse::csr_array(right)).toarray() - bw::matmul(dense, right)), 1e-12);
    EXPECT_LT(largest_of(bw::sparse::matmul(c, bw::sparse::csc_array(right)).toarray() - bw::matmul(dense, right)), 1e-12);
    EXPECT_LT(largest_of((a + b).toarray() - (dense + other)) + largest_of((a - b).toarray() - (dense - other)), 1e-300);
    EXPECT_EQ((a + b).nnz(), (dense + other != 0.0).reduce("count_nonzero").item<int64_t>());
    EXPECT_LT(largest_of((c + bw::sparse::csc_array(other)).toarray() - (dense + other)), 1e-300);
  }
}

TEST_F(NumericsApi, SparseElementsOfOnePlaceCountTogether) {
  const bw::sparse::csr_array a(of({1, 2, 4, 8}, {4}), bw::from(Places{1, 0, 1, 0}), bw::from(Places{0, 3, 4}), {2, 2});
  EXPECT_EQ(a.toarray().to_vector<double>(), (Numbers{2, 5, 8, 0}));
  EXPECT_EQ((a + a).toarray().to_vector<double>(), (Numbers{4, 10, 16, 0}));
  EXPECT_EQ(a.tocsc().toarray().to_vector<double>(), (Numbers{2, 5, 8, 0}));
  EXPECT_EQ(bw::sparse::matmul(a, bw::ones({2})).to_vector<double>(), (Numbers{7, 8}));
}

TEST_F(NumericsApi, SparseDtypesPromoteAndWrap) {
  const bw::sparse::csr_array bytes(bw::full({2, 2}, 100, bw::dtype::int8)), more(bw::full({2, 2}, 100, bw::dtype::int8));
  EXPECT_EQ((bytes + more).type(), bw::dtype::int8);
  EXPECT_EQ((bytes + more).toarray().to_vector<int8_t>(), (std::vector<int8_t>{-56, -56, -56, -56}));
  const bw::sparse::csr_array truth(bw::ones({2, 2}, bw::dtype::boolean)), numbers(bw::ones({2, 2}, bw::dtype::float32));
  EXPECT_EQ((truth + truth).type(), bw::dtype::boolean);
  EXPECT_EQ((truth + numbers).type(), bw::dtype::float32);
  EXPECT_NE(error_of([&] { truth - truth; }), "no error");
  const bw::sparse::csr_array complex(bw::ones({2, 2}, bw::dtype::complex64));
  EXPECT_EQ(bw::sparse::matmul(complex, numbers).type(), bw::dtype::complex64);
  EXPECT_EQ((complex - numbers).nnz(), 0);
}

TEST_F(NumericsApi, SparseMatricesWithoutElements) {
  const bw::sparse::csr_array none(bw::zeros({3, 4})), some(bw::ones({3, 4}));
  EXPECT_EQ(none.nnz(), 0);
  EXPECT_EQ(none.tocsc().toarray().shape(), (bw::shape_t{3, 4}));
  EXPECT_EQ(bw::sparse::matmul(none, bw::ones({4})).to_vector<double>(), Numbers(3, 0.0));
  EXPECT_EQ(bw::sparse::matmul(none, bw::sparse::csr_array(bw::ones({4, 2}))).nnz(), 0);
  EXPECT_EQ((none + some).nnz(), 12);
  EXPECT_EQ((none + none).nnz(), 0);
  const bw::sparse::csr_array no_rows(bw::zeros({0, 4}));
  EXPECT_EQ((no_rows + no_rows).shape(), (bw::shape_t{0, 4}));
  EXPECT_EQ(bw::sparse::matmul(no_rows, bw::ones({4})).shape(), (bw::shape_t{0}));
}

TEST_F(NumericsApi, SparseConstructorsCheckWhatTheyAreGiven) {
  const bw::array data = bw::ones({2});
  const auto make = [&](const Places& indices, const Places& indptr, const bw::shape_t& shape) {
    return error_of([&] { bw::sparse::csr_array(data, bw::from(indices), bw::from(indptr), shape); });
  };
  EXPECT_EQ(make({0, 1}, {0, 1, 2}, {2, 2}), "no error");
  EXPECT_EQ(make({0, 2}, {0, 1, 2}, {2, 2}), "indices must be >= 0 and < 2");
  EXPECT_EQ(make({0, -1}, {0, 1, 2}, {2, 2}), "indices must be >= 0 and < 2");
  EXPECT_EQ(make({0, 1}, {1, 1, 2}, {2, 2}), "index pointer should start with 0");
  EXPECT_EQ(make({0, 1}, {0, 3, 2}, {2, 2}), "indptr values must form a non-decreasing sequence");
  EXPECT_EQ(make({0, 1}, {0, 2}, {2, 2}), "index pointer size 2 should be 3");
  EXPECT_NE(make({0, 1}, {0, 1, 1}, {2, 2}), "no error");
  EXPECT_EQ(make({0}, {0, 1, 2}, {2, 2}), "indices and data should have the same size");
  EXPECT_NE(error_of([&] { bw::sparse::coo_array(data, bw::arange(0, 2), bw::arange(0, 2), {1, 2}); }), "no error");
  EXPECT_NE(error_of([&] { bw::sparse::csr_array(bw::ones({2, 2, 2})); }), "no error");
  EXPECT_NE(error_of([&] { bw::sparse::csc_array(bw::ones({2})); }), "no error");
  EXPECT_EQ(error_of([&] { bw::sparse::csr_array(bw::ones({2, 2})) + bw::sparse::csr_array(bw::ones({2, 3})); }), "inconsistent shapes");
  EXPECT_NE(error_of([&] { bw::sparse::matmul(bw::sparse::csr_array(bw::ones({2, 2})), bw::ones({3})); }).find("dimension mismatch"),
            std::string::npos);
}
