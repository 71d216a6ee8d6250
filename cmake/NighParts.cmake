# SPDX-License-Identifier: Apache-2.0
#
# Which parts the library is built with, the sources of each, and what each needs of other projects.  The core is
# always there: collections, search and near-duplicates of signatures.  A part that is left out is stood in for by its
# file in src/absent/, whose functions say so, so that every build has the same functions.
#
# Sets library_sources, library_needs (targets to link), parts (their names), parts_built (those that are there) and
# part_definitions, which src/parts.c is compiled with.

include(CMakeDependentOption)

option(NIGH_DOCUMENTS "documents and texts: reading, signing, vocabularies, deduplication of documents" ON)
cmake_dependent_option(NIGH_LEARNING "learning models from labelled documents" ON NIGH_DOCUMENTS OFF)
cmake_dependent_option(NIGH_TERMS "term signature files" ON NIGH_DOCUMENTS OFF)
cmake_dependent_option(NIGH_EVALUATION "measuring how good signatures and searches are" ON NIGH_DOCUMENTS OFF)
set(parts documents learning terms evaluation)

# Whole folders of src/ ...
set(folders_core base kernel collection scan sketch columns slices graph finder search join)
set(folders_documents document text stages live)
set(folders_learning learn)
set(folders_terms terms)
set(folders_evaluation eval)

# ... and three that are shared between the core and documents: what is not named here is of documents.
set(core_of_signature band_keys default_radius detect floats formats generate lines reader_bin reader_hex reader_npy
                      reader_topsig signature_reader signature_writer thresholds thresholds_measure)
set(core_of_dedup bands candidates candidates_distance cluster compare complete crowd_lists crowds dedup gathered keep
                  likeness order pair_limit same sets there_find verify)
set(core_of_corpus against against_copies against_add against_compare against_take incoming match_store)

# Option structs are set up in every build: FOLDER_options.c is of the core.
set(setting_up "_options\\.c$")

# Of evaluation, what measures another part goes with it.
set(evaluation_of_learning "/eval/learned[a-z_]*\\.c$")
set(evaluation_of_terms "/eval/filters[a-z_]*\\.c$")

# The sources in a folder of src/.
function(sources_of_folder folder result)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*.c"
                                        "${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp")
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# The sources of a part, or of the core.
function(sources_of_part part result)
    set(all "")
    foreach(folder IN LISTS folders_${part})
        sources_of_folder(${folder} sources)
        list(APPEND all ${sources})
    endforeach()
    foreach(folder IN ITEMS signature dedup corpus)
        sources_of_folder(${folder} sources)
        list(JOIN core_of_${folder} "|" names)
        if(part STREQUAL "core")
            list(FILTER sources INCLUDE REGEX "/(${names})\\.c$")
        elseif(part STREQUAL "documents")
            list(FILTER sources EXCLUDE REGEX "/(${names})\\.c$")
        else()
            set(sources "")
        endif()
        list(APPEND all ${sources})
    endforeach()
    list(FILTER all EXCLUDE REGEX "${setting_up}")
    set(${result} ${all} PARENT_SCOPE)
endfunction()

file(GLOB library_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.c" "${PROJECT_SOURCE_DIR}/src/*/*_options.c")
sources_of_part(core sources)
list(APPEND library_sources ${sources})
set(parts_built "")
set(part_definitions "")
set(absent "${PROJECT_SOURCE_DIR}/src/absent/absent")
foreach(part IN LISTS parts)
    string(TOUPPER ${part} upper)
    if(NIGH_${upper})
        sources_of_part(${part} sources)
        list(APPEND library_sources ${sources})
        list(APPEND parts_built ${part})
        list(APPEND part_definitions NIGH__WITH_${upper}=1)
    else()
        list(APPEND library_sources ${absent}_${part}.c)
        list(APPEND part_definitions NIGH__WITH_${upper}=0)
    endif()
endforeach()
foreach(part IN ITEMS learning terms)
    string(TOUPPER ${part} upper)
    if(NOT NIGH_${upper} OR NOT NIGH_EVALUATION)
        list(FILTER library_sources EXCLUDE REGEX "${evaluation_of_${part}}")
        list(APPEND library_sources ${absent}_evaluation_of_${part}.c)
    endif()
endforeach()
list(JOIN parts_built " " built)
message(STATUS "Parts: core ${built}")

# ---------------------------------------------------------- other projects --

find_package(Threads REQUIRED)
find_package(xxHash REQUIRED)
set(library_needs Threads::Threads xxHash::xxhash m)
# What libnigh.a needs is listed by name for pkg-config rather than by package: libstemmer has no package file, and that
# of libarchive names, for static linking, libraries which Debian does not install with it.
set(pc_private_libraries "-lxxhash")
set(package_needs "find_dependency(Threads)" "find_dependency(xxHash)") # lines of nigh-config.cmake
set(package_finders cmake/FindxxHash.cmake)                              # installed beside it

if(NIGH_DOCUMENTS)
    enable_language(CXX) # for simdjson
    find_package(PkgConfig REQUIRED)
    find_package(LibArchive REQUIRED)
    find_package(simdjson REQUIRED)
    find_package(ZLIB REQUIRED)
    pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
    pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
    find_package(Stemmer REQUIRED)
    find_package(Csv REQUIRED)
    list(APPEND library_needs LibArchive::LibArchive simdjson::simdjson ZLIB::ZLIB PkgConfig::utf8proc
                              PkgConfig::zstd
                              Stemmer::stemmer Csv::csv)
    string(APPEND pc_private_libraries " -larchive -lsimdjson -lz -lutf8proc -lzstd -lstemmer -lcsv")
    list(APPEND package_needs "find_dependency(LibArchive)" "find_dependency(simdjson)"
                              "find_dependency(ZLIB)" "find_dependency(Stemmer)" "find_dependency(Csv)"
                              "find_dependency(PkgConfig)")
    list(APPEND package_finders cmake/FindStemmer.cmake cmake/FindCsv.cmake)
endif()
if(NIGH_LEARNING)
    find_package(LBFGS REQUIRED)
    find_package(ARPACK REQUIRED)
    find_package(LAPACK REQUIRED) # brings BLAS
    list(APPEND library_needs LBFGS::lbfgs ARPACK::arpack LAPACK::LAPACK)
    string(APPEND pc_private_libraries " -llbfgs -larpack")
    # Which LAPACK and BLAS there are differs from one system to the next.
    foreach(library IN LISTS LAPACK_LIBRARIES)
        get_filename_component(name "${library}" NAME_WE)
        if(name MATCHES "^lib(.+)$")
            string(APPEND pc_private_libraries " -l${CMAKE_MATCH_1}")
        endif()
    endforeach()
    list(APPEND package_needs "find_dependency(LBFGS)" "find_dependency(ARPACK)" "find_dependency(LAPACK)")
    list(APPEND package_finders cmake/FindLBFGS.cmake cmake/FindARPACK.cmake)
endif()
