#pragma once

namespace bc {

/// The text of CuPy's header cupy/complex.cuh: complex<T> and its functions, in the global namespace as CuPy puts them there.
extern const char* const kCupyComplex;

/// thrust/complex.h in terms of it, for devices that NVIDIA's headers are not for.
extern const char* const kThrustComplex;

}  // namespace bc
