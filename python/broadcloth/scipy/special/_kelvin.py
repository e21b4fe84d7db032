"""Kelvin's functions of order 0 and their derivatives: I and K of x exp(i pi / 4) (DLMF 10.61.1, 10.61.2), with real and imaginary parts
that keep their digits where one is much smaller."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._broadcloth import ndarray
from ._airy import _product_rest
from ._bessel import _grown
from ._functions import _real, special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["bei", "beip", "ber", "berp", "kei", "keip", "kelvin", "ker", "kerp"]

_EULER = 0.5772156649015329
# sqrt(1 / 2) as two numbers
_ROOT = 0.7071067811865476
_ROOT_REST = -4.833646656726457e-17
_HALF_PI = 1.5707963267948966


# 1 / k**2 and the sums of 1 / j to k, from k = 1 on
_SQUARES = tuple(1 / k**2 for k in range(1, 41))
_HARMONIC = tuple(math.fsum(1 / j for j in range(1, k + 1)) for k in range(1, 41))
# sqrt(2 z / pi) exp(z) K(z) of the orders 0 and 1 for z = x exp(i pi / 4) and x exp(3 i pi / 4), as polynomials of 1 / x, which is mapped
# to [-1, 1] from 0.1 to 0.4, from 0 to 0.1 and, behind the imaginary axis, from 0 to 0.125: real and imaginary parts, by Chebyshev's nodes.
_NEAR_0_REAL = (
    0.9784041436830156, -0.012481665039693073, 0.0003407181878759229, 1.38452671272716e-05, -7.243645239977197e-06,
    1.7254106574609238e-06, -3.5813872005531884e-07, 6.99558277416351e-08, -1.2879262387006328e-08, 2.1415445732957977e-09,
    -2.762046889706647e-10, 4.308986346602992e-12, 1.606532925505974e-11, -8.483545283389552e-12, 2.9097199869221605e-12,
    -1.0277142460756816e-12, 5.581103585277473e-13, -1.6928482769240473e-13,
)  # fmt: skip
_NEAR_0_IMAG = (
    0.018438651003297047, 0.009250027760597407, -0.0008954856289856845, 9.528246685219627e-05, -1.0448617588015454e-05,
    1.0307952035020892e-06, -5.092660321380479e-08, -1.65440016544211e-08, 8.542459692060567e-09, -2.823452156015134e-09,
    8.121579871484175e-10, -2.1737651064079135e-10, 5.4915140402993956e-11, -1.3113834928502776e-11, 3.137600355176756e-12,
    -6.731455821172031e-13, -1.1726514460987219e-14, 5.070305548904769e-14,
)  # fmt: skip
_NEAR_1_REAL = (
    1.0655613009061442, 0.03862881220663164, -0.000518290751008781, -2.871713576261315e-05, 1.0743805909001118e-05,
    -2.3262407094518006e-06, 4.5597117912622735e-07, -8.537924085373254e-08, 1.5151481889984316e-08, -2.41903260190092e-09,
    2.892520227413965e-10, 3.987833491591773e-12, -2.0672438092671448e-11, 1.0195994829253385e-11, -3.4280877812628757e-12,
    1.1863213887408078e-12, -6.247125768164528e-13, 1.871804207615934e-13,
)  # fmt: skip
_NEAR_1_IMAG = (
    -0.06000835130000544, -0.03278412845158815, 0.0016505924044550688, -0.00014271737369586169, 1.3944337626703537e-05,
    -1.2451635093706525e-06, 4.431281903636546e-08, 2.402706703962829e-08, -1.0949646393121558e-08, 3.4575443924950703e-09,
    -9.66159709924973e-10, 2.528850645921511e-10, -6.26512921853893e-11, 1.467766059729334e-11, -3.4499493775392178e-12,
    7.207333086651672e-13, 3.061725716552326e-14, -6.166429508862488e-14,
)  # fmt: skip
_FAR_0_REAL = (
    0.9955864048576064, -0.004402554067927743, 1.5702861559569472e-05, 4.149040582975076e-06, -4.707077050931538e-07,
    3.965381521124496e-08, -2.4425643273937408e-09, -6.061738763901335e-12, 3.983474387304675e-11, -9.72696033940667e-12,
    1.7098588114998044e-12, -2.336398013659227e-13, 1.1487300198172328e-14, 4.524472830241246e-15,
)  # fmt: skip
_FAR_0_IMAG = (
    0.004250067719715141, 0.004087072435113685, -0.00015674686202556156, 6.119241869332793e-06, -1.475936978481536e-07,
    -1.4244814403443296e-08, 3.5879280108020973e-09, -5.190227005933284e-10, 5.7770900966685716e-11, -4.011827928407347e-12,
    -2.831209981961737e-13, 2.0009500960618749e-13, -6.13617183868889e-14, 1.1979230076533639e-14,
)  # fmt: skip
_FAR_1_REAL = (
    1.013250029643438, 0.013234366460843448, -2.2378925824626583e-05, -6.045295636960622e-06, 6.18606968126578e-07,
    -4.9041758388465204e-08, 2.8745522910726314e-09, 1.5580633914886637e-11, -4.681050780307203e-11, 1.1113600272091918e-11,
    -1.9167175711800894e-12, 2.5718005671291055e-13, -1.1952603206178817e-14, -5.098410488163776e-15,
)  # fmt: skip
_FAR_1_IMAG = (
    -0.012974294817453685, -0.012699253703698099, 0.0002662559616148208, -8.624837655435654e-06, 1.837805968542155e-07,
    1.8432724618885048e-08, -4.354725088313072e-09, 6.089451454795127e-10, -6.59546217571788e-11, 4.412320853942787e-12,
    3.4325691646227655e-13, -2.2606397995653027e-13, 6.786662903286854e-14, -1.3083695114105504e-14,
)  # fmt: skip
_BEHIND_0_REAL = (
    1.0055097693993669, 0.005478773625388581, -4.958934930855814e-05, -2.0767631834131042e-05, -2.2005336733882227e-06,
    3.3717830451239223e-08, 7.234108406204888e-08, 1.0359564802455319e-08, -3.0733145357166247e-09, -1.2431934828704676e-09,
    2.0885855420499973e-10, 1.6340558337238404e-10, -2.813808141997618e-11, -2.491544673331471e-11, 5.389425666959772e-12,
    3.675248405347687e-12, -6.901744406587254e-13, -3.47329276706384e-13,
)  # fmt: skip
_BEHIND_0_IMAG = (
    0.005811382528911978, 0.006110521384533868, 0.00031046579120885527, 1.0306028101099968e-05, -1.3808098240446495e-06,
    -3.934997658440966e-07, -2.3258843167385777e-08, 1.4259802859965443e-08, 3.6246758966376654e-09, -7.430318173080651e-10,
    -4.40092994545874e-10, 7.145130557213205e-11, 6.228094001379885e-11, -1.3448345396556136e-11, -9.036112008216616e-12,
    2.892466451178395e-12, 8.825800858634844e-13, -3.716633734614507e-13,
)  # fmt: skip
_BEHIND_1_REAL = (
    0.9834472668291054, -0.016510024910519353, 6.801535789697182e-05, 2.8084410642714874e-05, 2.8194548762458967e-06,
    -2.6855936905435894e-08, -8.310713944532854e-08, -1.2234967326650065e-08, 3.3021171083097308e-09, 1.3940222630205164e-09,
    -2.126963547995513e-10, -1.7911267087459364e-10, 2.818436019511028e-11, 2.707603292989454e-11, -5.459437194009322e-12,
    -3.992708682043067e-12, 7.058185779277036e-13, 3.7864649666482646e-13,
)  # fmt: skip
_BEHIND_1_IMAG = (
    -0.01704804817943964, -0.01754023673870968, -0.0005082976449318495, -1.487869830915375e-05, 1.6622216791409883e-06,
    4.726734311399767e-07, 2.946188503557919e-08, -1.5810923645783554e-08, -4.146847784105603e-09, 7.754134777376851e-10,
    4.868202515433097e-10, -7.176074557069702e-11, -6.787703885458512e-11, 1.3567552850891577e-11, 9.803816878322372e-12,
    -2.957938433042326e-12, -9.579153874643268e-13, 3.8301027657217616e-13,
)  # fmt: skip


def _kelvin_sums(x: Any, slope: Any) -> Any:
    """The sums of t**k / k!**2 and of that times the k-th harmonic number for t = i x**2 / 4, or x times their derivatives by x."""
    q = 0.25 * x * x
    power = 1.0
    sign = 1.0
    real = 0.0 if slope else 1.0
    imag = 0.0
    harmonic_real = 0.0
    harmonic_imag = 0.0
    for k in range(1, 39, 2):
        power *= q * _SQUARES[k - 1]
        odd = sign * power * (2 * k if slope else 1)
        sign = -sign
        power *= q * _SQUARES[k]
        even = sign * power * (2 * k + 2 if slope else 1)
        imag += odd
        real += even
        harmonic_imag += _HARMONIC[k - 1] * odd
        harmonic_real += _HARMONIC[k] * even
        if abs(even) < 1e-19 * abs(real) or power == 0:
            break
    return complex(real, imag), complex(harmonic_real, harmonic_imag)


def _eighth_turn(z: Any) -> Any:
    """z exp(i pi / 4)"""
    return complex(_ROOT * (z.real - z.imag), _ROOT * (z.real + z.imag))


def _scaled_k(x: Any, order: Any) -> Any:
    """exp(z) K of order 0 or 1 at z = x exp(i pi / 4) for x >= 2.5."""
    real = 0.0
    imag = 0.0
    if x < 10:
        u = (2 / x - 0.5) / 0.3
        for k in range(len(_NEAR_0_REAL) - 1, -1, -1):
            real = real * u + (_NEAR_1_REAL[k] if order == 1 else _NEAR_0_REAL[k])
            imag = imag * u + (_NEAR_1_IMAG[k] if order == 1 else _NEAR_0_IMAG[k])
    else:
        u = 20 / x - 1
        for k in range(len(_FAR_0_REAL) - 1, -1, -1):
            real = real * u + (_FAR_1_REAL[k] if order == 1 else _FAR_0_REAL[k])
            imag = imag * u + (_FAR_1_IMAG[k] if order == 1 else _FAR_0_IMAG[k])
    # exp(-i pi / 8) sqrt(pi / (2 x)), the square root of pi / (2 z)
    scale = math.sqrt(_HALF_PI / x)
    return complex(0.9238795325112867 * scale, -0.3826834323650898 * scale) * complex(real, imag)


def _scaled_i(x: Any, order: Any) -> Any:
    """exp(-z) I of order 0 or 1 at z = x exp(i pi / 4) for x >= 8: from K at z and at exp(-i pi) z (DLMF 10.34.2)."""
    real = 0.0
    imag = 0.0
    u = 16 / x - 1
    for k in range(len(_BEHIND_0_REAL) - 1, -1, -1):
        real = real * u + (_BEHIND_1_REAL[k] if order == 1 else _BEHIND_0_REAL[k])
        imag = imag * u + (_BEHIND_1_IMAG[k] if order == 1 else _BEHIND_0_IMAG[k])
    scale = math.sqrt(_HALF_PI / x)
    behind = complex(0.3826834323650898 * scale, 0.9238795325112867 * scale) * complex(real, -imag)
    if x < 40:
        small = _scaled_k(x, order) * math.exp(-2 * _ROOT * x)
        small = small * complex(math.cos(2 * _ROOT * x), -math.sin(2 * _ROOT * x))
        behind = behind + small if order == 1 else behind - small
    # Divided by i pi.
    return complex(behind.imag / math.pi, -behind.real / math.pi)


def _wave_of(x: Any) -> Any:
    """exp(i x / sqrt(2)) with all digits, and what the rounded x / sqrt(2) lacks."""
    a = _ROOT * x
    rest = _product_rest(x, _ROOT, a) + x * _ROOT_REST
    return complex(math.cos(a), math.sin(a)) * complex(1.0, rest), rest


def _be(x: Any, slope: Any) -> Any:
    """ber + i bei, or its derivative by x."""
    size = abs(x)
    if not size < 1e6:
        return complex(math.nan, math.nan)
    if size <= 8:
        value, _ = _kelvin_sums(size, slope)
        if slope:
            value = value / size if size > 0 else complex(0.0, 0.0)
    else:
        wave, rest = _wave_of(size)
        value = _scaled_i(size, 1 if slope else 0) * wave
        value = _eighth_turn(value) if slope else value
        value = _grown(value * (1 + rest), _ROOT * size)
    return -value if slope and x < 0 else value


def _ke_of(x: Any, slope: Any) -> Any:
    """ker + i kei, or its derivative by x."""
    if not x >= 0:
        return complex(math.nan, math.nan)
    if x == 0:
        return complex(-math.inf, 0.0) if slope else complex(math.inf, -0.5 * _HALF_PI)
    if x > 1e5:
        return complex(0.0, 0.0)
    if x <= 2.5:
        l = math.log(0.5 * x) + _EULER
        plain, harmonic = _kelvin_sums(x, slope)
        value = harmonic - complex(l, 0.5 * _HALF_PI) * plain
        if slope:
            still, _ = _kelvin_sums(x, False)
            value = (value - still) / x
        return value
    wave, rest = _wave_of(x)
    scaled = _scaled_k(x, 1 if slope else 0)
    value = (-_eighth_turn(scaled) if slope else scaled) * wave.conjugate()
    return _grown(value * (1 - rest), -_ROOT * x)


# ---- The ufuncs. The second derivative of both pairs u + i v is (i (u + i v) - (u' + i v') / x).


def _ber_slopes(y: Any, x: Any) -> Any:
    return (berp(x),)


def _bei_slopes(y: Any, x: Any) -> Any:
    return (beip(x),)


def _ker_slopes(y: Any, x: Any) -> Any:
    return (kerp(x),)


def _kei_slopes(y: Any, x: Any) -> Any:
    return (keip(x),)


def _berp_slopes(y: Any, x: Any) -> Any:
    return (-bei(x) - y / x,)


def _beip_slopes(y: Any, x: Any) -> Any:
    return (ber(x) - y / x,)


def _kerp_slopes(y: Any, x: Any) -> Any:
    return (-kei(x) - y / x,)


def _keip_slopes(y: Any, x: Any) -> Any:
    return (ker(x) - y / x,)


@special_function("f d", slopes=_ber_slopes)
def ber(x: Any) -> Any:
    """Kelvin's function ber, the real part of jv(0, x exp(3 pi i / 4)).

    Examples
    --------
    >>> bc.scipy.special.ber([0.0, 1.0, 5.0])
    array([ 1.        ,  0.98438178, -6.23008248])
    """
    return _be(x, False).real


@special_function("f d", slopes=_bei_slopes)
def bei(x: Any) -> Any:
    """Kelvin's function bei, the imaginary part of jv(0, x exp(3 pi i / 4)).

    Examples
    --------
    >>> bc.scipy.special.bei([0.0, 1.0, 5.0])
    array([0.        , 0.24956604, 0.11603438])
    """
    return _be(x, False).imag


@special_function("f d", slopes=_berp_slopes)
def berp(x: Any) -> Any:
    """The derivative of Kelvin's function ber.

    Examples
    --------
    >>> bc.scipy.special.berp([0.0, 1.0, 5.0])
    array([ 0.        , -0.06244575, -3.84533947])
    """
    return _be(x, True).real


@special_function("f d", slopes=_beip_slopes)
def beip(x: Any) -> Any:
    """The derivative of Kelvin's function bei.

    Examples
    --------
    >>> bc.scipy.special.beip([0.0, 1.0, 5.0])
    array([ 0.        ,  0.49739651, -4.35414051])
    """
    return _be(x, True).imag


@special_function("f d", slopes=_ker_slopes)
def ker(x: Any) -> Any:
    """Kelvin's function ker, the real part of kv(0, x exp(pi i / 4)) for x >= 0.

    Examples
    --------
    >>> bc.scipy.special.ker([1.0, 5.0])
    array([ 0.28670621, -0.01151173])
    """
    return _ke_of(x, False).real


@special_function("f d", slopes=_kei_slopes)
def kei(x: Any) -> Any:
    """Kelvin's function kei, the imaginary part of kv(0, x exp(pi i / 4)) for x >= 0.

    Examples
    --------
    >>> bc.scipy.special.kei([0.0, 1.0, 5.0])
    array([-0.78539816, -0.49499464,  0.01118759])
    """
    return _ke_of(x, False).imag


@special_function("f d", slopes=_kerp_slopes)
def kerp(x: Any) -> Any:
    """The derivative of Kelvin's function ker.

    Examples
    --------
    >>> bc.scipy.special.kerp([1.0, 5.0])
    array([-0.69460389,  0.0171934 ])
    """
    return _ke_of(x, True).real


@special_function("f d", slopes=_keip_slopes)
def keip(x: Any) -> Any:
    """The derivative of Kelvin's function kei.

    Examples
    --------
    >>> bc.scipy.special.keip([0.0, 1.0, 5.0])
    array([ 0.        ,  0.35236991, -0.00081999])
    """
    return _ke_of(x, True).imag


@special_function("F D")
def _kelvin_be(x: Any) -> Any:
    return _be(x.real, False)


@special_function("F D")
def _kelvin_bep(x: Any) -> Any:
    return _be(x.real, True)


@special_function("F D")
def _kelvin_ke(x: Any) -> Any:
    return _ke_of(x.real, False)


@special_function("F D")
def _kelvin_kep(x: Any) -> Any:
    return _ke_of(x.real, True)


def kelvin(x: ArrayLike) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Kelvin's functions ber + i bei and ker + i kei, and the derivatives of both, as complex numbers.

    Examples
    --------
    >>> be, ke, bep, kep = bc.scipy.special.kelvin(1.0)
    >>> be
    array(0.98438178+0.24956604j)
    """
    x = _real("kelvin", x)
    return _kelvin_be(x), _kelvin_ke(x), _kelvin_bep(x), _kelvin_kep(x)
