/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes the tables of a collection. */
#include <string.h>

#include "base/progress.h"
#include "base/status.h"
#include "collection/sidecar_build.h"
#include "finder/finder_options.h"
#include "finder/recall.h"
#include "finder/stored.h"

#define MAX_ROTATIONS 3u
#define CROWD 4096u     /* rows of a bucket, on average: comparing their keys takes as long as two dozen look-ups */
#define MANY_TABLES 20u /* that are made unasked */
#define ROWS_OF_PREFIX_BITS 3u /* sorted: 8 to 15 rows of a prefix are a cache line or two, and offsets half a byte */

struct building {
    nigh_tables_options options;
    struct nigh__progress progress;
    struct nigh__stored_facts facts; /* of the segment that is decided on */
};

/* ----------------------------------------------------------------------- settings -- */

uint32_t nigh_tables_default_radius(uint32_t width_bits) {
    const uint32_t radius = (uint32_t)((uint64_t)width_bits * 3 / 64);
    return radius == 0 ? 1 : radius;
}

static uint32_t blocks_of(uint32_t radius, uint32_t leading) { return (radius == 0 ? 1 : radius) + leading; }

/* The fewest tables that guarantee a radius; more, of more leading blocks, only where buckets would be crowds. */
static uint32_t choose_leading(uint64_t rows, uint32_t width_bits, uint32_t radius) {
    uint32_t leading = 1;
    while (nigh__tables_possible(width_bits, blocks_of(radius, leading + 1), leading + 1) &&
           nigh__tables_count(blocks_of(radius, leading + 1), leading + 1) <= MANY_TABLES &&
           rows >> nigh__tables_index_bits(rows, width_bits, blocks_of(radius, leading), leading) > CROWD)
        leading++;
    return leading;
}

/* Blocks that are given, or as many as it takes. */
static nigh_status set_permuted(const nigh_tables_options *options, uint64_t rows, uint32_t width_bits, uint32_t radius,
                                struct nigh__stored_facts *out, nigh_error *error) {
    const uint32_t most = width_bits < NIGH__MAX_BLOCKS ? width_bits : NIGH__MAX_BLOCKS;
    if (options->blocks == 0 && radius >= most)
        return nigh__fail(error, NIGH_EINVAL, "tables of %u bits find all within %u bits at most, not %u", width_bits,
                          most - 1, radius);
    const uint32_t leading = options->blocks != 0 ? options->leading : choose_leading(rows, width_bits, radius);
    const uint32_t blocks = options->blocks != 0 ? options->blocks : blocks_of(radius, leading);
    if (!nigh__tables_possible(width_bits, blocks, leading))
        return nigh__fail(error, NIGH_EINVAL, "%u blocks with %u leading make no tables of signatures of %u bits",
                          blocks, leading, width_bits);
    if (options->radius != NIGH__UNSET && options->radius > blocks - leading)
        return nigh__fail(error, NIGH_EINVAL, "%u of %u blocks find all within %u bits, not %u", leading, blocks,
                          blocks - leading, options->radius);
    *out = (struct nigh__stored_facts){.form = NIGH__STORED_PERMUTED,
                                       .tables = nigh__tables_count(blocks, leading),
                                       .index_bits = nigh__tables_index_bits(rows, width_bits, blocks, leading),
                                       .radius = blocks - leading,
                                       .blocks = blocks,
                                       .leading = leading};
    return NIGH_OK;
}

static uint32_t prefix_of(uint64_t rows, uint32_t width_bits) {
    const uint32_t bits = nigh__sorted_prefix_bits(rows);
    const uint32_t fewer = bits > ROWS_OF_PREFIX_BITS + 1 ? bits - ROWS_OF_PREFIX_BITS : 1;
    return fewer < width_bits ? fewer : width_bits;
}

