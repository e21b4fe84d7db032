"""Computes the polynomials of src/device/special/fits.h.

    python scripts/special_coefficients.py > src/device/special/fits.h

Every fit is the Chebyshev interpolant of a function at the interval's Chebyshev nodes (in 50 digits, by mpmath), cut where its
coefficients fall below 2e-17 of the largest, and written as powers of the variable mapped to [-1, 1] (Trefethen, Approximation Theory and
Approximation Practice, 2013, chapters 3, 4 and 8). Needs mpmath.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 50
NODES = 72
CUT = mpf("2e-17")
HALF = mpf(1) / 2


def chebyshev(f: Callable[[mpf], mpf], a: mpf, b: mpf) -> list[mpf]:
    """Coefficients of the interpolant at NODES Chebyshev nodes."""
    angles = [mp.pi * (k + HALF) / NODES for k in range(NODES)]
    values = [f((a + b) / 2 + (b - a) / 2 * mp.cos(t)) for t in angles]
    c = [2 * mp.fsum(v * mp.cos(j * t) for v, t in zip(values, angles, strict=True)) / NODES for j in range(NODES)]
    c[0] /= 2
    return c


def powers(c: list[mpf]) -> list[mpf]:
    """Sum of c[j] T_j(t) as powers of t."""
    total = [mpf(0)] * len(c)
    before, now = [mpf(1)], [mpf(0), mpf(1)]
    for j, factor in enumerate(c):
        for i, v in enumerate(before):
            total[i] += factor * v
        after = [mpf(0)] + [2 * v for v in now]
        for i, v in enumerate(before):
            after[i] -= v
        before, now = now, after
        del j
    return total


def fit(name: str, comment: str, f: Callable[[mpf], mpf], a: object, b: object) -> None:
    """Prints a function of the variable on [a, b]."""
    a, b = mpf(a), mpf(b)
    c = chebyshev(f, a, b)
    largest = max(abs(v) for v in c)
    n = max(j for j, v in enumerate(c) if abs(v) > CUT * largest) + 1
    assert n < NODES - 6, (name, [mp.nstr(v, 3) for v in c[-6:]])
    p = powers(c[:n])
    scale, shift = 2 / (b - a), -(a + b) / (b - a)
    left = mp.nstr(mp.fsum(abs(v) for v in c[n:]) / largest, 2)
    print(f"/// {comment}, on [{mp.nstr(a, 12)}, {mp.nstr(b, 12)}]; what is left out is {left} of the largest.")
    print(f"BC_FN double {name}(double u) {{")
    print(f"  const double c[] = {{{', '.join(repr(float(v)) for v in p)}}};")
    mapped = "u" if (a, b) == (-1, 1) else f"fma(u, {float(scale)!r}, {float(shift)!r})"
    print(f"  return horner({mapped}, c);\n}}")


def series(name: str, comment: str, c: list[mpf]) -> None:
    """Prints a power series, of real and of complex arguments."""
    print(f"/// {comment}.")
    print(f"BC_TFN T {name}(T u) {{")
    print(f"  const double c[] = {{{', '.join(repr(float(v)) for v in c)}}};")
    print("  return horner(u, c);\n}")


def error_functions() -> None:
    fit("erf_near", "erf(x) / x of u = x^2", lambda u: mp.erf(mp.sqrt(u)) / mp.sqrt(u), 0, 1)

    def scaled(y: mpf) -> mpf:
        x = mpf("3.75") * (1 + y) / (1 - y)
        g = mp.exp(x * x) * mp.erfc(x) if x < 1000 else mp.hyperu(HALF, HALF, x * x) / mp.sqrt(mp.pi)
        return (1 + 2 * x) * g

    fit("erfcx_scaled", "(1 + 2 x) erfcx(x) of u = (x - 3.75) / (x + 3.75)", scaled, -1, 1)

    def inverse_tail(w: mpf) -> mpf:
        # y with y (2 - y) = e^-w
        e = mp.exp(-w)
        y = e / (1 + mp.sqrt(1 - e))
        guess = mp.sqrt(max(w - mp.log(mp.pi * w) / 2 - mpf("0.2"), mpf("0.1")))
        log_y = mp.log(y)
        return mp.findroot(lambda t: mp.log(mp.erfc(t)) - log_y, guess)

    def inverse_near(w: mpf) -> mpf:
        return inverse_tail(w) / mp.sqrt(-mp.expm1(-w))

    fit("erfinv_0", "erfinv(x) / x of u = -log(1 - x^2)", inverse_near, 0, 4)
    fit("erfinv_1", "erfinv(x) / u of u = sqrt(-log(1 - x^2))", lambda s: inverse_tail(s * s) / s, 2, 4)
    fit("erfinv_2", "erfinv(x) / u of u = sqrt(-log(1 - x^2))", lambda s: inverse_tail(s * s) / s, 4, 10)
    fit("erfinv_3", "erfinv(x) / u of u = sqrt(-log(1 - x^2))", lambda s: inverse_tail(s * s) / s, 10, 28)


def gamma_functions() -> None:
    fit("gammaln_1_2", "gammaln(u) / ((u - 1)(u - 2))", lambda x: mp.loggamma(x) / ((x - 1) * (x - 2)), 1, 2)
    fit("gammaln_2_3", "gammaln(u) / (u - 2)", lambda x: mp.loggamma(x) / (x - 2), 2, 3)
    fit("gamma_2_3", "gamma(u)", mp.gamma, 2, 3)
    root = mp.findroot(mp.digamma, mpf("1.46"))
    hi = mpf(float(root))
    print(f"/// The zero of the digamma function in two numbers.\nBC_FN double digamma_root() {{ return {float(hi)!r}; }}")
    print(f"BC_FN double digamma_root_lo() {{ return {float(root - hi)!r}; }}")
    fit("digamma_1_2", "digamma(u) / (u - root)", lambda x: mp.digamma(x) / (x - root), 1, 2)
    terms = [mp.bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 11)]
    series("stirling", "B_2k / (2k (2k - 1)) x^(1 - 2k) times x, of u = 1 / x^2 (DLMF 5.11.1)", terms)
    terms = [mp.bernoulli(2 * k) / (2 * k) for k in range(1, 11)]
    series("digamma_tail", "B_2k / (2k) x^-2k times x^2, of u = 1 / x^2 (DLMF 5.11.2)", terms)
    fit("zeta_0_2", "(u - 1) zeta(u)", lambda s: (s - 1) * mp.zeta(s), -HALF, 2)
    for i, (a, b) in enumerate(((2, 8), (8, 24), (24, 64))):
        fit(f"zetac_{i}", "2^u (zeta(u) - 1)", lambda s: mp.zeta(s, 2) * mp.power(2, s), a, b)
    # Temme's uniform expansion of the incomplete gamma function (DLMF 8.12.9, 8.12.11): its coefficients as series in eta.
    count, deg = 12, 26
    alpha = [mpf(0), mpf(1)]
    # lambda - 1 = sum alpha_k eta^k from eta^2 / 2 = (lambda - 1) - log(lambda): eta (1 + mu) = mu dmu/deta.
    total = count * 2 + deg + 4
    while len(alpha) < total:
        n = len(alpha)
        # mu mu' = eta + eta mu; the coefficient of eta^n: sum_{i=1..n} alpha_i (n + 1 - i) alpha_{n+1-i} = alpha_{n-1} + [n == 1]
        known = mp.fsum(alpha[i] * (n + 1 - i) * alpha[n + 1 - i] for i in range(2, n))
        alpha.append((alpha[n - 1] - known) / (n + 1))
    # c_0 = 1 / mu - 1 / eta; c_k = (c_{k-1}' - c_{k-1}'(0)-part) / eta ...: DLMF 8.12.11, with g_k the coefficients of Stirling's series.
    inverse = [mpf(1)]
    for n in range(1, total - 1):
        inverse.append(-mp.fsum(alpha[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    row = inverse[1:]
    g = gamma_ratio(count)
    inverse_mu = inverse
    for k in range(count):
        series(f"temme_{k}", f"c_{k}(eta) of the uniform expansion, of u = eta (DLMF 8.12.11)", row[:deg])
        # c_k = (1 / eta) d c_{k-1} / d eta + (-1)^k g_k / mu, regular at 0; a pole 1 / eta of both parts cancels.
        derived = [(n + 1) * row[n + 1] for n in range(len(row) - 1)]
        sign = (-1) ** (k + 1)
        after = []
        for n in range(min(len(derived), len(inverse_mu) - 1)):
            after.append((derived[n] if n < len(derived) else 0) + sign * g[k + 1] * inverse_mu[n])
        assert abs(after[0]) < mpf("1e-30"), (k, after[0])
        row = after[1:]


def gamma_ratio(count: int) -> list[mpf]:
    """g_k of Gamma(z) ~ e^-z z^z sqrt(2 pi / z) sum g_k z^-k (DLMF 5.11.3)."""
    log_terms = [mpf(0)] * (count + 2)
    for k in range(1, count // 2 + 2):
        if 2 * k - 1 < len(log_terms):
            log_terms[2 * k - 1] = mp.bernoulli(2 * k) / (2 * k * (2 * k - 1))
    g = [mpf(1)]
    for n in range(1, count + 2):
        g.append(mp.fsum(k * log_terms[k] * g[n - k] for k in range(1, n + 1)) / n)
    return g


def bessel_functions() -> None:
    def near(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
        return lambda u: f(mp.sqrt(u))

    fit("k0_near", "K0(x) + log(x / 2) I0(x) of u = x^2", near(lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)), 0, 4)
    fit("k1_near", "(K1(x) - 1 / x - log(x / 2) I1(x)) / x of u = x^2",
        near(lambda x: (mp.besselk(1, x) - 1 / x - mp.log(x / 2) * mp.besseli(1, x)) / x), 0, 4)  # fmt: skip

    def k_far(n: int) -> Callable[[mpf], mpf]:
        # U(n + 1/2, 2n + 1, 2x): DLMF 10.39.6
        return lambda u: mp.sqrt(1 / u) * mp.exp(1 / u) * mp.besselk(n, 1 / u) if u > mpf("1e-4") else k_tail(n, u)

    def k_tail(n: int, u: mpf) -> mpf:
        total, term = mpf(1), mpf(1)
        for k in range(1, 12):
            term *= (4 * n * n - (2 * k - 1) ** 2) * u / (8 * k)
            total += term
        return mp.sqrt(mp.pi / 2) * total

    for n in (0, 1):
        fit(f"k{n}_middle", f"sqrt(x) e^x K{n}(x) of u = 1 / x", k_far(n), mpf(1) / 8, HALF)
        fit(f"k{n}_far", f"sqrt(x) e^x K{n}(x) of u = 1 / x", k_far(n), 0, mpf(1) / 8)
    fit("j0_near", "J0(x) of u = x^2", near(lambda x: mp.besselj(0, x)), 0, 16)
    fit("j0_middle", "J0(u)", lambda x: mp.besselj(0, x), 4, 8)
    fit("j1_near", "J1(x) / x of u = x^2", near(lambda x: mp.besselj(1, x) / x), 0, 16)
    fit("j1_middle", "J1(u)", lambda x: mp.besselj(1, x), 4, 8)
    two = 2 / mp.pi
    y0_rest = near(lambda x: mp.bessely(0, x) - two * mp.log(x / 2) * mp.besselj(0, x))
    fit("y0_near", "Y0(x) - 2 / pi log(x / 2) J0(x) of u = x^2", y0_rest, 0, 4)
    fit("y1_near", "(Y1(x) - 2 / pi (log(x / 2) J1(x) - 1 / x)) / x of u = x^2",
        near(lambda x: (mp.bessely(1, x) - two * (mp.log(x / 2) * mp.besselj(1, x) - 1 / x)) / x), 0, 4)  # fmt: skip
    for n in (0, 1):
        fit(f"y{n}_middle", f"Y{n}(u)", lambda x, n=n: mp.bessely(n, x), 2, mpf("4.5"))
        fit(f"y{n}_far", f"Y{n}(u)", lambda x, n=n: mp.bessely(n, x), mpf("4.5"), 8)

        def parts(u: mpf, n: int = n) -> tuple[mpf, mpf]:
            # Hankel's expansion (DLMF 10.17.3) where it has 40 digits, else the functions themselves.
            x = 1 / mp.sqrt(u)
            if x < 60:
                chi = x - (2 * n + 1) * mp.pi / 4
                size, j, y = mp.sqrt(mp.pi * x / 2), mp.besselj(n, x), mp.bessely(n, x)
                return size * (j * mp.cos(chi) + y * mp.sin(chi)), size * (y * mp.cos(chi) - j * mp.sin(chi)) * x
            p, q, term = mpf(0), mpf(0), mpf(1)
            for k in range(60):
                if k % 2:
                    q += (-1) ** (k // 2) * term
                else:
                    p += (-1) ** (k // 2) * term
                term *= (4 * n * n - (2 * k + 1) ** 2) / (8 * (k + 1) * x)
            return p, q * x

        fit(f"hankel_p{n}", f"P of order {n}, of u = 1 / x^2 (DLMF 10.17.3)", lambda u: parts(u)[0], mpf(0), mpf(1) / 64)
        fit(f"hankel_q{n}", f"x Q of order {n}, of u = 1 / x^2", lambda u: parts(u)[1], mpf(0), mpf(1) / 64)


def exponential_integrals() -> None:
    fit("e1_near", "(E1(u) + gamma + log(u)) / u", lambda x: (mp.e1(x) + mp.euler + mp.log(x)) / x, 0, 1)

    def e1_far(u: mpf) -> mpf:
        x = 1 / u
        if x > 400:
            return mp.fsum((-1) ** k * mp.factorial(k) * u**k for k in range(30))
        return x * mp.exp(x) * mp.e1(x)

    fit("e1_middle", "x e^x E1(x) of u = 1 / x", e1_far, mpf(1) / 4, 1)
    fit("e1_far", "x e^x E1(x) of u = 1 / x", e1_far, 0, mpf(1) / 4)
    fit("ei_near", "(Ei(u) - gamma - log(u)) / u", lambda x: (mp.ei(x) - mp.euler - mp.log(x)) / x, 0, 6)

    def ei_far(u: mpf) -> mpf:
        x = 1 / u
        if x > 400:
            return mp.fsum(mp.factorial(k) * u**k for k in range(30))
        return x * mp.exp(-x) * mp.ei(x)

    for i, (a, b) in enumerate(((6, 12), (12, 24), (24, 48))):
        fit(f"ei_{i}", "x e^-x Ei(x) of u = 1 / x", ei_far, mpf(1) / b, mpf(1) / a)
    fit("ei_3", "x e^-x Ei(x) of u = 1 / x", ei_far, 0, mpf(1) / 48)

    def root(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
        return lambda u: f(mp.sqrt(u))

    fit("si_near", "Si(x) / x of u = x^2", root(lambda x: mp.si(x) / x), 0, 16)
    fit("ci_near", "(Ci(x) - gamma - log(x)) / x^2 of u = x^2", root(lambda x: (mp.ci(x) - mp.euler - mp.log(x)) / x**2), 0, 16)
    fit("shi_near", "Shi(x) / x of u = x^2", root(lambda x: mp.shi(x) / x), 0, 36)
    fit("chi_near", "(Chi(x) - gamma - log(x)) / x^2 of u = x^2", root(lambda x: (mp.chi(x) - mp.euler - mp.log(x)) / x**2), 0, 36)

    def auxiliary(u: mpf) -> tuple[mpf, mpf]:
        x = 1 / mp.sqrt(u)
        if x > 200:
            f = mp.fsum((-1) ** k * mp.factorial(2 * k) * u**k for k in range(25))
            g = mp.fsum((-1) ** k * mp.factorial(2 * k + 1) * u**k for k in range(25))
            return f, g
        s, c = mp.si(x) - mp.pi / 2, mp.ci(x)
        return x * (c * mp.sin(x) - s * mp.cos(x)), x * x * (-c * mp.cos(x) - s * mp.sin(x))

    for name, a, b in (("middle", mpf(1) / 64, mpf(1) / 16), ("far", mpf(0), mpf(1) / 64)):
        fit(f"sici_f_{name}", "x f(x) of u = 1 / x^2 (DLMF 6.2.17)", lambda u: auxiliary(u)[0], a, b)
        fit(f"sici_g_{name}", "x^2 g(x) of u = 1 / x^2 (DLMF 6.2.18)", lambda u: auxiliary(u)[1], a, b)


def complex_functions() -> None:
    """Power series of functions of complex arguments; each is good where its terms fall fast."""
    # W = sum mu_k p^k, p = sqrt(2 (e z + 1)): from (1 + W) dW/dp = p (dW/dz z = W / (1 + W); Corless et al., Advances in Computational
    # Mathematics 5, 1996, section 4). With W = -1 + V: z e = (V - 1) e^V, so p^2 / 2 = 1 + (V - 1) e^V and V e^V dV/dp = p.
    order = 27
    mu = [mpf(0), mpf(1)]
    for n in range(2, order):
        # The coefficient of p^(n + 1) of 1 + (V - 1) e^V = sum_{j >= 2} (j - 1) V^j / j!, which is linear in mu_n with the factor 1.
        trial = [*mu, mpf(0)]
        power, total = trial[:], mpf(0)
        for j in range(2, n + 2):
            after = [mpf(0)] * (n + 2)
            for a, x in enumerate(power):
                for b, y in enumerate(trial):
                    if a + b < n + 2:
                        after[a + b] += x * y
            power = after
            total += mpf(j - 1) / mp.factorial(j) * power[n + 1]
        mu.append(-total)
    series("lambertw_branch", "(W + 1) / p of u = p = sqrt(2 (e z + 1)), |p| < 0.35", mu[1:])
    terms = [1 - mp.euler] + [(-1) ** k * (mp.zeta(k) - 1) / k for k in range(2, 32)]
    series("loggamma_2", "loggamma(2 + u) / u, |u| < 0.6 (DLMF 5.7.3)", terms)
    root = mp.findroot(mp.digamma, mpf("1.46"))
    series("digamma_near_root", "digamma(root + u) / u, |u| < 0.5", [mp.polygamma(k, root) / mp.factorial(k) for k in range(1, 37)])
    terms = [mp.bernoulli(2 * k) for k in range(1, 11)]
    series("trigamma_tail", "B_2k x^-2k times x^2, of u = 1 / x^2 (DLMF 5.15.8)", terms)
    for name, shift in (("half", HALF), ("whole", mpf(1))):
        weights = [mp.exp(-((k + shift) ** 2) * mp.pi / 12) for k in range(12)]
        print(f"/// e^(-t^2) at the nodes t = (k + {mp.nstr(shift, 2)}) sqrt(pi / 12).")
        print(f"BC_FN double faddeeva_{name}(int k) {{")
        print(f"  const double c[] = {{{', '.join(repr(float(v)) for v in weights)}}};")
        print("  return c[k];\n}")


def main() -> None:
    print("// Made by scripts/special_coefficients.py; do not edit.")
    print('#pragma once\n#include "../complex_math.h"\n\nnamespace bc {\nnamespace special_rows {\n')
    print("// clang-format off")
    error_functions()
    gamma_functions()
    bessel_functions()
    exponential_integrals()
    complex_functions()
    terms = [mp.bernoulli(2 * k) / mp.factorial(2 * k) for k in range(1, 16)]
    print("/// B_2k / (2k)!, k from 1 (Euler and Maclaurin's sum).")
    print("BC_FN double euler_maclaurin(int k) {")
    print(f"  const double c[] = {{{', '.join(repr(float(v)) for v in terms)}}};")
    print("  return c[k - 1];\n}")
    print("// clang-format on\n\n}  // namespace special_rows\n}  // namespace bc")


if __name__ == "__main__":
    main()
