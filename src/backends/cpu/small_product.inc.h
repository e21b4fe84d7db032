// Small products on vectors. Included once for each instruction set, inside a namespace of its own that has `Vectors<T>`; see
// small_product.cpp. No include guard on purpose.

template <class T>
struct SmallProduct {
  using V = Vectors<T>;
  using Vector = typename V::Vector;
  using Mask = typename V::Mask;
  static constexpr int64_t kLanes = V::kLanes;

  /// Rows x (Columns vectors) of c; `last` are the elements of the last vector. Loops over registers are unrolled: else the sums lie in
  /// memory.
  template <int Rows, int Columns>
  static void block(const TileShape& s, const T* a, const T* b, T* c, Mask last) {
    Vector sums[Rows][Columns];
    BC_UNROLL
    for (int i = 0; i < Rows * Columns; ++i) sums[i / Columns][i % Columns] = V::zero();
    for (int64_t p = 0; p < s.k; ++p) {
      Vector right[Columns];
      BC_UNROLL
      for (int v = 0; v < Columns - 1; ++v) right[v] = V::load(b + p * s.b_row + v * kLanes);
      right[Columns - 1] = V::load(b + p * s.b_row + (Columns - 1) * kLanes, last);
      BC_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const Vector left = V::broadcast(a[r * s.a_row + p * s.a_column]);
        BC_UNROLL
        for (int v = 0; v < Columns; ++v) sums[r][v] = V::multiply_add(left, right[v], sums[r][v]);
      }
    }
    BC_UNROLL
    for (int r = 0; r < Rows; ++r) {
      BC_UNROLL
      for (int v = 0; v < Columns - 1; ++v) V::store(c + r * s.c_row + v * kLanes, sums[r][v]);
      V::store(c + r * s.c_row + (Columns - 1) * kLanes, sums[r][Columns - 1], last);
    }
  }

  /// Rows of c from `i` on, as many at a time as there are registers for, then half as many, and so on.
  template <int Rows, int Columns>
  static void rows(const TileShape& s, int64_t i, const T* a, const T* b, T* c, Mask last) {
    for (; i + Rows <= s.m; i += Rows) block<Rows, Columns>(s, a + i * s.a_row, b, c + i * s.c_row, last);
    if constexpr (Rows > 1) rows<Rows / 2, Columns>(s, i, a, b, c, last);
  }

  static void run(const TileShape& s, const void* a_data, const void* b_data, void* c_data) {
    const T* a = static_cast<const T*>(a_data);
    const T* b = static_cast<const T*>(b_data);
    T* c = static_cast<T*>(c_data);
    const int64_t most = s.n > 3 * kLanes && s.n <= 4 * kLanes ? 2 : 3;  // vectors at a time: two and two, not three and one
    for (int64_t j = 0; j < s.n;) {
      const int64_t left = s.n - j;
      const int64_t vectors = std::min(most, (left + kLanes - 1) / kLanes);
      const Mask last = V::first(std::min(kLanes, left - (vectors - 1) * kLanes));
      if (vectors == 3)
        rows<V::kRows, 3>(s, 0, a, b + j, c + j, last);
      else if (vectors == 2)
        rows<V::kRows, 2>(s, 0, a, b + j, c + j, last);
      else
        rows<8, 1>(s, 0, a, b + j, c + j, last);
      j += vectors * kLanes;
    }
  }
};
