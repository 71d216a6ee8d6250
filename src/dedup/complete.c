/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All members of a cluster are alike to each other, so a document that joins would have to be
 * compared with each member: in a crowd, the square of its size. Most of these comparisons are not
 * needed. Take any set p as a centre. Sets x and y that share c(x) and c(y) features with it share
 * at least c(x) + c(y) - |p| with each other, and their Jaccard index is t or more if, for the
 * slack
 *
 *     f(x) = (1 + t) (2 c(x) - |p|) - 2 t |x|          f(x) + f(y) >= 0
 *
 * So one comparison with the centre stands for those with all members of enough slack,
 * and any two of slack 0 or more, the ball round p, are alike.  (Of bits, where nothing is
 * verified, r - 2 d(x, p) does the same: distances add up at most.)
 *
 *     cluster    what stays    the first centre; its ball has those very near it
 *                balls         of centres that are sets of no document: what most of some
 *                              members have, which is what they were made from, a template
 *                loose         the others
 *
 * A document is compared with each centre, with the members of a ball that its slack leaves open,
 * and with the loose ones. Members of a ball are a heap, the least slack first, so those left open
 * are all that is looked at. Once there are many loose ones, the last of them and those nearest to
 * it make a centre; members nearer to it than to their own centre move there. When documents were
 * made from a few templates, that is a handful of comparisons for each, however many there are.
 *
 * If they were not, the caller limits the comparisons of one document. A cluster with which it was
 * not fully compared does not take it, and is counted as truncated: no document joins unchecked.
 *
 * Rounding must not make two sets alike that are not. Hence the MARGIN: a sum that falls into it is
 * followed by a comparison.
 */
#include "dedup/complete.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/candidates.h"
#include "dedup/crowd_lists.h"
#include "dedup/likeness.h"
#include "kernel/hamming.h"

#define MARGIN 1e-3   /* features: more than rounding makes of sets of 10^12 */
#define SAMPLE 16u    /* loose ones that make a centre */
#define WORTH_BALL 8u /* members */

struct ball_member {
    double slack;
    uint64_t rank;
};

struct ball {
    uint64_t *centre;           /* features, sorted, or a row of bits; owned.  NULL: what stays */
    size_t words;               /* of the centre */
    struct nigh__array members; /* of struct ball_member, a heap: none has less slack than the one above it */
};

struct cluster {
    uint64_t kept;              /* rank */
    uint64_t population;        /* besides it */
    uint32_t shortest, longest; /* features of a member */
    struct nigh__array balls;   /* of struct ball; they stay where they are */
    struct nigh__array loose;   /* of uint64_t: ranks */
    size_t try_at;              /* so many loose ones are worth a centre */
    bool cut;                   /* somebody could not be held against all of it */
};

static uint64_t document_of(const struct nigh__complete *complete, uint64_t rank) {
    return complete->comparer->order->first[rank];
}

static uint32_t features_of(const struct nigh__complete *complete, uint64_t rank) {
    return nigh__dedup_document(complete->comparer->dedup, document_of(complete, rank))->features;
}

static const uint64_t *row_of(const struct nigh__complete *complete, uint64_t rank) {
    return nigh__gathered_row(complete->comparer->gathered, document_of(complete, rank));
}

static struct cluster *find_cluster(const struct nigh__complete *complete, uint64_t kept) {
    const uint64_t number = complete->numbers[kept];
    return number == 0 ? NULL : (struct cluster *)complete->clusters.data + (number - 1);
}

