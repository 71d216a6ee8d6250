/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a finder: options are checked, equal rows collapsed, a method and its setting
 * chosen if they were left open, and the memory is predicted and compared with the limit.
 * Only then is anything built.
 *
 * The limit is on what a finder keeps.  While equal rows are looked for there is a hash
 * table instead of the method's own tables; distinct.h says how large.
 */
#include "finder/finder.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/threads.h"
#include "finder/choice.h"
#include "finder/finder_options.h"
#include "finder/recall.h"
#include "finder/sorted_parts.h"

#define DEFAULT_BUDGET (UINT64_C(1) << 18)
#define MAX_ROTATIONS 3u

/* -------------------------------------------------------------------- options */

/* Blocks given by hand, or none. */
static nigh_status check_blocks(const nigh_finder_options *options, nigh_error *error) {
    const uint32_t blocks = options->blocks;
    const uint32_t leading = options->leading;
    if (blocks == 0 && leading == 0) return NIGH_OK;
    if (options->method != NIGH_FINDER_TABLES)
        return nigh__fail(error, NIGH_EINVAL, "blocks are given, but the method is '%s': they go with 'tables'",
                          nigh_finder_method_name(options->method));
    const uint32_t most = options->width_bits < NIGH__MAX_BLOCKS ? options->width_bits : NIGH__MAX_BLOCKS;
    if (blocks < 2 || blocks > most)
        return nigh__fail(error, NIGH_EINVAL, "%u blocks: rows of %u bits are cut into 2 to %u", blocks,
                          options->width_bits, most);
    if (leading < 1 || leading >= blocks)
        return nigh__fail(error, NIGH_EINVAL, "%u leading of %u blocks: it must be 1 to %u", leading, blocks,
                          blocks - 1);
    if (nigh__tables_count(blocks, leading) > NIGH__MAX_TABLES)
        return nigh__fail(error, NIGH_EINVAL, "%u of %u blocks make more than %u tables", leading, blocks,
                          NIGH__MAX_TABLES);
    if (options->radius > blocks - leading && !options->approximate)
        return nigh__fail(error, NIGH_EINVAL,
                          "%u of %u blocks find all within %u bits, not %u: ask for a radius up to %u, or allow it to "
                          "miss some that are farther (approximate)",
                          leading, blocks, blocks - leading, options->radius, blocks - leading);
    return NIGH_OK;
}

static nigh_status check_psm(const nigh_finder_options *options, nigh_error *error) {
    if (options->method == NIGH_FINDER_SCAN || options->method == NIGH_FINDER_TABLES) return NIGH_OK;
    const uint32_t most = options->width_bits < NIGH__MAX_PREFIX_BITS ? options->width_bits : NIGH__MAX_PREFIX_BITS;
    if (options->prefix_bits > most)
        return nigh__fail(error, NIGH_EINVAL, "a prefix of %u bits: it must be 1 to %u, or 0 to have it chosen",
                          options->prefix_bits, most);
    if (options->probes > NIGH__MAX_PROBES)
        return nigh__fail(error, NIGH_EINVAL, "%u probes: they must be 1 to %u, or 0 to have them chosen",
                          options->probes, NIGH__MAX_PROBES);
    if (options->rotations > MAX_ROTATIONS)
        return nigh__fail(error, NIGH_EINVAL, "%u rotations: there are 1 to %u tables", options->rotations,
                          MAX_ROTATIONS);
    if (options->rotations > 1 && options->without_numbers)
        return nigh__fail(error, NIGH_EINVAL,
                          "%u rotations without numbers: a row that several find would count several times",
                          options->rotations);
    if (options->model != NIGH_WEAK_GAUSSIAN && options->model != NIGH_WEAK_LINEAR)
        return nigh__fail(error, NIGH_EINVAL, "%d is no model of weak bits", (int)options->model);
    if (options->method == NIGH_FINDER_PSM && options->probes == 0 && options->recall >= 1)
        return nigh__fail(error, NIGH_EINVAL,
                          "the method 'psm' cannot find all: give a recall below 1, or how many probes");
    return NIGH_OK;
}

static nigh_status check_options(const nigh_finder_options *options, nigh_error *error) {
    if (nigh_finder_method_name(options->method) == NULL)
        return nigh__fail(error, NIGH_EINVAL, "%d is no method of a finder", (int)options->method);
    nigh_status status = nigh__width_allowed(options->width_bits, error);
    if (status != NIGH_OK) return status;
    if (!(options->recall > 0 && options->recall <= 1))
        return nigh__fail(error, NIGH_EINVAL, "a recall of %g: it must be above 0 and at most 1", options->recall);
    status = check_blocks(options, error);
    return status == NIGH_OK ? check_psm(options, error) : status;
}

