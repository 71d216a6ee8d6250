/* SPDX-License-Identifier: Apache-2.0 */
#include "among.h"

#include <errno.h>
#include <stdlib.h>

#include "id_lines.h"

struct among {
    struct cli_job *job;
    const nigh_collection *collection;
    uint64_t *documents;
};

static nigh_status take_id(void *user, const char *id, size_t length) {
    const struct among *among = user;
    uint64_t document = 0;
    const nigh_status status = nigh_collection_find(among->collection, id, length, &document, &among->job->error);
    if (status == NIGH_OK) among->documents[document / 64] |= UINT64_C(1) << document % 64;
    return status;
}

/* The bitmap, which the caller frees. */
static nigh_status read_ids(struct cli_job *job, const char *path, const nigh_collection *collection, uint64_t **out) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    struct among among = {.job = job, .collection = collection};
    among.documents = calloc((size_t)(info.documents / 64) + 1, sizeof *among.documents);
    *out = among.documents;
    if (among.documents != NULL) return cli_id_lines(job, path, take_id, &among);
    cli_set_system_error(job, ENOMEM, path, "read");
    return NIGH_ENOMEM;
}

nigh_status cli_among_read(struct cli_job *job, const char *path, const char *where, const nigh_collection *collection,
                           nigh_filter **out) {
    nigh_search_options options;
    uint64_t *among = NULL;
    *out = NULL;
    if (path == NULL && where == NULL) return NIGH_OK;
    nigh_search_options_init(&options);
    nigh_status status = path == NULL ? NIGH_OK : read_ids(job, path, collection, &among);
    options.among = among;
    options.where = where;
    if (status == NIGH_OK) status = nigh_filter_new(collection, &options, out, &job->error);
    free(among);
    return status;
}
