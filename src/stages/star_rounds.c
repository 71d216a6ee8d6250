/* SPDX-License-Identifier: Apache-2.0 */
/* Large-star and small-star by sorting; star_rounds.h says what they do, and what a round leaves. */
#include "stages/star_rounds.h"

#include "base/status.h"

#define SHARE 4u /* of the memory, for each of up to three sorters at a time */
#define MAX_ROUNDS 1000u

enum { INFO, EDGES, SECTIONS };
enum { ROUND, COUNT, PRINT, INFO_WORDS };

struct rounds {
    const nigh_staged *staged;
    uint64_t info[INFO_WORDS]; /* of the last that is there; zeros: none is */
    struct nigh__star_done *done;
};

static nigh_status new_sorter(const nigh_staged *staged, bool unique, struct nigh__sorter **out, nigh_error *error) {
    return nigh__staged_sorter(staged, NIGH__EDGE_WORDS_STAR, NIGH__EDGE_WORDS_STAR, unique, SHARE, out, error);
}

static nigh_status add(struct nigh__sorter *sorter, uint64_t first, uint64_t second, nigh_error *error) {
    const uint64_t edge[NIGH__EDGE_WORDS_STAR] = {first, second};
    return nigh__sorter_add(sorter, edge, 1, error);
}

nigh_status nigh__star_add(struct nigh__sorter *sorter, uint64_t a, uint64_t b, nigh_error *error) {
    if (a == b) return NIGH_OK;
    nigh_status status = add(sorter, a, b, error);
    return status == NIGH_OK ? add(sorter, b, a, error) : status;
}

