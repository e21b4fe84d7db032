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
install(DIRECTORY "${PACKAGE_DIR}/kernels" DESTINATION broadcloth COMPONENT wheel FILES_MATCHING PATTERN "kernels.pack")

# No tool finds OpenBLAS by looking at what is linked: the engine opens it at run time.
install(PROGRAMS "${bundled_openblas}" DESTINATION broadcloth COMPONENT wheel)

# The licences of what is inside, where installers look: in the wheel's .dist-info, beside that of broadcloth itself.
set(licenses "${SKBUILD_METADATA_DIR}/licenses")
if(NOT SKBUILD_METADATA_DIR)
  set(licenses broadcloth/licenses)
endif()
if(EXISTS "${openblas_license}")
  install(FILES "${openblas_license}" DESTINATION "${licenses}" RENAME openblas.txt COMPONENT wheel)
endif()
install(FILES "${DUCC_LICENSE}" DESTINATION "${licenses}" RENAME ducc.txt COMPONENT wheel)
foreach(package fmt:libfmt-dev highway:libhwy-dev zstd:libzstd-dev zlib:zlib1g-dev xxhash:libxxhash-dev llvm:llvm-19-dev libstdc++:libstdc++6)
  string(REPLACE ":" ";" package "${package}")
  list(GET package 0 name)
  list(GET package 1 folder)
  if(EXISTS "/usr/share/doc/${folder}/copyright")
    install(FILES "/usr/share/doc/${folder}/copyright" DESTINATION "${licenses}" RENAME ${name}.txt COMPONENT wheel)
  endif()
endforeach()

# For C++ programs: cmake --install build --component cpp --prefix DIR, then find_package(broadcloth).
install(TARGETS broadcloth_core LIBRARY DESTINATION lib COMPONENT cpp)
install(PROGRAMS "${bundled_openblas}" DESTINATION lib COMPONENT cpp)
install(DIRECTORY include/broadcloth DESTINATION include COMPONENT cpp)
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/generated/broadcloth-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES cmake/broadcloth-config.cmake "${CMAKE_BINARY_DIR}/generated/broadcloth-config-version.cmake"
  DESTINATION lib/cmake/broadcloth COMPONENT cpp)
