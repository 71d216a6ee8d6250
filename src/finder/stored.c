/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What tables are to a collection: a file beside a segment, whether it is what it should be, and what is told of it. */
#include "finder/stored.h"

#include <stddef.h>
#include <string.h>

#include "base/guard.h"
#include "base/status.h"
#include "base/threads.h"
#include "collection/collection.h"

#define MAX_ROTATIONS 3u

/* ------------------------------------------------------------------------- facts -- */

struct nigh__tables_plan nigh__stored_tables_plan(const struct nigh__stored_facts *facts) {
    return (struct nigh__tables_plan){
        .blocks = facts->blocks, .leading = facts->leading, .index_bits = facts->index_bits};
}

struct nigh__sorted_plan nigh__stored_sorted_plan(const struct nigh__stored_facts *facts) {
    return (struct nigh__sorted_plan){
        .prefix_bits = facts->index_bits, .probes = facts->probes, .rotations = facts->tables};
}

uint64_t nigh__stored_table_bytes(const struct nigh__stored_facts *facts, uint64_t rows, uint32_t width_bits) {
    const struct nigh__sorted_plan sorted = nigh__stored_sorted_plan(facts);
    const uint64_t words = facts->form == NIGH__STORED_SORTED ? nigh__sorted_layout_of(rows, width_bits, &sorted).words
                                                              : nigh__tables_layout_of(rows, facts->index_bits).words;
    return words * sizeof(uint32_t);
}

static nigh_status facts_lie(const struct nigh__sidecar *sidecar, size_t at, const char *why, nigh_error *error) {
    return nigh__sidecar_corrupt(sidecar, NIGH__SECTION_TABLE_FACTS, at, 1, why, error);
}

#define AT(field) offsetof(struct nigh__stored_facts, field)

static nigh_status check_permuted(const struct nigh__segment *segment, const struct nigh__sidecar *sidecar,
                                  const struct nigh__stored_facts *facts, nigh_error *error) {
    if (!nigh__tables_possible(segment->width_bits, facts->blocks, facts->leading))
        return facts_lie(sidecar, AT(blocks), "blocks that make no tables", error);
    if (facts->tables != nigh__tables_count(facts->blocks, facts->leading))
        return facts_lie(sidecar, AT(tables), "not as many tables as there are choices of blocks", error);
    if (facts->radius != facts->blocks - facts->leading)
        return facts_lie(sidecar, AT(radius), "another radius than the blocks guarantee", error);
    if (facts->index_bits >
        nigh__tables_index_bits(NIGH__MAX_DOCUMENTS, segment->width_bits, facts->blocks, facts->leading))
        return facts_lie(sidecar, AT(index_bits), "an index of more bits than the leading blocks have", error);
    if (facts->probes != 0) return facts_lie(sidecar, AT(probes), "probes of permuted tables", error);
    return NIGH_OK;
}

static nigh_status check_sorted(const struct nigh__segment *segment, const struct nigh__sidecar *sidecar,
                                const struct nigh__stored_facts *facts, nigh_error *error) {
    if (facts->tables == 0 || facts->tables > MAX_ROTATIONS)
        return facts_lie(sidecar, AT(tables), "more sorted tables than there can be, or none", error);
    if (facts->index_bits == 0 || facts->index_bits > NIGH__MAX_PREFIX_BITS || facts->index_bits > segment->width_bits)
        return facts_lie(sidecar, AT(index_bits), "a prefix of more bits than there can be, or none", error);
    if (facts->probes == 0 || facts->probes > NIGH__MAX_PROBES)
        return facts_lie(sidecar, AT(probes), "more probes than there can be, or none", error);
    if (facts->radius > segment->width_bits)
        return facts_lie(sidecar, AT(radius), "a radius of more bits than there are", error);
    if (facts->blocks != 0 || facts->leading != 0)
        return facts_lie(sidecar, AT(blocks), "blocks of sorted tables", error);
    return NIGH_OK;
}

static nigh_status check_facts(const struct nigh__segment *segment, const struct nigh__sidecar *sidecar,
                               const struct nigh__stored_facts *facts, nigh_error *error) {
    if (facts->form != NIGH__STORED_PERMUTED && facts->form != NIGH__STORED_SORTED)
        return facts_lie(sidecar, AT(form), "tables of a form that is not known", error);
    if (facts->zero != 0) return facts_lie(sidecar, AT(zero), "a byte is not zero", error);
    if (facts->tables != sidecar->header.parameter)
        return facts_lie(sidecar, AT(tables), "not as many tables as the header says", error);
    return facts->form == NIGH__STORED_SORTED ? check_sorted(segment, sidecar, facts, error)
                                              : check_permuted(segment, sidecar, facts, error);
}

#undef AT

