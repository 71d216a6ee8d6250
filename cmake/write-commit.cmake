# SPDX-License-Identifier: Apache-2.0
#
# Writes OUTPUT, a C file that names the commit SOURCE is of: that of an archive, which git puts into commit.txt, or of
# the working tree; "with changes" where files that git knows have been changed.  It is left as it is where it says so
# already, so that nothing is compiled anew.

file(READ "${SOURCE}/cmake/commit.txt" commit)
string(STRIP "${commit}" commit)
if(commit MATCHES "Format")
    set(commit "unknown")
    execute_process(COMMAND git -C "${SOURCE}" rev-parse HEAD OUTPUT_VARIABLE head ERROR_QUIET RESULT_VARIABLE failed
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
        set(commit "${head}")
        execute_process(COMMAND git -C "${SOURCE}" diff-index --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
        if(changed)
            string(APPEND commit ", with changes")
        endif()
    endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
/* Written by cmake/write-commit.cmake. */
#include "built_commit.h"

const char cli_built_commit[] = "@commit@";
]] @ONLY)
