"""The documentation of the extension's functions and methods: what each does, and examples with their results.

Signatures stand in the extension. A text is a summary, then sections in NumPy's form; examples follow after `>>>` as in a docstring.
"""

from __future__ import annotations

from . import _broadcloth as _c

_LIKE = "like : optional\n    Ignored; for programs that pass it to NumPy's function.\n"
_MAKE = """dtype : dtype, optional
    The elements' type.
order : {'C', 'F'}
    Which axis lies closest in memory: the last or the first.
device : device or str, optional
    Where the array lives; on the default device unless given.
"""

FUNCTIONS: dict[str, str] = {
    "array": """An array from numbers, nested sequences, or other arrays.

Parameters
----------
object : array_like
    Python's numbers in nested lists, arrays of NumPy and of this library, objects with DLPack or an array interface.
dtype : dtype, optional
    The elements' type; chosen by the values unless given.
copy : bool, optional
    True always copies, None only where it must, False raises where it must.
order : {'K', 'A', 'C', 'F'}
    How the elements lie in memory.
ndmin : int
    Axes of extent 1 are added in front until there are so many.
ndmax : int
    How deep sequences may be nested; deeper ones are a ValueError.
device : device or str, optional
    Where the array lives.
subok, like, blocking : optional
    For programs written for NumPy and CuPy; without effect.

Raises
------
ValueError
    The sequences are ragged, or a copy is needed and not allowed.
TypeError
    The values have no type of this library (text, dates, objects).

Examples
--------
>>> bc.array([[1, 2], [3, 4]], dtype="float32")
array([[1., 2.],
       [3., 4.]], dtype=float32)
""",
    "asarray": """The value as an array; an array that fits is given back itself.

Arrays of NumPy are copied unless `copy=False`, which shares their memory on the CPU. Arrays with DLPack or the CUDA array interface are
shared.

Parameters
----------
a : array_like
dtype : dtype, optional
order : {'K', 'A', 'C', 'F'}, optional
copy : bool, optional
    True always copies, None only where it must, False raises where it must.
device : device or str, optional
like, blocking : optional
    For programs written for NumPy and CuPy; without effect.

Raises
------
ValueError
    A copy is needed and `copy` is False.

Examples
--------
>>> a = bc.arange(3)
>>> bc.asarray(a) is a
True
>>> bc.asarray([1.5, 2.5])
array([1.5, 2.5])
""",
    "asanyarray": """The value as an array, as `asarray` gives it, but an array of a subclass of ndarray is given back itself.

Examples
--------
>>> class Field(bc.ndarray):
...     pass
>>> x = bc.arange(3).view(Field)
>>> bc.asanyarray(x)
Field([0, 1, 2])
>>> bc.asarray(x)
array([0, 1, 2])
""",
    "ascontiguousarray": """The array itself when its last axis lies closest in memory, else such a copy; at least 1-d.

Examples
--------
>>> bc.ascontiguousarray(bc.zeros((2, 3)).T).flags.c_contiguous
True
""",
    "asnumpy": """The elements in an array of NumPy: computes what waits, and copies from the device.

Parameters
----------
a : array_like
out : numpy.ndarray, optional
    Where the elements go.
order : {'C', 'F', 'A'}

Examples
--------
>>> type(bc.asnumpy(bc.arange(3))).__module__
'numpy'
""",
    "from_dlpack": """An array over the memory of another library's, by DLPack; nothing is copied unless `copy` or `device` ask for it.

Examples
--------
>>> host = np.arange(3)
>>> shared = bc.from_dlpack(host)
>>> host[0] = 7
>>> shared
array([7, 1, 2])
""",
    "frombuffer": """A 1-d array of the values in an object with the buffer protocol: a copy, read-only where the buffer is.

Parameters
----------
buffer : bytes, bytearray, memoryview, …
dtype : dtype
count : int
    How many values; -1 for all.
offset : int
    Bytes that are skipped.

Raises
------
ValueError
    The buffer is too small, or does not hold whole values.

Examples
--------
>>> bc.frombuffer(b"\\x01\\x02\\x03", dtype="uint8", offset=1)
array([2, 3], dtype=uint8)
""",
    "empty": f"""An array whose elements are not set.

Parameters
----------
shape : int or sequence of ints
{_MAKE}{_LIKE}
Examples
--------
>>> bc.empty((2, 3), dtype="float32").nbytes
24
""",
    "zeros": f"""An array of zeros.

Parameters
----------
shape : int or sequence of ints
{_MAKE}{_LIKE}
Examples
--------
>>> bc.zeros((2, 2))
array([[0., 0.],
       [0., 0.]])
""",
    "ones": f"""An array of ones.

Parameters
----------
shape : int or sequence of ints
{_MAKE}{_LIKE}
Examples
--------
>>> bc.ones(3, dtype="int32")
array([1, 1, 1], dtype=int32)
""",
    "full": f"""An array of one value.

Parameters
----------
shape : int or sequence of ints
fill_value : array_like
    A number, or values that broadcast to the shape.
{_MAKE}{_LIKE}
Examples
--------
>>> bc.full((2, 2), 7)
array([[7, 7],
       [7, 7]])
""",
    "arange": f"""Numbers from `start` up to, but without, `stop`.

Parameters
----------
start : number
    The first one; where `stop` is missing, this is where the numbers end, and they start at 0.
stop : number, optional
step : number
{_MAKE.replace("order", "like", 0)}
Raises
------
ZeroDivisionError
    `step` is 0.

Examples
--------
>>> bc.arange(2, 10, 3)
array([2, 5, 8])
>>> bc.arange(3.0)
array([0., 1., 2.])
""",
    "eye": """Ones on a diagonal, zeros elsewhere.

Parameters
----------
N, M : int
    Rows and columns; as many columns as rows unless given.
k : int
    Which diagonal: 0 is the main one, positive ones lie above it.

Examples
--------
>>> bc.eye(2, 3, k=1)
array([[0., 1., 0.],
       [0., 0., 1.]])
""",
    "tri": """Ones on and below a diagonal, zeros above.

Examples
--------
>>> bc.tri(2, 3)
array([[1., 0., 0.],
       [1., 1., 0.]])
""",
    "result_type": """The type of what an operation on these arrays, types and numbers gives. Python's numbers take the type of the others.

Examples
--------
>>> bc.result_type(bc.ones(2, "float32"), 1.5)
dtype('float32')
>>> bc.result_type("int32", "float32")
dtype('float64')
""",
    "promote_types": """The smallest type that both types cast to safely.

Examples
--------
>>> bc.promote_types("int16", "uint16")
dtype('int32')
""",
    "can_cast": """Tells whether a type casts to another under a rule.

Parameters
----------
from_ : dtype or array
to : dtype
casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

Examples
--------
>>> bc.can_cast("int32", "float64"), bc.can_cast("float64", "int32")
(True, False)
""",
    "where": """Elements of `x` where the condition holds, of `y` elsewhere; with the condition alone the indices where it holds.

Parameters
----------
condition : array_like
x, y : array_like, optional
    Both or none. All three broadcast.

Returns
-------
ndarray, or a tuple of one index array for each axis

Examples
--------
>>> x = bc.arange(5)
>>> bc.where(x > 2, x, -x)
array([ 0, -1, -2,  3,  4])
>>> bc.where(x > 2)
(array([3, 4]),)
""",
    "nonzero": """The indices of the elements that are not zero, one array for each axis. Their number is looked at.

Examples
--------
>>> bc.nonzero(bc.array([[1, 0], [0, 2]]))
(array([0, 1]), array([0, 1]))
""",
    "copyto": """Copies values into an array.

Parameters
----------
dst : ndarray
src : array_like
    Broadcasts to `dst`.
casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
where : array_like of bool
    Where it is false, `dst` keeps its elements.

Raises
------
TypeError
    The rule does not allow the cast.

Examples
--------
>>> a = bc.zeros(3)
>>> bc.copyto(a, [1, 2, 3], where=[True, False, True])
>>> a
array([1., 0., 3.])
""",
    "matmul": """The matrix product; matrices are the last two axes, the others broadcast.

Parameters
----------
x1, x2 : array_like
    1-d operands are a row on the left and a column on the right.
out : ndarray, optional
casting, order, dtype, subok
    As for ufuncs.
axes : list of tuples, optional
    Where the matrices of the operands and of the result lie.

Raises
------
ValueError
    The inner extents differ, or an operand is 0-d.

Examples
--------
>>> bc.matmul([[1, 2], [3, 4]], [1, 1])
array([3, 7])
""",
    "dot": """The sum of products over the last axis of `a` and the last but one of `b`; with a 0-d operand the product.

Examples
--------
>>> bc.dot([1, 2, 3], [4, 5, 6])
array(32)
""",
    "transpose": """The array with its axes reversed, or in a given order; a view.

Parameters
----------
a : array_like
axes : sequence of ints, optional
    Which axis of `a` each axis of the result is.

Examples
--------
>>> bc.transpose(bc.ones((2, 3, 4)), (1, 0, 2)).shape
(3, 2, 4)
""",
    "broadcast_to": """The array as if its elements were repeated to fill a shape; a read-only view.

Raises
------
ValueError
    The shape does not fit.

Examples
--------
>>> bc.broadcast_to([1, 2], (2, 2))
array([[1, 2],
       [1, 2]])
""",
    "broadcast_arrays": """Views of the arrays in the one shape that all of them broadcast to.

Examples
--------
>>> a, b = bc.broadcast_arrays([1, 2, 3], [[1], [2]])
>>> a.shape, b.shape
((2, 3), (2, 3))
""",
    "broadcast_shapes": """The shape that shapes broadcast to.

Raises
------
ValueError
    They do not.

Examples
--------
>>> bc.broadcast_shapes((2, 1), 3)
(2, 3)
""",
    "moveaxis": """Axes moved to other places; a view. The others keep their order.

Examples
--------
>>> bc.moveaxis(bc.ones((2, 3, 4)), 0, -1).shape
(3, 4, 2)
""",
    "expand_dims": """Axes of extent 1 put in; a view. `axis` says where they are in the result.

Examples
--------
>>> bc.expand_dims(bc.ones(3), 0).shape
(1, 3)
""",
    "squeeze": """Axes of extent 1 dropped, all or those named; a view.

Raises
------
ValueError
    A named axis has another extent.

Examples
--------
>>> bc.squeeze(bc.ones((1, 3, 1))).shape
(3,)
""",
    "flip": """The elements in reverse order along axes (all unless given); a view.

Examples
--------
>>> bc.flip([[1, 2], [3, 4]], axis=1)
array([[2, 1],
       [4, 3]])
""",
    "diagonal": """The diagonals of the matrices in two axes; a read-only view whose last axis runs along them.

Examples
--------
>>> bc.diagonal([[1, 2], [3, 4]])
array([1, 4])
""",
    "concatenate": """Arrays joined along an axis that they have.

Parameters
----------
arrays : sequence of array_like
axis : int or None
    None joins the flattened arrays.
out : ndarray, optional
dtype : dtype, optional
casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

Raises
------
ValueError
    The other extents differ, or there is nothing to join.

Examples
--------
>>> bc.concatenate([bc.arange(3), [7]])
array([0, 1, 2, 7])
""",
    "stack": """Arrays of one shape joined along a new axis.

Parameters
----------
arrays : sequence of array_like
axis : int
    Where the new axis is in the result.
out : ndarray, optional
dtype : dtype, optional
casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

Raises
------
ValueError
    The shapes differ.

Examples
--------
>>> bc.stack([[1, 2], [3, 4]], axis=1)
array([[1, 3],
       [2, 4]])
""",
    "roll": """The elements shifted along axes; what leaves at one end comes in at the other. Without an axis, of the flattened array.

Examples
--------
>>> bc.roll(bc.arange(4), 1)
array([3, 0, 1, 2])
""",
    "tile": """The array repeated, so many times along each axis.

Examples
--------
>>> bc.tile([1, 2], (2, 2))
array([[1, 2, 1, 2],
       [1, 2, 1, 2]])
""",
    "repeat": """Each element several times, along an axis or in the flattened array.

Parameters
----------
a : array_like
repeats : int or array_like of ints
    How many times; one number for all, or one for each.
axis : int, optional

Examples
--------
>>> bc.repeat([1, 2], [1, 3])
array([1, 2, 2, 2])
""",
    "put": """Writes values at indices of the flattened array.

Parameters
----------
a : ndarray
ind : array_like of ints
v : array_like
    Repeated when there are fewer of them than indices.
mode : {'raise', 'wrap', 'clip'}
    What an index out of bounds does.

Examples
--------
>>> a = bc.zeros(4)
>>> bc.put(a, [0, 2], [5, 6])
>>> a
array([5., 0., 6., 0.])
""",
    "flush": """Starts the computation of all that waits on a device, and does not wait for it.

Looking at a value does this by itself; it is for programs that want a GPU to work while they do something else.

Examples
--------
>>> x = bc.ones(5) + 1
>>> bc.flush()
""",
    "synchronize": """Computes all that waits and returns when every device is done: what a clock must be stopped after.

Examples
--------
>>> import time
>>> begin = time.perf_counter()
>>> x = bc.sin(bc.ones(1000))
>>> bc.synchronize()
>>> time.perf_counter() > begin
True
""",
    "default_device": """The device of new arrays in this thread.

Examples
--------
>>> with bc.device("cpu"):
...     bc.default_device()
device('cpu')
""",
    "set_default_device": """Chooses the device of new arrays for the whole program; `with device(…):` does for a block in a thread.

"auto" places arrays by size, as programs that name no devices need it: those of 131,072 elements and more lie on the first GPU, smaller
ones in host memory, and an op over both computes on the GPU. A launch and a wait would cost more than the host needs for few elements.

Examples
--------
>>> bc.set_default_device(bc.default_device())
""",
    "device_count": """How many devices of a kind there are.

Examples
--------
>>> bc.device_count("cpu")
1
""",
    "ndarray.requires_grad_": """Sets `requires_grad` in place.

Parameters
----------
requires_grad : bool
    Whether derivatives are followed through the array, and left in its `grad` by `backward`.

Returns
-------
ndarray
    The array itself.

Raises
------
RuntimeError
    The elements are no floating or complex numbers; or the array is no leaf and the derivatives are to end.

Examples
--------
>>> x = bc.array([1.0, 2.0]).requires_grad_()
>>> (x * x).requires_grad, x.is_leaf
(True, True)
""",
    "ndarray.backward": """Adds the gradients of the leaves that the array depends on to their `grad`.

Parameters
----------
gradient : ndarray, optional
    The gradient of the array, in its shape; 1 for an array of one element unless given.
retain_graph : bool, optional
    Keeps what ops saved, for another run; by default what `create_graph` is.
create_graph : bool
    Records the run, so that the gradients can be differentiated.
inputs : ndarray or sequence of them, optional
    The only leaves whose `grad` is changed.

Raises
------
RuntimeError
    The array does not require grad, has several elements and no gradient is given, or what an op saved is gone.

Examples
--------
>>> x = bc.array([1.0, 2.0]).requires_grad_()
>>> (x**3).sum().backward()
>>> x.grad
array([ 3., 12.])
""",
    "ndarray.detach": """The same elements as a constant for derivatives: a view.

Returns
-------
ndarray
    A view of the same memory. What is written through it is not followed.

Examples
--------
>>> x = bc.array([1.0, 2.0]).requires_grad_()
>>> (x * x.detach()).sum().backward()
>>> x.grad
array([1., 2.])
""",
    "ndarray.retain_grad": """Asks `backward` to leave the gradient in `grad` although the array is no leaf.

Raises
------
RuntimeError
    The array does not require grad.

Examples
--------
>>> x = bc.array([1.0, 2.0]).requires_grad_()
>>> y = x * x
>>> y.retain_grad()
>>> (3 * y).sum().backward()
>>> y.grad
array([3., 3.])
""",
    "ndarray.register_hook": """Calls a function with the array's gradient whenever `backward` has computed it.

Parameters
----------
hook : callable
    Takes the gradient; gives None, or the gradient to go on with.

Returns
-------
handle
    An object whose `remove()` takes the hook away.

Raises
------
RuntimeError
    The array does not require grad.

Examples
--------
>>> x = bc.array([1.0, 2.0]).requires_grad_()
>>> handle = x.register_hook(lambda g: 10 * g)
>>> (x * x).sum().backward()
>>> x.grad
array([20., 40.])
>>> handle.remove()
""",
}