nigh_status nigh__complete_init(const struct nigh__comparer *comparer, uint64_t ranks, struct nigh__complete *out,
                                nigh_error *error) {
    const nigh_dedup *dedup = comparer->dedup;
    const bool minhash = dedup->reading != NULL && dedup->options.method == NIGH_DEDUP_MINHASH;
    *out = (struct nigh__complete){.comparer = comparer,
                                   .context = dedup->context,
                                   .clusters = NIGH__ARRAY(struct cluster),
                                   .numbers = nigh__alloc_zero(dedup->context, (size_t)ranks, sizeof *out->numbers),
                                   .radius = minhash ? nigh__crowd_find_radius(dedup->options.threshold)
                                                     : dedup->options.distance,
                                   .by_length = minhash && !dedup->verified};
    return out->numbers == NULL ? nigh__no_memory(error, "for clusters") : NIGH_OK;
}

static void release_cluster(const nigh_context *context, struct cluster *cluster) {
    struct ball *balls = cluster->balls.data;
    for (size_t i = 0; i < cluster->balls.count; i++) {
        nigh__free(context, balls[i].centre);
        nigh__array_release(context, &balls[i].members);
    }
    nigh__array_release(context, &cluster->balls);
    nigh__array_release(context, &cluster->loose);
}

void nigh__complete_release(struct nigh__complete *complete) {
    if (complete->context == NULL) return;
    struct cluster *clusters = complete->clusters.data;
    for (size_t i = 0; i < complete->clusters.count; i++) release_cluster(complete->context, &clusters[i]);
    nigh__array_release(complete->context, &complete->clusters);
    nigh__free(complete->context, complete->numbers);
    *complete = (struct nigh__complete){.context = NULL};
}

uint64_t nigh__complete_population(const struct nigh__complete *complete, uint64_t kept) {
    const struct cluster *cluster = find_cluster(complete, kept);
    return cluster == NULL ? 0 : cluster->population;
}

uint64_t nigh__complete_truncated(const struct nigh__complete *complete) {
    const struct cluster *clusters = complete->clusters.data;
    uint64_t truncated = 0;
    for (size_t i = 0; i < complete->clusters.count; i++) truncated += clusters[i].cut;
    return truncated;
}

/* -------------------------------------------------------------------- slack -- */

static uint32_t distance_to(const struct nigh__complete *complete, const uint64_t *row, uint64_t rank) {
    return complete->context->hamming->pair((const uint8_t *)row, (const uint8_t *)row_of(complete, rank),
                                            complete->comparer->gathered->row_words * sizeof *row);
}

/* Of a set that has so many features in common with a centre of so many. */
static double slack_of_set(const struct nigh__complete *complete, uint64_t common, uint64_t centre, uint64_t own) {
    const double threshold = complete->comparer->dedup->options.threshold;
    return (1 + threshold) * (2 * (double)common - (double)centre) - 2 * threshold * (double)own;
}

static double slack_of_row(const struct nigh__complete *complete, const uint64_t *centre, uint64_t rank) {
    return (double)complete->radius - 2 * (double)distance_to(complete, centre, rank);
}

static double slack_to_kept(const struct nigh__complete *complete, uint64_t kept, uint64_t rank, uint64_t common) {
    if (!complete->comparer->dedup->verified) return slack_of_row(complete, row_of(complete, kept), rank);
    return slack_of_set(complete, common, features_of(complete, kept), features_of(complete, rank));
}

static nigh_status measure(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                           const struct ball *ball, uint64_t rank, double *slack, nigh_error *error) {
    const struct nigh__comparer *comparer = complete->comparer;
    NIGH__ASSERT(ball->centre != NULL);
    if (!comparer->dedup->verified) {
        *slack = slack_of_row(complete, ball->centre, rank);
        return NIGH_OK;
    }
    uint64_t common = 0;
    asking->compared++;
    nigh_status status = nigh__sets_common_with(comparer->sets, asking->reader, document_of(complete, rank),
                                                ball->centre, ball->words, &common, error);
    *slack = slack_of_set(complete, common, ball->words, features_of(complete, rank));
    return status;
}

static bool is_tight(double slack) { return slack >= MARGIN; }
static bool is_proven(double a, double b) { return a + b >= MARGIN; }

/* ------------------------------------------------------------------- asking -- */

