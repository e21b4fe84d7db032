"""Random numbers in kernels: Numba's states and numbers, Philox from counters, and what programs make of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from broadcloth.cuda import random as r
from broadcloth.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

MASK = (1 << 64) - 1
NUMBA_STATES = [
    (15761334259228227248, 5766700528905135142),
    (12602644240231759578, 17511319348592297033),
    (9279721541717086848, 9600755883282800290),
]


class Reference:
    """xoroshiro128+ in Python's integers."""

    def __init__(self, seed, jumps=0):
        z = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        self.s = [z ^ (z >> 31)] * 2
        for _ in range(jumps):
            self.jump()

    @staticmethod
    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    def next(self):
        a, b = self.s
        result = (a + b) & MASK
        b ^= a
        self.s = [self.rotl(a, 55) ^ b ^ ((b << 14) & MASK), self.rotl(b, 36)]
        return result

    def jump(self):
        total = [0, 0]
        for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
            for bit in range(64):
                if word >> bit & 1:
                    total = [total[0] ^ self.s[0], total[1] ^ self.s[1]]
                self.next()
        self.s = total

    def uniform64(self):
        return (self.next() >> 11) * 2.0**-53

    def uniform32(self):
        return np.float32(self.uniform64())

    def normal64(self):
        u, v = self.uniform32(), self.uniform32()
        return math.sqrt(-2.0 * float(np.log(u))) * math.cos(2 * math.pi * float(v))


@pytest.mark.parametrize(("seed", "start"), [(1, 0), (123456789, 2), (2**64 - 1, 1), (0, 0)])
def test_states_are_the_seed_and_jumps(xp, seed, start):
    states = create_xoroshiro128p_states(5, seed, subsequence_start=start).copy_to_host()
    assert states.dtype == r.xoroshiro128p_dtype
    for k in range(5):
        assert_array_equal(list(states[k]), np.array(Reference(seed, start + k).s, dtype="u8"))


def test_states_are_those_of_numba(xp):
    # Made once by Numba 0.68.
    states = create_xoroshiro128p_states(3, 123456789, 2).copy_to_host().tolist()
    assert states == NUMBA_STATES


@cuda.jit
def draws(states, bits, u32, u64, n32, n64):
    i = cuda.grid(1)
    if i < states.size:
        bits[i] = r.xoroshiro128p_next(states, i)
        u32[i] = r.xoroshiro128p_uniform_float32(states, i)
        u64[i] = r.xoroshiro128p_uniform_float64(states, i)
        n32[i] = r.xoroshiro128p_normal_float32(states, i)
        n64[i] = r.xoroshiro128p_normal_float64(states, i)


def test_numbers_are_those_of_the_definition(xp):
    n = 100
    states = create_xoroshiro128p_states(n, 42)
    out = [xp.zeros(n, t) for t in ("u8", "f4", "f8", "f4", "f8")]
    draws[2, 64](states, *out)
    references = [Reference(42, k) for k in range(n)]
    assert_array_equal(out[0], np.array([x.next() for x in references], dtype="u8"))
    assert_array_equal(out[1], np.array([x.uniform32() for x in references]))
    assert_array_equal(out[2], [x.uniform64() for x in references])
    assert_allclose(out[3], [x.normal64() for x in references], rtol=1e-4, atol=1e-5)
    assert_allclose(out[4], [x.normal64() for x in references], rtol=1e-5, atol=1e-6)
    # The states went on.
    assert_array_equal(states.copy_to_host()["s0"], np.array([x.s[0] for x in references], dtype="u8"))


@cuda.jit
def seeded_inside(states, out):
    i = cuda.grid(1)
    r.init_xoroshiro128p_state(states, i, 7)
    for _ in range(i):
        r.xoroshiro128p_jump(states, i)
    out[i] = r.xoroshiro128p_next(states, i)


def test_states_can_be_made_in_a_kernel(xp):
    states, out = create_xoroshiro128p_states(4, 0), xp.zeros(4, "u8")
    seeded_inside[1, 4](states, out)
    assert_array_equal(out, np.array([Reference(7, k).next() for k in range(4)], dtype="u8"))


@cuda.jit
def shared_generators(states, out):
    s = cuda.shared.array(32, r.xoroshiro128p_dtype)
    t = cuda.threadIdx.x
    s[t] = states[t]
    cuda.syncthreads()
    out[t] = r.xoroshiro128p_uniform_float64(s, 31 - t)
    cuda.syncthreads()
    states[t] = s[t]


