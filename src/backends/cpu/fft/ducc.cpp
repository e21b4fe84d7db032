// DUCC's FFT for one instruction set: its templates for float and double behind one entry point, with the engine's threads and
// its cache of plans. Only headers of DUCC's under the BSD licence are used; cmake/Ducc.cmake checks them.
//   BC_FFT_LEVEL    baseline or v3
#include <algorithm>
#include <complex>
#include <functional>

#include "backends/cpu/fft.h"

#define BC_FFT_JOIN(a, b) a##b
#define BC_FFT_NAME(a, b) BC_FFT_JOIN(a, b)
#define DUCC0_NAMESPACE BC_FFT_NAME(ducc_, BC_FFT_LEVEL)
#include "ducc0/fft/fftnd_impl.h"

namespace DUCC0_NAMESPACE {

// ---- The parts of DUCC's threading that its FFT calls, on the engine's threads -------------------------------------------------------

namespace detail_threading {
namespace {

/// One part of the work on [0, items).
class Share final : public Scheduler {
 public:
  Share(size_t shares, size_t number, size_t items) : shares_(shares), number_(number), rest_{}, given_(false) {
    rest_.lo = items * number / shares;
    rest_.hi = items * (number + 1) / shares;
  }
  size_t num_threads() const override { return shares_; }
  size_t thread_num() const override { return number_; }
  Range getNext() override {
    if (given_) return {};
    given_ = true;
    return rest_;
  }

 private:
  const size_t shares_, number_;
  Range rest_;
  bool given_;
};

template <class F>
void in_parallel(size_t pieces, F body) {
  bc::cpu::fft_parallel(static_cast<int>(pieces), [](void* context, int i) { (*static_cast<F*>(context))(static_cast<size_t>(i)); }, &body);
}

}  // namespace

/// DUCC's number of threads is the number of parts here.
size_t adjust_nthreads(size_t wanted) { return wanted == 1 ? 1 : static_cast<size_t>(bc::cpu::fft_pieces()); }

void execParallel(size_t shares, std::function<void(Scheduler&)> body) {
  in_parallel(shares, [&](size_t i) {
    Share share(shares, i, shares);
    body(share);
  });
}

void execParallel(size_t begin, size_t end, size_t wanted, std::function<void(size_t, size_t)> body) {
  const size_t items = end - begin, shares = std::max<size_t>(1, std::min(items, adjust_nthreads(wanted)));
  in_parallel(shares, [&](size_t i) { body(begin + items * i / shares, begin + items * (i + 1) / shares); });
}

void execStatic(size_t items, size_t wanted, size_t, std::function<void(Scheduler&)> body) {
  const size_t shares = std::max<size_t>(1, std::min(items, adjust_nthreads(wanted)));
  in_parallel(shares, [&](size_t i) {
    Share share(shares, i, items);
    body(share);
  });
}

}  // namespace detail_threading

// ---- Plans ----------------------------------------------------------------------------------------------------------------------------

namespace detail_fft {
namespace {

template <class Plan>
shared_ptr<Plan> engine_plan(size_t length, bool vectorized) {
  static const char kind = 0;
  return std::static_pointer_cast<Plan>(bc::cpu::fft_plan(&kind, length, vectorized, [](size_t n, bool v) {
    const auto made = std::make_shared<Plan>(n, v);
    return bc::cpu::FftPlan{made, made->footprint() + sizeof(Plan)};
  }));
}

// Replaces DUCC's cache, which keeps ten plans of each type and none above one MiB.
#define BC_FFT_PLANS(T)                                                                 \
  template <>                                                                           \
  shared_ptr<pocketfft_c<T>> get_plan<pocketfft_c<T>>(size_t length, bool vectorized) { \
    return engine_plan<pocketfft_c<T>>(length, vectorized);                             \
  }                                                                                     \
  template <>                                                                           \
  shared_ptr<pocketfft_r<T>> get_plan<pocketfft_r<T>>(size_t length, bool vectorized) { \
    return engine_plan<pocketfft_r<T>>(length, vectorized);                             \
  }                                                                                     \
  template <>                                                                           \
  shared_ptr<T_dct1<T>> get_plan<T_dct1<T>>(size_t length, bool vectorized) {           \
    return engine_plan<T_dct1<T>>(length, vectorized);                                  \
  }                                                                                     \
  template <>                                                                           \
  shared_ptr<T_dst1<T>> get_plan<T_dst1<T>>(size_t length, bool vectorized) {           \
    return engine_plan<T_dst1<T>>(length, vectorized);                                  \
  }                                                                                     \
  template <>                                                                           \
  shared_ptr<T_dcst23<T>> get_plan<T_dcst23<T>>(size_t length, bool vectorized) {       \
    return engine_plan<T_dcst23<T>>(length, vectorized);                                \
  }                                                                                     \
  template <>                                                                           \
  shared_ptr<T_dcst4<T>> get_plan<T_dcst4<T>>(size_t length, bool vectorized) {         \
    return engine_plan<T_dcst4<T>>(length, vectorized);                                 \
  }
BC_FFT_PLANS(float)
BC_FFT_PLANS(double)
#undef BC_FFT_PLANS

}  // namespace

// ---- The entry --------------------------------------------------------------------------------------------------------------------------

namespace {

template <class T>
void run(const bc::cpu::FftCall& c) {
  const auto n = static_cast<size_t>(c.ndim);
  constexpr size_t kThreads = 0;  // as many as adjust_nthreads() says
  const auto shape = [n](const int64_t* from) { return shape_t(from, from + n); };
  const auto strides = [n](const int64_t* from) { return stride_t(from, from + n); };
  const shape_t axes(c.axes, c.axes + c.axis_count);
  const T scale = static_cast<T>(c.scale);
  const auto in_real = [&] { return cfmav<T>(static_cast<const T*>(c.in), shape(c.in_shape), strides(c.in_strides)); };
  const auto in_complex = [&] { return cfmav<complex<T>>(static_cast<const complex<T>*>(c.in), shape(c.in_shape), strides(c.in_strides)); };
  const auto out_real = [&] { return vfmav<T>(static_cast<T*>(c.out), shape(c.out_shape), strides(c.out_strides)); };
  const auto out_complex = [&] { return vfmav<complex<T>>(static_cast<complex<T>*>(c.out), shape(c.out_shape), strides(c.out_strides)); };
  switch (c.step) {
    case bc::cpu::FftStep::c2c: c2c(in_complex(), out_complex(), axes, c.forward, scale, kThreads); break;
    case bc::cpu::FftStep::r2c: r2c(in_real(), out_complex(), axes, c.forward, scale, kThreads); break;
    case bc::cpu::FftStep::c2r: c2r(in_complex(), out_real(), axes, c.forward, scale, kThreads); break;
    case bc::cpu::FftStep::dct: dct(in_real(), out_real(), axes, c.type, scale, c.orthogonal, kThreads); break;
    case bc::cpu::FftStep::dst: dst(in_real(), out_real(), axes, c.type, scale, c.orthogonal, kThreads); break;
  }
}

}  // namespace
}  // namespace detail_fft
}  // namespace DUCC0_NAMESPACE

extern "C" void BC_FFT_NAME(broadcloth_fft_, BC_FFT_LEVEL)(const bc::cpu::FftCall& call) {
  using DUCC0_NAMESPACE::detail_fft::run;
  call.wide ? run<double>(call) : run<float>(call);
}
