// Every row's derivative against central differences, in float64 and complex128.
#include "autograd/derivatives.h"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "array_help.h"

namespace bc {
namespace {

using test::device;
using Complex = std::complex<double>;
using Values = std::vector<Complex>;

constexpr int kPoints = 48;

Array make(const Values& v, DType t, const Dims& shape) {
  return astype(from_host(v.data(), DType::c128, contiguous_layout(shape), device()), t, false);
}
Values values(const Array& a) {
  Values v(static_cast<size_t>(a.size()));
  to_host(astype(a, DType::c128, false), v.data());
  return v;
}

struct Random {
  std::mt19937_64 bits{11};
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(bits); }
  double signed_in(double low, double high) { return (bits() & 1 ? 1 : -1) * in(low, high); }
};

/// One point: the operands of a row.
using Point = std::array<double, 3>;

/// Tells whether x keeps away from whole and half numbers, where rounding jumps.
bool between(double x) { return std::abs(2 * x - std::rint(2 * x)) > 0.05; }

/// Tells whether a row is one of SciPy's special functions.
bool is_special(const OpInfo& spec) { return spec.text && std::string_view(spec.text).starts_with("special_rows::"); }

/// A point of a special function: positive numbers, and what is a probability, a distribution's argument or an elliptic parameter in (0,
/// 1).
Point draw_special(const OpInfo& spec, Random& r) {
  static const std::map<std::string_view, std::pair<double, double>> last = {
      {"erfinv", {-0.9, 0.9}},   {"erfcinv", {0.1, 1.9}},     {"ndtri", {0.1, 0.9}},        {"logit", {0.1, 0.9}},
      {"ellipk", {-0.9, 0.9}},   {"ellipkm1", {0.1, 1.9}},    {"ellipe", {-0.9, 0.9}},      {"ellipkinc", {0.1, 0.9}},
      {"ellipeinc", {0.1, 0.9}}, {"ellipj_ph", {0.1, 0.9}},   {"ellipj_sn", {0.1, 0.9}},    {"ellipj_cn", {0.1, 0.9}},
      {"ellipj_dn", {0.1, 0.9}}, {"gammaincinv", {0.1, 0.9}}, {"gammainccinv", {0.1, 0.9}}, {"pdtri", {0.1, 0.9}},
      {"chdtri", {0.1, 0.9}},    {"fdtr", {0.3, 2.5}},        {"fdtrc", {0.3, 2.5}},        {"gdtr", {0.3, 2.5}},
      {"gdtrc", {0.3, 2.5}},     {"radian", {0.3, 2.5}},      {"ndtri_exp", {-2.5, -0.3}},  {"stdtrit", {0.1, 0.9}},
  };
  const auto range = last.find(spec.name);
  const auto [low, high] = range != last.end() ? range->second : spec.nin == 3 ? std::pair(0.1, 0.9) : std::pair(0.3, 2.5);
  const std::string_view name = spec.name;
  for (;;) {
    Point p{r.in(0.3, 2.5), r.in(0.3, 2.5), r.in(0.3, 2.5)};
    p[static_cast<size_t>(spec.nin - 1)] = r.in(low, high);
    if (name.starts_with("bdtr")) p[1] += 4;
    if (name.starts_with("nbdtr")) p[1] += 1;
    if (name == "poch" || name == "binom") p[0] += 2;
    if (name == "zeta" || name == "expn") p[0] += 1;
    if (name == "lpmv") p[0] = 1;
    if (name.starts_with("eval_")) {
      p[0] = 4;
      p[static_cast<size_t>(spec.nin - 1)] = r.in(0.1, 0.9);
    }
    // Whole numbers are cut off; at 1 and 2 some functions have zeros, where their logarithms are not smooth.
    if ((name == "lpmv" || name.starts_with("eval_") || between(p[0])) && between(p[1]) && std::abs(p[0] - p[1]) > 0.05) return p;
  }
}

/// Where a row is defined and, near the point, smooth. Rows that are not named take anything away from 0.
Point draw(const std::string& row, Random& r) {
  static const std::map<std::string, std::pair<double, double>> ranges = {
      {"log", {0.1, 3}},       {"log2", {0.1, 3}},      {"log10", {0.1, 3}},   {"log1p", {-0.8, 3}},     {"sqrt", {0.1, 3}},
      {"arcsin", {-0.9, 0.9}}, {"arccos", {-0.9, 0.9}}, {"arccosh", {1.1, 3}}, {"arctanh", {-0.9, 0.9}}, {"tan", {-1.2, 1.2}},
  };
  for (;;) {
    Point p;
    const auto range = ranges.find(row);
    for (double& x : p) x = range == ranges.end() ? r.signed_in(0.1, 2.5) : r.in(range->second.first, range->second.second);
    if (row == "power" || row == "float_power") p[0] = std::abs(p[0]);
    if ((row == "remainder" || row == "fmod" || row == "floor_divide") && !between(p[0] / p[1])) continue;
    if ((row == "rint" || row == "floor" || row == "ceil" || row == "trunc" || row.starts_with("modf")) && !between(p[0])) continue;
    if ((row.starts_with("frexp") || row == "spacing" || row == "nextafter") && !between(std::log2(std::abs(p[0])))) continue;
    if (std::abs(p[0] - p[1]) < 0.01 || std::abs(p[0] - p[2]) < 0.01 || std::abs(p[1] - p[2]) < 0.01)
      continue;  // maximum, clip, comparisons
    return p;
  }
}

/// A complex point off both axes, so that no branch cut is near.
Complex draw_complex(Random& r) { return {r.signed_in(0.2, 1.4), r.signed_in(0.2, 1.4)}; }

/// dL/dx of L = Re(conj(g) y(x)) by central differences along the real axis and, for complex inputs, the imaginary one.
Values differences(const std::function<Array(const Values&)>& y, const Values& x, const Values& g, bool complex) {
  auto along = [&](Complex direction) {
    // Powers of two near 6e-6: the points are then told apart without an error of rounding of their own.
    const double h = std::ldexp(1.0, -17);
    Values up = x, down = x;
    for (size_t i = 0; i < x.size(); ++i) {
      up[i] += h * direction;
      down[i] -= h * direction;
    }
    const Values high = values(y(up)), low = values(y(down));
    std::vector<double> d;
    for (size_t i = 0; i < x.size(); ++i) d.push_back((std::conj(g[i]) * (high[i] - low[i])).real() / (2 * h));
    return d;
  };
  const std::vector<double> re = along(1), im = complex ? along(Complex(0, 1)) : std::vector<double>(x.size());
  Values d;
  for (size_t i = 0; i < x.size(); ++i) d.emplace_back(re[i], im[i]);
  return d;
}

void expect_near(const Values& got, const Values& want, const std::string& what, double tolerance = 2e-7) {
  ASSERT_EQ(got.size(), want.size()) << what;
  int wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool near = std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i]) * 10);
    if (!near && ++wrong <= 3) ADD_FAILURE() << what << " at point " << i << ": derivative " << got[i] << ", differences say " << want[i];
  }
}

