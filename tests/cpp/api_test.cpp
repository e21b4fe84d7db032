// The public header: what C++ programs see, on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <broadcloth/broadcloth.h>

namespace bw = broadcloth;

class Api : public testing::Test {
 protected:
  void SetUp() override { bw::set_default_device("cpu"); }
};

TEST_F(Api, ExpressionsPromoteAndBroadcastAsNumPys) {
  const bw::array a = bw::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}), row = bw::from(std::vector<int32_t>{10, 20, 30});
  const bw::array b = a * 2.0 + 1.0;
  EXPECT_EQ(b.type(), bw::dtype::float32);
  EXPECT_EQ((b + row).type(), bw::dtype::float64);
  EXPECT_EQ((b + row).to_vector<double>(), (std::vector<double>{13, 25, 37, 19, 31, 43}));
  EXPECT_EQ((1.0 / bw::from(std::vector<double>{2, 4})).to_vector<double>(), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ((a > 3.5).reduce("count_nonzero").item<int64_t>(), 3);
  EXPECT_EQ(bw::where(a > 3.5, a, -a).to_vector<float>(), (std::vector<float>{-1, -2, -3, 4, 5, 6}));
}

TEST_F(Api, ViewsSeeOneMemory) {
  const bw::array a = bw::arange(0, 12).reshape({3, 4});
  a({{0, bw::npos, 2}, {1, 3}}).assign(-1.0);
  EXPECT_EQ(a.to_vector<int64_t>(), (std::vector<int64_t>{0, -1, -1, 3, 4, 5, 6, 7, 8, -1, -1, 11}));
  EXPECT_EQ(a[-1].to_vector<int64_t>(), (std::vector<int64_t>{8, -1, -1, 11}));
  EXPECT_EQ(a.transpose().shape(), (bw::shape_t{4, 3}));
  EXPECT_EQ(a({{bw::npos, bw::npos, -1}})[0].to_vector<int64_t>(), a[2].to_vector<int64_t>());
}

TEST_F(Api, ReductionsAndProducts) {
  const bw::array x = bw::linspace(0.0, 1.0, 100'001);
  EXPECT_NEAR((bw::sin(x) * bw::exp(-x)).mean().item<double>(), (1 - std::exp(-1.0) * (std::sin(1.0) + std::cos(1.0))) / 2, 1e-5);
  const bw::array m = bw::arange(0, 6).reshape({2, 3}).astype(bw::dtype::float64);
  EXPECT_EQ(m.sum(bw::shape_t{0}).to_vector<double>(), (std::vector<double>{3, 5, 7}));
  EXPECT_EQ(m.max(bw::shape_t{-1}, true).shape(), (bw::shape_t{2, 1}));
  EXPECT_EQ(bw::matmul(m, m.transpose()).to_vector<double>(), (std::vector<double>{5, 14, 14, 50}));
}

TEST_F(Api, ErrorsAreStandardExceptionsThatSayWhat) {
  const bw::array a = bw::ones({2, 3}), b = bw::ones({4});
  try {
    a + b;
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("(2, 3)"), std::string::npos) << e.what();
  }
  EXPECT_THROW(bw::apply("no_such_function", {a}), std::runtime_error);
  EXPECT_THROW(a.reduce("no_such_reduction"), std::runtime_error);
  EXPECT_THROW(a.item<double>(), std::runtime_error);
  EXPECT_THROW(bw::set_default_device("toaster"), std::runtime_error);
  EXPECT_THROW(bw::set_default_device("cuda:x"), std::runtime_error);
}
