# SPDX-License-Identifier: Apache-2.0
#
# Manual pages and completions come from the tool's own option tables, so the
# tool that was just built is asked for them.

set(manual_directory "${PROJECT_BINARY_DIR}/manual")
add_custom_command(
    OUTPUT "${manual_directory}/stamp"
    COMMAND ${CMAKE_COMMAND} -D TOOL=$<TARGET_FILE:nigh_tool> -D DIRECTORY=${manual_directory}
            -P ${PROJECT_SOURCE_DIR}/cmake/write-manuals.cmake
    DEPENDS nigh_tool "${PROJECT_SOURCE_DIR}/cmake/write-manuals.cmake"
    COMMENT "Writing manual pages and completions"
    VERBATIM)
add_custom_target(nigh_manuals ALL DEPENDS "${manual_directory}/stamp")