/// What a row's operands of another type than its loop's are: `where`'s condition, `ldexp`'s exponent.
DType fixed_type(Op op, int k) { return op == Op::where && k == 0 ? DType::b1 : op == Op::ldexp && k == 1 ? DType::i32 : DType::f64; }

/// Checks all operands of a row at random points; `claims` gets those without a gradient, `unknown` those whose gradient is NaN.
void check_row(Op op, DType t, std::set<std::string>* claims, std::set<std::string>* unknown) {
  const OpInfo& spec = info(op);
  Random r;
  std::vector<Values> x(spec.nin);
  for (int i = 0; i < kPoints; ++i) {
    const Point p = is_special(spec) ? draw_special(spec, r) : draw(spec.name, r);
    for (int k = 0; k < spec.nin; ++k) {
      const DType fixed = fixed_type(op, k);
      x[static_cast<size_t>(k)].push_back(fixed == DType::b1    ? Complex(p[0] > 0)
                                          : fixed == DType::i32 ? Complex(std::rint(p[static_cast<size_t>(k)]))
                                          : is_complex(t)       ? draw_complex(r)
                                                                : Complex(p[static_cast<size_t>(k)]));
    }
  }
  const Dims shape{kPoints};
  auto inputs = [&](int changed, const Values& with) {
    std::vector<Array> all;
    for (int k = 0; k < spec.nin; ++k) {
      const DType fixed = fixed_type(op, k);
      all.push_back(make(k == changed ? with : x[static_cast<size_t>(k)], fixed == DType::f64 ? t : fixed, shape));
    }
    return all;
  };
  auto result = [&](const std::vector<Array>& all) { return ufunc(op, std::vector<Arg>(all.begin(), all.end())); };
  const std::vector<Array> at = inputs(-1, {});
  const Array y = result(at);
  Values g;
  for (int i = 0; i < kPoints; ++i) g.push_back(is_complex(y.dtype()) ? draw_complex(r) : Complex(r.signed_in(0.2, 1.5)));
  const std::vector<Array> gradients =
      derivative(op, at, y, is_inexact(y.dtype()) ? make(g, y.dtype(), shape) : make(g, DType::f64, shape));
  ASSERT_EQ(gradients.size(), spec.nin);
  for (int k = 0; k < spec.nin; ++k) {
    const std::string what = std::string(spec.name) + " of " + info(t).name + ", operand " + std::to_string(k);
    if (fixed_type(op, k) != DType::f64) {
      EXPECT_FALSE(gradients[static_cast<size_t>(k)]) << what;
      continue;
    }
    if ((op == Op::lpmv || op == Op::eval_hermite || op == Op::eval_hermitenorm) && k == 0) {
      // Orders and degrees between whole numbers have no value.
      EXPECT_FALSE(gradients[static_cast<size_t>(k)]) << what;
      continue;
    }
    const Values want = differences([&](const Values& v) { return result(inputs(k, v)); }, x[static_cast<size_t>(k)], g, is_complex(t));
    const Array& got = gradients[static_cast<size_t>(k)];
    if (!got) {
      claims->insert(spec.name + std::string(".") + std::to_string(k));
      // Says that it is constant wherever it is smooth.
      expect_near(Values(want.size()), want, what + ", which claims no gradient");
      continue;
    }
    EXPECT_EQ(got.dtype(), t) << what;
    EXPECT_EQ(got.shape(), shape) << what;
    const Values of = values(got);
    if (std::all_of(of.begin(), of.end(), [](Complex d) { return std::isnan(d.real()); })) {
      unknown->insert(spec.name + std::string(".") + std::to_string(k));
      continue;
    }
    expect_near(values(got), want, what);
  }
}