nigh_status nigh__stored_of_segment(const struct nigh__segment *segment, struct nigh__stored *out, nigh_error *error) {
    const struct nigh__sidecar *sidecar = segment->sidecars[NIGH__SIDECAR_TABLES];
    struct nigh__stored stored = {.sidecar = sidecar};
    nigh_status status =
        nigh__sidecar_copy(sidecar, NIGH__SECTION_TABLE_FACTS, &stored.facts, sizeof stored.facts, error);
    if (status == NIGH_OK) status = check_facts(segment, sidecar, &stored.facts, error);
    if (status != NIGH_OK) return status;
    const uint64_t bytes = nigh__stored_table_bytes(&stored.facts, segment->signatures, segment->width_bits);
    stored.words = nigh__sidecar_section(sidecar, NIGH__SECTION_TABLES, stored.facts.tables, (size_t)bytes, error);
    if (stored.words == NULL) return NIGH_ECORRUPT;
    *out = stored;
    return NIGH_OK;
}

/* ------------------------------------------------------------------------ making -- */

struct nigh__lookup_rows nigh__stored_rows(const struct nigh__segment *segment) {
    return (struct nigh__lookup_rows){.words_of_rows = segment->rows,
                                      .count = segment->signatures,
                                      .words = segment->words,
                                      .width_bits = segment->width_bits};
}

static nigh_status copy_rows(const struct nigh__segment *segment, uint64_t *out, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    memcpy(out, segment->rows, (size_t)segment->signatures * segment->words * sizeof *out);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

nigh_status nigh__stored_make(const struct nigh__segment *segment, const struct nigh__stored_facts *facts,
                              uint32_t threads, struct nigh__progress *progress, const struct nigh__table_sink *sink,
                              nigh_error *error) {
    const nigh_context *context = segment->context;
    struct nigh__lookup_rows rows = nigh__stored_rows(segment);
    uint64_t *copy = nigh__alloc(context, (size_t)rows.count * rows.words, sizeof *copy);
    if (copy == NULL) return nigh__no_memory(error, "for the signatures of a segment");
    rows.words_of_rows = copy;
    nigh_status status = copy_rows(segment, copy, error);
    if (status == NIGH_OK && facts->form == NIGH__STORED_SORTED) {
        const struct nigh__sorted_plan plan = nigh__stored_sorted_plan(facts);
        status = nigh__sorted_make(context, &rows, &plan, threads, progress, sink, error);
    } else if (status == NIGH_OK) {
        const struct nigh__tables_plan plan = nigh__stored_tables_plan(facts);
        status = nigh__tables_make(context, &rows, &plan, nigh__threads_resolve(threads), progress, sink, error);
    }
    nigh__free(context, copy);
    return status;
}

/* ---------------------------------------------------------------- the collection -- */

static nigh_status compare_add(void *user, const uint8_t *bytes, size_t length, nigh_error *error) {
    return nigh__sidecar_compare(user, bytes, length, error);
}

/* Every number follows from the rows, so they are made anew and compared. */
static nigh_status check(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    struct nigh__stored stored;
    const nigh_status status = nigh__stored_of_segment(segment, &stored, error);
    if (status != NIGH_OK) return status;
    struct nigh__sidecar_comparison comparison = {.sidecar = stored.sidecar,
                                                  .type = NIGH__SECTION_TABLES,
                                                  .held = (const uint8_t *)stored.words,
                                                  .why = "a table does not match the signatures"};
    const struct nigh__table_sink sink = {.user = &comparison, .add = compare_add};
    return nigh__stored_make(segment, &stored.facts, 1, progress, &sink, error);
}

static nigh_status fits(const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__stored stored;
    return nigh__stored_of_segment(segment, &stored, error);
}

static void describe_segment(const struct nigh__segment *segment, nigh_segment_info *info) {
    struct nigh__stored stored;
    if (segment->sidecars[NIGH__SIDECAR_TABLES] == NULL || nigh__stored_of_segment(segment, &stored, NULL) != NIGH_OK)
        return;
    info->table_bytes = stored.sidecar->length;
    info->tables = stored.facts.tables;
    info->table_form = stored.facts.form == NIGH__STORED_SORTED ? NIGH_TABLES_SORTED : NIGH_TABLES_PERMUTED;
    info->table_radius = stored.facts.radius;
    info->table_probes = stored.facts.probes;
}

static void describe(const nigh_collection *collection, nigh_collection_info *info) {
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        nigh_segment_info own = {.size = sizeof own};
        if (segment->sidecar_problems[NIGH__SIDECAR_TABLES].status != NIGH_OK) info->damaged_tables++;
        describe_segment(segment, &own);
        info->table_segments += own.tables != 0;
        info->table_bytes += own.table_bytes;
    }
}

const struct nigh__sidecar_kind nigh__tables_sidecar = {.number = NIGH__SIDECAR_TABLES,
                                                        .prefix = "tables-",
                                                        .title = "tables",
                                                        .fits = fits,
                                                        .check = check,
                                                        .parameter_like = nigh__tables_parameter_like,
                                                        .write_like = nigh__tables_write_like,
                                                        .describe = describe,
                                                        .describe_segment = describe_segment};
