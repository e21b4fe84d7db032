// The tree that compiled Python functions are printed from: its precedence, its facts, its statements.
#include <gtest/gtest.h>

#include "kernels/code.h"

namespace bc::kernels {
namespace {

TEST(KernelCode, OperandsHaveParenthesesWhereTheyAreNeeded) {
  const Code sum = operation("a", "+", "b");
  EXPECT_EQ(sum.text(), "a + b");
  EXPECT_EQ(operation(sum, "*", "c").text(), "(a + b) * c");
  EXPECT_EQ(operation("-1", "-", sum).text(), "(-1) - (a + b)");
  EXPECT_EQ(prefixed("-", sum).text(), "-(a + b)");
  EXPECT_EQ(operation(prefixed("~", "a"), "&", "b").text(), "~a & b");
  EXPECT_EQ(code("f({}, {})", sum, "c").text(), "f(a + b, c)");
  EXPECT_EQ(code("{}.size", operand(sum)).text(), "(a + b).size");
}

TEST(KernelCode, TestsAreJoinedAsPythonJoinsThem) {
  const Code less = operation("a", "<", "b"), either = choice("t", "p", "q");
  EXPECT_EQ(all_of({less, "c"}, true).text(), "a < b && c");
  EXPECT_EQ(all_of({all_of({less, "c"}, true), "d"}, false).text(), "(a < b && c) || d");
  EXPECT_EQ(all_of({either, "d"}, true).text(), "(t ? p : q) && d");
  EXPECT_EQ(choice(either, "x", either).text(), "(t ? p : q) ? x : (t ? p : q)");
  EXPECT_EQ(all_of({less}, true).text(), "a < b");
}

TEST(KernelCode, APatternHasPlacesAndBraces) {
  EXPECT_EQ(code("{0} = {1} + {0};", "x", 3).text(), "x = 3 + x;");
  EXPECT_EQ(code("if ({}) {{", "x").text(), "if (x) {");
  EXPECT_EQ(row_code("g<{R}>({0})", {"x", "double"}).text(), "g<double>(x)");
  EXPECT_EQ((Code("a") + ", " + "b").text(), "a, b");
  EXPECT_TRUE(Code("").empty());
  EXPECT_TRUE(Code("x").is_name("x"));
  EXPECT_FALSE(operation("x", "+", "y").is_name("x + y"));
}

TEST(KernelCode, FactsComeFromWhatIsNamed) {
  EXPECT_FALSE(code("py::whole_modulo({}, {})", "a", "b").facts().has(kTakesTime));
  EXPECT_TRUE(code("py::whole_modulo({}, {})", "a", "b").facts().has(kLibrary));
  EXPECT_TRUE(code("py::outer<double>({})", "a").facts().has(kTakesTime));
  EXPECT_TRUE(code("py::{}({})", "outer", "a").facts().has(kTakesTime));
  EXPECT_FALSE(code("py::{}({})", "least", "a").facts().has(kTakesTime));
  EXPECT_TRUE(code("{}.{}({})", "a", "extend", "b").facts().has(kTakesTime));
  EXPECT_TRUE(code("{}.copy()", "a").facts().has(kTakesTime));
  EXPECT_FALSE(code("{}.append({})", "a", "b").facts().has(kTakesTime));
  EXPECT_TRUE(code("for (;;) {}", "x").facts().has(kLoops));
  // A variable's name says nothing, whatever it is.
  EXPECT_FALSE(code("{} = {};", "while_", "local1").facts().has(kLoops | kThreadArray | kTakesTime));
}

TEST(KernelCode, FactsOfAWholeAreThoseOfItsParts) {
  const Mention call{Mention::Kind::call, 16}, jump{Mention::Kind::jump, 2}, table{Mention::Kind::table, 0};
  const Code f = code("{}({})", Code("f").with(Facts(call)), Code("t").with(Facts(table)));
  const Code whole = choice(operation(f, "<", "1"), code("py::outer({})", "x"), "y");
  EXPECT_TRUE(whole.facts().names(call));
  EXPECT_TRUE(whole.facts().names(table));
  EXPECT_FALSE(whole.facts().names(jump));
  EXPECT_TRUE(whole.facts().has(kTakesTime));
  ASSERT_EQ(whole.facts().calls().size(), 1u);

  Block inner;
  inner.line(2, code("{};", whole));
  inner.line(2, code("goto {};", "except_2").with(Facts(jump)));
  Block outer;
  outer.line(1, "{");
  outer += inner;
  outer.line(1, Code("__syncthreads();").with(Facts(kBarrier)));
  EXPECT_TRUE(outer.facts().names(jump));
  EXPECT_TRUE(outer.facts().names(call));
  EXPECT_TRUE(outer.facts().has(kBarrier));
  EXPECT_TRUE(code("[&] {{\n{}}}", outer).facts().names(jump));
}

TEST(KernelCode, StatementsThatRaiseAreTold) {
  Block inner;
  inner.line(2, Code("failure = 1;").with(kActs));
  inner.line(2, Code("return;").with(kActs | kLibrary));
  const Block raising = inner.raising();
  EXPECT_EQ(raising.text(), inner.text());
  EXPECT_TRUE(raising.facts().has(kRaises));
  EXPECT_TRUE(raising.facts().has(kLibrary));
  EXPECT_FALSE(raising.facts().has(kActs));
}

TEST(KernelCode, ABlockIsPrintedAndCut) {
  Block b;
  b.line(1, "a();");
  b.line(1, code("for (;;) {{"));
  b.line(2, "b();");
  b.line(1, "}");
  EXPECT_EQ(b.text(), "  a();\n  for (;;) {\n    b();\n  }\n");
  const Block rest = b.cut(1);
  EXPECT_EQ(b.text(), "  a();\n");
  EXPECT_EQ(rest.size(), 3u);
  EXPECT_FALSE(b.facts().has(kLoops));
  EXPECT_TRUE(rest.facts().has(kLoops));
  EXPECT_EQ(Code(rest).text(), rest.text());
}

}  // namespace
}  // namespace bc::kernels
