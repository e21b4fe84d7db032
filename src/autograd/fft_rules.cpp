// The derivatives of transforms, which are linear: the gradient goes through the transposed (conjugated) matrix.
#include "autograd/fft_rules.h"

#include "autograd/library_function.h"
#include "ops/compose.h"
#include "ops/fft.h"

namespace bc::autograd {
namespace {

struct FftFunction final : LibraryFunction {
  FftFunction(const FftExtra& op, std::span<const Array> inputs, Value v)
      : LibraryFunction(op.name, inputs, std::move(v)),
        transform(op.transform),
        forward(op.forward),
        orthogonal(op.orthogonal),
        type(op.type),
        scale(op.scale),
        axes(op.axes) {
    saved.clear();
  }
  const FftKind transform;
  const bool forward, orthogonal;
  const int type;
  const double scale;
  const Dims axes;

  bool release() override { return false; }

  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array& g = gradients[0];
    switch (transform) {
      case FftKind::dct:
      case FftKind::dst: return {transposed_real(g) * Arg(scale)};
      case FftKind::c2r: return {spectrum_gradient(g) * Arg(scale)};
      default: {
        const Array made = without_factor(g, FftKind::c2c, !forward) * Arg(scale);
        return {is_complex(edges[0].dtype) ? made : bc::real(made)};
      }
    }
  }

 private:
  /// The input's lengths along the axes: of a half spectrum's gradient the rest is filled up with zeros.
  Axes lengths() const {
    Axes n;
    for (const int64_t axis : axes) n.push_back(edges[0].layout.shape[static_cast<int>(axis)]);
    return n;
  }
  Axes axis_list() const {
    Axes list;
    for (const int64_t axis : axes) list.push_back(axis);
    return list;
  }
  /// The sum of a transform, multiplied by nothing.
  Array without_factor(const Array& g, FftKind kind, bool ahead) const {
    FftOptions options;
    options.forward = ahead;
    options.norm = ahead ? FftNorm::backward : FftNorm::forward;
    return bc::fft(g, kind, kind == FftKind::c2c ? std::optional(lengths()) : std::nullopt, axis_list(), options);
  }

  /// Elements of a half spectrum count twice, since their mirror images are not there, but for the first and (of an even length) the last.
  Array spectrum_gradient(const Array& g) const {
    const int last = static_cast<int>(axes.back());
    const int64_t n = g.shape()[last];
    const Array spectrum = without_factor(g, FftKind::r2c, !forward);
    const Array place = compose::index_along(spectrum.shape()[last], last, g.ndim(), g.device());
    const Array single = autograd::logical_or(autograd::equal(place, Arg(0)), autograd::equal(place * Arg(2), Arg(n)));
    return spectrum * autograd::where(single, Arg(1.0), Arg(2.0));
  }

  /// Types 1 and 4 are symmetric, 2 and 3 each other's transposes, but for the factors of an element at an end that make a matrix
  /// orthogonal.
  Array transposed_real(Array g) const {
    const int other = type == 2 ? 3 : type == 3 ? 2 : type;
    const bool sine = transform == FftKind::dst;
    const bool weighted = !orthogonal && type != 4 && !(sine && type == 1);
    // Type 2 doubles the end before the transform, type 3 halves it behind; type 1 halves the inside before and doubles it behind.
    if (weighted && type == 2) g = at_ends(g, 2, 1, sine);
    if (weighted && type == 1) g = at_ends(g, 1, 0.5, sine);
    FftOptions options;
    options.type = other;
    options.orthogonal = orthogonal;
    Array made = bc::fft(g, transform, std::nullopt, axis_list(), options);
    if (weighted && type == 3) made = at_ends(made, 0.5, 1, sine);
    if (weighted && type == 1) made = at_ends(made, 1, 2, sine);
    return made;
  }

  /// Multiplies the elements at the end of each axis by `end` and the others by `inside`: the first one of a cosine transform, the last one
  /// of a sine transform, both of type 1.
  Array at_ends(Array a, double end, double inside, bool sine) const {
    for (const int64_t axis : axes) {
      const int d = static_cast<int>(axis);
      const int64_t n = a.shape()[d];
      const Array place = compose::index_along(n, d, a.ndim(), a.device());
      Array ends = autograd::equal(place, Arg(sine ? n - 1 : 0));
      if (type == 1) ends = autograd::logical_or(ends, autograd::equal(place, Arg(n - 1)));
      a = a * autograd::where(ends, Arg(end), Arg(inside));
    }
    return a;
  }
};

}  // namespace

Ref<GradFunction> fft_function(std::span<const Array> inputs, const FftExtra& op, Value value) {
  return new FftFunction(op, inputs, std::move(value));
}

}  // namespace bc::autograd
