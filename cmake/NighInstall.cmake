# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where.

include(CMakePackageConfigHelpers)
set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/nigh")

# simdjson makes the static library need the runtime of C++, which the linker of a C program does not bring along.
set(cxx_runtime "")
foreach(candidate IN ITEMS stdc++ c++)
    if(candidate IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
        set(cxx_runtime ${candidate})
    endif()
endforeach()
target_link_libraries(nigh_static INTERFACE $<INSTALL_INTERFACE:${cxx_runtime}>)

install(TARGETS nigh_static nigh_shared EXPORT nigh)
install(FILES include/nigh.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/nigh DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

install(EXPORT nigh NAMESPACE nigh:: FILE nigh-targets.cmake DESTINATION ${package_directory})
configure_package_config_file(cmake/nigh-config.cmake.in nigh-config.cmake INSTALL_DESTINATION ${package_directory})
# Before 1.0 a minor version may break its callers.
write_basic_package_version_file(nigh-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/nigh-config.cmake" "${PROJECT_BINARY_DIR}/nigh-config-version.cmake"
              cmake/FindxxHash.cmake cmake/FindStemmer.cmake cmake/FindLBFGS.cmake cmake/FindARPACK.cmake
        DESTINATION ${package_directory})

# The prefix is found from where nigh.pc lies, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")

# What libnigh.a needs is listed by name rather than by package: libstemmer has no package file, and that of libarchive
# names, for static linking, libraries which Debian does not install with it.
set(pc_private_libraries "-larchive -lxml2 -lsimdjson -lz -lutf8proc -lstemmer -lxxhash -llbfgs -larpack")
# Which LAPACK and BLAS there are differs from one system to the next.
foreach(library IN LISTS LAPACK_LIBRARIES)
    get_filename_component(name "${library}" NAME_WE)
    if(name MATCHES "^lib(.+)$")
        string(APPEND pc_private_libraries " -l${CMAKE_MATCH_1}")
    endif()
endforeach()
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
