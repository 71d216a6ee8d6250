/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The true nearest documents, found by the scan in batches, and kept in a file because
 * finding them takes longer than everything that is measured against them.
 *
 *      0  magic, version, endianness mark        as of every file of ours
 *     16  k, and a zero                          u32 each
 *     24  queries, key                           u64 each
 *     40  zeros
 *     56  checksum of bytes 0..55 and of all that follows
 *     64  for each query: matches u32            then zeros up to a multiple of 8
 *         for each query: k times document u64, distance u32, zero u32
 *
 * The key is a hash of the segments' checksums, of the queries and of what is left out
 * of their answers: a truth that was made from anything else is not used.
 */
#include "search/truth.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/progress.h"
#include "base/replacement.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/header.h"
#include "search/search_options.h"

#define TRUTH_MAGIC "\x89NIGHT\r\n"
#define MAX_K 65536u
#define QUERIES_AT_ONCE 64u

struct header {
    uint8_t magic[NIGH__MAGIC_SIZE]; /*  0 */
    uint32_t version;                /*  8 */
    uint32_t endian_mark;            /* 12 */
    uint32_t k;                      /* 16 */
    uint32_t zero;                   /* 20 */
    uint64_t queries;                /* 24 */
    uint64_t key;                    /* 32 */
    uint64_t zeros[2];               /* 40 */
    uint64_t checksum;               /* 56 */
};

_Static_assert(sizeof(struct header) == 64, "format");
_Static_assert(sizeof(nigh_match) == 16, "format");

static nigh_status options_fit(const uint8_t *queries, size_t count, const nigh_eval_truth_options *options,
                               nigh_error *error) {
    if (queries == NULL && count != 0) return nigh__fail(error, NIGH_EINVAL, "there are no queries");
    if (options->k >= 1 && options->k <= MAX_K) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "k is %u; 1 to %u are allowed", options->k, MAX_K);
}

/* Room for so many matches; NULL: none. */
static nigh_eval_truth *truth_alloc(const nigh_context *context, uint64_t queries, uint32_t k) {
    nigh_eval_truth *truth = nigh__alloc_zero(context, 1, sizeof *truth);
    uint64_t all = 0;
    if (truth == NULL) return NULL;
    truth->context = context;
    truth->queries = queries;
    truth->k = k;
    if (nigh__multiply64(queries, k, &all) && all <= SIZE_MAX / sizeof *truth->matches) {
        truth->counts = nigh__alloc_zero(context, (size_t)queries + 1, sizeof *truth->counts); /* one to round up */
        truth->matches = nigh__alloc_zero(context, (size_t)all, sizeof *truth->matches);
    }
    if (truth->counts != NULL && truth->matches != NULL) return truth;
    nigh_eval_truth_free(truth);
    return NULL;
}

nigh_status nigh__truth_key(const nigh_collection *collection, const uint8_t *queries, size_t count,
                            const nigh_eval_truth_options *options, uint64_t *key, nigh_error *error) {
    struct nigh__hasher *hasher = nigh__hasher_new(collection->context);
    if (hasher == NULL) return nigh__no_memory(error, "for the truth");
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        const struct nigh__segment *segment = collection->segments[s];
        nigh__hasher_add(hasher, &segment->header.checksum, sizeof(uint64_t));
        if (segment->living != NULL) nigh__hasher_add(hasher, &segment->deletions.header_checksum, sizeof(uint64_t));
    }
    nigh__hasher_add(hasher, queries, count * nigh__row_bytes(collection->width_bits));
    for (size_t q = 0; q < count; q++) {
        const uint64_t own = nigh__own(options, q);
        nigh__hasher_add(hasher, &own, sizeof own);
    }
    *key = nigh__hasher_value(hasher);
    nigh__hasher_free(collection->context, hasher);
    return NIGH_OK;
}

size_t nigh__without_own(const nigh_match *matches, size_t count, uint64_t own, uint32_t k, nigh_match *out) {
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < k; i++)
        if (matches[i].document != own) out[kept++] = matches[i];
    return kept;
}

/* ------------------------------------------------------------------ making */

/* Queries first .. first + count - 1. */
static nigh_status scan_some(const nigh_collection *collection, const uint8_t *queries, size_t first, size_t count,
                             const nigh_eval_truth_options *options, const struct nigh__truth_ranking *ranking,
                             nigh_eval_truth *truth, nigh_error *error) {
    const size_t bytes = nigh__row_bytes(collection->width_bits);
    nigh_search_options search;
    nigh__options_defaults(&nigh__search_options_shape, &search);
    search.rank = ranking->rank;
    if (ranking->masks != NULL) search.masks = ranking->masks + first * bytes;
    if (ranking->weights != NULL) search.weights = ranking->weights + first * collection->width_bits;
    nigh_results *results = NULL;
    search.k = options->k + 1;
    search.method = NIGH_SEARCH_SCAN;
    search.threads = options->threads;
    nigh_status status = nigh_search(collection, queries + first * bytes, count, &search, &results, error);
    for (size_t q = 0; status == NIGH_OK && q < count; q++) {
        size_t found = 0;
        const nigh_match *matches = nigh_results_matches(results, q, &found);
        truth->counts[first + q] = (uint32_t)nigh__without_own(matches, found, nigh__own(options, first + q),
                                                               options->k, truth->matches + (first + q) * options->k);
    }
    nigh_results_free(results);
    return status;
}

