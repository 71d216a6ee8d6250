# SPDX-License-Identifier: Apache-2.0
#
# Script: asks TOOL for its manual pages and completions, into DIRECTORY.

function(ask file)
    execute_process(COMMAND ${TOOL} ${ARGN} OUTPUT_FILE ${DIRECTORY}/${file} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " arguments)
        message(FATAL_ERROR "nigh ${arguments} failed: ${result}")
    endif()
endfunction()

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY}/man1 ${DIRECTORY}/bash ${DIRECTORY}/zsh)

ask(commands commands)
ask(man1/nigh.1 manual)
file(STRINGS ${DIRECTORY}/commands commands)
foreach(command IN LISTS commands)
    ask(man1/nigh-${command}.1 manual ${command})
    ask(subcommands commands ${command})
    file(STRINGS ${DIRECTORY}/subcommands subcommands)
    foreach(subcommand IN LISTS subcommands)
        ask(man1/nigh-${command}-${subcommand}.1 manual ${command} ${subcommand})
    endforeach()
endforeach()
ask(bash/nigh completion bash)
ask(zsh/_nigh completion zsh)
file(TOUCH ${DIRECTORY}/stamp)
