// Tier 0 against the kernels that print_cpu prints for the same structures: the same bits for random structures, shapes and strides.
#include "codegen/tier0/tier0.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "backends/cpu/jit_library.h"
#include "core/error.h"
#include "runtime/backend.h"

namespace bc {
namespace {

constexpr int64_t kRoom = 1 << 17;  // elements of a buffer; its middle is where walks start

constexpr int64_t kPeriod = 4099;  // a buffer repeats itself after so many

/// Writes NaNs one way: their sign and payload depend on the order of operands, which compilers may change.
template <class F, class U>
void plain_nans(std::vector<char>& bytes, U nan, U exponent) {
  for (size_t i = 0; i + sizeof(U) <= bytes.size(); i += sizeof(U)) {
    U x;
    std::memcpy(&x, &bytes[i], sizeof(U));
    if ((x & static_cast<U>(~(U{1} << (8 * sizeof(U) - 1)))) > exponent) std::memcpy(&bytes[i], &nan, sizeof(U));
  }
}
void plain_nans(std::vector<char>& bytes, DType t) {
  switch (t) {
    case DType::f16: plain_nans<float, uint16_t>(bytes, 0x7e00, 0x7c00); break;
    case DType::bf16: plain_nans<float, uint16_t>(bytes, 0x7fc0, 0x7f80); break;
    case DType::f32:
    case DType::c64: plain_nans<float, uint32_t>(bytes, 0x7fc00000u, 0x7f800000u); break;
    case DType::f64:
    case DType::c128: plain_nans<double, uint64_t>(bytes, 0x7ff8000000000000ull, 0x7ff0000000000000ull); break;
    default: break;
  }
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  double normal() { return std::normal_distribution<double>()(engine_); }
  uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

float half_value(double x) { return static_cast<float>(x); }
uint16_t to_half(float f) { return __builtin_bit_cast(uint16_t, static_cast<_Float16>(f)); }
uint16_t to_bfloat16(float f) { return static_cast<uint16_t>(__builtin_bit_cast(uint32_t, f) >> 16); }

void put(Random& r, DType t, char* at) {
  static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 1e30, 1e-40, 0.5, 3e6};
  const double x = r.chance(8) ? special[r.below(11)] : r.normal() * std::exp(3 * r.normal());
  const double y = r.normal();
  switch (t) {
    case DType::b1: *at = static_cast<char>(r.below(2)); break;
    case DType::f16: {
      const uint16_t h = to_half(half_value(x));
      std::memcpy(at, &h, 2);
      break;
    }
    case DType::bf16: {
      const uint16_t h = to_bfloat16(half_value(x));
      std::memcpy(at, &h, 2);
      break;
    }
    case DType::f32: {
      const float f = static_cast<float>(x);
      std::memcpy(at, &f, 4);
      break;
    }
    case DType::f64: std::memcpy(at, &x, 8); break;
    case DType::c64: {
      const float f[2] = {static_cast<float>(x), static_cast<float>(y)};
      std::memcpy(at, f, 8);
      break;
    }
    case DType::c128: {
      const double f[2] = {x, y};
      std::memcpy(at, f, 16);
      break;
    }
    default: {
      const uint64_t v = r.chance(20) ? r.bits() : static_cast<uint64_t>(r.below(19) - 9);
      std::memcpy(at, &v, static_cast<size_t>(itemsize(t)));
    }
  }
}

const DType kAll[] = {DType::b1,  DType::i8,  DType::i16,  DType::i32, DType::i64, DType::u8,  DType::u16, DType::u32,
                      DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128};

/// A random kernel with its parameters and memory.
class Kernel {
 public:
  explicit Kernel(uint64_t seed) : r_(seed) {
    ir_.walk = static_cast<Walk>(r_.below(3));
    const bool reduces = ir_.walk != Walk::map;
    ir_.kept = static_cast<int>(1 + r_.below(3));
    ir_.reduced = reduces ? static_cast<int>(1 + r_.below(3)) : 0;
    shape(ir_.kept, ir_.walk == Walk::rows ? 8 : ir_.walk == Walk::map ? 9000 : 600, &kept_);
    shape(ir_.reduced, ir_.walk == Walk::rows ? 6000 : 90, &reduced_);
    ir_.schedule.segmented = reduces && r_.chance(35);
    ir_.stages = ir_.walk == Walk::rows && !ir_.schedule.segmented ? static_cast<int>(1 + r_.below(3)) : 1;
    ir_.in_place = ir_.walk == Walk::map && r_.chance(20);
    for (int s = 0; s < ir_.stages; ++s) {
      elements(s);
      if (reduces) rows(s);
    }
    if (ir_.walk == Walk::map) {
      const int outputs = ir_.in_place ? 1 : static_cast<int>(1 + r_.below(3));
      for (int k = 0; k < outputs; ++k) output(0, false);
    }
    parameters();
  }

