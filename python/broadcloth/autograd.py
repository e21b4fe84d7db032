"""Derivatives: gradients of programs over arrays, of any order.

Set `x.requires_grad = True`, compute, call `backward()` on the result and read `x.grad`, as with PyTorch; or transform functions, as with
JAX: `grad`, `value_and_grad`, `vjp`, `jvp`, `jacobian`, `hessian`. Ops are recorded as they run, and what a run of `backward` computes are
ops again: both fuse into few kernels, and derivatives of derivatives are nothing special.

Examples
--------
>>> x = bc.array([1.0, 2.0, 3.0]).requires_grad_()
>>> y = (x**2 + 2 * x + 1).sum()
>>> y.backward()
>>> x.grad
array([4., 6., 8.])
>>> bc.autograd.grad(lambda x: (x**3).sum())(bc.array([1.0, 2.0]))
array([ 3., 12.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import is_grad_enabled, ndarray
from ._namespace import listing

__all__ = [
    "Function",
    "backward",
    "custom_vjp",
    "enable_grad",
    "grad",
    "gradcheck",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "jvp",
    "no_grad",
    "set_grad_enabled",
    "value_and_grad",
    "vjp",
    "vmap",
]

_Arrays = Sequence[ndarray]


# ---- Grad mode ---------------------------------------------------------------------------------------------------------------------------


class set_grad_enabled:
    """Switches grad mode of this thread: whether ops are recorded for derivatives.

    Works at once, and as a context manager or a decorator goes back at the end.

    Parameters
    ----------
    mode : bool
        Whether ops are recorded.

    Examples
    --------
    >>> with bc.autograd.set_grad_enabled(False):
    ...     bc.autograd.is_grad_enabled()
    False
    >>> bc.autograd.is_grad_enabled()
    True
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before = [_c.set_grad_enabled(self.mode)]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _c.set_grad_enabled(self._before.pop())


class _Mode:
    """A context manager and decorator for one grad mode; it may be entered several times."""

    _mode: bool

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_c.set_grad_enabled(self._mode))

    def __exit__(self, *_: object) -> None:
        _c.set_grad_enabled(self._before.pop())

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return f(*args, **kwargs)

        return wrapped


class no_grad(_Mode):
    """Ops inside are not recorded: their results are constants for derivatives. A context manager and a decorator.

    A view that is made inside is a constant as well. A write inside changes an array's values and not how its derivatives are followed, so
    that parameters are updated here.

    Examples
    --------
    >>> w = bc.array([1.0, 2.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> with bc.autograd.no_grad():
    ...     w -= 0.1 * w.grad
    >>> w
    array([0.8, 1.6])
    >>> w.requires_grad
    True
    """

    _mode = False


class enable_grad(_Mode):
    """Ops inside are recorded, also where `no_grad` is around. A context manager and a decorator.

    Examples
    --------
    >>> x = bc.array(3.0).requires_grad_()
    >>> with bc.autograd.no_grad(), bc.autograd.enable_grad():
    ...     y = x * x
    >>> y.requires_grad
    True
    """

    _mode = True


# ---- Backward ----------------------------------------------------------------------------------------------------------------------------


def _sequence(arrays: ndarray | _Arrays | None) -> tuple[ndarray, ...] | None:
    if arrays is None:
        return None
    return (arrays,) if isinstance(arrays, ndarray) else tuple(arrays)


