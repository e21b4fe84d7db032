# The libraries that broadcloth_core is linked with, all packages of Debian and Ubuntu. OpenBLAS and CUDA's are opened at run time.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

# A header and a library that bring no CMake package with them everywhere.
function(broadcloth_find_library target header library)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  find_library(${target}_LIBRARY NAMES ${library} REQUIRED)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${${target}_INCLUDE}")
  target_link_libraries(${target} INTERFACE "${${target}_LIBRARY}")
endfunction()

broadcloth_find_library(zstd zstd.h zstd)

# XXH_INLINE_ALL puts xxHash into the caller; only its header is needed.
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
