/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of term signature files against any bytes.  The input is a group; it is put into a
 * file that lives in memory, with a manifest that says of it what it says of itself, once as it is
 * and once with every checksum made right, so that hashes, positions and blocks out of bounds are
 * reached.  Then everything in it is read in every way there is, and checked.
 *
 * The seeds are small groups of every kind of filter, and some of them with numbers made wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/terms_format.h"
#include "fuzz/fuzz.h"
#include "nigh.h"
#include "support/forge.h"
#include "support/memory_files.h"
#include "support/terms_support.h"

#define GROUP_NAME "terms-00000000000000000001"
#define MANIFEST_NAME "manifest-00000000000000000001"
#define MANIFEST_SIZE (sizeof(struct nigh__manifest_header) + sizeof(struct nigh__manifest_entry))

enum { GROUP, MANIFEST };

static void make_manifest(uint8_t *out, const struct nigh__manifest_entry *entry, uint32_t filter_bits) {
    struct nigh__manifest_header header = {.version = NIGH__FORMAT_VERSION,
                                           .endian_mark = NIGH__ENDIAN_MARK,
                                           .sequence = 1,
                                           .next_segment = 2,
                                           .documents = entry->documents,
                                           .width_bits = filter_bits,
                                           .segment_count = 1};
    memcpy(header.magic, NIGH__TERMS_MANIFEST_MAGIC, NIGH__MAGIC_SIZE);
    memcpy(out, &header, sizeof header);
    memcpy(out + sizeof header, entry, sizeof *entry);
    forge_manifest(out, MANIFEST_SIZE);
}

static void run(nigh_context *context, struct memory_files *files) {
    struct nigh__terms_header header;
    memcpy(&header, files->bytes[GROUP], sizeof header);
    const struct nigh__manifest_entry entry = {.number = 1,
                                               .file_length = header.file_length,
                                               .documents = header.documents,
                                               .header_checksum = header.checksum};
    make_manifest(files->bytes[MANIFEST], &entry, header.filter_bits);
    (void)terms_read_everything(context, "t", NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < sizeof(struct nigh__terms_header) || size > (1u << 20)) return 0;
    uint8_t manifest[MANIFEST_SIZE];
    struct memory_files files = {.names = {GROUP_NAME, MANIFEST_NAME}, .length = {size, MANIFEST_SIZE}};
    files.bytes[GROUP] = aligned_alloc(64, (size + 63) / 64 * 64);
    files.bytes[MANIFEST] = manifest;
    if (files.bytes[GROUP] == NULL) abort();
    memcpy(files.bytes[GROUP], data, size);

    const nigh_file_system table = memory_files_table(&files);
    nigh_context_options options = NIGH_CONTEXT_OPTIONS_INIT;
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    run(context, &files);
    struct nigh__manifest_entry ignored;
    forge_terms(files.bytes[GROUP], size, &ignored);
    run(context, &files);
    nigh_context_free(context);
    free(files.bytes[GROUP]);
    return 0;
}
