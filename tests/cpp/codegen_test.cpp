// Kernel IR: the digest that stands for its text, the parameter block, and that the text compiles for both targets.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "array/array.h"
#include "array_help.h"
#include "backends/cpu/jit_library.h"
#include "backends/cuda/cuda_libraries.h"
#include "backends/cuda/nvrtc.h"
#include "codegen/body.h"
#include "codegen/ir.h"
#include "codegen/ir_text.h"
#include "codegen/verify.h"
#include "graph/plan.h"
#include "graph/tape.h"
#include "ops/compose.h"

namespace bc {
namespace {

constexpr Device kDevice{DeviceType::null, 3};  // of this file alone

Array leaf(const Dims& shape, DType t = DType::f64) { return empty(shape, t, kDevice); }

/// The kernels that arrays become, in the order in which they were recorded; nothing runs.
std::vector<Step> steps(const std::vector<Array>& arrays, Target target, int held = 1) {
  std::vector<Ref<Node>> pending;
  std::function<void(const Ref<Node>&)> add = [&](const Ref<Node>& n) {
    if (!n->pending() || std::find(pending.begin(), pending.end(), n) != pending.end()) return;
    for (const Operand& o : n->in) add(o.node);
    pending.push_back(n);
  };
  for (const Array& a : arrays) add(a.storage()->current);
  for (const Ref<Node>& n : pending) n->held = held && n->handles > 0;
  Slots slots;
  slots.nodes = pending;
  tape_hash(pending.size(), &slots);
  std::vector<Step> kernels;
  for (Step& s : make_plan(slots, static_cast<int>(pending.size()), target).steps)
    if (s.kind == Step::Kind::kernel) kernels.push_back(std::move(s));
  return kernels;
}

Array call(Op op, const Arg& a) { return ufunc(op, {a}); }
Array call(Op op, const Arg& a, const Arg& b) { return ufunc(op, {a, b}); }

std::vector<Array> elementwise_program() {
  const Array a = leaf({100, 64}, DType::f32), b = leaf({64}, DType::f64), i = leaf({100, 64}, DType::i32);
  return {call(Op::add, call(Op::multiply, a, b), call(Op::sin, a)), call(Op::less, i, 3), transpose(call(Op::exp, transpose(a)))};
}
std::vector<Array> reduction_program(const Axes& axes, const Dims& shape = {200, 300}) {
  const Array a = leaf(shape, DType::f32);
  const Array sum = reduce(Op::reduce_sum, call(Op::square, a), compose::over(axes));
  return {sum, call(Op::sqrt, sum), reduce(Op::reduce_std, a, compose::over(axes)), reduce(Op::reduce_argmax, a, compose::over(axes))};
}
std::vector<Array> softmax_program() {
  const Array a = leaf({64, 1024}, DType::f32);
  const Array e = call(Op::exp, call(Op::subtract, a, reduce(Op::reduce_max, a, compose::over({-1}, true))));
  return {call(Op::divide, e, reduce(Op::reduce_sum, e, compose::over({-1}, true)))};
}
std::vector<Array> store_program(bool select) {
  Array a = leaf({50, 60}), shared = select ? copy(a) : Array();
  const Array inner = compose::narrow(compose::narrow(a, 0, 1, select ? 48 : 10), 1, 2, 50);
  assign(inner, call(Op::multiply, inner, 2.0));
  if (!select) return {a};
  return {a, shared, call(Op::add, a, shared)};
}
std::vector<Array> gather_program() {
  const Array a = leaf({50, 60}), i = leaf({7}, DType::i64);
  IndexItem item;
  item.array = i;
  return {call(Op::add, getitem(a, std::span(&item, 1)), 1.0)};
}
std::vector<Array> coordinate_program() {
  const Array i = iota({40, 30}, kDevice);
  return {call(Op::multiply, astype(i, DType::f64), 0.5), astype(transpose(i), DType::f32)};
}
std::vector<Array> complex_program() {
  const Array z = leaf({1000}, DType::c64);
  return {call(Op::multiply, z, Arg(Weak::complex, Scalar::complex(1, 2))), call(Op::abs, z), reduce(Op::reduce_prod, z)};
}

/// Kernels of every skeleton for a target.
std::vector<Step> all_steps(Target target) {
  std::vector<Step> all;
  auto add = [&](const std::vector<Array>& arrays) {
    for (Step& s : steps(arrays, target)) all.push_back(std::move(s));
  };
  add(elementwise_program());
  add(reduction_program({1}));
  add(reduction_program({0}));
  add(reduction_program({0, 1}, {2000, 1000}));
  add(reduction_program({0, 2}, {20, 30, 40}));
  add(softmax_program());
  add(store_program(false));
  add(store_program(true));
  add(gather_program());
  add(coordinate_program());
  add(complex_program());
  return all;
}

class Codegen : public testing::TestWithParam<Target> {};

TEST_P(Codegen, ProgramsBecomeTheSkeletonsTheyShould) {
  std::set<Walk> walks;
  std::set<bool> in_place, segmented, checked;
  int stages = 0;
  std::set<Value::Kind> kinds;
  for (const Step& s : all_steps(GetParam())) {
    walks.insert(s.ir.walk);
    in_place.insert(s.ir.in_place);
    segmented.insert(s.ir.schedule.segmented);
    checked.insert(s.ir.checked);
    stages = std::max(stages, s.ir.stages);
    for (const Value& v : s.ir.values) kinds.insert(v.kind);
  }
  EXPECT_EQ(walks.size(), 3u);
  EXPECT_EQ(in_place.size() + segmented.size() + checked.size(), 6u);
  EXPECT_EQ(stages, 3);
  for (Value::Kind k : {Value::Kind::load, Value::Kind::coordinate, Value::Kind::constant, Value::Kind::op, Value::Kind::gather,
                        Value::Kind::inside, Value::Kind::result})
    EXPECT_TRUE(kinds.contains(k)) << static_cast<int>(k);
}

TEST_P(Codegen, PlansAreWellFormed) {
  for (const Step& s : all_steps(GetParam())) EXPECT_NO_THROW(verify(s.ir, "planning")) << ir_text(s.ir);
}

TEST_P(Codegen, WhatIsNotWellFormedIsFound) {
  const auto last = [](Ir& x) -> Value& { return x.values.back(); };
  const std::pair<const char*, std::function<void(Ir&)>> faults[] = {
      {"does not stand before it", [&](Ir& x) { last(x).args[0] = static_cast<int16_t>(x.values.size()); }},
      {"does not stand before it", [&](Ir& x) { last(x).args[0] = kNone; }},
      {"comes with stage", [&](Ir& x) { x.stages = 2, x.walk = Walk::rows, x.values.front().stage = 1; }},
      {"stage 3 of", [&](Ir& x) { last(x).stage = 3; }},
      {"once a row in a map", [&](Ir& x) { last(x).outer = true; }},
      {"no truth value", [&](Ir& x) { last(x).predicate = 0; }},
      {"another role", [&](Ir& x) { x.accesses[static_cast<size_t>(x.outputs[0].access)].role = Access::Role::load; }},
      {"no output", [&](Ir& x) { x.outputs.clear(); }},
      {"dtypes of", [&](Ir& x) { ++x.constants; }},
      {"accumulators", [&](Ir& x) { x.accumulators.emplace_back(); }},
      {"groups of", [&](Ir& x) { x.schedule.group = 3; }},
      {"a factor of the schedule", [&](Ir& x) { x.schedule.unroll = 0; }},
      {"segments in a map", [&](Ir& x) { x.schedule.segmented = true; }},
      {"shared by one row", [&](Ir& x) { x.accesses[0].still = true; }},
      {"tiled in no tile", [&](Ir& x) { x.accesses[0].tiled = true; }},
  };
  const Array a = leaf({100, 64}, DType::f32);
  const Ir whole = steps({call(Op::add, call(Op::sin, a), 1.0)}, GetParam()).at(0).ir;
  ASSERT_EQ(whole.values.back().op, Op::add);
  for (const auto& [rule, fault] : faults) {
    Ir ir = whole;
    fault(ir);
    if (ir.walk != whole.walk) ir.reduced = 1, ir.accumulators.emplace_back();
    test::expect_error(ErrorKind::Runtime, rule, [&] { verify(ir, "a fault"); });
  }
}

TEST_P(Codegen, ParametersLieSideBySide) {
  for (const Step& s : all_steps(GetParam())) {
    const ParamLayout p = param_layout(s.ir);
    EXPECT_EQ(static_cast<int>(s.parameters.size()), p.words);
    EXPECT_LE(p.words * 8, 4096) << "CUDA's parameter space";
    // Each field starts where the one before ends.
    const int fields[][2] = {{p.kept_size, 1},
                             {p.reduced_size, 1},
                             {p.kept_shape, s.ir.kept},
                             {p.reduced_shape, s.ir.reduced},
                             {p.segments, 1},
                             {p.segment_length, 1},
                             {p.partials, 1},
                             {p.tickets, 1},
                             {p.error, 1},
                             {p.ddof, static_cast<int>(s.ir.accumulators.size())},
                             {p.access, p.access_words * static_cast<int>(s.ir.accesses.size())},
                             {p.constant, 2 * s.ir.constants},
                             {p.gather, 2 * s.ir.gather_slots},
                             {p.inside, 3 * s.ir.inside_slots}};
    int end = 0;
    for (const auto& [first, words] : fields) {
      EXPECT_EQ(first, end);
      end = first + words;
    }
    EXPECT_EQ(end, p.words);
    EXPECT_EQ(p.access_words, 1 + s.ir.kept + s.ir.reduced);
    std::set<int> patched;
    for (const Step::Patch& patch : s.patches) {
      EXPECT_TRUE(patched.insert(patch.word).second) << "two values for one word";
      const bool address = patch.kind == Step::Patch::Kind::address;
      EXPECT_GE(patch.word, address ? p.access : p.constant);
      EXPECT_LT(patch.word, address ? p.constant : p.gather);
      if (address) {
        EXPECT_EQ((patch.word - p.access) % p.access_words, 0);
      }
    }
    int64_t m = 1, n = 1;
    for (int d = 0; d < s.ir.kept; ++d) m *= s.parameters[static_cast<size_t>(p.kept_shape + d)];
    for (int d = 0; d < s.ir.reduced; ++d) n *= s.parameters[static_cast<size_t>(p.reduced_shape + d)];
    EXPECT_EQ(m, s.parameters[static_cast<size_t>(p.kept_size)]);
    EXPECT_EQ(n, s.parameters[static_cast<size_t>(p.reduced_size)]);
    EXPECT_EQ(s.elements, m * n);
  }
}

TEST_P(Codegen, TextReadsNoWordPastTheBlock) {
  const std::regex word(R"(p(?:->|\.)w(?: \+ |\[)(\d+))");
  for (const Step& s : all_steps(GetParam())) {
    const std::string text = print(s.ir).text;
    const ParamLayout p = param_layout(s.ir);
    EXPECT_NE(text.find(fmt::format("struct P {{ i64 w[{}]; }};", p.words)), std::string::npos);
    int seen = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), word), last; it != last; ++it, ++seen)
      EXPECT_LT(std::stoi((*it)[1]), p.words) << text;
    EXPECT_GT(seen, 0);
  }
}