  const Ir& ir() const { return ir_; }

  std::vector<Launch> launches() const {
    Launch l;
    const int64_t m = product(kept_), inner = kept_.back();
    if (ir_.walk == Walk::map)
      l.items = ir_.kept == 1 ? m : m / inner;
    else if (ir_.walk == Walk::rows)
      l.items = m * segments_;
    else
      l.items = m / inner * ((inner + column_tile(ir_) - 1) / column_tile(ir_)) * segments_;
    std::vector<Launch> all{l};
    if (ir_.schedule.segmented) {
      l.entry = 1;
      l.items = m;
      all.push_back(l);
    }
    return all;
  }

  /// Fresh copies of the memory, then `run(words)`, then what the outputs hold.
  template <class F>
  std::vector<std::vector<char>> outputs_of(F&& run) {
    std::vector<std::vector<char>> memory;
    for (std::vector<char>& bytes : buffers_) {
      memory.emplace_back(bytes.size());
      std::memcpy(start(memory.back()), start(bytes), bytes.size() - 64);
    }
    std::vector<int64_t> words = words_;
    const ParamLayout p = param_layout(ir_);
    for (size_t k = 0; k < ir_.accesses.size(); ++k) {
      if (ir_.accesses[k].role == Access::Role::coordinate) continue;
      // The first element on a line of the cache, as in real memory.
      words[p.access + p.access_words * static_cast<int>(k)] = reinterpret_cast<int64_t>(start(memory[k])) + offsets_[k];
    }
    if (ir_.in_place) {
      const size_t out = static_cast<size_t>(ir_.outputs[0].access), in = static_cast<size_t>(twin_);
      if (twin_ >= 0) words[p.access + p.access_words * static_cast<int>(in)] = words[p.access + p.access_words * static_cast<int>(out)];
    }
    int64_t bytes = 0;
    for (const Accumulator& a : ir_.accumulators) bytes += (state_bytes(a) * product(kept_) * segments_ + 63) / 64 * 64;
    std::vector<char> partials(static_cast<size_t>(bytes) + 64);
    words[p.partials] = reinterpret_cast<int64_t>(start(partials));
    uint32_t error = 0;
    words[p.error] = reinterpret_cast<int64_t>(&error);
    run(words.data());
    std::vector<std::vector<char>> found;
    for (const Output& o : ir_.outputs) {
      found.push_back(std::move(memory[static_cast<size_t>(o.access)]));
      // Only the walk's own memory: the rest of a buffer may hold anything.
      found.back().erase(found.back().begin(), found.back().begin() + (start(found.back()) - found.back().data()));
      found.back().resize(static_cast<size_t>(kRoom) * itemsize(ir_.accesses[static_cast<size_t>(o.access)].dtype));
      plain_nans(found.back(), ir_.accesses[static_cast<size_t>(o.access)].dtype);
    }
    // A compiled reduction leaves out a gather whose value nothing uses, and so what it would report.
    if (ir_.walk == Walk::map) found.push_back({static_cast<char>(error)});
    return found;
  }

 private:
  static int64_t product(const std::vector<int64_t>& shape) {
    int64_t n = 1;
    for (const int64_t e : shape) n *= e;
    return n;
  }
  static char* start(std::vector<char>& bytes) { return bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64; }

  void shape(int axes, int64_t most, std::vector<int64_t>* out) {
    int64_t left = most;
    for (int d = 0; d < axes; ++d) {
      const int64_t cap = d + 1 == axes ? left : std::max<int64_t>(1, static_cast<int64_t>(std::cbrt(static_cast<double>(left))));
      out->push_back(1 + r_.below(cap));
      left = std::max<int64_t>(1, left / out->back());
    }
    if (axes > 1 && r_.chance(40)) std::swap(out->front(), out->back());
  }

  DType any_dtype() { return kAll[r_.below(std::ssize(kAll))]; }

