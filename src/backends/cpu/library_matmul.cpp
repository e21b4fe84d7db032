// Matrix products on the CPU: batches of any layout become calls of the BLAS.
#include "backends/cpu/blas.h"
#include "backends/cpu/library.h"
#include "backends/cpu/strided.h"

namespace bc::cpu {

void run(const MatmulExtra&, std::span<const View> inputs, const View& output) {
  const Layout &a = inputs[0].layout, &b = inputs[1].layout;
  const int nd = a.ndim(), lead = nd - 2;
  const int64_t m = a.shape[lead], k = a.shape[lead + 1], n = b.shape[lead + 1];
  // One call walks one batch axis; what cannot be joined into it is looped over.
  Dims batch(a.shape.span().first(lead)), sa(a.strides.span().first(lead)), sb(b.strides.span().first(lead));
  Dims* lists[] = {&sa, &sb};
  collapse(&batch, lists);
  int64_t inner = 1;
  int64_t step_a = 0, step_b = 0;
  if (!batch.empty()) {
    inner = batch.back(), step_a = sa.back(), step_b = sb.back();
    for (Dims* d : {&batch, &sa, &sb}) d->resize(d->size() - 1);
  }
  const int64_t a_strides[] = {step_a, a.strides[lead], a.strides[lead + 1]}, b_strides[] = {step_b, b.strides[lead], b.strides[lead + 1]};
  const int64_t outer = product(batch), bytes = itemsize(output.dtype);
  char* c = first(output);
  Walker walk(batch, {&sa, &sb});
  for (int64_t i = 0; i < outer; ++i, walk.next())
    matmul(output.dtype, inner, m, n, k, first(inputs[0]) + walk.offset(0) * bytes, a_strides, first(inputs[1]) + walk.offset(1) * bytes,
           b_strides, c + i * inner * m * n * bytes);
}

}  // namespace bc::cpu
