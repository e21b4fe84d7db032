// Sparse matrices on the CPU: rows are distributed to the threads in pieces of about equal work.
#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <numeric>
#include <vector>

#include "backends/cpu/library.h"
#include "backends/cpu/sparse_elements.h"
#include "core/error.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace sparse {
namespace {

// ---- Conversions ---------------------------------------------------------------------------------------------------------------------

/// The positions of a counting sort of keys in [0, groups). Each piece of the keys is counted separately; then positions are assigned group
/// by group and, inside a group, piece by piece.
template <class I>
class Places {
 public:
  Places(const I* keys, int64_t n, int64_t groups, I* indptr)
      : n_(n),
        groups_(groups),
        pieces_(std::clamp<int64_t>(std::min(n / (2 * kWork), n / std::max<int64_t>(groups, 1)), 1, thread_limit())),
        next_(static_cast<size_t>(pieces_ * groups)) {
    each_piece([&](I* count, int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        BC_CHECK(keys[j] >= 0 && keys[j] < groups, Value, "sparse matrix: index {} is out of bounds for an axis with size {}",
                 static_cast<int64_t>(keys[j]), groups);
        ++count[keys[j]];
      }
    });
    I place = 0;
    for (int64_t g = 0; g < groups; ++g) {
      indptr[g] = place;
      for (int64_t p = 0; p < pieces_; ++p) {
        I& count = next_[static_cast<size_t>(p * groups + g)];
        const I here = count;
        count = place;
        place += here;
      }
    }
    indptr[groups] = place;
  }
  /// Calls f(next position of each group, begin, end) for each piece of the keys; f advances the positions.
  template <class F>
  void each_piece(F&& f) {
    parallel_for(pieces_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) f(next_.data() + p * groups_, n_ * p / pieces_, n_ * (p + 1) / pieces_);
    });
  }

 private:
  int64_t n_, groups_, pieces_;
  std::vector<I> next_;
};

template <class I>
void group(const I* keys, int64_t n, int64_t groups, I* indptr, I* order) {
  Places<I> places(keys, n, groups, indptr);
  places.each_piece([&](I* at, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) order[at[keys[j]]++] = static_cast<I>(j);
  });
}

/// Writes the rows of the transpose: elements and row indices are moved to the positions of a counting sort by column.
template <class E, class I>
void transpose(const E* data, const Rows<I>& a, int64_t columns, E* out, I* indices, I* indptr) {
  Places<I> places(a.indices, a.elements, columns, indptr);
  places.each_piece([&](I* at, int64_t begin, int64_t end) {
    int64_t i = std::upper_bound(a.indptr, a.indptr + a.count + 1, static_cast<I>(begin)) - a.indptr - 1;
    for (int64_t j = begin; j < end; ++i)
      for (const int64_t stop = std::min<int64_t>(end, a.indptr[i + 1]); j < stop; ++j) {
        const I place = at[a.indices[j]]++;
        out[place] = data[j];
        indices[place] = static_cast<I>(i);
      }
  });
}

template <class I>
void run_transpose(const SparseExtra& op, std::span<const View> in, const View& output) {
  const Rows<I> a(in[1], in[2]);
  by_size(output.dtype, [&]<class E>(E) {
    transpose(elements<E>(in[0]), a, op.columns, reinterpret_cast<E*>(first(output)), indices_of<I>(op, output),
              pointers_of<I>(op, output));
  });
}

template <class I>
void expand(const I* indptr, int64_t rows, I* out, int64_t n) {
  parallel_for(rows, grain_of(rows, n + rows), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = indptr[i]; j < indptr[i + 1]; ++j) out[j] = static_cast<I>(i);
  });
}

// ---- Unions and sums -------------------------------------------------------------------------------------------------------------------

