/* SPDX-License-Identifier: Apache-2.0 */
#include "late.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

_Noreturn static void give_up(const char *library) {
    const char *why = dlerror();
    fprintf(stderr, "nigh: cannot use %s: %s\n", library, why != NULL ? why : "no reason was given");
    exit(CLI_ERROR);
}

/* Two threads may both look: they find the same, and a library is opened once however often it is asked for. */
static void *look_up(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        give_up(library);
    }
    void *found = dlsym(handle, name);
    if (found == NULL) {
        give_up(library);
    }
    return found;
}

void (*late_function(const char *library, const char *name, _Atomic(void *) *known))(void) {
    void *found = atomic_load_explicit(known, memory_order_acquire);
    if (found == NULL) {
        found = look_up(library, name);
        atomic_store_explicit(known, found, memory_order_release);
    }
    void (*function)(void);
    memcpy(&function, &found, sizeof(function)); /* ISO C has no cast to a function */
    return function;
}