static nigh_status set_sorted(const nigh_tables_options *options, uint64_t rows, uint32_t width_bits, uint32_t radius,
                              struct nigh__stored_facts *out, nigh_error *error) {
    const uint32_t tables = options->rotations == 0 ? 1 : options->rotations;
    const uint32_t prefix = options->prefix_bits == 0 ? prefix_of(rows, width_bits) : options->prefix_bits;
    uint32_t probes = options->probes;
    if (tables > MAX_ROTATIONS || prefix > NIGH__MAX_PREFIX_BITS || prefix > width_bits || probes > NIGH__MAX_PROBES)
        return nigh__fail(error, NIGH_EINVAL, "%u prefix bits, %u probes and %u tables do not make sorted tables",
                          prefix, probes, tables);
    if (!(options->recall > 0 && options->recall < 1))
        return nigh__fail(error, NIGH_EINVAL, "a recall of %g: of sorted tables it is above 0 and below 1",
                          options->recall);
    if (probes == 0)
        probes = nigh__recall_probes(width_bits, radius, prefix, options->recall, tables, NIGH_WEAK_GAUSSIAN);
    if (probes == 0)
        return nigh__fail(error, NIGH_EINVAL, "a recall of %g at radius %u takes more than %u probes of %u bits",
                          options->recall, radius, NIGH__MAX_PROBES, prefix);
    *out = (struct nigh__stored_facts){
        .form = NIGH__STORED_SORTED, .tables = tables, .index_bits = prefix, .radius = radius, .probes = probes};
    return NIGH_OK;
}

/* What tables of so many rows are, by the options. */
static nigh_status set_facts(const nigh_tables_options *options, uint64_t rows, uint32_t width_bits,
                             struct nigh__stored_facts *out, nigh_error *error) {
    const uint32_t radius = options->radius == NIGH__UNSET ? nigh_tables_default_radius(width_bits) : options->radius;
    if (options->form == NIGH_TABLES_SORTED) return set_sorted(options, rows, width_bits, radius, out, error);
    if (options->form == NIGH_TABLES_PERMUTED) return set_permuted(options, rows, width_bits, radius, out, error);
    return nigh__fail(error, NIGH_EINVAL, "there is no form %d of tables", (int)options->form);
}

/* ----------------------------------------------------------------------- building -- */

/* Whether what is there was made by these settings. */
static bool is_same(const struct nigh__segment *segment, const struct nigh__stored_facts *facts) {
    struct nigh__stored stored;
    return segment->sidecars[NIGH__SIDECAR_TABLES] != NULL &&
           nigh__stored_of_segment(segment, &stored, NULL) == NIGH_OK &&
           memcmp(&stored.facts, facts, sizeof *facts) == 0;
}

/* What is there stays if it is what is asked for and its bytes are as they were written, or if all shall stay. */
static nigh_status decide(void *user, const struct nigh__segment *segment, enum nigh__sidecar_fate *out,
                          nigh_error *error) {
    struct building *building = user;
    bool keep = building->options.keep && segment->sidecars[NIGH__SIDECAR_TABLES] != NULL;
    nigh_status status = NIGH_OK;
    *out = NIGH__SIDECAR_WITHOUT;
    if (!keep && (segment->signatures == 0 || segment->signatures < building->options.min_rows)) return NIGH_OK;
    if (!keep)
        status = set_facts(&building->options, segment->signatures, segment->width_bits, &building->facts, error);
    if (status == NIGH_OK && !keep && !building->options.rebuild && is_same(segment, &building->facts))
        status = nigh__sidecar_is_sound(segment, &nigh__tables_sidecar, &building->progress, &keep, error);
    *out = keep ? NIGH__SIDECAR_KEEP : NIGH__SIDECAR_MAKE;
    return status;
}

static uint32_t parameter(void *user, const struct nigh__segment *segment) {
    const struct building *building = user;
    (void)segment;
    return building->facts.tables;
}

static nigh_status add_bytes(void *user, const uint8_t *bytes, size_t length, nigh_error *error) {
    return nigh__sidecar_section_add(user, bytes, length, error);
}