/// v, or zero, without a branch.
template <class E>
E value_if(bool keep, E v) {
  if constexpr (is_complex_v<E>) {
    return {value_if(keep, v.real()), value_if(keep, v.imag())};
  } else {
    using Bits = std::conditional_t<sizeof(E) == 8, uint64_t,
                                    std::conditional_t<sizeof(E) == 4, uint32_t, std::conditional_t<sizeof(E) == 2, uint16_t, uint8_t>>>;
    return std::bit_cast<E>(static_cast<Bits>(std::bit_cast<Bits>(v) & -static_cast<Bits>(keep)));
  }
}

/// Two sorted matrices with the same shape, and the elements of both.
template <class E, class I>
struct Pair {
  const E* a_data;
  Rows<I> a;
  const E* b_data;
  Rows<I> b;
};

/// Calls f(column, element of a, element of b) for each column that either matrix has in row i, in ascending order; elements that one lacks
/// are zero. Rows with the same columns are frequent; in others, which matrix is next is not predictable, so no branch asks for it.
template <class E, class I, class F>
void merge(const Pair<E, I>& p, int64_t i, F&& f) {
  I x = p.a.indptr[i], y = p.b.indptr[i];
  const I a_end = p.a.indptr[i + 1], b_end = p.b.indptr[i + 1];
  if (a_end - x == b_end - y && std::equal(p.a.indices + x, p.a.indices + a_end, p.b.indices + y)) {
    for (; x < a_end; ++x, ++y) f(p.a.indices[x], p.a_data[x], p.b_data[y]);
    return;
  }
  while (x < a_end && y < b_end) {
    const I ca = p.a.indices[x], cb = p.b.indices[y];
    const bool of_a = ca <= cb, of_b = cb <= ca;
    f(of_a ? ca : cb, value_if(of_a, p.a_data[x]), value_if(of_b, p.b_data[y]));
    x += of_a;
    y += of_b;
  }
  for (; x < a_end; ++x) f(p.a.indices[x], p.a_data[x], E{});
  for (; y < b_end; ++y) f(p.b.indices[y], E{}, p.b_data[y]);
}

/// Merges all rows in one pass. Each piece of rows is written to the position that it would have if the matrices shared no columns; then
/// the pieces are moved together. `write(at, x, y)` stores the elements and tells whether the place stays, `move(to, from, n)` moves stored
/// ones.
template <class E, class I, class Write, class Move>
void merge_rows(const Pair<E, I>& p, I* indices, I* indptr, Write&& write, Move&& move) {
  const int64_t rows = p.a.count, work = p.a.elements + p.b.elements + rows;
  const int64_t pieces = std::clamp<int64_t>(work / kWork, 1, std::max<int64_t>(1, std::min<int64_t>(rows, 4 * thread_limit())));
  const auto row_of = [&](int64_t piece) { return rows * piece / pieces; };
  const auto place_of = [&](int64_t row) { return p.a.indptr[row] + p.b.indptr[row]; };
  std::vector<I> ends(static_cast<size_t>(pieces));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      I at = place_of(row_of(piece));
      for (int64_t i = row_of(piece); i < row_of(piece + 1); ++i) {
        const I start = at;
        merge(p, i, [&](I column, E x, E y) {
          indices[at] = column;
          at += write(at, x, y);
        });
        indptr[i + 1] = at - start;
      }
      ends[static_cast<size_t>(piece)] = at;
    }
  });
  I to = ends[0];
  for (int64_t piece = 1; piece < pieces; ++piece) {
    const I from = place_of(row_of(piece)), n = ends[static_cast<size_t>(piece)] - from;
    if (from != to) {
      move(to, from, n);
      std::memmove(indices + to, indices + from, static_cast<size_t>(n) * sizeof(I));
    }
    to += n;
  }
  add_up(indptr, rows);
}

/// The elements of both matrices at the places that either has.
template <class E, class I>
void unite(const Pair<E, I>& p, E* x_out, E* y_out, I* indices, I* indptr) {
  const auto write = [&](I at, E x, E y) {
    x_out[at] = x;
    y_out[at] = y;
    return true;
  };
  const auto move = [&](I to, I from, I n) {
    std::memmove(x_out + to, x_out + from, static_cast<size_t>(n) * sizeof(E));
    std::memmove(y_out + to, y_out + from, static_cast<size_t>(n) * sizeof(E));
  };
  merge_rows(p, indices, indptr, write, move);
}

