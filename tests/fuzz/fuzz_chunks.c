/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of files of chunks against any bytes, as they are and with every checksum
 * made right.  The input is put behind a whole header, since most of a file is zeros
 * between its states: 64 bytes of header, 64 of each state, then the origin and chunks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "finder/chunk_file.h"
#include "fuzz/fuzz.h"

#define HEADERS 192u

struct memory_file {
    uint8_t *bytes;
    size_t length;
};

static int memory_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    (void)user;
    (void)directory;
    (void)name;
    *out = 0;
    return mode == NIGH_OPEN_REGULAR ? 0 : EROFS;
}

static int memory_close(void *user, nigh_file file) {
    (void)user;
    (void)file;
    return 0;
}

static int memory_read(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    const struct memory_file *memory = user;
    (void)file;
    *moved = 0;
    if (offset >= memory->length) return 0;
    *moved = nigh__smaller(length, memory->length - (size_t)offset);
    memcpy(buffer, memory->bytes + offset, *moved);
    return 0;
}

static int memory_length(void *user, nigh_file file, uint64_t *out) {
    const struct memory_file *memory = user;
    (void)file;
    *out = memory->length;
    return 0;
}

/* Matches must be what the file can hold. */
static void look(const nigh_results *results, const nigh_chunks_info *info, size_t queries) {
    for (size_t q = 0; q < queries; q++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, q, &count);
        for (size_t i = 0; i < count; i++)
            if (matches[i].document >= info->fingerprints || matches[i].distance > 3) abort();
    }
}

static void run(nigh_context *context, const struct memory_file *memory) {
    nigh_chunks *chunks;
    if (nigh_chunks_open(context, "c", NULL, &chunks, NULL) != NIGH_OK) return;
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    uint64_t queries[4] = {0, UINT64_MAX, 0x0123456789abcdef, 0};
    if (memory->length >= NIGH__CHUNKS_START + 96)
        memcpy(&queries[3], memory->bytes + NIGH__CHUNKS_START + 80, 8); /* the first fingerprint */
    static const uint8_t weights[256];
    nigh_status statuses[3];
    for (int method = 0; method < 3; method++) {
        nigh_batch_options options;
        nigh_batch_options_init(&options);
        nigh_results *results = NULL;
        options.method = (nigh_finder_method)(NIGH_FINDER_SCAN + method);
        options.weights = weights;
        options.probes = 4;
        options.threads = 1;
        statuses[method] = nigh_chunks_match(chunks, (const uint8_t *)queries, 4, &options, &results, NULL);
        if (statuses[method] == NIGH_OK) look(results, &info, 4);
        nigh_results_free(results);
    }
    if (statuses[0] != statuses[1] || statuses[0] != statuses[2]) abort();
    nigh_signer *signer = NULL;
    (void)nigh_chunks_signer(chunks, &signer, NULL);
    nigh_signer_free(signer);
    nigh_chunks_close(chunks);
    if (nigh_chunks_check(context, "c", NULL, NULL, NULL) == NIGH_OK && statuses[0] != NIGH_OK) abort();
}

static void sign(uint8_t *header) { nigh__store64(header + 56, nigh__hash(header, 56)); }

/* Those of the origin, as far as its lengths lead; where the chunks begin. */
static uint64_t forge_origin(const struct memory_file *memory) {
    uint8_t *header = memory->bytes + NIGH__CHUNKS_START;
    uint64_t at = NIGH__CHUNKS_START + 64;
    if (memory->length < at || memcmp(header, NIGH__ORIGIN_MAGIC, 8) != 0) return NIGH__CHUNKS_START;
    for (size_t part = 0; part < 3; part++) {
        const uint64_t length = nigh__load64(header + 8 + 8 * part);
        if (!nigh__range_fits(at, length, memory->length)) break;
        nigh__store64(header + 32 + 8 * part, nigh__hash(memory->bytes + at, (size_t)length));
        at += nigh__round_up(length, 8);
    }
    sign(header);
    return nigh__round_up(at, NIGH__CHUNK_ALIGNMENT);
}

/* Makes checksums right as far as the sizes lead. */
static void forge(const struct memory_file *memory) {
    uint64_t at = forge_origin(memory);
    sign(memory->bytes);
    sign(memory->bytes + NIGH__CHUNK_STATE_AT(0));
    sign(memory->bytes + NIGH__CHUNK_STATE_AT(1));
    while (nigh__range_fits(at, 64, memory->length)) {
        sign(memory->bytes + at);
        uint64_t left = nigh__load64(memory->bytes + at + 24);
        for (at += 64; left > 0;) {
            const uint32_t count = left < NIGH__BLOCK_FINGERPRINTS ? (uint32_t)left : NIGH__BLOCK_FINGERPRINTS;
            const uint64_t length = nigh__block_length(count);
            if (!nigh__range_fits(at, length, memory->length)) return;
            nigh__store64(memory->bytes + at + length - 8, nigh__hash(memory->bytes + at, (size_t)length - 8));
            at += length;
            left -= count;
        }
        at = nigh__round_up(at, NIGH__CHUNK_ALIGNMENT);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADERS || size > (1u << 20)) return 0;
    struct memory_file memory = {.length = (size_t)NIGH__CHUNKS_START + size - HEADERS};
    memory.bytes = calloc(1, memory.length);
    if (memory.bytes == NULL) abort();
    memcpy(memory.bytes, data, 64);
    memcpy(memory.bytes + NIGH__CHUNK_STATE_AT(0), data + 64, 64);
    memcpy(memory.bytes + NIGH__CHUNK_STATE_AT(1), data + 128, 64);
    memcpy(memory.bytes + NIGH__CHUNKS_START, data + HEADERS, size - HEADERS);
    nigh_file_system table = *nigh_file_system_posix();
    table.user = &memory;
    table.open = memory_open;
    table.close = memory_close;
    table.read = memory_read;
    table.length = memory_length;
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    run(context, &memory);
    forge(&memory);
    run(context, &memory);
    nigh_context_free(context);
    free(memory.bytes);
    return 0;
}
