# SPDX-License-Identifier: Apache-2.0
#
# Libraries that the tool opens when it first calls them; see cli/late/late.h.

cmake_dependent_option(NIGH_LATE "the tool opens libarchive, libmicrohttpd and those of learning when it first needs them" ON
                       "CMAKE_SYSTEM_NAME STREQUAL Linux" OFF)

# The name by which the loader finds a shared library; empty where it is none, or where nothing can read it.
function(name_for_loader library result)
    set(${result} "" PARENT_SCOPE)
    if(CMAKE_OBJDUMP AND EXISTS "${library}" AND library MATCHES "\\.so")
        execute_process(COMMAND ${CMAKE_OBJDUMP} -p "${library}" OUTPUT_VARIABLE headers ERROR_QUIET)
        if(headers MATCHES "SONAME +([^\n ]+)")
            set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
        endif()
    endif()
endfunction()

# open_late(TARGET NAME LIBRARY HEADERS): the target gets the functions of late_NAME.c, which open the library.  The
# Debian package of the library, named after its version by Debian's rule, joins late_packages.
function(open_late target name library headers)
    name_for_loader("${library}" loaded)
    if(NOT NIGH_LATE OR NOT loaded)
        return()
    endif()
    string(TOUPPER ${name} upper)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cli/late/late_${name}.c"
                                     "${PROJECT_SOURCE_DIR}/cli/late/late.c")
    target_include_directories(${target} SYSTEM PRIVATE ${headers})
    target_compile_definitions(${target} PRIVATE "LATE_LIB${upper}=\"${loaded}\"")
    target_link_options(${target} PRIVATE -Wl,--as-needed) # nothing but the namesakes asks for it
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    message(STATUS "The tool opens ${loaded} when it needs it")
    string(REGEX REPLACE "\\.so\\." "" package "${loaded}")
    set(late_packages ${late_packages} ${package} PARENT_SCOPE)
endfunction()