template <class T>
bool is_zero(T v) {
  if constexpr (std::is_same_v<T, Truth>) {
    return v.byte == 0;
  } else {
    return v == T{};
  }
}
template <class T>
T difference_of(T a, T b) {
  if constexpr (std::is_same_v<T, Truth>) {
    return a;  // NumPy does not subtract booleans
  } else {
    return a - b;
  }
}

/// The sum, without zeros.
template <bool kSubtract, class T, class I>
void add(const Pair<T, I>& p, T* data, I* indices, I* indptr) {
  const auto write = [&](I at, T x, T y) {
    const T v = kSubtract ? difference_of(x, y) : sum_of(x, y);
    data[at] = v;
    return !is_zero(v);
  };
  const auto move = [&](I to, I from, I n) { std::memmove(data + to, data + from, static_cast<size_t>(n) * sizeof(T)); };
  merge_rows(p, indices, indptr, write, move);
}

template <class E, class I>
Pair<E, I> pair_of(std::span<const View> in) {
  return {elements<E>(in[0]), Rows<I>(in[1], in[2]), elements<E>(in[3]), Rows<I>(in[4], in[5])};
}

template <class I>
void run_sum(const SparseExtra& op, std::span<const View> in, const View& output) {
  by_element(output.dtype, [&]<class T>(T) {
    const auto run = op.transposed ? add<true, T, I> : add<false, T, I>;
    run(pair_of<T, I>(in), reinterpret_cast<T*>(first(output)), indices_of<I>(op, output), pointers_of<I>(op, output));
  });
}

template <class I>
void run_union(const SparseExtra& op, std::span<const View> in, const View& output) {
  by_size(output.dtype, [&]<class E>(E) {
    E* out = reinterpret_cast<E*>(first(output));
    unite(pair_of<E, I>(in), out, out + op.elements / 2, indices_of<I>(op, output), pointers_of<I>(op, output));
  });
}

// ---- Products of two sparse matrices (Gustavson, 1978) ---------------------------------------------------------------------------------

/// The number of rows of the product in a piece.
template <class I>
int64_t matmul_grain(const Rows<I>& a, const Rows<I>& b) {
  return grain_of(a.count, a.count + a.elements * (1 + b.elements / std::max<int64_t>(b.count, 1)));
}

/// Scratch memory for each thread, created when the thread runs its first piece.
template <class T>
class OfThreads {
 public:
  explicit OfThreads(int64_t size) : size_(static_cast<size_t>(size)), memory_(static_cast<size_t>(thread_limit())) {}
  T* mine() {
    std::vector<T>& m = memory_[static_cast<size_t>(thread_id())];
    if (m.size() < size_) m.resize(size_);
    return m.data();
  }

 private:
  size_t size_;
  std::vector<std::vector<T>> memory_;
};

/// A set of columns as a bitmap, with a second bitmap of its nonzero words, so that a row's columns are found in ascending order without a
/// sort. All memory is zero between rows.
class ColumnSet {
 public:
  static int64_t size_for(int64_t columns) { return (columns + 63) / 64 + (columns + 4095) / 4096; }
  ColumnSet(uint64_t* memory, int64_t columns)
      : words_(memory), used_(memory + (columns + 63) / 64), used_count_((columns + 4095) / 4096) {}

  void add(int64_t column) {
    words_[column >> 6] |= uint64_t{1} << (column & 63);
    used_[column >> 12] |= uint64_t{1} << (column >> 6 & 63);
  }
  /// Calls f(word index, bits) for each nonzero word in ascending order, and clears the set.
  template <class F>
  void drain(F&& f) {
    for (int64_t u = 0; u < used_count_; ++u) {
      for (uint64_t rest = used_[u]; rest != 0; rest &= rest - 1) {
        uint64_t& word = words_[u * 64 + std::countr_zero(rest)];
        f(u * 64 + std::countr_zero(rest), word);
        word = 0;
      }
      used_[u] = 0;
    }
  }

