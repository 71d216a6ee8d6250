/* SPDX-License-Identifier: Apache-2.0 */
/* The roof of the library: the context, which brings memory, files and CPU variant together, and the version. */
#include "nigh.h"

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/hamming.h"
#include "kernel/letters.h"
#include "kernel/near.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *nigh_version(void) {
    return TEXT(NIGH_VERSION_MAJOR) "." TEXT(NIGH_VERSION_MINOR) "." TEXT(NIGH_VERSION_PATCH);
}

nigh_status nigh_context_new(const nigh_context_options *options, nigh_context **out, nigh_error *error) {
    *out = NULL;
    nigh_context_options chosen = NIGH_CONTEXT_OPTIONS_INIT;
    nigh_status status = nigh__options_copy(&chosen, sizeof chosen, options, error);
    if (status != NIGH_OK) return status;
    if (chosen.allocator.allocate == NULL) chosen.allocator = nigh__allocator_libc;
    if (chosen.file_system == NULL) chosen.file_system = nigh_file_system_posix();
    if (chosen.file_system->size != sizeof(nigh_file_system))
        return nigh__fail(error, NIGH_EINVAL, "the table of files has another size than this library's");
    const struct nigh__hamming *hamming = nigh__hamming_choose(chosen.kernel);
    if (hamming == NULL)
        return nigh__fail(error, NIGH_EINVAL, "no kernel '%s' in this build, or not on this CPU", chosen.kernel);

    nigh_context *context = nigh__allocator_get(&chosen.allocator, sizeof *context, sizeof(void *));
    if (context == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a context");
    *context = (nigh_context){.allocator = chosen.allocator,
                              .files = chosen.file_system,
                              .hamming = hamming,
                              .letters = nigh__letters_choose(hamming->name),
                              .near = nigh__near_choose(hamming->name)};
    *out = context;
    return NIGH_OK;
}

void nigh_context_free(nigh_context *context) {
    if (context == NULL) return;
    nigh_allocator allocator = context->allocator;
    allocator.release(allocator.user, context);
}

const char *nigh_context_kernel(const nigh_context *context) { return context->hamming->name; }
