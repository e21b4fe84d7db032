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

# The device library precompiled, beside the compiler: a machine's first kernel does not wait for it.
if(TARGET broadcloth_jit AND NOT BROADCLOTH_SANITIZE)
  add_executable(make_headers src/tools/make_headers.cpp)
  target_link_libraries(make_headers PRIVATE broadcloth_core)
  set(headers_stamp "${CMAKE_BINARY_DIR}/generated/headers.stamp")
  add_custom_command(
    OUTPUT "${headers_stamp}"
    COMMAND ${CMAKE_COMMAND} -E rm -rf "${PACKAGE_DIR}/headers"
    COMMAND ${CMAKE_COMMAND} -E env "BROADCLOTH_JIT=$<TARGET_FILE:broadcloth_jit>" $<TARGET_FILE:make_headers> "${PACKAGE_DIR}/headers"
    COMMAND ${CMAKE_COMMAND} -E touch "${headers_stamp}"
    DEPENDS make_headers broadcloth_jit "${CMAKE_BINARY_DIR}/generated/device_library.cpp" "${CMAKE_BINARY_DIR}/generated/cuda_library.cpp"
    COMMENT "Precompiling the device library for the CPU's compiler"
    VERBATIM)
  add_custom_target(headers ALL DEPENDS "${headers_stamp}")
endif()
