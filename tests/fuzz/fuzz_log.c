/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs against any bytes.  The input is the log of a sound collection, once as it is and once with the header and all
 * checksums, sequences and magics made right that lie inside, whatever lengths it says.  It is checked, opened, where
 * it is refused nothing may change, and repaired; behind a repair it must be sound.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "collection/log.h"
#include "fuzz/fuzz.h"
#include "support/memory_store.h"
#include "support/support.h"

#define LOG_NAME "log-00000000000000000002"
#define LOG_NUMBER 2u
#define MAX_BYTES (1u << 16)
#define SCHEME "bits=64\nkind=signatures\n"

static nigh_status open_live(nigh_context *context, nigh_live **out) {
    nigh_live_options options;
    nigh_live_options_init(&options);
    options.create = 1;
    options.width_bits = 64;
    options.radius = 3;
    options.sync = NIGH_SYNC_NEVER;
    return nigh_live_open(context, "c", &options, out, NULL);
}

/* A collection without documents. */
static const struct memory_store *sound_store(void) {
    static struct memory_store store;
    static bool made;
    if (made) return &store;
    const nigh_file_system table = memory_store_table(&store);
    nigh_context *context = context_with(&table, NULL, "generic");
    nigh_live *live = NULL;
    if (open_live(context, &live) != NIGH_OK) abort();
    nigh_live_close(live);
    nigh_context_free(context);
    made = true;
    return &store;
}

static void forge_header(uint8_t *bytes) {
    struct nigh__log_header header = {.version = NIGH__FORMAT_VERSION,
                                      .endian_mark = NIGH__ENDIAN_MARK,
                                      .number = LOG_NUMBER,
                                      .scheme = nigh__hash(SCHEME, strlen(SCHEME)),
                                      .width_bits = 64};
    memcpy(header.magic, NIGH__LOG_MAGIC, NIGH__MAGIC_SIZE);
    header.checksum = nigh__hash(&header, offsetof(struct nigh__log_header, checksum));
    memcpy(bytes, &header, sizeof header);
}

/* Records one after the other, as long as they say, up to one that does not fit. */
static void forge_records(uint8_t *bytes, size_t length) {
    const size_t from = offsetof(struct nigh__log_head, length);
    struct nigh__log_head head;
    uint64_t sequence = 0;
    for (size_t at = sizeof(struct nigh__log_header); nigh__range_fits(at, sizeof head, length); sequence++) {
        memcpy(&head, bytes + at, sizeof head);
        const uint64_t whole = nigh__round_up(sizeof head + (uint64_t)head.length, NIGH__LOG_ALIGNMENT);
        if (!nigh__range_fits(at, whole, length)) return;
        head.magic = NIGH__LOG_RECORD_MAGIC;
        head.log = LOG_NUMBER;
        head.sequence = sequence;
        head.synced = sequence;
        memcpy(bytes + at, &head, sizeof head);
        head.checksum = nigh__hash(bytes + at + from, (size_t)whole - from);
        memcpy(bytes + at, &head, sizeof head);
        at += (size_t)whole;
    }
}

static nigh_status check(nigh_context *context, int repair) {
    nigh_check_options options;
    nigh_check_options_init(&options);
    options.repair = repair;
    return nigh_collection_check(context, "c", &options, NULL, NULL);
}

static void try_log(const uint8_t *bytes, size_t length) {
    struct memory_store store = {.files = {{.length = 0}}};
    struct memory_store before = {.files = {{.length = 0}}};
    memory_store_copy(sound_store(), &store);
    memory_store_put(&store, LOG_NAME, bytes, length);
    memory_store_copy(&store, &before);
    const nigh_file_system table = memory_store_table(&store);
    nigh_context *context = context_with(&table, NULL, "generic");
    nigh_live *live = NULL;
    const nigh_status checked = check(context, 0);
    nigh_status opened = open_live(context, &live);
    nigh_live_close(live);
    if (checked == NIGH_OK && opened != NIGH_OK && opened != NIGH_ECORRUPT) abort();
    if (checked != NIGH_OK && opened == NIGH_OK) abort();
    if (checked != NIGH_OK && !memory_store_equal(&store, &before)) abort();
    if (checked == NIGH_ECORRUPT && check(context, 1) == NIGH_OK && check(context, 0) != NIGH_OK) abort();
    if (opened == NIGH_OK && check(context, 0) != NIGH_OK) abort();
    nigh_context_free(context);
    memory_store_clear(&store);
    memory_store_clear(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > MAX_BYTES) return 0;
    uint8_t *forged = malloc(size + 1);
    if (forged == NULL) abort();
    memcpy(forged, data, size);
    try_log(data, size);
    if (size >= sizeof(struct nigh__log_header)) {
        forge_header(forged);
        try_log(forged, size);
        forge_records(forged, size);
        try_log(forged, size);
    }
    free(forged);
    return 0;
}
