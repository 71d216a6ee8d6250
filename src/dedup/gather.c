/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first pass.  Of each document its id, length and score are kept; documents
 * with the same text, or the same set of features, are found by hashes of 128 bits;
 * and only the first of a set leaves behind what others are found by:
 *
 *     minhash   256 bits, and a key for each band (bands.c)
 *     simhash   its signature
 *     exact     its features, counted in a table (prefixes.c says what for)
 *
 * A set's mark is the sum of its features' hashes, scrambled with a secret: it does
 * not depend on their order, and nobody can make two sets of one sum.  Features that
 * a text has twice are in it twice, for to find them takes longer than all the rest; so
 * of equal sets some are not known as such here, and are found alike later.
 *
 * What a thread makes of a document travels as
 *
 *     struct made | id | signature | keys of the bands, uint64_t each
 *     struct made | id | features, uint64_t each                         of exact
 */
#include "dedup/gather.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/rng.h"
#include "base/status.h"
#include "dedup/same.h"
#include "signature/band_keys.h"

#define COUNTERS_MIN_BITS 16u
#define COUNTERS_MAX_BITS 30u
#define COUNTERS_USUAL (UINT64_C(1) << 26) /* where nobody knows how much there is to read */
#define AHEAD 16u

struct made {
    struct nigh__mark set;
    double score;
    uint32_t features;
    uint32_t id_length;
};

struct gathering {
    nigh_dedup *dedup;
    struct nigh__pass_plan *plan;
    struct nigh__gathered *out;
    struct nigh__same same;   /* documents by `leads` */
    struct nigh__array leads; /* of struct nigh__mark, by document: what it was last looked for by */
};

/* -------------------------------------------------------------- working -- */

struct nigh__mark nigh__gather_mark(uint64_t secret, const struct nigh__features *features) {
    struct nigh__mark mark = {{features->count, 0}};
    for (size_t i = 0; i < features->count; i++) {
        const uint64_t once = nigh__mix(features->hashes[i] ^ secret);
        mark.words[0] += once;
        mark.words[1] += (once >> 32) * (uint32_t)once;
    }
    return mark;
}

/* Appends what every method needs; *tail is where `tail_bytes` more go.  NULL: out of memory. */
static uint8_t *make_head(struct nigh__pass_worker *worker, const nigh_text *text,
                          const struct nigh__features *features, size_t tail_bytes, struct nigh__array *product) {
    const struct made made = {.set = nigh__gather_mark(worker->plan->secret, features),
                              .score = text->score,
                              .features = (uint32_t)features->count,
                              .id_length = (uint32_t)nigh__smaller(text->id_length, NIGH_MAX_ID_LENGTH)};
    uint8_t *place = nigh__array_add(worker->context, product, sizeof made + made.id_length + tail_bytes);
    if (place == NULL) return NULL;
    memcpy(place, &made, sizeof made);
    if (made.id_length > 0) memcpy(place + sizeof made, text->id, made.id_length);
    return place + sizeof made + made.id_length;
}

static nigh_status work_minhash(struct nigh__pass_worker *worker, const nigh_text *text,
                                const struct nigh__features *features, struct nigh__array *product, nigh_error *error) {
    const struct nigh__pass_plan *plan = worker->plan;
    const size_t row = NIGH__BAND_BITS / 8;
    const bool left_out = features->count == 0 && !plan->keeps_empty;
    uint8_t *tail = make_head(worker, text, features, left_out ? 0 : row + plan->bands * sizeof(uint64_t), product);
    if (tail == NULL) return nigh__no_memory(error, "to gather documents");
    return left_out ? NIGH_OK : nigh__pass_sign(worker, text, features, tail, tail + row, error);
}

static nigh_status work_simhash(struct nigh__pass_worker *worker, const nigh_text *text,
                                const struct nigh__features *features, struct nigh__array *product, nigh_error *error) {
    nigh_status status = nigh__signer_worker_sign(worker->signer, text->text, text->text_length, error);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return status;
    const size_t row = nigh__row_bytes(worker->plan->width_bits);
    uint8_t *tail = make_head(worker, text, features, status == NIGH_OK ? row : 0, product);
    if (tail == NULL) return nigh__no_memory(error, "to gather documents");
    if (status == NIGH_OK) nigh__signer_worker_bits(worker->signer, tail);
    return NIGH_OK;
}

static nigh_status work_exact(struct nigh__pass_worker *worker, const nigh_text *text,
                              const struct nigh__features *features, struct nigh__array *product, nigh_error *error) {
    const size_t bytes = features->count * sizeof *features->hashes;
    uint8_t *tail = make_head(worker, text, features, bytes, product);
    if (tail == NULL) return nigh__no_memory(error, "to gather documents");
    if (bytes > 0) memcpy(tail, features->hashes, bytes);
    return NIGH_OK;
}

