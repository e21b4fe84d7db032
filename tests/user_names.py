"""Programs whose names are names of C++, of CUDA, of the C library or of broadcloth's own text, for tests of what the compiler prints.

`programs(kind)` gives each name of `NAMES` every role of a program in turn: parameter, local, function, field, ...
"""

from __future__ import annotations

import itertools
import keyword
import linecache
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

CPP = """alignas alignof and_eq asm auto bitand bitor bool case catch char char8_t char16_t char32_t compl concept const consteval constexpr
constinit const_cast co_await co_return co_yield decltype default delete do double dynamic_cast enum explicit export extern false float
friend goto inline int long mutable namespace new noexcept not_eq nullptr operator or_eq private protected public register
reinterpret_cast requires restrict short signed sizeof static static_assert static_cast struct switch template this thread_local throw true
typedef typeid typename typeof union unsigned using virtual void volatile wchar_t xor xor_eq final override import module std"""
MACROS = """NULL EOF N I errno stdin stdout stderr assert offsetof NAN INFINITY M_PI M_E HUGE_VAL BUFSIZ SEEK_SET SIGINT CHAR_BIT INT_MAX
LONG_MIN linux unix i386 va_arg va_start signbit isnan isinf isfinite complex _Complex _Bool __LINE__ __FILE__ __DATE__ __func__ __linux__
__unix__ __x86_64__ __CUDA_ARCH__ __CUDACC__ __clang__ __cplusplus __VA_ARGS__ __device__ __global__ __shared__ __restrict__ __align__
BC_FN BC_INLINE BC_PY BC_CUDA BC_UNROLL BC_PY_TABLE"""
CUDA = """threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 float4 int2 make_float4 half __half nv_bfloat16 clock clock64
__syncthreads atomicAdd __ldg __shfl_sync tex2D cudaMalloc cudaError_t norm3d rsqrt sinpi fma erfcinv __nv_sin dynamic_shared"""
LIBC = """sin cos sqrt exp pow malloc free calloc memcpy memset memmove strlen printf puts exit abort main time read write open close index
signal rand y0 y1 j0 jn gamma remainder div size_t int64_t uint8_t FILE environ"""
OWN = """py bc cast status failure arguments result items generator value call count i8 i64 u32 f16 f32 f64 bfloat16 complex64 limits Array
Tuple Host Str List Dict Optional Record Status table wrap part take raise_failure bits_as nonzero lambda_ element k1 k2 t1 t2 v1 a1 n1 e1
s1 start1 stop1 step1 left1 copy1 out_ f0 f1 fields field share keep equals less hash write_to bc_host bc_loop bc_value bc_poll
bc_checker bc_linked_f u_x u2_x f_x m_x T_x c_x ux_ match_each1 x_each1 shape strides data size"""
OTHER = ["größe", "数", "π", "µ", "xc3xa9", "é", "_", "__", "___", "a__b", "a_u_b", "_u_", "x_", "X_", "Nul", "nUL", "ß_5f", "l" * 3000]

NAMES = [n for n in dict.fromkeys(f"{CPP} {MACROS} {CUDA} {LIBC} {OWN}".split() + OTHER) if not keyword.iskeyword(n)]

# Python's own names that the programs below use.
USED = {"range", "len", "float", "ValueError", "sum", "max", "np", "namedtuple", "cuda", "njit", "int", "prange", "min"}

FUNCTION = """
{global_} = 3
{array} = np.array([1.5, 2.5])
{tuple_} = namedtuple("{tuple_}", ["{field}", "{field2}"])

class {error}(Exception):
    pass

def {callee}({p}, {q}=2):
    {local} = {p} * {q}
    return {local} + {global_}

def {function}({p}, {q}, *{rest}):
    {local} = 0
    for {loop} in range({q}):
        if {loop} == 2:
            {local} = float({p})
        {local} += {loop} + {callee}({loop}, {q}={p}) + {array}[{loop} % 2]
    def {inner}({r}):
        return {r} + {local} + {global_}
    {pair} = {tuple_}({local}, {p})
    {list_} = [{each} * {p} for {each} in range({q})]
    {found} = {{{each}: {each} + {p} for {each} in {list_}}}
    {text} = "a"
    {text} = 1
    while ({walrus} := {text} + 1) < 5:
        {text} = {walrus}
    try:
        if {p} > 1:
            raise {error}("x")
    except {error} as {caught}:
        {local} += 1
    match {q}:
        case 2 | 3:
            {local} += 10
        case {captured}:
            {local} += {captured}
    {swap}, {loop} = {loop}, {local}
    return (
        {inner}({text}) + {pair}.{field} + {pair}.{field2} + sum({list_}) + len({found}) + {found}[{list_}[1]] + {swap} + {loop}
        + (lambda {r}: {r} + {p})({walrus}) + len({rest}) + {rest}[0]
    )
"""