 private:
  uint64_t *words_, *used_;
  int64_t used_count_;
};

/// Two matrices to be multiplied, and the extent of the product's rows.
template <class T, class I>
struct Factors {
  const T* a_data;
  Rows<I> a;
  const T* b_data;
  Rows<I> b;
  int64_t columns;

  Factors(const SparseExtra& op, std::span<const View> in)
      : a_data(elements<T>(in[0])), a(in[1], in[2]), b_data(elements<T>(in[3])), b(in[4], in[5]), columns(op.columns) {}
};

template <class I>
void matmul_counts(const Rows<I>& a, const Rows<I>& b, I* indptr, int64_t columns) {
  OfThreads<uint64_t> memory(ColumnSet::size_for(columns));
  parallel_for(a.count, matmul_grain(a, b), [&](int64_t begin, int64_t end) {
    ColumnSet found(memory.mine(), columns);
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = a.indptr[i]; j < a.indptr[i + 1]; ++j)
        for (int64_t k = b.indptr[a.indices[j]], stop = b.indptr[a.indices[j] + 1]; k < stop; ++k) found.add(b.indices[k]);
      int64_t n = 0;
      found.drain([&](int64_t, uint64_t bits) { n += std::popcount(bits); });
      indptr[i + 1] = static_cast<I>(n);
    }
  });
  add_up(indptr, a.count);
}

/// Writes row i of the product from place `at` on and returns the place after it.
template <class T, class I>
int64_t multiply_row(const Factors<T, I>& f, int64_t i, ColumnSet& found, T* sum, T* data, I* indices, int64_t at) {
  for (int64_t j = f.a.indptr[i]; j < f.a.indptr[i + 1]; ++j) {
    const T factor = f.a_data[j];
    for (int64_t k = f.b.indptr[f.a.indices[j]], stop = f.b.indptr[f.a.indices[j] + 1]; k < stop; ++k) {
      const I column = f.b.indices[k];
      found.add(column);
      sum[column] = sum_of(sum[column], product_of(factor, f.b_data[k]));
    }
  }
  found.drain([&](int64_t word, uint64_t bits) {
    for (; bits != 0; bits &= bits - 1, ++at) {
      const int64_t column = word * 64 + std::countr_zero(bits);
      indices[at] = static_cast<I>(column);
      data[at] = sum[column];
      sum[column] = T{};
    }
  });
  return at;
}

template <class T, class I>
void matmul_entries(const Factors<T, I>& f, const I* indptr, T* data, I* indices) {
  OfThreads<uint64_t> memory(ColumnSet::size_for(f.columns));
  OfThreads<T> sums(f.columns);
  parallel_for(f.a.count, matmul_grain(f.a, f.b), [&](int64_t begin, int64_t end) {
    ColumnSet found(memory.mine(), f.columns);
    T* sum = sums.mine();
    for (int64_t i = begin; i < end; ++i) multiply_row(f, i, found, sum, data, indices, indptr[i]);
  });
}