TEST(Derivatives, OfEveryElementwiseRowAgreeWithDifferences) {
  std::set<std::string> real_claims, complex_claims, unchecked, unknown;
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& spec = info(op);
    if (spec.kind != OpKind::elementwise) continue;
    if (spec.signature == Signature::random || !(spec.set & (dtype_bit(DType::f64) | dtype_bit(DType::c128)))) {
      unchecked.insert(spec.name);  // operands are integers
      continue;
    }
    if (spec.set & dtype_bit(DType::f64)) check_row(op, DType::f64, &real_claims, &unknown);
    if (spec.set & dtype_bit(DType::c128)) check_row(op, DType::c128, &complex_claims, &unknown);
  }
  // Bits, divisors of integers and random streams are not functions of real numbers.
  EXPECT_EQ(unchecked,
            (std::set<std::string>{"gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
                                   "bit_count", "random_bits", "random_uniform", "random_normal", "random_below"}));
  // Derivatives by parameters for which there is no closed form.
  EXPECT_EQ(unknown, (std::set<std::string>{"zeta.0",
                                            "riemann_zeta.0",
                                            "zetac.0",
                                            "ellipj_ph.1",
                                            "ellipj_sn.1",
                                            "ellipj_cn.1",
                                            "ellipj_dn.1",
                                            "gammainc.0",
                                            "gammaincc.0",
                                            "gammaincinv.0",
                                            "gammainccinv.0",
                                            "betainc.0",
                                            "betainc.1",
                                            "betaincc.0",
                                            "betaincc.1",
                                            "betaincinv.0",
                                            "betaincinv.1",
                                            "betainccinv.0",
                                            "betainccinv.1",
                                            "btdtr.0",
                                            "btdtr.1",
                                            "btdtri.0",
                                            "btdtri.1",
                                            "chdtr.0",
                                            "chdtrc.0",
                                            "chdtri.0",
                                            "fdtr.0",
                                            "fdtr.1",
                                            "fdtrc.0",
                                            "fdtrc.1",
                                            "fdtri.0",
                                            "fdtri.1",
                                            "stdtr.0",
                                            "stdtrit.0",
                                            "gdtr.1",
                                            "gdtrc.1",
                                            "trigamma.0",
                                            "lpmv.1",
                                            "wright_bessel.0",
                                            "wright_bessel.1",
                                            "jv.0",
                                            "yv.0",
                                            "iv.0",
                                            "ive.0",
                                            "kv.0",
                                            "kve.0",
                                            "eval_chebyt.0",
                                            "eval_chebyu.0",
                                            "eval_chebyc.0",
                                            "eval_chebys.0",
                                            "eval_sh_chebyt.0",
                                            "eval_sh_chebyu.0",
                                            "eval_legendre.0",
                                            "eval_sh_legendre.0",
                                            "eval_gegenbauer.0",
                                            "eval_gegenbauer.1",
                                            "eval_genlaguerre.0",
                                            "eval_genlaguerre.1",
                                            "eval_laguerre.0"}));
  EXPECT_TRUE(real_claims.contains("floor.0") && real_claims.contains("heaviside.0") && real_claims.contains("less.1"));
  EXPECT_FALSE(complex_claims.contains("sign.0"));
}

