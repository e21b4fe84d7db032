// What users read where the C++ compiler refuses printed text.
#include <gtest/gtest.h>

#include "core/error.h"
#include "kernels/compile.h"

namespace bc::kernels {
namespace {

const std::string kText = "namespace bc {\n  // y = x + 1\n  double y = x + 1;\n  // z = f(y)\n  double z = f<>(y);\n}\n";
const std::map<std::string, SourcePlace> kPlaces = {{"y = x + 1", {"a.py", 2, "g", {}}}, {"z = f(y)", {"a.py", 3, "g", {"b.py:7, in h"}}}};

TEST(RefusedText, NamesTheLineOfPython) {
  for (const char* words : {"bc_g.cpp:5:14: error: no matching function", "bc_g.cpp(5): error: no instance of function"}) {
    const Error e = refused_text(Error(ErrorKind::Compile, words), kText, "bc_g.cpp", kPlaces);
    const std::string message = e.what();
    EXPECT_EQ(e.kind(), ErrorKind::Typing);
    EXPECT_NE(message.find("a.py:3, in g\n    z = f(y)"), message.npos) << message;
    EXPECT_NE(message.find("called at b.py:7, in h"), message.npos) << message;
    EXPECT_EQ(message.find("error: no"), message.npos) << message;
  }
}

TEST(RefusedText, SaysSoWhereNoLineIsNamed) {
  const Error e = refused_text(Error(ErrorKind::Compile, "fatal error: too many errors"), kText, "bc_g.cpp", kPlaces);
  EXPECT_NE(std::string(e.what()).find("please report it"), std::string::npos);
  EXPECT_EQ(std::string(e.what()).find("a.py"), std::string::npos);
}

TEST(RefusedText, LeavesOtherErrorsAsTheyAre) {
  const Error e = refused_text(Error(ErrorKind::Memory, "no memory"), kText, "bc_g.cpp", kPlaces);
  EXPECT_EQ(e.kind(), ErrorKind::Memory);
  EXPECT_STREQ(e.what(), "no memory");
}

}  // namespace
}  // namespace bc::kernels