/* Takes one comparison off the budget; false: none is left. */
static bool spend(struct nigh__complete_asking *asking) {
    if (asking->left > 0) asking->left--;
    return asking->left > 0;
}

/* By a comparison of the two. */
static nigh_status is_alike(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                            uint64_t member, uint64_t rank, bool *out, nigh_error *error) {
    struct nigh__comparison comparison = {.alike = false};
    const bool verified = complete->comparer->dedup->verified;
    *out = spend(asking) && (verified || distance_to(complete, row_of(complete, member), rank) <= complete->radius);
    if (!*out) return NIGH_OK;
    asking->compared++;
    nigh_status status = nigh__compare(complete->comparer, asking->reader, member, rank, false, &comparison, error);
    *out = comparison.alike;
    return status;
}

/* What follows a node of a heap, from above, with what is below it or without. */
static size_t next_node(size_t node, size_t count, bool below) {
    if (below && 2 * node + 1 < count) return 2 * node + 1;
    for (; node != 0; node = (node - 1) / 2)
        if (node % 2 == 1 && node + 1 < count) return node + 1;
    return count;
}

/* Whether the members of a ball that its slack leaves open are alike to a rank. */
static nigh_status ask_ball(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                            const struct ball *ball, double slack, uint64_t rank, bool *out, nigh_error *error) {
    const struct ball_member *members = ball->members.data;
    const size_t count = ball->members.count;
    nigh_status status = NIGH_OK;
    for (size_t node = 0; status == NIGH_OK && *out && node < count;) {
        const bool open = !is_proven(members[node].slack, slack);
        if (open) status = is_alike(complete, asking, members[node].rank, rank, out, error);
        node = next_node(node, count, open);
    }
    return status;
}

static nigh_status ask_loose(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                             const struct cluster *cluster, uint64_t rank, bool *out, nigh_error *error) {
    const uint64_t *loose = cluster->loose.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && *out && i < cluster->loose.count; i++)
        status = is_alike(complete, asking, loose[i], rank, out, error);
    return status;
}

/* The ball of the most slack is where it belongs. */
static void prefer(struct nigh__complete_place *place, size_t ball) {
    const double slack = place->slacks[ball];
    if (is_tight(slack) && (place->ball == NIGH__COMPLETE_LOOSE || slack > place->slacks[place->ball]))
        place->ball = ball;
}

static bool fits_lengths(const struct nigh__complete *complete, const struct cluster *cluster, uint64_t rank) {
    const double threshold = complete->comparer->dedup->options.threshold;
    const uint32_t own = features_of(complete, rank);
    return !complete->by_length || (nigh__lengths_fit(threshold, own, cluster->shortest) &&
                                    nigh__lengths_fit(threshold, own, cluster->longest));
}

/* The centres first: they tell most at once. */
static nigh_status ask_cluster(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                               const struct cluster *cluster, uint64_t rank, struct nigh__complete_place *place,
                               bool *out, nigh_error *error) {
    const struct ball *balls = cluster->balls.data;
    nigh_status status = NIGH_OK;
    *out = fits_lengths(complete, cluster, rank);
    for (size_t i = 0; status == NIGH_OK && *out && i < cluster->balls.count; i++) {
        *out = i == 0 || spend(asking); /* also where it was measured before, so that asking again comes to the same */
        if (*out && i == place->measured)
            status = measure(complete, asking, &balls[i], rank, &place->slacks[place->measured++], error);
        if (status != NIGH_OK || !*out) return status;
        prefer(place, i);
        status = ask_ball(complete, asking, &balls[i], place->slacks[i], rank, out, error);
    }
    return status == NIGH_OK && *out ? ask_loose(complete, asking, cluster, rank, out, error) : status;
}

