"""Intrinsic functions of CUDA C++ against exact arithmetic: directed rounding, video instructions, 8- and 16-bit floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import broadcloth as bc

rng = np.random.default_rng(3)


def run(device, text, threads, *arguments):
    with bc.device(device):
        given = [bc.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        bc.RawKernel(text, "k")((1,), (threads,), tuple(given))
        return [a.get() if isinstance(a, bc.ndarray) else a for a in given]


def directed(exact: Fraction, kind: type, mode: str):
    """The number below, above or towards zero of an exact value."""
    near = kind(float(exact)) if kind is np.float64 else kind(np.float64(float(exact)))
    if Fraction(float(near)) > exact:
        low, high = np.nextafter(near, kind(-np.inf)), near
    elif Fraction(float(near)) < exact:
        low, high = near, np.nextafter(near, kind(np.inf))
    else:
        return near
    return {"rd": low, "ru": high, "rz": low if exact > 0 else high}[mode]


ROUNDED = {
    "add": ("{0}add_{1}(a, b)", lambda a, b, c: a + b),
    "sub": ("{0}sub_{1}(a, b)", lambda a, b, c: a - b),
    "mul": ("{0}mul_{1}(a, b)", lambda a, b, c: a * b),
    "div": ("{0}div_{1}(a, b)", lambda a, b, c: a / b),
    "fma": ("{2}_{1}(a, b, c)", lambda a, b, c: a * b + c),
}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rounding_up_down_and_to_zero(device, kind):
    letter, name, fused = ("f", "float", "__fmaf") if kind is np.float32 else ("d", "double", "__fma")
    modes = ("rd", "ru", "rz")
    calls = [pattern.format("__" + letter, mode, fused) for pattern, _ in ROUNDED.values() for mode in modes]
    body = "".join(f"out[{i} * n + t] = {call};" for i, call in enumerate(calls))
    text = f"""extern "C" __global__ void k(const {name}* x, const {name}* y, const {name}* z, {name}* out) {{
      int t = threadIdx.x, n = blockDim.x; {name} a = x[t], b = y[t], c = z[t]; {body} }}"""
    n = 128
    x, y, z = (rng.standard_normal(n).astype(kind) * kind(10) ** rng.integers(-6, 6, n).astype(kind) for _ in range(3))
    out = run(device, text, n, x, y, z, np.zeros((len(calls), n), kind))[3].reshape(len(ROUNDED), 3, n)
    for i, (_, exact) in enumerate(ROUNDED.values()):
        for j, mode in enumerate(modes):
            expected = [directed(exact(*(Fraction(float(v)) for v in abc)), kind, mode) for abc in zip(x, y, z, strict=True)]
            np.testing.assert_array_equal(out[i, j], np.array(expected, kind))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_is_rounded_to_nearest_is_never_fused(device, kind):
    letter, name = ("f", "float") if kind is np.float32 else ("d", "double")
    text = f"""extern "C" __global__ void k(const {name}* x, const {name}* y, const {name}* z, {name}* out) {{
      int t = threadIdx.x, n = blockDim.x; {name} a = x[t], b = y[t], c = z[t];
      out[t] = __{letter}add_rn(a, __{letter}mul_rn(b, c)); out[n + t] = __{letter}sub_rn(__{letter}mul_rn(b, c), a); }}"""
    n = 128
    x, y, z = (rng.standard_normal(n).astype(kind) for _ in range(3))
    out = run(device, text, n, x, y, z, np.zeros((2, n), kind))[3]
    np.testing.assert_array_equal(out, [x + y * z, y * z - x])


def test_conversions_that_round(device):
    text = """extern "C" __global__ void k(const long long* x, float* f, double* d) { int t = threadIdx.x;
      f[3 * t] = __ll2float_rd(x[t]); f[3 * t + 1] = __ll2float_ru(x[t]); f[3 * t + 2] = __ll2float_rz(x[t]);
      d[2 * t] = __ll2double_rd(x[t]); d[2 * t + 1] = __ll2double_ru(x[t]); }"""
    x = rng.integers(-(2**63), 2**63, 64)
    _, f, d = run(device, text, 64, x, np.zeros((64, 3), np.float32), np.zeros((64, 2)))
    for i, v in enumerate(x.tolist()):
        exact = Fraction(v)
        assert [directed(exact, np.float32, m) for m in ("rd", "ru", "rz")] == f[i].tolist()
        assert [directed(exact, np.float64, m) for m in ("rd", "ru")] == d[i].tolist()


VIDEO = """extern "C" __global__ void k(const unsigned* x, const unsigned* y, unsigned* out) {
  unsigned a = x[threadIdx.x], b = y[threadIdx.x], *o = out + 16 * threadIdx.x;
  o[0] = __vadd4(a, b); o[1] = __vsubss4(a, b); o[2] = __vaddus2(a, b); o[3] = __vmaxs4(a, b);
  o[4] = __vminu2(a, b); o[5] = __vabsdiffu4(a, b); o[6] = __vcmpgts4(a, b); o[7] = __vseteq4(a, b);
  o[8] = __vavgu4(a, b); o[9] = __vsadu4(a, b); o[10] = __vnegss2(a); o[11] = __vhaddu2(a, b);
  o[12] = (unsigned)__dp4a((int)a, (int)b, 7); o[13] = __dp2a_hi(a, b, 9u);
  o[14] = __vimax3_s16x2(a, b, 0x00050005u); o[15] = __vabs4(a); }"""


def test_video_instructions(device):
    n = 64
    x, y = (rng.integers(0, 2**32, n, dtype=np.uint32) for _ in range(2))
    y[::4] = x[::4]
    out = run(device, VIDEO, n, x, y, np.zeros((n, 16), np.uint32))[2]
    u8, s8, u16, s16 = (tuple(v.view(t).reshape(n, -1).astype(np.int64) for v in (x, y)) for t in (np.uint8, np.int8, np.uint16, np.int16))

    def word(v, kind):
        return np.ascontiguousarray(v.astype(kind)).view(np.uint32).ravel()

    expected = [
        word(u8[0] + u8[1], np.uint8),
        word(np.clip(s8[0] - s8[1], -128, 127), np.int8),
        word(np.clip(u16[0] + u16[1], 0, 65535), np.uint16),
        word(np.maximum(*s8), np.int8),
        word(np.minimum(*u16), np.uint16),
        word(abs(u8[0] - u8[1]), np.uint8),
        word(np.where(s8[0] > s8[1], 255, 0), np.uint8),
        word(u8[0] == u8[1], np.uint8),
        word((u8[0] + u8[1] + 1) // 2, np.uint8),
        abs(u8[0] - u8[1]).sum(1).astype(np.uint32),
        word(np.clip(-s16[0], -32768, 32767), np.int16),
        word((u16[0] + u16[1]) // 2, np.uint16),
        ((s8[0] * s8[1]).sum(1) + 7).astype(np.uint32),
        ((u16[0] * u8[1][:, 2:]).sum(1) + 9).astype(np.uint32),
        word(np.maximum(np.maximum(*s16), 5), np.int16),
        word(abs(s8[0]), np.uint8),
    ]
    np.testing.assert_array_equal(out, np.stack(expected, 1))


SMALL = """
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern "C" __global__ void k(const float* x, __half* h, unsigned* masks, unsigned char* bytes, float* back) {
  int t = threadIdx.x; float v = x[t], w = x[(t + 1) % blockDim.x];
  h[4 * t] = __float2half_rd(v); h[4 * t + 1] = __float2half_ru(v); h[4 * t + 2] = __float2half_rz(v);
  h[4 * t + 3] = __hfma_relu(__float2half(v), __float2half(w), __float2half(1.0f));
  half2 a = __floats2half2_rn(v, w), b = __floats2half2_rn(w, w);
  masks[4 * t] = __hgt2_mask(a, b); masks[4 * t + 1] = __hbeq2(a, b); masks[4 * t + 2] = __half2short_rz(a.x);
  masks[4 * t + 3] = __heq2(a, b).y > __half(0.5f);
  __nv_fp8_e4m3 s(v); __nv_fp8_e5m2 r(v);
  bytes[2 * t] = s.__x; bytes[2 * t + 1] = r.__x; back[2 * t] = float(s); back[2 * t + 1] = float(r); }"""


def test_floats_of_8_and_16_bits(device):
    types = pytest.importorskip("ml_dtypes")
    n = 128
    x = (rng.standard_normal(n) * 10.0 ** rng.integers(-4, 3, n)).astype(np.float32)
    _, h, masks, bytes_, back = run(
        device,
        SMALL,
        n,
        x,
        np.zeros((n, 4), np.float16),
        np.zeros((n, 4), np.uint32),
        np.zeros((n, 2), np.uint8),
        np.zeros((n, 2), np.float32),
    )
    for i, v in enumerate(x):
        assert [directed(Fraction(float(v)), np.float16, m) for m in ("rd", "ru", "rz")] == h[i, :3].tolist()
    a, b = x.astype(np.float16), np.roll(x, -1).astype(np.float16)
    product = a.astype(np.float64) * b.astype(np.float64) + 1
    np.testing.assert_array_equal(h[:, 3], np.maximum(product, 0).astype(np.float16))
    np.testing.assert_array_equal(masks[:, 0], np.where(a > b, 0xFFFF, 0))
    np.testing.assert_array_equal(masks[:, 1], a == b)
    np.testing.assert_array_equal(masks[:, 2].astype(np.int32), np.trunc(a.astype(np.float64)).clip(-32768, 32767).astype(np.int32))
    np.testing.assert_array_equal(masks[:, 3], 1)
    clipped = np.clip(x, -448, 448)
    for column, kind, values in ((0, types.float8_e4m3fn, clipped), (1, types.float8_e5m2, x)):
        np.testing.assert_array_equal(back[:, column], values.astype(kind).astype(np.float32))
        np.testing.assert_array_equal(bytes_[:, column], values.astype(kind).view(np.uint8))
