/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two ways of searching a graph share: the numbers that say what is found, and
 * the errors.  Included by graph/graph_* alone.
 */
#ifndef NIGH_GRAPH_GRAPH_PARTS_H
#define NIGH_GRAPH_GRAPH_PARTS_H

#include <math.h>

#include "graph/graph.h"
#include "scan/ranking.h"

#define NIGH__GRAPH_SEED_BLOCK 16u        /* seeds that are compared in one turn */
#define NIGH__GRAPH_SEEDS_WHOLE 64u       /* lists of no more seeds are taken whole */
#define NIGH__GRAPH_ENTRIES 64u           /* nodes to begin from where there are no seeds; compared in one turn */
#define NIGH__GRAPH_MAX_CENTRES 64u       /* groups that are asked, and centres whose nodes are seeds, at most */
#define NIGH__GRAPH_CENTRES 16u           /* of these where every bit counts */
#define NIGH__GRAPH_SAMPLED 16u           /* nodes of the sample to begin from */
#define NIGH__GRAPH_ALL_GROUPS 512u       /* effort with which a walk asks all groups when it is lost */
#define NIGH__GRAPH_FIRST_STEPS 64u       /* after which a walk should have come to where it is not lost */
#define NIGH__GRAPH_SKETCH_DEVIATIONS 1.0 /* beyond which a sketch is too far */
#define NIGH__GRAPH_FOLLOWED 4u           /* steps of a turn, at most */
#define NIGH__GRAPH_LONG_WALK 64u         /* effort from which walks take so many, where every bit counts */
#define NIGH__GRAPH_MAX_BLOCK 256u        /* nodes of a turn: those, or the edges of a node, or of some */

_Static_assert(NIGH__GRAPH_MAX_DEGREE <= NIGH__GRAPH_MAX_BLOCK, "all edges of a node in one turn");

/* Where a walk begins. */
struct nigh__graph_starts {
    uint32_t slices;  /* the first ones: nodes that share one with the query */
    uint32_t centres; /* groups that are asked, and of all their centres those whose nodes it begins from: the nearest
                         of each; at most NIGH__GRAPH_MAX_CENTRES */
    uint32_t sampled; /* nodes of the sample that it begins from instead, at most NIGH__GRAPH_MAX_CENTRES */
    uint32_t lost_share; /* of NIGH__GRAPH_ALL_GROUPS groups, so many are asked when it is lost, for as many centres
                            again; 0: there are no groups */
};

/*
 * A short walk is short of time: with few nodes in mind it begins from fewer, for looking these up would take longer
 * than walking.  What it leaves out it comes back to when it is lost.  Of a graph without centres all slices.  Where
 * not every bit counts (not `plain`), a slice tells nothing, for most of its bits do not, nor can a walk know that it
 * is lost: it begins from the sample, or from centres where there is none.
 *
 * Of the ten nearest by weights of 256 short texts among 733,000 short messages, walks found
 *
 *     from                           E = 100    300    600    (without patience)
 *     64 centres (of 128 texts)         .827   .894   .917
 *     the sample, every 16th node       .900   .929   .940
 *                        8th            .916   .939   .950
 *                        4th            .941   .956   .963
 *                        4th, slack 1   .934   .954   .961
 *
 * From 16 of the sample and from 64 alike.  The first words that a document and a query share may be rare ones, and
 * their ten documents all that there are: of every 4th node some are almost always in the sample.
 */
static inline struct nigh__graph_starts nigh__graph_starts(const struct nigh__graph_facts *facts, uint32_t effort,
                                                           bool plain) {
    if (!plain && facts->sample_step != 0) return (struct nigh__graph_starts){.sampled = NIGH__GRAPH_SAMPLED};
    if (!plain) return (struct nigh__graph_starts){.centres = facts->centre_words == 0 ? 0 : NIGH__GRAPH_MAX_CENTRES};
    if (facts->centre_words == 0) return (struct nigh__graph_starts){.slices = facts->seed_slices};
    uint32_t centres = effort / 2 < 4 ? 4 : effort / 2;
    if (centres > NIGH__GRAPH_CENTRES) centres = NIGH__GRAPH_CENTRES;
    const uint32_t slices = effort < 16 ? 1 : effort / 4;
    return (struct nigh__graph_starts){.slices = slices < facts->seed_slices ? slices : facts->seed_slices,
                                       .centres = centres,
                                       .lost_share = effort < NIGH__GRAPH_ALL_GROUPS ? effort : NIGH__GRAPH_ALL_GROUPS};
}

/*
 * Nodes of a list of so many that are seeds, evenly chosen.  That many share a slice tells little, unless they are a
 * crowd: texts of one template, as near to a query as those of another, to which no edge leads from these.  So the
 * longer a walk, the more.  Of 732,000 messages that mostly differ in a word (effort 320, without patience), half as
 * many as the effort led to a recall of .979 instead of .960 with the lists that are taken whole alone, in 1.2 times
 * the time; as many as the effort to .984 in 1.3 times, but where there are few crowds that costs more than it finds.
 */