  int16_t add(Value v, int stage, bool row) {
    v.stage = static_cast<uint8_t>(stage);
    v.outer = row;
    ir_.values.push_back(std::move(v));
    return static_cast<int16_t>(ir_.values.size() - 1);
  }

  /// An access with strides that keep it inside its buffer; `dense`: each point has a place of its own.
  int16_t access(Access::Role role, DType t, bool row, bool dense) {
    std::vector<int64_t> extents = kept_, strides;
    const size_t walked = row ? kept_.size() : kept_.size() + reduced_.size();
    extents.insert(extents.end(), reduced_.begin(), reduced_.end());
    strides.assign(extents.size(), 0);
    const int style = static_cast<int>(r_.below(4));
    int64_t step = 1, reach = 0;
    for (size_t k = 0; k < walked; ++k) {
      const size_t d = style == 1 ? k : walked - 1 - k;  // 1: the outermost axis lies side by side
      int64_t s = step;
      if (style == 2 && r_.chance(50)) s = -step;
      if (style == 3 && !dense) s = r_.chance(40) ? 0 : 1 + r_.below(3);
      strides[d] = s;
      reach += std::abs(s) * (extents[d] - 1);
      step *= extents[d];
      if (style == 2 && d == walked - 1 && step * 2 < kRoom / 4) step *= 2;
    }
    if (role == Access::Role::gather && reach > kRoom / 2 - 100) {  // indices go both ways from the middle
      std::fill(strides.begin(), strides.end(), 0);
      reach = 0;
    }
    EXPECT_LT(reach, kRoom - 10);
    Access a;
    a.role = role;
    a.dtype = t;
    a.outer = row;
    const size_t inner = ir_.walk == Walk::rows && !row ? extents.size() - 1 : kept_.size() - 1;
    const int64_t s = strides[inner];
    const bool inner_one = extents[inner] == 1;
    if (inner_one) strides[inner] = 0;
    a.step = strides[inner] == 0 ? Access::Step::zero : s == 1 && role != Access::Role::coordinate ? Access::Step::unit : Access::Step::any;
    ir_.accesses.push_back(a);
    strides_.push_back(strides);
    int64_t lowest = 0;
    for (size_t d = 0; d < strides.size(); ++d) lowest += std::min<int64_t>(0, strides[d] * (extents[d] - 1));
    const int64_t first = role == Access::Role::gather ? kRoom / 2 : -lowest + r_.below(5);
    offsets_.push_back(role == Access::Role::coordinate ? r_.below(9) - 4 : first * itemsize(t));
    return static_cast<int16_t>(ir_.accesses.size() - 1);
  }

  /// A value that is known in a scope.
  int16_t pick(int stage, bool row) {
    for (int tries = 0; tries < 50; ++tries) {
      const auto k = static_cast<int16_t>(r_.below(static_cast<int64_t>(ir_.values.size())));
      const Value& v = ir_.values[static_cast<size_t>(k)];
      if (v.kind == Value::Kind::constant) return k;
      if (v.outer ? (v.stage < stage || (row && v.stage == stage)) : (!row && v.stage == stage)) return k;
    }
    return kNone;
  }

  void leaf(int stage, bool row) {
    Value v;
    const int64_t kind = r_.below(10);
    if (kind < 6) {
      v.kind = Value::Kind::load;
      v.dtype = any_dtype();
      v.access = access(Access::Role::load, v.dtype, row, false);
    } else if (kind < 8) {
      v.kind = Value::Kind::constant;
      v.dtype = any_dtype();
      v.slot = static_cast<int16_t>(ir_.constants++);
      ir_.constant_dtypes.push_back(v.dtype);
      add(std::move(v), 0, false);
      return;
    } else {
      v.kind = Value::Kind::coordinate;
      v.dtype = DType::i64;
      v.access = access(Access::Role::coordinate, DType::i64, row, false);
    }
    add(std::move(v), stage, row);
  }

