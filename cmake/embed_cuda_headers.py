"""Writes the headers below src/device/cuda/include as strings into a C++ file, each under the name that it is included with.

    embed_cuda_headers.py FOLDER OUTPUT.cpp
"""

import os
import sys

from embed_device_library import literal, shrink

SOURCE = """// Made by cmake/embed_cuda_headers.py from src/device/cuda/include; do not edit.
#include "codegen/device_library.h"

namespace bc {{
namespace {{
constexpr std::pair<const char*, const char*> kHeaders[] = {{
{rows}
}};
}}  // namespace

const std::span<const std::pair<const char*, const char*>> kCudaHeaders = kHeaders;

}}  // namespace bc
"""


def main(folder: str, output: str) -> None:
    rows = []
    for here, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            name = os.path.relpath(os.path.join(here, file), folder)
            with open(os.path.join(here, file), encoding="utf-8") as f:
                lines = [f'#line 1 "{name}"', *(line.rstrip() for line in f.read().splitlines())]
            # A file that serves under several names is read once.
            lines.insert(1, "#pragma once")
            text = literal("\n".join(shrink(lines)) + "\n")
            rows.append(f'    {{"{name}",\n{text}}},')
    source = SOURCE.format(rows="\n".join(rows))
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output, "w", encoding="utf-8") as f:
        f.write(source)


if __name__ == "__main__":
    main(*sys.argv[1:])