/* -------------------------------------------------------------------- setting */

/* A method with all that it needs to know. */
struct setting {
    nigh_finder_method method;
    uint32_t blocks, leading;
    struct nigh__sorted_plan sorted;
};

/* What the cost model recommends for the rows there are; `recall` may be stricter than the caller's. */
static nigh_status recommend(const struct nigh__distinct *distinct, const nigh_finder_options *options, double recall,
                             nigh_plan_row *out, nigh_error *error) {
    nigh_plan_options plan;
    nigh__options_defaults(&nigh__plan_options_shape, &plan);
    plan.rows = distinct->count == 0 ? 1 : distinct->count;
    plan.width_bits = options->width_bits;
    plan.radius = options->radius;
    plan.recall = recall;
    if (options->memory_bytes != 0) {
        const uint64_t beside = nigh__distinct_number_bytes(distinct) + sizeof(nigh_finder);
        plan.memory_bytes = options->memory_bytes > beside ? options->memory_bytes - beside : 1;
    }
    return nigh__choose(&plan, out, error);
}

/* The blocks that are fastest, or else the fewest tables that are exact. */
static nigh_status choose_blocks(const struct nigh__distinct *distinct, const nigh_finder_options *options,
                                 struct setting *setting, nigh_error *error) {
    nigh_plan_row row;
    if (recommend(distinct, options, 1, &row, NULL) == NIGH_OK && row.method == NIGH_FINDER_TABLES) {
        setting->blocks = row.blocks;
        setting->leading = row.leading;
        return NIGH_OK;
    }
    const uint32_t most = options->width_bits < NIGH__MAX_BLOCKS ? options->width_bits : NIGH__MAX_BLOCKS;
    if (options->radius >= most && !options->approximate)
        return nigh__fail(error, NIGH_EINVAL,
                          "tables of %u bits find all within %u bits at most, not %u: ask for a smaller radius, or "
                          "allow it to miss some that are farther (approximate)",
                          options->width_bits, most - 1, options->radius);
    setting->blocks = options->radius < most ? options->radius + 1 : most;
    if (setting->blocks < 2) setting->blocks = 2;
    setting->leading = 1;
    return NIGH_OK;
}

/* What of psm is left open. */
static nigh_status choose_probes(const struct nigh__distinct *distinct, const nigh_finder_options *options,
                                 struct nigh__sorted_plan *plan, nigh_error *error) {
    if (plan->rotations == 0) plan->rotations = 1;
    if (plan->prefix_bits == 0) plan->prefix_bits = nigh__sorted_prefix_bits(distinct->count);
    if (plan->prefix_bits > options->width_bits) plan->prefix_bits = options->width_bits;
    if (plan->probes != 0) return NIGH_OK;
    plan->probes = nigh__recall_probes(options->width_bits, options->radius, plan->prefix_bits, options->recall,
                                       plan->rotations, plan->model);
    if (plan->probes != 0) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL,
                      "a recall of %g at radius %u takes more than %u probes of %u bits: ask for less, or for more "
                      "rotations",
                      options->recall, options->radius, NIGH__MAX_PROBES, plan->prefix_bits);
}

static nigh_status choose_any(const struct nigh__distinct *distinct, const nigh_finder_options *options,
                              struct setting *setting, nigh_error *error) {
    nigh_plan_row row;
    nigh_status status = recommend(distinct, options, options->recall, &row, error);
    if (status != NIGH_OK) return status;
    setting->method = row.method;
    setting->blocks = row.blocks;
    setting->leading = row.leading;
    if (setting->sorted.prefix_bits == 0) setting->sorted.prefix_bits = row.prefix_bits;
    if (setting->sorted.without_numbers) setting->sorted.rotations = 1;
    if (setting->sorted.rotations == 0) setting->sorted.rotations = row.rotations;
    const bool as_planned =
        setting->sorted.prefix_bits == row.prefix_bits && setting->sorted.rotations == row.rotations;
    if (setting->sorted.probes == 0 && as_planned && options->model == NIGH_WEAK_GAUSSIAN)
        setting->sorted.probes = row.probes;
    return NIGH_OK;
}

