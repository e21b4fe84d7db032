"""Computes the polynomials of src/device/special/fits.h.

    python scripts/special_coefficients.py > src/device/special/fits.h

Every fit is the Chebyshev interpolant of a function at the interval's Chebyshev nodes (in 50 digits, by mpmath), cut where its
coefficients fall below 2e-17 of the largest, and written as powers of the variable mapped to [-1, 1] (Trefethen, Approximation Theory and
Approximation Practice, 2013, chapters 3, 4 and 8). Needs mpmath.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 50
NODES = 72
CUT = mpf("2e-17")
HALF = mpf(1) / 2
# Coefficients that are moved by a unit in their last place, so that the rounded sum has all digits at x = 0: J0(0) = 1 and K(0) = pi / 2.
MOVED = {"j0_near": (0, math.inf), "ellipk_plain": (2, -math.inf)}


def numbers(name: str, c: list[mpf]) -> str:
    """The coefficients of a function as text."""
    values = [float(v) for v in c]
    if name in MOVED:
        k, toward = MOVED[name]
        values[k] = math.nextafter(values[k], toward)
    return ", ".join(map(repr, values))


def chebyshev_nodes(count: int) -> list[mpf]:
    return [mp.cos(mp.pi * (k + HALF) / count) for k in range(count)]


def coefficients(values: list[mpf]) -> list[mpf]:
    """The factors of T_j of the interpolant of values at Chebyshev nodes."""
    n = len(values)
    c = [2 * mp.fsum(v * mp.cos(j * mp.pi * (k + HALF) / n) for k, v in enumerate(values)) / n for j in range(n)]
    c[0] /= 2
    return c


def chebyshev(f: Callable[[mpf], mpf], a: mpf, b: mpf) -> list[mpf]:
    """Coefficients of the interpolant at NODES Chebyshev nodes."""
    return coefficients([f((a + b) / 2 + (b - a) / 2 * t) for t in chebyshev_nodes(NODES)])


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
    print(f"  const double c[] = {{{numbers(name, p)}}};")
    mapped = "u" if (a, b) == (-1, 1) else f"fma(u, {float(scale)!r}, {float(shift)!r})"
    print(f"  return horner({mapped}, c);\n}}")


def series(name: str, comment: str, c: list[mpf]) -> None:
    """Prints a power series, of real and of complex arguments."""
    print(f"/// {comment}.")
    print(f"BC_TFN T {name}(T u) {{")
    print(f"  const double c[] = {{{numbers(name, c)}}};")
    print("  return horner(u, c);\n}")


def solve(columns: list[Callable[[mpf], mpf]], f: Callable[[mpf], mpf], nodes: list[mpf]) -> list[mpf]:
    """Factors of the columns whose sum is f at the nodes."""
    rows = mp.matrix(len(nodes), len(columns))
    for i, x in enumerate(nodes):
        for j, column in enumerate(columns):
            rows[i, j] = column(x)
    return list(mp.lu_solve(rows, mp.matrix([f(x) for x in nodes])))


def spread(count: int) -> list[mpf]:
    """Chebyshev nodes of [0, 1]."""
    return [(1 - mp.cos(mp.pi * (2 * k + 1) / (2 * count))) / 2 for k in range(count)]


def horner(name: str, comment: str, c: list[mpf], variable: str) -> None:
    print(f"/// {comment}.")
    print(f"BC_FN double {name}(double u) {{")
    print(f"  const double c[] = {{{numbers(name, c)}}};")
    print(f"  return horner({variable}, c);\n}}")


def quotient(name: str, comment: str, f: Callable[[mpf], mpf], b: object, degree: int) -> None:
    """Prints the two polynomials of the rational interpolant of f on [0, b], name_above / name_below, with nodes that crowd at 0. Their
    factors of powers of u / b are positive for Stieltjes's functions, so that nothing cancels."""
    b = mpf(b)
    above = [lambda t, k=k: t**k for k in range(degree + 1)]
    below = [lambda t, k=k: -f(b * t) * t**k for k in range(1, degree + 1)]
    c = solve(above + below, lambda t: f(b * t), [t**2 for t in spread(2 * degree + 1)])
    p, q = c[: degree + 1], [mpf(1), *c[degree + 1 :]]
    assert min(p + q) > 0, (name, [mp.nstr(v, 3) for v in p + q])
    apart = [abs(mp.polyval(p[::-1], t) / mp.polyval(q[::-1], t) / f(b * t) - 1) for t in (mpf(k) / 99 for k in range(100))]
    off = f"on [0, {mp.nstr(b, 12)}]: the numerator; the quotient is off by {mp.nstr(max(apart), 2)} at most"
    horner(f"{name}_above", f"{comment}, {off}", p, f"{float(1 / b)!r} * u")
    horner(f"{name}_below", "The denominator", q, f"{float(1 / b)!r} * u")


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

    def dawson(x: mpf) -> mpf:
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)

    def dawson_tail(u: mpf) -> mpf:
        if u < mpf("0.004"):
            return mp.fsum(mp.fac2(2 * k - 1) * (u / 2) ** k for k in range(60))
        return 2 * dawson(1 / mp.sqrt(u)) / mp.sqrt(u)

    fit("dawsn_near", "D(x) / x of u = x^2", lambda u: dawson(mp.sqrt(u)) / mp.sqrt(u), 0, mpf("2.25"))
    fit("dawsn_middle", "D(u)", dawson, mpf("1.5"), mpf("3.5"))
    fit("dawsn_outer", "2 x D(x) of u = 1 / x^2", dawson_tail, mpf(1) / 30, mpf(4) / 49)
    fit("dawsn_far", "2 x D(x) of u = 1 / x^2", dawson_tail, 0, mpf(1) / 30)
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

    def half_beta(u: mpf) -> mpf:
        w = 1 / mp.sqrt(u)
        return mp.sqrt(mp.pi * w) * mp.exp(mp.loggamma(w + mpf(1) / 4) - mp.loggamma(w + mpf(3) / 4))

    fit("half_beta_far", "sqrt(w) beta(w + 1/4, 1/2) of u = 1 / w^2", half_beta, 0, mpf(1) / 60)
    fit("zeta_0_2", "(u - 1) zeta(u)", lambda s: (s - 1) * mp.zeta(s), -HALF, 2)
    for i, (a, b) in enumerate(((2, 8), (8, 24), (24, 64))):
        fit(f"zetac_{i}", "2^u (zeta(u) - 1)", lambda s: mp.zeta(s, 2) * mp.power(2, s), a, b)


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


