/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks that read texts: SIGN makes of each what it is found by, FEATURES the set by which it is compared. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"
#include "dedup/gather.h"
#include "dedup/order.h"
#include "dedup/sets.h"
#include "document/utf8.h"
#include "signature/band_keys.h"
#include "stages/task.h"

struct signing {
    struct nigh__pass_worker worker;
    uint64_t keys[NIGH__MAX_BANDS];
    uint64_t record[NIGH__SIGNED_KEYS + NIGH__MAX_BANDS / 2];
};

static nigh_status begin(nigh_task *task, nigh_error *error) {
    struct signing *signing = task->state = nigh__alloc_zero(task->context, 1, sizeof *signing);
    if (signing == NULL) return nigh__no_memory(error, "to sign documents");
    const struct nigh__pass_plan *plan = task->dedup->plan;
    signing->worker = (struct nigh__pass_worker){.plan = plan, .context = task->context};
    nigh_status status = nigh__featurer_new(task->context, &plan->features, &signing->worker.featurer, error);
    if (status == NIGH_OK && task->kind == NIGH_TASK_SIGN)
        status = nigh__projector_new(task->context, NIGH_SCHEME_MINHASH, plan->width_bits, 0,
                                     plan->features.analysis.seed, &signing->worker.projector, error);
    return status;
}

static void release(nigh_task *task) {
    struct signing *signing = task->state;
    nigh__featurer_free(signing->worker.featurer);
    nigh__projector_free(signing->worker.projector);
    nigh__free(task->context, signing->worker.words);
}

static uint64_t check_of(const nigh_task *task, const char *text, size_t length) {
    return nigh__hash_seeded(text, length, task->options.secret);
}

/* ------------------------------------------------------------------ signing -- */

static void keep_keys(struct signing *signing, uint32_t bands) {
    uint64_t *kept = signing->record + NIGH__SIGNED_KEYS;
    uint32_t halves[NIGH__MAX_BANDS] = {0};
    nigh__bands_keep((const uint8_t *)signing->keys, bands, halves);
    memcpy(kept, halves, (bands + 1) / 2 * sizeof *kept);
}

static nigh_status sign_features(nigh_task *task, const nigh_text *text, const struct nigh__features *features,
                                 nigh_error *error) {
    struct signing *signing = task->state;
    uint64_t *record = signing->record;
    const struct nigh__mark mark = nigh__gather_mark(task->options.secret, features);
    record[NIGH__SIGNED_MARK] = mark.words[0];
    record[NIGH__SIGNED_MARK + 1] = mark.words[1] | 1;
    nigh_status status = nigh__pass_sign(&signing->worker, text, features, (uint8_t *)(record + NIGH__SIGNED_ROW),
                                         (uint8_t *)signing->keys, error);
    if (status == NIGH_OK) keep_keys(signing, task->dedup->plan->bands);
    return status;
}

/* Without features only copies of it are found. */
static void sign_empty(nigh_task *task, const nigh_text *text) {
    struct signing *signing = task->state;
    const struct nigh__mark mark = nigh__pass_mark(task->dedup->plan, text->text, text->text_length);
    memset(signing->record, 0, sizeof signing->record);
    signing->record[NIGH__SIGNED_MARK] = mark.words[0];
    signing->record[NIGH__SIGNED_MARK + 1] = mark.words[1] & ~UINT64_C(1);
    task->counters[NIGH_COUNTER_EMPTY]++;
}

static nigh_status put_signed(nigh_task *task, const uint64_t *record, nigh_error *error) {
    const size_t words = NIGH__SIGNED_KEYS + (task->dedup->plan->bands + 1) / 2;
    nigh_status status = nigh__task_put(task, NIGH_RECORDS_SIGNED, nigh__task_share(task, record[NIGH__SIGNED_MARK]),
                                        record, words, error);
    if (status != NIGH_OK || !task->options.check_numbers) return status;
    const uint64_t number = record[NIGH__SIGNED_NUMBER];
    return nigh__task_put(task, NIGH_RECORDS_NUMBERS, nigh__task_share(task, number), &number, 1, error);
}

nigh_status nigh_task_sign(nigh_task *task, int64_t number, const char *text, size_t length, double score,
                           nigh_error *error) {
    if (task->kind != NIGH_TASK_SIGN) return nigh__fail(error, NIGH_EINVAL, "this task does not sign texts");
    struct signing *signing = task->state;
    const nigh_text given = {.text = text, .text_length = length};
    struct nigh__features features;
    if (nigh__is_blank(text, length)) return NIGH_OK;
    nigh_status status = nigh__featurer_find(signing->worker.featurer, text, length, &features, error);
    if (status != NIGH_OK) return status;
    if (features.count > 0)
        status = sign_features(task, &given, &features, error);
    else
        sign_empty(task, &given);
    if (status != NIGH_OK) return status;
    signing->record[NIGH__SIGNED_NUMBER] = nigh__task_number(number);
    signing->record[NIGH__SIGNED_MERIT] =
        nigh__order_merit(task->dedup->options.keep, length, isnan(score) ? -(double)INFINITY : score);
    signing->record[NIGH__SIGNED_CHECK] = check_of(task, text, length);
    signing->record[NIGH__SIGNED_FEATURES] = features.count;
    task->counters[NIGH_COUNTER_DOCUMENTS]++;
    task->counters[NIGH_COUNTER_BYTES] += length;
    return put_signed(task, signing->record, error);
}

/* ----------------------------------------------------------------- features -- */

nigh_status nigh_task_features(nigh_task *task, uint64_t set, uint32_t shard, const char *text, size_t length,
                               nigh_error *error) {
    if (task->kind != NIGH_TASK_FEATURES || shard >= task->options.shards)
        return nigh__fail(error, NIGH_EINVAL, "this task finds no features for shard %u", shard);
    struct signing *signing = task->state;
    struct nigh__features features;
    nigh_status status = nigh__featurer_find(signing->worker.featurer, text, length, &features, error);
    if (status != NIGH_OK) return status;
    const size_t room = features.count + 1;
    uint64_t *words = nigh__pass_words(&signing->worker, 2 * room + NIGH__FEATURES_WORDS);
    if (words == NULL) return nigh__no_memory(error, "to verify");
    size_t count = 0;
    uint64_t *made = words + NIGH__FEATURES_WORDS;
    const uint64_t *sorted = nigh__set_make(&features, text, length, made, made + room, &count);
    memmove(made, sorted, count * sizeof *made);
    words[0] = set;
    words[1] = check_of(task, text, length);
    words[2] = count;
    return nigh__task_put(task, NIGH_RECORDS_FEATURES, shard, words, NIGH__FEATURES_WORDS + count, error);
}

const struct nigh__task_work nigh__task_sign = {.begin = begin, .release = release};
const struct nigh__task_work nigh__task_features = {.begin = begin, .release = release};