static nigh_status choose(const struct nigh__distinct *distinct, const nigh_finder_options *options,
                          struct setting *setting, nigh_error *error) {
    *setting = (struct setting){.method = options->method,
                                .blocks = options->blocks,
                                .leading = options->leading,
                                .sorted = {.prefix_bits = options->prefix_bits,
                                           .probes = options->probes,
                                           .rotations = options->rotations,
                                           .model = options->model,
                                           .without_numbers = options->without_numbers && options->width_bits == 64}};
    nigh_status status = NIGH_OK;
    if (setting->method == NIGH_FINDER_AUTO) status = choose_any(distinct, options, setting, error);
    if (status == NIGH_OK && setting->method == NIGH_FINDER_TABLES && setting->blocks == 0)
        status = choose_blocks(distinct, options, setting, error);
    if (status == NIGH_OK && setting->method == NIGH_FINDER_PSM)
        status = choose_probes(distinct, options, &setting->sorted, error);
    return status;
}

/* ------------------------------------------------------------------- building */

/* Sorted tables of 64-bit rows hold the rows themselves. */
static bool keeps_rows(const struct setting *setting, uint32_t width_bits) {
    return setting->method != NIGH_FINDER_PSM || width_bits != 64;
}

static bool keeps_numbers(const struct setting *setting) {
    return setting->method != NIGH_FINDER_PSM || !setting->sorted.without_numbers;
}

/* UINT64_MAX: more than there can be. */
static uint64_t bytes_needed(const struct nigh__distinct *distinct, const struct setting *setting) {
    uint64_t bytes = sizeof(nigh_finder);
    if (keeps_rows(setting, distinct->width_bits)) bytes += nigh__distinct_row_bytes(distinct);
    if (keeps_numbers(setting)) bytes += nigh__distinct_number_bytes(distinct);
    uint64_t own = 0;
    if (setting->method == NIGH_FINDER_TABLES)
        own = nigh__tables_bytes(distinct->count, distinct->width_bits, setting->blocks, setting->leading);
    if (setting->method == NIGH_FINDER_PSM)
        own = nigh__sorted_bytes(distinct->count, distinct->width_bits, &setting->sorted);
    return nigh__add64(bytes, own, &bytes) ? bytes : UINT64_MAX;
}

static nigh_status build(nigh_finder *finder, const struct setting *setting, uint32_t threads,
                         struct nigh__progress *progress, nigh_error *error) {
    struct nigh__distinct *distinct = &finder->distinct;
    const struct nigh__lookup_rows rows = {.words_of_rows = distinct->words_of_rows,
                                           .count = distinct->count,
                                           .words = distinct->words,
                                           .width_bits = distinct->width_bits};
    if (setting->method == NIGH_FINDER_TABLES)
        return nigh__tables_new(finder->context, &rows, setting->blocks, setting->leading, threads, progress,
                                &finder->tables, error);
    if (setting->method != NIGH_FINDER_PSM) return NIGH_OK;
    if (!keeps_numbers(setting)) nigh__distinct_drop_numbers(finder->context, distinct);
    nigh_status status =
        nigh__sorted_new(finder->context, &rows, &setting->sorted, threads, progress, &finder->sorted, error);
    if (status == NIGH_OK && !keeps_rows(setting, distinct->width_bits))
        nigh__distinct_drop_rows(finder->context, distinct);
    return status;
}

static void describe(nigh_finder *finder, const struct setting *setting) {
    nigh_finder_info *info = &finder->info;
    *info = (nigh_finder_info){.size = sizeof(nigh_finder_info)};
    info->method = setting->method;
    info->rows = finder->distinct.given;
    info->distinct = finder->distinct.count;
    info->bytes = bytes_needed(&finder->distinct, setting);
    if (setting->method == NIGH_FINDER_SCAN) info->exact_radius = finder->distinct.width_bits;
    if (setting->method == NIGH_FINDER_TABLES) {
        info->blocks = setting->blocks;
        info->leading = setting->leading;
        info->tables = nigh__tables_count(setting->blocks, setting->leading);
        info->exact_radius = setting->blocks - setting->leading;
    }
    if (setting->method != NIGH_FINDER_PSM) return;
    info->tables = setting->sorted.rotations;
    info->prefix_bits = setting->sorted.prefix_bits;
    info->probes = setting->sorted.probes;
    info->rotations = setting->sorted.rotations;
}

