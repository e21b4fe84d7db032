# Language, optimisation, ccache, linker and sanitizers, for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# -g1 keeps line numbers in backtraces at a tenth of the size of -g.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

# Fused and plain execution must give the same bits, so nothing contracts a * b + c unless the text says fma.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-psabi -Wno-comment)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Two build trees of one source share objects: the folder a file is compiled in is no part of the key.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

if(BROADCLOTH_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(BROADCLOTH_VERIFY)   # each plan's kernels are checked when it is made (codegen/verify.h)
endif()
if(BROADCLOTH_SANITIZE)
  add_compile_options(-fsanitize=${BROADCLOTH_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BROADCLOTH_SANITIZE})
  if(BROADCLOTH_SANITIZE MATCHES "undefined")
    # vptr needs type information of every base, which Python and LLVM do not give.
    add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endif()
else()
  add_link_options(-Wl,--no-undefined)
endif()
