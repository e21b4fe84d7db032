"""How many kernels and copies a program becomes, with the skeletons of both targets; nothing is computed here."""

from __future__ import annotations

import threading
import uuid

import pytest

import broadcloth as bc
from null_device import make, null_device, recorded


@pytest.fixture(params=["null-cpu", "null-cuda"], autouse=True)
def target(request: pytest.FixtureRequest):
    with null_device(request.param):
        yield request.param


def test_an_elementwise_expression_is_one_kernel():
    a, b = make((1000, 1000), "float32"), make((1000, 1000), "float32")
    with recorded() as r:
        y = a * b + bc.sin(a) + bc.cos(b)
    assert r.names == ["map_multiply_sin_add_cos_add"]
    assert r.copies == []
    (only,) = r.kernels
    assert len(only.reads) == 2 and len(only.writes) == 1
    assert y.shape == (1000, 1000)


def stencil(p):
    return 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2])


def test_a_heat_step_is_one_kernel_and_its_norm_one():
    p, q = make((256, 256)), make((256, 256))
    with recorded() as step:
        q[1:-1, 1:-1] = stencil(p)
    assert len(step.kernels) == 1, step.names
    with recorded() as norm:
        change = bc.linalg.norm(q - p)
    assert len(norm.kernels) == 1, norm.names
    assert norm.names[0].startswith("rows_")
    assert step.copies == norm.copies == [] and change.shape == ()


def test_a_heat_step_on_a_copy_needs_no_copy():
    """The copy shares the value until it is written; the step then makes the new value whole."""
    p = make((256, 256))
    for _ in range(2):
        with recorded() as step:
            q = p.copy()
            q[1:-1, 1:-1] = stencil(p)
            change = bc.linalg.norm(q - p)
            p = q
            del q
        assert len(step.kernels) <= 2, step.names
        assert step.copies == []
    del change


def test_moments_read_the_array_once():
    a = make((10_000_000,), "float32")
    with recorded() as r:
        moments = a.sum(), a.mean(), a.std()
    assert len(r.kernels) == 1, r.names
    assert len(r.kernels[0].reads) == 1
    assert r.names == ["rows_sum_mean_std"]
    del moments


@pytest.mark.parametrize("axis", [0, 1])
def test_moments_along_an_axis_read_the_array_once(axis):
    a = make((2000, 3000), "float32")
    with recorded() as r:
        moments = a.sum(axis), a.mean(axis), a.std(axis), a.max(axis)
    assert len(r.kernels) == 1, r.names
    assert r.names[0].startswith("columns_" if axis == 0 else "rows_")
    del moments


