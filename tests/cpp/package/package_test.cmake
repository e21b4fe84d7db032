# Installs the C++ package, builds an example with it by find_package, and runs the example.
#   cmake -DBUILD=... -DEXAMPLE=... -DVERSION=... -DWORK=... -DCOMPILER=... -P package_test.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(REMOVE_RECURSE "${WORK}")
run(${CMAKE_COMMAND} --install "${BUILD}" --component cpp --prefix "${WORK}/prefix")
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DEXAMPLE=${EXAMPLE}"
    "-DVERSION=${VERSION}" "-DCMAKE_CXX_COMPILER=${COMPILER}")
run(${CMAKE_COMMAND} --build "${WORK}/build")
run(${CMAKE_COMMAND} -E env BROADCLOTH_DEVICE=cpu "${WORK}/build/program")
