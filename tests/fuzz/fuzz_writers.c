/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers on hostile stores.  The first byte of the input says which file of a sound collection
 * or term signature file the rest of it replaces, as it is and, where that file is a segment or a
 * group, once more with every checksum made right and a manifest that names it.
 */
#include "collection/format.h"
#include "fuzz/writer_target.h"

static const char *const names[] = {
    "segment-00000000000000000002", "slices-00000000000000000002",   "tuning",
    "terms-00000000000000000002",   "manifest-00000000000000000001", "graph-00000000000000000001"};

/* The newest manifest, with the last of its entries as the forger says. */
static void name_in_manifest(struct memory_store *store, const struct nigh__manifest_entry *entry) {
    struct memory_store_file *file = memory_store_find(store, "manifest-00000000000000000002");
    struct nigh__manifest_header header;
    struct nigh__manifest_entry entries[2];
    if (file->length != sizeof header + sizeof entries) abort();
    memcpy(&header, file->bytes, sizeof header);
    memcpy(entries, file->bytes + sizeof header, sizeof entries);
    const uint64_t number = entries[1].number;
    entries[1] = *entry;
    entries[1].number = number;
    header.documents = entries[0].documents + entries[1].documents;
    memcpy(file->bytes, &header, sizeof header);
    memcpy(file->bytes + sizeof header, entries, sizeof entries);
    forge_manifest(file->bytes, file->length);
}

static void write_forged(struct memory_store *store, const char *name, bool terms) {
    struct memory_store_file *file = memory_store_find(store, name);
    struct nigh__manifest_entry entry = {.number = 0};
    if (terms)
        forge_terms(file->bytes, file->length, &entry);
    else
        forge_segment(file->bytes, file->length, &entry);
    name_in_manifest(store, &entry);
    write_all(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > WRITER_MAX_BYTES) return 0;
    const unsigned which = data[0] % (sizeof names / sizeof names[0]);
    const bool terms = which == 3;
    struct memory_store store = {.files = {{.length = 0}}};
    memory_store_copy(sound_store(terms), &store);
    memory_store_put(&store, names[which], data + 1, size - 1);
    write_all(&store);
    if (which == 0 || terms) write_forged(&store, names[which], terms);
    memory_store_clear(&store);
    return 0;
}