TEST(Derivatives, OfIntegersAreNone) {
  const Array i = test::ints({1, 2, 3}), f = test::doubles({1, 2, 3});
  const Array y = ufunc(Op::multiply, {i, f});
  const std::vector<Array> d = derivative(Op::multiply, std::vector{i, f}, y, f);
  EXPECT_FALSE(d[0]);
  test::expect<double>(d[1], {3}, {1, 4, 9});
  const Array whole = ufunc(Op::add, {i, i});
  EXPECT_FALSE(derivative(Op::add, std::vector{i, i}, whole, f)[0]);
}

TEST(Derivatives, HaveTheirInputsShapeAndDtype) {
  const Array a = make(Values(12, 2.0), DType::f32, {3, 4}), b = make(Values(3, 3.0), DType::f64, {3, 1}), c = make({5.0}, DType::f64, {});
  const Array y = ufunc(Op::multiply, {a, b}), g = make(Values(12, 1.0), DType::f64, {3, 4});
  const std::vector<Array> d = derivative(Op::multiply, std::vector{a, b}, y, g);
  EXPECT_EQ(d[0].dtype(), DType::f32);
  EXPECT_EQ(d[0].shape(), (Dims{3, 4}));
  EXPECT_EQ(d[1].dtype(), DType::f64);
  EXPECT_EQ(d[1].shape(), (Dims{3, 1}));
  EXPECT_EQ(values(d[0]), Values(12, 3.0));
  EXPECT_EQ(values(d[1]), Values(3, 8.0));  // four elements of 2 each
  const std::vector<Array> e = derivative(Op::add, std::vector{y, c}, ufunc(Op::add, {y, c}), g);
  EXPECT_EQ(e[1].shape(), Dims());
  EXPECT_EQ(values(e[1]), Values{12.0});
  const Array z = make(Values(4, Complex(1, 2)), DType::c128, {4}), x = make(Values(4, 3.0), DType::f64, {1, 4});
  const std::vector<Array> m =
      derivative(Op::multiply, std::vector{x, z}, ufunc(Op::multiply, {x, z}), make(Values(4, Complex(0, 1)), DType::c128, {1, 4}));
  EXPECT_EQ(m[0].dtype(), DType::f64);
  EXPECT_EQ(m[0].shape(), (Dims{1, 4}));
  EXPECT_EQ(values(m[0]), Values(4, 2.0));  // Re(i * conj(1 + 2i))
  EXPECT_EQ(m[1].shape(), Dims{4});
}