  void gather(int stage, bool row) {
    const int16_t at = pick(stage, row);
    if (at == kNone) return;
    Value index;
    index.op = Op::bitwise_and;  // brings any value between 0 and 7; the extent below lets some be out of range
    index.dtype = index.loop[0] = index.loop[1] = DType::i64;
    Value seven;
    seven.kind = Value::Kind::constant;
    seven.dtype = DType::i64;
    seven.slot = static_cast<int16_t>(ir_.constants++);
    ir_.constant_dtypes.push_back(DType::i64);
    masks_.push_back(seven.slot);
    index.args[0] = at;
    index.args[1] = add(std::move(seven), 0, false);
    const int16_t i = add(std::move(index), stage, row);
    Value v;
    v.kind = Value::Kind::gather;
    v.dtype = any_dtype();
    v.access = access(Access::Role::gather, v.dtype, row, false);
    v.slot = static_cast<int16_t>(ir_.gather_slots);
    v.more.push_back(i);
    if (r_.chance(40)) v.more.push_back(i);
    ir_.gather_slots += static_cast<int>(v.more.size());
    v.predicate = predicate(stage, row, 30);
    ir_.checked = true;
    add(std::move(v), stage, row);
  }

  int16_t predicate(int stage, bool row, int percent) {
    if (!r_.chance(percent)) return kNone;
    std::vector<int16_t> found;
    for (size_t k = 0; k < ir_.values.size(); ++k)
      if (ir_.values[k].dtype == DType::b1 && ir_.values[k].kind != Value::Kind::constant && ir_.values[k].stage == stage &&
          ir_.values[k].outer == row)
        found.push_back(static_cast<int16_t>(k));
    return found.empty() ? kNone : found[static_cast<size_t>(r_.below(static_cast<int64_t>(found.size())))];
  }

  void inside(int stage, bool row) {
    Value v;
    v.kind = Value::Kind::inside;
    v.dtype = DType::b1;
    v.slot = static_cast<int16_t>(ir_.inside_slots);
    for (size_t k = 0; k < ir_.values.size(); ++k)
      if (ir_.values[k].kind == Value::Kind::coordinate && ir_.values[k].stage == stage && ir_.values[k].outer == row && v.more.size() < 2)
        v.more.push_back(static_cast<int16_t>(k));
    ir_.inside_slots += static_cast<int>(v.more.size());
    add(std::move(v), stage, row);
  }

  void op(int stage, bool row) {
    const int first = static_cast<int>(Op::store) + 1, last = static_cast<int>(Op::reduce_sum);
    Value v;
    v.op = static_cast<Op>(first + r_.below(last - first));
    if (r_.chance(10)) v.op = Op::cast;
    const OpInfo& row_info = info(v.op);
    OperandType types[3];
    for (int k = 0; k < row_info.nin; ++k) {
      v.args[k] = pick(stage, row);
      if (v.args[k] == kNone) return;
      types[k].dtype = ir_.values[static_cast<size_t>(v.args[k])].dtype;
    }
    bool elements = row;
    for (int k = 0; k < row_info.nin; ++k) {
      const Value& x = ir_.values[static_cast<size_t>(v.args[k])];
      elements |= x.kind != Value::Kind::constant && !x.outer;
    }
    if (!elements) return;
    if (v.op == Op::cast) {
      v.dtype = any_dtype();
      v.loop[0] = v.dtype;
    } else {
      Loop loop;
      try {
        loop = resolve(v.op, std::span(types, row_info.nin),
                       row_info.signature == Signature::random ? std::optional(DType::f32) : std::nullopt);
      } catch (const Error&) {
        return;
      }
      std::copy(loop.in, loop.in + 3, v.loop);
      v.dtype = loop.out;
    }
    add(std::move(v), stage, row);
  }

  void elements(int stage) {
    leaf(stage, false);
    if (ir_.values.back().kind == Value::Kind::constant) {
      Value v;
      v.kind = Value::Kind::load;
      v.dtype = DType::f32;
      v.access = access(Access::Role::load, v.dtype, false, false);
      add(std::move(v), stage, false);
    }
    const int64_t count = r_.below(12);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t kind = r_.below(20);
      if (kind < 4) {
        leaf(stage, false);
      } else if (kind == 4) {
        gather(stage, false);
      } else if (kind == 5) {
        inside(stage, false);
      } else if (kind == 6) {
        Value v;
        v.predicate = predicate(stage, false, 100);
        if (v.predicate == kNone) continue;
        v.kind = Value::Kind::load;
        v.dtype = any_dtype();
        v.access = access(Access::Role::load, v.dtype, false, false);
        add(std::move(v), stage, false);
      } else {
        op(stage, false);
      }
    }
    if (ir_.walk != Walk::map && r_.chance(30)) output(stage, false);
  }

