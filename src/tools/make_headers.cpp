// Precompiles the device library for the CPU's compiler when broadcloth is built: make_headers FOLDER.
#include <cstdio>
#include <exception>

#include "backends/cpu/jit_library.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "make_headers: expected a folder\n");
    return 2;
  }
  try {
    bc::cpu::JitLibrary::get().write_headers(argv[1]);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "make_headers: %s\n", e.what());
    return 1;
  }
}