# Methods: a summary, an example, and its result. Their arguments are those of the function of the same name.
METHODS: dict[str, tuple[str, str, str]] = {
    "all": ("Whether all elements are true.", "bc.array([True, False]).all()", "array(False)"),
    "any": ("Whether any element is true.", "bc.array([True, False]).any()", "array(True)"),
    "argmax": ("Where the largest element is, along an axis or in the flattened array.", "bc.array([1, 9, 3]).argmax()", "array(1)"),
    "argmin": ("Where the smallest element is, along an axis or in the flattened array.", "bc.array([4, 2, 3]).argmin()", "array(1)"),
    "as_integer_ratio": ("The number of a 0-d array as a pair of integers.", "bc.array(0.5).as_integer_ratio()", "(1, 2)"),
    "astype": ("The elements cast to another type.", "bc.array([1.7]).astype(int)", "array([1])"),
    "bind": (
        "The array itself, for programs that bind a stream to it; each call says which one it uses.",
        "bc.arange(2).bind()",
        "array([0, 1])",
    ),
    "copy_to_device": (
        "Sets the elements from an array of the same shape.",
        "x = bc.empty(2)\n>>> _ = x.copy_to_device(np.ones(2))\n>>> x",
        "array([1., 1.])",
    ),
    "copy_to_host": ("A NumPy array with the elements, or `ary` filled with them.", "bc.ones(2).copy_to_host().tolist()", "[1.0, 1.0]"),
    "getitem": ("self[item], as a stream's work.", "bc.arange(3).getitem(1).item()", "1"),
    "is_c_contiguous": ("Whether the elements lie in C's order without gaps.", "bc.ones((2, 3)).is_c_contiguous()", "True"),
    "is_f_contiguous": ("Whether the elements lie in Fortran's order without gaps.", "bc.ones((2, 3)).T.is_f_contiguous()", "True"),
    "setitem": ("self[key] = value, as a stream's work.", "x = bc.zeros(2)\n>>> x.setitem(0, 5)\n>>> x", "array([5., 0.])"),
    "split": ("Views of `section` elements each.", "[part.tolist() for part in bc.arange(4).split(2)]", "[[0, 1], [2, 3]]"),
    "choose": ("Elements of the choice whose number the array holds.", "bc.array([1, 0]).choose([[1, 2], [3, 4]])", "array([3, 2])"),
    "clip": ("The elements limited to an interval.", "bc.arange(5).clip(1, 3)", "array([1, 1, 2, 3, 3])"),
    "compress": (
        "The elements, or slices along an axis, whose condition holds.",
        "bc.arange(3).compress([True, False, True])",
        "array([0, 2])",
    ),
    "conj": ("The complex conjugate; a real array itself.", "bc.array([1 + 2j]).conj()", "array([1.-2.j])"),
    "conjugate": ("The complex conjugate; a real array itself.", "bc.array([1 + 2j]).conjugate()", "array([1.-2.j])"),
    "copy": ("A new array with the same elements.", "bc.arange(3).copy()", "array([0, 1, 2])"),
    "cpu": ("The array on the CPU; itself when it is there.", "bc.arange(3).cpu().device", "device('cpu')"),
    "cuda": (
        "The array on the first GPU; itself when it is there.",
        "x = bc.arange(3).cuda() if bc.is_available() else bc.arange(3)\n>>> x.device in bc.devices()",
        "True",
    ),
    "cumprod": ("The running product along an axis or of the flattened array.", "bc.array([1, 2, 3]).cumprod()", "array([1, 2, 6])"),
    "cumsum": ("The running sum along an axis or of the flattened array.", "bc.array([1, 2, 3]).cumsum()", "array([1, 3, 6])"),
    "diagonal": ("The diagonals of the matrices in two axes; a read-only view.", "bc.eye(2).diagonal()", "array([1., 1.])"),
    "dot": ("The dot product with another array.", "bc.array([1, 2]).dot([3, 4])", "array(11)"),
    "dump": ("Pickles a NumPy copy to a file.", "import io\n>>> bc.arange(3).dump(io.BytesIO())", ""),
    "dumps": ("A NumPy copy, pickled.", "import pickle\n>>> pickle.loads(bc.arange(3).dumps())", "array([0, 1, 2])"),
    "fill": ("Sets every element to one value.", "x = bc.empty(2)\n>>> x.fill(7)\n>>> x", "array([7., 7.])"),
    "flatten": ("The elements in one axis, copied.", "bc.eye(2).flatten()", "array([1., 0., 0., 1.])"),
    "get": (
        "The elements in an array of NumPy: computes what waits, and copies from the device.",
        "type(bc.ones(2).get()).__module__",
        "'numpy'",
    ),
    "is_integer": ("Whether the number of a 0-d array is a whole one.", "bc.array(2.0).is_integer()", "True"),
    "item": ("One element as a Python number; the only one, or at an index.", "bc.array([[1, 2], [3, 4]]).item(1, 0)", "3"),
    "max": ("The largest element, over axes or over all.", "bc.array([1, 9, 3]).max()", "array(9)"),
    "mean": ("The mean over axes or of all elements.", "bc.array([[1, 2], [3, 4]]).mean(axis=0)", "array([2., 3.])"),
    "min": ("The smallest element, over axes or over all.", "bc.array([1, 9, 3]).min()", "array(1)"),
    "nonzero": ("The indices of the elements that are not zero, one array for each axis.", "bc.array([0, 5]).nonzero()", "(array([1]),)"),
    "numpy": ("A NumPy array with the elements.", "type(bc.ones(2).numpy()).__module__", "'numpy'"),
    "prod": ("The product over axes or of all elements.", "bc.array([1, 2, 3]).prod()", "array(6)"),
    "ptp": ("The largest less the smallest element.", "bc.array([1, 9, 3]).ptp()", "array(8)"),
    "put": ("Sets the elements at flat indices.", "x = bc.zeros(3)\n>>> x.put([0, 2], 7)\n>>> x", "array([7., 0., 7.])"),
    "ravel": ("The elements in one axis; a view where that is possible.", "bc.eye(2).ravel()", "array([1., 0., 0., 1.])"),
    "repeat": ("Each element several times, along an axis or of the flattened array.", "bc.array([1, 2]).repeat(2)", "array([1, 1, 2, 2])"),
    "reshape": (
        "The same elements under another shape; a view where that is possible. One extent may be -1: what is left.",
        "bc.arange(6).reshape(2, -1)",
        "array([[0, 1, 2],\n       [3, 4, 5]])",
    ),
    "resize": ("Changes the shape and size in place; new elements are 0.", "x = bc.ones(2)\n>>> x.resize(3)\n>>> x", "array([1., 1., 0.])"),
    "round": ("The elements rounded to a number of decimals, halves to even.", "bc.array([1.26]).round(1)", "array([1.3])"),
    "set": ("Copies a NumPy array into the array.", "x = bc.empty(2)\n>>> x.set(np.array([1.0, 2.0]))\n>>> x", "array([1., 2.])"),
    "setflags": (
        "Makes the array read-only, or writable again.",
        "x = bc.ones(2)\n>>> x.setflags(write=False)\n>>> x.flags.writeable",
        "False",
    ),
    "squeeze": ("Axes of extent 1 dropped, all or those named; a view.", "bc.ones((1, 3, 1)).squeeze().shape", "(3,)"),
    "std": ("The standard deviation over axes or of all elements.", "bc.array([1.0, 3.0]).std()", "array(1.)"),
    "sum": ("The sum over axes or of all elements.", "bc.array([[1, 2], [3, 4]]).sum(axis=1)", "array([3, 7])"),
    "swapaxes": ("Two axes exchanged; a view.", "bc.ones((2, 3)).swapaxes(0, 1).shape", "(3, 2)"),
    "take": ("The elements at indices, along an axis or of the flattened array.", "bc.array([10, 20, 30]).take([2, 0])", "array([30, 10])"),
    "to": ("The array with another type or on another device.", "bc.arange(2).to('float32')", "array([0., 1.], dtype=float32)"),
    "toDlpack": ("The array as a DLPack capsule, for libraries that take one.", "type(bc.arange(2).toDlpack()).__name__", "'PyCapsule'"),
    "to_device": ("The array on another device; itself when it is there.", "bc.arange(2).to_device('cpu').device", "device('cpu')"),
    "tobytes": ("The elements' bytes.", "bc.array([1, 2], dtype='uint8').tobytes()", "b'\\x01\\x02'"),
    "tofile": ("Writes the elements to a file, as text where `sep` is given.", "bc.arange(2).tofile('numbers.txt', sep=' ')", ""),
    "tolist": ("The elements as nested lists of Python numbers.", "bc.eye(2).tolist()", "[[1.0, 0.0], [0.0, 1.0]]"),
    "trace": ("The sum of a diagonal.", "bc.eye(3).trace()", "array(3.)"),
    "transpose": ("The axes reversed, or in a given order; a view.", "bc.ones((2, 3, 4)).transpose(1, 0, 2).shape", "(3, 2, 4)"),
    "var": ("The variance over axes or of all elements.", "bc.array([1.0, 3.0]).var()", "array(1.)"),
    "view": (
        "The same memory, seen as another type.",
        "bc.array([1.0], dtype='float32').view('int32')",
        "array([1065353216], dtype=int32)",
    ),
}