def backward(
    outputs: ndarray | _Arrays,
    gradients: ndarray | _Arrays | None = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: ndarray | _Arrays | None = None,
) -> None:
    """Adds the gradients of the sum of outputs to the `grad` of the leaves that they depend on.

    Parameters
    ----------
    outputs : ndarray or sequence of them
        What is differentiated.
    gradients : ndarray or sequence of them, optional
        The gradient of each output, in its shape; 1 for outputs of one element unless given.
    retain_graph : bool, optional
        Keeps what ops saved, for another run; by default what `create_graph` is.
    create_graph : bool
        Records the run, so that the gradients can be differentiated.
    inputs : ndarray or sequence of them, optional
        The only leaves whose `grad` is changed.

    Raises
    ------
    RuntimeError
        An output does not require grad; no gradient is given for one of several elements; or what an op saved is gone.

    Examples
    --------
    >>> x = bc.array([1.0, 2.0]).requires_grad_()
    >>> bc.autograd.backward([x.sum(), (x * x).sum()])
    >>> x.grad
    array([3., 5.])
    """
    retain = create_graph if retain_graph is None else retain_graph
    _c.run_backward(_sequence(outputs), _sequence(gradients), _sequence(inputs), retain, create_graph, True, False)


def _gradients(
    outputs: ndarray | _Arrays,
    inputs: ndarray | _Arrays,
    grad_outputs: ndarray | _Arrays | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[ndarray | None, ...]:
    """The gradients of the sum of outputs for inputs, in the order of `torch.autograd.grad`; no `grad` attribute changes."""
    retain = create_graph if retain_graph is None else retain_graph
    made: tuple[ndarray | None, ...] = _c.run_backward(
        _sequence(outputs), _sequence(grad_outputs), _sequence(inputs), retain, create_graph, False, allow_unused
    )
    return made


# ---- Functions of functions --------------------------------------------------------------------------------------------------------------


def _argument(x: Any) -> ndarray:
    """An argument as the start of a graph: its own array, and a function of the caller's where that is followed already."""
    from ._creation import array

    if not isinstance(x, ndarray):
        x = array(x)
    if x.dtype.kind in "biu":
        raise TypeError(f"expected an array of floating or complex numbers to differentiate for, got {x.dtype}")
    x = x.copy()
    return x if x.requires_grad else x.requires_grad_()


def _places(argnums: int | Sequence[int], n: int) -> tuple[int, ...]:
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for p in places:
        if not -n <= p < n:
            raise ValueError(f"argnums: expected places among {n} arguments, got {p}")
    return tuple(p % n for p in places)


def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., tuple[Any, Any]]:
    """A function that gives `f`'s value and its gradient.

    Parameters
    ----------
    f : callable
        Gives an array of one element; with `has_aux` that and anything else.
    argnums : int or sequence of ints
        The positional arguments that the gradient is for.
    has_aux : bool
        Whether `f` gives a pair whose second part is not differentiated.

    Returns
    -------
    callable
        Takes `f`'s arguments and gives `(value, gradient)`; the gradient is a tuple where `argnums` is a sequence.

    Examples
    --------
    >>> bc.autograd.value_and_grad(lambda x: (x * x).sum())(bc.array([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        places = _places(argnums, len(args))
        outer = is_grad_enabled() and any(isinstance(a, ndarray) and a.requires_grad for a in args)
        with enable_grad():
            given = list(args)
            for p in places:
                given[p] = _argument(args[p])
            result = f(*given, **kwargs)
            value = result[0] if has_aux else result
            if not isinstance(value, ndarray) or value.size != 1:
                raise TypeError(f"expected a function that gives one number, got {_described(value)}")
            inputs = tuple(given[p] for p in places)
            made = _given(value, inputs, None, outer)
        if not outer:
            value = value.detach()
        gradient = made[0] if isinstance(argnums, int) else made
        return ((value, result[1]) if has_aux else value), gradient

    return wrapped


def _described(value: Any) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, ndarray) else type(value).__name__


def _given(outputs: Any, inputs: Sequence[ndarray], seeds: Any, create_graph: bool, retain_graph: bool | None = None):
    """The gradients of inputs, zeros where nothing depends on them."""
    from ._creation import zeros_like

    followed = [y for y in _sequence(outputs) or () if y.requires_grad]
    kept = None
    if seeds is not None:
        kept = [s for y, s in zip(_sequence(outputs) or (), _sequence(seeds) or (), strict=True) if y.requires_grad]
    made: Sequence[ndarray | None] = [None] * len(inputs)
    if followed:
        made = _gradients(followed, inputs, kept, retain_graph, create_graph, True)
    return tuple(zeros_like(x.detach()) if g is None else g for x, g in zip(inputs, made, strict=True))


def grad(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The gradient of a function, as a function; or the gradients of arrays for arrays.

    Parameters
    ----------
    f : callable, or ndarray or sequence of them
        `grad(f, argnums=0, has_aux=False)` takes what `value_and_grad` takes.
        `grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False)` takes arrays: outputs that
        were made from inputs (leaves or not), the gradient of each output (1 for one of one element unless given), and as for `backward`
        whether what ops saved is kept and whether the run is recorded. With `allow_unused` an input that was not used gives None.

    Returns
    -------
    callable or tuple of ndarray
        Of a function one that takes its arguments and gives the gradient (with `has_aux` the gradient and the rest). Of arrays one gradient
        an input; no `grad` attribute changes.

    Raises
    ------
    RuntimeError
        An output does not require grad, an input was not used, or what an op saved is gone.

    Examples
    --------
    >>> d = bc.autograd.grad(bc.sin)
    >>> d(bc.array(0.0)), bc.autograd.grad(d)(bc.array(0.5))
    (array(1.), array(-0.47942554))
    >>> x = bc.array(3.0).requires_grad_()
    >>> (first,) = bc.autograd.grad(x**3, x, create_graph=True)
    >>> bc.autograd.grad(first, x)
    (array(18.),)
    """
    if not callable(f):
        return _gradients(f, *args, **kwargs)
    return _grad_of_function(f, *args, **kwargs)


