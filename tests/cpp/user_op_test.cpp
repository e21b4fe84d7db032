// Users' functions as ops of the graph, through the interface that compiled Python functions use too.
#include "array/user.h"
#include "array_help.h"
#include "backends/cpu/jit_library.h"
#include "core/error.h"
#include "graph/show_plan.h"

namespace bc::test {
namespace {

Ref<UserOp> op_of(const std::string& name, const std::string& body, std::vector<DType> in, std::vector<DType> out, bool contract = false) {
  UserOpSpec spec;
  spec.name = name;
  spec.entry = "element";
  spec.contract = contract;
  std::string signature;
  for (size_t k = 0; k < in.size(); ++k) signature += fmt::format("{}{} a{}", k ? ", " : "", info(in[k]).c_name, k);
  for (size_t k = 0; k < out.size(); ++k) signature += fmt::format("{}{}& r{}", signature.empty() ? "" : ", ", info(out[k]).c_name, k);
  spec.text = "BC_INLINE void element(" + signature + ") {\n" + body + "\n}";
  spec.in = std::move(in);
  spec.out = std::move(out);
  return make_user_op(std::move(spec));
}

int kernels_of(const Array& a) {
  const std::string source = show_plan(a, {.source = true});
  int n = 0;
  for (size_t at = source.find("// kernel: "); at != std::string::npos; at = source.find("// kernel: ", at + 1)) ++n;
  return n;
}

class UserOpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device().type == DeviceType::cpu && !cpu::JitLibrary::available()) GTEST_SKIP() << "there is no compiler";
    synchronize();
  }
};

TEST_F(UserOpTest, EqualDescriptionsAreOneFunction) {
  const auto a = op_of("same", "r0 = a0 + 1;", {DType::f64}, {DType::f64});
  const auto b = op_of("same", "r0 = a0 + 1;", {DType::f64}, {DType::f64});
  const auto c = op_of("same", "r0 = a0 + 2;", {DType::f64}, {DType::f64});
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == c);
}

TEST_F(UserOpTest, WhatTheCompilerSaysOfPrintedTextIsNotForUsers) {
  UserOpSpec spec;
  spec.name = "refused";
  spec.entry = "element";
  spec.text = "BC_INLINE void element(double a0, double& r0) { r0 = a0 + undeclared_name; }";
  spec.in = spec.out = {DType::f64};
  for (const bool printed : {true, false}) {
    spec.printed = printed;
    const Arg args[] = {doubles({1, 2, 3})};
    const Array y = bc::apply(make_user_op(spec), args)[0];
    try {
      values<double>(y);
      FAIL() << "a wrong text compiled";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.kind(), printed ? ErrorKind::Typing : ErrorKind::Compile);
      EXPECT_EQ(text.find("undeclared_name") == text.npos, printed) << text;
      EXPECT_EQ(text.find("in refused, over arrays") != text.npos, printed) << text;
    }
  }
}

TEST_F(UserOpTest, BroadcastsCastsAndFusesWithWhatIsAroundIt) {
  const auto f = op_of("weighted", "r0 = a0 * a1;", {DType::f64, DType::f64}, {DType::f64});
  const Array x = doubles({1, 2, 3}), y = reshape(ints({10, 20}), Dims{2, 1});
  const auto expression = [&] {
    const Arg args[] = {ufunc(Op::add, {x, Arg(1)}), y};  // what somebody holds would be stored too
    return ufunc(Op::subtract, {bc::apply(f, args)[0], Arg(5)});
  };
  const Array z = expression();
  EXPECT_EQ(kernels_of(z), 1);
  EXPECT_EQ(values<double>(z), (std::vector<double>{15, 25, 35, 35, 55, 75}));
}

TEST_F(UserOpTest, HasAnyNumberOfOperandsAndResults) {
  std::vector<DType> in(9, DType::i64);
  const auto f = op_of("many", "r0 = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8; r1 = a8 > a0;", in, {DType::i64, DType::b1});
  std::vector<Arg> args;
  for (int64_t k = 0; k < 8; ++k) args.emplace_back(count(Dims{4}));
  args.emplace_back(int64_t{2});
  const std::vector<Array> r = bc::apply(f, args);
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(values<int64_t>(r[0]), (std::vector<int64_t>{2, 10, 18, 26}));
  EXPECT_EQ(values<bool>(r[1]), (std::vector<bool>{true, true, false, false}));
}

