# libbroadcloth.so: the engine, with every backend.
set(SRC "${CMAKE_SOURCE_DIR}/src")
set(core_globs)
foreach(folder core runtime primitives codegen graph array ops autograd kernels backends api)
  list(APPEND core_globs "${SRC}/${folder}/*.cpp")
endforeach()
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS ${core_globs})
list(FILTER core_sources EXCLUDE REGEX "/backends/cpu/(jit|fft)/")

# The device library as one string, for NVRTC and the embedded clang.
file(GLOB device_headers CONFIGURE_DEPENDS "${SRC}/device/*.h" "${SRC}/device/special/*.h")
set(device_library "${CMAKE_BINARY_DIR}/generated/device_library.cpp")
add_custom_command(
  OUTPUT "${device_library}"
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py" "${SRC}/device/device.h" "${device_library}"
  DEPENDS ${device_headers} "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py"
  COMMENT "Embedding src/device"
  VERBATIM)

# The names that users' C++ functions call, another string.
file(GLOB user_headers CONFIGURE_DEPENDS "${SRC}/device/user/*.h")
set(user_library "${CMAKE_BINARY_DIR}/generated/user_library.cpp")
add_custom_command(
  OUTPUT "${user_library}"
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py" "${SRC}/device/user/names.h" "${user_library}" kUserNames
  DEPENDS ${user_headers} "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py"
  COMMENT "Embedding src/device/user"
  VERBATIM)

# The kernels of NumPy's random streams, another string.
set(pcg_streams "${CMAKE_BINARY_DIR}/generated/pcg_streams.cpp")
add_custom_command(
  OUTPUT "${pcg_streams}"
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py" "${SRC}/device/random/pcg_streams.h" "${pcg_streams}" kPcgStreams
  DEPENDS "${SRC}/device/random/pcg_streams.h" "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py"
  COMMENT "Embedding src/device/random"
  VERBATIM)

# CUDA C++'s own names for kernels on the CPU, another string.
file(GLOB cuda_headers CONFIGURE_DEPENDS "${SRC}/device/cuda/*.h")
set(cuda_library "${CMAKE_BINARY_DIR}/generated/cuda_library.cpp")
add_custom_command(
  OUTPUT "${cuda_library}"
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py" "${SRC}/device/cuda/cuda.h" "${cuda_library}" kCudaLibrary
  DEPENDS ${cuda_headers} "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py"
  COMMENT "Embedding src/device/cuda"
  VERBATIM)

# Headers that kernels may include: CUB's, Thrust's, CuPy's.
file(GLOB_RECURSE cuda_includes CONFIGURE_DEPENDS "${SRC}/device/cuda/include/*")
set(cuda_headers_library "${CMAKE_BINARY_DIR}/generated/cuda_headers.cpp")
add_custom_command(
  OUTPUT "${cuda_headers_library}"
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/embed_cuda_headers.py" "${SRC}/device/cuda/include" "${cuda_headers_library}"
  DEPENDS ${cuda_includes} "${CMAKE_SOURCE_DIR}/cmake/embed_cuda_headers.py" "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py"
  COMMENT "Embedding src/device/cuda/include"
  VERBATIM)

# What printed Python functions need besides: a string for each header.
file(GLOB python_headers CONFIGURE_DEPENDS "${SRC}/device/python/*.h")
set(python_library "${CMAKE_BINARY_DIR}/generated/python_library.cpp")
add_custom_command(
  OUTPUT "${python_library}"
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/embed_python_headers.py" "${SRC}/device/python" "${python_library}"
  DEPENDS ${python_headers} "${CMAKE_SOURCE_DIR}/cmake/embed_python_headers.py" "${CMAKE_SOURCE_DIR}/cmake/embed_device_library.py"
  COMMENT "Embedding src/device/python"
  VERBATIM)

# The rare functions of the device library as an object that the CPU's kernels are loaded beside. Flags as for tier 0: the same bits.
set(cpu_support "${CMAKE_BINARY_DIR}/generated/cpu_support")
file(CONFIGURE OUTPUT "${cpu_support}.cpp" CONTENT "#define BC_CPU_SUPPORT 1\n#include \"device/device.h\"\n")
add_custom_command(
  OUTPUT "${cpu_support}.o"
  COMMAND "${CMAKE_CXX_COMPILER}" -std=gnu++20 -O3 -mavx2 -mfma -mf16c -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC -fno-exceptions
          -fno-rtti -fno-asynchronous-unwind-tables -fno-stack-protector -fcf-protection=none -w "-I${SRC}" -c "${cpu_support}.cpp" -o "${cpu_support}.o"
  DEPENDS ${device_headers} "${cpu_support}.cpp"
  COMMENT "Compiling the rare functions of src/device"
  VERBATIM)
