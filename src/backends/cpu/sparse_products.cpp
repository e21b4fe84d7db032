// Products of sparse matrices of all formats with dense operands on the CPU.
#include <memory>

#include "backends/cpu/sparse_elements.h"
#include "backends/cpu/sparse_rows.h"
#include "runtime/parallel.h"

namespace bc::cpu::sparse {
namespace {

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

/// y += factor * x. Most widths are a few elements, for which a loop of known length is several times as fast as one that looks for its
/// end.
template <class T>
void add_scaled(T* __restrict y, T factor, const T* __restrict x, int64_t n) {
  constexpr int64_t kStep = 8;
  int64_t k = 0;
  for (; k + kStep <= n; k += kStep)
    for (int64_t v = k; v < k + kStep; ++v) y[v] = sum_of(y[v], product_of(factor, x[v]));
  for (; k < n; ++k) y[k] = sum_of(y[k], product_of(factor, x[k]));
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

/// Adds up the vectors of several pieces of a matrix: `add(sum, p, pieces)` adds what piece p gives. The number of pieces depends only on
/// the matrix, so that the bits do not depend on the number of threads; a further vector must be worth its memory.
template <class T, class F>
void summed_pieces(int64_t elements, int64_t width, T* y, int64_t size, F&& add) {
  constexpr int64_t kPieces = 8;
  const int64_t least = std::max<int64_t>((width == 1 ? 4 : 8) * size, 2 * kWork);
  const int64_t pieces = std::clamp<int64_t>(elements * width / least, 1, kPieces);
  const auto sums = std::make_unique_for_overwrite<T[]>(static_cast<size_t>((pieces - 1) * size));
  const auto sum_of_piece = [&](int64_t p) { return p == 0 ? y : sums.get() + (p - 1) * size; };
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      std::fill_n(sum_of_piece(p), size, T{});
      add(sum_of_piece(p), p, pieces);
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

template <class T, class I>
void transposed_product(const T* data, const Rows<I>& a, const T* x, int64_t width, T* y, int64_t size) {
  summed_pieces(a.elements, width, y, size, [&](T* sum, int64_t p, int64_t pieces) {
    for (int64_t i = a.count * p / pieces; i < a.count * (p + 1) / pieces; ++i) {
      const int64_t stop = a.indptr[i + 1];
      if (width == 1)
        for (int64_t j = a.indptr[i]; j < stop; ++j) sum[a.indices[j]] = sum_of(sum[a.indices[j]], product_of(data[j], x[i]));
      else
        for (int64_t j = a.indptr[i]; j < stop; ++j) add_scaled(sum + a.indices[j] * width, data[j], x + i * width, width);
    }
  });
}

template <class T, class I>
void coordinate_product(const T* data, const I* row, const I* column, int64_t n, const T* x, int64_t width, T* y, int64_t size) {
  summed_pieces(n, width, y, size, [&](T* sum, int64_t p, int64_t pieces) {
    const int64_t stop = n * (p + 1) / pieces;
    if (width == 1)
      for (int64_t j = n * p / pieces; j < stop; ++j) sum[row[j]] = sum_of(sum[row[j]], product_of(data[j], x[column[j]]));
    else
      for (int64_t j = n * p / pieces; j < stop; ++j) add_scaled(sum + row[j] * width, data[j], x + column[j] * width, width);
  });
}

/// y += d * x, elementwise.
template <class T>
void add_products(T* __restrict y, const T* __restrict d, const T* __restrict x, int64_t n) {
  for (int64_t t = 0; t < n; ++t) y[t] = sum_of(y[t], product_of(d[t], x[t]));
}

/// Diagonals times a dense operand: element j of the diagonal k, in column j, belongs to row j - offset. Pieces of the result are computed
/// diagonal by diagonal.
template <class T>
void diagonal_product(const View& diagonals, const int64_t* offsets, bool transposed, const View& x_view, T* y, int64_t size) {
  const T* data = elements<T>(diagonals);
  const T* x = elements<T>(x_view);
  const int64_t count = diagonals.layout.shape[0], length = diagonals.layout.shape[1];
  const int64_t inner = x_view.layout.shape[0], width = x_view.layout.ndim() == 1 ? 1 : x_view.layout.shape[1];
  parallel_for(size, grain_of(size, size * (count + 1) * width), [&](int64_t begin, int64_t end) {
    std::fill(y + begin * width, y + end * width, T{});
    for (int64_t k = 0; k < count; ++k) {
      // Result i takes the element j of x, where j - i is the offset (of the transpose: minus the offset).
      const int64_t shift = transposed ? -offsets[k] : offsets[k];
      const int64_t from = std::max(begin, -shift);
      const int64_t n = std::min({end, inner - shift, transposed ? length : length - shift}) - from;
      if (n <= 0) continue;
      const T* d = data + k * length + from + (transposed ? 0 : shift);
      if (width == 1) {
        add_products(y + from, d, x + from + shift, n);
      } else {
        for (int64_t t = 0; t < n; ++t) add_scaled(y + (from + t) * width, d[t], x + (from + shift + t) * width, width);
      }
    }
  });
}

/// The sum of a row of a block times a vector; the most frequent widths are known when it is compiled.
template <int kColumns, class T>
T block_dot(const T* block, int64_t columns, const T* x) {
  T sum{};
  const int64_t n = kColumns > 0 ? kColumns : columns;
  for (int64_t c = 0; c < n; ++c) sum = sum_of(sum, product_of(block[c], x[c]));
  return sum;
}

/// Block rows [begin, end) times a vector.
template <int kColumns, class T, class I>
void blocks_by_vector(const T* data, int64_t height, int64_t columns, const Rows<I>& a, const T* x, T* y, int64_t begin, int64_t end) {
  const int64_t width = kColumns > 0 ? kColumns : columns;
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = a.indptr[i]; j < a.indptr[i + 1]; ++j) {
      const T *block = data + j * height * width, *from = x + a.indices[j] * width;
      for (int64_t r = 0; r < height; ++r)
        y[i * height + r] = sum_of(y[i * height + r], block_dot<kColumns>(block + r * width, width, from));
    }
}

/// Blocks in compressed rows times a dense operand.
template <class T, class I>
void block_product(const View& blocks, const Rows<I>& a, const T* x, int64_t width, T* y) {
  const T* data = elements<T>(blocks);
  const int64_t height = blocks.layout.shape[1], columns = blocks.layout.shape[2];
  parallel_for(a.count, grain_of(a.count, (a.elements * height * columns + a.count) * width), [&](int64_t begin, int64_t end) {
    std::fill(y + begin * height * width, y + end * height * width, T{});
    if (width == 1) {
      if constexpr (std::is_floating_point_v<T>) switch (columns) {
          case 2: return blocks_by_vector<2>(data, height, columns, a, x, y, begin, end);
          case 3: return blocks_by_vector<3>(data, height, columns, a, x, y, begin, end);
          case 4: return blocks_by_vector<4>(data, height, columns, a, x, y, begin, end);
          default: break;
        }
      return blocks_by_vector<0>(data, height, columns, a, x, y, begin, end);
    }
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = a.indptr[i]; j < a.indptr[i + 1]; ++j) {
        const T *block = data + j * height * columns, *from = x + a.indices[j] * columns * width;
        for (int64_t r = 0; r < height; ++r)
          for (int64_t c = 0; c < columns; ++c) add_scaled(y + (i * height + r) * width, block[r * columns + c], from + c * width, width);
      }
  });
}

}  // namespace

template <class I>
void run_product(const SparseExtra& op, std::span<const View> in, const View& output) {
  const int64_t width = output.layout.ndim() == 1 ? 1 : output.layout.shape[1], size = output.layout.size();
  by_element(output.dtype, [&]<class T>(T) {
    T* y = reinterpret_cast<T*>(first(output));
    switch (op.what) {
      case Sparse::coordinate_product:
        return coordinate_product(elements<T>(in[0]), elements<I>(in[1]), elements<I>(in[2]), in[1].layout.size(), elements<T>(in[3]),
                                  width, y, size);
      case Sparse::diagonal_product:
        if constexpr (sizeof(I) == 8)
          return diagonal_product(in[0], elements<int64_t>(in[1]), op.transposed, in[2], y, output.layout.shape[0]);
        return;
      case Sparse::block_product: return block_product(in[0], Rows<I>(in[1], in[2]), elements<T>(in[3]), width, y);
      default:
        if (op.transposed) return transposed_product(elements<T>(in[0]), Rows<I>(in[1], in[2]), elements<T>(in[3]), width, y, size);
        return product(elements<T>(in[0]), Rows<I>(in[1], in[2]), elements<T>(in[3]), width, y);
    }
  });
}

template void run_product<int32_t>(const SparseExtra& op, std::span<const View> in, const View& output);
template void run_product<int64_t>(const SparseExtra& op, std::span<const View> in, const View& output);

}  // namespace bc::cpu::sparse
