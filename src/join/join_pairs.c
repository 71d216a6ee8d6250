/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From pairs of distinct rows to pairs of rows, in order. If all rows differ, the pairs are
 * that already. Otherwise each end of a pair stands for a group of equal rows:
 *
 *     pairs (i, j)     by i   with the groups by their first row   ->   (j, each of i)
 *     (j, each of i)   by j   with the groups                      ->   (each of i, each of j)
 *     and the pairs inside the groups
 *
 * Sorters all the way, so memory holds one group at a time.  Where the groups fit into
 * memory and are known before any pair is (join_short.c), each pair is told of all
 * rows as it is found instead, and sorted once.
 *
 * Crowds.  Of a group of more than `copies` rows only the pairs with its first row
 * are given: inside it, and with others.  Between two sides every row must come up,
 * for nothing else says that it is a copy: there all of such a group are paired with
 * the first of the other, and the other way round.
 */
#include "base/status.h"
#include "join/join.h"

#define IS_FIRST (UINT64_C(1) << 20) /* above any distance */
#define SIZE_SHIFT 24u
#define RECORDS_A_TICK 256u

_Static_assert(NIGH_MAX_WIDTH_BITS < IS_FIRST, "a distance fits below the flag");
_Static_assert(IS_FIRST < UINT64_C(1) << SIZE_SHIFT && SIZE_SHIFT + NIGH__NUMBER_BITS <= 64, "a size fits above it");

/* Records of a sorter one by one. */
struct stream {
    struct nigh__sorter *sorter; /* NULL: none */
    uint32_t words;
    const uint64_t *records;
    size_t count, next;
    uint64_t done;
};

/* The record at hand; NULL at the end, or with a status that says why. */
static const uint64_t *current(struct stream *stream, nigh_status *status, nigh_error *error) {
    if (stream->next == stream->count) {
        stream->next = stream->count = 0;
        nigh_status got = nigh__sorter_next(stream->sorter, &stream->records, &stream->count, error);
        if (got != NIGH_OK) {
            if (got != NIGH_END) *status = got;
            return NULL;
        }
    }
    return stream->records + stream->next * stream->words;
}

/* Past the record at hand; sees to cancelling now and then. */
static nigh_status step(struct nigh__join *join, struct stream *stream, const char *stage) {
    stream->next++;
    stream->done++;
    if (stream->done % RECORDS_A_TICK != 0) return NIGH_OK;
    nigh__join_tick(join, stage, stream->done, nigh__sorter_count(stream->sorter));
    return (nigh_status)atomic_load(&join->status);
}

struct expansion {
    struct nigh__join *join;
    struct stream groups;
    struct nigh__array members; /* uint64_t: the group at hand, its first row first */
    bool loaded;
    struct nigh__sorter *half, *whole;
};

/* The rows at hand that are equal; false, and no rows, at the end or with a status that says why. */
static bool equal_rows(struct expansion *e, struct nigh__number_pair *out, nigh_status *status, nigh_error *error) {
    const uint64_t *record = current(&e->groups, status, error);
    *out = (struct nigh__number_pair){UINT64_MAX, UINT64_MAX};
    if (record != NULL) *out = nigh__number_pair_unpack(e->join->number_words, record);
    return record != NULL;
}

static nigh_status load_group(struct expansion *e, uint64_t first, nigh_error *error) {
    nigh_status status = NIGH_OK;
    const uint64_t *members = e->members.data;
    if (e->loaded && members[0] == first) return NIGH_OK;
    e->loaded = false;
    e->members.count = 0;
    for (uint64_t member = first;;) {
        uint64_t *slot = nigh__array_add(e->join->context, &e->members, 1);
        if (slot == NULL) return nigh__no_memory(error, "for equal rows");
        *slot = member;
        struct nigh__number_pair equal;
        while (equal_rows(e, &equal, &status, error) && equal.first < first) e->groups.next++;
        if (equal.first != first) break;
        member = equal.second;
        e->groups.next++;
    }
    e->loaded = status == NIGH_OK;
    return status;
}

static nigh_status rewind_groups(struct expansion *e, nigh_error *error) {
    e->loaded = false;
    e->groups.next = e->groups.count = 0;
    return nigh__sorter_rewind(e->groups.sorter, error);
}

