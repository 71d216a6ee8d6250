# SPDX-License-Identifier: Apache-2.0
#
# Finds libstemmer (Snowball) and defines Stemmer::stemmer.  Installed beside nigh's own package
# files, since who links the static library needs it too.

find_path(Stemmer_INCLUDE_DIR libstemmer.h)
find_library(Stemmer_LIBRARY stemmer)
mark_as_advanced(Stemmer_INCLUDE_DIR Stemmer_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Stemmer REQUIRED_VARS Stemmer_LIBRARY Stemmer_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "(Debian: libstemmer-dev)")

if(Stemmer_FOUND AND NOT TARGET Stemmer::stemmer)
    add_library(Stemmer::stemmer UNKNOWN IMPORTED)
    set_target_properties(Stemmer::stemmer PROPERTIES
        IMPORTED_LOCATION "${Stemmer_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Stemmer_INCLUDE_DIR}")
endif()
