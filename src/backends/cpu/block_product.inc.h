// The blocked matrix product for types that OpenBLAS lacks. Included once for each instruction set, in a separate namespace and with
// BC_VECTOR_BYTES set; see block_product.cpp. Deliberately without an include guard.

/// Multiplies a tile: c = a · b with sums in Acc. Goto & van de Geijn (2008): panels of both sides are packed so that the inner kernel
/// reads memory in order and keeps its 6 x 2 vectors of sums in registers.
template <class Rule>
struct BlockProduct {
  using T = typename Rule::T;
  using Acc = typename Rule::Acc;
  typedef Acc Vector __attribute__((vector_size(BC_VECTOR_BYTES)));
  static constexpr int kLanes = BC_VECTOR_BYTES / sizeof(Acc);
  static constexpr int kRows = 6;
  static constexpr int kColumns = 2 * kLanes;
  static constexpr int kRowBlock = 192;
  static constexpr int kColumnBlock = 128;
  static constexpr int kDepthBlock = 256;
  static_assert(kRowBlock % kRows == 0 && kColumnBlock % kColumns == 0);

  struct Space {
    alignas(64) Acc a[kRowBlock * kDepthBlock];
    alignas(64) Acc b[kColumnBlock * kDepthBlock];
    alignas(64) Acc c[kRowBlock * kColumnBlock];
  };

  /// `rows` x `depth` of a into panels of kRows; rows past the end are zero.
  static void pack_a(Acc* out, const T* a, int64_t rows, int64_t depth, int64_t row_stride, int64_t depth_stride) {
    for (int64_t i = 0; i < rows; i += kRows) {
      for (int64_t p = 0; p < depth; ++p) {
        for (int64_t r = 0; r < kRows; ++r) {
          *out++ = i + r < rows ? Rule::load(a[(i + r) * row_stride + p * depth_stride]) : Acc(0);
        }
      }
    }
  }

  static void pack_b(Acc* out, const T* b, int64_t columns, int64_t depth, int64_t depth_stride, int64_t column_stride) {
    for (int64_t j = 0; j < columns; j += kColumns) {
      const int64_t count = columns - j < kColumns ? columns - j : kColumns;
      for (int64_t p = 0; p < depth; ++p) {
        const T* row = b + p * depth_stride + j * column_stride;
        if (count == kColumns && column_stride == 1) {
          for (int64_t r = 0; r < kColumns; ++r) out[r] = Rule::load(row[r]);
        } else {
          for (int64_t r = 0; r < kColumns; ++r) out[r] = r < count ? Rule::load(row[r * column_stride]) : Acc(0);
        }
        out += kColumns;
      }
    }
  }

  /// c (kRows x kColumns, rows kColumnBlock apart) takes a panel of a times a panel of b.
  static void kernel(Acc* c, const Acc* a, const Acc* b, int64_t depth) {
    Vector sums[kRows][2];
    for (int r = 0; r < kRows; ++r) {
      sums[r][0] = *reinterpret_cast<const Vector*>(c + r * kColumnBlock);
      sums[r][1] = *reinterpret_cast<const Vector*>(c + r * kColumnBlock + kLanes);
    }
    for (int64_t p = 0; p < depth; ++p) {
      const Vector left = *reinterpret_cast<const Vector*>(b);
      const Vector right = *reinterpret_cast<const Vector*>(b + kLanes);
      for (int r = 0; r < kRows; ++r) {
        sums[r][0] = Rule::join(sums[r][0], a[r] - Vector{}, left);
        sums[r][1] = Rule::join(sums[r][1], a[r] - Vector{}, right);
      }
      a += kRows;
      b += kColumns;
    }
    for (int r = 0; r < kRows; ++r) {
      *reinterpret_cast<Vector*>(c + r * kColumnBlock) = sums[r][0];
      *reinterpret_cast<Vector*>(c + r * kColumnBlock + kLanes) = sums[r][1];
    }
  }

