# DUCC's FFT, from the source package ducc0 of the Python package index. Its headers for FFTs may be used under the BSD licence or the GPL, as
# each says in its head; they are used under the BSD licence, and nothing else of the package is unpacked.
set(DUCC_VERSION 0.42.0)
set(DUCC_SHA256 4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef)
set(DUCC_SDIST "" CACHE FILEPATH "The source package ducc0-${DUCC_VERSION}.tar.gz; fetched by pip where it is not given")
set(ducc_headers fft/fft.h fft/fft1d_impl.h fft/fftnd_impl.h infra/aligned_array.h infra/error_handling.h infra/mav.h infra/misc_utils.h
  infra/simd.h infra/threading.h infra/useful_macros.h math/cmplx.h math/unity_roots.h)
set(DUCC_FOLDER "${CMAKE_BINARY_DIR}/ducc0-${DUCC_VERSION}")
set(DUCC_LICENSE "${DUCC_FOLDER}/license.txt")

function(broadcloth_unpack_ducc)
  set(sdist "${DUCC_SDIST}")
  if(NOT sdist)
    # Where every build folder of this user finds it again.
    if(DEFINED ENV{XDG_CACHE_HOME})
      set(cache "$ENV{XDG_CACHE_HOME}/broadcloth-build")
    else()
      set(cache "$ENV{HOME}/.cache/broadcloth-build")
    endif()
    set(sdist "${cache}/ducc0-${DUCC_VERSION}.tar.gz")
    if(EXISTS "${sdist}")
      file(SHA256 "${sdist}" found)
    endif()
    if(NOT found STREQUAL DUCC_SHA256)
      message(STATUS "Fetching ducc0 ${DUCC_VERSION}")
      execute_process(
        COMMAND "${Python_EXECUTABLE}" -m pip download --quiet --no-deps --no-binary ducc0 --dest "${cache}" "ducc0==${DUCC_VERSION}"
        RESULT_VARIABLE failed ERROR_VARIABLE problem)
      if(failed)
        message(FATAL_ERROR "ducc0 ${DUCC_VERSION} could not be fetched: ${problem}\nGive its source package by -DDUCC_SDIST=PATH")
      endif()
    endif()
  endif()
  file(SHA256 "${sdist}" found)
  if(NOT found STREQUAL DUCC_SHA256)
    message(FATAL_ERROR "${sdist} is not the source package of ducc0 ${DUCC_VERSION}: its SHA-256 is ${found}, not ${DUCC_SHA256}")
  endif()
  list(TRANSFORM ducc_headers PREPEND "ducc0-${DUCC_VERSION}/src/ducc0/" OUTPUT_VARIABLE members)
  file(ARCHIVE_EXTRACT INPUT "${sdist}" DESTINATION "${CMAKE_BINARY_DIR}" PATTERNS ${members})

  set(copyrights "")
  foreach(header ${ducc_headers})
    file(READ "${DUCC_FOLDER}/src/ducc0/${header}" text)
    if(NOT text MATCHES "SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-or-later")
      message(FATAL_ERROR "ducc0/${header} is not under the BSD licence")
    endif()
    string(REGEX MATCHALL "Copyright \\([Cc]\\)[^\n]*" lines "${text}")
    list(APPEND copyrights ${lines})
    if(text MATCHES "(All rights reserved\\..*ADVISED OF THE[ \n]POSSIBILITY OF SUCH[ \n]DAMAGE\\.)")
      set(terms "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES copyrights)
  list(JOIN copyrights "\n" copyrights)
  file(WRITE "${DUCC_LICENSE}" "The FFT of DUCC (ducc0 ${DUCC_VERSION}), used under the 3-clause BSD licence:\n\n${copyrights}\n\n${terms}\n")
endfunction()
if(NOT EXISTS "${DUCC_LICENSE}")
  broadcloth_unpack_ducc()
endif()

# broadcloth_add_fft(TARGET): one copy for each instruction set (BC_FFT_LEVEL); AVX-512 was no faster than AVX2. Templates of the C++ library that a copy instantiates with its
# instruction set must not serve other code, as the linker would have it: all symbols but the entry become local.
function(broadcloth_add_fft target)
  set(source "${CMAKE_SOURCE_DIR}/src/backends/cpu/fft/ducc.cpp")
  set(options_baseline "")
  set(options_v3 -mavx2 -mfma)
  foreach(level baseline v3)
    if(NOT level STREQUAL "baseline" AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      continue()
    endif()
    set(library fft_${level})
    add_library(${library} OBJECT "${source}")
    target_compile_definitions(${library} PRIVATE BC_FFT_LEVEL=${level})
    target_compile_options(${library} PRIVATE -O3 -g0 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fno-gnu-unique ${options_${level}})
    target_include_directories(${library} PRIVATE "${CMAKE_SOURCE_DIR}/src")
    target_include_directories(${library} SYSTEM PRIVATE "${DUCC_FOLDER}/src")
    if(BROADCLOTH_SANITIZE)
      # With their checks in it this library of templates compiles for a quarter of an hour and longer.
      target_compile_options(${library} PRIVATE -fno-sanitize=all)
    endif()
    set(object "${CMAKE_BINARY_DIR}/generated/${library}.o")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${CMAKE_LINKER}" -r --force-group-allocation "$<TARGET_OBJECTS:${library}>" -o "${object}.part"
      COMMAND "${CMAKE_OBJCOPY}" --keep-global-symbol=broadcloth_fft_${level} "${object}.part" "${object}"
      DEPENDS ${library} "$<TARGET_OBJECTS:${library}>"
      COMMENT "Hiding the symbols of ${library}"
      VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(${target} PRIVATE "${object}")
  endforeach()
endfunction()
