// Sparse matrices on the CPU: rows are distributed to the threads in pieces of about equal work.
#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <vector>

#include "backends/cpu/lapack.h"
#include "backends/cpu/library.h"
#include "backends/cpu/sparse_rows.h"
#include "backends/cpu/strided.h"
#include "core/error.h"
#include "primitives/sparse.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kWork = 1 << 14;  // multiplications of a piece

/// The number of items in a piece, if all `items` together have `work` elements.
int64_t grain_of(int64_t items, int64_t work) { return std::max<int64_t>(1, items * kWork / std::max<int64_t>(work, 1)); }

template <class T>
const T* elements(const View& v) {
  return reinterpret_cast<const T*>(first(v));
}

/// A boolean as its byte, which may differ from 0 and 1.
struct Truth {
  uint8_t byte;
};

/// a * b and a + b by the rules of the dtypes: integers wrap, booleans use "and" and "or", complex products have no special cases for
/// infinities.
template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>(a.byte != 0 && b.byte != 0)};
  } else if constexpr (is_complex_v<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>((a.byte | b.byte) != 0)};
  } else {
    return a + b;
  }
}

/// Calls f with a value of the index type, int32_t or int64_t.
template <class F>
void by_index(DType t, F&& f) {
  t == DType::i32 ? f(int32_t{}) : f(int64_t{});
}
/// Calls f with a value of the type of a matrix's elements; integers are unsigned, so that sums wrap.
template <class F>
void by_element(DType t, F&& f) {
  switch (t) {
    case DType::b1: return f(Truth{});
    case DType::i32: return f(uint32_t{});
    case DType::i64: return f(uint64_t{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::c64: return f(std::complex<float>{});
    case DType::c128: return f(std::complex<double>{});
    default: raise(ErrorKind::Type, "sparse matrices: expected bool, int32, int64 or an inexact dtype, got {}", info(t).name);
  }
}

template <class I>
struct Rows {
  const I* indices;
  const I* indptr;
  int64_t count;     ///< number of rows
  int64_t elements;  ///< elements of all rows

  Rows(const View& indices_, const View& indptr_)
      : indices(cpu::elements<I>(indices_)),
        indptr(cpu::elements<I>(indptr_)),
        count(indptr_.layout.size() - 1),
        elements(indices_.layout.size()) {}
};

// ---- Products with dense operands ----------------------------------------------------------------------------------------------------

/// The dot product of a row with a vector. Uses four sums, because the additions of a single sum wait for each other.
template <class T, class I>
T row_dot(const T* data, const I* indices, int64_t n, const T* x) {
  T s0{}, s1{}, s2{}, s3{};
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    s0 = sum_of(s0, product_of(data[j], x[indices[j]]));
    s1 = sum_of(s1, product_of(data[j + 1], x[indices[j + 1]]));
    s2 = sum_of(s2, product_of(data[j + 2], x[indices[j + 2]]));
    s3 = sum_of(s3, product_of(data[j + 3], x[indices[j + 3]]));
  }
  for (; j < n; ++j) s0 = sum_of(s0, product_of(data[j], x[indices[j]]));
  return sum_of(sum_of(s0, s1), sum_of(s2, s3));
}

template <class T>
void add_scaled(T* y, T factor, const T* x, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = sum_of(y[k], product_of(factor, x[k]));
}

template <class T, class I>
void product(const T* data, const Rows<I>& a, const T* x, int64_t width, T* y) {
  const int64_t grain = grain_of(a.count, (a.elements + a.count) * width);
  if constexpr (std::is_floating_point_v<T>)
    if (const SparseRows<T, I> rows = sparse_rows<T, I>())
      return parallel_for(a.count, grain, [&](int64_t begin, int64_t end) { rows(data, a.indices, a.indptr, x, width, y, begin, end); });
  parallel_for(a.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = a.indptr[i], n = a.indptr[i + 1] - from;
      if (width == 1) {
        y[i] = row_dot(data + from, a.indices + from, n, x);
        continue;
      }
      std::fill_n(y + i * width, width, T{});
      for (int64_t j = from; j < from + n; ++j) add_scaled(y + i * width, data[j], x + a.indices[j] * width, width);
    }
  });
}