nigh_status nigh_eval_truth_new(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                const nigh_eval_truth_options *options, nigh_eval_truth **out, nigh_error *error) {
    const struct nigh__truth_ranking plain = {.rank = NIGH_RANK_BITS};
    return nigh__truth_make(collection, queries, count, options, &plain, out, error);
}

nigh_status nigh__truth_make(const nigh_collection *collection, const uint8_t *queries, size_t count,
                             const nigh_eval_truth_options *options, const struct nigh__truth_ranking *ranking,
                             nigh_eval_truth **out, nigh_error *error) {
    *out = NULL;
    nigh_eval_truth_options chosen;
    struct nigh__progress progress;
    nigh_status status = nigh__options_copy(&nigh__eval_truth_options_shape, &chosen, options, error);
    if (status == NIGH_OK) status = options_fit(queries, count, &chosen, error);
    if (status != NIGH_OK) return status;
    nigh_eval_truth *truth = truth_alloc(collection->context, count, chosen.k);
    if (truth == NULL) return nigh__no_memory(error, "for the truth");
    nigh__progress_init(&progress, chosen.progress);
    status = nigh__truth_key(collection, queries, count, &chosen, &truth->key, error);
    for (size_t first = 0; status == NIGH_OK && first < count; first += QUERIES_AT_ONCE) {
        if (nigh__progress_tick(&progress, "finding the truth", first, count))
            status = nigh__progress_cancelled(error);
        else
            status = scan_some(collection, queries, first, nigh__smaller(QUERIES_AT_ONCE, count - first), &chosen,
                               ranking, truth, error);
    }
    if (status == NIGH_OK)
        *out = truth;
    else
        nigh_eval_truth_free(truth);
    return status;
}

void nigh_eval_truth_free(nigh_eval_truth *truth) {
    if (truth == NULL) return;
    nigh__free(truth->context, truth->counts);
    nigh__free(truth->context, truth->matches);
    nigh__free(truth->context, truth);
}

const nigh_match *nigh_eval_truth_matches(const nigh_eval_truth *truth, size_t query, size_t *count) {
    *count = query < truth->queries ? truth->counts[query] : 0;
    return query < truth->queries ? truth->matches + query * truth->k : NULL;
}

/* ---------------------------------------------------------------- the file */

static size_t counts_bytes(uint64_t queries) { return (size_t)nigh__round_up(queries * sizeof(uint32_t), 8); }

static size_t matches_bytes(const nigh_eval_truth *truth) {
    return (size_t)truth->queries * truth->k * sizeof *truth->matches;
}

static nigh_status checksum_of(const nigh_eval_truth *truth, const struct header *header, uint64_t *out,
                               nigh_error *error) {
    struct nigh__hasher *hasher = nigh__hasher_new(truth->context);
    if (hasher == NULL) return nigh__no_memory(error, "for the truth");
    nigh__hasher_add(hasher, header, offsetof(struct header, checksum));
    nigh__hasher_add(hasher, truth->counts, counts_bytes(truth->queries));
    nigh__hasher_add(hasher, truth->matches, matches_bytes(truth));
    *out = nigh__hasher_value(hasher);
    nigh__hasher_free(truth->context, hasher);
    return NIGH_OK;
}

nigh_status nigh_eval_truth_save(const nigh_eval_truth *truth, const char *path, nigh_error *error) {
    struct header header = {.version = NIGH__FORMAT_VERSION,
                            .endian_mark = NIGH__ENDIAN_MARK,
                            .k = truth->k,
                            .queries = truth->queries,
                            .key = truth->key};
    struct nigh__replacement file = {.path = NULL};
    const size_t counts = counts_bytes(truth->queries);
    memcpy(header.magic, TRUTH_MAGIC, sizeof header.magic);
    nigh_status status = checksum_of(truth, &header, &header.checksum, error);
    if (status == NIGH_OK) status = nigh__replacement_open(truth->context, path, &file, error);
    if (status == NIGH_OK) status = nigh__file_write(&file.file, 0, &header, sizeof header, error);
    if (status == NIGH_OK) status = nigh__file_write(&file.file, sizeof header, truth->counts, counts, error);
    if (status == NIGH_OK)
        status = nigh__file_write(&file.file, sizeof header + counts, truth->matches, matches_bytes(truth), error);
    if (status == NIGH_OK) status = nigh__replacement_finish(&file, error);
    nigh__replacement_release(truth->context, &file);
    return status;
}

static nigh_status corrupt(const char *path, uint64_t offset, const char *why, nigh_error *error) {
    return nigh__fail_at(error, NIGH_ECORRUPT, path, offset, "%s", why);
}

