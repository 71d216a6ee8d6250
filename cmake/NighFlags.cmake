# SPDX-License-Identifier: Apache-2.0
#
# How everything here is compiled: one interface library, nigh_flags, that every
# target links and none exports.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(nigh_flags INTERFACE)

target_compile_options(nigh_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
        -Wold-style-definition -Wvla -Wundef -Wformat=2 -Wpointer-arith -Wcast-qual -Wwrite-strings -Wdate-time>
    # Sums of doubles are the same on CPUs that could fuse a product and a sum, and on those that cannot.
    -ffp-contract=off
    # No path of the machine it was built on in any binary.
    -ffile-prefix-map=${PROJECT_BINARY_DIR}=build
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
if(NIGH_WERROR)
    target_compile_options(nigh_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()

if(NIGH_SANITIZE)
    target_compile_options(nigh_flags INTERFACE
        -fsanitize=${NIGH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
    target_link_options(nigh_flags INTERFACE -fsanitize=${NIGH_SANITIZE})
else()
    target_compile_options(nigh_flags INTERFACE -fstack-protector-strong
        $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>
        $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=2>)
    if(NOT APPLE)
        target_link_options(nigh_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
    endif()
endif()

if(NIGH_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "NIGH_FUZZ needs clang; use the preset 'fuzz'")
    endif()
    # Coverage hooks everywhere; the main function of libFuzzer only in the targets of tests/fuzz.
    target_compile_options(nigh_flags INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(nigh_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(NIGH_COVERAGE)
    target_compile_options(nigh_flags INTERFACE --coverage)
    target_link_options(nigh_flags INTERFACE --coverage)
endif()