/* From rows to a finder that is ready. */
static nigh_status make(nigh_finder *finder, const uint8_t *rows, uint64_t count, const nigh_finder_options *options,
                        nigh_error *error) {
    struct nigh__progress progress;
    nigh__progress_init(&progress, options->progress);
    nigh_status status = nigh__distinct_init(finder->context, &finder->distinct, rows, (uint32_t)count,
                                             options->width_bits, &progress, error);
    struct setting setting;
    if (status == NIGH_OK) status = choose(&finder->distinct, options, &setting, error);
    if (status != NIGH_OK) return status;
    describe(finder, &setting);
    finder->radius = options->radius;
    finder->budget = options->bucket_budget == 0 ? DEFAULT_BUDGET : options->bucket_budget;
    finder->without_numbers = !keeps_numbers(&setting);
    if (options->memory_bytes != 0 && finder->info.bytes > options->memory_bytes)
        return nigh__fail(
            error, NIGH_ELIMIT, "the method '%s' takes %" PRIu64 " bytes for %" PRIu64 " rows; the limit is %" PRIu64,
            nigh_finder_method_name(setting.method), finder->info.bytes, finder->info.distinct, options->memory_bytes);
    if (nigh__progress_tick(&progress, "building", 0, finder->info.distinct)) return nigh__progress_cancelled(error);
    return build(finder, &setting, nigh__threads_resolve(options->threads), &progress, error);
}

nigh_status nigh_finder_new(nigh_context *context, const uint8_t *rows, uint64_t count,
                            const nigh_finder_options *options, nigh_finder **out, nigh_error *error) {
    *out = NULL;
    const double begun = nigh__clock();
    nigh_finder_options known;
    nigh_status status = nigh__options_copy(&nigh__finder_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check_options(&known, error);
    if (status != NIGH_OK) return status;
    if (known.radius > known.width_bits) known.radius = known.width_bits; /* no row is farther */
    if (rows == NULL && count != 0)
        return nigh__fail(error, NIGH_EINVAL, "no rows, where %" PRIu64 " were announced", count);
    if (count >= UINT32_MAX)
        return nigh__fail(error, NIGH_ELIMIT, "%" PRIu64 " rows: a finder takes fewer than %u", count, UINT32_MAX);
    status = nigh__padding_check(rows, count, known.width_bits, "row", error);
    if (status != NIGH_OK) return status;
    nigh_finder *finder = nigh__alloc_zero(context, 1, sizeof *finder);
    if (finder == NULL) return nigh__no_memory(error, "for a finder");
    finder->context = context;
    status = make(finder, rows, count, &known, error);
    if (status != NIGH_OK) {
        nigh_finder_free(finder);
        return status;
    }
    finder->info.build_seconds = nigh__clock() - begun;
    *out = finder;
    return NIGH_OK;
}

/* Puts a row wherever it was given. */
static void put_row(const nigh_finder *finder, uint32_t row, const uint64_t *words, uint8_t *out) {
    const size_t bytes = nigh__row_bytes(finder->distinct.width_bits);
    uint32_t own;
    uint32_t count;
    const uint32_t *numbers = nigh__distinct_numbers(&finder->distinct, row, &own, &count);
    for (uint32_t i = 0; i < count; i++) memcpy(out + numbers[i] * bytes, words, bytes);
}

void nigh__finder_copy_rows(const nigh_finder *finder, uint8_t *out) {
    const struct nigh__distinct *distinct = &finder->distinct;
    NIGH__ASSERT(!finder->without_numbers);
    if (distinct->words_of_rows != NULL) {
        for (uint32_t row = 0; row < distinct->count; row++)
            put_row(finder, row, distinct->words_of_rows + (size_t)row * distinct->words, out);
        return;
    }
    const struct nigh__sorted_table *table = &finder->sorted->table[0];
    for (uint32_t place = 0; place < distinct->count; place++)
        put_row(finder, table->numbers[place], &table->rows[place], out);
}

void nigh_finder_free(nigh_finder *finder) {
    if (finder == NULL) return;
    nigh__tables_free(finder->context, finder->tables);
    nigh__sorted_free(finder->context, finder->sorted);
    nigh__distinct_release(finder->context, &finder->distinct);
    nigh__free(finder->context, finder);
}

void nigh_finder_describe(const nigh_finder *finder, nigh_finder_info *out) {
    nigh__info_copy(out, &finder->info, sizeof finder->info);
}