/* --------------------------------------------------------------- taking -- */

/* The first document that was looked for by this mark; where there is none it is this one from now on. */
static nigh_status find_first(struct gathering *gathering, uint64_t document, const struct nigh__mark *mark,
                              uint64_t *out, nigh_error *error) {
    struct nigh__mark *leads = gathering->leads.data;
    leads[document] = *mark;
    return nigh__same_find(&gathering->same, leads, document, out, error);
}

/*
 * Its set leads to the first document that has it.  Where that has another text, or there is no set, the text leads to
 * the first that has that: so a table with one entry for each text finds both, mostly by one search.
 */
static nigh_status find_same(struct gathering *gathering, uint64_t document, const struct made *made, uint64_t *copy_of,
                             uint64_t *set_of, nigh_error *error) {
    const struct nigh__mark *texts = gathering->plan->texts.data;
    *copy_of = *set_of = document;
    nigh_status status = NIGH_OK;
    if (made->features > 0) {
        status = find_first(gathering, document, &made->set, set_of, error);
        *copy_of = *set_of;
        if (status != NIGH_OK || memcmp(&texts[*set_of], &texts[document], sizeof *texts) == 0) return status;
    }
    status = find_first(gathering, document, &texts[document], copy_of, error);
    if (made->features == 0) *set_of = nigh__dedup_document(gathering->dedup, *copy_of)->set_of;
    return status;
}

/* The document joins those of its set; what it is the first of, it stands for. */
static nigh_status join_set(struct gathering *gathering, uint64_t document, const struct made *made,
                            nigh_error *error) {
    nigh_dedup *dedup = gathering->dedup;
    uint64_t copy_of = document;
    uint64_t first = document;
    if (nigh__array_add(dedup->context, &gathering->leads, 1) == NULL)
        return nigh__no_memory(error, "to gather documents");
    nigh_status status = find_same(gathering, document, made, &copy_of, &first, error);
    if (status != NIGH_OK) return status;
    nigh__dedup_document(dedup, document)->copy_of = copy_of;
    dedup->info.copies += copy_of != document;
    nigh__gather_join(dedup, document, first);
    return NIGH_OK;
}

static nigh_status add_document(struct gathering *gathering, uint64_t document, const nigh_text *text,
                                const struct made *made, const uint8_t *id, nigh_error *error) {
    nigh_dedup *dedup = gathering->dedup;
    nigh_status status = nigh__numbers_check(document + 1, "documents", error);
    if (status != NIGH_OK) return status;
    struct nigh__duplicate *entry = nigh__array_add(dedup->context, &dedup->documents, 1);
    char *place = nigh__array_add(dedup->context, &dedup->ids, made->id_length);
    if (entry == NULL || (place == NULL && made->id_length > 0)) return nigh__no_memory(error, "to gather documents");
    *entry = (struct nigh__duplicate){.number = text->number,
                                      .text_length = text->text_length,
                                      .id = dedup->ids.count - made->id_length,
                                      .id_length = made->id_length,
                                      .features = made->features,
                                      .copy_of = document,
                                      .set_of = document,
                                      .next = NIGH__NO_DOCUMENT,
                                      .kept = document,
                                      .similarity = 1,
                                      .distance = NIGH_ALL};
    if (made->id_length > 0) memcpy(place, id, made->id_length);
    if (dedup->options.keep == NIGH_KEEP_SCORE) {
        double *score = nigh__array_add(dedup->context, &dedup->scores, 1);
        if (score == NULL) return nigh__no_memory(error, "to gather documents");
        *score = made->score;
    }
    dedup->info.empty += made->features == 0;
    return join_set(gathering, document, made, error);
}

static nigh_status add_row(struct gathering *gathering, const uint8_t *row, size_t bytes, nigh_error *error) {
    struct nigh__gathered *out = gathering->out;
    if (out->row_words == 0) return NIGH_OK;
    uint64_t *place = nigh__array_add(gathering->dedup->context, &out->rows, out->row_words);
    if (place == NULL) return nigh__no_memory(error, "to gather documents");
    memset(place, 0, out->row_words * sizeof *place);
    if (bytes > 0) memcpy(place, row, bytes);
    return NIGH_OK;
}

static void count_features(struct nigh__gathered *out, const uint8_t *features, size_t count) {
    uint8_t *counters = out->counters;
    const unsigned shift = out->counter_shift;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&counters[nigh__mix(nigh__load64(features + (i + AHEAD) * 8)) >> shift], 1);
        uint8_t *counter = &counters[nigh__mix(nigh__load64(features + i * 8)) >> shift];
        *counter = (uint8_t)(*counter + (*counter < NIGH__FEATURE_COUNT_MAX));
    }
}