TEST(Derivatives, AtTheEdges) {
  const Array zero = test::doubles({0, 0}), one = test::doubles({1, 1}), two = test::doubles({2, 3});
  auto of = [&](Op op, const std::vector<Array>& in) { return derivative(op, in, ufunc(op, std::vector<Arg>(in.begin(), in.end())), one); };
  EXPECT_EQ(values(of(Op::maximum, {two, two})[0]), Values(2, 0.5));  // a tie is shared
  EXPECT_EQ(values(of(Op::minimum, {two, two})[1]), Values(2, 0.5));
  EXPECT_EQ(values(of(Op::power, {zero, zero})[0]), Values(2, 0.0));  // x ** 0 is constant
  EXPECT_EQ(values(of(Op::power, {zero, two})[1]), Values(2, 0.0));
  EXPECT_EQ(values(of(Op::power, {zero, one})[0]), Values(2, 1.0));
  EXPECT_EQ(values(of(Op::sinc, {zero})[0]), Values(2, 0.0));
  EXPECT_EQ(values(of(Op::bessel_i1, {zero})[0]), Values(2, 0.5));
  EXPECT_EQ(values(of(Op::abs, {zero})[0]), Values(2, 0.0));
  EXPECT_EQ(values(of(Op::sign, {zero})[0]), Values(2, 0.0));
  EXPECT_EQ(values(of(Op::heaviside, {zero, two})[1]), Values(2, 1.0));
  EXPECT_EQ(values(of(Op::clip, {two, test::doubles({0, 5}), test::doubles({1, 6})})[0]), Values(2, 0.0));
  EXPECT_EQ(values(of(Op::clip, {two, test::doubles({0, 5}), test::doubles({1, 6})})[1]), (Values{0.0, 1.0}));
  EXPECT_EQ(values(of(Op::clip, {two, test::doubles({0, 5}), test::doubles({1, 6})})[2]), (Values{1.0, 0.0}));
}

TEST(Derivatives, RefuseWhatDoesNotFit) {
  const Array a = test::doubles({1, 2}), b = test::doubles({1, 2, 3});
  test::expect_error(ErrorKind::Value, "add: expected a gradient of shape (2,), got (3,)",
                     [&] { derivative(Op::add, std::vector{a, a}, a, b); });
  test::expect_error(ErrorKind::Type, "has 2 operands, got 1", [&] { derivative(Op::add, std::vector{a}, a, a); });
  test::expect_error(ErrorKind::Type, "expected an elementwise op", [&] { derivative(Op::reduce_sum, std::vector{a}, a, a); });
  test::expect_error(ErrorKind::Type, "expected a reduction", [&] { reduce_derivative(Op::add, a, {}, a, a); });
}

// ---- Reductions ---------------------------------------------------------------------------------------------------------------------

const Dims kShape{3, 4, 5};
constexpr int kElements = 60;

/// Differences for all elements at once: each row of a (60, 3, 4, 5) array moves one element.
Values reduce_differences(Op op, const Values& x, DType t, ReduceOptions options, const Values& g) {
  for (int64_t& axis : *options.axes) axis = axis < 0 ? axis : axis + 1;
  auto along = [&](Complex direction) {
    const double h = std::ldexp(1.0, -17);
    auto moved = [&](double by) {
      Values all;
      for (size_t i = 0; i < x.size(); ++i) {
        all.insert(all.end(), x.begin(), x.end());
        all[i * x.size() + i] += by * direction;
      }
      return values(reduce(op, make(all, t, {kElements, kShape[0], kShape[1], kShape[2]}), options));
    };
    const Values up = moved(h), down = moved(-h);
    std::vector<double> d(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t k = 0; k < g.size(); ++k) d[i] += (std::conj(g[k]) * (up[i * g.size() + k] - down[i * g.size() + k])).real() / (2 * h);
    return d;
  };
  const std::vector<double> re = along(1), im = is_complex(t) ? along(Complex(0, 1)) : std::vector<double>(x.size());
  Values d;
  for (size_t i = 0; i < x.size(); ++i) d.emplace_back(re[i], im[i]);
  return d;
}

