/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good filters can be at best, given how often words and pairs of words occur: the question that the paper on
 * COCA leaves open.
 *
 * A filter of m bits accepts a set A of words that contains the block S.  So m >= I(S; A) = H(S) - H(S | A).
 * Given A, S is a part of it; of all distributions over parts with a given mean size the one that takes words
 * independently has the most entropy, and x h(n / x) is concave in both, so with n words a block and an error of
 * t = E|A - S| / |W| in the mean, whatever blocks are long and whichever filters err more,
 *
 *     H(S | A) <= n G(r),   G(r) = lg(1 + r) + r lg(1 + 1 / r),   r = t |W| / n
 *     m / n    >= H(S) / n - G(r)
 *
 * Where all sets of n words are equally likely, H / n is about lg(e |W| / n) and G about lg(e r): m / n >= lg(1 / t),
 * the usual bound.  What is known of the blocks makes H(S) less.  The structure has to serve every distribution that
 * agrees with what it was told, so that of the most entropy:
 *
 *     frequencies of words          H = sum over words of h(p), words independent
 *     and pairs along a tree        H = that less the mutual information of each word and its parent
 *
 * A word hangs at the word that tells most of it among the more frequent ones (of equal ones, of lower number), so
 * there is no circle.  With all pairs given H is less again.  That distribution is an Ising model: no closed form
 * is known for its entropy, and to compute it is intractable for thousands of words.  There the theory stops.
 *
 * Cost: a word looks at PROBED of its blocks to choose its parent, and counts the blocks of both exactly.
 */
#include "base/logarithm.h"
#include "base/status.h"
#include "eval/filters.h"

#define LN_2 0.69314718055994530942
#define PROBED 256u
#define STEPS 100u

static double lg(double x) { return nigh__ln(x) / LN_2; }

/* -p lg p for a count of a whole */
static double part(double count, double whole) { return count <= 0 ? 0 : count / whole * lg(whole / count); }

static double binary(double count, double whole) { return part(count, whole) + part(whole - count, whole); }

/* How much two words tell of each other that have a and b blocks, `both` of them in common. */
static double shared(double a, double b, double both, double whole) {
    const double joint =
        part(both, whole) + part(a - both, whole) + part(b - both, whole) + part(whole - a - b + both, whole);
    const double told = binary(a, whole) + binary(b, whole) - joint;
    return told > 0 ? told : 0;
}

/* ----------------------------------------------------------------- tree -- */

struct tree {
    const struct nigh__blocks *blocks;
    uint64_t *begins;  /* of each term's blocks, terms + 1 */
    uint32_t *lists;   /* ascending */
    uint32_t *counts;  /* of terms, 0 between words */
    uint32_t *touched; /* those that are not */
};

static void turn_over(struct tree *tree) {
    const struct nigh__blocks *blocks = tree->blocks;
    tree->begins[0] = 0;
    for (uint32_t term = 0; term < blocks->terms; term++)
        tree->begins[term + 1] = tree->begins[term] + blocks->frequencies[term];
    for (uint32_t block = 0; block < blocks->blocks; block++)
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
            const uint32_t term = blocks->block_terms[i];
            tree->lists[tree->begins[term] + tree->counts[term]++] = block;
        }
    for (uint32_t term = 0; term < blocks->terms; term++) tree->counts[term] = 0;
}

static bool comes_before(const struct nigh__blocks *blocks, uint32_t a, uint32_t b) {
    const uint32_t of_a = blocks->frequencies[a], of_b = blocks->frequencies[b];
    return of_a != of_b ? of_a > of_b : a < b;
}

/* Counts the words that come before it, in some of its blocks; returns how many words. */
static uint32_t count_others(struct tree *tree, uint32_t term, uint32_t probed) {
    const struct nigh__blocks *blocks = tree->blocks;
    const uint32_t frequency = blocks->frequencies[term];
    uint32_t touched = 0;
    for (uint32_t i = 0; i < probed; i++) {
        const uint32_t block = tree->lists[tree->begins[term] + (uint64_t)i * frequency / probed];
        for (uint64_t k = blocks->begins[block]; k < blocks->begins[block + 1]; k++) {
            const uint32_t other = blocks->block_terms[k];
            if (!comes_before(blocks, other, term)) continue;
            if (tree->counts[other]++ == 0) tree->touched[touched++] = other;
        }
    }
    return touched;
}

static bool has_block(const struct tree *tree, uint32_t term, uint32_t block) {
    uint64_t low = tree->begins[term], high = tree->begins[term + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (tree->lists[middle] < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tree->begins[term + 1] && tree->lists[low] == block;
}

static uint32_t count_both(const struct tree *tree, uint32_t rare, uint32_t frequent) {
    uint32_t both = 0;
    for (uint64_t i = tree->begins[rare]; i < tree->begins[rare + 1]; i++)
        both += has_block(tree, frequent, tree->lists[i]);
    return both;
}

/* What the parent of a word tells of it; 0: it has none. */
static double told_by_parent(struct tree *tree, uint32_t term) {
    const struct nigh__blocks *blocks = tree->blocks;
    const uint32_t frequency = blocks->frequencies[term];
    const uint32_t probed = frequency < PROBED ? frequency : PROBED;
    const uint32_t touched = count_others(tree, term, probed);
    uint32_t parent = term;
    double most = 0;
    for (uint32_t i = 0; i < touched; i++) {
        const uint32_t other = tree->touched[i];
        const double both = (double)tree->counts[other] * frequency / probed;
        const double told = shared(frequency, blocks->frequencies[other], both, blocks->blocks);
        tree->counts[other] = 0;
        if (told > most || (told == most && told > 0 && other < parent)) most = told, parent = other;
    }
    if (parent == term || probed == frequency) return most;
    return shared(frequency, blocks->frequencies[parent], count_both(tree, term, parent), blocks->blocks);
}

nigh_status nigh__filter_entropy(const struct nigh__blocks *blocks, double *words, double *pairs, nigh_error *error) {
    const nigh_context *context = blocks->context;
    struct tree tree = {.blocks = blocks};
    tree.begins = nigh__alloc(context, (size_t)blocks->terms + 1, sizeof *tree.begins);
    tree.lists = nigh__alloc_large(context, blocks->postings, sizeof *tree.lists);
    tree.counts = nigh__alloc_zero(context, blocks->terms, sizeof *tree.counts);
    tree.touched = nigh__alloc(context, blocks->terms, sizeof *tree.touched);
    const bool enough = tree.begins != NULL && tree.lists != NULL && tree.counts != NULL && tree.touched != NULL;
    *words = *pairs = 0;
    if (enough) {
        turn_over(&tree);
        for (uint32_t term = 0; term < blocks->terms; term++) {
            const double own = binary(blocks->frequencies[term], blocks->blocks);
            *words += own;
            *pairs += own - told_by_parent(&tree, term);
        }
    }
    nigh__free(context, tree.begins);
    nigh__free(context, tree.lists);
    nigh__free(context, tree.counts);
    nigh__free(context, tree.touched);
    return enough ? NIGH_OK : nigh__no_memory(error, "to count words together");
}

/* ---------------------------------------------------------------- bound -- */

double nigh__filter_bound(double ratio, double entropy, double words, double terms) {
    double low = 0, high = 1; /* the error lies between */
    if (words <= 0 || entropy / words <= ratio) return 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2, r = middle * terms / words;
        if (r > 0 && entropy / words - lg(1 + r) - r * lg(1 + 1 / r) <= ratio)
            high = middle;
        else
            low = middle;
    }
    return high;
}