/// The product in one pass. Each piece of rows is written to the position that it would have if no two products were added up; then the
/// pieces are moved together.
template <class T, class I>
void matmul(const Factors<T, I>& f, T* data, I* indices, I* indptr) {
  const int64_t rows = f.a.count;
  const int64_t most = thread_limit() == 1 ? 1 : std::min<int64_t>(rows, 4 * thread_limit());
  const int64_t pieces = std::clamp<int64_t>(rows / std::max<int64_t>(matmul_grain(f.a, f.b), 1), 1, std::max<int64_t>(most, 1));
  const auto row_of = [&](int64_t piece) { return rows * piece / pieces; };
  std::vector<int64_t> starts(static_cast<size_t>(pieces + 1)), ends(static_cast<size_t>(pieces));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for (int64_t j = f.a.indptr[row_of(p)]; j < f.a.indptr[row_of(p + 1)]; ++j)
        starts[static_cast<size_t>(p + 1)] += f.b.indptr[f.a.indices[j] + 1] - f.b.indptr[f.a.indices[j]];
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  OfThreads<uint64_t> memory(ColumnSet::size_for(f.columns));
  OfThreads<T> sums(f.columns);
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    ColumnSet found(memory.mine(), f.columns);
    T* sum = sums.mine();
    for (int64_t p = begin; p < end; ++p) {
      int64_t at = starts[static_cast<size_t>(p)];
      for (int64_t i = row_of(p); i < row_of(p + 1); ++i) {
        const int64_t next = multiply_row(f, i, found, sum, data, indices, at);
        indptr[i + 1] = static_cast<I>(next - at);
        at = next;
      }
      ends[static_cast<size_t>(p)] = at;
    }
  });
  int64_t to = ends[0];
  for (size_t p = 1; p < ends.size(); ++p) {
    const int64_t n = ends[p] - starts[p];
    if (to != starts[p]) {
      std::memmove(data + to, data + starts[p], static_cast<size_t>(n) * sizeof(T));
      std::memmove(indices + to, indices + starts[p], static_cast<size_t>(n) * sizeof(I));
    }
    to += n;
  }
  add_up(indptr, rows);
}

template <class I>
void run_matmul(const SparseExtra& op, std::span<const View> in, const View& output) {
  by_element(output.dtype, [&]<class T>(T) {
    const Factors<T, I> f(op, in);
    T* data = reinterpret_cast<T*>(first(output));
    if (op.what == Sparse::matmul)
      matmul(f, data, indices_of<I>(op, output), pointers_of<I>(op, output));
    else
      matmul_entries(f, elements<I>(in[6]), data, indices_of<I>(op, output));
  });
}

// ---- Dispatch ------------------------------------------------------------------------------------------------------------------

template <class I>
void run_as(const SparseExtra& op, std::span<const View> in, const View& output) {
  I* out = reinterpret_cast<I*>(first(output));
  switch (op.what) {
    case Sparse::product:
    case Sparse::coordinate_product:
    case Sparse::diagonal_product:
    case Sparse::block_product: return run_product<I>(op, in, output);
    case Sparse::take_counts:
    case Sparse::take:
    case Sparse::keep:
    case Sparse::lookup:
    case Sparse::places:
    case Sparse::block_rows:
    case Sparse::pointers: return run_selection<I>(op, in, output);
    case Sparse::group: return group(elements<I>(in[0]), in[0].layout.size(), op.columns, out, out + op.columns + 1);
    case Sparse::transpose: return run_transpose<I>(op, in, output);
    case Sparse::sum: return run_sum<I>(op, in, output);
    case Sparse::unite: return run_union<I>(op, in, output);
    case Sparse::expand: return expand(elements<I>(in[0]), in[0].layout.size() - 1, out, output.layout.size());
    case Sparse::matmul_counts: return matmul_counts(Rows<I>(in[0], in[1]), Rows<I>(in[2], in[3]), out, op.columns);
    case Sparse::matmul_entries:
    case Sparse::matmul: return run_matmul<I>(op, in, output);
  }
}

/// The number of an input that has the dtype of all indices.
size_t index_input(Sparse what) {
  switch (what) {
    case Sparse::group:
    case Sparse::expand:
    case Sparse::pointers:
    case Sparse::take_counts:
    case Sparse::places:
    case Sparse::matmul_counts: return 0;
    default: return 1;
  }
}

}  // namespace
}  // namespace sparse

void run(const SparseExtra& op, std::span<const View> inputs, const View& output) {
  sparse::by_index(inputs[sparse::index_input(op.what)].dtype, [&]<class I>(I) { sparse::run_as<I>(op, inputs, output); });
}

}  // namespace bc::cpu
