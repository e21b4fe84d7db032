"""Writes the headers of src/device/python as strings into a C++ file, each on its own: a compiled function gets those that it needs.

    embed_python_headers.py FOLDER OUTPUT.cpp

Their order is that of `#include`: a header comes after those that it includes.
"""

import os
import re
import sys

from embed_device_library import INCLUDE, literal, shrink


def main(folder: str, output: str) -> None:
    texts: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}

    def add(name: str) -> None:
        if name in texts:
            return
        lines = [f'#line 1 "python/{name}.h"']
        needs[name] = []
        with open(os.path.join(folder, name + ".h"), encoding="utf-8") as f:
            for line in f.read().splitlines():
                if m := INCLUDE.match(line):
                    if not m[1].startswith("../"):
                        needs[name].append(m[1].removesuffix(".h"))
                    line = ""
                elif re.match(r"\s*#\s*pragma\s+once", line):
                    line = ""
                lines.append(line.rstrip())
        for other in needs[name]:
            add(other)
        texts[name] = shrink(lines)

    for header in sorted(os.listdir(folder)):
        if header.endswith(".h"):
            add(header.removesuffix(".h"))
    rows = []
    for name, lines in texts.items():
        list_of = "".join(f'"{other}", ' for other in needs[name])
        text = "\n".join(lines) + "\n"
        rows.append(f'    {{"{name}", {{{list_of}}}, std::string_view({literal(text)})}},')
    source = f"""// Made by cmake/embed_python_headers.py from src/device/python; do not edit.
#include "kernels/python_library.h"

#include <string_view>
#include <vector>

namespace bc::kernels {{
namespace {{
struct Header {{
  const char* name;
  std::vector<const char*> needs;
  std::string_view text;
}};
}}  // namespace

std::string python_library(const std::set<std::string>& headers, const std::set<std::string>& present) {{
  static const auto& all = *new std::vector<Header>{{
{chr(10).join(rows)}
  }};
  std::set<std::string> wanted = headers;
  for (auto h = all.rbegin(); h != all.rend(); ++h)
    if (wanted.contains(h->name)) wanted.insert(h->needs.begin(), h->needs.end());
  std::string text;
  for (const Header& h : all)
    if (wanted.contains(h.name) && !present.contains(h.name)) text += h.text;
  return text + "#line 1 \\"kernel\\"\\n";
}}

}}  // namespace bc::kernels
"""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output, "w", encoding="utf-8") as f:
        f.write(source)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
