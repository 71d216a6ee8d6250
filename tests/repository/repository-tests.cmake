# SPDX-License-Identifier: Apache-2.0
#
# Tests of the tree itself and of what is built and installed, rather than of
# the code: layers, exported symbols, paths in binaries, the installed package.

set(tools "${PROJECT_SOURCE_DIR}/tools")
if(NIGH_DOCUMENTS)
    register(repository.examples quick "${CMAKE_CURRENT_SOURCE_DIR}/repository/check-examples"
             "${PROJECT_BINARY_DIR}/examples")
endif()
register(repository.layers quick "${tools}/check-layers" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
register(repository.layers_can_fail quick "${tools}/check-layers" --self-test)

# Sanitizers and coverage add symbols, paths and libraries of their own.
if(NOT NIGH_SANITIZE AND NOT NIGH_COVERAGE)
    register(repository.symbols quick "${tools}/check-symbols" $<TARGET_FILE:nigh_shared> $<TARGET_FILE:nigh_static>)
    register(repository.symbols_can_fail quick "${tools}/check-symbols" --self-test)
    if(CMAKE_BUILD_TYPE STREQUAL "Release" AND TARGET nigh_tool)
        register(repository.build_paths quick "${tools}/check-paths" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}"
                 $<TARGET_FILE:nigh_shared> $<TARGET_FILE:nigh_static> $<TARGET_FILE:nigh_tool>)
        register(repository.build_paths_can_fail quick "${tools}/check-paths" "${PROJECT_SOURCE_DIR}"
                 "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}/CMakeCache.txt")
        set_tests_properties(repository.build_paths_can_fail PROPERTIES WILL_FAIL TRUE)
    endif()
    register(repository.headers quick "${tools}/check-headers" "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:nigh_shared>)
    register(repository.headers_can_fail quick "${tools}/check-headers" --self-test)
    if(NIGH_DOCUMENTS AND NIGH_LEARNING AND NIGH_TERMS AND NIGH_EVALUATION)
        register(repository.smallest quick "${CMAKE_CURRENT_SOURCE_DIR}/repository/check-smallest")
        register(repository.smallest_tests full "${CMAKE_CURRENT_SOURCE_DIR}/repository/check-smallest"
                 "${CMAKE_CTEST_COMMAND}")
        set_tests_properties(repository.smallest repository.smallest_tests PROPERTIES PROCESSORS 2 TIMEOUT 1800)
    endif()
    register(repository.packages full "${tools}/test-bare-packages")
    set_tests_properties(repository.packages PROPERTIES PROCESSORS 2 TIMEOUT 7200)
    register(repository.install quick "${CMAKE_CURRENT_SOURCE_DIR}/repository/check-install")
    # Installing happens from the build folder; nothing else may be built in it meanwhile.
    set_tests_properties(repository.install PROPERTIES RUN_SERIAL TRUE)
endif()
