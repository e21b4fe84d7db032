// What broadcloth.scipy.sparse is computed by.
#include "bind/sparse.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "array/placement.h"
#include "bind/args.h"
#include "ops/sparse.h"
#include "ops/sparse_host.h"

namespace bc::bind {
namespace {

/// Calls a function with all its arrays on one device. A matrix is three arrays of different sizes, and what it is multiplied with is
/// another, so that arrays that are placed by size lie on both devices.
PyObject* call_together(FastCall call, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (!placed_by_size()) return call(self, args, nargs, kwnames);
  const std::span<PyObject* const> given(args, static_cast<size_t>(nargs + (kwnames ? PyTuple_Size(kwnames) : 0)));
  std::vector<PyRef> moved;
  std::vector<PyObject*> there(given.begin(), given.end());
  PyObject* const done = guard([&]() -> PyObject* {
    std::vector<const Array*> arrays;
    for (PyObject* o : given)
      if (is_array(o)) arrays.push_back(&array_of(o));
    if (const auto place = place_of_op(arrays, 0))
      for (PyObject*& o : there)
        if (is_array(o) && !(array_of(o).device() == *place)) {
          moved.push_back(PyRef::steal(wrap(without_gil([&] { return brought(array_of(o), *place); }))));
          o = moved.back().get();
        }
    return Py_None;
  });
  return done ? call(self, there.data(), nargs, kwnames) : nullptr;
}

template <auto F, int Flags>
PyObject* entry_together(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return call_together(&entry<F, Flags>, self, args, nargs, kwnames);
}

template <auto F, int Flags>
PyMethodDef define_together(const char* signature) {
  PyMethodDef made = define<F, Flags>(signature);
  made.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&entry_together<F, Flags>));
  return made;
}

#define BC_TOGETHER(signature, ...) define_together<(__VA_ARGS__), 0>(signature)
#define BC_LOOKING_TOGETHER(signature, ...) define_together<(__VA_ARGS__), kLooking>(signature)

std::vector<Array> parts_of(const sparse::Matrix& m) { return {m.data, m.rows.indices, m.rows.indptr}; }

std::optional<std::vector<Array>> parts_of(const std::optional<sparse::Matrix>& m) {
  return m ? std::optional(parts_of(*m)) : std::nullopt;
}

/// The number that a Python object is; false where it is of another type than the vector's elements, or does not fit.
bool read_number(PyObject* o, double& to) {
  if (!PyFloat_CheckExact(o) && !PyFloat_Check(o)) return false;  // NumPy's float64 is one, too
  to = PyFloat_AsDouble(o);
  return true;
}
bool read_number(PyObject* o, int64_t& to) {
  if (!PyLong_CheckExact(o)) return false;
  int overflow = 0;
  to = PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow == 0;
}
bool read_number(PyObject* o, int32_t& to) {
  int64_t wide = 0;
  if (!read_number(o, wide) || wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) return false;
  to = static_cast<int32_t>(wide);
  return true;
}

template <class T>
bool flatten_into(PyObject* lists, T* to, int64_t n) {
  T* const end = to + n;
  for (Py_ssize_t i = 0, count = PyList_Size(lists); i < count; ++i) {
    PyObject* list = PyList_GetItem(lists, i);
    const Py_ssize_t size = PyList_Check(list) ? PyList_Size(list) : end - to + 1;
    if (size > end - to) return false;
    for (Py_ssize_t j = 0; j < size; ++j, ++to)
      if (!read_number(PyList_GetItem(list, j), *to)) return false;
  }
  return to == end;
}

/// Writes the numbers of lists one after another into a vector in host memory, if all are Python's own of that kind. Integers of 4 bytes
/// must fit.
bool flatten(PyObject* lists, PyObject* vector, bool floats) {
  BC_CHECK(PyList_Check(lists), Type, "sparse_flatten: expected a list of lists");
  Py_buffer view;
  check(PyObject_GetBuffer(vector, &view, PyBUF_WRITABLE));
  const auto n = static_cast<int64_t>(view.len / view.itemsize);
  const bool done = floats               ? flatten_into(lists, static_cast<double*>(view.buf), n)
                    : view.itemsize == 4 ? flatten_into(lists, static_cast<int32_t*>(view.buf), n)
                                         : flatten_into(lists, static_cast<int64_t*>(view.buf), n);
  PyBuffer_Release(&view);
  return done;
}

