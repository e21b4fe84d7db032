# find_package(broadcloth): the target broadcloth::broadcloth, from what `cmake --install build --component cpp --prefix DIR` put there.
get_filename_component(_broadcloth_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET broadcloth::broadcloth)
  add_library(broadcloth::broadcloth SHARED IMPORTED)
  set_target_properties(broadcloth::broadcloth PROPERTIES
    IMPORTED_LOCATION "${_broadcloth_prefix}/lib/libbroadcloth.so"
    IMPORTED_SONAME libbroadcloth.so
    INTERFACE_INCLUDE_DIRECTORIES "${_broadcloth_prefix}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
unset(_broadcloth_prefix)
