/// SciPy's special functions for C++, on every device.
///
/// All are functions of elements: operands are arrays or numbers and broadcast, and calls fuse into the expressions around them. They
/// compute in float32 (also for float16, bfloat16 and integers of up to 16 bits) and float64 (all others); complex operands are an error, a
/// std::runtime_error. Where a function has no value it gives NaN. The algorithms and their sources are named beside the device functions
/// in src/device/special/.
///
/// In the examples `bw` is the namespace broadcloth, and near(x, values) tells whether the elements of x are these numbers to 7 digits.
#pragma once
#include <broadcloth/broadcloth.h>

namespace broadcloth::special {

// ---- The gamma function and its kin

/// The gamma function.
/// @code assert(near(bw::special::gamma(0.5), {1.772453851})); @endcode
inline array gamma(const array& x) { return apply("gamma", {x}); }

/// log(abs(gamma(x))).
/// @code assert(near(bw::special::gammaln(100.0), {359.1342054})); @endcode
inline array gammaln(const array& x) { return apply("gammaln", {x}); }

/// The principal branch of the logarithm of the gamma function; NaN for negative reals.
/// @code assert(near(bw::special::loggamma(100.0), {359.1342054})); @endcode
inline array loggamma(const array& x) { return apply("loggamma", {x}); }

/// The sign of the gamma function.
/// @code assert(near(bw::special::gammasgn(-0.5), {-1})); @endcode
inline array gammasgn(const array& x) { return apply("gammasgn", {x}); }

/// 1 / gamma(x), 0 at the poles.
/// @code assert(near(bw::special::rgamma(-1.0), {0})); @endcode
inline array rgamma(const array& x) { return apply("rgamma", {x}); }

/// The logarithmic derivative of the gamma function.
/// @code assert(near(bw::special::digamma(2.0), {0.4227843351})); @endcode
inline array digamma(const array& x) { return apply("digamma", {x}); }

/// Pochhammer's symbol gamma(z + m) / gamma(z).
/// @code assert(near(bw::special::poch(3.0, 0.5), {1.661675485})); @endcode
inline array poch(const array& z, const array& m) { return apply("poch", {z, m}); }

/// The beta function gamma(a) gamma(b) / gamma(a + b).
/// @code assert(near(bw::special::beta(2.0, 3.0), {0.08333333333})); @endcode
inline array beta(const array& a, const array& b) { return apply("beta", {a, b}); }

/// log(abs(beta(a, b))).
/// @code assert(near(bw::special::betaln(2.0, 3.0), {-2.48490665})); @endcode
inline array betaln(const array& a, const array& b) { return apply("betaln", {a, b}); }

/// n over k, also for numbers that are not whole.
/// @code assert(near(bw::special::binom(5.0, 2.5), {10.86497745})); @endcode
inline array binom(const array& n, const array& k) { return apply("binom", {n, k}); }

/// Riemann's zeta function less 1.
/// @code assert(near(bw::special::zetac(40.0), {9.09494784e-13})); @endcode
inline array zetac(const array& x) { return apply("zetac", {x}); }

/// digamma() by its symbol's name.
/// @code assert(near(bw::special::psi(2.0), {0.4227843351})); @endcode
inline array psi(const array& x) { return apply("digamma", {x}); }

/// Riemann's zeta function of real x.
/// @code assert(near(bw::special::zeta(2.0), {1.644934067})); @endcode
inline array zeta(const array& x) { return apply("riemann_zeta", {x}); }

/// Hurwitz's zeta function: the sum of (k + q)^-x over k = 0, 1, ...
/// @code assert(near(bw::special::zeta(2.0, 2.0), {0.6449340668})); @endcode
inline array zeta(const array& x, const array& q) { return apply("zeta", {x, q}); }

// ---- Error functions and the normal distribution

/// The error function.
/// @code assert(near(bw::special::erf(1.0), {0.8427007929})); @endcode
inline array erf(const array& x) { return apply("erf", {x}); }

/// 1 - erf(x), with all digits where it is small.
/// @code assert(near(bw::special::erfc(10.0), {2.088487584e-45})); @endcode
inline array erfc(const array& x) { return apply("erfc", {x}); }

/// exp(x**2) erfc(x).
/// @code assert(near(bw::special::erfcx(30.0), {0.01879588886})); @endcode
inline array erfcx(const array& x) { return apply("erfcx", {x}); }

/// The inverse of erf.
/// @code assert(near(bw::special::erfinv(0.5), {0.4769362762})); @endcode
inline array erfinv(const array& y) { return apply("erfinv", {y}); }

/// The inverse of erfc.
/// @code assert(near(bw::special::erfcinv(1e-20), {6.601580622})); @endcode
inline array erfcinv(const array& y) { return apply("erfcinv", {y}); }

/// The distribution function of the normal distribution.
/// @code assert(near(bw::special::ndtr(-1.0), {0.1586552539})); @endcode
inline array ndtr(const array& x) { return apply("ndtr", {x}); }

/// log(ndtr(x)).
/// @code assert(near(bw::special::log_ndtr(-40.0), {-804.608442})); @endcode
inline array log_ndtr(const array& x) { return apply("log_ndtr", {x}); }

/// The inverse of ndtr.
/// @code assert(near(bw::special::ndtri(0.975), {1.959963985})); @endcode
inline array ndtri(const array& y) { return apply("ndtri", {y}); }

// ---- Logistic functions, entropies, losses, transformations

/// The logistic function 1 / (1 + exp(-x)).
/// @code assert(near(bw::special::expit(1.0), {0.7310585786})); @endcode
inline array expit(const array& x) { return apply("expit", {x}); }

/// log(expit(x)).
/// @code assert(near(bw::special::log_expit(-100.0), {-100})); @endcode
inline array log_expit(const array& x) { return apply("log_expit", {x}); }

/// log(p / (1 - p)).
/// @code assert(near(bw::special::logit(0.5), {0})); @endcode
inline array logit(const array& p) { return apply("logit", {p}); }

/// x log(y), and 0 for x = 0.
/// @code assert(near(bw::special::xlogy(0.0, 0.0), {0})); @endcode
inline array xlogy(const array& x, const array& y) { return apply("xlogy", {x, y}); }

/// x log(1 + y), and 0 for x = 0.
/// @code assert(near(bw::special::xlog1py(0.0, -1.0), {0})); @endcode
inline array xlog1py(const array& x, const array& y) { return apply("xlog1py", {x, y}); }

/// -x log(x), 0 at 0 and -inf below.
/// @code assert(near(bw::special::entr(1.0), {-0})); @endcode
inline array entr(const array& x) { return apply("entr", {x}); }

/// x log(x / y), the terms of the relative entropy.
/// @code assert(near(bw::special::rel_entr(0.0, 1.0), {0})); @endcode
inline array rel_entr(const array& x, const array& y) { return apply("rel_entr", {x, y}); }

/// x log(x / y) - x + y, the terms of the Kullback-Leibler divergence.
/// @code assert(near(bw::special::kl_div(0.0, 1.0), {1})); @endcode
inline array kl_div(const array& x, const array& y) { return apply("kl_div", {x, y}); }

/// Huber's loss: r**2 / 2 up to delta, linear beyond.
/// @code assert(near(bw::special::huber(1.0, 2.0), {1.5})); @endcode
inline array huber(const array& delta, const array& r) { return apply("huber", {delta, r}); }

/// A smooth form of Huber's loss: delta**2 (sqrt(1 + (r / delta)**2) - 1).
/// @code assert(near(bw::special::pseudo_huber(1.0, 2.0), {1.236067977})); @endcode
inline array pseudo_huber(const array& delta, const array& r) { return apply("pseudo_huber", {delta, r}); }

/// Box and Cox's transformation (x**l - 1) / l, and log(x) for l = 0.
/// @code assert(near(bw::special::boxcox(4.0, 0.5), {2})); @endcode
inline array boxcox(const array& x, const array& l) { return apply("boxcox", {x, l}); }

/// Box and Cox's transformation of 1 + x.
/// @code assert(near(bw::special::boxcox1p(3.0, 0.5), {2})); @endcode
inline array boxcox1p(const array& x, const array& l) { return apply("boxcox1p", {x, l}); }

/// The inverse of boxcox in x.
/// @code assert(near(bw::special::inv_boxcox(2.0, 0.5), {4})); @endcode
inline array inv_boxcox(const array& y, const array& l) { return apply("inv_boxcox", {y, l}); }

/// The inverse of boxcox1p in x.
/// @code assert(near(bw::special::inv_boxcox1p(2.0, 0.5), {3})); @endcode
inline array inv_boxcox1p(const array& y, const array& l) { return apply("inv_boxcox1p", {y, l}); }

/// (exp(x) - 1) / x, and 1 at 0.
/// @code assert(near(bw::special::exprel(1.0), {1.718281828})); @endcode
inline array exprel(const array& x) { return apply("exprel", {x}); }

/// cos(x) - 1, exact near 0.
/// @code assert(near(bw::special::cosm1(0.0001), {-4.999999996e-09})); @endcode
inline array cosm1(const array& x) { return apply("cosm1", {x}); }

/// 10 to the power x.
/// @code assert(near(bw::special::exp10(2.0), {100})); @endcode
inline array exp10(const array& x) { return apply("exp10", {x}); }

/// The sine of an angle in degrees.
/// @code assert(near(bw::special::sindg(180.0), {0})); @endcode
inline array sindg(const array& x) { return apply("sindg", {x}); }

/// The cosine of an angle in degrees.
/// @code assert(near(bw::special::cosdg(90.0), {0})); @endcode
inline array cosdg(const array& x) { return apply("cosdg", {x}); }

/// The tangent of an angle in degrees.
/// @code assert(near(bw::special::tandg(180.0), {0})); @endcode
inline array tandg(const array& x) { return apply("tandg", {x}); }

/// The cotangent of an angle in degrees.
/// @code assert(near(bw::special::cotdg(90.0), {0})); @endcode
inline array cotdg(const array& x) { return apply("cotdg", {x}); }

/// Degrees, minutes and seconds as radians.
/// @code assert(near(bw::special::radian(180.0, 0.0, 0.0), {3.141592654})); @endcode
inline array radian(const array& degrees, const array& minutes, const array& seconds) {
  return apply("radian", {degrees, minutes, seconds});
}

// ---- Bessel functions

/// The Bessel function of the first kind, order 0.
/// @code assert(near(bw::special::j0(1.0), {0.7651976866})); @endcode
inline array j0(const array& x) { return apply("j0", {x}); }

/// The Bessel function of the first kind, order 1.
/// @code assert(near(bw::special::j1(1.0), {0.4400505857})); @endcode
inline array j1(const array& x) { return apply("j1", {x}); }

/// The Bessel function of the second kind, order 0.
/// @code assert(near(bw::special::y0(1.0), {0.08825696422})); @endcode
inline array y0(const array& x) { return apply("y0", {x}); }

/// The Bessel function of the second kind, order 1.
/// @code assert(near(bw::special::y1(1.0), {-0.7812128213})); @endcode
inline array y1(const array& x) { return apply("y1", {x}); }

/// The Bessel function of the second kind of whole order n.
/// @code assert(near(bw::special::yn(2.0, 1.0), {-1.650682607})); @endcode
inline array yn(const array& n, const array& x) { return apply("yn", {n, x}); }

/// exp(-abs(x)) i0(x).
/// @code assert(near(bw::special::i0e(100.0), {0.0399443793})); @endcode
inline array i0e(const array& x) { return apply("i0e", {x}); }

/// exp(-abs(x)) i1(x).
/// @code assert(near(bw::special::i1e(100.0), {0.03974415303})); @endcode
inline array i1e(const array& x) { return apply("i1e", {x}); }

/// The modified Bessel function of the second kind, order 0.
/// @code assert(near(bw::special::k0(1.0), {0.4210244382})); @endcode
inline array k0(const array& x) { return apply("k0", {x}); }

/// The modified Bessel function of the second kind, order 1.
/// @code assert(near(bw::special::k1(1.0), {0.6019072302})); @endcode
inline array k1(const array& x) { return apply("k1", {x}); }

/// exp(x) k0(x).
/// @code assert(near(bw::special::k0e(1000.0), {0.0396283216})); @endcode
inline array k0e(const array& x) { return apply("k0e", {x}); }

/// exp(x) k1(x).
/// @code assert(near(bw::special::k1e(1000.0), {0.03964813081})); @endcode
inline array k1e(const array& x) { return apply("k1e", {x}); }

/// The modified Bessel function of the first kind, order 0.
/// @code assert(near(bw::special::i0(1.0), {1.266065878})); @endcode
inline array i0(const array& x) { return apply("i0", {x}); }

/// The modified Bessel function of the first kind, order 1.
/// @code assert(near(bw::special::i1(1.0), {0.565159104})); @endcode
inline array i1(const array& x) { return apply("bessel_i1", {x}); }

/// The spherical Bessel function of the second kind of whole order n.
/// @code assert(near(bw::special::spherical_yn(2.0, 1.5), {-1.345712694})); @endcode
inline array spherical_yn(const array& n, const array& x) { return apply("spherical_yn", {n, x}); }

// ---- Exponential integrals

/// The exponential integral E1.
/// @code assert(near(bw::special::exp1(1.0), {0.2193839344})); @endcode
inline array exp1(const array& x) { return apply("exp1", {x}); }

/// The exponential integral Ei.
/// @code assert(near(bw::special::expi(1.0), {1.895117816})); @endcode
inline array expi(const array& x) { return apply("expi", {x}); }

/// The generalized exponential integral of whole order n.
/// @code assert(near(bw::special::expn(2.0, 1.0), {0.1484955068})); @endcode
inline array expn(const array& n, const array& x) { return apply("expn", {n, x}); }

struct sici_result {
  array si, ci;
};
/// The sine and cosine integrals Si(x) and Ci(x).
/// @code
/// const auto [si, ci] = bw::special::sici(1.0);
/// assert(near(si, {0.9460830704}) && near(ci, {0.3374039229}));
/// @endcode
inline sici_result sici(const array& x) { return {apply("sici_si", {x}), apply("sici_ci", {x})}; }

struct shichi_result {
  array shi, chi;
};
/// The hyperbolic sine and cosine integrals Shi(x) and Chi(x).
/// @code
/// const auto [shi, chi] = bw::special::shichi(1.0);
/// assert(near(shi, {1.057250875}) && near(chi, {0.837866941}));
/// @endcode
inline shichi_result shichi(const array& x) { return {apply("shichi_shi", {x}), apply("shichi_chi", {x})}; }

// ---- Elliptic integrals

/// The complete elliptic integral of the first kind of the parameter m.
/// @code assert(near(bw::special::ellipk(0.5), {1.854074677})); @endcode
inline array ellipk(const array& m) { return apply("ellipk", {m}); }

/// ellipk(1 - p), exact near p = 0.
/// @code assert(near(bw::special::ellipkm1(1e-20), {24.41214529})); @endcode
inline array ellipkm1(const array& p) { return apply("ellipkm1", {p}); }

/// The complete elliptic integral of the second kind of the parameter m.
/// @code assert(near(bw::special::ellipe(0.5), {1.350643881})); @endcode
inline array ellipe(const array& m) { return apply("ellipe", {m}); }

/// The incomplete elliptic integral of the first kind of phi and the parameter m.
/// @code assert(near(bw::special::ellipkinc(1.0, 0.5), {1.083216773})); @endcode
inline array ellipkinc(const array& phi, const array& m) { return apply("ellipkinc", {phi, m}); }

/// The incomplete elliptic integral of the second kind of phi and the parameter m.
/// @code assert(near(bw::special::ellipeinc(1.0, 0.5), {0.9273298836})); @endcode
inline array ellipeinc(const array& phi, const array& m) { return apply("ellipeinc", {phi, m}); }

struct ellipj_result {
  array sn, cn, dn, ph;
};
/// Jacobi's elliptic functions of u and the parameter m in [0, 1], and the amplitude.
/// @code
/// const auto [sn, cn, dn, ph] = bw::special::ellipj(0.5, 0.5);
/// assert(near(sn, {0.4707504737}) && near(cn, {0.8822663949}) && near(dn, {0.9429724258}) && near(ph, {0.4901412054}));
/// @endcode
inline ellipj_result ellipj(const array& u, const array& m) {
  return {apply("ellipj_sn", {u, m}), apply("ellipj_cn", {u, m}), apply("ellipj_dn", {u, m}), apply("ellipj_ph", {u, m})};
}

// ---- Incomplete gamma and beta functions

/// The regularized lower incomplete gamma function P(a, x).
/// @code assert(near(bw::special::gammainc(2.0, 3.0), {0.8008517265})); @endcode
inline array gammainc(const array& a, const array& x) { return apply("gammainc", {a, x}); }

/// The regularized upper incomplete gamma function Q(a, x).
/// @code assert(near(bw::special::gammaincc(2.0, 3.0), {0.1991482735})); @endcode
inline array gammaincc(const array& a, const array& x) { return apply("gammaincc", {a, x}); }

/// The x for which gammainc(a, x) is y.
/// @code assert(near(bw::special::gammaincinv(2.0, 0.5), {1.67834699})); @endcode
inline array gammaincinv(const array& a, const array& y) { return apply("gammaincinv", {a, y}); }

/// The x for which gammaincc(a, x) is y.
/// @code assert(near(bw::special::gammainccinv(2.0, 0.5), {1.67834699})); @endcode
inline array gammainccinv(const array& a, const array& y) { return apply("gammainccinv", {a, y}); }

/// The regularized incomplete beta function I_x(a, b).
/// @code assert(near(bw::special::betainc(2.0, 3.0, 0.5), {0.6875})); @endcode
inline array betainc(const array& a, const array& b, const array& x) { return apply("betainc", {a, b, x}); }

/// 1 - I_x(a, b), with all digits where it is small.
/// @code assert(near(bw::special::betaincc(2.0, 3.0, 0.5), {0.3125})); @endcode
inline array betaincc(const array& a, const array& b, const array& x) { return apply("betaincc", {a, b, x}); }

/// The x for which betainc(a, b, x) is y.
/// @code assert(near(bw::special::betaincinv(2.0, 3.0, 0.5), {0.3857275681})); @endcode
inline array betaincinv(const array& a, const array& b, const array& y) { return apply("betaincinv", {a, b, y}); }

/// The x for which betaincc(a, b, x) is y.
/// @code assert(near(bw::special::betainccinv(2.0, 3.0, 0.5), {0.3857275681})); @endcode
inline array betainccinv(const array& a, const array& b, const array& y) { return apply("betainccinv", {a, b, y}); }

// ---- Distributions

/// The sum of the binomial distribution's terms 0 to k, of n trials with probability p.
/// @code assert(near(bw::special::bdtr(2.0, 5.0, 0.5), {0.5})); @endcode
inline array bdtr(const array& k, const array& n, const array& p) { return apply("bdtr", {k, n, p}); }

/// The sum of the binomial distribution's terms k + 1 to n.
/// @code assert(near(bw::special::bdtrc(2.0, 5.0, 0.5), {0.5})); @endcode
inline array bdtrc(const array& k, const array& n, const array& p) { return apply("bdtrc", {k, n, p}); }

/// The probability p for which bdtr(k, n, p) is y.
/// @code assert(near(bw::special::bdtri(2.0, 5.0, 0.5), {0.5})); @endcode
inline array bdtri(const array& k, const array& n, const array& y) { return apply("bdtri", {k, n, y}); }

/// The distribution function of the beta distribution: betainc(a, b, x).
/// @code assert(near(bw::special::btdtr(2.0, 3.0, 0.5), {0.6875})); @endcode
inline array btdtr(const array& a, const array& b, const array& x) { return apply("btdtr", {a, b, x}); }

/// The inverse of btdtr in x.
/// @code assert(near(bw::special::btdtri(2.0, 3.0, 0.5), {0.3857275681})); @endcode
inline array btdtri(const array& a, const array& b, const array& y) { return apply("btdtri", {a, b, y}); }

/// The sum of the negative binomial distribution's terms 0 to k, for n successes with probability p.
/// @code assert(near(bw::special::nbdtr(2.0, 5.0, 0.5), {0.2265625})); @endcode
inline array nbdtr(const array& k, const array& n, const array& p) { return apply("nbdtr", {k, n, p}); }

/// The upper tail of the negative binomial distribution.
/// @code assert(near(bw::special::nbdtrc(2.0, 5.0, 0.5), {0.7734375})); @endcode
inline array nbdtrc(const array& k, const array& n, const array& p) { return apply("nbdtrc", {k, n, p}); }

/// The probability p for which nbdtr(k, n, p) is y.
/// @code assert(near(bw::special::nbdtri(2.0, 5.0, 0.5), {0.6358839136})); @endcode
inline array nbdtri(const array& k, const array& n, const array& y) { return apply("nbdtri", {k, n, y}); }

/// The sum of the Poisson distribution's terms 0 to k, of mean m.
/// @code assert(near(bw::special::pdtr(2.0, 3.0), {0.4231900811})); @endcode
inline array pdtr(const array& k, const array& m) { return apply("pdtr", {k, m}); }

/// The upper tail of the Poisson distribution.
/// @code assert(near(bw::special::pdtrc(2.0, 3.0), {0.5768099189})); @endcode
inline array pdtrc(const array& k, const array& m) { return apply("pdtrc", {k, m}); }

/// The mean m for which pdtr(k, m) is y.
/// @code assert(near(bw::special::pdtri(2.0, 0.5), {2.674060314})); @endcode
inline array pdtri(const array& k, const array& y) { return apply("pdtri", {k, y}); }

/// The distribution function of the chi-square distribution with v degrees of freedom.
/// @code assert(near(bw::special::chdtr(3.0, 4.0), {0.7385358701})); @endcode
inline array chdtr(const array& v, const array& x) { return apply("chdtr", {v, x}); }

/// The upper tail of the chi-square distribution with v degrees of freedom.
/// @code assert(near(bw::special::chdtrc(3.0, 4.0), {0.2614641299})); @endcode
inline array chdtrc(const array& v, const array& x) { return apply("chdtrc", {v, x}); }

/// The inverse of chdtrc in x.
/// @code assert(near(bw::special::chdtri(3.0, 0.5), {2.365973884})); @endcode
inline array chdtri(const array& v, const array& y) { return apply("chdtri", {v, y}); }

/// The distribution function of the F distribution with a and b degrees of freedom.
/// @code assert(near(bw::special::fdtr(2.0, 3.0, 1.0), {0.5352419985})); @endcode
inline array fdtr(const array& a, const array& b, const array& x) { return apply("fdtr", {a, b, x}); }

/// The upper tail of the F distribution.
/// @code assert(near(bw::special::fdtrc(2.0, 3.0, 1.0), {0.4647580015})); @endcode
inline array fdtrc(const array& a, const array& b, const array& x) { return apply("fdtrc", {a, b, x}); }

/// The inverse of fdtr in x.
/// @code assert(near(bw::special::fdtri(2.0, 3.0, 0.5), {0.881101578})); @endcode
inline array fdtri(const array& a, const array& b, const array& y) { return apply("fdtri", {a, b, y}); }

/// The distribution function of the gamma distribution with rate a and shape b.
/// @code assert(near(bw::special::gdtr(2.0, 3.0, 1.0), {0.3233235838})); @endcode
inline array gdtr(const array& a, const array& b, const array& x) { return apply("gdtr", {a, b, x}); }

/// The upper tail of the gamma distribution.
/// @code assert(near(bw::special::gdtrc(2.0, 3.0, 1.0), {0.6766764162})); @endcode
inline array gdtrc(const array& a, const array& b, const array& x) { return apply("gdtrc", {a, b, x}); }

}  // namespace broadcloth::special
