// Matrix products on CUDA: batches of any layout become calls of the BLAS; operands with strides that it does not support are packed first.
#include "backends/cuda/blas.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"

namespace bc::cuda {

void run(const MatmulExtra&, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  auto& cuda = static_cast<CudaBackend&>(backend(device));
  const int nd = inputs[0].layout.ndim(), lead = nd - 2;
  const int64_t bytes = itemsize(output.dtype);
  Layout layouts[2];
  const char* data[2];
  Ref<Buffer> held[2];
  for (int i = 0; i < 2; ++i) {
    layouts[i] = inputs[i].layout;
    data[i] = first(inputs[i]);
    const Layout& l = layouts[i];
    const int64_t strides[] = {0, l.strides[lead], l.strides[lead + 1]};
    if (matmul_takes(output.dtype, l.shape[lead], l.shape[lead + 1], strides)) continue;
    held[i] = packed(queue, inputs[i]);
    data[i] = static_cast<const char*>(held[i]->ptr);
    layouts[i].strides = contiguous_strides(l.shape);
  }
  const Layout &a = layouts[0], &b = layouts[1];
  const int64_t m = a.shape[lead], k = a.shape[lead + 1], n = b.shape[lead + 1];
  Dims batch(a.shape.span().first(lead)), sa(a.strides.span().first(lead)), sb(b.strides.span().first(lead));
  Dims* lists[] = {&sa, &sb};
  collapse(&batch, lists);
  int64_t inner = 1, step_a = 0, step_b = 0;
  if (!batch.empty()) {
    inner = batch.back(), step_a = sa.back(), step_b = sb.back();
    for (Dims* d : {&batch, &sa, &sb}) d->resize(d->size() - 1);
  }
  const int64_t a_strides[] = {step_a, a.strides[lead], a.strides[lead + 1]}, b_strides[] = {step_b, b.strides[lead], b.strides[lead + 1]};
  const int64_t outer = product(batch);
  for (int64_t i = 0; i < outer; ++i) {
    int64_t rest = i, oa = 0, ob = 0;
    for (int d = batch.size() - 1; d >= 0; --d) {
      oa += rest % batch[d] * sa[d];
      ob += rest % batch[d] * sb[d];
      rest /= batch[d];
    }
    matmul(cuda, stream, output.dtype, inner, m, n, k, data[0] + oa * bytes, a_strides, data[1] + ob * bytes, b_strides,
           first(output) + i * inner * m * n * bytes);
  }
}

}  // namespace bc::cuda