TEST_P(Codegen, ValuesComeBeforeTheirUses) {
  for (const Step& s : all_steps(GetParam())) {
    const Ir& ir = s.ir;
    for (size_t i = 0; i < ir.values.size(); ++i) {
      const Value& v = ir.values[i];
      if (v.kind == Value::Kind::op)
        for (int k = 0; k < info(v.op).nin; ++k) {
          ASSERT_GE(v.args[k], 0);
          const Value& a = ir.values[static_cast<size_t>(v.args[k])];
          if (a.kind != Value::Kind::result) {
            EXPECT_LT(v.args[k], static_cast<int>(i));
          }
          if (!v.outer && a.kind != Value::Kind::constant) {
            EXPECT_TRUE(!a.outer || a.stage < v.stage);
          }
        }
      if (v.access != kNone) {
        EXPECT_LT(v.access, static_cast<int>(ir.accesses.size()));
      }
      EXPECT_LT(v.stage, ir.stages);
    }
    for (const Output& o : ir.outputs) EXPECT_EQ(ir.accesses[static_cast<size_t>(o.access)].role, Access::Role::store);
    for (const Accumulator& a : ir.accumulators) EXPECT_EQ(ir.values[static_cast<size_t>(a.result)].kind, Value::Kind::result);
  }
}