static inline uint32_t nigh__graph_seeds_taken(uint32_t effort, uint32_t length) {
    return length <= NIGH__GRAPH_SEEDS_WHOLE || length <= effort / 2 ? length : effort / 2;
}

/* Groups that a lost walk asks. */
static inline uint64_t nigh__graph_lost_groups(const struct nigh__graph *graph,
                                               const struct nigh__graph_starts *starts) {
    return (graph->group_count * starts->lost_share + NIGH__GRAPH_ALL_GROUPS - 1) / NIGH__GRAPH_ALL_GROUPS;
}

/*
 * Steps of a turn.  A walk waits for memory, for four steps at once not much longer than for one, and what it then
 * knows late costs it less than that.  Of 401,080 documents (Zen 5, without large pages, us a query and recall@10):
 *
 *     effort        10           40           80          160           320
 *     one       13.3, .709   34.6, .848   50.0, .892   78.6, .923   127.8, .949
 *     two       13.6, .739   27.8, .853   39.8, .896   61.7, .926    98.6, .951
 *     four      14.8, .750   29.2, .859   40.5, .897   57.7, .926    94.1, .952
 *
 * A short walk would take four steps of which it wanted one.
 */
static inline uint32_t nigh__graph_followed(const struct nigh__graph *graph, uint32_t effort, bool plain) {
    const uint32_t followed = plain && effort < NIGH__GRAPH_LONG_WALK ? NIGH__GRAPH_FOLLOWED / 2 : NIGH__GRAPH_FOLLOWED;
    return followed * graph->degree > NIGH__GRAPH_MAX_BLOCK ? 1 : followed;
}

/* The nodes to begin from where no seed leads on: some evenly chosen ones, then all. */
static inline uint64_t nigh__graph_entry_count(uint32_t nodes) { return (uint64_t)nodes + NIGH__GRAPH_ENTRIES; }

static inline uint32_t nigh__graph_entry(uint32_t nodes, uint64_t number) {
    if (number >= NIGH__GRAPH_ENTRIES) return (uint32_t)(number - NIGH__GRAPH_ENTRIES);
    return (uint32_t)(number * nodes / NIGH__GRAPH_ENTRIES);
}

/*
 * The farthest that a sketch may be, where a node must be no farther than `worst`: its share of the distance, and a
 * bit for each eight words of the row.
 */
static inline uint32_t nigh__graph_sketch_limit(uint32_t sketch_words, uint32_t words, uint32_t worst) {
    if (sketch_words == words) return worst;
    return worst * sketch_words / words + words / 8;
}

/* What the bits that count come to, in all and in a sketch. */
struct nigh__graph_share {
    uint32_t whole, sketch;
    uint32_t slack;
};

/*
 * Where not every bit counts, a sketch has few that do: how many of those that differ fall into it is a wide guess.  So
 * to its share of the distance are added some deviations of that, were half of all bits to differ.
 * With one, walks found .006 less (E = 100) and as much (E = 300) as when no node was left out.
 */
static inline struct nigh__graph_share nigh__graph_share(const struct nigh__ranking_sums *all,
                                                         const struct nigh__ranking_sums *sketch) {
    const double rest = all->whole == 0 ? 0 : (double)(all->whole - sketch->whole) / all->whole;
    return (struct nigh__graph_share){
        .whole = all->whole,
        .sketch = sketch->whole,
        .slack = (uint32_t)(NIGH__GRAPH_SKETCH_DEVIATIONS * sqrt((double)sketch->squares * rest) / 2)};
}

/* As nigh__graph_sketch_limit. */
static inline uint32_t nigh__graph_share_limit(const struct nigh__graph_share *share, uint32_t worst) {
    if (share->whole == 0) return worst;
    return (uint32_t)((uint64_t)worst * share->sketch / share->whole) + share->slack;
}

/* The list of a slice of the query. */
static inline uint64_t nigh__graph_seed_list(const struct nigh__graph_facts *facts, const uint64_t *row,
                                             uint32_t slice) {
    const uint32_t start = slice * facts->seed_bits;
    const uint32_t shift = start % 64;
    uint64_t bits = row[start / 64] >> shift;
    if (shift + facts->seed_bits > 64) bits |= row[start / 64 + 1] << (64 - shift);
    return (uint64_t)slice << facts->seed_bits | (bits & ((UINT64_C(1) << facts->seed_bits) - 1));
}

/* The error for a number that cannot be right; `item` is in one of the arrays of the graph. */
nigh_status nigh__graph_corrupt(const struct nigh__graph *graph, enum nigh__graph_section section, uint64_t index,
                                const char *why, nigh_error *error);

#endif
