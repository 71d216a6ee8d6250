/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage sign: a shard of the inputs is read, and of each document written what the other stages go by.  What a
 * thread makes of one travels as
 *
 *     struct made | bits | keys of the bands, uint64_t each       without features nothing but the first
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dedup/gather.h"
#include "dedup/order.h"
#include "signature/band_keys.h"
#include "stages/key_strips.h"

struct made {
    struct nigh__mark set;
    double score;
    uint64_t features;
};

struct signing {
    const nigh_staged *staged;
    uint32_t shard;
    struct nigh__stage_writer *writer;
    struct nigh__pass_plan *plan;
    struct nigh__strip_writer strips;
    uint64_t info[NIGH__SIGN_INFO_WORDS];
    uint64_t featured; /* bits of documents, since the last whole word */
};

static nigh_status work(struct nigh__pass_worker *worker, const nigh_text *text, const struct nigh__features *features,
                        struct nigh__array *product, nigh_error *error) {
    const struct made made = {
        .set = nigh__gather_mark(worker->plan->secret, features), .score = text->score, .features = features->count};
    const size_t row = NIGH__BAND_BITS / 8;
    const size_t tail = features->count == 0 ? 0 : row + worker->plan->bands * sizeof(uint64_t);
    uint8_t *place = nigh__array_add(worker->context, product, sizeof made + tail);
    if (place == NULL) return nigh__no_memory(error, "to sign documents");
    memcpy(place, &made, sizeof made);
    if (tail == 0) return NIGH_OK;
    return nigh__pass_sign(worker, text, features, place + sizeof made, place + sizeof made + row, error);
}

/* By which documents of one set come together: without features only those of one text do. */
static nigh_status add_mark(struct signing *signing, const struct made *made, const struct nigh__mark *text,
                            uint64_t id, uint64_t merit, nigh_error *error) {
    const bool has_features = made->features > 0;
    const struct nigh__mark *mark = has_features ? &made->set : text;
    const uint64_t words[NIGH__MARK_WORDS] = {mark->words[0], (mark->words[1] & ~UINT64_C(1)) | has_features,
                                              text->words[0], id, merit};
    const uint32_t section = nigh__sign_marks(signing->staged, nigh__stage_share(signing->staged, words[0]));
    return nigh__stage_add(signing->writer, section, words, NIGH__MARK_WORDS, error);
}

static nigh_status put_featured(struct signing *signing, nigh_error *error) {
    const uint64_t word = signing->featured;
    signing->featured = 0;
    return nigh__stage_add(signing->writer, NIGH__SIGN_FEATURED, &word, 1, error);
}

static nigh_status add_row(struct signing *signing, const struct made *made, const uint8_t *tail, uint64_t document,
                           nigh_error *error) {
    uint64_t bits[NIGH__BITS_WORDS] = {0};
    const size_t row = NIGH__BAND_BITS / 8;
    const bool has_features = made->features > 0;
    bits[NIGH__ROW_WORDS] = made->features;
    if (has_features) memcpy(bits, tail, row);
    nigh_status status = nigh__stage_add(signing->writer, NIGH__SIGN_BITS, bits, NIGH__BITS_WORDS, error);
    if (status == NIGH_OK) status = nigh__strip_writer_add(&signing->strips, has_features ? tail + row : NULL, error);
    signing->featured |= (uint64_t)has_features << document % 64;
    return status == NIGH_OK && document % 64 == 63 ? put_featured(signing, error) : status;
}

static nigh_status take(void *user, uint64_t document, const nigh_text *text, const uint8_t *product, size_t length,
                        nigh_error *error) {
    struct signing *signing = user;
    struct made made;
    (void)length;
    memcpy(&made, product, sizeof made);
    const struct nigh__mark mark = ((const struct nigh__mark *)signing->plan->texts.data)[0];
    signing->plan->texts.count = 0; /* it is in the file, and need not be in memory */
    if (document >> NIGH__ID_BITS != 0) return nigh__fail(error, NIGH_ELIMIT, "too many documents in one shard");
    const uint64_t merit = nigh__order_merit(signing->staged->settled->options.keep, text->text_length, made.score);
    const uint64_t words[NIGH__DOCUMENT_WORDS] = {text->number, mark.words[0], mark.words[1], merit};
    signing->info[NIGH__SIGN_DOCUMENTS]++;
    signing->info[NIGH__SIGN_SIGNED] += made.features > 0;
    signing->info[NIGH__SIGN_BYTES_TEXT] += text->text_length;
    nigh_status status = nigh__stage_add(signing->writer, NIGH__SIGN_DOCS, words, NIGH__DOCUMENT_WORDS, error);
    if (status == NIGH_OK) status = add_row(signing, &made, product + sizeof made, document, error);
    if (status == NIGH_OK)
        status = add_mark(signing, &made, &mark, nigh__id_make(signing->shard, document), merit, error);
    return status;
}

