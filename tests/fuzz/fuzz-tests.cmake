# SPDX-License-Identifier: Apache-2.0
#
# With NIGH_FUZZ each fuzz_NAME.c becomes a libFuzzer program that runs for
# FUZZ_SECONDS (60) in the full tier.  Without it the same file is linked to a
# main function that replays the seeds, so that they are tested with every
# compiler and sanitizer, always.

file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM program)
    string(REGEX REPLACE "^fuzz_" "" name ${program})
    parts_suffice(fuzz.${name} suffice)
    if(NOT suffice)
        continue()
    endif()
    set(seeds "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/seeds/${name}")
    add_executable(${program} ${source})
    target_link_libraries(${program} PRIVATE test_support)
    if(name STREQUAL "serve")
        target_link_libraries(${program} PRIVATE nigh_server)
    endif()
    if(NIGH_FUZZ)
        target_link_options(${program} PRIVATE -fsanitize=fuzzer)
        register(fuzz.${name} full "${PROJECT_SOURCE_DIR}/tools/fuzz-one" $<TARGET_FILE:${program}> "${seeds}")
    else()
        target_sources(${program} PRIVATE fuzz/replay_main.c)
        register(fuzz.${name} quick $<TARGET_FILE:${program}> "${seeds}")
    endif()
endforeach()
