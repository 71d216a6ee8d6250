/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph_asked.h"

#include <string.h>

#include "base/memory.h"

/* The first words of each plane. */
static void cut(uint64_t *out, const struct nigh__graph_query *query, uint32_t words, uint32_t first) {
    for (uint32_t p = 0; p < query->plane_count; p++)
        memcpy(out + (size_t)p * first, query->planes + (size_t)p * words, first * sizeof *out);
}

bool nigh__graph_asked_make(struct nigh__graph_asked *asked, const nigh_context *context,
                            const struct nigh__graph *graph, uint32_t words, const struct nigh__graph_query *query) {
    const struct nigh__graph_facts *facts = &graph->facts;
    asked->comparer.hamming = context->hamming;
    asked->query = query;
    asked->farthest = 64 * words;
    if (query->plane_count == 0) return true;
    const size_t room = (size_t)query->plane_count * (facts->sketch_words + facts->centre_words);
    if (asked->room < room) {
        nigh__free(context, asked->sketch);
        asked->sketch = nigh__alloc(context, room, sizeof *asked->sketch);
        asked->room = asked->sketch == NULL ? 0 : room;
        if (asked->sketch == NULL) return false;
    }
    asked->centre = asked->sketch + (size_t)query->plane_count * facts->sketch_words;
    cut(asked->sketch, query, words, facts->sketch_words);
    cut(asked->centre, query, words, facts->centre_words);
    struct nigh__ranking_sums all;
    struct nigh__ranking_sums sketch;
    nigh__planes_sum(query->planes, query->plane_count, words, &all);
    nigh__planes_sum(asked->sketch, query->plane_count, facts->sketch_words, &sketch);
    asked->part = nigh__graph_share(&all, &sketch);
    asked->farthest = all.whole;
    asked->comparer = nigh__row_comparer_of(context);
    return true;
}

void nigh__graph_asked_release(struct nigh__graph_asked *asked, const nigh_context *context) {
    nigh__free(context, asked->sketch);
    *asked = (struct nigh__graph_asked){0};
}

uint32_t nigh__graph_asked_rows(const struct nigh__graph_asked *asked, const uint64_t *rows, uint32_t count,
                                uint32_t words, uint32_t *distances) {
    const struct nigh__graph_query *query = asked->query;
    const struct nigh__asked own = {query->words, asked->centre, query->plane_count};
    return nigh__compare_rows(&asked->comparer, &own, rows, count, words, distances);
}