KERNEL = """
{global_} = 3
{array} = np.array([1.5, 2.5])

@cuda.jit(device=True)
def {callee}({p}, {q}):
    {local} = {p} * {q}
    return {local} + {global_}

@cuda.jit
def {function}({p}, {q}, {r}, {rest}):
    {local} = cuda.grid(1)
    {shared} = cuda.shared.array(32, "float64")
    {own} = cuda.local.array(4, "int64")
    for {loop} in range(4):
        {own}[{loop}] = {loop} + {local}
    {shared}[{local}] = {q}
    cuda.syncthreads()
    {pair} = ({local}, {p}[{local}])
    {text} = 1
    {text} = {shared}[31 - {local}] + {text}
    def {inner}({each}):
        return {each} + {local} + {global_}
    if {local} < {r}.size:
        {r}[{local}] = {inner}({text}) + {callee}({p}[{local}], {q}) + {own}[1] + {pair}[1] + {array}[{local} % 2] + {rest}[{local}].{field}
        {rest}[{local}].{field2} += {r}[{local}]
"""

ELEMENT = """
{global_} = 3

def {callee}({p}, {q}):
    {local} = {p} * {q}
    return {local} + {global_}

def {function}({p}, {q}):
    {local} = 0.0
    for {loop} in range(3):
        {local} += {callee}({p}, {loop}) + {q}
    {local} = {local} if {p} < {q} else min({p}, {q})
    return {local}
"""

CORE = """
def {function}({p}, {q}, {r}):
    {local} = 0.0
    for {loop} in range({p}.shape[0]):
        {r}[{loop}] = {p}[{loop}] * {q}
        {local} += {r}[{loop}]
    {r}[0] = {local}
"""

STENCIL = """
{global_} = 3

def {function}({p}, {q}):
    {local} = {p}[-1] + {p}[1] * {q}
    return {local} * {global_}
"""

OBJECT = """
class {function}:
    def __init__(self, {p}, {q}):
        self.{field} = {p}
        self.{field2} = np.zeros({q})

    def {callee}(self, {p}):
        {local} = self.{field} + {p}
        self.{field2}[0] += {local}
        self.{field} += 1
        return {local}
"""

LOOPS = """
def {function}({p}, {q}):
    {local} = 0.0
    {r} = np.zeros({q})
    for {loop} in prange({q}):
        {text} = {p}[{loop}] * 2
        {r}[{loop}] = {text}
        {local} += {text}
    return {local}, {r}
"""


def roles(text: str) -> list[str]:
    found: list[str] = []
    for part in text.replace("{{", "").replace("}}", "").split("{")[1:]:
        role = part.partition("}")[0]
        if role not in found:
            found.append(role)
    return found


def programs(text: str, names: list[str] = NAMES, shift: int = 1) -> Iterator[dict[str, str]]:
    """Names for the roles of a program, until each name was used; `shift`: which names meet."""
    wanted = roles(text)
    # Names that the program needs as Python's own stay out. So do leading underscores where Python does not take them, or changes them.
    fit = [n for n in names if n not in USED and not (text in (OBJECT, FUNCTION) and n.startswith("_"))]
    ring = itertools.cycle(fit[shift % len(fit) :] + fit[: shift % len(fit)])
    for _ in range(-(-len(fit) // len(wanted))):
        yield dict(zip(wanted, (next(ring) for _ in wanted), strict=True))


def source(text: str, names: dict[str, str]) -> str:
    return text.format_map(names)


def made(text: str, names: dict[str, str], given: dict[str, Any]) -> Callable[..., Any]:
    """The program's entry, from text that Python can show again."""
    code = source(text, names)
    file = f"<names {hash(code)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    world = dict(given)
    exec(compile(code, file, "exec"), world)  # noqa: S102
    return world[unicodedata.normalize("NFKC", names["function"])]