/* Edge after edge of a sorter that is finished here. */
typedef nigh_status edge_take(void *user, uint64_t first, uint64_t second, nigh_error *error);
static nigh_status each_edge(struct nigh__sorter *sorter, edge_take *take, void *user, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__sorter_finish(sorter, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(sorter, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++)
            status = take(user, records[i * NIGH__EDGE_WORDS_STAR], records[i * NIGH__EDGE_WORDS_STAR + 1], error);
    return status == NIGH_END ? NIGH_OK : status;
}

/* ----------------------------------------------------------------- the stars -- */

struct star {
    uint64_t node, least; /* whose neighbours go by, and the smallest of them, or of them and itself */
    bool began;
    struct nigh__sorter *out;
};

/* A node and a neighbour: those that are larger go to the smallest of all. */
static nigh_status take_large(void *user, uint64_t node, uint64_t neighbour, nigh_error *error) {
    struct star *star = user;
    if (!star->began || star->node != node) {
        star->node = node;
        star->least = neighbour < node ? neighbour : node;
        star->began = true;
    }
    return neighbour > node ? add(star->out, neighbour, star->least, error) : NIGH_OK;
}

/* A node and a smaller neighbour: all go to the smallest. */
static nigh_status take_small(void *user, uint64_t node, uint64_t neighbour, nigh_error *error) {
    struct star *star = user;
    if (star->began && star->node == node) return add(star->out, neighbour, star->least, error);
    star->node = node;
    star->least = neighbour;
    star->began = true;
    return add(star->out, node, neighbour, error);
}

/* From a sorter, which is freed, to a new one. */
static nigh_status make_star(const nigh_staged *staged, edge_take *take, struct nigh__sorter **in,
                             struct nigh__sorter **out, nigh_error *error) {
    struct star star = {.began = false};
    *out = NULL;
    nigh_status status = new_sorter(staged, true, out, error);
    star.out = *out;
    if (status == NIGH_OK) status = each_edge(*in, take, &star, error);
    nigh__sorter_free(*in);
    *in = NULL;
    return status;
}

/* ----------------------------------------------------------------- the files -- */

static struct nigh__stage_label label_of(const nigh_staged *staged) {
    return (struct nigh__stage_label){.plan = staged->plan, .stage = NIGH__STAGE_ROUND, .shards = 1};
}

static char *path_of(const nigh_staged *staged) {
    return nigh__path_join(staged->context, staged->work, "components-round");
}

static nigh_status open_round(const nigh_staged *staged, struct nigh__stage_reader *out, nigh_error *error) {
    const struct nigh__stage_label label = label_of(staged);
    *out = (struct nigh__stage_reader){.context = NULL};
    char *path = path_of(staged);
    if (path == NULL) return nigh__no_memory(error, "for a path");
    nigh_status status = nigh__stage_reader_open(staged->context, path, &label, SECTIONS, out, error);
    nigh__free(staged->context, path);
    return status;
}

struct writing {
    struct nigh__stage_writer writer;
    uint64_t info[INFO_WORDS];
};

static nigh_status write_edge(void *user, uint64_t larger, uint64_t smaller, nigh_error *error) {
    struct writing *writing = user;
    const uint64_t edge[NIGH__EDGE_WORDS_STAR] = {larger, smaller};
    writing->info[COUNT]++;
    writing->info[PRINT] += nigh__mix(nigh__mix(larger) + smaller);
    return nigh__stage_add(&writing->writer, EDGES, edge, NIGH__EDGE_WORDS_STAR, error);
}

static nigh_status write_round(const struct rounds *rounds, struct nigh__sorter *edges, struct writing *writing,
                               nigh_error *error) {
    const nigh_staged *staged = rounds->staged;
    const struct nigh__stage_label label = label_of(staged);
    char *path = path_of(staged);
    *writing = (struct writing){.writer = {.context = NULL}, .info = {[ROUND] = rounds->info[ROUND] + 1}};
    if (path == NULL) return nigh__no_memory(error, "for a path");
    nigh_status status = nigh__stage_writer_open(staged->context, path, &label, SECTIONS, &writing->writer, error);
    writing->writer.replacement.passing = staged->passing;
    if (status == NIGH_OK) status = each_edge(edges, write_edge, writing, error);
    if (status == NIGH_OK) status = nigh__stage_add(&writing->writer, INFO, writing->info, INFO_WORDS, error);
    if (status == NIGH_OK) status = nigh__stage_writer_finish(&writing->writer, error);
    nigh__stage_writer_release(&writing->writer);
    nigh__free(staged->context, path);
    return status;
}

/* The last round that was made before, if any was, and its file is sound. */
static nigh_status find_round(struct rounds *rounds, nigh_error *error) {
    struct nigh__stage_reader reader;
    nigh_error why = {0};
    uint64_t info[INFO_WORDS] = {0};
    nigh_status status = open_round(rounds->staged, &reader, &why);
    if (status == NIGH_OK) status = nigh__stage_check(&reader, &why);
    if (status == NIGH_OK) status = nigh__staged_info(&reader, INFO, info, INFO_WORDS, &why);
    nigh__stage_reader_release(&reader);
    for (size_t i = 0; status == NIGH_OK && i < INFO_WORDS; i++) rounds->info[i] = info[i];
    rounds->done->resumed = (uint32_t)rounds->info[ROUND];
    if (status == NIGH_OK || status == NIGH_ENOTFOUND || status == NIGH_ECORRUPT || status == NIGH_EFORMAT ||
        status == NIGH_EMISMATCH)
        return NIGH_OK;
    if (error != NULL) *error = why; /* a newer version's, or the disk's trouble */
    return status;
}

/* Each edge of the last round, larger first, ascending. */
static nigh_status each_of_round(const struct rounds *rounds, edge_take *take, void *user, nigh_error *error) {
    struct nigh__stage_reader reader;
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = open_round(rounds->staged, &reader, error);
    if (status == NIGH_OK) nigh__stage_begin(&reader, EDGES);
    while (status == NIGH_OK &&
           (status = nigh__stage_next(&reader, NIGH__EDGE_WORDS_STAR, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++)
            status = take(user, records[i * NIGH__EDGE_WORDS_STAR], records[i * NIGH__EDGE_WORDS_STAR + 1], error);
    nigh__stage_reader_release(&reader);
    return status == NIGH_END ? NIGH_OK : status;
}

/* ---------------------------------------------------------------- the rounds -- */

static nigh_status add_both(void *user, uint64_t larger, uint64_t smaller, nigh_error *error) {
    return nigh__star_add(user, larger, smaller, error);
}

/* From the edges both ways, which are freed, to the file of the next round. */
static nigh_status make_round(struct rounds *rounds, struct nigh__sorter **both, bool *changed, nigh_error *error) {
    struct nigh__sorter *large = NULL;
    struct nigh__sorter *small = NULL;
    struct writing writing;
    nigh_status status = make_star(rounds->staged, take_large, both, &large, error);
    if (status == NIGH_OK) status = make_star(rounds->staged, take_small, &large, &small, error);
    if (status == NIGH_OK) status = write_round(rounds, small, &writing, error);
    nigh__sorter_free(large);
    nigh__sorter_free(small);
    if (status != NIGH_OK) return status;
    *changed = rounds->info[ROUND] == 0 || writing.info[COUNT] != rounds->info[COUNT] ||
               writing.info[PRINT] != rounds->info[PRINT];
    rounds->done->rounds++;
    for (size_t i = 0; i < INFO_WORDS; i++) rounds->info[i] = writing.info[i];
    return NIGH_OK;
}

static nigh_status run(struct rounds *rounds, nigh__star_feed *feed, void *user, nigh_error *error) {
    nigh_status status = find_round(rounds, error);
    bool changed = true;
    while (status == NIGH_OK && changed && rounds->info[ROUND] < MAX_ROUNDS) {
        struct nigh__sorter *both = NULL;
        status = new_sorter(rounds->staged, true, &both, error);
        if (status == NIGH_OK)
            status = rounds->info[ROUND] == 0 ? feed(user, both, error) : each_of_round(rounds, add_both, both, error);
        if (status == NIGH_OK) status = make_round(rounds, &both, &changed, error);
        nigh__sorter_free(both);
    }
    if (status == NIGH_OK && changed)
        return nigh__fail_at(error, NIGH_ELIMIT, rounds->staged->work, NIGH_NO_OFFSET,
                             "components are not found in %u rounds", MAX_ROUNDS);
    return status;
}

/* ---------------------------------------------------------------- the labels -- */

struct labelling {
    struct nigh__sorter *labels, *members; /* by document; by label */
    uint64_t label, size;
    struct nigh__star_done *done;
};

static nigh_status add_label(void *user, uint64_t larger, uint64_t smaller, nigh_error *error) {
    const struct labelling *labelling = user;
    nigh_status status = add(labelling->labels, larger, smaller, error);
    if (status == NIGH_OK) status = add(labelling->labels, smaller, smaller, error);
    return status == NIGH_OK ? add(labelling->members, smaller, larger, error) : status;
}

static nigh_status count_member(void *user, uint64_t label, uint64_t member, nigh_error *error) {
    struct labelling *labelling = user;
    struct nigh__star_done *done = labelling->done;
    (void)member;
    (void)error;
    const bool begins = done->components == 0 || labelling->label != label;
    done->components += begins;
    labelling->label = label;
    labelling->size = begins ? 2 : labelling->size + 1;
    if (labelling->size > done->largest) done->largest = labelling->size;
    return NIGH_OK;
}

nigh_status nigh__star_labels(const nigh_staged *staged, nigh__star_feed *feed, void *user, struct nigh__sorter **out,
                              struct nigh__star_done *done, nigh_error *error) {
    struct rounds rounds = {.staged = staged, .done = done};
    struct labelling labelling = {.done = done};
    *done = (struct nigh__star_done){0};
    *out = NULL;
    nigh_status status = run(&rounds, feed, user, error);
    if (status == NIGH_OK) status = new_sorter(staged, true, &labelling.labels, error);
    if (status == NIGH_OK) status = new_sorter(staged, false, &labelling.members, error);
    if (status == NIGH_OK) status = each_of_round(&rounds, add_label, &labelling, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(labelling.labels, error);
    if (status == NIGH_OK) status = each_edge(labelling.members, count_member, &labelling, error);
    nigh__sorter_free(labelling.members);
    if (status == NIGH_OK)
        *out = labelling.labels;
    else
        nigh__sorter_free(labelling.labels);
    return status;
}

void nigh__star_clear(const nigh_staged *staged) {
    char *path = path_of(staged);
    if (path != NULL) nigh__file_remove(staged->context, path);
    nigh__free(staged->context, path);
}
