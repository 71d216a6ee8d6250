# SPDX-License-Identifier: Apache-2.0
#
# One Debian package of all that is installed, by `cpack -G DEB` in a build with the prefix /usr; tools/release makes it.
# What it depends on is read out of the binaries; what the tool opens late does not stand there.

# An address that cannot exist: who publishes the package sets the one that answers (docs/releasing.md).
set(NIGH_CONTACT "nigh maintainers <maintainers@nigh.invalid>" CACHE STRING "maintainer of the Debian package: Name <mail>")

set(CPACK_PACKAGE_NAME nigh)
set(CPACK_PACKAGE_VENDOR "The nigh contributors")
set(CPACK_PACKAGE_CONTACT "${NIGH_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "find documents that are nearly the same")
set(CPACK_PACKAGE_DESCRIPTION
    "nigh removes near-copies from a corpus, tells which new documents you have already, and finds the documents nearest
to a text or a signature. This package has the tool with its manual pages and completions, the C library and its
headers.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION text)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
list(FILTER late_packages INCLUDE REGEX microhttpd) # nigh's shared library itself brings the others
list(JOIN late_packages ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
