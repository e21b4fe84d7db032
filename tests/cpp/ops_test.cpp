#include "primitives/ops.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "codegen/body.h"
#include "core/error.h"

namespace bc {
namespace {

using enum DType;

std::vector<Op> ops(OpKind kind) {
  std::vector<Op> list;
  for (int i = 0; i < kOpCount; ++i)
    if (info(Op(i)).kind == kind) list.push_back(Op(i));
  return list;
}

Loop loop(Op op, std::vector<OperandType> operands, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind) {
  return resolve(op, operands, dtype, casting);
}
/// "in,in->out" by NumPy's names.
std::string signature(Op op, std::vector<OperandType> operands, std::optional<DType> dtype = {}) {
  const Loop l = loop(op, operands, dtype);
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i) text += (i ? "," : "") + std::string(info(l.in[i]).name);
  return text + "->" + info(l.out).name;
}
ErrorKind error_of(Op op, std::vector<OperandType> operands, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind) {
  try {
    loop(op, operands, dtype, casting);
  } catch (const Error& e) {
    EXPECT_FALSE(std::string(e.what()).empty());
    return e.kind();
  }
  ADD_FAILURE() << info(op).name << ": no error";
  return ErrorKind::Runtime;
}

TEST(Rows, AreCompleteAndFoundByName) {
  std::set<std::string> names;
  for (Op op : ops(OpKind::elementwise)) {
    const OpInfo& spec = info(op);
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(op_from_name(spec.name), op);
    EXPECT_GE(spec.nin, 1);
    EXPECT_LE(spec.nin, 3);
    EXPECT_NE(spec.set, 0u) << spec.name;
    EXPECT_EQ(spec.fast_set & ~spec.set, 0u) << spec.name;
    EXPECT_EQ(spec.fast_set != 0, spec.fast_text != nullptr) << spec.name;
    EXPECT_EQ(spec.cuda_fast_set & ~spec.set, 0u) << spec.name;
    EXPECT_EQ(spec.cuda_fast_set != 0, spec.cuda_fast_text != nullptr) << spec.name;
    ASSERT_NE(spec.text, nullptr) << spec.name;
    // Each operand is used (but for the rows that pick one, which read all too).
    for (int k = 0; k < spec.nin; ++k) {
      const std::string name(1, static_cast<char>('a' + k));
      EXPECT_NE(substitute(spec.text, {{name, "REPLACED"}}), spec.text) << spec.name << " " << name;
    }
  }
  EXPECT_GT(names.size(), 95u);
  for (Op op : ops(OpKind::reduce)) {
    const OpInfo& spec = info(op);
    if (std::string_view(spec.name) == "user") continue;  // its texts are the user's
    EXPECT_TRUE(spec.map && spec.join && spec.finish) << spec.name;
    for (const DType t : {DType::b1, DType::f16, DType::f64, DType::c128})
      if (spec.set & dtype_bit(t)) {
        EXPECT_GE(state_bytes(spec.state, t), spec.state == ReduceState::truth   ? 1
                                              : spec.state == ReduceState::count ? 8
                                                                                 : itemsize(t))
            << spec.name;
      }
    EXPECT_EQ(spec.extreme != Extreme::none, spec.name == std::string_view("max") || spec.name == std::string_view("min"));
    EXPECT_EQ(spec.nin, 1);
    EXPECT_NE(spec.set, 0u);
  }
  EXPECT_FALSE(op_from_name("no_such_row"));
}

TEST(Rows, TextIsSubstitutedByWholeIdentifiers) {
  EXPECT_EQ(substitute("add(a, b)", {{"a", "v1"}, {"b", "v2"}}), "add(v1, v2)");
  EXPECT_EQ(substitute("abs(a) + a_b + S{a, i}.a + 1.0f", {{"a", "x"}, {"f", "y"}}), "abs(x) + a_b + S{x, i}.a + 1.0f");
  EXPECT_EQ(substitute("cast<T>(a)", {{"T", "float"}}), "cast<float>(a)");
}

TEST(Resolve, FindsALoopThatTheOperandsCastToSafely) {
  for (Op op : ops(OpKind::elementwise)) {
    const OpInfo& spec = info(op);
    if (spec.signature == Signature::random) continue;
    for (int t = 0; t < kDTypeCount; ++t) {
      std::vector<OperandType> operands(spec.nin, {DType(t)});
      if (spec.signature == Signature::where) operands[0] = {b1};
      if (spec.signature == Signature::ldexp) operands[1] = {i32};
      Loop l;
      try {
        l = resolve(op, operands);
      } catch (const Error& e) {
        EXPECT_TRUE(e.kind() == ErrorKind::UFuncTypeError || e.kind() == ErrorKind::Type) << e.what();
        EXPECT_FALSE(spec.set & dtype_bit(DType(t))) << spec.name << " has a loop for " << info(DType(t)).name;
        continue;
      }
      const DType own = l.in[spec.signature == Signature::where ? 1 : 0];
      EXPECT_TRUE(spec.set & dtype_bit(own)) << spec.name;
      EXPECT_TRUE(can_cast(DType(t), own, Casting::safe)) << spec.name << info(DType(t)).name;
      if (spec.set & dtype_bit(DType(t))) {
        EXPECT_EQ(own, DType(t)) << spec.name;
      }
    }
  }
}

TEST(Resolve, TypesAreNumpys) {
  EXPECT_EQ(signature(Op::add, {{i8}, {u8}}), "int16,int16->int16");
  EXPECT_EQ(signature(Op::add, {{i64}, {u64}}), "float64,float64->float64");
  EXPECT_EQ(signature(Op::add, {{b1}, {b1}}), "bool,bool->bool");
  EXPECT_EQ(signature(Op::divide, {{i32}, {i8}}), "float64,float64->float64");
  EXPECT_EQ(signature(Op::divide, {{f16}, {i8}}), "float16,float16->float16");
  EXPECT_EQ(signature(Op::sqrt, {{i8}}), "float16->float16");
  EXPECT_EQ(signature(Op::sqrt, {{i16}}), "float32->float32");
  EXPECT_EQ(signature(Op::sin, {{i32}}), "float64->float64");
  EXPECT_EQ(signature(Op::sin, {{b1}}), "float16->float16");
  EXPECT_EQ(signature(Op::sin, {{c64}}), "complex64->complex64");
  EXPECT_EQ(signature(Op::abs, {{c64}}), "complex64->float32");
  EXPECT_EQ(signature(Op::abs, {{i8}}), "int8->int8");
  EXPECT_EQ(signature(Op::equal, {{c128}, {i8}}), "complex128,complex128->bool");
  EXPECT_EQ(signature(Op::isnan, {{f32}}), "float32->bool");
  EXPECT_EQ(signature(Op::arctan2, {{i8}, {u8}}), "float16,float16->float16");
  EXPECT_EQ(signature(Op::float_power, {{f32}, {f32}}), "float64,float64->float64");
  EXPECT_EQ(signature(Op::ldexp, {{f32}, {i64}}), "float32,int32->float32");
  EXPECT_EQ(signature(Op::where, {{b1}, {i8}, {f32}}), "bool,float32,float32->float32");
  EXPECT_EQ(signature(Op::frexp_exponent, {{f32}}), "float32->int32");
  EXPECT_EQ(signature(Op::bit_count, {{i64}}), "int64->uint8");
  EXPECT_EQ(signature(Op::angle, {{c128}}), "complex128->float64");
  EXPECT_EQ(signature(Op::i0, {{i8}}), "float64->float64");
  EXPECT_EQ(signature(Op::floor, {{i32}}), "int32->int32");
  EXPECT_EQ(signature(Op::add, {{bf16}, {f16}}), "float32,float32->float32");
  EXPECT_EQ(signature(Op::add, {{bf16}, {i8}}), "bfloat16,bfloat16->bfloat16");
}

TEST(Resolve, PythonScalarsLendTheirKindOnly) {
  const OperandType whole{i64, Weak::integer}, real{f64, Weak::real}, complex{c128, Weak::complex}, truth{b1, Weak::boolean};
  EXPECT_EQ(signature(Op::add, {{f32}, real}), "float32,float32->float32");
  EXPECT_EQ(signature(Op::add, {{i8}, whole}), "int8,int8->int8");
  EXPECT_EQ(signature(Op::add, {{i8}, real}), "float64,float64->float64");
  EXPECT_EQ(signature(Op::add, {{f32}, complex}), "complex64,complex64->complex64");
  EXPECT_EQ(signature(Op::add, {{b1}, whole}), "int64,int64->int64");
  EXPECT_EQ(signature(Op::add, {{i8}, truth}), "int8,int8->int8");
  EXPECT_EQ(signature(Op::add, {whole, whole}), "int64,int64->int64");
  EXPECT_EQ(signature(Op::add, {whole, real}), "float64,float64->float64");
  EXPECT_EQ(signature(Op::divide, {{i8}, whole}), "float64,float64->float64");
  EXPECT_EQ(signature(Op::where, {{b1}, {f32}, real}), "bool,float32,float32->float32");
}

TEST(Resolve, DtypeNamesTheLoop) {
  EXPECT_EQ(signature(Op::add, {{i8}, {i8}}, f32), "float32,float32->float32");
  EXPECT_EQ(signature(Op::sin, {{f64}}, f32), "float32->float32");
  EXPECT_EQ(error_of(Op::sin, {{f64}}, i32), ErrorKind::UFuncTypeError);
  EXPECT_EQ(error_of(Op::add, {{f64}, {f64}}, i32), ErrorKind::UFuncTypeError);
  EXPECT_EQ(error_of(Op::add, {{f64}, {f64}}, f32, Casting::safe), ErrorKind::UFuncTypeError);
  EXPECT_EQ(signature(Op::add, {{i64}, {i64}}, f32), "float32,float32->float32");
}

TEST(Resolve, RefusesAsNumpyDoes) {
  EXPECT_EQ(error_of(Op::subtract, {{b1}, {b1}}), ErrorKind::Type);
  EXPECT_EQ(error_of(Op::negative, {{b1}}), ErrorKind::Type);
  EXPECT_EQ(error_of(Op::bitwise_and, {{f32}, {i8}}), ErrorKind::UFuncTypeError);
  EXPECT_EQ(error_of(Op::floor, {{c64}}), ErrorKind::UFuncTypeError);
  EXPECT_EQ(error_of(Op::remainder, {{c64}, {f32}}), ErrorKind::UFuncTypeError);
  EXPECT_EQ(error_of(Op::gcd, {{f64}, {f64}}), ErrorKind::UFuncTypeError);
  EXPECT_EQ(error_of(Op::left_shift, {{i64}, {u64}}), ErrorKind::UFuncTypeError);  // they meet in float64
  EXPECT_EQ(error_of(Op::arctan2, {{c64}, {f32}}), ErrorKind::UFuncTypeError);
}

TEST(ResolveReduce, TypesAreNumpys) {
  auto out = [](Op op, DType t, std::optional<DType> dtype = {}) { return resolve_reduce(op, t, dtype).out; };
  EXPECT_EQ(out(Op::reduce_sum, b1), i64);
  EXPECT_EQ(out(Op::reduce_sum, i8), i64);
  EXPECT_EQ(out(Op::reduce_sum, u16), u64);
  EXPECT_EQ(out(Op::reduce_sum, f16), f16);
  EXPECT_EQ(out(Op::reduce_sum, c64), c64);
  EXPECT_EQ(out(Op::reduce_sum, i8, i8), i8);
  EXPECT_EQ(out(Op::reduce_prod, u8), u64);
  EXPECT_EQ(out(Op::reduce_mean, i32), f64);
  EXPECT_EQ(out(Op::reduce_mean, f32), f32);
  EXPECT_EQ(out(Op::reduce_mean, f32, f64), f64);
  EXPECT_EQ(out(Op::reduce_var, c64), f32);
  EXPECT_EQ(out(Op::reduce_std, b1), f64);
  EXPECT_EQ(out(Op::reduce_max, u8), u8);
  EXPECT_EQ(out(Op::reduce_argmax, f32), i64);
  EXPECT_EQ(out(Op::reduce_any, c128), b1);
  EXPECT_EQ(out(Op::reduce_count_nonzero, f64), i64);
  EXPECT_THROW(resolve_reduce(Op::reduce_bitwise_and, f32), Error);
  EXPECT_THROW(resolve_reduce(Op::reduce_hypot, c64), Error);
  for (Op op : ops(OpKind::reduce))
    for (int t = 0; t < kDTypeCount; ++t)
      if (info(op).set & dtype_bit(DType(t))) {
        EXPECT_TRUE(info(op).set & dtype_bit(resolve_reduce(op, DType(t)).in[0])) << info(op).name;
      }
}

TEST(ReductionOf, LeadsToARowThatJoinsAsTheUfuncDoes) {
  EXPECT_EQ(reduction_of(Op::add), Op::reduce_sum);
  EXPECT_EQ(reduction_of(Op::logical_and), Op::reduce_all);
  EXPECT_FALSE(reduction_of(Op::subtract));
  EXPECT_FALSE(reduction_of(Op::sin));
  std::set<Op> reached;
  for (Op op : ops(OpKind::elementwise))
    if (const auto row = reduction_of(op)) {
      EXPECT_EQ(info(op).nin, 2);
      EXPECT_EQ(info(*row).kind, OpKind::reduce);
      EXPECT_TRUE(reached.insert(*row).second) << info(op).name;
    }
  EXPECT_GE(reached.size(), 17u);
}

}  // namespace
}  // namespace bc
