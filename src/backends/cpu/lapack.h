#pragma once
#include <complex>
#include <type_traits>

/// LAPACK's routines, as OpenBLAS has them. Matrices lie column by column.
namespace bc::cpu {

template <class T>
inline constexpr bool is_complex_v = false;
template <class R>
inline constexpr bool is_complex_v<std::complex<R>> = true;
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

/// What the names of routines for a type begin with: s d c z.
template <class T>
inline constexpr char kLapackLetter = std::is_same_v<T, float>    ? 's'
                                      : std::is_same_v<T, double> ? 'd'
                                      : sizeof(T) == 8            ? 'c'
                                                                  : 'z';

/// "gesv" of 'd' is dgesv. Throws ErrorKind::Runtime when the library does not have it.
void* lapack_routine(char letter, const char* name);

/// Calls a routine of Fortran, whose arguments are all pointers.
template <class... P>
void call_lapack(void* routine, P*... arguments) {
  reinterpret_cast<void (*)(P*...)>(routine)(arguments...);
}

/// Lets OpenBLAS use the threads of its own while it lives, for one factorization that is large. They wait actively for some milliseconds
/// after a call, so that it is not for short ones.
class LapackThreads {
 public:
  explicit LapackThreads(bool large);
  ~LapackThreads();
  LapackThreads(const LapackThreads&) = delete;
  LapackThreads& operator=(const LapackThreads&) = delete;

 private:
  const bool large_;
};

}  // namespace bc::cpu

/// A routine for the type T of the template around it, found once. Real and complex types may have different names for it.
#define BC_LAPACK(T, real_name, complex_name)                                                                               \
  ([]() -> void* {                                                                                                          \
    static void* const routine = bc::cpu::lapack_routine(kLapackLetter<T>, is_complex_v<T> ? (complex_name) : (real_name)); \
    return routine;                                                                                                         \
  }())
