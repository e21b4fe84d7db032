#pragma once
#include "array/array.h"

/// The words in which the rows' derivatives are written: every elementwise row as a function over arrays, operators, and a few constants.
namespace bc::autograd {

#define BC_UNARY(name, ...) Array name(const Arg& a);
#define BC_BINARY(name, ...) Array name(const Arg& a, const Arg& b);
#define BC_TERNARY(name, ...) Array name(const Arg& a, const Arg& b, const Arg& c);
#define BC_FAST(...)
#include "primitives/elementwise.def"

Array operator+(const Arg& a, const Arg& b);
Array operator-(const Arg& a, const Arg& b);
Array operator*(const Arg& a, const Arg& b);
Array operator/(const Arg& a, const Arg& b);

Array zeros_like(const Array& a);
/// NaN in g's shape: a derivative without a closed form is not taken for zero.
Array unknown(const Array& g);

// d/dx of the incomplete functions P(a, x) and I_x(a, b), and of the F distribution's and Student's t.
Array gamma_density(const Arg& a, const Arg& x);
Array beta_density(const Arg& a, const Arg& b, const Arg& x);
Array f_density(const Arg& a, const Arg& b, const Arg& x);
Array t_density(const Arg& df, const Arg& t);
/// d/da of the arithmetic-geometric mean y of a and b.
Array agm_slope(const Array& a, const Array& b, const Array& y);

/// The imaginary unit; it makes a product complex.
inline const Arg I(Weak::complex, Scalar::complex(0, 1));
/// No gradient.
inline const Array ZERO;

}  // namespace bc::autograd