  /// The last value of a scope, so that most of the others count.
  int16_t last(int stage, bool row) {
    for (size_t k = ir_.values.size(); k-- > 0;)
      if (ir_.values[k].kind != Value::Kind::constant && ir_.values[k].stage == stage && ir_.values[k].outer == row)
        return static_cast<int16_t>(k);
    return kNone;
  }

  void rows(int stage) {
    const int64_t count = 1 + r_.below(3);
    for (int64_t k = 0; k < count; ++k) {
      Accumulator a;
      a.stage = static_cast<uint8_t>(stage);
      a.op = static_cast<Op>(static_cast<int>(Op::reduce_sum) + r_.below(static_cast<int>(Op::library) - static_cast<int>(Op::reduce_sum)));
      a.input = last(stage, false);
      if (k > 0)
        for (int tries = 0; tries < 20; ++tries) {
          const int16_t other = pick(stage, false);
          if (other != kNone && ir_.values[static_cast<size_t>(other)].kind != Value::Kind::constant &&
              !ir_.values[static_cast<size_t>(other)].outer)
            a.input = other;
        }
      Loop loop;
      try {
        loop = resolve_reduce(a.op, ir_.values[static_cast<size_t>(a.input)].dtype);
      } catch (const Error&) {
        a.op = Op::reduce_sum;
        loop = resolve_reduce(a.op, ir_.values[static_cast<size_t>(a.input)].dtype);
      }
      // A variance of complex128 has a state that the segments' stride must hold.
      a.loop = loop.in[0];
      a.out = loop.out;
      Value v;
      v.kind = Value::Kind::result;
      v.dtype = a.out;
      a.result = add(std::move(v), stage, true);
      ir_.accumulators.push_back(a);
    }
    const int64_t more = r_.below(5);
    for (int64_t k = 0; k < more; ++k) r_.chance(30) ? leaf(stage, true) : op(stage, true);
    output(stage, true);
  }

  void output(int stage, bool row) {
    Output o;
    o.value = last(stage, row);
    if (r_.chance(30)) {
      const int16_t other = pick(stage, row);
      const Value* x = other == kNone ? nullptr : &ir_.values[static_cast<size_t>(other)];
      if (x && x->kind != Value::Kind::constant && x->outer == row && x->stage == stage) o.value = other;
    }
    o.stage = static_cast<uint8_t>(stage);
    o.outer = row;
    const DType t = r_.chance(80) ? ir_.values[static_cast<size_t>(o.value)].dtype : any_dtype();
    o.access = access(Access::Role::store, t, row, true);
    // The compiled strips of a store in place know no predicates; the planner makes none there.
    if (!ir_.in_place) o.predicate = predicate(stage, row, 20);
    if (ir_.in_place && twin_ < 0) {
      // An input that is the output's own memory, through the same view.
      for (size_t k = 0; k < ir_.values.size(); ++k) {
        const Value& x = ir_.values[k];
        if (x.kind != Value::Kind::load) continue;
        Access& a = ir_.accesses[static_cast<size_t>(x.access)];
        if (a.dtype != t) continue;
        a.step = ir_.accesses[static_cast<size_t>(o.access)].step;
        strides_[static_cast<size_t>(x.access)] = strides_[static_cast<size_t>(o.access)];
        offsets_[static_cast<size_t>(x.access)] = offsets_[static_cast<size_t>(o.access)];
        twin_ = x.access;
        break;
      }
    }
    ir_.outputs.push_back(o);
  }

