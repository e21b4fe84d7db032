# _broadcloth.abi3.so: one file for CPython 3.11 and every later one (the limited API), and the folder that Python imports from. Free-threaded
# interpreters have no limited API before 3.15: for one of those the file is its own (_broadcloth.cpython-313t-x86_64-linux-gnu.so).
execute_process(
  COMMAND "${Python_EXECUTABLE}" -S -E -c "import sysconfig; print(int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"
  OUTPUT_VARIABLE BROADCLOTH_FREE_THREADED OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(GLOB bind_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/bind/*.cpp")
# Conversions around work that takes much longer: their size is most of what they cost.
if(CMAKE_BUILD_TYPE MATCHES "Rel")
  foreach(name autograd linalg csgraph texture cuda_memory compiled_texts profiler)
    set_source_files_properties("${CMAKE_SOURCE_DIR}/src/bind/${name}.cpp" PROPERTIES COMPILE_OPTIONS "-Os")
  endforeach()
endif()
Python_add_library(_broadcloth MODULE ${bind_sources})
if(BROADCLOTH_FREE_THREADED)
  set(bind_suffix ".${Python_SOABI}.so")
else()
  set(bind_suffix ".abi3.so")
  target_compile_definitions(_broadcloth PRIVATE Py_LIMITED_API=0x030B0000)
endif()
target_link_libraries(_broadcloth PRIVATE broadcloth_core)
broadcloth_portable(_broadcloth hypot _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
# The same build switches as the core: nothing may differ in what a header of the core gives.
target_compile_options(_broadcloth PRIVATE -fvisibility-inlines-hidden)
target_link_options(_broadcloth PRIVATE -Wl,--gc-sections "-Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/bind.map")
set_target_properties(_broadcloth PROPERTIES
  PREFIX "" SUFFIX "${bind_suffix}"
  LIBRARY_OUTPUT_DIRECTORY "${PACKAGE_DIR}"
  BUILD_RPATH_USE_ORIGIN ON
  INSTALL_RPATH "$ORIGIN")
if(NOT BROADCLOTH_SANITIZE)
  # Python's own symbols come from the interpreter.
  target_link_options(_broadcloth PRIVATE -Wl,-z,undefs)
endif()

# build/python/broadcloth holds links to the files of python/broadcloth beside the libraries, so that an edit is seen at once.
add_custom_target(stage ALL
  COMMAND "${Python_EXECUTABLE}" -S -E "${CMAKE_SOURCE_DIR}/cmake/stage.py" "${CMAKE_SOURCE_DIR}/python/broadcloth" "${PACKAGE_DIR}"
  COMMENT "Linking python/broadcloth into the build"
  VERBATIM)