TEST_F(UserOpTest, WritesOutputsWhereAMaskSaysSo) {
  const auto f = op_of("twice", "r0 = 2 * a0;", {DType::f64}, {DType::f64});
  const Array out = doubles({9, 9, 9, 9});
  UserOptions options;
  options.out = {out};
  options.where = make<bool>({true, false, true, false});
  const Arg args[] = {count(Dims{4}, DType::f64)};
  bc::apply(f, args, options);
  EXPECT_EQ(values<double>(out), (std::vector<double>{0, 9, 4, 9}));
  options.out.clear();
  EXPECT_EQ(values<double>(bc::apply(f, args, options)[0]), (std::vector<double>{0, 0, 4, 0}));
}

TEST_F(UserOpTest, RunsOnlyWhereItsResultIsUsed) {
  // It would never end for the zeros that stand for elements outside of the region.
  const auto f =
      op_of("halvings", "i64 n = 0; while (a0 != 1) { a0 /= 2; if (a0 == 0) for (;;) n += r0; ++n; } r0 = n;", {DType::i64}, {DType::i64});
  const Array target = count(Dims{8});
  const Arg args[] = {ints({1, 2, 4, 8})};
  assign(slice(target, std::vector<SliceItem>{{.start = 2, .stop = 6, .has_start = true, .has_stop = true}}), bc::apply(f, args)[0]);
  EXPECT_EQ(values<int64_t>(target), (std::vector<int64_t>{0, 1, 0, 1, 2, 3, 6, 7}));
}

TEST_F(UserOpTest, ContractionStaysInAKernelOfItsOwn) {
  const auto plain = op_of("axpy", "r0 = a0 * a1 + 1.0;", {DType::f64, DType::f64}, {DType::f64});
  const auto contracted = op_of("axpy", "r0 = a0 * a1 + 1.0;", {DType::f64, DType::f64}, {DType::f64}, true);
  const Array x = doubles({1 + 0x1p-30, 3}), y = doubles({1 - 0x1p-30, 4});
  const Arg args[] = {x, y};
  const Array fused = ufunc(Op::multiply, {bc::apply(plain, args)[0], Arg(2)});
  EXPECT_EQ(kernels_of(fused), 1);
  EXPECT_EQ(values<double>(fused), values<double>(ufunc(Op::multiply, {ufunc(Op::add, {ufunc(Op::multiply, {x, y}), Arg(1.0)}), Arg(2)})));
  const Array apart = ufunc(Op::multiply, {bc::apply(contracted, args)[0], Arg(2)});
  EXPECT_EQ(kernels_of(apart), 2);
  EXPECT_NEAR(values<double>(apart)[1], 26, 1e-12);
}

TEST_F(UserOpTest, ErrorsNameTheFunction) {
  const auto f = op_of("named", "r0 = a0;", {DType::f64}, {DType::f64});
  const Arg two[] = {doubles({1}), doubles({1})};
  EXPECT_THROW(bc::apply(f, two), Error);
  const auto broken = op_of("broken", "r0 = nothing(a0);", {DType::f64}, {DType::f64});
  const Arg one[] = {doubles({1})};
  const Array y = bc::apply(broken, one)[0];
  try {
    values<double>(y);
    FAIL() << "it compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Compile);
    EXPECT_NE(std::string(e.what()).find("nothing"), std::string::npos) << e.what();
  }
  EXPECT_THROW(values<double>(y), Error);  // what could not run has no value
}

TEST_F(UserOpTest, ReducesByAJoin) {
  UserOpSpec spec;
  spec.name = "largest_bits";
  spec.in = spec.out = {DType::i64};
  spec.text = "BC_INLINE i64 join(i64 a, i64 b) { return a | b; }\nBC_INLINE i64 init() { return 0; }";
  spec.identity = true;
  ReduceOptions options;
  options.join = make_user_op(spec);
  options.axes = {{1}};
  const Array x = reshape(ints({1, 2, 4, 8, 16, 32}), Dims{2, 3});
  EXPECT_EQ(values<int64_t>(reduce(Op::reduce_user, x, options)), (std::vector<int64_t>{7, 56}));
  EXPECT_EQ(values<int64_t>(reduce(Op::reduce_user, reshape(ints({}), Dims{2, 0}), options)), (std::vector<int64_t>{0, 0}));
}

}  // namespace
}  // namespace bc::test