void nigh__complete_begin(const struct nigh__complete *complete, uint64_t kept, uint64_t rank, uint64_t common,
                          struct nigh__complete_place *out) {
    out->slacks[0] = slack_to_kept(complete, kept, rank, common);
    out->measured = 1;
}

nigh_status nigh__complete_admits(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                                  uint64_t kept, uint64_t rank, struct nigh__complete_place *place, bool *out,
                                  nigh_error *error) {
    const struct cluster *cluster = find_cluster(complete, kept);
    place->ball = NIGH__COMPLETE_LOOSE;
    place->population = cluster == NULL ? 0 : cluster->population;
    *out = true;
    if (cluster == NULL) {
        prefer(place, 0);
        return NIGH_OK;
    }
    return ask_cluster(complete, asking, cluster, rank, place, out, error);
}

void nigh__complete_cut(const struct nigh__complete *complete, uint64_t kept) {
    struct cluster *cluster = find_cluster(complete, kept);
    if (cluster != NULL) cluster->cut = true;
}

/* ------------------------------------------------------------------ joining -- */

/* Into the heap. */
static nigh_status add_to_ball(const struct nigh__complete *complete, struct ball *ball, double slack, uint64_t rank,
                               nigh_error *error) {
    if (nigh__array_add(complete->context, &ball->members, 1) == NULL) return nigh__no_memory(error, "for clusters");
    struct ball_member *members = ball->members.data;
    size_t node = ball->members.count - 1;
    for (; node > 0 && members[(node - 1) / 2].slack > slack; node = (node - 1) / 2)
        members[node] = members[(node - 1) / 2];
    members[node] = (struct ball_member){slack, rank};
    return NIGH_OK;
}

static struct ball *add_ball(const struct nigh__complete *complete, struct cluster *cluster, nigh_error *error) {
    struct ball *ball = nigh__array_add(complete->context, &cluster->balls, 1);
    if (ball == NULL)
        (void)nigh__no_memory(error, "for clusters");
    else
        *ball = (struct ball){.members = NIGH__ARRAY(struct ball_member)};
    return ball;
}

static struct cluster *make_cluster(struct nigh__complete *complete, uint64_t kept, nigh_error *error) {
    struct cluster *cluster = nigh__array_add(complete->context, &complete->clusters, 1);
    if (cluster == NULL) {
        (void)nigh__no_memory(error, "for clusters");
        return NULL;
    }
    const uint32_t features = features_of(complete, kept);
    *cluster = (struct cluster){.kept = kept,
                                .shortest = features,
                                .longest = features,
                                .balls = NIGH__ARRAY(struct ball),
                                .loose = NIGH__ARRAY(uint64_t),
                                .try_at = SAMPLE};
    complete->numbers[kept] = complete->clusters.count;
    return add_ball(complete, cluster, error) == NULL ? NULL : cluster;
}

/* ------------------------------------------------------------------ centres -- */

static int compare_members(const void *left, const void *right) {
    const struct ball_member *a = left;
    const struct ball_member *b = right;
    if (a->slack != b->slack) return a->slack > b->slack ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* The loose ones, those nearest to the last of them first: it is the nearest. */
static nigh_status order_loose(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                               const struct cluster *cluster, struct ball_member *out, nigh_error *error) {
    const struct nigh__comparer *comparer = complete->comparer;
    const uint64_t *loose = cluster->loose.data;
    const size_t count = cluster->loose.count;
    const uint64_t last = loose[count - 1];
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        uint64_t common = 0;
        if (comparer->dedup->verified)
            status = nigh__sets_common(comparer->sets, asking->reader, document_of(complete, last),
                                       document_of(complete, loose[i]), &common, error);
        out[i] = (struct ball_member){slack_to_kept(complete, last, loose[i], common), loose[i]};
    }
    if (comparer->dedup->verified) asking->compared += count;
    if (status == NIGH_OK) qsort(out, count, sizeof *out, compare_members);
    return status;
}