static nigh_status add_signed(struct gathering *gathering, uint64_t document, nigh_error *error) {
    uint64_t *place = nigh__array_add(gathering->dedup->context, &gathering->out->signed_ones, 1);
    if (place == NULL) return nigh__no_memory(error, "to gather documents");
    *place = document;
    return NIGH_OK;
}

/* It will soon be looked for by its set.  The few documents without one wait for memory. */
static void prefetch(void *user, const uint8_t *product) {
    const struct gathering *gathering = user;
    struct made made;
    memcpy(&made, product, sizeof made);
    nigh__same_prefetch(&gathering->same, &made.set);
}

static nigh_status take(void *user, uint64_t document, const nigh_text *text, const uint8_t *product, size_t length,
                        nigh_error *error) {
    struct gathering *gathering = user;
    struct made made;
    memcpy(&made, product, sizeof made);
    const uint8_t *id = product + sizeof made;
    const uint8_t *tail = id + made.id_length;
    const size_t tail_bytes = length - sizeof made - made.id_length;
    const size_t row = nigh__row_bytes(gathering->plan->width_bits);
    nigh_status status = add_document(gathering, document, text, &made, id, error);
    if (status == NIGH_OK) status = add_row(gathering, tail, nigh__smaller(row, tail_bytes), error);
    if (status != NIGH_OK || nigh__dedup_document(gathering->dedup, document)->set_of != document || tail_bytes == 0)
        return status;
    switch (gathering->dedup->options.method) {
    case NIGH_DEDUP_MINHASH:
        return nigh__bands_add(&gathering->out->bands, document, tail + row, error);
    case NIGH_DEDUP_SIMHASH:
        return add_signed(gathering, document, error);
    default:
        count_features(gathering->out, tail, made.features);
        return NIGH_OK;
    }
}

/* ---------------------------------------------------- making, releasing -- */

/* More counters than features, of which there is one in six bytes of text; within the memory. */
static nigh_status make_counters(void *user, const nigh_text_reader_info *info, nigh_error *error) {
    const struct gathering *gathering = user;
    const nigh_dedup *dedup = gathering->dedup;
    unsigned bits = COUNTERS_MIN_BITS;
    const uint64_t wanted = info->bytes_total == 0 ? COUNTERS_USUAL : info->bytes_total;
    while (bits < COUNTERS_MAX_BITS && UINT64_C(1) << bits < wanted &&
           UINT64_C(1) << (bits + 1) <= dedup->options.memory_bytes / 4)
        bits++;
    gathering->out->counters = nigh__alloc_table(dedup->context, (size_t)1 << bits, 1);
    if (gathering->out->counters == NULL) return nigh__no_memory(error, "to gather documents");
    gathering->out->counter_shift = 64 - bits;
    return NIGH_OK;
}

nigh_status nigh__gather(nigh_dedup *dedup, struct nigh__pass_plan *plan, struct nigh__gathered *out,
                         nigh_error *error) {
    const nigh_dedup_method method = dedup->options.method;
    *out = (struct nigh__gathered){
        .rows = NIGH__ARRAY(uint64_t), .signed_ones = NIGH__ARRAY(uint64_t), .row_words = (plan->width_bits + 63) / 64};
    struct gathering gathering = {.dedup = dedup, .plan = plan, .out = out, .leads = NIGH__ARRAY(struct nigh__mark)};
    nigh__same_init(dedup->context, &gathering.same);
    const struct nigh__pass_step step = {.stage = "reading",
                                         .begin = method == NIGH_DEDUP_EXACT ? make_counters : NULL,
                                         .projects = method == NIGH_DEDUP_MINHASH,
                                         .signs = method == NIGH_DEDUP_SIMHASH,
                                         .work = method == NIGH_DEDUP_MINHASH   ? work_minhash
                                                 : method == NIGH_DEDUP_SIMHASH ? work_simhash
                                                                                : work_exact,
                                         .prefetch = prefetch,
                                         .take = take,
                                         .user = &gathering};
    if (method == NIGH_DEDUP_MINHASH)
        nigh__bands_init(dedup->context, plan->bands, dedup->options.memory_bytes / 2, dedup->temporary,
                         dedup->narrow.keys, &out->bands);
    nigh_status status = nigh__pass_run(dedup, plan, &step, NULL, error);
    nigh__same_release(&gathering.same);
    nigh__array_release(dedup->context, &gathering.leads);
    return status;
}
