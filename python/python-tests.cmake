# SPDX-License-Identifier: Apache-2.0
#
# Tests of the Python package: as a wheel in an environment of its own, with what PyPI has; on what the system's
# Python has alone; and in the full tier with more libraries, with very many cases and calls, and the extension under
# ASan and UBSan.  The long tier tries the wheel on a bare Debian.  Downloading takes its time, once.
if(NIGH_COVERAGE OR NOT TARGET nigh_core)
    return()
endif()
set(tester "${PROJECT_SOURCE_DIR}/tools/test-python")
set(requirements "${PROJECT_SOURCE_DIR}/python/requirements")
set(usual "${PROJECT_BINARY_DIR}" "${requirements}-build.txt" "${requirements}-test.txt")
if(NIGH_SANITIZE)
    register(python.sanitized full "${tester}" sanitized ${usual})
    set(python_tests python.sanitized)
else()
    register(python.plain quick "${tester}" plain "${PROJECT_BINARY_DIR}")
    register(python.wheel quick "${tester}" wheel ${usual})
    register(python.more full "${tester}" wheel ${usual} "${requirements}-more.txt")
    register(python.cases full "${tester}" cases ${usual})
    register(python.spark quick "${tester}" spark ${usual} "${requirements}-spark.txt")
    register(python.spark_cluster full "${tester}" spark_cluster ${usual} "${requirements}-spark.txt")
    register(python.bare long "${PROJECT_SOURCE_DIR}/tools/test-bare-wheel" ${usual})
    set(python_tests python.plain python.wheel python.more python.cases python.spark python.spark_cluster
        python.bare)
endif()
set_tests_properties(${python_tests} PROPERTIES RESOURCE_LOCK python_package TIMEOUT 1800)
if(TEST python.cases)
    set_tests_properties(python.cases PROPERTIES TIMEOUT 5400)
endif()
set_property(TEST ${python_tests} APPEND PROPERTY ENVIRONMENT "PYTHON=${Python_EXECUTABLE}")
