# SPDX-License-Identifier: Apache-2.0
#
# The comparison with peers from PyPI, with tiny sizes: what cannot be installed is skipped, counted and said.
if(NIGH_SANITIZE OR NIGH_COVERAGE OR NOT TARGET nigh_core)
    return()
endif()
register(bench.peers full "${PROJECT_SOURCE_DIR}/tools/bench-peers" "${PROJECT_BINARY_DIR}" --quick)
set_tests_properties(bench.peers PROPERTIES RESOURCE_LOCK python_package TIMEOUT 1800)