/// The product of the transpose. Each piece of rows adds to its own vector; the number of pieces depends only on the matrix, so that the
/// bits do not depend on the number of threads.
template <class T, class I>
void transposed_product(const T* data, const Rows<I>& a, const T* x, int64_t width, T* y, int64_t size) {
  constexpr int64_t kPieces = 8;
  const int64_t pieces = std::clamp<int64_t>(a.elements * width / std::max<int64_t>(4 * size, 2 * kWork), 1, kPieces);
  std::vector<T> sums(static_cast<size_t>((pieces - 1) * size));
  std::fill_n(y, size, T{});
  const auto sum_of_piece = [&](int64_t p) { return p == 0 ? y : sums.data() + (p - 1) * size; };
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      T* sum = sum_of_piece(p);
      for (int64_t i = a.count * p / pieces; i < a.count * (p + 1) / pieces; ++i) {
        const int64_t stop = a.indptr[i + 1];
        if (width == 1)
          for (int64_t j = a.indptr[i]; j < stop; ++j) sum[a.indices[j]] = sum_of(sum[a.indices[j]], product_of(data[j], x[i]));
        else
          for (int64_t j = a.indptr[i]; j < stop; ++j) add_scaled(sum + a.indices[j] * width, data[j], x + i * width, width);
      }
    }
  });
  if (pieces > 1)
    parallel_for(size, kWork, [&](int64_t begin, int64_t end) {
      for (int64_t p = 1; p < pieces; ++p) {
        const T* sum = sum_of_piece(p);
        for (int64_t i = begin; i < end; ++i) y[i] = sum_of(y[i], sum[i]);
      }
    });
}

template <class I>
void run_product(const SparseExtra& op, std::span<const View> in, const View& output) {
  const Rows<I> a(in[1], in[2]);
  const int64_t width = output.layout.ndim() == 1 ? 1 : output.layout.shape[1];
  by_element(output.dtype, [&]<class T>(T) {
    T* y = reinterpret_cast<T*>(first(output));
    if (op.transposed)
      transposed_product(elements<T>(in[0]), a, elements<T>(in[3]), width, y, output.layout.size());
    else
      product(elements<T>(in[0]), a, elements<T>(in[3]), width, y);
  });
}

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
  constexpr DType index = sizeof(I) == 4 ? DType::i32 : DType::i64;
  char* out = first(output);
  // Elements are only moved, so only their size matters.
  const auto move = [&]<class E>(E) {
    transpose(elements<E>(in[0]), a, op.columns, reinterpret_cast<E*>(out), reinterpret_cast<I*>(out + op.indices_at(output.dtype)),
              reinterpret_cast<I*>(out + op.pointers_at(output.dtype, index)));
  };
  switch (itemsize(output.dtype)) {
    case 1: return move(uint8_t{});
    case 2: return move(uint16_t{});
    case 4: return move(uint32_t{});
    case 8: return move(uint64_t{});
    default: return move(std::complex<double>{});
  }
}

template <class I>
void expand(const I* indptr, int64_t rows, I* out, int64_t n) {
  parallel_for(rows, grain_of(rows, n + rows), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = indptr[i]; j < indptr[i + 1]; ++j) out[j] = static_cast<I>(i);
  });
}

/// Replaces the counts in indptr[1 …] by running sums.
template <class I>
void add_up(I* indptr, int64_t rows) {
  indptr[0] = 0;
  int64_t sum = 0;
  for (int64_t i = 1; i <= rows; ++i) {
    sum += indptr[i];
    BC_CHECK(sum <= std::numeric_limits<I>::max(), Value, "sparse matrix: int32 indices cannot count its elements; use int64 ones");
    indptr[i] = static_cast<I>(sum);
  }
}

// ---- Unions --------------------------------------------------------------------------------------------------------------------------

