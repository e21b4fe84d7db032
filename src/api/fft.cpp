// The public transforms, thin over the engine's.
#include "broadcloth/fft.h"

#include "api/array_impl.h"
#include "core/error.h"
#include "ops/fft.h"

namespace broadcloth::fft {
namespace {

using namespace face;
using bc::FftKind;

static_assert(static_cast<int>(scaling::backward) == static_cast<int>(bc::FftNorm::backward));
static_assert(static_cast<int>(scaling::ortho) == static_cast<int>(bc::FftNorm::ortho));
static_assert(static_cast<int>(scaling::forward) == static_cast<int>(bc::FftNorm::forward));

bc::FftOptions direction(bool forward, scaling norm) {
  bc::FftOptions o;
  o.forward = forward;
  o.norm = static_cast<bc::FftNorm>(norm);
  return o;
}

array along(FftKind kind, bool forward, const array& a, std::optional<int64_t> n, int64_t axis, scaling norm) {
  const std::optional<bc::Axes> lengths = n ? std::optional(bc::Axes{*n}) : std::nullopt;
  return made(bc::fft(real_array(a), kind, lengths, bc::Axes{axis}, direction(forward, norm)));
}

/// The axes of a transform over several: those given, or the last ones that `s` has, or all.
bc::Axes axes_of(const array& a, const std::optional<shape_t>& s, const std::optional<shape_t>& axes) {
  if (axes) return *axes;
  const auto count = static_cast<int64_t>(s ? s->size() : a.shape().size());
  bc::Axes last;
  for (int64_t d = -count; d < 0; ++d) last.push_back(d);
  return last;
}

array over(FftKind kind, const array& a, const std::optional<shape_t>& s, const std::optional<shape_t>& axes, const bc::FftOptions& o) {
  const bc::Axes at = axes_of(a, s, axes);
  BC_CHECK(!s || s->size() == at.size(), Value, "Shape and axes have different lengths.");
  BC_CHECK(!at.empty() || kind == FftKind::c2c, Value, "fft: expected at least one axis");
  if (at.empty()) return a;
  return made(bc::fft(real_array(a), kind, s, at, o));
}

/// The options of a dct or dst. Of types 2 and 3 one is the inverse of the other.
bc::FftOptions real_transform(bool forward, int type, scaling norm, std::optional<bool> orthogonalize) {
  BC_CHECK(type >= 1 && type <= 4, Value, "expected a type from 1 to 4, got {}", type);
  bc::FftOptions o = direction(forward, norm);
  o.type = forward || type == 1 || type == 4 ? type : 5 - type;
  o.orthogonal = orthogonalize;
  o.scipy = true;
  return o;
}
array real_along(FftKind kind, bool forward, const array& a, int type, const real_options& r) {
  const std::optional<bc::Axes> lengths = r.n ? std::optional(bc::Axes{*r.n}) : std::nullopt;
  return made(bc::fft(real_array(a), kind, lengths, bc::Axes{r.axis}, real_transform(forward, type, r.norm, r.orthogonalize)));
}
array real_over(FftKind kind, bool forward, const array& a, int type, const real_options_n& r) {
  const bc::FftOptions o = real_transform(forward, type, r.norm, r.orthogonalize);
  const bc::Axes at = axes_of(a, r.s, r.axes);
  return at.empty() ? a : over(kind, a, r.s, at, o);
}

array shifted(const array& x, const std::optional<shape_t>& axes, int64_t sign) {
  const bc::Array a = real_array(x);
  const bc::Axes at = axes_of(x, {}, axes);
  bc::Axes shifts;
  for (const int64_t d : at) {
    BC_CHECK(d >= -a.ndim() && d < a.ndim(), Axis, "axis {} is out of bounds for array of dimension {}", d, a.ndim());
    shifts.push_back(sign * (a.shape()[static_cast<int>(d < 0 ? d + a.ndim() : d)] / 2));
  }
  return made(at.empty() ? bc::copy(a) : bc::roll(a, shifts, at));
}

}  // namespace

array fft(const array& a, std::optional<int64_t> n, int64_t axis, scaling norm) { return along(FftKind::c2c, true, a, n, axis, norm); }
array ifft(const array& a, std::optional<int64_t> n, int64_t axis, scaling norm) { return along(FftKind::c2c, false, a, n, axis, norm); }
array rfft(const array& a, std::optional<int64_t> n, int64_t axis, scaling norm) { return along(FftKind::r2c, true, a, n, axis, norm); }
array irfft(const array& a, std::optional<int64_t> n, int64_t axis, scaling norm) { return along(FftKind::c2r, false, a, n, axis, norm); }
array hfft(const array& a, std::optional<int64_t> n, int64_t axis, scaling norm) { return along(FftKind::c2r, true, a, n, axis, norm); }
array ihfft(const array& a, std::optional<int64_t> n, int64_t axis, scaling norm) { return along(FftKind::r2c, false, a, n, axis, norm); }

array fftn(const array& a, std::optional<shape_t> s, std::optional<shape_t> axes, scaling norm) {
  return over(FftKind::c2c, a, s, axes, direction(true, norm));
}
array ifftn(const array& a, std::optional<shape_t> s, std::optional<shape_t> axes, scaling norm) {
  return over(FftKind::c2c, a, s, axes, direction(false, norm));
}
array rfftn(const array& a, std::optional<shape_t> s, std::optional<shape_t> axes, scaling norm) {
  return over(FftKind::r2c, a, s, axes, direction(true, norm));
}
array irfftn(const array& a, std::optional<shape_t> s, std::optional<shape_t> axes, scaling norm) {
  return over(FftKind::c2r, a, s, axes, direction(false, norm));
}

array dct(const array& a, int type, const real_options& r) { return real_along(FftKind::dct, true, a, type, r); }
array idct(const array& a, int type, const real_options& r) { return real_along(FftKind::dct, false, a, type, r); }
array dst(const array& a, int type, const real_options& r) { return real_along(FftKind::dst, true, a, type, r); }
array idst(const array& a, int type, const real_options& r) { return real_along(FftKind::dst, false, a, type, r); }
array dctn(const array& a, int type, const real_options_n& r) { return real_over(FftKind::dct, true, a, type, r); }
array idctn(const array& a, int type, const real_options_n& r) { return real_over(FftKind::dct, false, a, type, r); }
array dstn(const array& a, int type, const real_options_n& r) { return real_over(FftKind::dst, true, a, type, r); }
array idstn(const array& a, int type, const real_options_n& r) { return real_over(FftKind::dst, false, a, type, r); }

array fftfreq(int64_t n, double d) {
  BC_CHECK(n > 0, Value, "fftfreq: expected a positive number of points, got {}", n);
  const array k = arange(0, n), half(static_cast<double>((n + 1) / 2));
  return (k - (k >= half) * static_cast<double>(n)) * (1.0 / (static_cast<double>(n) * d));
}
array rfftfreq(int64_t n, double d) {
  BC_CHECK(n > 0, Value, "rfftfreq: expected a positive number of points, got {}", n);
  return arange(0, n / 2 + 1) * (1.0 / (static_cast<double>(n) * d));
}
array fftshift(const array& x, std::optional<shape_t> axes) { return shifted(x, axes, 1); }
array ifftshift(const array& x, std::optional<shape_t> axes) { return shifted(x, axes, -1); }

}  // namespace broadcloth::fft
