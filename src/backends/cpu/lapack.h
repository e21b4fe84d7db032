#pragma once
#include <complex>
#include <type_traits>

/// LAPACK's routines from OpenBLAS. Matrices are column-major.
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

/// The first letter of the routines' names for a type: s d c z.
template <class T>
inline constexpr char kLapackLetter = std::is_same_v<T, float>    ? 's'
                                      : std::is_same_v<T, double> ? 'd'
                                      : sizeof(T) == 8            ? 'c'
                                                                  : 'z';

/// Finds a routine: letter 'd' and name "gesv" give dgesv. Throws ErrorKind::Runtime if the library lacks it.
void* lapack_routine(char letter, const char* name);

/// Calls a routine of Fortran, whose arguments are all pointers.
template <class... P>
void call_lapack(void* routine, P*... arguments) {
  reinterpret_cast<void (*)(P*...)>(routine)(arguments...);
}

/// For its scope, lets OpenBLAS use its own threads, for one large factorization. These threads spin for some milliseconds after a call, so
/// it is not meant for short calls.
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

/// The routine for the template parameter T, looked up once. Its name may differ for real and complex types.
#define BC_LAPACK(T, real_name, complex_name)                                                                               \
  ([]() -> void* {                                                                                                          \
    static void* const routine = bc::cpu::lapack_routine(kLapackLetter<T>, is_complex_v<T> ? (complex_name) : (real_name)); \
    return routine;                                                                                                         \
  }())
