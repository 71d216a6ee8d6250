# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where.

include(CMakePackageConfigHelpers)
set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/nigh")

install(TARGETS nigh_static nigh_shared EXPORT nigh)
install(FILES include/nigh.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(EXPORT nigh NAMESPACE nigh:: FILE nigh-targets.cmake DESTINATION ${package_directory})
configure_package_config_file(cmake/nigh-config.cmake.in nigh-config.cmake INSTALL_DESTINATION ${package_directory})
# Before 1.0 a minor version may break its callers.
write_basic_package_version_file(nigh-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/nigh-config.cmake" "${PROJECT_BINARY_DIR}/nigh-config-version.cmake"
              cmake/FindxxHash.cmake
        DESTINATION ${package_directory})

# The prefix is found from where nigh.pc lies, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file(cmake/nigh.pc.in nigh.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/nigh.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET nigh_tool)
    install(TARGETS nigh_tool)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/man1/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES "${PROJECT_BINARY_DIR}/manual/bash/nigh"
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES "${PROJECT_BINARY_DIR}/manual/zsh/_nigh" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