/// Calls f(column, index in a or -1, index in b or -1) for each column that either matrix has in row i, in ascending order.
template <class I, class F>
void merge(const Rows<I>& a, const Rows<I>& b, int64_t i, F&& f) {
  I x = a.indptr[i], y = b.indptr[i];
  const I a_end = a.indptr[i + 1], b_end = b.indptr[i + 1];
  while (x < a_end && y < b_end) {
    const I ca = a.indices[x], cb = b.indices[y];
    f(std::min(ca, cb), ca <= cb ? x : I{-1}, cb <= ca ? y : I{-1});
    x += ca <= cb;
    y += cb <= ca;
  }
  for (; x < a_end; ++x) f(a.indices[x], x, I{-1});
  for (; y < b_end; ++y) f(b.indices[y], I{-1}, y);
}

template <class I>
void union_counts(const Rows<I>& a, const Rows<I>& b, I* indptr) {
  parallel_for(a.count, grain_of(a.count, a.elements + b.elements), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      I n = 0;
      merge(a, b, i, [&](I, I, I) { ++n; });
      indptr[i + 1] = n;
    }
  });
  add_up(indptr, a.count);
}

template <class I>
void union_entries(const Rows<I>& a, const Rows<I>& b, const I* indptr, I* out, int64_t n) {
  parallel_for(a.count, grain_of(a.count, a.elements + b.elements), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      I* at = out + indptr[i];
      merge(a, b, i, [&](I column, I in_a, I in_b) {
        at[0] = column;
        at[n] = in_a < 0 ? static_cast<I>(a.elements) : in_a;
        at[2 * n] = in_b < 0 ? static_cast<I>(b.elements) : in_b;
        ++at;
      });
    }
  });
}

// ---- Sums ----------------------------------------------------------------------------------------------------------------------------

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

/// The sum in one pass. Each piece of rows is written to the position that it would have if the matrices shared no columns and no sum were
/// zero; then the pieces are moved together. This is faster than a counting pass first, because the branches of a merge are mispredicted.
template <bool kSubtract, class T, class I>
void add(const T* a_data, const Rows<I>& a, const T* b_data, const Rows<I>& b, T* data, I* indices, I* indptr) {
  const int64_t work = a.elements + b.elements + a.count;
  const int64_t pieces = std::clamp<int64_t>(work / kWork, 1, std::max<int64_t>(1, std::min<int64_t>(a.count, 4 * thread_limit())));
  const auto row_of = [&](int64_t p) { return a.count * p / pieces; };
  std::vector<I> ends(static_cast<size_t>(pieces));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      I at = a.indptr[row_of(p)] + b.indptr[row_of(p)];
      for (int64_t i = row_of(p); i < row_of(p + 1); ++i) {
        const I start = at;
        merge(a, b, i, [&](I column, I in_a, I in_b) {
          const T x = in_a < 0 ? T{} : a_data[in_a], y = in_b < 0 ? T{} : b_data[in_b];
          const T v = kSubtract ? difference_of(x, y) : sum_of(x, y);
          indices[at] = column;
          data[at] = v;
          at += !is_zero(v);
        });
        indptr[i + 1] = at - start;
      }
      ends[static_cast<size_t>(p)] = at;
    }
  });
  I place = ends[0];
  for (int64_t p = 1; p < pieces; ++p) {
    const I from = a.indptr[row_of(p)] + b.indptr[row_of(p)], n = ends[static_cast<size_t>(p)] - from;
    if (from != place) {
      std::memmove(data + place, data + from, static_cast<size_t>(n) * sizeof(T));
      std::memmove(indices + place, indices + from, static_cast<size_t>(n) * sizeof(I));
    }
    place += n;
  }
  add_up(indptr, a.count);
}

