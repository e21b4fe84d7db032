// Advice for names that compiled functions lack: the forms that a user can write in their place.
#include <cctype>

#include "kernels/compiler.h"

namespace bc::kernels {

std::string instead_of(std::string_view construct) {
  constexpr std::pair<std::string_view, std::string_view> ways[] = {
      {"with", "use what it manages before the call, and pass in what the function needs"},
      {"asyncwith", "compiled functions do not wait: call them from the coroutine"},
      {"asyncfor", "compiled functions do not wait: call them from the coroutine"},
      {"await", "compiled functions do not wait: call them from the coroutine"},
      {"yield", "write the values into an array, or return them together"},
      {"yieldfrom", "write the values into an array, or return them together"},
      {":= in a generator expression", "bind the name before, or write the loop"},
      {"classdef", "define the class outside: named tuples and dataclasses can be made inside"},
      {"import", "import at the top of the module"},
      {"importfrom", "import at the top of the module"},
      {"asyncfunctiondef", "compiled functions do not wait: write a plain function"},
      {"starred", "write the items one by one"},
      {"delete", "leave it out: a variable needs no del"},
      {"pattern of several items for a value that is not a tuple written out in match", "write match (a, b): and case (x, y):"},
      {"pattern of a class", "write if isinstance(x, …) and elif"},
      {"pattern with *", "write if and elif"},
      {"such a pattern", "write if and elif"},
      {"name in one of several patterns", "write a case for each"},
      {"name for a tuple that is written out in match", "give it a name before"},
      {"dict", "pass arrays of keys and values, or a named tuple"},
      {"dictcomp", "pass arrays of keys and values, or a named tuple"},
      {"set", "write a tuple: `in` works on it"},
      {"setcomp", "write a tuple: `in` works on it"},
      {"listcomp", "write the loop, into an array of cuda.local.array"},
      {"try", "test for what would raise before it does"},
      {"trystar", "test for what would raise before it does"},
  };
  std::string name;
  for (char c : construct) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("a ")) name = name.substr(2);
  for (const auto& [what, way] : ways)
    if (name == what) return std::string(way);
  return {};
}

std::string instead_of_call(const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> ways[] = {
      // NumPy's functions
      {"numpy.apply_along_axis", "write the loop: for i in range(len(a)): out[i] = f(a[i])"},
      {"numpy.apply_over_axes", "reduce with axis=(…), as numpy.sum(a, axis=(0, 1))"},
      {"numpy.array2string", "use str(a)"},
      {"numpy.array_equiv", "use numpy.array_equal(*numpy.broadcast_arrays(a, b)), or (a == b).all()"},
      {"numpy.array_str", "use str(a)"},
      {"numpy.array_repr", "use repr(a)"},
      {"numpy.block", "join the blocks of a row by numpy.hstack((…)), and the rows by numpy.vstack((…))"},
      {"numpy.can_cast", "dtypes are known before the function is compiled: ask outside"},
      {"numpy.einsum", "write the sums as loops, or with @, numpy.tensordot, numpy.outer and sum(axis=…)"},
      {"numpy.histogram2d", "write the loop: h[i, j] += 1, with i and j from numpy.searchsorted(edges, x, side='right') - 1"},
      {"numpy.histogramdd", "write the loop that counts, with numpy.searchsorted for the place on each axis"},
      {"numpy.issubdtype", "dtypes are known before the function is compiled: ask outside, or use isinstance(x, …)"},
      {"numpy.ix_", "take the rows and then the columns: a[rows][:, columns]"},
      {"numpy.mask_indices", "use numpy.nonzero(numpy.triu(numpy.ones((n, n)))), or numpy.triu_indices(n, k)"},
      {"numpy.may_share_memory", "ask outside"},
      {"numpy.min_scalar_type", "dtypes are known before the function is compiled: ask outside"},
      {"numpy.piecewise", "use numpy.where(condition, f(x), g(x)), or numpy.select(conditions, choices)"},
      {"numpy.place", "use numpy.putmask(a, mask, values), or a[mask] = values"},
      {"numpy.promote_types", "dtypes are known before the function is compiled: ask outside"},
      {"numpy.ravel_multi_index", "compute it: i * columns + j"},
      {"numpy.result_type", "dtypes are known before the function is compiled: ask outside"},
      {"numpy.shares_memory", "ask outside"},
      {"numpy.random.bytes", "use numpy.random.randint(0, 256, n)"},
      {"numpy.random.default_rng", "make the generator outside, and pass it as an argument"},
      {"numpy.random.multivariate_normal", "use mean + numpy.linalg.cholesky(cov) @ numpy.random.standard_normal(n)"},
      {"numpy.random.random_integers", "use numpy.random.randint(low, high + 1)"},
      // methods of its ufuncs
      {"accumulate", "use numpy.cumsum or numpy.cumprod, or write the loop"},
      {"at", "write the loop: for i in range(len(places)): a[places[i]] += values[i]"},
      {"outer", "give the operands axes of their own: f(a[:, None], b)"},
      {"reduce", "use numpy.sum, prod, min, max, any or all with axis=, or write the loop"},
      {"reduceat", "write the loop over the parts"},
      // Python's functions
      {"builtins.callable", "what can be called is known before the function is compiled: ask outside"},
      {"builtins.eval", "write the expression"},
      {"builtins.exec", "write the statements"},
      {"builtins.id", "compare the values, or pass a number for each object"},
      {"builtins.super", "name the class: Base.method(self)"},
      {"dict.fromkeys", "write {key: value for key in keys}"},
      {"sys.intern", "define named tuples outside"},
  };
  const std::string_view wanted = name;
  for (const auto& [what, way] : ways)
    if (wanted == what) return std::string(way);
  return "call it outside and pass what it gives, or call it in a block that Python runs: with objmode(result=\"float64[:]\"):";
}

std::string instead_of_class(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> ways[] = {
      {"bytearray", "use an array: numpy.zeros(n, numpy.uint8)"},
      {"Counter", "count in a dict: counts[x] = counts.get(x, 0) + 1"},
      {"defaultdict", "use a dict, and d.setdefault(key, value) or `if key not in d`"},
      {"deque", "use a list, or an array with the places of both ends"},
      {"itemgetter", "write lambda x: x[i]"},
      {"memoryview", "use the array"},
      {"OrderedDict", "use a dict, which keeps the order"},
      {"partial", "write lambda x: f(x, value)"},
      {"vectorize", "write the loop, or decorate the function by vectorize outside"},
  };
  for (const auto& [what, way] : ways)
    if (name == what) return std::string(way);
  return "make it outside; classes that compiled functions may make are named tuples, dataclasses and those under experimental.jitclass";
}

std::string instead_of_method(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> ways[] = {
      {"as_integer_ratio", "call it outside"},
      {"byteswap", "call it outside, or on x.view(numpy.uint8)"},
      {"compress", "use a[condition]"},
      {"decode", "decode outside and pass the str"},
      {"encode", "encode outside and pass the bytes"},
      {"put", "assign: a[places] = values"},
      {"to_bytes", "shift and mask: (x >> 8 * k) & 255"},
      {"tofile", "call it outside"},
      {"tostring", "use a.view(numpy.uint8), or call it outside"},
      {"translate", "use replace(), or join the characters that a loop makes"},
      {"maketrans", "use replace(), or join the characters that a loop makes"},
  };
  for (const auto& [what, way] : ways)
    if (name == what) return std::string(way);
  return {};
}

}  // namespace bc::kernels