/* What is there more than SAMPLE / 2 times; `all` grows by as much again, to be sorted. */
static nigh_status find_frequent(const struct nigh__complete *complete, struct nigh__array *all, struct ball *ball,
                                 nigh_error *error) {
    const size_t total = all->count;
    ball->centre = nigh__alloc(complete->context, total / (SAMPLE / 2 + 1) + 1, sizeof *ball->centre);
    if (ball->centre == NULL || nigh__array_add(complete->context, all, total) == NULL)
        return nigh__no_memory(error, "for clusters");
    uint64_t *words = all->data;
    const uint64_t *sorted = nigh__words_sort(words, words + total, total, 1, 1, 1);
    for (size_t i = SAMPLE / 2; i < total; i++)
        if (sorted[i] == sorted[i - SAMPLE / 2] && (i + 1 == total || sorted[i + 1] != sorted[i]))
            ball->centre[ball->words++] = sorted[i];
    return NIGH_OK;
}

/* The features that more than half of the first SAMPLE candidates have. */
static nigh_status find_features(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                                 const struct ball_member *candidates, struct ball *ball, nigh_error *error) {
    struct nigh__array all = NIGH__ARRAY(uint64_t);
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < SAMPLE; i++) {
        const uint64_t *set = NULL;
        const size_t count = features_of(complete, candidates[i].rank);
        status = nigh__sets_find(complete->comparer->sets, asking->reader, document_of(complete, candidates[i].rank),
                                 &set, error);
        uint64_t *place = status == NIGH_OK ? nigh__array_add(complete->context, &all, count) : NULL;
        if (place != NULL)
            memcpy(place, set, count * sizeof *set);
        else if (status == NIGH_OK)
            status = nigh__no_memory(error, "for clusters");
    }
    if (status == NIGH_OK) status = find_frequent(complete, &all, ball, error);
    nigh__array_release(complete->context, &all);
    return status;
}

/* The bits that more than half of them have. */
static nigh_status find_bits(const struct nigh__complete *complete, const struct ball_member *candidates,
                             struct ball *ball, nigh_error *error) {
    ball->words = complete->comparer->gathered->row_words;
    ball->centre = nigh__alloc_zero(complete->context, ball->words, sizeof *ball->centre);
    if (ball->centre == NULL) return nigh__no_memory(error, "for clusters");
    for (size_t bit = 0; bit < ball->words * 64; bit++) {
        uint32_t set = 0;
        for (size_t i = 0; i < SAMPLE; i++) set += nigh__bit_is_set(row_of(complete, candidates[i].rank), bit);
        if (set > SAMPLE / 2) nigh__bit_set(ball->centre, bit);
    }
    return NIGH_OK;
}

/* Moves to a ball the loose ones that are tight there. */
static nigh_status move_loose(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                              struct cluster *cluster, struct ball *ball, nigh_error *error) {
    uint64_t *loose = cluster->loose.data;
    const size_t count = cluster->loose.count;
    nigh_status status = NIGH_OK;
    cluster->loose.count = 0;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        double slack = 0;
        status = measure(complete, asking, ball, loose[i], &slack, error);
        if (status == NIGH_OK && is_tight(slack))
            status = add_to_ball(complete, ball, slack, loose[i], error);
        else
            loose[cluster->loose.count++] = loose[i];
    }
    return status;
}

/* They were too few. */
static void move_back(struct cluster *cluster, const struct ball *ball) {
    const struct ball_member *members = ball->members.data;
    uint64_t *loose = cluster->loose.data;
    for (size_t i = 0; i < ball->members.count; i++) loose[cluster->loose.count++] = members[i].rank;
}

