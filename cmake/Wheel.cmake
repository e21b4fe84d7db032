# What a wheel holds beside python/broadcloth (component wheel), and what C++ programs are given (component cpp).
add_custom_target(wheel_parts DEPENDS broadcloth_core _broadcloth)
install(TARGETS broadcloth_core _broadcloth LIBRARY DESTINATION broadcloth COMPONENT wheel)
if(TARGET broadcloth_jit)
  install(TARGETS broadcloth_jit LIBRARY DESTINATION broadcloth COMPONENT wheel)
  add_dependencies(wheel_parts broadcloth_jit)
endif()
if(TARGET headers)
  install(DIRECTORY "${PACKAGE_DIR}/headers" DESTINATION broadcloth COMPONENT wheel)
  add_dependencies(wheel_parts headers)
endif()

# Common array kernels, compiled for several GPUs by the NVRTC of the build's Python (it needs no GPU); without one there are none.
set(kernels_stamp "${CMAKE_BINARY_DIR}/generated/kernels.stamp")
add_custom_command(
  OUTPUT "${kernels_stamp}"
  COMMAND ${CMAKE_COMMAND} -E rm -rf "${PACKAGE_DIR}/kernels"
  COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${PACKAGE_DIR}/.." "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/scripts/warm_cache.py"
          "${PACKAGE_DIR}/kernels"
  COMMAND ${CMAKE_COMMAND} -E touch "${kernels_stamp}"
  DEPENDS broadcloth_core _broadcloth stage "${CMAKE_SOURCE_DIR}/scripts/warm_cache.py"
  COMMENT "Compiling common kernels for GPUs"
  VERBATIM)
add_custom_target(shipped_kernels DEPENDS "${kernels_stamp}")
add_dependencies(wheel_parts shipped_kernels)
install(DIRECTORY "${PACKAGE_DIR}/kernels" DESTINATION broadcloth COMPONENT wheel FILES_MATCHING PATTERN "*.bck")

# The engine opens OpenBLAS at run time, so no tool finds it by looking at what is linked. It goes beside the engine, under a soname of
# its own: another library of the process that asks for "libopenblas.so.0" must not be given this one.
find_library(OPENBLAS_LIBRARY NAMES openblas PATH_SUFFIXES openblas-pthread)
find_program(PATCHELF patchelf)
if(OPENBLAS_LIBRARY AND PATCHELF)
  file(REAL_PATH "${OPENBLAS_LIBRARY}" openblas_file)
  set(bundled_openblas "${CMAKE_BINARY_DIR}/bundled/libopenblas.so.0")
  add_custom_command(
    OUTPUT "${bundled_openblas}"
    COMMAND ${CMAKE_COMMAND} -E copy "${openblas_file}" "${bundled_openblas}"
    COMMAND ${PATCHELF} --set-soname libopenblas-broadcloth.so.0 "${bundled_openblas}"
    DEPENDS "${openblas_file}"
    VERBATIM)
  add_custom_target(bundled_openblas DEPENDS "${bundled_openblas}")
  add_dependencies(wheel_parts bundled_openblas)
  install(PROGRAMS "${bundled_openblas}" DESTINATION broadcloth COMPONENT wheel)
endif()

# The licences of what is inside, as the distribution keeps them.
foreach(package libopenblas0-pthread libfmt9 libzstd1 libgfortran5 llvm-19-dev)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    install(FILES "/usr/share/doc/${package}/copyright" DESTINATION broadcloth/licenses RENAME ${package}.txt COMPONENT wheel)
  endif()
endforeach()

# For C++ programs: cmake --install build --component cpp --prefix DIR
install(TARGETS broadcloth_core LIBRARY DESTINATION lib COMPONENT cpp)
install(DIRECTORY include/broadcloth DESTINATION include COMPONENT cpp)