def _grad_of_function(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[ndarray, ...]]]:
    """`f`'s value, and a function for products of vectors with its Jacobian matrix from the left.

    Parameters
    ----------
    f : callable
        Gives an array or a tuple of arrays.
    *primals : ndarray
        Where it is computed.

    Returns
    -------
    value, pull : tuple
        `pull(v)` takes what has the value's structure and gives one gradient a primal, as often as wanted.

    Examples
    --------
    >>> value, pull = bc.autograd.vjp(lambda x: x * x, bc.array([1.0, 2.0]))
    >>> pull(bc.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    with enable_grad():
        inputs = tuple(_argument(x) for x in primals)
        outputs = f(*inputs)

    def pull(v: Any) -> tuple[ndarray, ...]:
        with enable_grad():
            create = any(isinstance(x, ndarray) and x.requires_grad for x in (*primals, *(_sequence(v) or ())))
            return _given(outputs, inputs, v, create, True)

    return outputs.detach() if isinstance(outputs, ndarray) else tuple(y.detach() for y in outputs), pull


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """`f`'s value and the product of its Jacobian matrix with a vector from the right: the derivative in a direction.

    Parameters
    ----------
    f : callable
        Gives an array or a tuple of arrays.
    primals, tangents : sequence of ndarray
        Where it is computed, and the direction: an array of each primal's shape.

    Returns
    -------
    value, tangent : tuple
        `f`'s value, and the derivative, which has its structure.

    Examples
    --------
    >>> bc.autograd.jvp(bc.square, (bc.array([1.0, 2.0]),), (bc.array([1.0, 10.0]),))
    (array([1., 4.]), array([ 2., 40.]))
    """
    from ._creation import asarray, zeros_like

    if len(primals) != len(tangents):
        raise ValueError(f"jvp: expected as many tangents as primals, got {len(tangents)} and {len(primals)}")
    with enable_grad():
        inputs = tuple(_argument(x) for x in primals)
        outputs = f(*inputs)
        single = isinstance(outputs, ndarray)
        values = (outputs,) if single else tuple(outputs)
        # The product with the transposed matrix is linear in the vector, and its own derivative is the matrix.
        seeds = tuple(zeros_like(y.detach()).requires_grad_() for y in values)
        outer = any(isinstance(x, ndarray) and x.requires_grad for x in (*primals, *tangents))
        pulled = _given(values, inputs, seeds, True)
        vectors = tuple(asarray(t).astype(x.dtype) for x, t in zip(inputs, tangents, strict=True))
        made = _given(pulled, seeds, vectors, outer)
        values = tuple(values) if outer else tuple(y.detach() for y in values)
    return (values[0], made[0]) if single else (values, made)


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the Jacobian of `f`: the value's axes, then the argument's.

    Parameters
    ----------
    f : callable
        Gives an array.
    argnums : int or sequence of ints
        The positional arguments that it is for.

    Returns
    -------
    callable
        Takes `f`'s arguments; gives a tuple where `argnums` is a sequence.

    Examples
    --------
    >>> bc.autograd.jacobian(lambda x: x[::-1] * x[0])(bc.array([1.0, 2.0]))
    array([[2., 1.],
           [2., 0.]])
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        places = _places(argnums, len(args))
        outer = is_grad_enabled() and any(isinstance(a, ndarray) and a.requires_grad for a in args)
        with enable_grad():
            given = list(args)
            for p in places:
                given[p] = _argument(args[p])
            inputs = tuple(given[p] for p in places)
            value = f(*given, **kwargs)
            if not isinstance(value, ndarray):
                raise TypeError(f"expected a function that gives an array, got {type(value).__name__}")
            made = _rows(value, inputs, outer)
        return made[0] if isinstance(argnums, int) else tuple(made)

    return wrapped


def _rows(value: ndarray, inputs: Sequence[ndarray], create_graph: bool) -> list[ndarray]:
    """For each input the gradients of all elements of a value."""
    from ._creation import eye
    from ._manipulation import reshape, stack

    def row(seed: ndarray) -> tuple[ndarray, ...]:
        return _given(value, inputs, seed, create_graph, True)

    if value.size == 0:
        return [_c.zeros(value.shape + x.shape, x.dtype, device=x.device) for x in inputs]
    seeds = reshape(eye(value.size, dtype=value.dtype, device=value.device), (value.size, *value.shape))
    try:
        made = vmap(row)(seeds)
    except NotImplementedError:
        # A function of the user's, which takes one gradient at a time.
        made = [stack(all_of_one) for all_of_one in zip(*map(row, seeds), strict=True)]
    return [reshape(m, value.shape + x.shape) for m, x in zip(made, inputs, strict=True)]


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """A function that gives the matrix of second derivatives of `f`, which gives one number.

    Parameters
    ----------
    f : callable
        Gives an array of one element.
    argnums : int
        The positional argument that it is for.

    Returns
    -------
    callable
        Takes `f`'s arguments and gives an array with the argument's axes twice.

    Examples
    --------
    >>> bc.autograd.hessian(lambda x: x[0] ** 2 * x[1])(bc.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums), argnums)