static nigh_status counts_sound(const nigh_eval_truth *truth, const nigh_collection *collection, const char *path,
                                nigh_error *error) {
    for (uint64_t q = 0; q < truth->queries; q++) {
        if (truth->counts[q] > truth->k)
            return corrupt(path, sizeof(struct header) + 4 * q, "a query has more matches than k", error);
        for (uint32_t i = 0; i < truth->counts[q]; i++) {
            const nigh_match *match = &truth->matches[q * truth->k + i];
            if (match->document >= collection->documents || match->distance > collection->width_bits)
                return corrupt(path, sizeof(struct header), "an impossible match", error);
        }
    }
    return NIGH_OK;
}

/* The rest of a file whose header fits; its length was compared with what the header says. */
static nigh_status read_rest(const struct nigh__file *file, const struct header *header, nigh_eval_truth *truth,
                             nigh_error *error) {
    const size_t counts = counts_bytes(truth->queries);
    uint64_t checksum = 0;
    nigh_status status = nigh__file_read(file, sizeof *header, truth->counts, counts, error);
    if (status == NIGH_OK)
        status = nigh__file_read(file, sizeof *header + counts, truth->matches, matches_bytes(truth), error);
    if (status == NIGH_OK) status = checksum_of(truth, header, &checksum, error);
    if (status == NIGH_OK && checksum != header->checksum)
        status = corrupt(file->path, offsetof(struct header, checksum), "the file fails its checksum", error);
    return status;
}

static nigh_status header_fits(const struct nigh__file *file, const struct header *header, size_t count, uint64_t key,
                               const nigh_eval_truth_options *options, nigh_error *error) {
    uint64_t length = 0;
    nigh_status status = nigh__header_check(file->path, header, TRUTH_MAGIC, "file of truth", error);
    if (status == NIGH_OK) status = nigh__file_length(file, &length, error);
    if (status != NIGH_OK) return status;
    if (header->queries != count || header->k != options->k || header->key != key)
        return nigh__fail_at(error, NIGH_EMISMATCH, file->path, NIGH_NO_OFFSET,
                             "it was made from other documents, other queries or another k");
    if (length != sizeof *header + counts_bytes(count) + (uint64_t)count * options->k * sizeof(nigh_match))
        return corrupt(file->path, length, "the file is not as long as its header says", error);
    return NIGH_OK;
}

nigh_status nigh_eval_truth_load(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                 const nigh_eval_truth_options *options, const char *path, nigh_eval_truth **out,
                                 nigh_error *error) {
    *out = NULL;
    nigh_eval_truth_options chosen;
    struct nigh__file file;
    struct header header;
    uint64_t key = 0;
    nigh_status status = nigh__options_copy(&nigh__eval_truth_options_shape, &chosen, options, error);
    if (status == NIGH_OK) status = options_fit(queries, count, &chosen, error);
    if (status == NIGH_OK) status = nigh__truth_key(collection, queries, count, &chosen, &key, error);
    if (status == NIGH_OK) status = nigh__file_open(collection->context, path, NIGH_OPEN_REGULAR, &file, error);
    if (status != NIGH_OK) return status;
    nigh_eval_truth *truth = NULL;
    status = nigh__file_read(&file, 0, &header, sizeof header, error);
    if (status == NIGH_OK) status = header_fits(&file, &header, count, key, &chosen, error);
    if (status == NIGH_OK) {
        truth = truth_alloc(collection->context, count, chosen.k);
        status = truth == NULL ? nigh__no_memory(error, "for the truth") : read_rest(&file, &header, truth, error);
    }
    if (status == NIGH_OK) status = counts_sound(truth, collection, path, error);
    nigh__file_release(&file);
    if (status == NIGH_OK) {
        truth->key = key;
        *out = truth;
    } else {
        nigh_eval_truth_free(truth);
    }
    return status;
}

/* ------------------------------------------------------------------ ratios */

static double ratio(uint64_t truth, uint64_t found) { return found == 0 ? 1 : (double)truth / (double)found; }

double nigh__cdr(const nigh_match *truth, size_t truths, const nigh_match *found, size_t count, uint32_t k,
                 uint32_t width_bits, double *dr, double *cdr) {
    uint64_t truth_sum = 0;
    uint64_t found_sum = 0;
    double sum = 0;
    for (uint32_t p = 0; p < k; p++) {
        if (p < truths) {
            truth_sum += truth[p].distance;
            found_sum += p < count ? found[p].distance : width_bits;
        }
        const double here = ratio(truth_sum, found_sum);
        sum += here;
        if (dr != NULL) dr[p] += here;
        if (cdr != NULL) cdr[p] += sum / (p + 1);
    }
    return sum / k;
}

double nigh__recall(const nigh_match *truth, size_t truths, const nigh_match *found, size_t count) {
    size_t near = 0;
    if (truths == 0) return 1;
    while (near < count && near < truths && found[near].distance <= truth[truths - 1].distance) near++;
    return (double)near / (double)truths;
}