  /// Loads kLanes neighbouring elements.
  __attribute__((always_inline)) static Vector neighbours(const T* x) {
    typedef T Narrow __attribute__((vector_size(kLanes * sizeof(T))));
    Narrow v;
    std::memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, Vector);
  }

  /// A matrix with contiguous rows times a vector: each element of the matrix is used once, so it is read without packing.
  static void by_vector(const TileShape& s, const T* a, const T* b, T* c) {
    const auto x = std::unique_ptr<Acc[]>(new Acc[s.k]);
    for (int64_t p = 0; p < s.k; ++p) x[p] = Rule::load(b[p * s.b_row]);
    for (int64_t i = 0; i < s.m; ++i) {
      const T* row = a + i * s.a_row;
      Vector sums[4] = {};
      int64_t p = 0;
      for (; p + 4 * kLanes <= s.k; p += 4 * kLanes) {
        for (int v = 0; v < 4; ++v) {
          Vector right;
          std::memcpy(&right, &x[p + v * kLanes], sizeof right);
          sums[v] = Rule::join(sums[v], neighbours(row + p + v * kLanes), right);
        }
      }
      sums[0] += sums[1] + (sums[2] + sums[3]);
      Acc sum = 0;
      for (int l = 0; l < kLanes; ++l) sum = static_cast<Acc>(sum + sums[0][l]);
      for (; p < s.k; ++p) sum = static_cast<Acc>(sum + 1u * Rule::load(row[p]) * x[p]);
      c[i * s.c_row] = Rule::store(sum);
    }
  }

  /// A vector times a matrix with contiguous rows.
  static void vector_by(const TileShape& s, const T* a, const T* b, T* c) {
    constexpr int64_t kStrip = 8 * kLanes;
    int64_t j = 0;
    for (; j + kStrip <= s.n; j += kStrip) {
      Vector sums[8] = {};
      for (int64_t p = 0; p < s.k; ++p) {
        const Vector left = Rule::load(a[p * s.a_column]) - Vector{};
        for (int v = 0; v < 8; ++v) sums[v] = Rule::join(sums[v], left, neighbours(b + p * s.b_row + j + v * kLanes));
      }
      for (int v = 0; v < 8; ++v)
        for (int l = 0; l < kLanes; ++l) c[j + v * kLanes + l] = Rule::store(sums[v][l]);
    }
    for (; j < s.n; ++j) {
      Acc sum = 0;
      for (int64_t p = 0; p < s.k; ++p) sum = static_cast<Acc>(sum + 1u * Rule::load(a[p * s.a_column]) * Rule::load(b[p * s.b_row + j]));
      c[j] = Rule::store(sum);
    }
  }

  static void run(const TileShape& s, const void* a_data, const void* b_data, void* c_data) {
    const T* a = static_cast<const T*>(a_data);
    const T* b = static_cast<const T*>(b_data);
    T* c = static_cast<T*>(c_data);
    if constexpr (Rule::kSums) {
      if (s.n == 1 && s.a_column == 1) return by_vector(s, a, b, c);
      if (s.m == 1 && s.b_column == 1) return vector_by(s, a, b, c);
    }
    const auto space = std::unique_ptr<Space>(new Space);
    for (int64_t j = 0; j < s.n; j += kColumnBlock) {
      const int64_t columns = s.n - j < kColumnBlock ? s.n - j : kColumnBlock;
      for (int64_t i = 0; i < s.m; i += kRowBlock) {
        const int64_t rows = s.m - i < kRowBlock ? s.m - i : kRowBlock;
        std::memset(space->c, 0, sizeof space->c);
        for (int64_t p = 0; p < s.k; p += kDepthBlock) {
          const int64_t depth = s.k - p < kDepthBlock ? s.k - p : kDepthBlock;
          pack_a(space->a, a + i * s.a_row + p * s.a_column, rows, depth, s.a_row, s.a_column);
          pack_b(space->b, b + p * s.b_row + j * s.b_column, columns, depth, s.b_row, s.b_column);
          for (int64_t jj = 0; jj < columns; jj += kColumns) {
            for (int64_t ii = 0; ii < rows; ii += kRows) {
              kernel(space->c + ii * kColumnBlock + jj, space->a + ii * depth, space->b + jj * depth, depth);
            }
          }
        }
        for (int64_t ii = 0; ii < rows; ++ii) {
          for (int64_t jj = 0; jj < columns; ++jj) c[(i + ii) * s.c_row + j + jj] = Rule::store(space->c[ii * kColumnBlock + jj]);
        }
      }
    }
  }
};

TileFunction pick(DType dtype) {
  switch (dtype) {
    case DType::b1: return &BlockProduct<BoolRule>::run;
    // Sums modulo 2^8 are the low bits of sums modulo 2^16; x86 has no 8-bit multiplication.
    case DType::i8:
    case DType::u8: return &BlockProduct<WrapRule<uint8_t, uint16_t>>::run;
    case DType::i16:
    case DType::u16: return &BlockProduct<WrapRule<uint16_t, uint16_t>>::run;
    case DType::i32:
    case DType::u32: return &BlockProduct<WrapRule<uint32_t, uint32_t>>::run;
    case DType::i64:
    case DType::u64: return &BlockProduct<WrapRule<uint64_t, uint64_t>>::run;
    default: return nullptr;
  }
}