def vmap(f: Callable[..., Any], in_axes: int | Sequence[int | None] | None = 0, out_axes: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that computes `f` for many examples at once.

    `f` runs once, on the first example, and what it recorded is computed for all: without a loop, with as few kernels as one example needs.

    Parameters
    ----------
    f : callable
        Takes arrays of one example and gives an array or a tuple of arrays. What it does may not depend on values (`if x > 0`, `float(x)`,
        `x[x > 0]`), which are others for each example; that is an error.
    in_axes : int, None or a sequence of them
        Along which axis of each positional argument the examples lie; None where all have the same. Arguments that are no arrays, and
        those given by keyword, are the same for all.
    out_axes : int or sequence of ints
        Along which axis of each result they shall lie.

    Returns
    -------
    callable
        Takes `f`'s arguments with the examples' axes.

    Raises
    ------
    RuntimeError
        `f` looks at a value.
    NotImplementedError
        `f` uses an op that is not there for many examples, such as a kernel of the user's.

    Examples
    --------
    >>> bc.autograd.vmap(bc.dot)(bc.array([[1, 2], [3, 4]]), bc.array([[1, 1], [10, 1]]))
    array([ 3, 34])
    >>> slopes = bc.autograd.vmap(bc.autograd.grad(bc.sin))
    >>> slopes(bc.array([0.0, 0.5]))
    array([1.        , 0.87758256])
    """
    from ._manipulation import moveaxis

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        axes = (in_axes,) * len(args) if in_axes is None or isinstance(in_axes, int) else tuple(in_axes)
        if len(axes) != len(args):
            raise ValueError(f"vmap: expected in_axes for {len(args)} arguments, got {len(axes)}")
        many = {k: moveaxis(a, axes[k], 0) for k, a in enumerate(args) if axes[k] is not None and isinstance(a, ndarray)}
        counts = {a.shape[0] for a in many.values()}
        if len(counts) != 1:
            raise ValueError(
                f"vmap: expected arguments with one number of examples, got {sorted(counts) or 'no array with an axis of them'}"
            )
        if counts == {0}:
            raise ValueError("vmap: expected at least one example")
        trace = _c.begin_trace()
        try:
            inputs = {k: _c.trace_input(a[0]) for k, a in many.items()}
            result = f(*(inputs.get(k, a) for k, a in enumerate(args)), **kwargs)
        finally:
            _c.end_trace(trace)
        single = not isinstance(result, (tuple, list))
        outputs = (result,) if single else tuple(result)
        for y in outputs:
            if not isinstance(y, ndarray):
                raise TypeError(f"vmap: expected a function that gives arrays, got {type(y).__name__}")
        made = _c.replay_trace(trace, outputs, tuple(inputs.values()), tuple(many.values()))
        places = (out_axes,) * len(made) if isinstance(out_axes, int) else tuple(out_axes)
        if len(places) != len(made):
            raise ValueError(f"vmap: expected out_axes for {len(made)} results, got {len(places)}")
        moved = tuple(y if p == 0 else moveaxis(y, 0, p) for y, p in zip(made, places, strict=True))
        return moved[0] if single else moved

    return wrapped


# ---- Functions with derivatives of their own ---------------------------------------------------------------------------------------------


class _Context:
    """What `Function.forward` leaves for `Function.backward`; attributes of one's own are welcome."""

    needs_input_grad: tuple[bool, ...]

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self._constants: tuple[Any, ...] = ()

    def save_for_backward(self, *arrays: ndarray | None) -> None:
        """Keeps arguments, results and other arrays as they are now for `saved_arrays`."""
        self._saved = arrays

    def mark_non_differentiable(self, *outputs: ndarray) -> None:
        """These results are constants for derivatives."""
        self._constants = outputs

    @property
    def saved_arrays(self) -> tuple[ndarray | None, ...]:
        """What `save_for_backward` has kept."""
        return self._saved

    saved_tensors = saved_arrays


class Function:
    """A function with a derivative of its own: subclasses define `forward` and `backward`, programs call `apply`.

    `forward(ctx, *args)` computes without grad mode, so that it may use kernels and NumPy; `ctx.save_for_backward` keeps arrays.
    `backward(ctx, *gradients)` gets the gradient of each result, and gives the gradient of each argument, None for what has none.

    Examples
    --------
    >>> class Cube(bc.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_arrays
    ...         return g * 3 * x**2
    >>> x = bc.array([1.0, 2.0]).requires_grad_()
    >>> Cube.apply(x).sum().backward()
    >>> x.grad
    array([ 3., 12.])
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Gives an array or a tuple of arrays."""
        raise NotImplementedError("autograd.Function: a subclass defines forward")

    @staticmethod
    def backward(ctx: Any, *gradients: ndarray) -> Any:
        """Gives a gradient for each argument of `forward`, None for what has none."""
        raise NotImplementedError("autograd.Function: a subclass defines backward")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """`forward(ctx, *args)`, with `backward` as its derivative.

        Examples
        --------
        See the class.
        """
        ctx = _Context()
        follow = is_grad_enabled()
        ctx.needs_input_grad = tuple(follow and isinstance(a, ndarray) and a.requires_grad for a in args)
        with no_grad():
            result = cls.forward(ctx, *args)
        if not any(ctx.needs_input_grad):
            return result
        single = isinstance(result, ndarray)
        outputs = (result,) if single else tuple(result)
        for y in outputs:
            if not isinstance(y, ndarray):
                raise TypeError(f"{cls.__name__}.forward: expected arrays, got {type(y).__name__}")
        constant = [any(y is c for c in ctx._constants) for y in outputs]
        places = [k for k, a in enumerate(args) if isinstance(a, ndarray)]
        # Outputs are saved without their history, which refers to what is saved.
        whose = [next((k for k, y in enumerate(outputs) if y is a), None) for a in ctx._saved]
        kept = [None if a is None else _c.snapshot(a if w is None else a.detach()) for a, w in zip(ctx._saved, whose, strict=True)]

        def run(function: Any, *gradients: ndarray) -> tuple[Any, ...]:
            ctx._saved = tuple(
                a if a is None or w is None or constant[w] else _c.output_of(function, w, a) for a, w in zip(kept, whose, strict=True)
            )
            try:
                made = cls.backward(ctx, *gradients)
            finally:
                ctx._saved = ()
            made = made if isinstance(made, tuple) else (made,)
            if len(made) != len(args):
                raise TypeError(f"{cls.__name__}.backward: expected {len(args)} gradients, one an argument, got {len(made)}")
            return tuple(made[k] for k in places)

        attached = _c.attach_function(cls.__name__, outputs, [args[k] for k in places], run)
        ctx._saved = ()
        made = tuple(y if c else a for y, a, c in zip(outputs, attached, constant, strict=True))
        return made[0] if single else made


def custom_vjp(f: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    """`f` with a derivative: for kernels, ufuncs of one's own, and functions that leave the engine.

    Parameters
    ----------
    f : callable
        Takes positional arguments and gives an array or a tuple of arrays; it runs without grad mode.
    rule : callable
        `rule(g, y, *args)` gives the gradient of each argument, None for what has none, from that of the result `y` (tuples where there are
        several). A gradient that has the shape to which an argument was broadcast is summed.

    Returns
    -------
    callable
        Takes `f`'s arguments.

    Examples
    --------
    >>> kernel = bc.ElementwiseKernel("T x", "T y", "y = x * x * x", "cube")
    >>> cube = bc.autograd.custom_vjp(kernel, lambda g, y, x: g * 3 * x**2)
    >>> bc.autograd.grad(lambda x: cube(x).sum())(bc.array([1.0, 2.0]))
    array([ 3., 12.])
    """

    class Ruled(Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            result = f(*args)
            ctx.single = isinstance(result, ndarray)
            outputs = (result,) if ctx.single else tuple(result)
            ctx.count = len(outputs)
            ctx.args = [None if isinstance(a, ndarray) else a for a in args]
            ctx.save_for_backward(*outputs, *(a if isinstance(a, ndarray) else None for a in args))
            return result

        @staticmethod
        def backward(ctx: Any, *gradients: ndarray) -> Any:
            saved = ctx.saved_arrays
            outputs, arrays = saved[: ctx.count], saved[ctx.count :]
            args = [other if a is None else a for a, other in zip(arrays, ctx.args, strict=True)]
            return rule(gradients[0], outputs[0], *args) if ctx.single else rule(gradients, outputs, *args)

    Ruled.__name__ = getattr(f, "__name__", type(f).__name__)

    def ruled(*args: Any) -> Any:
        return Ruled.apply(*args)

    return functools.update_wrapper(ruled, f, assigned=("__name__", "__doc__"), updated=())


# ---- Checks ------------------------------------------------------------------------------------------------------------------------------


def gradcheck(
    f: Callable[..., Any],
    inputs: ndarray | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compares derivatives with central differences.

    Parameters
    ----------
    f : callable
        Gives an array or a tuple of arrays.
    inputs : ndarray or sequence
        Its arguments; those of float64 and complex128 are checked.
    eps : float
        How far a number is moved to either side.
    atol, rtol : float
        How far the two may be apart, absolutely and relatively.
    raise_exception : bool
        Whether a difference raises; else the answer is False.

    Returns
    -------
    bool
        Whether they agree.

    Raises
    ------
    AssertionError
        They differ; the message names the input and shows both matrices.

    Examples
    --------
    >>> bc.autograd.gradcheck(lambda x: bc.sin(x) * x, bc.array([0.5, 1.0, 2.0]))
    True
    """
    from ._creation import array, asnumpy

    given = [inputs] if isinstance(inputs, ndarray) else list(inputs)
    checked = [k for k, x in enumerate(given) if isinstance(x, ndarray) and x.dtype in (np.float64, np.complex128)]
    if not checked:
        raise ValueError("gradcheck: expected inputs of float64 or complex128")
    host = {k: np.array(asnumpy(given[k].detach())) for k in checked}

    def values(moved: dict[int, np.ndarray]) -> list[np.ndarray]:
        with no_grad():
            made = f(*[array(moved[k], device=x.device) if k in moved else x for k, x in enumerate(given)])
            return [asnumpy(y) for y in (made if isinstance(made, (tuple, list)) else (made,)) if y.dtype.kind in "fc"]

    with enable_grad():
        starts = {k: array(host[k], device=given[k].device).requires_grad_() for k in checked}
        result = f(*[starts.get(k, x) for k, x in enumerate(given)])
        outputs = [y for y in (result if isinstance(result, (tuple, list)) else (result,)) if y.dtype.kind in "fc"]

    def compared(output: int, k: int, step: complex) -> None:
        """The columns of one Jacobian matrix by differences, in one direction of the complex plane."""
        y = outputs[output]
        x = host[k]
        numeric = np.empty((x.size, y.size), np.complex128)
        for i in range(x.size):
            both = []
            for side in (step, -step):
                moved = {j: h.copy() for j, h in host.items()}
                moved[k].reshape(-1)[i] += side if np.iscomplexobj(x) else side.real
                both.append(values(moved)[output].reshape(-1))
            numeric[i] = (both[0] - both[1]) / (2 * abs(step))
        for unit in (1, 1j) if np.iscomplexobj(numeric) and y.dtype.kind == "c" else (1,):
            analytic = np.empty((x.size, y.size), np.complex128)
            for j in range(y.size):
                seed = np.zeros(y.size, y.dtype)
                seed[j] = unit
                (g,) = _given(y, (starts[k],), array(seed.reshape(y.shape), device=y.device), False, True)
                analytic[:, j] = asnumpy(g).reshape(-1)
            # The gradient for a number z is dL/dRe(z) + i dL/dIm(z), where L is the real part of conj(seed) * y.
            found = (analytic * np.conj(step / abs(step))).real
            wanted = (np.conj(unit) * numeric).real
            if not np.allclose(found, wanted, rtol, atol, equal_nan=True):
                raise AssertionError(
                    f"gradcheck: the derivative of output {output} for input {k} is\n{found}\nand by differences\n{wanted}"
                )

    try:
        for output in range(len(outputs)):
            for k in checked:
                for step in (eps, 1j * eps) if np.iscomplexobj(host[k]) else (complex(eps),):
                    compared(output, k, complex(step))
    except AssertionError:
        if raise_exception:
            raise
        return False
    return True

__dir__ = listing(__all__)