# Methods that name functions which are not there yet.
_LATER = {
    "argpartition": "numpy.argpartition",
    "argsort": "numpy.argsort",
    "partition": "numpy.partition",
    "searchsorted": "numpy.searchsorted",
    "sort": "numpy.sort",
}

UFUNC_METHODS: dict[str, tuple[str, str, str]] = {
    "reduce": ("Joins the elements along axes.", "bc.add.reduce([1, 2, 3])", "array(6)"),
    "accumulate": (
        "Joins the elements along an axis and keeps all results on the way.",
        "bc.multiply.accumulate([1, 2, 3])",
        "array([1, 2, 6])",
    ),
    "reduceat": ("Joins the elements of slices that begin at indices.", "bc.add.reduceat([1, 2, 3, 4], [0, 2])", "array([3, 7])"),
    "outer": ("The function of all pairs of elements.", "bc.add.outer([1, 2], [10, 20])", "array([[11, 21],\n       [12, 22]])"),
    "at": (
        "Updates elements in place; one that is named several times is updated several times.",
        "x = bc.zeros(2)\n>>> bc.add.at(x, [0, 0], 1)\n>>> x",
        "array([2., 0.])",
    ),
    "resolve_dtypes": (
        "The types that operands are cast to, and those of the results.",
        "bc.add.resolve_dtypes((np.dtype('int32'), np.dtype('float32'), None))[2]",
        "dtype('float64')",
    ),
}


def text(summary: str, example: str, result: str) -> str:
    return f"{summary}\n\nExamples\n--------\n>>> {example}\n{result}\n" if result else f"{summary}\n\nExamples\n--------\n>>> {example}\n"


def document() -> None:
    """Gives the texts to the extension."""
    for name, doc in FUNCTIONS.items():
        _c.document(name, doc)
    for owner, methods in (("ndarray", METHODS), ("ufunc", UFUNC_METHODS)):
        for name, row in methods.items():
            _c.document(f"{owner}.{name}", text(*row))
    for name, function in _LATER.items():
        _c.document(f"ndarray.{name}", f"Not here yet: {function} takes the array and computes on a host copy.\n")
