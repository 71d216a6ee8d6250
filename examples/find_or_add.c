/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Have I this already?": find_or_add FOLDER.nigh DOCUMENTS, as often as there is news.  Says of each document which
 * one it is a near-copy of, and adds the others, all in one commit.
 */
#include <nigh.h>
#include <stdio.h>

static void show(const nigh_against *against) {
    nigh_against_document document = {.size = sizeof document};
    for (uint64_t i = 0; nigh_against_at(against, i, &document) == NIGH_OK; i++) {
        char id[256] = "an earlier one of these";
        size_t length;
        if (document.there_count > 0)
            (void)nigh_collection_id(nigh_against_collection(against), document.there[0].document, id, sizeof id,
                                     &length, NULL);
        printf("%.*s is %s%s\n", (int)document.id_length, document.id, document.unmatched ? "new" : "near ",
               document.unmatched ? "" : id);
    }
}

static nigh_status find_or_add(nigh_context *context, const char *path, const char *input, nigh_error *error) {
    nigh_against *against = NULL;
    nigh_against_options options;
    nigh_against_options_init(&options);
    options.add = 1; /* and makes the collection where there is none */
    nigh_status status = nigh_against_open(context, path, &options, &against, error);
    if (status == NIGH_OK) status = nigh_against_take_paths(against, &input, 1, NULL, error);
    if (status == NIGH_OK) status = nigh_against_compare(against, error);
    if (status == NIGH_OK) status = nigh_against_add(against, error);
    if (status == NIGH_OK) status = nigh_against_commit(against, NULL, error);
    if (status == NIGH_OK) show(against);
    nigh_against_close(against);
    return status;
}

int main(int count, char **arguments) {
    nigh_context *context = NULL;
    nigh_error error = {.status = NIGH_EINVAL, .why = "usage: find_or_add FOLDER.nigh DOCUMENTS"};
    nigh_status status = count == 3 ? nigh_context_new(NULL, &context, &error) : NIGH_EINVAL;
    if (status == NIGH_OK) status = find_or_add(context, arguments[1], arguments[2], &error);
    if (status != NIGH_OK) fprintf(stderr, "%s\n", error.why);
    nigh_context_free(context);
    return status == NIGH_OK ? 0 : 2;
}
