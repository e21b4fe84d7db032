"""The functions of scipy.special beside SciPy's, on the CPU.

    BROADCLOTH_NUM_THREADS=1 python bench/special.py [gamma jv ...] [--size 20000] [--rounds 5] [--complex] [--json special.json]

Each line of `CASES` is a function and its operands' ranges: `a:b` uniform, `a:b:log` uniform in the logarithm, `a:b:n` whole numbers,
`a:b:z` complex numbers of that square, a number alone the same for all elements. Results are compared before anything is timed: `differ`
is the largest relative difference of nine tenths and of all elements. Both libraries take turns, and each has its best processor time of
several rounds; `ratio` is SciPy's time by broadcloth's, with the worst first. With one thread it is nearly what a loaded machine's two
threads halve. `first` is the first call, with the compiler's work (no kernel comes from a cache if BROADCLOTH_CACHE_DIR is empty).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

CASES = """
gamma 0.1:20; gamma -20:20; gamma 0.5:170; gammaln 0.1:100; gammaln -20:20; gammaln 0.1:1e6:log; loggamma 0.1:100; rgamma 0.1:20
rgamma -20:20; gammasgn -20:20; digamma 0.1:20; digamma -20:20; psi 0.1:100; polygamma 2 0.1:20; beta 0.1:20 0.1:20; beta 0.1:200 0.1:200
betaln 0.1:20 0.1:20; betaln 0.1:1e4:log 0.1:1e4:log; poch 0.1:20 0.1:10; binom 1:50 0:50; binom 1:60:n 0:20:n; zeta 1.1:20 0.5:10
zeta 1.5:30; zetac 1.1:30; multigammaln 10:50 3; stirling2 20:30:n 3:9:n; comb 1:60:n 0:20:n; factorial 0:25:n; factorial 0:50; erf -3:3
erf -0.9:0.9; erfc -3:6; erfcx -2:20; erfi -3:3; erfinv -1:1; erfcinv 0:2; ndtr -5:5; log_ndtr -20:5; ndtri 0:1; ndtri_exp -30:-0.01
dawsn -8:8; voigt_profile -5:5 0.5:2 0.5:2; expit -20:20; log_expit -20:20; logit 0:1; xlogy 0:10 0.1:10; xlog1py 0:10 -0.5:10; entr 0:5
rel_entr 0:5 0.1:5; kl_div 0:5 0.1:5; huber 0.5:2 -5:5; pseudo_huber 0.5:2 -5:5; boxcox 0.1:10 -2:2; boxcox1p 0.1:10 -2:2
inv_boxcox -0.4:3 0.1:2; inv_boxcox1p -0.4:3 0.1:2; exprel -10:10; cosm1 -3:3; exp10 -5:5; exp2 -20:20; expm1 -5:5; log1p -0.5:10
cbrt -50:50; powm1 0.5:2 -3:3; sindg -720:720; cosdg -720:720; tandg -720:720; cotdg -720:720; radian 0:90 0:60 0:60; round -50:50
sinc -10:10; diric -10:10 7; agm 0.1:10 0.1:10; wrightomega -10:10; i0 -10:10; i0 0:100; i0e -50:50; i1 -10:10; i1e -50:50; k0 0.1:20
k0e 0.1:50; k1 0.1:20; k1e 0.1:50; j0 0:4; j0 0:50; j0 0:1e4; j1 0:50; y0 0.1:50; y1 0.1:50; jn 3:3:n 0.1:30; jv 0:10 0.1:50
jv 2:2:n 0.1:50; jv 0.5 0.1:20; jv 0:60 0.1:60; jve 0:10 0.1:50; yn 0:6:n 0.1:50; yv 0:10 0.1:50; yve 0:10 0.1:50; iv 0:10 0.1:50
iv 2:2:n 0.1:20; ive 0:10 0.1:50; kv 0:10 0.1:50; kv 2.5 0.1:20; kve 0:10 0.1:50; kn 0:6:n 0.1:20; spherical_jn 0:10:n 0.1:50
spherical_yn 0:10:n 0.1:50; spherical_in 0:10:n 0.1:20; spherical_kn 0:10:n 0.1:20; hankel1 0:10 0.1:50:z; hankel2 0:10 0.1:50:z
hankel1e 0:10 0.1:50:z; hankel2e 0:10 0.1:50:z; hyp0f1 0.5:10 -20:20; struve 0:5 0.1:30; modstruve 0:5 0.1:20; airy -20:10; airy -5:5
airye -5:20; itairy -10:10; itj0y0 0.1:20; iti0k0 0.1:20; it2j0y0 0.1:20; it2i0k0 0.1:20; itstruve0 0.1:20; it2struve0 0.1:20
itmodstruve0 0.1:20; besselpoly 0.5:2 0:3 0:3; ber -10:10; bei -10:10; ker 0.1:10; kei 0.1:10; berp -10:10; beip -10:10; kerp 0.1:10
keip 0.1:10; kelvin 0.1:10; jvp 2.5 0.1:20; yvp 2.5 0.1:20; ivp 2.5 0.1:20; kvp 2.5 0.1:20; h1vp 2.5 0.1:20:z; exp1 0.1:20; expi 0.1:20
expi -20:20; expn 0:10:n 0.1:20; sici 0.1:30; shichi 0.1:20; spence 0:10; fresnel 0:10; fresnel 0:1; modfresnelp 0.1:10
modfresnelm 0.1:10; lambertw -0.3:10; ellipk 0:1; ellipkm1 0:1; ellipe 0:1; ellipkinc 0:1.5 0:1; ellipkinc -10:10 0:0.9
ellipeinc 0:1.5 0:1; ellipj 0:5 0:1; elliprf 0.1:5 0.1:5 0.1:5; elliprd 0.1:5 0.1:5 0.1:5; elliprc 0.1:5 0.1:5; elliprg 0.1:5 0.1:5 0.1:5
elliprj 0.1:5 0.1:5 0.1:5 0.1:5; gammainc 0.1:20 0.1:20; gammainc 20:200 20:200; gammainc 0.1:3 0.1:3; gammaincc 0.1:20 0.1:20
gammaincc 20:200 20:200; gammaincinv 0.1:20 0:1; gammainccinv 0.1:20 0:1; betainc 0.5:20 0.5:20 0:1; betainc 20:500 20:500 0.3:0.7
betaincc 0.5:20 0.5:20 0:1; betaincinv 0.5:20 0.5:20 0:1; betainccinv 0.5:20 0.5:20 0:1; bdtr 2:9:n 10:40:n 0:1; bdtrc 2:9:n 10:40:n 0:1
bdtri 2:9:n 10:40:n 0.01:0.99; bdtrik 0.1:0.9 10:40 0.1:0.9; bdtrin 2:9 0.1:0.9 0.1:0.9; nbdtr 2:9:n 10:40:n 0:1; nbdtrc 2:9:n 10:40:n 0:1
nbdtri 2:9:n 10:40:n 0.01:0.99; nbdtrik 0.1:0.9 10:40 0.1:0.9; nbdtrin 2:9 0.1:0.9 0.1:0.9; pdtr 0:20:n 0.1:20; pdtrc 0:20:n 0.1:20
pdtri 0:20:n 0.01:0.99; pdtrik 0.1:0.9 1:20; chdtr 1:20 0.1:30; chdtrc 1:20 0.1:30; chdtri 1:20 0.01:0.99; chdtriv 0.1:0.9 1:20
chndtr 0.1:20 1:10 0.5:5; chndtrix 0.1:0.9 1:10 0.5:5; chndtridf 1:20 0.1:0.9 0.5:5; chndtrinc 5:20 1:4 0.1:0.6; fdtr 1:20 1:20 0.1:5
fdtrc 1:20 1:20 0.1:5; fdtri 1:20 1:20 0.01:0.99; fdtridfd 2:20 0.1:0.9 1:3; gdtr 0.5:3 0.5:10 0.1:10; gdtrc 0.5:3 0.5:10 0.1:10
gdtria 0.1:0.9 0.5:10 0.1:10; gdtrib 0.5:3 0.1:0.9 0.5:10; gdtrix 0.5:3 0.5:10 0.1:0.9; btdtria 0.1:0.9 0.5:10 0.1:0.9
btdtrib 0.5:10 0.1:0.9 0.1:0.9; stdtr 1:30 -5:5; stdtrit 1:30 0.01:0.99; stdtridf 0.6:0.9 0.3:2; ncfdtr 2:10 2:10 0.5:3 0.1:4
ncfdtri 2:10 2:10 0.5:3 0.1:0.9; ncfdtridfd 2:10 0.1:0.5 0.5:3 1:3; ncfdtridfn 2:10 0.1:0.5 0.5:3 1:3; ncfdtrinc 2:10 2:10 0.1:0.4 2:4
nctdtr 1:20 -2:2 -4:4; nctdtrit 1:20 -2:2 0.1:0.9; nctdtridf 0.1:0.5 0.2:1 1:3; nctdtrinc 1:20 0.1:0.9 -2:2; nrdtrimn 0.1:0.4 0.5:2 1:3
nrdtrisd 1:3 0.6:0.9 4:6; kolmogorov 0.1:2; kolmogi 0.01:0.99; smirnov 1:50:n 0:1; smirnovi 1:50:n 0.01:0.99; tklmbda -3:3 0.1:1
owens_t -3:3 -2:2; hyp1f1 0.5:5 0.5:5 -10:10; hyp1f1 0.5:5 0.5:5 -60:60; hyp2f1 0.1:3 0.1:3 0.5:5 -0.9:0.9
hyp2f1 0.1:3 0.1:3 0.5:5 -10:0.99; hyp2f1 0.5 1.5 2.5 0:0.99; hyperu 0.5:5 0.5:5 0.1:20; eval_jacobi 0:10:n 0.5 0.5 -1:1
eval_jacobi 0:10 0.5 0.5 -1:1; eval_sh_jacobi 0:10:n 1.5 0.7 0:1; eval_gegenbauer 0:10:n 0.5:2 -1:1; eval_chebyt 0:20:n -1:1
eval_chebyu 0:20:n -1:1; eval_chebyc 0:20:n -2:2; eval_chebys 0:20:n -2:2; eval_sh_chebyt 0:20:n 0:1; eval_sh_chebyu 0:20:n 0:1
eval_chebyt 0:20 -1:1; eval_legendre 0:20:n -1:1; eval_legendre 0:10 -0.9:1; eval_sh_legendre 0:20:n 0:1
eval_genlaguerre 0:20:n 0.5:2 0:20; eval_laguerre 0:20:n 0:20; eval_hermite 0:20:n -3:3; eval_hermitenorm 0:20:n -3:3
lpmv 0:4:n 4:9:n -1:1; legendre_p 0:20:n -1:1; assoc_legendre_p 4:9:n 0:4:n -1:1; sph_legendre_p 4:9:n 0:4:n 0:3
sph_harm_y 4:9:n 0:4:n 0:3 0:6; mathieu_a 0:10:n 0:20; mathieu_b 1:10:n 0:20; mathieu_cem 0:10:n 0:20 0:90; mathieu_sem 1:10:n 0:20 0:90
mathieu_modcem1 0:6:n 0.5:10 0.1:2; mathieu_modsem1 1:6:n 0.5:10 0.1:2; mathieu_modcem2 0:6:n 0.5:10 0.1:2
mathieu_modsem2 1:6:n 0.5:10 0.1:2; pbdv 0:5 -5:5; pbvv 0.1:5 -5:5; pbwa -3:3 -3:3; pro_cv 0:3:n 4:8:n 0.5:5; obl_cv 0:3:n 4:8:n 0.5:5
pro_ang1 0:3:n 4:8:n 0.5:5 -0.9:0.9; obl_ang1 0:3:n 4:8:n 0.5:5 -0.9:0.9; pro_rad1 0:3:n 4:8:n 0.5:5 1.1:3
obl_rad1 0:3:n 4:8:n 0.5:5 0.1:3; pro_rad2 0:3:n 4:8:n 0.5:5 1.5:3; obl_rad2 0:3:n 4:8:n 0.5:5 0.5:3; wright_bessel 0.5:2 0.5:2 0.1:10
log_wright_bessel 0.5:2 0.5:2 0.1:10; logsumexp 0:10; softmax 0:10; log_softmax 0:10; softplus -10:10; ellip_harm 1 2 2:2:n 1:1:n 0.5:3
"""

COMPLEX_CASES = """
gamma -10:10:z; loggamma -10:10:z; rgamma -10:10:z; digamma -10:10:z; erf -3:3:z; erfc -3:3:z; erfcx -3:3:z; erfi -3:3:z; dawsn -3:3:z
wofz -5:5:z; ndtr -3:3:z; log_ndtr -3:3:z; exp1 -10:10:z; expi -10:10:z; sici -10:10:z; shichi -10:10:z; spence -5:5:z; fresnel -3:3:z
lambertw -5:5:z; expm1 -3:3:z; log1p -3:3:z; xlogy -3:3:z -3:3:z; xlog1py -3:3:z -3:3:z; wrightomega -5:5:z; jv 0:10 -20:20:z
yv 0:10 -20:20:z; iv 0:10 -20:20:z; kv 0:10 -20:20:z; jve 0:10 -20:20:z; hyp0f1 0.5:5 -10:10:z; airy -5:5:z; airye -5:5:z
hyp1f1 0.5:5 0.5:5 -10:10:z; hyp2f1 0.1:3 0.1:3 0.5:5 -0.6:0.6:z; hyp2f1 0.1:3 0.1:3 0.5:5 -3:3:z; elliprf 0.1:5:z 0.1:5:z 0.1:5:z
elliprd 0.1:5:z 0.1:5:z 0.1:5:z; elliprc 0.1:5:z 0.1:5:z; elliprg 0.1:5:z 0.1:5:z 0.1:5:z; elliprj 0.1:5:z 0.1:5:z 0.1:5:z 0.1:5:z
eval_legendre 0:10:n -1:1:z; eval_chebyt 0:10:n -1:1:z; eval_jacobi 0:10 0.5 0.5 -1:1:z; spherical_jn 0:10:n -10:10:z
spherical_yn 0:10:n -10:10:z
"""
ENOUGH = 0.02  # seconds of one call; a slower function is timed over fewer elements


def operand(text: str, size: int, random: np.random.Generator) -> Any:
    low, _, rest = text.partition(":")
    high, _, kind = rest.partition(":")
    if not rest:
        return float(low) if "." in low else int(low)
    a, b = float(low), float(high)
    if kind == "log":
        return np.exp(random.uniform(np.log(a), np.log(b), size))
    if kind == "n":
        return random.integers(int(a), int(b) + 1, size)
    if kind == "z":
        return random.uniform(a, b, size) + 1j * random.uniform(a, b, size)
    return random.uniform(a, b, size)


def best(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def flat(values: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(v)) for v in (values if isinstance(values, tuple) else (values,))])


def difference(mine: Any, theirs: Any) -> tuple[float, float]:
    """The relative difference that nine tenths of the elements keep, and the largest."""
    mine, theirs = flat(mine), flat(theirs)
    with np.errstate(all="ignore"):
        apart = np.abs(mine - theirs) / np.abs(theirs)
    apart[(mine == theirs) | (np.isnan(mine) & np.isnan(theirs))] = 0
    apart = np.nan_to_num(apart, nan=np.inf)
    return float(np.quantile(apart, 0.9)), float(apart.max())


def measure(line: str, size: int, rounds: int, bc: Any, special: Any) -> dict[str, Any] | None:
    name, *texts = line.split()
    mine, theirs = getattr(bc.scipy.special, name, None), getattr(special, name, None)
    if mine is None or theirs is None:
        print(f"{line}: missing in {'SciPy' if theirs is None else 'broadcloth'}", file=sys.stderr)
        return None

    def results(operands: list[Any]) -> Any:
        values = mine(*operands)
        bc.synchronize()
        return values

    for count in (size, size // 10, size // 100):
        random = np.random.default_rng(0)
        given = [operand(t, count, random) for t in texts]
        held = [bc.array(x) if isinstance(x, np.ndarray) else x for x in given]
        start = time.process_time()
        expected = theirs(*given)
        if time.process_time() - start < 10 * ENOUGH:
            break
    start = time.perf_counter()
    values = results(held)
    first = time.perf_counter() - start
    apart = difference(tuple(v.numpy() for v in values) if isinstance(values, tuple) else values.numpy(), expected)
    ours, other = [], []
    for _ in range(rounds):
        ours.append(best(lambda: results(held), 1))
        other.append(best(lambda: theirs(*given), 1))
    return {
        "case": line,
        "ratio": min(other) / min(ours),
        "ns": min(ours) / count * 1e9,
        "scipy_ns": min(other) / count * 1e9,
        "first_ms": first * 1e3,
        "differ": apart[0],
        "differ_most": apart[1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="functions; all of them by default")
    parser.add_argument("--size", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--complex", action="store_true", help="complex operands instead of real ones")
    parser.add_argument("--json", help="write the measurements to this file")
    args = parser.parse_args()
    import scipy.special as special

    import broadcloth as bc
    import broadcloth.scipy.special

    bc.set_default_device("cpu")
    bc.config.background_compile = False
    lines = [case.strip() for case in (COMPLEX_CASES if args.complex else CASES).replace("\n", ";").split(";") if case.strip()]
    rows = []
    for line in lines:
        if args.names and line.split()[0] not in args.names:
            continue
        try:
            with np.errstate(all="ignore"):
                row = measure(line, args.size, args.rounds, bc, special)
        except Exception as error:
            print(f"{line}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        if row:
            rows.append(row)
            if args.json:
                with open(args.json, "w") as file:
                    json.dump(rows, file, indent=1)
    print(f"{'ratio':>7} {'ns':>9} {'SciPy ns':>9} {'first ms':>9} {'differ':>8} {'at most':>8}  case")
    for row in sorted(rows, key=lambda r: r["ratio"]):
        print(
            f"{row['ratio']:7.2f} {row['ns']:9.1f} {row['scipy_ns']:9.1f} {row['first_ms']:9.1f} {row['differ']:8.0e}"
            f" {row['differ_most']:8.0e}  {row['case']}"
        )


if __name__ == "__main__":
    main()