TEST(Derivatives, OfEveryReductionAgreeWithDifferences) {
  const std::vector<std::vector<int64_t>> axes = {{0, 1, 2}, {1}, {-1}, {0, 2}, {0}};
  int checked = 0;
  std::set<std::string> claims;
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (info(op).kind != OpKind::reduce) continue;
    for (DType t : {DType::f64, DType::c128}) {
      if (!(info(op).set & dtype_bit(t))) continue;
      for (size_t k = 0; k < axes.size(); ++k) {
        Random r;
        Values x, g;
        for (int e = 0; e < kElements; ++e) x.push_back(is_complex(t) ? draw_complex(r) : Complex(r.signed_in(0.3, 1.6)));
        const Array a = make(x, t, kShape);
        ReduceOptions options;
        options.axes = axes[k];
        options.keepdims = k % 2;
        if (op == Op::reduce_var || op == Op::reduce_std) options.ddof = static_cast<double>(k % 2);
        const Array y = reduce(op, a, options);
        const std::string what = fmt::format("reduce {} of {}, axes case {}", info(op).name, info(t).name, k);
        for (int64_t e = 0; e < y.size(); ++e) g.push_back(is_complex(y.dtype()) ? draw_complex(r) : Complex(r.signed_in(0.2, 1.5)));
        const Array gradient = make(g, is_inexact(y.dtype()) ? y.dtype() : DType::f64, y.shape());
        const Array d = reduce_derivative(op, a, options, y, gradient);
        ReduceOptions plain = options;
        const Values want = reduce_differences(op, x, t, plain, g);
        ++checked;
        if (!d) {
          claims.insert(info(op).name);
          expect_near(Values(want.size()), want, what + ", which claims no gradient");
          continue;
        }
        EXPECT_EQ(d.shape(), kShape) << what;
        EXPECT_EQ(d.dtype(), t) << what;
        expect_near(values(d), want, what, 1e-6);
      }
    }
  }
  EXPECT_GT(checked, 100);
  EXPECT_EQ(claims, (std::set<std::string>{"argmax", "argmin", "any", "all", "count_nonzero", "logical_xor"}));
}

TEST(Derivatives, OfReductionsAtTheEdges) {
  const Array g = make({2.0}, DType::f64, {});
  auto of = [&](Op op, const std::vector<double>& v) {
    return values(reduce_derivative(op, test::doubles(v), {}, reduce(op, test::doubles(v)), g));
  };
  EXPECT_EQ(of(Op::reduce_prod, {2, 0, 3}), (Values{0.0, 12.0, 0.0}));  // one zero: the product of the others
  EXPECT_EQ(of(Op::reduce_prod, {2, 0, 0}), (Values{0.0, 0.0, 0.0}));
  EXPECT_EQ(of(Op::reduce_prod, {2, 5}), (Values{10.0, 4.0}));
  EXPECT_EQ(of(Op::reduce_max, {1, 4, 4, 0}), (Values{0.0, 1.0, 1.0, 0.0}));  // a tie is shared
  EXPECT_EQ(of(Op::reduce_std, {3, 3, 3}), (Values{0.0, 0.0, 0.0}));
  const Array f = make(Values(6, 1.5), DType::f32, {2, 3});
  ReduceOptions rows;
  rows.axes = {1};
  const Array d = reduce_derivative(Op::reduce_mean, f, rows, reduce(Op::reduce_mean, f, rows), make({3.0, 6.0}, DType::f32, {2}));
  EXPECT_EQ(d.dtype(), DType::f32);
  EXPECT_EQ(values(d), (Values{1.0, 1.0, 1.0, 2.0, 2.0, 2.0}));
}

}  // namespace
TEST(Derivatives, SayWhatTheyRead) {
  using autograd::uses, autograd::kUsesResult;
  EXPECT_EQ(uses(Op::add, 0), 0);
  EXPECT_EQ(uses(Op::multiply, 0), 2);
  EXPECT_EQ(uses(Op::multiply, 1), 1);
  EXPECT_EQ(uses(Op::exp, 0), kUsesResult);
  EXPECT_EQ(uses(Op::divide, 1), 2 | kUsesResult);
  EXPECT_EQ(uses(Op::where, 1), 1);
  EXPECT_EQ(uses(Op::imag, 0), 0);
  EXPECT_EQ(autograd::reduction_uses(Op::reduce_sum), 0);
  EXPECT_EQ(autograd::reduction_uses(Op::reduce_var), 1);
  EXPECT_EQ(autograd::reduction_uses(Op::reduce_max), 1 | kUsesResult);
}

}  // namespace bc