/* Nothing may be missing that nobody found a copy, unless the caller said so. */
static nigh_status check_lost(const struct signing *signing, nigh_error *error) {
    const uint64_t lost = signing->info[NIGH__SIGN_LOST];
    const nigh_text_reader_options *reading = signing->staged->reading;
    if (lost == 0 || (reading != NULL && reading->allow_loss > 0)) return NIGH_OK;
    return nigh__because(
        error, NIGH_REASON_LOST_INPUT,
        nigh__fail(
            error, NIGH_ECORRUPT,
            "%llu records of the inputs of shard %u/%u would be missing: too large, cut off, damaged or unreadable",
            (unsigned long long)lost, signing->shard, signing->staged->shards));
}

/* Records that are no documents: those that the options leave out, and the rest, which stays as it is. */
static void count_unread(struct signing *signing, const nigh_dedup *dedup) {
    const nigh_text_reader_info *reader = &dedup->info.reader;
    const uint64_t left_out = reader->too_few_bytes + reader->too_few_words + reader->other_language;
    const uint64_t known = signing->info[NIGH__SIGN_DOCUMENTS] + signing->info[NIGH__SIGN_LOST] + left_out +
                           nigh__rereading_passed(dedup->source);
    signing->info[NIGH__SIGN_LEFT_OUT] = left_out;
    signing->info[NIGH__SIGN_UNREAD] = reader->records > known ? reader->records - known : 0;
}

static nigh_status sign_inputs(struct signing *signing, nigh_dedup *dedup, nigh_error *error) {
    const struct nigh__pass_step step = {
        .stage = "reading", .projects = true, .work = work, .take = take, .user = signing};
    nigh_status status = nigh__pass_run(dedup, dedup->plan, &step, NULL, error);
    if (status == NIGH_OK) status = nigh__strip_writer_finish(&signing->strips, error);
    if (status == NIGH_OK && signing->info[NIGH__SIGN_DOCUMENTS] % 64 != 0) status = put_featured(signing, error);
    if (status != NIGH_OK) return status;
    const struct nigh__rereading_met met = nigh__rereading_met(dedup->source);
    signing->info[NIGH__SIGN_RECORDS] = met.records;
    signing->info[NIGH__SIGN_BYTES_READ] = met.bytes_read;
    signing->info[NIGH__SIGN_FORMATS] = met.formats;
    signing->info[NIGH__SIGN_LOST] = nigh__rereading_lost(dedup->source, UINT64_MAX);
    count_unread(signing, dedup);
    return check_lost(signing, error);
}

nigh_status nigh__stage_sign(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                             nigh_error *error) {
    nigh_dedup *dedup = NULL;
    nigh_status status = nigh__staged_dedup(staged, nigh__staged_range(staged, shard), &dedup, error);
    if (status != NIGH_OK) return status;
    struct signing signing = {.staged = staged, .shard = shard, .writer = writer, .plan = dedup->plan};
    status = nigh__strip_writer_init(staged, shard, writer, &signing.strips, error);
    signing.info[NIGH__SIGN_NARROW] = signing.strips.narrow;
    if (status == NIGH_OK && dedup->source != NULL) status = sign_inputs(&signing, dedup, error);
    if (status == NIGH_OK)
        status = nigh__stage_add(writer, NIGH__SIGN_INFO, signing.info, NIGH__SIGN_INFO_WORDS, error);
    nigh__strip_writer_release(&signing.strips);
    nigh_dedup_free(dedup);
    return status;
}
