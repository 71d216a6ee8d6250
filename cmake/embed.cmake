# SPDX-License-Identifier: Apache-2.0
#
# Writes a file of C with the bytes of some files: cmake -D FILES=... -D FOLDER=... -D OUTPUT=... -P embed.cmake

set(types html "text/html; charset=utf-8" css "text/css; charset=utf-8" js "text/javascript; charset=utf-8"
          svg "image/svg+xml" json "application/json")
set(code "/* Made of server/page/ by cmake/embed.cmake. */\n#include \"served_page.h\"\n")
set(table "")
foreach(file IN LISTS FILES)
    file(READ "${FOLDER}/${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes
                         "${bytes}")
    string(MAKE_C_IDENTIFIER "${file}" name)
    cmake_path(GET file EXTENSION LAST_ONLY extension)
    string(SUBSTRING "${extension}" 1 -1 extension)
    list(FIND types "${extension}" at)
    math(EXPR at "${at} + 1")
    list(GET types ${at} type)
    set(path "/${file}")
    if(file STREQUAL "page.html")
        set(path "/")
    endif()
    string(APPEND code "static const unsigned char ${name}[] = {\n${bytes}\n};\n")
    string(APPEND table "    {\"${path}\", \"${type}\", ${name}, sizeof ${name}},\n")
endforeach()
file(WRITE "${OUTPUT}" "${code}const struct serve_page_file serve_page_files[] = {\n${table}    {NULL, NULL, NULL, 0},\n};\n")
