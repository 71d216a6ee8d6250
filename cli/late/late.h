/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that the tool opens when it first calls them.
 *
 * `nigh --version` needs neither libarchive nor libmicrohttpd, but these bring
 * others (GnuTLS); nor does a search need ARPACK, LAPACK and what Fortran
 * brings with them.  Opening them all took three quarters of the time the tool needs to
 * start.  So each of their functions that we call has a namesake here, which
 * the linker finds first: it opens the library, and calls the real one.
 *
 *     archive_read_new()  ->  cli/late/late_archive.c  ->  dlopen, dlsym  ->  libarchive.so.13
 *
 * Only the tool does this; programs that use the library are linked to these libraries as
 * usual.
 */
#ifndef NIGH_CLI_LATE_H
#define NIGH_CLI_LATE_H

#include <stdatomic.h>
#include <stddef.h>

/*
 * The address of a function; looked up once and kept in `known`.  Ends the program with
 * status 2 and a message where the library or the function is not there.
 */
void (*late_function(const char *library, const char *name, _Atomic(void *) *known))(void);

/* NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments bring theirs */
/* Defines a function by its namesake in a library: LATE(library, type, name, (parameters), (arguments)). */
#define LATE(library, type, name, parameters, arguments)                             \
    type name parameters {                                                           \
        static _Atomic(void *) known;                                                \
        return ((type(*) parameters)late_function(library, #name, &known))arguments; \
    }

#define LATE_VOID(library, name, parameters, arguments)                        \
    void name parameters {                                                     \
        static _Atomic(void *) known;                                          \
        ((void(*) parameters)late_function(library, #name, &known)) arguments; \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
