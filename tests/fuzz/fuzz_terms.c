/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of term signature files against any bytes.  The input is a group; it is put into a
 * file that lives in memory, with a manifest that says of it what it says of itself, once as it is
 * and once with every checksum made right, so that hashes, positions and blocks out of bounds are
 * reached.  Then everything in it is read in every way there is, and checked.
 *
 * The seeds are small groups of every kind of filter, and some of them with numbers made wrong.
 */
#include "fuzz/store_target.h"
#include "support/terms_support.h"
#include "terms/terms_format.h"

static uint32_t name_group(const uint8_t *file, struct nigh__manifest_entry *entry) {
    struct nigh__terms_header header;
    memcpy(&header, file, sizeof header);
    entry->file_length = header.file_length;
    entry->documents = header.documents;
    entry->header_checksum = header.checksum;
    return header.filter_bits;
}

static void read_terms(nigh_context *context) { (void)terms_read_everything(context, "c", NULL); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct store_target target = {.file_name = "terms-00000000000000000001",
                                               .manifest_magic = NIGH__TERMS_MANIFEST_MAGIC,
                                               .header_size = sizeof(struct nigh__terms_header),
                                               .name = name_group,
                                               .forge = forge_terms,
                                               .read = read_terms};
    return store_run(&target, data, size);
}
