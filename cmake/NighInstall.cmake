# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where.

include(CMakePackageConfigHelpers)
set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/nigh")

# simdjson makes the static library need the runtime of C++, which the linker of a C program does not bring along;
# without documents there is neither.
set(cxx_runtime "")
foreach(candidate IN ITEMS stdc++ c++)
    if(candidate IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
        set(cxx_runtime ${candidate})
    endif()
endforeach()
if(cxx_runtime)
    target_link_libraries(nigh_static INTERFACE $<INSTALL_INTERFACE:${cxx_runtime}>)
endif()

install(TARGETS nigh_static nigh_shared EXPORT nigh)
install(FILES include/nigh.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/nigh DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

install(EXPORT nigh NAMESPACE nigh:: FILE nigh-targets.cmake DESTINATION ${package_directory})
list(JOIN package_needs "\n" package_needs)
configure_package_config_file(cmake/nigh-config.cmake.in nigh-config.cmake INSTALL_DESTINATION ${package_directory})
# Before 1.0 a minor version may break its callers.
write_basic_package_version_file(nigh-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/nigh-config.cmake" "${PROJECT_BINARY_DIR}/nigh-config-version.cmake"
              ${package_finders}
        DESTINATION ${package_directory})

# The prefix is found from where nigh.pc lies, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")

string(APPEND pc_private_libraries " -lm -pthread")
if(cxx_runtime)
    string(APPEND pc_private_libraries " -l${cxx_runtime}")
endif()
configure_file(cmake/nigh.pc.in nigh.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/nigh.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET nigh_tool)
    install(TARGETS nigh_tool)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/manual/man1/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES "${PROJECT_BINARY_DIR}/manual/bash/nigh"
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES "${PROJECT_BINARY_DIR}/manual/zsh/_nigh" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

# Where Debian looks for the terms of a package.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