/// A vector of int64 in host memory.
class Integers {
 public:
  explicit Integers(PyObject* vector) { check(PyObject_GetBuffer(vector, &view_, PyBUF_WRITABLE)); }
  ~Integers() { PyBuffer_Release(&view_); }
  Integers(const Integers&) = delete;
  Integers& operator=(const Integers&) = delete;
  int64_t* data() const { return static_cast<int64_t*>(view_.buf); }
  int64_t size() const { return static_cast<int64_t>(view_.len / 8); }

 private:
  Py_buffer view_{};
};

/// Writes the running sums of the lengths of lists, from 0 on, into an int64 vector in host memory.
void list_ends(PyObject* lists, PyObject* vector) {
  BC_CHECK(PyList_Check(lists), Type, "sparse_list_ends: expected a list of lists");
  const Integers ends(vector);
  BC_CHECK(ends.size() == PyList_Size(lists) + 1, Value, "sparse_list_ends: expected room for {} sums, got {}", PyList_Size(lists) + 1,
           ends.size());
  ends.data()[0] = 0;
  for (Py_ssize_t i = 0; i < PyList_Size(lists); ++i) {
    const Py_ssize_t n = PyObject_Size(PyList_GetItem(lists, i));
    check(n < 0 ? -1 : 0);
    ends.data()[i + 1] = ends.data()[i] + n;
  }
}

/// Where the elements of a column go: to the first place of a column in a selection, and on to the next one that selects the same column.
struct Selection {
  const Integers first, next;

  Selection(PyObject* first_places, PyObject* next_places) : first(first_places), next(next_places) {}
  template <class F>
  void each(int64_t column, F&& f) const {
    if (column < 0 || column >= first.size()) return;
    for (int64_t place = first.data()[column]; place >= 0 && place < next.size(); place = next.data()[place]) f(place);
  }
};

void require_lists(PyObject* a, PyObject* b) {
  if (!PyList_Check(a) || !PyList_Check(b)) throw Error(ErrorKind::Type, "sparse lists: expected lists");
}

/// A list of the objects of some places of two lists beside one another: their new places, and the objects.
struct ListPart {
  using Kept = std::vector<std::pair<int64_t, PyObject*>>;
  PyRef places, values;

  /// `kept` is memory for the elements.
  ListPart(PyObject* columns, PyObject* elements, const Selection& selection, Kept& kept) {
    require_lists(columns, elements);
    kept.clear();
    bool ascends = true;
    const Py_ssize_t n = std::min(PyList_Size(columns), PyList_Size(elements));
    for (Py_ssize_t k = 0; k < n; ++k) {
      int64_t column = -1;
      if (!read_number(PyList_GetItem(columns, k), column)) column = to_int(PyList_GetItem(columns, k), "a column");
      selection.each(column, [&](int64_t place) {
        ascends = ascends && (kept.empty() || kept.back().first < place);
        kept.emplace_back(place, PyList_GetItem(elements, k));
      });
    }
    if (!ascends) std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    places = PyRef::steal(PyList_New(static_cast<Py_ssize_t>(kept.size())));
    values = PyRef::steal(PyList_New(static_cast<Py_ssize_t>(kept.size())));
    for (size_t k = 0; k < kept.size(); ++k) {
      check(PyList_SetItem(places.get(), static_cast<Py_ssize_t>(k), PyLong_FromLongLong(kept[k].first)));
      check(PyList_SetItem(values.get(), static_cast<Py_ssize_t>(k), new_ref(kept[k].second)));
    }
  }
};

/// The lists of some columns: their places and their elements.
PyRef list_part(PyObject* rows, PyObject* data, PyObject* first, PyObject* next) {
  require_lists(rows, data);
  const Selection selection(first, next);
  const Py_ssize_t n = std::min(PyList_Size(rows), PyList_Size(data));
  PyRef places = PyRef::steal(PyList_New(n)), values = PyRef::steal(PyList_New(n));
  ListPart::Kept kept;
  for (Py_ssize_t i = 0; i < n; ++i) {
    ListPart part(PyList_GetItem(rows, i), PyList_GetItem(data, i), selection, kept);
    check(PyList_SetItem(places.get(), i, part.places.release()));
    check(PyList_SetItem(values.get(), i, part.values.release()));
  }
  return tuple_of({places.get(), values.get()});
}

