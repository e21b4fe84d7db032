// accumulate with a user's join function, compiled for the CPU. Lines are split into blocks of a fixed size: the totals of the blocks are
// joined in order, and each block continues from the total of the blocks before it, so that the bits depend only on the shape.
#include <fmt/format.h>

#include <cstring>

#include "backends/cpu/library.h"
#include "codegen/device_library.h"
#include "codegen/kernel_cache.h"
#include "core/error.h"
#include "graph/node.h"

namespace bc::cpu {
namespace {

constexpr int64_t kBlock = 1 << 15;  // elements of a line in one piece
constexpr int64_t kPieceElements = 1 << 15;

// Words: 0 x, 1 out, 2 totals, 3 n, 4 x step, 5 out step, 6 blocks of a line, 7 block; then the lines' shape and strides over x and out.
std::string text_of(const UserOp& join, DType t, int axes) {
  return std::string(user_names()) + join.definition() +
         fmt::format(R"(namespace bc {{
using T = {0};
BC_INLINE T apply(T a, T b) {{ return {1}::join(a, b); }}
BC_INLINE void line_of(const i64* w, i64 line, const T*& x, T*& out) {{
  x = load_word<const T*>(w);
  out = load_word<T*>(w + 1);
  for (int d = {2} - 1; d >= 0; --d) {{
    const i64 c = line % w[8 + d];
    line /= w[8 + d];
    x += c * w[8 + {2} + d];
    out += c * w[8 + 2 * {2} + d];
  }}
}}
extern "C" void user_scan_totals(const i64* w, i64 begin, i64 end) {{
  for (i64 item = begin; item < end; ++item) {{
    const T* x; T* out;
    line_of(w, item / w[6], x, out);
    const i64 start = item % w[6] * w[7], stop = start + w[7] < w[3] ? start + w[7] : w[3];
    T acc = x[start * w[4]];
    for (i64 i = start + 1; i < stop; ++i) acc = apply(acc, x[i * w[4]]);
    load_word<T*>(w + 2)[item] = acc;
  }}
}}
extern "C" void user_scan_carry(const i64* w, i64 begin, i64 end) {{
  for (i64 line = begin; line < end; ++line) {{
    T* totals = load_word<T*>(w + 2) + line * w[6];
    for (i64 k = 1; k < w[6]; ++k) totals[k] = apply(totals[k - 1], totals[k]);
  }}
}}
extern "C" void user_scan_blocks(const i64* w, i64 begin, i64 end) {{
  for (i64 item = begin; item < end; ++item) {{
    const T* x; T* out;
    line_of(w, item / w[6], x, out);
    const i64 block = item % w[6], start = block * w[7], stop = start + w[7] < w[3] ? start + w[7] : w[3];
    T acc = x[start * w[4]];
    if (block > 0) acc = apply(load_word<const T*>(w + 2)[item - 1], acc);
    out[start * w[5]] = acc;
    for (i64 i = start + 1; i < stop; ++i) {{
      acc = apply(acc, x[i * w[4]]);
      out[i * w[5]] = acc;
    }}
  }}
}}
}}
)",
                     info(t).c_name, join.scope(), axes);
}

}  // namespace

void run_user_scan(const ScanExtra& op, std::span<const View> inputs, const View& output) {
  const Layout &x = inputs[0].layout, &out = output.layout;
  const DType t = output.dtype;
  const int64_t n = x.shape[op.axis];
  Dims shape, x_strides, out_strides;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == op.axis) continue;
    shape.push_back(x.shape[d]);
    x_strides.push_back(x.strides[d]);
    out_strides.push_back(out.strides[d]);
  }
  const int64_t lines = product(shape);
  if (lines == 0 || n == 0) return;
  Dims* lists[] = {&x_strides, &out_strides};
  collapse(&shape, lists);
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  const auto address = [](const View& v) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(static_cast<char*>(v.ptr) + v.layout.offset * itemsize(v.dtype)));
  };
  Ref<Buffer> totals;
  if (blocks > 1) totals = Buffer::allocate({DeviceType::cpu, 0}, static_cast<size_t>(lines * blocks * itemsize(t)));
  std::vector<int64_t> words = {address(inputs[0]),
                                address(output),
                                totals ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(totals->ptr)) : 0,
                                n,
                                x.strides[op.axis],
                                out.strides[op.axis],
                                blocks,
                                kBlock};
  for (const Dims* d : {&shape, &x_strides, &out_strides}) words.insert(words.end(), d->begin(), d->end());

  Backend& b = backend({DeviceType::cpu, 0});
  const Hash128 key = Hasher(0x7573657273).add(op.join->id).add(t).add(static_cast<uint64_t>(shape.size())).finish();
  LoadedKernel& kernel = kernel_cache_get(b, key, [&] {
    KernelSource source;
    source.entries = {"user_scan_totals", "user_scan_carry", "user_scan_blocks"};
    source.text = text_of(*op.join, t, shape.size());
    source.contract = op.join->contract;
    return source;
  });
  const auto launch = [&](int entry, int64_t items, int64_t elements) {
    Launch l;
    l.entry = entry;
    l.items = items;
    l.grain = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(elements, 1));
    b.launch(kernel, l, words.data(), words.size() * sizeof(int64_t), {{DeviceType::cpu, 0}, nullptr});
  };
  if (blocks > 1) {
    launch(0, lines * blocks, kBlock);
    launch(1, lines, blocks);
  }
  launch(2, lines * blocks, std::min(n, kBlock));
}

}  // namespace bc::cpu