  void parameters() {
    const ParamLayout p = param_layout(ir_);
    words_.assign(static_cast<size_t>(p.words), 0);
    const int64_t m = product(kept_), n = ir_.walk == Walk::map ? 1 : product(reduced_);
    words_[p.kept_size] = m;
    words_[p.reduced_size] = n;
    std::copy(kept_.begin(), kept_.end(), words_.begin() + p.kept_shape);
    std::copy(reduced_.begin(), reduced_.end(), words_.begin() + p.reduced_shape);
    const int64_t unit = ir_.walk == Walk::rows ? kReduceBlock : kColumnRun;
    int64_t length = n;
    if (ir_.schedule.segmented) length = unit * (1 + r_.below(3));
    segments_ = ir_.schedule.segmented ? std::max<int64_t>(1, (n + length - 1) / length) : 1;
    words_[p.segments] = segments_;
    words_[p.segment_length] = length;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      const double ddof = static_cast<double>(r_.below(2));
      std::memcpy(&words_[static_cast<size_t>(p.ddof) + k], &ddof, 8);
    }
    for (size_t k = 0; k < ir_.accesses.size(); ++k) {
      const size_t at = static_cast<size_t>(p.access + p.access_words * static_cast<int>(k));
      if (ir_.accesses[k].role == Access::Role::coordinate) words_[at] = offsets_[k];
      std::copy(strides_[k].begin(), strides_[k].end(), words_.begin() + static_cast<int64_t>(at) + 1);
    }
    for (int k = 0; k < ir_.constants; ++k)
      put(r_, ir_.constant_dtypes[static_cast<size_t>(k)], reinterpret_cast<char*>(&words_[static_cast<size_t>(p.constant + 2 * k)]));
    for (const int16_t slot : masks_) words_[static_cast<size_t>(p.constant + 2 * slot)] = 7;
    for (int k = 0; k < ir_.gather_slots; ++k) {
      words_[static_cast<size_t>(p.gather + 2 * k)] = r_.chance(80) ? 9 : 5;
      words_[static_cast<size_t>(p.gather + 2 * k + 1)] = r_.below(7) - 3;
    }
    for (int k = 0; k < ir_.inside_slots; ++k) {
      words_[static_cast<size_t>(p.inside + 3 * k)] = r_.below(20) - 5;
      words_[static_cast<size_t>(p.inside + 3 * k + 1)] = 1 + r_.below(60);
      words_[static_cast<size_t>(p.inside + 3 * k + 2)] = 1 + r_.below(3);
    }
    for (const Access& a : ir_.accesses) {
      std::vector<char> bytes(static_cast<size_t>(kRoom) * itemsize(a.dtype) + 64);
      if (a.role != Access::Role::coordinate)
        for (int64_t i = 0; i < kRoom; ++i) {
          char* at = start(bytes) + i * itemsize(a.dtype);
          if (i < kPeriod)
            put(r_, a.dtype, at);
          else
            std::memcpy(at, at - kPeriod * itemsize(a.dtype), static_cast<size_t>(itemsize(a.dtype)));
        }
      buffers_.push_back(std::move(bytes));
    }
  }

  Random r_;
  Ir ir_;
  std::vector<int64_t> kept_, reduced_, words_;
  std::vector<std::vector<int64_t>> strides_;
  std::vector<int64_t> offsets_;  // bytes, or the first coordinate
  std::vector<std::vector<char>> buffers_;
  std::vector<int16_t> masks_;
  int64_t segments_ = 1;
  int twin_ = -1;
};

/// BROADCLOTH_TIER0_KERNELS=1000 tries more structures, from BROADCLOTH_TIER0_SEED on.
int count_from_environment() {
  const char* n = std::getenv("BROADCLOTH_TIER0_KERNELS");
  return n ? std::atoi(n) : 40;
}

TEST(Tier0, GivesTheBitsOfCompiledKernels) {
  if (!cpu::JitLibrary::available()) GTEST_SKIP() << "built without the JIT";
  Backend& cpu = backend({DeviceType::cpu, 0});
  const int count = count_from_environment();
  const char* start = std::getenv("BROADCLOTH_TIER0_SEED");
  const int first = start ? std::atoi(start) : 0;
  for (int seed = first; seed < first + count; ++seed) {
    Kernel kernel(static_cast<uint64_t>(seed));
    const KernelSource source = print_cpu(kernel.ir());
    const std::vector<char> object = cpu.compile(source);
    const auto loaded = cpu.load(object, source.entries);
    const size_t bytes = static_cast<size_t>(param_layout(kernel.ir()).words) * 8;
    const auto compiled = kernel.outputs_of([&](const int64_t* words) {
      for (Launch l : kernel.launches()) {
        l.grain = l.items;
        cpu.launch(*loaded, l, words, bytes, {});
      }
    });
    const Tier0Program program(kernel.ir());
    for (const int64_t pieces : {1, 3}) {
      const auto loops = kernel.outputs_of([&](const int64_t* words) {
        for (const Launch& l : kernel.launches()) {
          const int64_t grain = (l.items + pieces - 1) / pieces;
          for (int64_t begin = 0; begin < l.items; begin += grain) program.run(l.entry, words, begin, std::min(begin + grain, l.items));
        }
      });
      ASSERT_EQ(compiled.size(), loops.size());
      for (size_t k = 0; k < compiled.size(); ++k) {
        if (compiled[k] == loops[k]) continue;
        size_t at = 0;
        while (compiled[k][at] == loops[k][at]) ++at;
        FAIL() << "seed " << seed << ", " << kernel_name(kernel.ir()) << ", output " << k << " of " << compiled.size()
               << " differs from byte " << at << " on, in " << pieces << " pieces\n"
               << source.text;
      }
    }
  }
}