using Change = std::function<void(Ir&)>;

/// Every field of an IR, changed.
std::vector<std::pair<std::string, Change>> changes(const Ir& ir) {
  std::vector<std::pair<std::string, Change>> list;
  auto add = [&](std::string name, Change change) { list.emplace_back(std::move(name), std::move(change)); };
  add("target", [](Ir& x) { x.target = x.target == Target::cpu ? Target::cuda : Target::cpu; });
  add("walk", [](Ir& x) { x.walk = x.walk == Walk::map ? Walk::rows : Walk::map; });
  add("kept", [](Ir& x) { ++x.kept; });
  add("reduced", [](Ir& x) { ++x.reduced; });
  add("stages", [](Ir& x) { ++x.stages; });
  add("wide", [](Ir& x) { x.schedule.wide = !x.schedule.wide; });
  add("in_place", [](Ir& x) { x.in_place = !x.in_place; });
  add("segmented", [](Ir& x) { x.schedule.segmented = !x.schedule.segmented; });
  add("checked", [](Ir& x) { x.checked = !x.checked; });
  add("vector", [](Ir& x) { x.schedule.vector *= 2; });
  add("group", [](Ir& x) { x.schedule.group *= 2; });
  add("unroll", [](Ir& x) { ++x.schedule.unroll; });
  add("cached", [](Ir& x) { x.schedule.cached = !x.schedule.cached; });
  add("tile", [](Ir& x) { x.schedule.tile += 32; });
  add("constants", [](Ir& x) { ++x.constants; });
  add("gather_slots", [](Ir& x) { ++x.gather_slots; });
  add("inside_slots", [](Ir& x) { ++x.inside_slots; });
  for (size_t k = 0; k < ir.constant_dtypes.size(); ++k)
    add("constant_dtypes", [k](Ir& x) { x.constant_dtypes[k] = x.constant_dtypes[k] == DType::i8 ? DType::i16 : DType::i8; });
  for (size_t k = 0; k < ir.accesses.size(); ++k) {
    add("access.role",
        [k](Ir& x) { x.accesses[k].role = x.accesses[k].role == Access::Role::load ? Access::Role::gather : Access::Role::load; });
    add("access.dtype", [k](Ir& x) { x.accesses[k].dtype = x.accesses[k].dtype == DType::i8 ? DType::i16 : DType::i8; });
    add("access.step",
        [k](Ir& x) { x.accesses[k].step = x.accesses[k].step == Access::Step::any ? Access::Step::unit : Access::Step::any; });
    add("access.outer", [k](Ir& x) { x.accesses[k].outer = !x.accesses[k].outer; });
    add("access.vector", [k](Ir& x) { x.accesses[k].vector = !x.accesses[k].vector; });
    add("access.tiled", [k](Ir& x) { x.accesses[k].tiled = !x.accesses[k].tiled; });
  }
  add("accesses", [](Ir& x) { x.accesses.push_back(x.accesses.back()); });
  for (size_t k = 0; k < ir.values.size(); ++k) {
    add("value.kind", [k](Ir& x) { x.values[k].kind = x.values[k].kind == Value::Kind::op ? Value::Kind::load : Value::Kind::op; });
    add("value.op", [k](Ir& x) { x.values[k].op = x.values[k].op == Op::add ? Op::subtract : Op::add; });
    add("value.dtype", [k](Ir& x) { x.values[k].dtype = x.values[k].dtype == DType::i8 ? DType::i16 : DType::i8; });
    for (int j = 0; j < 3; ++j) {
      add("value.loop", [k, j](Ir& x) { x.values[k].loop[j] = x.values[k].loop[j] == DType::i8 ? DType::i16 : DType::i8; });
      add("value.args", [k, j](Ir& x) { ++x.values[k].args[j]; });
    }
    add("value.stage", [k](Ir& x) { ++x.values[k].stage; });
    add("value.outer", [k](Ir& x) { x.values[k].outer = !x.values[k].outer; });
    add("value.access", [k](Ir& x) { ++x.values[k].access; });
    add("value.slot", [k](Ir& x) { ++x.values[k].slot; });
    add("value.predicate", [k](Ir& x) { ++x.values[k].predicate; });
    add("value.more", [k](Ir& x) { x.values[k].more.push_back(0); });
    if (!ir.values[k].more.empty()) add("value.more[0]", [k](Ir& x) { ++x.values[k].more[0]; });
  }
  add("values", [](Ir& x) { x.values.push_back(x.values.back()); });
  for (size_t k = 0; k < ir.accumulators.size(); ++k) {
    add("accumulator.op", [k](Ir& x) { x.accumulators[k].op = x.accumulators[k].op == Op::reduce_sum ? Op::reduce_prod : Op::reduce_sum; });
    add("accumulator.loop", [k](Ir& x) { x.accumulators[k].loop = x.accumulators[k].loop == DType::i8 ? DType::i16 : DType::i8; });
    add("accumulator.out", [k](Ir& x) { x.accumulators[k].out = x.accumulators[k].out == DType::i8 ? DType::i16 : DType::i8; });
    add("accumulator.input", [k](Ir& x) { ++x.accumulators[k].input; });
    add("accumulator.result", [k](Ir& x) { ++x.accumulators[k].result; });
    add("accumulator.stage", [k](Ir& x) { ++x.accumulators[k].stage; });
  }
  add("accumulators", [](Ir& x) { x.accumulators.emplace_back(); });
  for (size_t k = 0; k < ir.outputs.size(); ++k) {
    add("output.value", [k](Ir& x) { ++x.outputs[k].value; });
    add("output.access", [k](Ir& x) { ++x.outputs[k].access; });
    add("output.stage", [k](Ir& x) { ++x.outputs[k].stage; });
    add("output.row", [k](Ir& x) { x.outputs[k].outer = !x.outputs[k].outer; });
    add("output.predicate", [k](Ir& x) { ++x.outputs[k].predicate; });
  }
  add("outputs", [](Ir& x) { x.outputs.push_back(x.outputs.back()); });
  return list;
}

