/* SPDX-License-Identifier: Apache-2.0 */
/* Documents in, answers out: index_and_ask FOLDER.nigh DOCUMENTS TEXT */
#include <nigh.h>
#include <stdio.h>

static int show(void *user, size_t query, const nigh_match *match) {
    char id[256];
    size_t length;
    (void)query;
    if (nigh_collection_id(user, match->document, id, sizeof id, &length, NULL) != NIGH_OK) return 1;
    return printf("distance %u: %s\n", match->distance, id) < 0;
}

int main(int count, char **arguments) {
    nigh_context *context = NULL;
    nigh_collection *news = NULL;
    nigh_results *found = NULL;
    nigh_error error = {.why = "usage: index_and_ask FOLDER.nigh DOCUMENTS TEXT"};
    const char *inputs[] = {count == 4 ? arguments[2] : ""};
    const int done = count == 4 && nigh_context_new(NULL, &context, &error) == NIGH_OK &&
                     nigh_index_documents(context, arguments[1], inputs, 1, NULL, NULL, NULL, &error) == NIGH_OK &&
                     nigh_collection_open(context, arguments[1], NULL, &news, &error) == NIGH_OK &&
                     nigh_search_text(news, arguments[3], NULL, &found, &error) == NIGH_OK;
    if (done)
        nigh_results_each(found, show, news);
    else
        fprintf(stderr, "%s\n", error.why);
    nigh_results_free(found);
    nigh_collection_close(news);
    nigh_context_free(context);
    return done ? 0 : 2;
}