def softmax(a):
    e = bc.exp(a - a.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_softmax_over_8192_is_one_kernel():
    a = make((8192, 8192), "float32")
    with recorded() as r:
        y = softmax(a)
    assert len(r.kernels) == 1, r.names
    assert len(r.kernels[0].reads) == 1 and len(r.kernels[0].writes) == 1
    del y


def test_layer_norm_is_one_kernel():
    a, w, b = make((4096, 1024), "float32"), make((1024,), "float32"), make((1024,), "float32")
    with recorded() as r:
        y = (a - a.mean(axis=-1, keepdims=True)) / bc.sqrt(a.var(axis=-1, keepdims=True) + 1e-5) * w + b
    assert len(r.kernels) == 1, r.names
    del y


def test_siblings_over_one_space_share_a_kernel():
    a, b = make((1000,)), make((1000,))
    with recorded() as r:
        outs = [a + k for k in range(6)] + [bc.sin(a), a > b, a.astype("float32"), b * b]
    assert len(r.kernels) == 1, r.names
    assert len(r.kernels[0].writes) == len(outs)


def test_values_over_different_spaces_are_different_kernels():
    a, b = make((1000,)), make((999,))
    with recorded() as r:
        outs = a + 1, b + 1
    assert len(r.kernels) == 2
    del outs


def test_a_chain_is_one_kernel():
    x = make((1 << 20,), "float32")
    with recorded() as r:
        for _ in range(10):
            x = x * 1.5 + 0.25
    assert len(r.kernels) == 1, r.names
    assert len(r.kernels[0].reads) == len(r.kernels[0].writes) == 1


def test_a_long_chain_is_cut_where_a_kernel_would_grow_too_large():
    x = make((1 << 16,), "float32")
    with recorded() as r:
        for _ in range(500):
            x = x * 1.5 + 0.25
    assert 1000 / 192 <= len(r.kernels) <= 16, r.names


def test_what_is_recorded_twice_is_computed_once():
    x, y = make((1 << 16,), "float32"), make((1 << 16,), "float32")
    with recorded() as r:
        total = bc.exp(x * y) + bc.sqrt(bc.exp(x * y))
    assert r.names == ["map_multiply_exp_sqrt_add"]
    del total


def test_values_before_and_after_a_store_are_two():
    """The store may reach memory that the operand shares."""
    x, y = make((1 << 16,), "float32"), make((1 << 16,), "float32")
    with recorded() as r:
        before = bc.exp(x)
        y[:100] = 1
        total = before + bc.exp(x)
        del before
    assert sum(name.count("exp") for name in r.names) == 2, r.names
    del total


@pytest.mark.parametrize("shape", [(7,), (8, 500), (3, 40), (2,)])
def test_rows_that_are_updated_one_after_the_other_stay_small_kernels(shape):
    """Each update reads a view of all earlier ones: inlined, a value would be computed anew for each view of a view."""
    x = make(shape, "float32")
    with recorded() as r:
        y = x * 2
        for k in range(12 * shape[0]):
            y[k % shape[0]] += k % 3
    assert max(len(launch.source) for launch in r.launches) < 60_000, r.names


def test_steps_of_a_mandelbrot_set_are_few_kernels(target):
    z = c = make((1 << 16,), "complex64")
    steps = make(c.shape, "int32")
    with recorded() as r:
        for _ in range(50):
            z = bc.where(abs(z) <= 2, z * z + c, z)
            steps = steps + (abs(z) <= 2)
    assert len(r.kernels) <= (3 if target == "null-cuda" else 7), r.names


def test_fifty_mandelbrot_steps_are_few_kernels():
    c = make((400, 600), "complex128")
    with recorded() as r:
        z, n = bc.zeros_like(c), bc.zeros(c.shape, dtype="int32")
        for _ in range(50):
            inside = z.real * z.real + z.imag * z.imag < 4
            z = bc.where(inside, z * z + c, z)
            n += inside
        del z, inside
    assert len(r.kernels) <= 20, r.names
    assert r.copies == []


def test_black_scholes_is_one_kernel():
    s, k, t = make((100_000,)), make((100_000,)), make((100_000,))

    def cdf(d):
        w = 1 / (1 + 0.2316419 * bc.abs(d))
        poly = w * (0.31938153 + w * (-0.356563782 + w * (1.781477937 + w * (-1.821255978 + w * 1.330274429))))
        tail = 0.3989422804014327 * bc.exp(-0.5 * d * d) * poly
        return bc.where(d > 0, 1 - tail, tail)

    with recorded() as r:
        d1 = (bc.log(s / k) + (0.02 + 0.5 * 0.3 * 0.3) * t) / (0.3 * bc.sqrt(t))
        d2 = d1 - 0.3 * bc.sqrt(t)
        discounted = k * bc.exp(-0.02 * t)
        call = s * cdf(d1) - discounted * cdf(d2)
        put = call - s + discounted
        del d1, d2, discounted
    assert len(r.kernels) == 1, r.names
    assert len(r.kernels[0].reads) == 3 and len(r.kernels[0].writes) == 2
    del call, put


def test_a_reduction_takes_what_comes_before_and_after():
    a, b = make((300, 400)), make((300, 400))
    with recorded() as r:
        y = bc.sqrt(((a - b) ** 2).sum(axis=1)) * 2 + 1
    assert len(r.kernels) == 1, r.names
    assert y.shape == (300,)


def test_views_casts_and_gathers_fuse():
    a, i = make((100, 100), "int32"), make((98,), "int64")
    with recorded() as r:
        y = a[1:-1, ::2].astype("float64") * 2 - a.T[:98, 50:] + bc.where(a[0, :50] > 20, 1.0, -1.0) + a[i][:, :50]
    assert len(r.kernels) == 1, r.names
    assert y.shape == (98, 50)


def test_in_place_updates_of_a_pending_value_fuse():
    x = make((1000,))
    with recorded() as r:
        x += 1
        x *= 2
        x -= 3
    assert len(r.kernels) == 1, r.names


def test_masked_assignment_is_one_kernel():
    x = make((1000,))
    with recorded() as r:
        x[x < 0] = 0
    assert len(r.kernels) == 1, r.names
    assert r.copies == []


def test_views_never_copy_and_never_run():
    a = make((4, 6, 8))
    with recorded() as r:
        views = [a[1], a[:, ::-2], a.T, a.reshape(24, 8), a.reshape(2, 2, 6, 8), a[None], a.ravel(), bc.broadcast_to(a, (3, 4, 6, 8))]
        views += [a.transpose(1, 0, 2), a.swapaxes(0, 2), bc.squeeze(a[:1]), bc.flip(a), bc.moveaxis(a, 0, 2), *bc.split(a, 2)]
        z = make((5,), "complex128")
        views += [z.real, z.imag, bc.diagonal(a), a.view("int64")]
    assert r.launches == [] and r.copies == []
    assert all(bc.shares_memory(a, v) for v in views[:15])


def test_a_copy_waits_until_one_of_the_two_is_written():
    a = make((1000,))
    with recorded() as r:
        b = a.copy()
    assert r.launches == [] and r.copies == []
    with recorded() as r:
        b[3] = 1.0
    assert len(r.kernels) == 1
    assert [size for _, size in r.copies] == [8000]  # the old value goes over whole, the store then writes one element


def test_a_reshape_that_no_strides_can_give_copies_once():
    a = make((30, 40))
    with recorded() as r:
        b = a.T.reshape(1200)
    assert len(r.kernels) == 1, r.names
    assert b.shape == (1200,)


def test_copies_to_the_host_are_counted():
    a = make((1000,))
    with recorded() as r:
        (a + 1).get()
    assert len(r.kernels) == 1
    assert [size for _, size in r.copies] == [8000]
    with recorded() as r:
        bc.asarray([1.0, 2.0, 3.0])
    assert [size for _, size in r.copies] == [24] or r.copies == []  # small values may travel as arguments


def test_nothing_runs_before_somebody_looks(target):
    a = make((1000,))
    bc.flush()
    bc._c.null_log_clear()
    b = bc.sin(a) + 1
    assert bc._c.null_log() == []
    assert bc._c.is_pending(b)
    b.get()
    assert len(bc._c.null_log()) == 1


def test_dead_values_are_never_run():
    a = make((1000,))
    with recorded() as r:
        unused = bc.exp(a)
        also_unused = unused + bc.cos(a)
        b = a + 1
        del unused, also_unused
    assert r.names == ["map_add"]
    with recorded() as r:
        for _ in range(5):
            b = bc.exp(a)  # each but the last dies
    assert r.names == ["map_exp"] and len(r.kernels[0].writes) == 1
    del b


def test_a_dead_store_is_never_run():
    a = make((1000,))
    with recorded() as r:
        b = a.copy()
        b[10:20] = 5
        del b
    assert r.launches == []


def test_an_equal_program_is_planned_once_and_compiled_once():
    def program():
        a, b = make((777, 33)), make((777, 33))
        return (a * 3 + bc.tanh(b)).sum(axis=0)

    bc._c.cache_wait()
    before = bc._c.cache_stats()["compiles"]
    with recorded() as first:
        kept = program()
    compiled = bc._c.cache_stats()["compiles"]
    assert compiled - before <= 1
    with recorded() as second:
        again = program()
    assert bc._c.cache_stats()["compiles"] == compiled
    # The first launch may be of a quick compile's code.
    sources = [r.kernels[0].source.removeprefix("#define BC_QUICK\n") for r in (first, second)]
    assert second.names == first.names and sources[0] == sources[1]
    del kept, again


@pytest.mark.parametrize("target", ["null-cuda"], indirect=True)
def test_a_kernel_that_runs_again_is_compiled_once_more(target):
    """Quickly for its first launch, whole in the background at its second; the second waits where there is to be no background."""
    programs = [
        lambda: bc.arctan2(make((321, 4)), make((321, 4))) * 0.125,
        lambda: bc.arctan2(make((321, 4)), make((321, 4))) * 0.125 - 7,
    ]
    bc._c.null_set_target(f"null-cuda {uuid.uuid4()}")  # for which nothing lies on disk
    for program, background in zip(programs, [True, False], strict=True):
        bc._c.cache_wait()
        before, counts = bc._c.cache_stats(), []
        for run in range(3):
            bc.config.background_compile = background or run == 0
            with recorded():
                kept = program()
            if background:
                bc._c.cache_wait()
            after = bc._c.cache_stats()
            counts.append((after["compiles"] - before["compiles"], after["replaced"] - before["replaced"]))
            del kept
        bc.config.background_compile = True
        assert counts == [(1, 0), (1, 1), (1, 1)]


@pytest.mark.parametrize("target", ["null-cuda"], indirect=True)
def test_threads_run_a_program_while_its_kernels_are_replaced(target):
    """Each launch finds quick code or the whole; when all is compiled there is no quick one."""

    def program(depth):
        value = make((311, 4))
        for _ in range(depth):
            value = bc.arcsinh(value) + 1
        return value

    def work():
        with bc.device("null:1"):
            for depth in range(1, 7):
                for _ in range(6):
                    kept = program(depth)
                    bc.flush()
                    del kept

    bc._c.null_set_target(f"null-cuda {uuid.uuid4()}")
    with recorded() as r:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work()
        bc._c.cache_wait()
    # Which thread writes its launch down first says nothing about which of them found the whole.
    assert any(kernel.source.startswith("#define BC_QUICK") for kernel in r.kernels)
    with recorded() as r:
        work()
    assert len(set(r.names)) == 6
    assert not any(kernel.source.startswith("#define BC_QUICK") for kernel in r.kernels)


def test_other_extents_and_constants_use_the_same_kernel():
    """Extents, strides and constants are arguments."""

    def program(n, m, c):
        return (make((n, m)) * c + bc.sinh(make((n, m)))).sum(axis=1)

    bc._c.cache_wait()  # for what earlier tests left to the background
    with recorded() as first:
        kept = program(500, 640, 2.0)
    compiled = bc._c.cache_stats()["compiles"]
    with recorded() as second:
        again = program(300, 644, 3.0)
    assert bc._c.cache_stats()["compiles"] == compiled
    assert second.kernels[0].source == first.kernels[0].source
    assert second.kernels[0].params != first.kernels[0].params
    del kept, again


def test_the_tape_flushes_itself_when_it_is_full():
    a = make((1000,))
    bc.flush()
    bc._c.null_log_clear()
    held = [a + k for k in range(250)]
    assert 1 <= len(bc._c.null_log())
    with recorded() as rest:
        pass
    assert not any(bc._c.is_pending(x) for x in held)
    del rest


def test_the_skeletons_are_the_targets(target):
    with recorded() as r:
        x = make((100,)) + 1
    assert ("__global__" in r.kernels[0].source) == (target == "null-cuda")
    del x


def test_a_map_of_many_quotients_has_a_body_without_branches_on_cuda(target):
    x, y = make((1001,), "float32"), make((1001,), "float32")
    with recorded() as record:
        z = bc.log(x / y) / bc.sqrt(y) + 1.0 / (1.0 + x)
    (only,) = record.kernels
    assert ("divide_fast(" in only.source) == ("if (good) {\n*reinterpret_cast" in only.source) == (target == "null-cuda")
    assert z.shape == (1001,)


@pytest.mark.parametrize("program", ["few", "double", "gathered"])
def test_what_must_not_be_computed_twice_has_one_body(target, program):
    """Few such ops are bound by memory; an address that depends on a value must be right at once."""
    dtype = "float64" if program == "double" else "float32"
    x, y = make((1001,), dtype), make((1001,), dtype)
    index = make((1001,), "int64")
    with recorded() as record:
        if program == "few":
            z = x / y + bc.sqrt(x)
        elif program == "gathered":
            z = (x / y / y)[index] / y / x
        else:
            z = bc.log(x / y) / bc.sqrt(y) / x
    assert not any("divide_fast(" in k.source or "log_fast(" in k.source for k in record.kernels)
    assert z.shape == (1001,)


def test_a_users_function_is_one_kernel_with_what_is_around_it():
    f = bc.ElementwiseKernel("float32 x", "float32 y", "y = x * x", "user_square")
    a, b = make((1000, 1000), "float32"), make((1000,), "float32")
    first = f(a)  # compiled where it is called first, so that errors are seen there
    bc.flush()
    with recorded() as r:
        y = f(a) * 2 + b
    assert r.names == ["map_user_square_multiply_add"]
    (only,) = r.kernels
    assert len(only.reads) == 2 and len(only.writes) == 1
    with recorded() as r:
        z = f(a + b).sum(axis=1)
    assert len(r.kernels) == 1 and r.names[0].startswith("rows_add_user_square_sum"), r.names
    with recorded() as r:
        w = f(b[:, None] * a.astype("float32")[::2].sum(0))
    assert len(r.kernels) <= 2, r.names
    del first, y, z, w


def test_results_of_one_call_share_a_kernel_and_the_call():
    f = bc.ElementwiseKernel("T x, T y", "T s, T d", "s = x + y; d = x - y", "sum_difference")
    a, b = make(1000), make(1000)
    f(a, b)
    with recorded() as r:
        s, d = f(a, b)
    (only,) = r.kernels
    assert len(only.writes) == 2 and only.source.count("::element(") <= 2  # once more for what a whole vector leaves over
    with recorded() as r:
        y = s * d
        z, _ = f(a, b)
        y = z * _
    assert len(r.kernels) == 1 and r.kernels[0].source.count("::element(") <= 2
    del y, z, _, s, d


def test_a_table_written_row_by_row_costs_its_rows():
    """Neither is every element of the table asked about every row, nor every step computed again for every row."""
    def steps(count):
        table, row = bc.empty((count, 5000)), make(5000)
        for t in range(count):
            table[t] = row
            row = row * 2 + 1
        return table

    with recorded() as r:
        kept = steps(60)
        bc.flush()
    assert len(r.kernels) <= 90, len(r.kernels)
    assert max(k.source.count("in_range(") for k in r.kernels) <= 6
    assert max(k.source.count("multiply(") for k in r.kernels) <= 4 * 33  # CUDA's text has the body twice
    del kept


def test_rows_that_roll_are_read_where_they_lie():
    x = make((256, 256))
    with recorded() as r:
        y = bc.roll(x, 1, 0) + bc.roll(x, -1, axis=0) - 2 * x
    assert len(r.kernels) == 1, r.names
    assert y.shape == x.shape


def test_rolls_of_a_step_do_not_repeat_the_steps_before():
    row = make(5000)
    with recorded() as r:
        for _ in range(12):
            row = bc.roll(row, 1) * 4 + row * 2 + bc.roll(row, -1)
        bc.flush()
    sources = [k.source for k in r.kernels]
    assert max(s.count("multiply(") for s in sources) <= 8, r.names
    del row


def test_windows_are_not_loaded_in_vectors(target):
    """Rows that begin one element apart are not aligned, whatever their length."""
    x = make((8192,), "float32")
    windows = bc.lib.stride_tricks.as_strided(x, (64, 64), (4, 4))
    few_apart = bc.lib.stride_tricks.as_strided(x, (64, 64), (8, 4))
    for name, sums, vectors in [
        ("a matrix", lambda: x[:4096].reshape(64, 64).sum(1), True),
        ("windows", lambda: windows.sum(1), False),
        ("windows along columns", lambda: windows.sum(0), False),
        ("windows two apart", lambda: few_apart.sum(1), False),
        ("products with windows", lambda: (windows * 2 + 1).sum(1), False),
    ]:
        with recorded() as r:
            y = sums()
        assert y.shape == (64,)
        loads_vectors = "*reinterpret_cast<const Vec<" in r.kernels[0].source
        assert loads_vectors == (vectors and target == "null-cuda"), name


def test_a_loss_and_its_gradient_are_one_kernel():
    """Forward and backward are one expression: a loss of more than ten rows, its sum, and the gradient."""
    a, w = make((1000, 1000), "float32"), make((1000, 1000), "float32")
    with recorded() as r:
        x = a.detach().requires_grad_()
        y = bc.tanh(x * w)
        z = bc.exp(-y * y) + bc.sin(x) * 0.5 + y / (1 + x * x)
        loss = (z * z).mean()
        loss.backward()
        gradient = x.grad
    assert len(r.kernels) == 1, r.names
    assert r.copies == []
    del loss, gradient


def test_the_gradient_of_differences_of_slices_is_few_kernels():
    a = make((100_000,))
    with recorded() as r:
        x = a.detach().requires_grad_()
        ((x[1:] - x[:-1]) ** 2).sum().backward()
        gradient = x.grad
    assert len(r.kernels) <= 3, r.names
    del gradient


def test_a_layer_and_its_gradients_read_no_array_twice_in_vain():
    """Two products and one bias sum beside the layer itself; a product's transposed operand is a view, no copy."""
    w, b, x, t = make((64, 32)), make((32,)), make((100, 64)), make((100, 32))
    with recorded() as r:
        w.requires_grad = b.requires_grad = True
        loss = ((bc.tanh(x @ w + b) - t) ** 2).mean()
        loss.backward()
        kept = loss, w.grad, b.grad
    assert len(r.kernels) <= 3, r.names
    assert r.copies == []
    del kept
