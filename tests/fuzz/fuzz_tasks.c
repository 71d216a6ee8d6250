/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that an engine moves records for, against records that no task gives: of any kind, in any order, for any task.
 *
 *     task, shards, shard | kind, form, count, count words or bytes | kind, form, ...
 *
 * A word is 8 bytes, or, by the form, one byte, so that numbers are small and meet each other.  SIGN and FEATURES get
 * texts instead.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "nigh.h"

#define MAX_WORDS 256u
#define HEAD 3u

struct taking {
    uint32_t shards;
    uint64_t bytes;
};

static nigh_status take(void *user, nigh_records kind, uint32_t shard, const void *records, size_t length,
                        nigh_error *error) {
    struct taking *taking = user;
    const uint8_t *bytes = records;
    (void)error;
    if ((unsigned)kind >= NIGH_RECORDS_COUNT || shard >= taking->shards || length % 8 != 0) abort();
    for (size_t i = 0; i < length; i += 64) taking->bytes += bytes[i] == 1;
    return NIGH_OK;
}

/* The words of a piece; returns how many bytes of it were taken. */
static size_t read_words(const uint8_t *data, size_t size, bool wide, size_t count, uint64_t *words, size_t *there) {
    const size_t bytes = wide ? 8 : 1;
    *there = 0;
    for (size_t i = 0; i < count && (i + 1) * bytes <= size; i++, ++*there) {
        words[i] = data[i * bytes];
        if (wide) memcpy(&words[i], data + i * bytes, sizeof words[i]);
    }
    return *there * bytes;
}

static nigh_status give_texts(nigh_task *task, nigh_task_kind kind, const uint8_t *data, size_t size) {
    nigh_status status = NIGH_OK;
    int64_t number = -3;
    while (status == NIGH_OK && size > 1) {
        const size_t length = data[0] < size ? data[0] : size - 1;
        const char *text = (const char *)data + 1;
        status = kind == NIGH_TASK_SIGN ? nigh_task_sign(task, number, text, length, (double)number, NULL)
                                        : nigh_task_features(task, data[0] % 5, data[0] % 2, text, length, NULL);
        number++;
        data += 1 + length;
        size -= 1 + length;
    }
    return status;
}

static nigh_status give_records(nigh_task *task, const uint8_t *data, size_t size) {
    nigh_status status = NIGH_OK;
    uint64_t words[MAX_WORDS];
    while (status == NIGH_OK && size >= HEAD) {
        const bool wide = data[1] % 2 != 0;
        const size_t odd = data[1] == 0xff; /* no whole words */
        size_t there = 0;
        const size_t used = HEAD + read_words(data + HEAD, size - HEAD, wide, data[2], words, &there);
        status = nigh_task_add(task, (nigh_records)(data[0] % (NIGH_RECORDS_COUNT + 1)), words,
                               there * sizeof *words - (there > 0 ? odd : 0), NULL);
        data += used;
        size -= used;
    }
    return status;
}

static void run(nigh_context *context, const uint8_t *data, size_t size) {
    struct taking taking = {.shards = 1 + data[1] % 4};
    const nigh_task_kind kind = (nigh_task_kind)(data[0] % (NIGH_TASK_VERIFY + 2));
    nigh_dedup_options options;
    nigh_task_options own;
    nigh_task *task = NULL;
    nigh_dedup_options_init(&options);
    nigh_task_options_init(&own);
    options.memory_bytes = 1 << 20;
    options.threads = 1;
    options.bucket_budget = data[2] / 16;
    options.cluster = (nigh_cluster_rule)(data[1] / 4 % 3);
    own.shards = taking.shards;
    own.shard = data[2] % taking.shards;
    own.secret = 17;
    own.take = take;
    own.user = &taking;
    own.check_numbers = data[1] / 16 % 2;
    if (nigh_task_new(context, kind, &options, &own, &task, NULL) != NIGH_OK) return;
    const bool texts = kind == NIGH_TASK_SIGN || kind == NIGH_TASK_FEATURES;
    const nigh_status status =
        texts ? give_texts(task, kind, data + HEAD, size - HEAD) : give_records(task, data + HEAD, size - HEAD);
    if (status == NIGH_OK) (void)nigh_task_finish(task, NULL);
    nigh_task_free(task);
    if (taking.bytes == UINT64_MAX) abort(); /* so that all was read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD || size > (1u << 16)) return 0;
    nigh_context *context = NULL;
    if (nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    run(context, data, size);
    nigh_context_free(context);
    return 0;
}