/* And the members of another that are nearer to it. */
static nigh_status move_members(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                                struct ball *from, struct ball *ball, nigh_error *error) {
    const struct nigh__array before = from->members;
    const struct ball_member *members = before.data;
    nigh_status status = NIGH_OK;
    from->members = (struct nigh__array)NIGH__ARRAY(struct ball_member);
    for (size_t i = 0; status == NIGH_OK && i < before.count; i++) {
        double slack = 0;
        status = measure(complete, asking, ball, members[i].rank, &slack, error);
        const bool nearer = slack > members[i].slack;
        if (status == NIGH_OK)
            status =
                add_to_ball(complete, nearer ? ball : from, nearer ? slack : members[i].slack, members[i].rank, error);
    }
    struct nigh__array gone = before;
    nigh__array_release(complete->context, &gone);
    return status;
}

/* The members of all others may move to it, and it becomes one of the cluster's. */
static nigh_status keep_ball(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                             struct cluster *cluster, struct ball *ball, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < cluster->balls.count; i++)
        status = move_members(complete, asking, (struct ball *)cluster->balls.data + i, ball, error);
    struct ball *place = status == NIGH_OK ? add_ball(complete, cluster, error) : NULL;
    if (place == NULL) return status == NIGH_OK ? NIGH_ENOMEM : status;
    *place = *ball;
    *ball = (struct ball){.members = NIGH__ARRAY(struct ball_member)};
    return NIGH_OK;
}

/* A ball of those that are loose, if enough of them make one. */
static nigh_status make_ball(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                             struct cluster *cluster, nigh_error *error) {
    struct ball ball = {.members = NIGH__ARRAY(struct ball_member)};
    struct ball_member *candidates = nigh__alloc(complete->context, cluster->loose.count, sizeof *candidates);
    nigh_status status = candidates == NULL ? nigh__no_memory(error, "for clusters")
                                            : order_loose(complete, asking, cluster, candidates, error);
    if (status == NIGH_OK)
        status = complete->comparer->dedup->verified ? find_features(complete, asking, candidates, &ball, error)
                                                     : find_bits(complete, candidates, &ball, error);
    if (status == NIGH_OK) status = move_loose(complete, asking, cluster, &ball, error);
    if (status == NIGH_OK && ball.members.count < WORTH_BALL)
        move_back(cluster, &ball);
    else if (status == NIGH_OK)
        status = keep_ball(complete, asking, cluster, &ball, error);
    cluster->try_at = 2 * cluster->loose.count > SAMPLE ? 2 * cluster->loose.count : SAMPLE;
    nigh__free(complete->context, ball.centre);
    nigh__array_release(complete->context, &ball.members);
    nigh__free(complete->context, candidates);
    return status;
}

static nigh_status add_loose(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                             struct cluster *cluster, uint64_t rank, nigh_error *error) {
    uint64_t *place = nigh__array_add(complete->context, &cluster->loose, 1);
    if (place == NULL) return nigh__no_memory(error, "for clusters");
    *place = rank;
    if (cluster->loose.count < cluster->try_at || cluster->balls.count == NIGH__COMPLETE_BALLS) return NIGH_OK;
    return make_ball(complete, asking, cluster, error);
}

nigh_status nigh__complete_add(struct nigh__complete *complete, struct nigh__complete_asking *asking, uint64_t kept,
                               uint64_t rank, const struct nigh__complete_place *place, nigh_error *error) {
    struct cluster *cluster = find_cluster(complete, kept);
    if (cluster == NULL) cluster = make_cluster(complete, kept, error);
    if (cluster == NULL) return NIGH_ENOMEM;
    const uint32_t features = features_of(complete, rank);
    NIGH__ASSERT(place->population == cluster->population);
    cluster->population++;
    cluster->shortest = (uint32_t)nigh__smaller(features, cluster->shortest);
    cluster->longest = features > cluster->longest ? features : cluster->longest;
    if (place->ball == NIGH__COMPLETE_LOOSE) return add_loose(complete, asking, cluster, rank, error);
    struct ball *ball = (struct ball *)cluster->balls.data + place->ball;
    return add_to_ball(complete, ball, place->slacks[place->ball], rank, error);
}
