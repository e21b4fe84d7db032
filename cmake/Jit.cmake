# libbroadcloth_jit.so: the CPU compiler. A library of its own, so that `import broadcloth` need not load it; its rules are beside its
# sources. BROADCLOTH_JIT=AUTO builds it where LLVM 19 is found; ON makes its absence an error (the wheel must hold it).
if(BROADCLOTH_JIT AND EXISTS "${CMAKE_SOURCE_DIR}/src/backends/cpu/jit/CMakeLists.txt")
  add_subdirectory(src/backends/cpu/jit)
  if(TARGET broadcloth_jit)
    set_target_properties(broadcloth_jit PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PACKAGE_DIR}" SKIP_BUILD_RPATH ON)
  elseif(NOT BROADCLOTH_JIT STREQUAL "AUTO")
    message(FATAL_ERROR "BROADCLOTH_JIT=${BROADCLOTH_JIT}: LLVM 19 was not found; install llvm-19-dev libclang-19-dev lld-19")
  endif()
endif()