static nigh_status write_tables(void *user, const struct nigh__segment *segment, struct nigh__sidecar_writer *writer,
                                nigh_error *error) {
    struct building *building = user;
    const struct nigh__stored_facts *facts = &building->facts;
    const struct nigh__table_sink sink = {.user = writer, .add = add_bytes};
    nigh_status status = nigh__sidecar_section_begin(writer, NIGH__SECTION_TABLE_FACTS, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_add(writer, facts, sizeof *facts, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_end(writer, 1, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_begin(writer, NIGH__SECTION_TABLES, error);
    if (status == NIGH_OK)
        status = nigh__stored_make(segment, facts, building->options.threads, &building->progress, &sink, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_end(writer, facts->tables, error);
    return status;
}

/* ------------------------------------------------------------------- after a merge -- */

/* As those of the part, for other rows. */
static nigh_status facts_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                              struct nigh__stored_facts *out, nigh_error *error) {
    struct nigh__stored stored;
    nigh_tables_options options;
    const nigh_status status = nigh__stored_of_segment(like, &stored, error);
    if (status != NIGH_OK) return status;
    const bool sorted = stored.facts.form == NIGH__STORED_SORTED;
    nigh__options_defaults(&nigh__tables_options_shape, &options);
    options.form = sorted ? NIGH_TABLES_SORTED : NIGH_TABLES_PERMUTED;
    options.radius = stored.facts.radius;
    options.blocks = stored.facts.blocks;
    options.leading = stored.facts.leading;
    options.rotations = sorted ? stored.facts.tables : 0;
    options.probes = stored.facts.probes;
    return set_facts(&options, segment->signatures, segment->width_bits, out, error);
}

uint32_t nigh__tables_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment) {
    (void)segment;
    return like->sidecars[NIGH__SIDECAR_TABLES]->header.parameter;
}

nigh_status nigh__tables_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                    uint32_t threads, const nigh_progress *progress,
                                    struct nigh__sidecar_writer *writer, nigh_error *error) {
    struct building building;
    nigh__options_defaults(&nigh__tables_options_shape, &building.options);
    building.options.threads = threads;
    nigh__progress_init(&building.progress, progress);
    const nigh_status status = facts_like(like, segment, &building.facts, error);
    return status == NIGH_OK ? write_tables(&building, segment, writer, error) : status;
}

/* ----------------------------------------------------------------------- the calls -- */

static nigh_status build_all(nigh_context *context, const struct nigh__file *directory, const char *path,
                             const nigh_tables_options *options, nigh_tables_result *result, nigh_error *error) {
    struct building building = {.facts = {0}};
    nigh_status status = nigh__options_copy(&nigh__tables_options_shape, &building.options, options, error);
    if (status != NIGH_OK) return status;
    nigh__progress_init(&building.progress, building.options.progress);
    struct nigh__sidecar_build build = {.context = context,
                                        .directory = directory,
                                        .kind = &nigh__tables_sidecar,
                                        .progress = &building.progress,
                                        .user = &building,
                                        .decide = decide,
                                        .write = write_tables,
                                        .parameter = parameter};
    status = nigh__sidecar_build(&build, path, error);
    const nigh_tables_result made = {
        .built = build.built, .kept = build.kept, .without = build.without, .bytes = build.bytes};
    if (result != NULL) nigh__info_copy(result, &made, sizeof made);
    return status;
}

nigh_status nigh_tables_build(nigh_context *context, const char *path, const nigh_tables_options *options,
                              nigh_tables_result *result, nigh_error *error) {
    return build_all(context, NULL, path, options, result, error);
}

nigh_status nigh__tables_build_in(nigh_context *context, const struct nigh__file *directory,
                                  const nigh_tables_options *options, nigh_error *error) {
    return build_all(context, directory, directory->path, options, NULL, error);
}

nigh_status nigh_tables_remove(nigh_context *context, const char *path, nigh_error *error) {
    return nigh__sidecar_remove_all(context, path, &nigh__tables_sidecar, error);
}

uint64_t nigh_tables_bytes(uint64_t signatures, uint32_t width_bits, const nigh_tables_options *options) {
    nigh_tables_options chosen;
    struct nigh__stored_facts facts;
    if (signatures == 0 || signatures > NIGH__MAX_DOCUMENTS || width_bits == 0 || width_bits > NIGH_MAX_WIDTH_BITS)
        return 0;
    if (nigh__options_copy(&nigh__tables_options_shape, &chosen, options, NULL) != NIGH_OK ||
        set_facts(&chosen, signatures, width_bits, &facts, NULL) != NIGH_OK)
        return 0;
    return facts.tables * nigh__stored_table_bytes(&facts, signatures, width_bits);
}