def incomplete_gamma() -> None:
    """The sum over k of c_k(eta) a^-k in Temme's expansion (DLMF 8.12.7, 8.12.11): from its terms for large a, else from Q itself."""
    count, degree = 18, 40
    alpha = [mpf(0), mpf(1)]
    # lambda - 1 = sum alpha_k eta^k from eta^2 / 2 = (lambda - 1) - log(lambda): eta (1 + mu) = mu dmu/deta.
    total = count * 2 + degree + 4
    while len(alpha) < total:
        n = len(alpha)
        # mu mu' = eta + eta mu; the coefficient of eta^n: sum_{i=1..n} alpha_i (n + 1 - i) alpha_{n+1-i} = alpha_{n-1} + [n == 1]
        known = mp.fsum(alpha[i] * (n + 1 - i) * alpha[n + 1 - i] for i in range(2, n))
        alpha.append((alpha[n - 1] - known) / (n + 1))
    # c_0 = 1 / mu - 1 / eta; c_k = (c_{k-1}' - c_{k-1}'(0)-part) / eta ...: DLMF 8.12.11, with g_k the coefficients of Stirling's series.
    inverse = [mpf(1)]
    for n in range(1, total - 1):
        inverse.append(-mp.fsum(alpha[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    terms, g = [inverse[1:]], gamma_ratio(count)
    for k in range(count - 1):
        # c_k = (1 / eta) d c_{k-1} / d eta + (-1)^k g_k / mu, regular at 0; a pole 1 / eta of both parts cancels.
        derived = [(n + 1) * terms[-1][n + 1] for n in range(len(terms[-1]) - 1)]
        after = [d + (-1) ** (k + 1) * g[k + 1] * inverse[n] for n, d in enumerate(derived)]
        assert abs(after[0]) < mpf("1e-30"), (k, after[0])
        terms.append(after[1:])

    def rest(v: mpf, eta: mpf) -> mpf:
        if v < mpf(1) / 200:
            return mp.fsum(v**k * mp.polyval(row[::-1], eta) for k, row in enumerate(terms))
        a = 1 / v
        # x = a lambda with eta^2 / 2 = lambda - 1 - log(lambda)
        mu = mp.polyval(alpha[::-1], eta)
        for _ in range(6):
            mu -= (mu - mp.log1p(mu) - eta**2 / 2) * (1 + mu) / mu
        x, z = a * (1 + mu), eta * mp.sqrt(a / 2)
        scale = mp.sqrt(2 * mp.pi * a) * mp.exp(a * eta**2 / 2)
        if eta > 0:
            return (mp.gammainc(a, x, mp.inf, regularized=True) - mp.erfc(z) / 2) * scale
        return (mp.erfc(-z) / 2 - mp.gammainc(a, 0, x, regularized=True)) * scale

    what = "The sum of c_k(eta) a^-k (DLMF 8.12.7) of s = 1 / a and v = eta"
    surface("temme_far", what, rest, (0, mpf(1) / 20), (mpf("-0.8"), mpf("0.8")), 20, 8)
    surface("temme_near", what, rest, (mpf(1) / 20, mpf(1) / 5), (mpf("-0.8"), mpf("0.8")), 20, 12)


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


def surface(
    name: str, comment: str, f: Callable[[mpf, mpf], mpf], by_columns: tuple[object, object], by_rows: tuple[object, object],
    rows: int, columns: int,
) -> None:  # fmt: skip
    """Prints a table of factors of a function of s and v: one row for each power of v, in it the powers of s; both mapped to [-1, 1]."""
    (c, d), (a, b) = (map(mpf, by_columns), map(mpf, by_rows))
    at_s, at_v = chebyshev_nodes(columns + 6), chebyshev_nodes(rows + 12)
    values = [[f((c + d) / 2 + (d - c) / 2 * s, (a + b) / 2 + (b - a) / 2 * v) for s in at_s] for v in at_v]
    by_s = [coefficients(row) for row in values]
    both = [coefficients([row[j] for row in by_s]) for j in range(columns + 6)]
    left = mp.fsum(abs(both[j][i]) for j in range(columns + 6) for i in range(rows + 12) if j >= columns or i >= rows)
    in_v = [powers(both[j][:rows]) for j in range(columns)]
    ranges = f"s in [{mp.nstr(c, 12)}, {mp.nstr(d, 12)}], v in [{mp.nstr(a, 12)}, {mp.nstr(b, 12)}]"
    print(f"/// {comment}, {ranges}; what is left out is {mp.nstr(left, 2)}.")
    print(f"BC_TABLE double {name}[{rows}][{columns}] = {{")
    for i in range(rows):
        print(f"    {{{', '.join(repr(float(x)) for x in powers([in_v[j][i] for j in range(columns)]))}}},")
    print("};")


def bessel_of_real_order() -> None:
    """Of the order's square s = a^2 (DLMF 10.40.2, 10.17.3): each is 1 or 0 for s = 1/4."""

    def k(s: mpf, v: mpf) -> mpf:
        a, x = mp.sqrt(s), 1 / v
        return (mp.sqrt(2 * x / mp.pi) * mp.exp(x) * mp.besselk(a, x) - 1) / (s - HALF / 2) / v

    @functools.cache
    def parts(s: mpf, u: mpf) -> tuple[mpf, mpf]:
        a, x = mp.sqrt(s), 1 / mp.sqrt(u)
        if x > 150:
            p, q, term = mpf(0), mpf(0), mpf(1)
            for i in range(60):
                if i % 2:
                    q += (-1) ** (i // 2) * term
                else:
                    p += (-1) ** (i // 2) * term
                term *= (4 * s - (2 * i + 1) ** 2) / (8 * (i + 1) * x)
        else:
            chi, size = x - a * mp.pi / 2 - mp.pi / 4, mp.sqrt(mp.pi * x / 2)
            j, y = mp.besselj(a, x), mp.bessely(a, x)
            p, q = size * (j * mp.cos(chi) + y * mp.sin(chi)), size * (y * mp.cos(chi) - j * mp.sin(chi))
        return (p - 1) / (s - HALF / 2) / u, q / (s - HALF / 2) * x

    orders = (0, mpf(9) / 4)
    what = "(sqrt(2 x / pi) e^x K(a, x) - 1) / (s - 1/4) / v of s = a^2 and v = 1 / x"
    surface("k_order_middle", what, k, orders, (mpf(1) / 8, HALF), 18, 12)
    surface("k_order_far", what, k, orders, (0, mpf(1) / 8), 15, 8)
    for name, f, text in (
        ("p", lambda s, v: parts(s, v)[0], "(P - 1) / (s - 1/4) / v"),
        ("q", lambda s, v: parts(s, v)[1], "x Q / (s - 1/4)"),
    ):
        what = f"{text} of s = a^2 and v = 1 / x^2"
        surface(f"{name}_order_middle", what, f, orders, (mpf(1) / 81, mpf(1) / 25), 14, 8)
        surface(f"{name}_order_far", what, f, orders, (0, mpf(1) / 81), 14, 8)


def airy_functions() -> None:
    names = {"ai": mp.airyai, "bi": mp.airybi, "aip": lambda x: mp.airyai(x, derivative=1), "bip": lambda x: mp.airybi(x, derivative=1)}
    root = mp.sqrt(mp.pi)
    for name, f in names.items():
        for i, (a, b) in enumerate(((-4, -2), (-2, 0), (0, mpf("2.125")))):
            fit(f"airy_{name}_{i}", f"{name.capitalize()}(u)", f, a, b)

    def u_series(zeta: mpf, slope: bool, sign: int) -> list[mpf]:
        """The terms of DLMF 9.7.2."""
        terms, u = [mpf(1)], mpf(1)
        for k in range(1, 40):
            u *= mpf((6 * k - 5) * (6 * k - 3) * (6 * k - 1)) / (216 * k * (2 * k - 1)) / zeta * sign
            terms.append(u * -mpf(6 * k + 1) / (6 * k - 1) if slope else u)
        return terms

    # Right of 2: over exponentials and roots, of 1 / zeta with zeta = 2/3 x^(3/2) (DLMF 9.7.5 to 9.7.8).
    def scaled(name: str) -> Callable[[mpf], mpf]:
        slope, growing = name.endswith("p"), name.startswith("b")

        def value(v: mpf) -> mpf:
            zeta = 1 / v
            if zeta > 300:
                return mp.fsum(u_series(zeta, slope, 1 if growing else -1))
            x = (3 * zeta / 2) ** (mpf(2) / 3)
            quarter = x ** (mpf(-1) / 4 if slope else mpf(1) / 4)
            size = root * quarter * mp.exp(-zeta if growing else zeta) * (1 if growing else 2)
            return size * names[name](x) * (-1 if name == "aip" else 1)

        return value

    for name in ("ai", "aip"):
        for part, a, b in (("middle", mpf(1) / 8, HALF), ("far", mpf(0), mpf(1) / 8)):
            fit(f"airy_{name}_{part}", f"e^zeta {name.capitalize()} over its leading term, of u = 1 / zeta", scaled(name), a, b)
    for name in ("bi", "bip"):
        for i, (a, b) in enumerate((("2.125", 4), (4, 6), (6, 8), (8, 11))):
            f = scaled(name)
            what = f"e^-zeta {name.capitalize()} over its leading term, of u = x"
            fit(f"airy_{name}_{i + 3}", what, lambda x, f=f: f(3 / (2 * x * mp.sqrt(x))), a, b)
        fit(f"airy_{name}_far", f"e^-zeta {name.capitalize()} over its leading term, of u = 1 / zeta", scaled(name), 0, mpf(1) / 24)

    # Left of -4: the factors of cosine and sine (DLMF 9.7.9 to 9.7.12).
    @functools.cache
    def waves(u: mpf, slope: bool) -> tuple[mpf, mpf]:
        zeta = 1 / mp.sqrt(u)
        if zeta > 150:
            terms = u_series(zeta, slope, 1)
            even, odd = (mp.fsum(t * (-1) ** i for i, t in enumerate(terms[first::2])) for first in (0, 1))
            return even, odd * zeta
        z = (3 * zeta / 2) ** (mpf(2) / 3)
        c, s = mp.cos(zeta - mp.pi / 4), mp.sin(zeta - mp.pi / 4)
        size = root * z ** (mpf(-1) / 4 if slope else mpf(1) / 4)
        a, b = size * names["aip" if slope else "ai"](-z), size * names["bip" if slope else "bi"](-z)
        return (s * a + c * b, (s * b - c * a) * zeta) if slope else (c * a - s * b, (s * a + c * b) * zeta)

    for slope, of in ((False, ("p", "q")), (True, ("r", "s"))):
        for index, name in enumerate(of):
            for part, a, b in (("middle", mpf(1) / 81, mpf(1) / 28), ("far", mpf(0), mpf(1) / 81)):
                beside = ("zeta times " if index else "") + ("the sine" if slope != bool(index) else "the cosine")
                what = f"The sum of DLMF 9.7.{11 if slope else 9} beside {beside}, of u = 1 / zeta^2"
                fit(f"airy_{name}_{part}", what, lambda u, slope=slope, index=index: waves(u, slope)[index], a, b)


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
        if u < mpf("2.5e-5"):
            f = mp.fsum((-1) ** k * mp.factorial(2 * k) * u**k for k in range(25))
            g = mp.fsum((-1) ** k * mp.factorial(2 * k + 1) * u**k for k in range(25))
            return f, g
        x = 1 / mp.sqrt(u)
        s, c = mp.si(x) - mp.pi / 2, mp.ci(x)
        return x * (c * mp.sin(x) - s * mp.cos(x)), x * x * (-c * mp.cos(x) - s * mp.sin(x))

    quotient("sici_f", "x f(x) of u = 1 / x^2 (DLMF 6.2.17)", lambda u: auxiliary(u)[0], mpf(1) / 16, 11)
    quotient("sici_g", "x^2 g(x) of u = 1 / x^2 (DLMF 6.2.18)", lambda u: auxiliary(u)[1], mpf(1) / 16, 11)


def fresnel_integrals() -> None:
    def of_fourth_power(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
        return lambda u: f(mp.root(u, 4))

    fit("fresnel_s_near", "S(x) / x^3 of u = x^4", of_fourth_power(lambda x: mp.fresnels(x) / x**3), 0, 16)
    fit("fresnel_c_near", "C(x) / x of u = x^4", of_fourth_power(lambda x: mp.fresnelc(x) / x), 0, 16)

    def auxiliary(u: mpf) -> tuple[mpf, mpf]:
        if u < mpf("1e-9"):
            f = mp.fsum((-1) ** k * mp.fac2(4 * k - 1) * (u / mp.pi**2) ** k for k in range(8))
            return f, mp.fsum((-1) ** k * mp.fac2(4 * k + 1) * (u / mp.pi**2) ** k for k in range(8))
        x = u ** mpf("-0.25")
        c, s, z = HALF - mp.fresnelc(x), HALF - mp.fresnels(x), mp.pi * x * x / 2
        return (s * mp.cos(z) - c * mp.sin(z)) * mp.pi * x, (c * mp.cos(z) + s * mp.sin(z)) * mp.pi**2 * x**3

    quotient("fresnel_f", "pi x f(x) of u = 1 / x^4 (DLMF 7.5.3)", lambda u: auxiliary(u)[0], mpf(1) / 16, 9)
    quotient("fresnel_g", "pi^2 x^3 g(x) of u = 1 / x^4 (DLMF 7.5.4)", lambda u: auxiliary(u)[1], mpf(1) / 16, 9)


def elliptic_integrals() -> None:
    """K(1 - p) = P(p) - log(p) Q(p) and E(1 - p) = P(p) - p log(p) Q(p): near p = 0 both polynomials are known (DLMF 19.12.1, 19.12.2), and
    towards 1 they help each other, so that few terms are enough on all of [0, 1]."""
    terms = 11
    nodes = [t**2 for t in spread(2 * terms)]
    for name, f, power in (("ellipk", lambda p: mp.ellipk(1 - p), 0), ("ellipe", lambda p: mp.ellipe(1 - p), 1)):
        plain = [lambda p, k=k, f=f: p**k / f(p) for k in range(terms)]
        logarithmic = [lambda p, k=k, f=f, power=power: -mp.log(p) * p ** (k + power) / f(p) for k in range(terms)]
        c = solve(plain + logarithmic, lambda p: mpf(1), nodes)
        checked = [(mpf(k) / 400) ** 3 for k in range(1, 400)]
        off = max(abs(mp.fsum(v * g(p) for v, g in zip(c, plain + logarithmic, strict=True)) - 1) for p in checked)
        horner(f"{name}_plain", f"P of {name}, of u = p on [0, 1]; the sum is off by {mp.nstr(off, 2)} at most", c[:terms], "u")
        horner(f"{name}_log", f"Q of {name}", c[terms:], "u")


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
    incomplete_gamma()
    bessel_functions()
    bessel_of_real_order()
    airy_functions()
    exponential_integrals()
    fresnel_integrals()
    elliptic_integrals()
    complex_functions()
    terms = [mp.bernoulli(2 * k) / mp.factorial(2 * k) for k in range(1, 16)]
    print("/// B_2k / (2k)!, k from 1 (Euler and Maclaurin's sum).")
    print("BC_FN double euler_maclaurin(int k) {")
    print(f"  const double c[] = {{{', '.join(repr(float(v)) for v in terms)}}};")
    print("  return c[k - 1];\n}")
    print("// clang-format on\n\n}  // namespace special_rows\n}  // namespace bc")


if __name__ == "__main__":
    main()
