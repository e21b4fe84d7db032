# broadcloth_portable(TARGET SYMBOL...): lets a library that is built on Debian 12 run with glibc 2.34 and libstdc++ of GCC 11 (RHEL 9, Ubuntu
# 22.04). References to the symbols go to src/tools/portable_symbols.cpp; what GCC 12 added to libgcc comes from its archive.
# scripts/check_wheel.py says when a new symbol needs the same.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT BROADCLOTH_SANITIZE)
  add_library(portable_symbols OBJECT "${CMAKE_SOURCE_DIR}/src/tools/portable_symbols.cpp")
  # What a library does not need goes with its section.
  target_compile_options(portable_symbols PRIVATE -ffunction-sections -Wno-missing-declarations)
endif()

function(broadcloth_portable target)
  if(NOT TARGET portable_symbols)
    return()
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:portable_symbols>)
  foreach(symbol ${ARGN})
    target_link_options(${target} PRIVATE LINKER:--wrap=${symbol})
  endforeach()
  target_link_libraries(${target} PRIVATE gcc)
endfunction()