set_source_files_properties("${SRC}/backends/cpu/support_object.cpp" PROPERTIES
  OBJECT_DEPENDS "${cpu_support}.o" COMPILE_DEFINITIONS "BC_CPU_SUPPORT_OBJECT=\"${cpu_support}.o\"")

add_library(broadcloth_core SHARED ${core_sources} "${device_library}" "${user_library}" "${pcg_streams}" "${cuda_library}" "${cuda_headers_library}" "${python_library}")
set_target_properties(broadcloth_core PROPERTIES
  OUTPUT_NAME broadcloth
  LIBRARY_OUTPUT_DIRECTORY "${PACKAGE_DIR}"
  INSTALL_RPATH "$ORIGIN")
target_include_directories(broadcloth_core PUBLIC "${SRC}" "${CMAKE_SOURCE_DIR}/include" PRIVATE "${CMAKE_SOURCE_DIR}")
target_include_directories(broadcloth_core SYSTEM PUBLIC "${XXHASH_INCLUDE}")
target_compile_definitions(broadcloth_core PUBLIC BC_VERSION="${PROJECT_VERSION}")
target_link_libraries(broadcloth_core PUBLIC fmt::fmt PRIVATE zstd hwy_contrib hwy Threads::Threads ${CMAKE_DL_LIBS})

# The engine's own symbols are seen by the extension and the tests and by nobody else (broadcloth.map); inside, calls go straight.
target_compile_options(broadcloth_core PRIVATE -fvisibility-inlines-hidden -fno-semantic-interposition)
target_link_options(broadcloth_core PRIVATE
  -Wl,-Bsymbolic-functions -Wl,--gc-sections "-Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/broadcloth.map")
set_property(TARGET broadcloth_core APPEND PROPERTY LINK_DEPENDS "${CMAKE_SOURCE_DIR}/cmake/broadcloth.map")

broadcloth_portable(broadcloth_core hypot hypotf _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)

include("${CMAKE_SOURCE_DIR}/cmake/Ducc.cmake")
broadcloth_add_fft(broadcloth_core)

# Loops over elements that only move, compare, count, convert or are multiplied and added are worth vectorising. Without the rest of -O3,
# which copies loops for special cases of strides and conditions, the code is a quarter shorter.
set(vectorised_options -O2 -ftree-vectorize -fvect-cost-model=dynamic)
set_source_files_properties("${SRC}/backends/cpu/library_sort.cpp" "${SRC}/backends/cpu/linalg_functions.cpp"
  PROPERTIES COMPILE_OPTIONS "${vectorised_options}")
set_source_files_properties("${SRC}/backends/cpu/sort_keys.cpp" "${SRC}/backends/cpu/sort_split.cpp"
  "${SRC}/backends/cpu/sparse_products.cpp" "${SRC}/ops/pcg_stream.cpp"
  PROPERTIES COMPILE_OPTIONS "-O3")
# GCC 12 warns of its own AVX-512 header.
set_source_files_properties("${SRC}/ops/pcg_words.cpp" "${SRC}/backends/cpu/sparse_rows.cpp"
  PROPERTIES COMPILE_OPTIONS "-O3;-Wno-maybe-uninitialized")

# The folds of special functions, which few programs use, are a copy with options of its own.
set(special_folds "${CMAKE_BINARY_DIR}/generated/fold_loops_special.cpp")
file(CONFIGURE OUTPUT "${special_folds}" CONTENT "#define BC_SPECIAL_FOLDS\n#include \"backends/cpu/fold_loops.cpp\"\n")
set_source_files_properties("${special_folds}" PROPERTIES COMPILE_OPTIONS "-Os")
target_sources(broadcloth_core PRIVATE "${special_folds}")