/// Where a column is in an ascending list of columns, or would be.
Py_ssize_t column_place(PyObject* columns, int64_t column, bool& there) {
  Py_ssize_t low = 0, high = PyList_Size(columns);
  there = false;
  while (low < high) {
    const Py_ssize_t middle = low + (high - low) / 2;
    PyObject* item = PyList_GetItem(columns, middle);
    int64_t at = 0;
    if (!read_number(item, at)) at = to_int(item, "a column");
    there = there || at == column;
    if (at < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Puts objects at places of a matrix of lists, one after the other; a zero takes away what is there.
void list_put(PyObject* rows, PyObject* data, PyObject* row, PyObject* column, PyObject* values) {
  require_lists(rows, data);
  const Integers i(row), j(column);
  for (int64_t k = 0; k < std::min(i.size(), j.size()); ++k) {
    PyObject *columns = PyList_GetItem(rows, i.data()[k]), *elements = PyList_GetItem(data, i.data()[k]),
             *value = PyList_GetItem(values, k);
    check(columns && elements && value ? 0 : -1);  // Python's IndexError
    require_lists(columns, elements);
    bool there = false;
    const Py_ssize_t at = column_place(columns, j.data()[k], there);
    const int truth = PyObject_IsTrue(value);
    check(truth < 0 ? -1 : 0);
    if (truth == 0) {
      if (there) check(PyList_SetSlice(columns, at, at + 1, nullptr)), check(PyList_SetSlice(elements, at, at + 1, nullptr));
    } else if (there) {
      check(PyList_SetItem(elements, at, new_ref(value)));
    } else {
      const PyRef number = PyRef::steal(PyLong_FromLongLong(j.data()[k]));
      check(PyList_Insert(columns, at, number.get()));
      check(PyList_Insert(elements, at, value));
    }
  }
}

}  // namespace

std::vector<PyMethodDef> sparse_functions() {
  return {
      BC_TOGETHER("sparse_product(data, indices, indptr, columns, x, transposed=False, composed=False) A matrix in compressed rows, or its "
                  "transpose, times a dense vector or matrix.",
                  [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, const Array& x, bool transposed,
                     bool composed) { return sparse::product(data, {indices, indptr, columns}, x, transposed, composed); }),
      BC_TOGETHER("sparse_group(keys, groups, composed=False) The pointers of groups of equal keys, and a stable order by key.",
                  [](const Array& keys, int64_t groups, bool composed) {
                    const sparse::Groups g = sparse::group(keys, groups, composed);
                    return std::vector<Array>{g.indptr, g.order};
                  }),
      BC_TOGETHER("sparse_expand(indptr, n, composed=False) The row of each of n elements.", sparse::expand),
      BC_LOOKING_TOGETHER(
          "sparse_union(data_a, indices_a, indptr_a, data_b, indices_b, indptr_b, columns, composed=False) The elements of two sorted "
          "matrices at the places that either has, and the indices and pointers of those.",
          [](const Array& data_a, const Array& indices_a, const Array& indptr_a, const Array& data_b, const Array& indices_b,
             const Array& indptr_b, int64_t columns, bool composed) {
            const sparse::Union u = sparse::unite(data_a, {indices_a, indptr_a, columns}, data_b, {indices_b, indptr_b, columns}, composed);
            return std::vector<Array>{u.a, u.b, u.rows.indices, u.rows.indptr};
          }),
      BC_LOOKING_TOGETHER(
          "sparse_take(data, indices, indptr, columns, rows, composed=False) -> tuple[ndarray, ndarray, ndarray] Data, indices and "
          "pointers of some rows.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, const Array& rows, bool composed) {
            return parts_of(sparse::take(data, {indices, indptr, columns}, rows, composed));
          }),
      BC_LOOKING_TOGETHER(
          "sparse_keep(data, indices, indptr, columns, mask, composed=False) -> tuple[ndarray, ndarray, ndarray] Data, indices and "
          "pointers of a mask's elements.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, const Array& mask, bool composed) {
            return parts_of(sparse::keep(data, {indices, indptr, columns}, mask, composed));
          }),
      BC_TOGETHER(
          "sparse_block_rows(blocks, indices, indptr, columns, composed=False) -> tuple[ndarray, ndarray, ndarray] Data, indices and "
          "pointers of the rows of a matrix in blocks; columns: of blocks.",
          [](const Array& blocks, const Array& indices, const Array& indptr, int64_t columns, bool composed) {
            return parts_of(sparse::block_rows(blocks, {indices, indptr, columns}, composed));
          }),
      BC_FUNCTION("sparse_flatten(lists: object, vector: object, floats: bool) Writes the numbers of lists into a vector of float64, or of "
                  "int64 or int32; tells whether all are Python's own and fit.",
                  flatten),
      BC_FUNCTION("sparse_list_ends(lists: object, vector: object) Writes the running sums of the lengths of lists into an int64 vector.",
                  list_ends),
      BC_FUNCTION(
          "sparse_list_part(rows: object, data: object, first: object, next: object) -> tuple[list[list[int]], list[list[Any]]] The "
          "lists of selected columns: int64 vectors say where a column goes first, and after each place, or -1.",
          list_part),
      BC_FUNCTION("sparse_list_put(rows: object, data: object, row: object, column: object, values: object) Puts objects at places of a "
                  "matrix of lists; int64 vectors say where.",
                  list_put),
      BC_TOGETHER("sparse_lookup(data, indices, indptr, columns, row, column, composed=False) The elements of a sorted matrix at places.",
                  [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, const Array& row, const Array& column,
                     bool composed) { return sparse::lookup(data, {indices, indptr, columns}, row, column, composed); }),
      BC_TOGETHER("sparse_places(indices, indptr, columns, row, column, composed=False) The numbers of the elements of a sorted matrix at "
                  "places, or -1.",
                  [](const Array& indices, const Array& indptr, int64_t columns, const Array& row, const Array& column, bool composed) {
                    return sparse::places({indices, indptr, columns}, row, column, composed);
                  }),
      BC_TOGETHER("sparse_pointers(keys, groups, composed=False) The pointers of groups of keys that ascend.", sparse::pointers),
      BC_TOGETHER(
          "sparse_coordinate_product(data, row, column, x, rows, composed=False) Elements at places times a dense vector or matrix.",
          sparse::coordinate_product),
      BC_TOGETHER("sparse_diagonal_product(data, offsets, x, rows, transposed=False, composed=False) Diagonals, or the transpose of their "
                  "matrix, times a dense vector or matrix.",
                  sparse::diagonal_product),
      BC_TOGETHER(
          "sparse_block_product(blocks, indices, indptr, columns, x, composed=False) Blocks in compressed rows times a dense vector "
          "or matrix.",
          [](const Array& blocks, const Array& indices, const Array& indptr, int64_t columns, const Array& x, bool composed) {
            return sparse::block_product(blocks, {indices, indptr, columns}, x, composed);
          }),
      BC_LOOKING_TOGETHER(
          "sparse_matmul(data_a, indices_a, indptr_a, columns_a, data_b, indices_b, indptr_b, columns_b, composed=False) Data, "
          "indices and pointers of the product of two matrices.",
          [](const Array& data_a, const Array& indices_a, const Array& indptr_a, int64_t columns_a, const Array& data_b,
             const Array& indices_b, const Array& indptr_b, int64_t columns_b, bool composed) {
            return parts_of(sparse::matmul(data_a, {indices_a, indptr_a, columns_a}, data_b, {indices_b, indptr_b, columns_b}, composed));
          }),
      BC_TOGETHER("sparse_transpose(data, indices, indptr, columns, composed=False) -> tuple[ndarray, ndarray, ndarray] Data, indices and "
                  "pointers of the transpose's rows.",
                  [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, bool composed) {
                    return parts_of(sparse::transpose(data, {indices, indptr, columns}, composed));
                  }),
      BC_LOOKING_TOGETHER("sparse_add(data_a, indices_a, indptr_a, data_b, indices_b, indptr_b, columns, subtract, composed=False) -> "
                          "tuple[ndarray, ndarray, ndarray] Data, indices and "
                          "pointers of the sum or difference of two sorted matrices, without zeros.",
                          [](const Array& data_a, const Array& indices_a, const Array& indptr_a, const Array& data_b,
                             const Array& indices_b, const Array& indptr_b, int64_t columns, bool subtract, bool composed) {
                            return parts_of(sparse::sum(data_a, {indices_a, indptr_a, columns}, data_b, {indices_b, indptr_b, columns},
                                                        subtract, composed));
                          }),
      BC_LOOKING_TOGETHER(
          "sparse_is_sorted(indices, indptr, columns, strictly=True, composed=False) Whether the columns of each row ascend, none "
          "twice.",
          [](const Array& indices, const Array& indptr, int64_t columns, bool strictly, bool composed) {
            return sparse::is_sorted({indices, indptr, columns}, strictly, composed);
          }),
      BC_LOOKING_TOGETHER(
          "sparse_compress(data, row, column, rows, columns, composed=False) -> tuple[ndarray, ndarray, ndarray] Data, indices and "
          "pointers of elements at places; those of one place are added up.",
          [](const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns, bool composed) {
            return parts_of(sparse::compress(data, row, column, rows, columns, composed));
          }),
      BC_LOOKING_TOGETHER(
          "sparse_dense(data, indices, indptr, columns, distinct=False, transposed=False, composed=False) All places of a matrix, or "
          "of its transpose.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, bool distinct, bool transposed, bool composed) {
            return sparse::dense(data, {indices, indptr, columns}, distinct, transposed, composed);
          }),
      // These are made at once in host memory, or are None where ops must be composed.
      BC_LOOKING_TOGETHER(
          "sparse_of_dense(a, by_columns=False) -> tuple[ndarray, ndarray, ndarray] | None Data, indices and pointers of the elements "
          "that are not zero.",
          [](const Array& a, bool by_columns) { return parts_of(sparse::host::of_dense(a, by_columns)); }),
      BC_LOOKING_TOGETHER(
          "sparse_add_dense(data, indices, indptr, columns, base, transposed=False) A dense matrix plus a sparse one of its dtype, or "
          "plus the transpose of one.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, const Array& base, bool transposed) {
            return sparse::host::dense(data, {indices, indptr, columns}, false, transposed, base);
          }),
      BC_LOOKING_TOGETHER(
          "sparse_bandwidth(indices, indptr, columns) How far from the diagonal elements lie, below and above.",
          [](const Array& indices, const Array& indptr, int64_t columns) { return sparse::host::bandwidth({indices, indptr, columns}); }),
      BC_LOOKING_TOGETHER("sparse_coordinates_dense(data, row, column, rows, columns) All places of a matrix of elements at places.",
                          [](const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns) {
                            return sparse::host::dense(data, row, column, rows, columns);
                          }),
      BC_LOOKING_TOGETHER(
          "sparse_facts(indices, indptr, end=0) The first and the last pointer, whether they ascend, and the bounds of the indices.",
          sparse::host::facts),
      BC_LOOKING_TOGETHER("sparse_bounds(numbers, end=0) The least and the greatest of some indices.", sparse::host::bounds),
      BC_LOOKING_TOGETHER(
          "sparse_nonzeros(data, indices, indptr, columns) -> tuple[ndarray, ndarray, ndarray] | None The elements that are not zero.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns) {
            return parts_of(sparse::host::nonzeros(data, {indices, indptr, columns}));
          }),
      BC_LOOKING_TOGETHER(
          "sparse_coordinates_diagonal(data, row, column, rows, columns, k) The elements on a diagonal, of elements at places.",
          [](const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns, int64_t k) {
            return sparse::host::diagonal(data, row, column, rows, columns, k);
          }),
      BC_LOOKING_TOGETHER("sparse_diagonal(data, indices, indptr, columns, k) The elements on a diagonal.",
                          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, int64_t k) {
                            return sparse::host::diagonal(data, {indices, indptr, columns}, k);
                          }),
      BC_LOOKING_TOGETHER(
          "sparse_of_diagonals(data, offsets, rows, columns) -> tuple[ndarray, ndarray, ndarray] | None Data, indices and pointers of "
          "the rows of a matrix of diagonals.",
          [](const Array& data, const Array& offsets, int64_t rows, int64_t columns) {
            return parts_of(sparse::host::of_diagonals(data, offsets, rows, columns));
          }),
      BC_LOOKING_TOGETHER(
          "sparse_diagonals(data, indices, indptr, columns) -> tuple[ndarray, ndarray] | None The diagonals that have elements, and "
          "their offsets.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns) {
            return sparse::host::diagonals(data, {indices, indptr, columns});
          }),
      BC_LOOKING_TOGETHER(
          "sparse_triangular_solve(data, indices, indptr, b, lower, unit, by_columns) x of a x = b for a triangle.",
          [](const Array& data, const Array& indices, const Array& indptr, const Array& b, bool lower, bool unit, bool by_columns) {
            return sparse::host::triangular_solve(data, {indices, indptr, indptr.size() - 1}, b, lower, unit, by_columns);
          }),
      BC_LOOKING_TOGETHER(
          "sparse_multiply_diagonals(a, a_offsets, b, b_offsets, rows, inner, columns) -> tuple[ndarray, ndarray] | None The product "
          "of two matrices of diagonals.",
          sparse::host::multiply_diagonals),
      BC_LOOKING_TOGETHER(
          "sparse_blocks(data, indices, indptr, columns, height, width) -> tuple[ndarray, ndarray, ndarray] | None Blocks, their "
          "columns and pointers.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, int64_t height, int64_t width) {
            return parts_of(sparse::host::blocks(data, {indices, indptr, columns}, height, width));
          }),
      BC_LOOKING_TOGETHER("sparse_count_blocks(indices, indptr, columns, height, width) How many blocks have elements.",
                          [](const Array& indices, const Array& indptr, int64_t columns, int64_t height, int64_t width) {
                            return sparse::host::count_blocks({indices, indptr, columns}, height, width);
                          }),
  };
}

}  // namespace bc::bind
