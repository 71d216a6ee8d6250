# SPDX-License-Identifier: Apache-2.0
#
# Finds ARPACK (a few eigenvectors of a large matrix) and defines ARPACK::arpack; only the library, for its Fortran
# names are declared in src/learn/fortran.h.  Installed beside nigh's own package files, since who links the static
# library needs it too.

find_library(ARPACK_LIBRARY arpack)
mark_as_advanced(ARPACK_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ARPACK REQUIRED_VARS ARPACK_LIBRARY
                                  REASON_FAILURE_MESSAGE "(Debian: libarpack2-dev)")

if(ARPACK_FOUND AND NOT TARGET ARPACK::arpack)
    add_library(ARPACK::arpack UNKNOWN IMPORTED)
    set_target_properties(ARPACK::arpack PROPERTIES IMPORTED_LOCATION "${ARPACK_LIBRARY}")
endif()