static nigh_status new_sorter(const struct nigh__join *join, uint32_t words, struct nigh__sorter **out,
                              nigh_error *error) {
    const struct nigh__sorter_options options = {.words = words,
                                                 .key_words = join->number_words,
                                                 .memory_bytes = join->options.memory_bytes / 4,
                                                 .temporary = join->options.temporary,
                                                 .threads = join->threads};
    return nigh__sorter_new(join->context, &options, out, error);
}

static bool is_crowd(const struct nigh__join *join, uint64_t rows) { return rows > join->options.copies; }

/* ----------------------------------------------------------------- the steps */

/* A pair of distinct rows: every row of the first group with the second. */
static nigh_status expand_first(struct expansion *e, const uint64_t *pair, nigh_error *error) {
    const struct nigh__join *join = e->join;
    const nigh_pair distinct = nigh__join_unpack(join, pair);
    nigh_status status = load_group(e, distinct.first, error);
    const uint64_t rows = e->members.count;
    const uint64_t taken = join->self && is_crowd(join, rows) ? 1 : rows;
    for (uint64_t i = 0; i < taken && status == NIGH_OK; i++) {
        uint64_t record[3];
        nigh__number_pair_pack(join->number_words, distinct.second, ((const uint64_t *)e->members.data)[i], record);
        record[join->number_words] = rows << SIZE_SHIFT | (i == 0 ? IS_FIRST : 0) | distinct.distance;
        status = nigh__sorter_add(e->half, record, 1, error);
    }
    return status;
}

static nigh_status add_whole(struct expansion *e, uint64_t a, uint64_t b, uint64_t distance, nigh_error *error) {
    uint64_t record[3];
    nigh__join_pack(e->join, a < b ? a : b, a < b ? b : a, distance, record);
    return nigh__sorter_add(e->whole, record, 1, error);
}

/* Pairs of the two groups that are not given. */
static uint64_t untold(const struct nigh__join *join, uint64_t first_rows, uint64_t second_rows) {
    const bool first = is_crowd(join, first_rows);
    const bool second = is_crowd(join, second_rows);
    if (!first && !second) return 0;
    const uint64_t given =
        join->self ? (first ? 1 : first_rows) * (second ? 1 : second_rows) : first_rows + second_rows - 1;
    return first_rows * second_rows - given;
}

/* Of a group of so many, those that a row of the other is given with. */
static uint64_t given_rows(const struct nigh__join *join, uint64_t rows, uint64_t others, bool is_first) {
    bool one = is_crowd(join, rows);
    if (!join->self) one = !is_first && (one || is_crowd(join, others));
    return one ? 1 : rows;
}

/* A row of the first group and the second group. */
static nigh_status expand_second(struct expansion *e, const uint64_t *half, nigh_error *error) {
    const struct nigh__join *join = e->join;
    const struct nigh__number_pair known = nigh__number_pair_unpack(join->number_words, half);
    const uint64_t facts = half[join->number_words];
    const uint64_t first_rows = facts >> SIZE_SHIFT;
    const bool is_first = (facts & IS_FIRST) != 0;
    nigh_status status = load_group(e, known.first, error);
    const uint64_t rows = e->members.count;
    if (status == NIGH_OK && is_first) e->join->result.copies_untold += untold(join, first_rows, rows);
    const uint64_t given = given_rows(join, rows, first_rows, is_first);
    for (uint64_t i = 0; i < given && status == NIGH_OK; i++)
        status = add_whole(e, known.second, ((const uint64_t *)e->members.data)[i], facts & (IS_FIRST - 1), error);
    return status;
}

/* The pairs inside the group at hand. */
static nigh_status expand_inside(struct expansion *e, nigh_error *error) {
    const uint64_t *members = e->members.data;
    const uint64_t rows = e->members.count;
    const uint64_t firsts = is_crowd(e->join, rows) ? 1 : rows;
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; i < firsts; i++) {
        for (uint64_t j = i + 1; j < rows && status == NIGH_OK; j++)
            status = add_whole(e, members[i], members[j], 0, error);
    }
    if (firsts == 1) e->join->result.copies_untold += rows * (rows - 1) / 2 - (rows - 1);
    return status;
}