def test_states_go_through_shared_memory(xp):
    states, out = create_xoroshiro128p_states(32, 3), xp.zeros(32)
    shared_generators[1, 32](states, out)
    assert_array_equal(out, [Reference(3, 31 - k).uniform64() for k in range(32)])
    after = Reference(3)
    after.next()
    assert states.copy_to_host()[0].tolist() == tuple(after.s)


@cuda.jit
def monte_carlo_pi(states, n, out):
    i = cuda.grid(1)
    inside = 0
    for _ in range(n):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x**2 + y**2 <= 1.0:
            inside += 1
    out[i] = 4.0 * inside / n


def test_monte_carlo_pi(xp):
    threads, blocks = 64, 16
    states = create_xoroshiro128p_states(threads * blocks, seed=1)
    out = xp.zeros(threads * blocks, "f4")
    monte_carlo_pi[blocks, threads](states, 500, out)
    assert abs(float(out.mean()) - math.pi) < 0.01


@cuda.jit
def philox(seed, u32, u64, f32, f64, n32, n64, block):
    i = cuda.grid(1)
    if i < u32.shape[0]:
        for k in range(u32.shape[1]):
            u32[i, k] = r.philox_uint32(seed, i, k)
            u64[i, k] = r.philox_uint64(seed, i, k)
            f32[i, k] = r.philox_uniform_float32(seed, i, k)
            f64[i, k] = r.philox_uniform_float64(seed, i, k)
            n32[i, k] = r.philox_normal_float32(seed, i, k)
            n64[i, k] = r.philox_normal_float64(seed, i, k)
        a, b, c, d = r.philox4x32(seed, i, 1)
        block[i, 0], block[i, 1], block[i, 2], block[i, 3] = a, b, c, d


def philox_reference(seed, sequence, counter):
    c = [counter & 0xFFFFFFFF, counter >> 32, sequence & 0xFFFFFFFF, sequence >> 32]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def test_philox_is_a_function_of_its_counter(xp):
    n, m, seed = 200, 100, 0x123456789ABC
    out = [xp.zeros((n, m), t) for t in ("u4", "u8", "f4", "f8", "f4", "f8")]
    block = xp.zeros((n, 4), "u4")
    philox[2, 128](seed, *out, block)
    u32, u64, f32, f64, n32, n64 = (np.asarray(x.get()) for x in out)
    blocks = [philox_reference(seed, 5, k) for k in range(m)]
    assert_array_equal(u32[5], np.array(blocks[: m // 4], "u4").ravel())
    words = np.array(blocks[: m // 2], "u8")
    assert_array_equal(
        u64[5], np.stack([words[:, 0] | words[:, 1] << np.uint64(32), words[:, 2] | words[:, 3] << np.uint64(32)], -1).ravel()
    )
    assert_array_equal(block.get()[5], blocks[1])
    assert_array_equal(f32, (u32 >> 8) * np.float32(2.0**-24))
    assert_array_equal(f64, (u64 >> np.uint64(11)) * 2.0**-53)
    for x in (n32, n64):
        assert abs(x.mean()) < 0.03
        assert abs(x.std() - 1) < 0.02
    # Numbers of 32 bits come in pairs (Box and Muller, 1958): a radius and an angle, of the words of the complemented key.
    philox[2, 128](~seed, *out, block)
    u32 = np.asarray(out[0].get())
    radius = np.sqrt(-2 * np.log((u32[:, ::2] >> 1) * 2.0**-31 + 2.0**-32))
    turn = 2 * np.pi * (u32[:, 1::2] * 2.0**-32)
    for part, of in ((n32[:, ::2], np.cos), (n32[:, 1::2], np.sin)):
        # The probability is rounded to 24 bits, which a small radius shows.
        assert (np.abs(part - radius * of(turn)) <= 2e-7 * radius + 1e-7 + 1e-7 / radius).all()


def test_numba_messages_for_wrong_states(xp):
    @cuda.jit
    def wrong(x, out):
        out[0] = xoroshiro128p_uniform_float32(x, 0)

    with pytest.raises(bc.TypingError, match="array of generator states"):
        wrong[1, 1](xp.zeros(3), xp.zeros(1))


def test_states_are_written_in_place(xp):
    host = np.zeros(3, r.xoroshiro128p_dtype)
    r.init_xoroshiro128p_states(host, 9)
    assert_array_equal(host, create_xoroshiro128p_states(3, 9).copy_to_host())
    with pytest.raises(TypeError, match="array of states"):
        r.init_xoroshiro128p_states(np.zeros(3), 1)
