/* SPDX-License-Identifier: Apache-2.0 */
/* The top of the library: the context, which brings memory, files and CPU variant together, and the version. */
#include "nigh.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/base_options.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/extensions.h"
#include "columns/columns.h"
#include "corpus/corpus_signer.h"
#include "document/text_codec.h"
#include "finder/stored.h"
#include "graph/graph.h"
#include "kernel/hamming.h"
#include "kernel/letters.h"
#include "kernel/near.h"
#include "kernel/offers.h"
#include "kernel/rows.h"
#include "kernel/scores.h"
#include "search/tuning.h"
#include "sketch/sketches.h"
#include "slices/slices.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *nigh_version(void) {
    return TEXT(NIGH_VERSION_MAJOR) "." TEXT(NIGH_VERSION_MINOR) "." TEXT(NIGH_VERSION_PATCH);
}

/* What each folder brings to a collection. */
static const struct nigh__extensions extensions = {
    .sidecars = {[NIGH__SIDECAR_SLICES] = &nigh__slices_sidecar,
                 [NIGH__SIDECAR_GRAPH] = &nigh__graph_sidecar,
                 [NIGH__SIDECAR_COLUMNS] = &nigh__columns_sidecar,
                 [NIGH__SIDECAR_TABLES] = &nigh__tables_sidecar},
    .extras = {&nigh__slices_scratch, &nigh__graph_scratch, &nigh__sketches_extra, &nigh__tuning_extra,
               &nigh__tuning_ranked_extra, &nigh__signers_extra},
    .codec = &nigh__text_codec,
};

/* Whether the table is of a version up to ours; the first one ended before `truncate`. */
static bool files_known(const nigh_file_system *files) {
    const size_t first = offsetof(nigh_file_system, truncate);
    return files->size == first || files->size == sizeof *files;
}

/* A shorter table is copied, so that what it does not have is NULL. */
static void files_set(nigh_context *context, const nigh_file_system *files) {
    context->files = files;
    if (files->size == sizeof *files) return;
    memcpy(&context->older_files, files, files->size);
    context->files = &context->older_files;
}

nigh_status nigh_context_new(const nigh_context_options *options, nigh_context **out, nigh_error *error) {
    *out = NULL;
    nigh_context_options chosen;
    nigh_status status = nigh__options_copy(&nigh__context_options_shape, &chosen, options, error);
    if (status != NIGH_OK) return status;
    if (chosen.allocator.allocate == NULL) chosen.allocator = nigh__allocator_libc;
    if (chosen.file_system == NULL) chosen.file_system = nigh_file_system_posix();
    if (!files_known(chosen.file_system))
        return nigh__fail(error, NIGH_EINVAL, "the table of files has another size than this library's");
    const struct nigh__hamming *hamming = nigh__hamming_choose(chosen.kernel);
    if (hamming == NULL)
        return nigh__fail(error, NIGH_EINVAL, "no kernel '%s' in this build, or not on this CPU", chosen.kernel);

    nigh_context *context = nigh__allocator_get(&chosen.allocator, sizeof *context, sizeof(void *));
    if (context == NULL) return nigh__no_memory(error, "for a context");
    *context = (nigh_context){.allocator = chosen.allocator,
                              .hamming = hamming,
                              .offers = nigh__offers_choose(hamming->name),
                              .letters = nigh__letters_choose(hamming->name),
                              .near = nigh__near_choose(hamming->name),
                              .scores = nigh__scores_choose(hamming->name),
                              .rows = nigh__rows_choose(hamming->name),
                              .extensions = &extensions};
    files_set(context, chosen.file_system);
    *out = context;
    return NIGH_OK;
}

void nigh_context_free(nigh_context *context) {
    if (context == NULL) return;
    nigh_allocator allocator = context->allocator;
    allocator.release(allocator.user, context);
}

const char *nigh_context_kernel(const nigh_context *context) { return context->hamming->name; }
