# SPDX-License-Identifier: Apache-2.0
#
# Finds liblbfgs (limited-memory BFGS in double precision) and defines LBFGS::lbfgs.  Installed beside nigh's own
# package files, since who links the static library needs it too.

find_path(LBFGS_INCLUDE_DIR lbfgs.h)
find_library(LBFGS_LIBRARY lbfgs)
mark_as_advanced(LBFGS_INCLUDE_DIR LBFGS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LBFGS REQUIRED_VARS LBFGS_LIBRARY LBFGS_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "(Debian: liblbfgs-dev)")

if(LBFGS_FOUND AND NOT TARGET LBFGS::lbfgs)
    add_library(LBFGS::lbfgs UNKNOWN IMPORTED)
    set_target_properties(LBFGS::lbfgs PROPERTIES
        IMPORTED_LOCATION "${LBFGS_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${LBFGS_INCLUDE_DIR}")
endif()