TEST(Tier0, EveryRowHasALoopInEachOfItsDtypes) {
  for (int at = static_cast<int>(Op::store) + 1; at < static_cast<int>(Op::library); ++at) {
    const auto op = static_cast<Op>(at);
    const OpInfo& spec = info(op);
    for (const DType t : kAll) {
      if (!(spec.set & dtype_bit(t))) continue;
      Ir ir;
      Value x;
      x.kind = Value::Kind::load;
      x.dtype = t;
      x.access = 0;
      ir.accesses.push_back({Access::Role::load, t});
      ir.values.push_back(x);
      if (spec.kind == OpKind::reduce) {
        if (spec.accumulate == Accumulate::mean && !is_inexact(t)) continue;  // means run in floating point
        Value result;
        result.kind = Value::Kind::result;
        result.outer = true;
        ir.walk = Walk::rows;
        ir.reduced = 1;
        ir.values.push_back(result);
        ir.accumulators.push_back({op, t, t, 0, 1, 0});
      } else {
        Value v;
        v.op = op;
        v.dtype = t;
        for (int k = 0; k < spec.nin; ++k) {
          v.args[k] = 0;
          v.loop[k] = spec.signature == Signature::where && k == 0   ? DType::b1
                      : spec.signature == Signature::ldexp && k == 1 ? DType::i32
                                                                     : t;
        }
        ir.values.push_back(v);
      }
      EXPECT_NO_THROW(Tier0Program{ir}) << spec.name << " in " << info(t).name;
    }
  }
}

TEST(Tier0, ThreadsRunDisjointItems) {
  for (uint64_t seed = 1000; seed < 1030; ++seed) {
    Kernel kernel(seed);
    const Tier0Program program(kernel.ir());
    const auto alone = kernel.outputs_of([&](const int64_t* words) {
      for (const Launch& l : kernel.launches()) program.run(l.entry, words, 0, l.items);
    });
    const auto together = kernel.outputs_of([&](const int64_t* words) {
      for (const Launch& l : kernel.launches()) {
        std::vector<std::thread> threads;
        for (int64_t t = 0; t < 4; ++t)
          threads.emplace_back([&, t] { program.run(l.entry, words, l.items * t / 4, l.items * (t + 1) / 4); });
        for (std::thread& t : threads) t.join();
      }
    });
    EXPECT_EQ(alone, together) << "seed " << seed;
  }
}

TEST(Tier0, AddsTwoArrays) {
  Ir ir;
  ir.accesses = {{Access::Role::load, DType::f64}, {Access::Role::load, DType::f64, Access::Step::zero}, {Access::Role::store, DType::f64}};
  for (int16_t k = 0; k < 2; ++k) {
    Value v;
    v.kind = Value::Kind::load;
    v.dtype = DType::f64;
    v.access = k;
    ir.values.push_back(v);
  }
  Value sum;
  sum.op = Op::add;
  sum.dtype = sum.loop[0] = sum.loop[1] = DType::f64;
  sum.args[0] = 0;
  sum.args[1] = 1;
  ir.values.push_back(sum);
  ir.outputs = {{2, 2, 0, false, kNone}};
  const ParamLayout p = param_layout(ir);
  for (const int64_t n : {0, 1, 511, 512, 513, 2000}) {
    std::vector<double> a(static_cast<size_t>(n) + 1), out(static_cast<size_t>(n) + 1, -1.0);
    double b = 0.5;
    for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>(i)] = static_cast<double>(i);
    std::vector<int64_t> words(static_cast<size_t>(p.words));
    words[p.kept_size] = words[p.kept_shape] = n;
    const void* places[] = {a.data(), &b, out.data()};
    for (int k = 0; k < 3; ++k) {
      words[p.access + p.access_words * k] = reinterpret_cast<int64_t>(places[k]);
      words[p.access + p.access_words * k + 1] = k == 1 ? 0 : 1;
    }
    Tier0Program(ir).run(0, words.data(), 0, n);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], static_cast<double>(i) + 0.5);
    EXPECT_EQ(out.back(), -1.0);
  }
}

}  // namespace
}  // namespace bc