static nigh_status expand_each(struct expansion *e, struct nigh__sorter *from,
                               nigh_status (*expand)(struct expansion *, const uint64_t *, nigh_error *),
                               nigh_error *error) {
    struct stream stream = {.sorter = from, .words = from == e->half ? e->join->number_words + 1 : e->join->pair_words};
    nigh_status status = rewind_groups(e, error);
    const uint64_t *record;
    while (status == NIGH_OK && (record = current(&stream, &status, error)) != NULL) {
        status = expand(e, record, error);
        if (status == NIGH_OK) status = step(e->join, &stream, "expanding");
    }
    return status;
}

static nigh_status expand_groups(struct expansion *e, nigh_error *error) {
    nigh_status status = rewind_groups(e, error);
    struct nigh__number_pair equal;
    while (status == NIGH_OK && equal_rows(e, &equal, &status, error)) {
        status = load_group(e, equal.first, error);
        if (status == NIGH_OK) status = expand_inside(e, error);
        e->groups.done += e->members.count - 1;
        nigh__join_tick(e->join, "expanding", e->groups.done, nigh__sorter_count(e->groups.sorter));
        if (status == NIGH_OK) status = (nigh_status)atomic_load(&e->join->status);
    }
    return status;
}

/* Replaces join->pairs by those of all rows. */
static nigh_status expand_all(struct nigh__join *join, nigh_error *error) {
    struct expansion e = {.join = join, .members = NIGH__ARRAY(uint64_t)};
    e.groups = (struct stream){.sorter = join->groups, .words = join->number_words};
    nigh_status status = new_sorter(join, join->number_words + 1, &e.half, error);
    if (status == NIGH_OK) status = expand_each(&e, join->pairs, expand_first, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(e.half, error);
    join->result.disk_bytes += nigh__sorter_disk_bytes(join->pairs);
    nigh__sorter_free(join->pairs);
    join->pairs = NULL;
    if (status == NIGH_OK) status = new_sorter(join, join->pair_words, &e.whole, error);
    if (status == NIGH_OK) status = expand_each(&e, e.half, expand_second, error);
    if (e.half != NULL) join->result.disk_bytes += nigh__sorter_disk_bytes(e.half);
    nigh__sorter_free(e.half);
    if (status == NIGH_OK && join->self) status = expand_groups(&e, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(e.whole, error);
    nigh__array_release(join->context, &e.members);
    join->pairs = e.whole;
    return status;
}

/* ------------------------------------------------------- groups in memory */

/* The rows equal to one that is not dropped, as records from *out on; without itself. */
static size_t others_of(const struct nigh__join *join, uint64_t row, const uint64_t **out) {
    const struct nigh__join_groups *group = &join->group;
    if (!nigh__join_is_head(group, row)) return 0;
    const struct nigh__join_heads *heads = &group->heads[row / 64];
    const uint64_t before = heads->set & ((UINT64_C(1) << row % 64) - 1);
    const uint32_t *first = group->firsts + heads->before + nigh__join_count_bits(before);
    *out = group->records + first[0];
    return first[1] - first[0];
}

bool nigh__join_emit_groups(struct nigh__join_worker *worker, uint64_t a, uint64_t b, uint32_t distance) {
    const struct nigh__join *join = worker->join;
    const uint64_t *firsts = NULL;
    const uint64_t *seconds = NULL;
    const uint64_t first_rows = 1 + others_of(join, a, &firsts);
    const uint64_t second_rows = 1 + others_of(join, b, &seconds);
    const uint64_t taken = join->self && is_crowd(join, first_rows) ? 1 : first_rows;
    worker->untold += untold(join, first_rows, second_rows);
    for (uint64_t i = 0; i < taken; i++) {
        const uint64_t first = i == 0 ? a : (uint32_t)firsts[i - 1];
        const uint64_t given = given_rows(join, second_rows, first_rows, i == 0);
        for (uint64_t j = 0; j < given; j++) {
            const uint64_t second = j == 0 ? b : (uint32_t)seconds[j - 1];
            if (!nigh__join_emit(worker, first < second ? first : second, first < second ? second : first, distance))
                return false;
        }
    }
    return true;
}

static nigh_status index_groups(struct nigh__join *join, nigh_error *error) {
    struct nigh__join_groups *group = &join->group;
    const size_t words = (size_t)join->count / 64 + 1;
    uint32_t heads = 0;
    for (size_t i = 0; i < group->count; i++) heads += i == 0 || group->records[i] >> 32 != group->records[i - 1] >> 32;
    group->heads = nigh__alloc_zero(join->context, words, sizeof *group->heads);
    group->firsts = nigh__alloc(join->context, (size_t)heads + 1, sizeof *group->firsts);
    if (group->heads == NULL || group->firsts == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory for %zu equal rows", group->count);
        return NIGH_ENOMEM;
    }
    size_t record = 0;
    heads = 0;
    for (size_t i = 0; i < words; i++) {
        group->heads[i].before = heads;
        for (; record < group->count && group->records[record] >> 38 == i; record++) {
            const uint64_t bit = UINT64_C(1) << (group->records[record] >> 32) % 64;
            if ((group->heads[i].set & bit) == 0)
                group->firsts[heads++] = (uint32_t)record; /* there are fewer than rows */
            group->heads[i].set |= bit;
        }
    }
    group->firsts[heads] = (uint32_t)group->count;
    return NIGH_OK;
}

/* The pairs inside the groups, straight into the sorter of pairs. */
static nigh_status add_inside(struct nigh__join *join, nigh_error *error) {
    struct expansion e = {.join = join, .members = NIGH__ARRAY(uint64_t), .whole = join->pairs};
    e.groups = (struct stream){.sorter = join->groups, .words = join->number_words};
    nigh_status status = expand_groups(&e, error);
    nigh__array_release(join->context, &e.members);
    return status;
}

nigh_status nigh__join_groups_load(struct nigh__join *join, nigh_error *error) {
    struct nigh__join_groups *group = &join->group;
    nigh_status status = nigh__sorter_finish(join->groups, error);
    join->grouped = true;
    if (status != NIGH_OK || nigh__sorter_count(join->groups) == 0 || nigh__sorter_disk_bytes(join->groups) > 0)
        return status;
    if (join->self) status = add_inside(join, error);
    if (status == NIGH_OK) status = nigh__sorter_rewind(join->groups, error);
    if (status == NIGH_OK) status = nigh__sorter_next(join->groups, &group->records, &group->count, error);
    if (status == NIGH_OK) status = index_groups(join, error);
    join->told = true;
    return status;
}

void nigh__join_groups_unload(struct nigh__join *join) {
    nigh__free(join->context, join->group.heads);
    nigh__free(join->context, join->group.firsts);
    join->group = (struct nigh__join_groups){.heads = NULL};
}

/* ------------------------------------------------------------------ giving */

static uint64_t number_of(const struct nigh__join_side *side, uint64_t row) {
    return side->numbers == NULL ? row : side->numbers[row];
}

static nigh_status give_pairs(struct nigh__join *join, nigh_error *error) {
    const nigh_join_options *options = &join->options;
    struct stream stream = {.sorter = join->pairs, .words = join->pair_words};
    nigh_status status = NIGH_OK;
    const uint64_t *record;
    while (status == NIGH_OK && (record = current(&stream, &status, error)) != NULL) {
        nigh_pair pair = nigh__join_unpack(join, record);
        if (!join->self) pair.second -= join->split;
        pair.first = number_of(&join->sides[0], pair.first);
        pair.second = number_of(&join->sides[join->self ? 0 : 1], pair.second);
        join->result.pairs++;
        if (options->pair != NULL && options->pair(options->user, &pair) != 0) return nigh__progress_cancelled(error);
        status = step(join, &stream, "giving");
    }
    return status;
}

nigh_status nigh__join_give(struct nigh__join *join, nigh_error *error) {
    nigh_status status = nigh__sorter_finish(join->pairs, error);
    if (status != NIGH_OK || join->told) return status == NIGH_OK ? give_pairs(join, error) : status;
    if (!join->grouped) status = nigh__sorter_finish(join->groups, error);
    if (status == NIGH_OK && nigh__sorter_count(join->groups) > 0) status = expand_all(join, error);
    return status == NIGH_OK ? give_pairs(join, error) : status;
}
