#include "core/shape.h"

#include <numeric>
#include <optional>
#include <vector>

#include "core/extents.h"

namespace bc {

int64_t detail::checked_product(const Dims& shape) {
  int64_t n = 1;
  bool overflow = false;
  bool empty = false;
  for (int64_t d : shape) {
    BC_CHECK(d >= 0, Value, "negative dimensions are not allowed");
    empty |= d == 0;
    // An extent of 0 does not count: the strides of an empty array are products of the other extents, which must not overflow.
    if (d > 0) overflow |= __builtin_mul_overflow(n, d, &n);
  }
  if (overflow) raise_too_big();
  return empty ? 0 : n;
}

std::string to_string(const Dims& dims) {
  std::string s = "(";
  for (int i = 0; i < dims.size(); ++i) s += (i ? ", " : "") + std::to_string(dims[i]);
  return s + (dims.size() == 1 ? ",)" : ")");
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

Layout contiguous_layout(const Dims& shape) { return {shape, contiguous_strides(shape), 0}; }

bool is_contiguous(const Dims& shape, const Dims& strides) {
  const int64_t *extents = shape.data(), *steps = strides.data();
  int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (extents[i] == 0) return true;
    if (extents[i] != 1 && steps[i] != step) {
      for (int j = i - 1; j >= 0; --j)
        if (extents[j] == 0) return true;
      return false;
    }
    step *= extents[i];
  }
  return true;
}

bool is_f_contiguous(const Dims& shape, const Dims& strides) {
  int64_t step = 1;
  for (int64_t d : shape)
    if (d == 0) return true;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

Dims broadcast_shapes(const char* op, const Dims& a, const Dims& b) {
  if (a == b) return a;
  const int n = std::max(a.size(), b.size());
  Dims out(n);
  for (int i = 0; i < n; ++i) {
    const int64_t x = i < n - a.size() ? 1 : a[i - (n - a.size())];
    const int64_t y = i < n - b.size() ? 1 : b[i - (n - b.size())];
    BC_CHECK(x == y || x == 1 || y == 1, Value, "{}: operands could not be broadcast together with shapes {} {}", op, a, b);
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Dims broadcast_strides(const char* op, const Layout& layout, const Dims& shape) {
  if (layout.shape == shape) return layout.strides;
  const int lead = shape.size() - layout.ndim();
  BC_CHECK(lead >= 0, Value, "{}: could not broadcast input array from shape {} into shape {}", op, layout.shape, shape);
  Dims strides(shape.size());
  for (int i = 0; i < layout.ndim(); ++i) {
    const int64_t have = layout.shape[i], want = shape[lead + i];
    BC_CHECK(have == want || have == 1, Value, "{}: could not broadcast input array from shape {} into shape {}", op, layout.shape, shape);
    strides[lead + i] = have == want ? layout.strides[i] : 0;
  }
  return strides;
}

int normalize_axis(int64_t axis, int ndim, const char* op) {
  BC_CHECK(axis >= -ndim && axis < ndim, Axis, "{}: axis {} is out of bounds for array of dimension {}", op, axis, ndim);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

bool reshape_layout(const Layout& from, const Dims& shape, Layout* to) {
  to->shape = shape;
  to->offset = from.offset;
  to->strides = contiguous_strides(shape);
  if (from.size() == 0) return true;
  if (is_contiguous(from.shape, from.strides)) return true;
  // Walk both shapes together: a group of old axes that becomes a group of new axes must be one contiguous run.
  Dims old_shape, old_strides;
  for (int i = 0; i < from.ndim(); ++i)
    if (from.shape[i] != 1) {
      old_shape.push_back(from.shape[i]);
      old_strides.push_back(from.strides[i]);
    }
  int oi = 0, ni = 0;
  while (oi < old_shape.size() && ni < shape.size()) {
    int64_t op = old_shape[oi], np = shape[ni];
    int oj = oi + 1, nj = ni + 1;
    while (op != np) {
      if (np < op) {
        np *= shape[nj++];
      } else {
        op *= old_shape[oj++];
      }
    }
    for (int k = oi; k < oj - 1; ++k)
      if (old_strides[k] != old_shape[k + 1] * old_strides[k + 1]) return false;
    int64_t step = old_strides[oj - 1];
    for (int k = nj - 1; k >= ni; --k) {
      to->strides[k] = step;
      step *= shape[k];
    }
    oi = oj;
    ni = nj;
  }
  const int64_t last = ni > 0 ? to->strides[ni - 1] : 1;
  for (; ni < shape.size(); ++ni) to->strides[ni] = last;
  return true;
}

void bounds(const Layout& layout, int64_t* low, int64_t* high) {
  *low = *high = layout.offset;
  for (int i = 0; i < layout.ndim(); ++i) {
    if (layout.shape[i] == 0) {
      *low = 1;
      *high = 0;
      return;
    }
    const int64_t reach = extent_product(layout.shape[i] - 1, layout.strides[i]);
    int64_t& end = reach < 0 ? *low : *high;
    end = extent_sum(end, reach);
  }
}

bool may_overlap(const Layout& a, const Layout& b) {
  int64_t alow, ahigh, blow, bhigh;
  bounds(a, &alow, &ahigh);
  bounds(b, &blow, &bhigh);
  if (alow > ahigh || blow > bhigh || ahigh < blow || bhigh < alow) return false;
  // All elements of both layouts lie on a grid of step g; the layouts can share an element only where their offsets are equal modulo g.
  int64_t g = 0;
  for (const Layout* l : {&a, &b})
    for (int i = 0; i < l->ndim(); ++i)
      if (l->shape[i] > 1) g = std::gcd(g, l->strides[i]);
  return g == 0 ? a.offset == b.offset : (a.offset - b.offset) % g == 0;
}

bool self_overlaps(const Layout& layout) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // |stride|, extent
  for (int i = 0; i < layout.ndim(); ++i) {
    if (layout.shape[i] == 0) return false;
    if (layout.shape[i] > 1) axes.emplace_back(std::abs(layout.strides[i]), layout.shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t reach = 0;  // the largest distance that the axes with smaller strides span; the next stride must be larger
  for (auto [stride, extent] : axes) {
    if (stride <= reach) return true;
    reach += stride * (extent - 1);
  }
  return false;
}

Dims memory_order(const Dims& strides) {
  Dims axes(strides.size());
  for (int i = 0; i < axes.size(); ++i) axes[i] = i;
  std::stable_sort(axes.begin(), axes.end(),
                   [&](int64_t a, int64_t b) { return std::abs(strides[static_cast<int>(a)]) > std::abs(strides[static_cast<int>(b)]); });
  return axes;
}

namespace {

/// Whether every operand that steps along both axes has the larger stride along `a`; nullopt where no operand steps along both.
std::optional<bool> wider(int a, int b, std::span<const Dims> strides) {
  bool known = false, all = true;
  for (const Dims& s : strides) {
    if (s[a] == 0 || s[b] == 0) continue;
    known = true;
    all &= std::abs(s[a]) > std::abs(s[b]);
  }
  return known ? std::optional(all) : std::nullopt;
}

/// Inserts an axis after the placed ones, then moves it forward past each axis for which `passes` is true, up to the first for which it is
/// false. nullopt neither moves the axis nor stops it.
template <class Passes>
void place(Dims* placed, int axis, Passes passes) {
  int at = placed->size();
  for (int k = at - 1; k >= 0; --k) {
    const std::optional<bool> past = passes(static_cast<int>((*placed)[k]));
    if (!past) continue;
    if (!*past) break;
    at = k;
  }
  placed->insert(at, axis);
}

}  // namespace

Dims operands_order(std::span<const Dims> strides, int ndim) {
  Dims placed;  // the innermost first
  for (int axis = ndim - 1; axis >= 0; --axis) place(&placed, axis, [&](int other) { return wider(other, axis, strides); });
  std::reverse(placed.begin(), placed.end());
  return placed;
}

Dims joined_order(std::span<const Dims> strides, int ndim) {
  Dims placed;
  for (int axis = 0; axis < ndim; ++axis) place(&placed, axis, [&](int other) { return wider(axis, other, strides); });
  return placed;
}

Dims moving_strides(const Dims& shape, Dims strides) {
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) strides[d] = 0;
  return strides;
}

bool is_ascending(const Dims& axes) {
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] != i) return false;
  return true;
}

Dims reversed_axes(int ndim) {
  Dims axes(ndim);
  for (int i = 0; i < ndim; ++i) axes[i] = ndim - 1 - i;
  return axes;
}

Dims inverse_axes(const Dims& axes) {
  Dims inverse(axes.size());
  for (int i = 0; i < axes.size(); ++i) inverse[static_cast<int>(axes[i])] = i;
  return inverse;
}

Layout transposed(const Layout& layout, const Dims& axes) {
  Layout l{Dims(axes.size()), Dims(axes.size()), layout.offset};
  for (int i = 0; i < axes.size(); ++i) {
    l.shape[i] = layout.shape[static_cast<int>(axes[i])];
    l.strides[i] = layout.strides[static_cast<int>(axes[i])];
  }
  return l;
}

void collapse(Dims* shape, std::span<Dims*> strides) {
  int out = -1;
  for (int i = 0; i < shape->size(); ++i) {
    const int64_t n = (*shape)[i];
    if (n == 1) continue;
    bool joins = out >= 0;
    if (joins)
      for (Dims* s : strides) joins &= (*s)[out] == (*s)[i] * n;
    if (joins) {
      (*shape)[out] *= n;
      for (Dims* s : strides) (*s)[out] = (*s)[i];
    } else {
      ++out;
      (*shape)[out] = n;
      for (Dims* s : strides) (*s)[out] = (*s)[i];
    }
  }
  shape->resize(out + 1);
  for (Dims* s : strides) s->resize(out + 1);
}

bool axis_map(const Dims& base_shape, const Layout& view, AxisMap* map) {
  const int nb = base_shape.size();
  map->start = Dims(nb, 0);
  map->step = Dims(nb, 0);
  map->axis = Dims(nb, -1);
  const Dims base = contiguous_strides(base_shape);
  int64_t rest = view.offset;
  if (rest < 0) return false;
  for (int k = 0; k < nb; ++k) {
    if (base_shape[k] == 0) return false;
    map->start[k] = rest / base[k];
    rest %= base[k];
  }
  if (rest != 0) return false;
  // Assigns each view axis to a base axis whose stride divides the view's and whose extent contains the view's steps; the largest base
  // stride is tried first.
  for (int j = 0; j < view.ndim(); ++j) {
    if (view.shape[j] == 1 || view.strides[j] == 0) continue;
    bool placed = false;
    for (int k = 0; k < nb && !placed; ++k) {
      if (base_shape[k] == 1 || view.strides[j] % base[k] != 0) continue;
      const int64_t step = view.strides[j] / base[k];
      const int64_t last = map->start[k] + step * (view.shape[j] - 1);
      if (map->axis[k] >= 0 || last < 0 || last >= base_shape[k]) continue;
      map->step[k] = step;
      map->axis[k] = j;
      placed = true;
    }
    if (!placed) return false;
  }
  return true;
}

}  // namespace bc
