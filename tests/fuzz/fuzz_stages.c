/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of files of stages against any bytes: as they are, and with the checksums made right, so that indexes and
 * blocks that cannot be are reached.  The file also stands for the plan of a work directory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "nigh.h"
#include "stages/stage_work.h"
#include "support/memory_files.h"

#define HEADER 64u
#define ENTRY 32u

/* Makes the version and the checksums of the blocks, the index and the header right, as far as they are where they say.
 */
static void forge(uint8_t *bytes, size_t size) {
    if (size < HEADER) return;
    const uint64_t at = nigh__load64(bytes + 32);
    const uint64_t blocks = nigh__load64(bytes + 40);
    if (at < HEADER || at > size || blocks != (size - at) / ENTRY || (size - at) % ENTRY != 0) return;
    for (uint64_t i = 0; i < blocks; i++) {
        uint8_t *entry = bytes + at + i * ENTRY;
        const uint64_t offset = nigh__load64(entry + 8);
        const uint64_t words = nigh__load64(entry + 16);
        if (offset <= at && words <= (at - offset) / 8)
            nigh__store64(entry + 24, nigh__hash(bytes + offset, (size_t)words * 8));
    }
    nigh__store32(bytes + 8, NIGH__STAGE_VERSION);
    nigh__store64(bytes + 56, nigh__hash_seeded(bytes + at, (size_t)(size - at), nigh__hash(bytes, 56)));
}

static void read_sections(struct nigh__stage_reader *reader) {
    const uint64_t *words = NULL;
    size_t count = 0;
    uint64_t sum = 0;
    for (uint32_t section = 0; section < reader->sections && section < 64; section++)
        for (size_t record = 0; record < 4; record++) {
            nigh__stage_begin(reader, section);
            while (nigh__stage_next(reader, record, &words, &count, NULL) == NIGH_OK)
                for (size_t i = 0; i < count * (record == 0 ? 1 : record); i++) sum += words[i];
            sum += nigh__stage_words(reader, section);
        }
    if (sum == 1) abort(); /* so that all was read */
}

static void read_file(nigh_context *context, const char *path) {
    struct nigh__stage_label label = {.stage = 0};
    struct nigh__stage_reader reader;
    for (unsigned i = 0; i <= NIGH_STAGE_COUNT; i++) {
        label.stage = i < NIGH_STAGE_COUNT ? i : NIGH__STAGE_PLAN;
        if (nigh__stage_reader_open(context, path, &label, 0, &reader, NULL) != NIGH_OK) continue;
        if (nigh__stage_check(&reader, NULL) == NIGH_OK) read_sections(&reader);
        nigh__stage_reader_release(&reader);
    }
}

static void open_plan(nigh_context *context) {
    nigh_staged *staged = NULL;
    size_t length = 0;
    if (nigh_staged_open(context, "c", &staged, NULL) != NIGH_OK) return;
    const char *note = nigh_staged_note(staged, &length);
    for (size_t i = 0; i < length; i++)
        if (note[i] == 1 && length == SIZE_MAX) abort();
    for (uint32_t i = 0; i < 3; i++) (void)nigh_staged_inputs(staged, i);
    if (nigh_staged_tasks(staged, NIGH_STAGE_SIGN) == 0) abort();
    nigh_staged_close(staged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > (1u << 20)) return 0;
    struct memory_files files = {.names = {"plan"}, .length = {size}};
    files.bytes[0] = malloc(size + 1);
    if (files.bytes[0] == NULL) abort();
    if (size > 0) memcpy(files.bytes[0], data, size);
    const nigh_file_system table = memory_files_table(&files);
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    for (int forged = 0; forged < 2; forged++) {
        if (forged != 0) forge(files.bytes[0], size);
        read_file(context, "c/plan");
        open_plan(context);
    }
    nigh_context_free(context);
    free(files.bytes[0]);
    return 0;
}
