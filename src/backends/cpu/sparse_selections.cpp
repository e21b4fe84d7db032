// Parts of sparse matrices on the CPU: rows by number, elements by a mask, single elements.
#include "backends/cpu/sparse_elements.h"
#include "runtime/parallel.h"

namespace bc::cpu::sparse {
namespace {

/// The pointers of the rows `at`, one after another.
template <class I>
void take_counts(const I* indptr, const int64_t* at, int64_t count, I* out) {
  for (int64_t i = 0; i < count; ++i) out[i + 1] = indptr[at[i] + 1] - indptr[at[i]];
  add_up(out, count);
}

/// Copies the rows `at` one after another to the places that `starts` says.
template <class E, class I>
void take(const E* data, const Rows<I>& a, const int64_t* at, const I* starts, int64_t count, E* out, I* indices) {
  parallel_for(count, grain_of(count, count + starts[count]), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      I to = starts[i];
      for (I j = a.indptr[at[i]], stop = a.indptr[at[i] + 1]; j < stop; ++j, ++to) {
        out[to] = data[j];
        indices[to] = a.indices[j];
      }
    }
  });
}

/// Copies the elements of a mask. The branch that a mask would be is mispredicted, so each element is written, and the next one over it
/// where it was not to be kept.
template <class E, class I>
void keep(const E* data, const Rows<I>& a, const uint8_t* mask, E* out, I* indices, I* indptr) {
  const int64_t grain = grain_of(a.count, a.count + a.elements);
  parallel_for(a.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      I n = 0;
      for (I j = a.indptr[i]; j < a.indptr[i + 1]; ++j) n += mask[j] != 0;
      indptr[i + 1] = n;
    }
  });
  add_up(indptr, a.count);
  parallel_for(a.count, grain, [&](int64_t begin, int64_t end) {
    I to = indptr[begin];
    for (I j = a.indptr[begin], stop = indptr[end]; to < stop; ++j) {
      out[to] = data[j];
      indices[to] = a.indices[j];
      to += mask[j] != 0;
    }
  });
}

/// Writes the rows of a matrix in blocks: a row is the same row of each of its blocks, one after another.
template <class E, class I>
void block_rows(const View& blocks, const Rows<I>& a, E* out, I* indices, I* indptr) {
  const E* data = elements<E>(blocks);
  const int64_t height = blocks.layout.shape[1], width = blocks.layout.shape[2];
  parallel_for(a.count, grain_of(a.count, a.elements * height * width + a.count), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t to = a.indptr[i] * height * width;
      for (int64_t r = 0; r < height; ++r) {
        indptr[i * height + r] = static_cast<I>(to);
        for (int64_t j = a.indptr[i]; j < a.indptr[i + 1]; ++j) {
          const E* from = data + (j * height + r) * width;
          const int64_t column = a.indices[j] * width;
          for (int64_t c = 0; c < width; ++c, ++to) {
            out[to] = from[c];
            indices[to] = static_cast<I>(column + c);
          }
        }
      }
    }
  });
  indptr[a.count * height] = static_cast<I>(a.elements * height * width);
}

/// The place of a column in a row whose columns ascend, or -1. No branch depends on an element: long rows are halved, short ones counted.
template <class I>
int64_t place_of(const Rows<I>& a, int64_t row, int64_t column) {
  const I* at = a.indices + a.indptr[row];
  const I* const end = a.indices + a.indptr[row + 1];
  int64_t n = end - at;
  while (n > 16) {
    const int64_t half = n / 2;
    at += at[half - 1] < column ? half : 0;
    n -= half;
  }
  int64_t below = 0;
  for (int64_t k = 0; k < n; ++k) below += at[k] < column;
  at += below;
  return at < end && *at == column ? at - a.indices : -1;
}

template <class E, class I>
void lookup(const E* data, const Rows<I>& a, const int64_t* rows, const int64_t* columns, int64_t n, E* out) {
  parallel_for(n, 1 << 10, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t place = place_of(a, rows[k], columns[k]);
      out[k] = place < 0 ? E{} : data[place];
    }
  });
}

template <class I>
void places(const Rows<I>& a, const int64_t* rows, const int64_t* columns, int64_t n, int64_t* out) {
  parallel_for(n, 1 << 10, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) out[k] = place_of(a, rows[k], columns[k]);
  });
}

/// The pointers of groups of equal, ascending keys.
template <class I>
void pointers(const I* keys, int64_t n, int64_t groups, I* indptr) {
  const auto fill = [&](int64_t from, int64_t to, int64_t place) { std::fill(indptr + from, indptr + to, static_cast<I>(place)); };
  parallel_for(n, kWork, [&](int64_t begin, int64_t end) {
    int64_t next = begin == 0 ? 0 : keys[begin - 1] + int64_t{1};  // the first group whose pointer is not written
    for (int64_t j = begin; j < end; ++j)
      if (keys[j] >= next) {
        BC_CHECK(keys[j] < groups, Value, "sparse matrix: index {} is out of bounds for an axis with size {}",
                 static_cast<int64_t>(keys[j]), groups);
        fill(next, keys[j] + int64_t{1}, j);
        next = keys[j] + int64_t{1};
      }
  });
  fill(n == 0 ? 0 : keys[n - 1] + int64_t{1}, groups + 1, n);
}

}  // namespace

template <class I>
void run_selection(const SparseExtra& op, std::span<const View> in, const View& output) {
  I* out = reinterpret_cast<I*>(first(output));
  if (op.what == Sparse::pointers) return pointers(elements<I>(in[0]), in[0].layout.size(), op.columns, out);
  if (op.what == Sparse::take_counts) return take_counts(elements<I>(in[0]), elements<int64_t>(in[1]), in[1].layout.size(), out);
  if (op.what == Sparse::places)
    return places(Rows<I>(in[0], in[1]), elements<int64_t>(in[2]), elements<int64_t>(in[3]), in[2].layout.size(),
                  reinterpret_cast<int64_t*>(first(output)));
  const Rows<I> a(in[1], in[2]);
  by_size(output.dtype, [&]<class E>(E) {
    const E* data = elements<E>(in[0]);
    E* values = reinterpret_cast<E*>(first(output));
    switch (op.what) {
      case Sparse::take:
        return take(data, a, elements<int64_t>(in[3]), elements<I>(in[4]), in[3].layout.size(), values, indices_of<I>(op, output));
      case Sparse::block_rows: return block_rows(in[0], a, values, indices_of<I>(op, output), pointers_of<I>(op, output));
      case Sparse::keep: return keep(data, a, elements<uint8_t>(in[3]), values, indices_of<I>(op, output), pointers_of<I>(op, output));
      default: return lookup(data, a, elements<int64_t>(in[3]), elements<int64_t>(in[4]), in[3].layout.size(), values);
    }
  });
}

template void run_selection<int32_t>(const SparseExtra& op, std::span<const View> in, const View& output);
template void run_selection<int64_t>(const SparseExtra& op, std::span<const View> in, const View& output);

}  // namespace bc::cpu::sparse
