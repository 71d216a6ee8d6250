/* SPDX-License-Identifier: Apache-2.0 */
#include "search_hints.h"

#define MANY_SIGNATURES 32768u /* as 'nigh index' has it */
#define LEAST_TABLE_BITS 32u
#define MOST_TABLE_BITS 128u
#define MOST_TABLE_RADIUS 7u /* of 64 bits, 8 tables of 8 bits: beyond, buckets are nearly all there is */

static void suggest_columns(struct cli_job *job, const nigh_collection *collection) {
    uint64_t without = 0;
    nigh_segment_info segment = {.size = sizeof segment};
    for (uint32_t s = 0; nigh_collection_segment(collection, s, &segment, NULL) == NIGH_OK; s++)
        if (segment.column_bytes == 0) without += segment.signatures;
    if (without >= MANY_SIGNATURES)
        cli_note(job, "texts are answered faster, and as exactly, by columns: 'nigh index %s --columns'",
                 job->operands[0]);
}

/* There are none, or those there are do not reach. */
static void suggest_tables(struct cli_job *job, const nigh_collection *collection, uint32_t radius) {
    uint64_t without = 0;
    uint32_t reach = NIGH_ALL;
    nigh_segment_info segment = {.size = sizeof segment};
    for (uint32_t s = 0; nigh_collection_segment(collection, s, &segment, NULL) == NIGH_OK; s++) {
        const bool permuted = segment.tables != 0 && segment.table_form == NIGH_TABLES_PERMUTED;
        if (permuted && segment.table_radius >= radius) continue;
        without += segment.signatures;
        if (permuted && segment.table_radius < reach) reach = segment.table_radius;
    }
    if (without < MANY_SIGNATURES || radius > MOST_TABLE_RADIUS) return;
    if (reach != NIGH_ALL)
        cli_note(job,
                 "the tables of '%s' find all within %u bits, so every document was compared: 'nigh index %s "
                 "--lists tables --radius %u' makes them reach",
                 job->operands[0], reach, job->operands[0], radius);
    else
        cli_note(job,
                 "what is within a few bits is found faster, and as exactly, by tables: 'nigh index %s --lists "
                 "tables --radius %u'",
                 job->operands[0], radius);
}

bool cli_search_hint(struct cli_job *job, const nigh_collection *collection, uint32_t width_bits,
                     const nigh_search_options *asked) {
    const bool ranked = asked->masks != NULL || asked->rank == NIGH_RANK_WEIGHTED;
    if (asked->method != NIGH_SEARCH_AUTO || (!ranked && asked->radius == NIGH_ALL)) return false;
    if (ranked)
        suggest_columns(job, collection);
    else if (width_bits >= LEAST_TABLE_BITS && width_bits <= MOST_TABLE_BITS)
        suggest_tables(job, collection, asked->radius);
    return true;
}

size_t cli_search_count_collections(const struct cli_job *job) {
    size_t count = 1;
    for (; count < job->operand_count; count++) {
        nigh_collection *collection = NULL;
        const nigh_status status = nigh_collection_open(job->context, job->operands[count], NULL, &collection, NULL);
        nigh_collection_close(collection);
        if (status != NIGH_OK && status != NIGH_ECORRUPT && status != NIGH_EVERSION) break;
    }
    return count;
}
