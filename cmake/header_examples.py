"""Makes a C++ test of every example in the public headers: header_examples.py HEADER... OUTPUT.

An example stands between @code and @endcode in a comment. Its assert() checks in every build."""

from __future__ import annotations

import re
import sys
from pathlib import Path

START = """// Made by cmake/header_examples.py from the examples in the public headers.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

{includes}
namespace bw = broadcloth;

namespace {{

/// Whether the elements of x, which may be complex with imaginary parts of zero, are these numbers to 7 digits.
bool near(const bw::array& x, const std::vector<double>& values) {{
  if (x.type() == bw::dtype::complex64 || x.type() == bw::dtype::complex128)
    return near(bw::apply("real", {{x}}), values) && near(bw::apply("imag", {{x}}), std::vector<double>(values.size()));
  const std::vector<double> found = x.to_vector<double>();
  if (found.size() != values.size()) return false;
  for (size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(found[i] - values[i]) <= 1e-7 * std::abs(values[i]) + 1e-13)) return false;
  return true;
}}

}}  // namespace

#undef assert
#define assert(...) EXPECT_TRUE((__VA_ARGS__))
"""


def examples(header: Path) -> list[tuple[int, str]]:
    """The examples of a header with their lines."""
    found, text, inside = [], header.read_text(), False
    for number, line in enumerate(text.splitlines(), 1):
        whole = re.search(r"@code (.*) @endcode", line)
        if whole:
            found.append((number, whole[1] + "\n"))
        elif "@code" in line:
            inside, begin, lines = True, number, []
        elif "@endcode" in line:
            inside = False
            found.append((begin, "".join(lines)))
        elif inside:
            lines.append(re.sub(r"^\s*/// ?", "", line) + "\n")
    if inside:
        sys.exit(f"{header}: an @code without @endcode")
    return found


def main() -> None:
    *headers, output = (Path(name) for name in sys.argv[1:])
    parts = [START.format(includes="".join(f"#include <broadcloth/{h.name}>\n" for h in headers))]
    for header in headers:
        name = header.stem.capitalize()
        for number, body in examples(header):
            parts.append(f'\n#line {number} "{header}"\nTEST({name}Examples, Line{number}) {{\nbw::set_default_device("cpu");\n{body}}}\n')
    output.write_text("".join(parts))


if __name__ == "__main__":
    main()
