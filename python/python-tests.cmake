# SPDX-License-Identifier: Apache-2.0
#
# Tests of the Python package: as a wheel in an environment of its own, with what PyPI has; and on what the system's
# Python has alone.  Downloading takes its time, once.
if(NIGH_SANITIZE OR NIGH_COVERAGE OR NOT TARGET nigh_core)
    return()
endif()
set(tester "${PROJECT_SOURCE_DIR}/tools/test-python")
set(requirements "${PROJECT_SOURCE_DIR}/python/requirements")
register(python.plain quick "${tester}" plain "${PROJECT_BINARY_DIR}")
register(python.wheel quick "${tester}" wheel "${PROJECT_BINARY_DIR}" "${requirements}-build.txt"
         "${requirements}-test.txt")
register(python.more full "${tester}" wheel "${PROJECT_BINARY_DIR}" "${requirements}-build.txt"
         "${requirements}-test.txt" "${requirements}-more.txt")
set_tests_properties(python.plain python.wheel python.more PROPERTIES RESOURCE_LOCK python_package TIMEOUT 900)
set_property(TEST python.plain python.wheel python.more APPEND PROPERTY ENVIRONMENT "PYTHON=${Python_EXECUTABLE}")