template <class I>
void run_sum(const SparseExtra& op, std::span<const View> in, const View& output) {
  const Rows<I> a(in[1], in[2]), b(in[4], in[5]);
  constexpr DType index = sizeof(I) == 4 ? DType::i32 : DType::i64;
  char* out = first(output);
  by_element(output.dtype, [&]<class T>(T) {
    const auto run = op.transposed ? add<true, T, I> : add<false, T, I>;
    run(elements<T>(in[0]), a, elements<T>(in[3]), b, reinterpret_cast<T*>(out), reinterpret_cast<I*>(out + op.indices_at(output.dtype)),
        reinterpret_cast<I*>(out + op.pointers_at(output.dtype, index)));
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

template <class T, class I>
void matmul_entries(const T* a_data, const Rows<I>& a, const T* b_data, const Rows<I>& b, const I* indptr, T* data, I* indices,
                    int64_t columns) {
  OfThreads<uint64_t> memory(ColumnSet::size_for(columns));
  OfThreads<T> sums(columns);
  parallel_for(a.count, matmul_grain(a, b), [&](int64_t begin, int64_t end) {
    ColumnSet found(memory.mine(), columns);
    T* sum = sums.mine();
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = a.indptr[i]; j < a.indptr[i + 1]; ++j) {
        const T factor = a_data[j];
        for (int64_t k = b.indptr[a.indices[j]], stop = b.indptr[a.indices[j] + 1]; k < stop; ++k) {
          const I column = b.indices[k];
          found.add(column);
          sum[column] = sum_of(sum[column], product_of(factor, b_data[k]));
        }
      }
      int64_t at = indptr[i];
      found.drain([&](int64_t word, uint64_t bits) {
        for (; bits != 0; bits &= bits - 1, ++at) {
          const int64_t column = word * 64 + std::countr_zero(bits);
          indices[at] = static_cast<I>(column);
          data[at] = sum[column];
          sum[column] = T{};
        }
      });
    }
  });
}

template <class I>
void run_matmul_entries(const SparseExtra& op, std::span<const View> in, const View& output) {
  const Rows<I> a(in[1], in[2]), b(in[4], in[5]);
  by_element(output.dtype, [&]<class T>(T) {
    char* out = first(output);
    matmul_entries(elements<T>(in[0]), a, elements<T>(in[3]), b, elements<I>(in[6]), reinterpret_cast<T*>(out),
                   reinterpret_cast<I*>(out + op.indices_at(output.dtype)), op.columns);
  });
}

// ---- Dispatch ------------------------------------------------------------------------------------------------------------------

template <class I>
void run_as(const SparseExtra& op, std::span<const View> in, const View& output) {
  I* out = reinterpret_cast<I*>(first(output));
  switch (op.what) {
    case Sparse::product: return run_product<I>(op, in, output);
    case Sparse::group: return group(elements<I>(in[0]), in[0].layout.size(), op.columns, out, out + op.columns + 1);
    case Sparse::transpose: return run_transpose<I>(op, in, output);
    case Sparse::sum: return run_sum<I>(op, in, output);
    case Sparse::expand: return expand(elements<I>(in[0]), in[0].layout.size() - 1, out, output.layout.size());
    case Sparse::union_counts: return union_counts(Rows<I>(in[0], in[1]), Rows<I>(in[2], in[3]), out);
    case Sparse::union_entries:
      return union_entries(Rows<I>(in[0], in[1]), Rows<I>(in[2], in[3]), elements<I>(in[4]), out, output.layout.shape[1]);
    case Sparse::matmul_counts: return matmul_counts(Rows<I>(in[0], in[1]), Rows<I>(in[2], in[3]), out, op.columns);
    case Sparse::matmul_entries: return run_matmul_entries<I>(op, in, output);
  }
}

/// The number of an input that has the dtype of all indices.
int index_input(Sparse what) {
  return what == Sparse::product || what == Sparse::transpose || what == Sparse::sum || what == Sparse::matmul_entries ? 1 : 0;
}

}  // namespace

void run(const SparseExtra& op, std::span<const View> inputs, const View& output) {
  by_index(inputs[static_cast<size_t>(index_input(op.what))].dtype, [&]<class I>(I) { run_as<I>(op, inputs, output); });
}

}  // namespace bc::cpu