TEST_P(Codegen, TheDigestSeesEveryField) {
  size_t tried = 0;
  for (const Step& s : all_steps(GetParam())) {
    const Hash128 original = structure_hash(s.ir);
    EXPECT_EQ(original, s.key);
    std::map<std::string, std::string> seen;
    for (const auto& [name, change] : changes(s.ir)) {
      Ir other = s.ir;
      change(other);
      EXPECT_FALSE(structure_hash(other) == original) << name << " of " << s.name;
      ++tried;
    }
    const Ir same = s.ir;
    EXPECT_EQ(structure_hash(same), original);
  }
  EXPECT_GT(tried, 1000u);
}

TEST_P(Codegen, EqualDigestsMeanEqualText) {
  // Random expressions over few shapes and types, so that many of them meet.
  std::mt19937_64 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  constexpr Op unary[] = {Op::negative, Op::square, Op::abs};
  constexpr Op binary[] = {Op::add, Op::maximum};
  std::map<std::string, std::string> texts;
  int met = 0;
  for (int round = 0; round < 400; ++round) {
    const Dims shape = pick(2) ? Dims{16, 24} : Dims{12, 8};
    std::vector<Array> values;
    for (int k = 0; k < 2; ++k) {
      const Array a = leaf(shape, pick(2) ? DType::f32 : DType::f64);
      values.push_back(pick(3) ? a : broadcast_to(compose::narrow(a, pick(2), 0, 1), shape));
    }
    for (int depth = 1 + pick(3); depth > 0; --depth) {
      const Array& x = values[static_cast<size_t>(pick(static_cast<int>(values.size())))];
      const Array& y = values[static_cast<size_t>(pick(static_cast<int>(values.size())))];
      values.push_back(pick(2) ? call(unary[pick(3)], x) : pick(3) ? call(binary[pick(2)], x, y) : call(binary[pick(2)], x, 2.0));
    }
    Array last = values.back();
    if (pick(3) == 0) last = reduce(pick(2) ? Op::reduce_sum : Op::reduce_max, last, compose::over({pick(2)}));
    values.clear();
    for (const Step& s : steps({last}, GetParam())) {
      const std::string text = print(s.ir).text;
      const auto [it, fresh] = texts.emplace(to_string(s.key), text);
      EXPECT_EQ(it->second, text);
      met += !fresh;
    }
  }
  EXPECT_GT(met, 50);
  EXPECT_GT(texts.size(), 50u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Codegen, testing::Values(Target::cpu, Target::cuda),
                         [](const auto& t) { return std::string(t.param == Target::cpu ? "cpu" : "cuda"); });

bool have_nvrtc() {
  try {
    cuda::nvrtc();
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Compile, TheCpuTakesEveryKernel) {
  if (!cpu::JitLibrary::available()) GTEST_SKIP() << "libbroadcloth_jit.so was not built";
  Backend& cpu = backend({DeviceType::cpu, 0});
  for (const Step& s : all_steps(Target::cpu)) {
    const KernelSource source = print(s.ir);
    EXPECT_EQ(source.entries.size(), s.ir.schedule.segmented ? 2u : 1u);
    EXPECT_NO_THROW(EXPECT_FALSE(cpu.compile(source).empty())) << source.text;
  }
}

TEST(Compile, NvrtcTakesEveryKernel) {
  if (!have_nvrtc()) GTEST_SKIP() << "there is no NVRTC";
  for (const Step& s : all_steps(Target::cuda)) {
    const KernelSource source = print(s.ir);
    EXPECT_EQ(source.entries.size(), 1u);
    EXPECT_NO_THROW(EXPECT_FALSE(cuda::compile_for(source, "sm_90").empty())) << source.text;
  }
}

/// The rows for random numbers, which Python reaches only through generators.
std::vector<Array> random_rows() {
  const Array seed = leaf({}, DType::u64), index = leaf({1000}, DType::u64);
  std::vector<Array> all;
  for (Op op : {Op::random_bits, Op::random_uniform, Op::random_normal, Op::random_below})
    for (int t = 0; t < kDTypeCount; ++t) {
      if (!(info(op).set & dtype_bit(DType(t)))) continue;
      UfuncOptions options;
      options.dtype = DType(t);
      options.casting = Casting::unsafe;
      std::vector<Arg> args = {seed, index};
      if (op == Op::random_below) args.emplace_back(100);
      all.push_back(ufunc(op, args, options));
      EXPECT_EQ(all.back().dtype(), DType(t));
    }
  return all;
}

TEST(Compile, BothTakeTheRowsForRandomNumbers) {
  const std::vector<Array> rows = random_rows();
  EXPECT_GE(rows.size(), 20u);
  if (cpu::JitLibrary::available()) {
    for (const Step& s : steps(rows, Target::cpu)) EXPECT_NO_THROW(backend({DeviceType::cpu, 0}).compile(print(s.ir))) << print(s.ir).text;
  }
  if (have_nvrtc()) {
    for (const Step& s : steps(rows, Target::cuda)) EXPECT_NO_THROW(cuda::compile_for(print(s.ir), "sm_90")) << print(s.ir).text;
  }
}

TEST(KernelName, IsReadableAndShort) {
  const Array a = leaf({10}), b = call(Op::add, call(Op::sin, a), 1.0);
  EXPECT_EQ(steps({b}, Target::cpu)[0].name, "map_sin_add");
  Array long_one = a;
  for (int i = 0; i < 20; ++i) long_one = call(Op::add, call(Op::multiply, long_one, 2.0), 1.0);
  EXPECT_LT(steps({long_one}, Target::cpu)[0].name.size(), 80u);
}

}  // namespace
}  // namespace bc