# Small code, for the wheel's size, of the tables of the compiler of Python functions and of what few functions need.
if(CMAKE_BUILD_TYPE MATCHES "Rel")
  foreach(name library rows kernel_signature linked refused errors texts records random complex_calls vectors host_foreign
      host_functions generators classes host containers builtins builtin_calls arrays statements expressions calls unit exceptions
      characters times types)
    set_source_files_properties("${SRC}/kernels/${name}.cpp" PROPERTIES COMPILE_OPTIONS "-Os")
  endforeach()
  # Rules of derivatives record a few ops each: their size is most of what they cost.
  foreach(name derivatives linalg_rules library_rules tracing fft_rules sparse_rules)
    set_source_files_properties("${SRC}/autograd/${name}.cpp" PROPERTIES COMPILE_OPTIONS "-Os")
  endforeach()
  # So do the bodies of library ops on a GPU, which print a kernel and launch it, and the C++ interface.
  foreach(name linalg sparse fft select scatter sort scan look_back kernels)
    set_source_files_properties("${SRC}/backends/cuda/library_${name}.cpp" PROPERTIES COMPILE_OPTIONS "-Os")
  endforeach()
  file(GLOB API "${SRC}/api/*.cpp")
  set_source_files_properties(${API} PROPERTIES COMPILE_OPTIONS "-Os")
  # These call LAPACK for each of four types.
  set_source_files_properties("${SRC}/backends/cpu/library_linalg.cpp" PROPERTIES COMPILE_OPTIONS "-Os")
endif()

# Tier 0: loops that the host compiler vectorises for x86-64-v3 (every x86-64 processor with AVX2), and those that compute much for
# x86-64-v4 too.
file(GLOB tier0_sources CONFIGURE_DEPENDS "${SRC}/codegen/tier0/*.cpp")
if(tier0_sources)
  set(tier0_options -O3 -mavx2 -mfma -mf16c -ffp-contract=off -fno-math-errno -fno-trapping-math)
  set_source_files_properties(${tier0_sources} PROPERTIES COMPILE_OPTIONS "${tier0_options}" COMPILE_DEFINITIONS BC_TIER0_LEVEL=v3)
  # All of -O3 makes the loops of these longer, not faster.
  foreach(name loops_choice loops_logic loops_parts loops_special)
    set_property(SOURCE "${SRC}/codegen/tier0/${name}.cpp" APPEND PROPERTY COMPILE_OPTIONS ${vectorised_options})
  endforeach()
  set(tier0_wide_sources ${tier0_sources})
  list(FILTER tier0_wide_sources INCLUDE REGEX "loops_(remainder|exponential|trigonometric|hyperbolic).cpp$")
  # Copies, since a source has one set of options in a project's folder.
  foreach(source ${tier0_wide_sources})
    get_filename_component(name "${source}" NAME_WE)
    set(wide "${CMAKE_BINARY_DIR}/generated/tier0/${name}_v4.cpp")
    file(CONFIGURE OUTPUT "${wide}" CONTENT "#include \"codegen/tier0/${name}.cpp\"\n")
    set_source_files_properties("${wide}" PROPERTIES COMPILE_DEFINITIONS BC_TIER0_LEVEL=v4 COMPILE_OPTIONS
      "${tier0_options};-mavx512f;-mavx512bw;-mavx512cd;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
    target_sources(broadcloth_core PRIVATE "${wide}")
  endforeach()
endif()

# OpenBLAS lies beside the engine, in the build as in a wheel. Its soname is its own: another library of the process that asks for
# "libscipy_openblas.so" must not be given this one, which runs on one thread. A wheel's has no frames (0.5 MB), as nothing throws through C.
set(bundled_openblas "${PACKAGE_DIR}/libbroadcloth_openblas.so")
set(openblas_without)
if(SKBUILD)
  set(openblas_without COMMAND "${CMAKE_OBJCOPY}" --remove-section=.eh_frame --remove-section=.eh_frame_hdr "${bundled_openblas}.part")
endif()
add_custom_command(
  OUTPUT "${bundled_openblas}"
  COMMAND ${CMAKE_COMMAND} -E copy "${openblas_file}" "${bundled_openblas}.part"
  COMMAND "${PATCHELF}" --set-soname libbroadcloth_openblas.so "${bundled_openblas}.part"
  ${openblas_without}
  COMMAND ${CMAKE_COMMAND} -E rename "${bundled_openblas}.part" "${bundled_openblas}"
  DEPENDS "${openblas_file}"
  COMMENT "Copying OpenBLAS beside the engine"
  VERBATIM)
add_custom_target(bundled_openblas DEPENDS "${bundled_openblas}")
add_dependencies(broadcloth_core bundled_openblas)
