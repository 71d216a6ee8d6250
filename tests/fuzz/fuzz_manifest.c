/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests against any bytes.  The input is the newest manifest of a collection and of a term
 * signature file that are sound otherwise, once as it is and once with its checksum made right.
 * The stores are then read and written to in every way there is.
 */
#include "collection/format.h"
#include "fuzz/writer_target.h"

static void read_all(struct memory_store *store) {
    const nigh_file_system table = memory_store_table(store);
    nigh_context *context = writer_context(&table);
    (void)read_everything(context, "c", NULL);
    (void)terms_read_everything(context, "c", NULL);
    nigh_context_free(context);
}

static void try_manifest(const uint8_t *data, size_t size, bool terms) {
    struct memory_store store = {.files = {{.length = 0}}};
    memory_store_copy(sound_store(terms), &store);
    memory_store_put(&store, "manifest-00000000000000000002", data, size);
    read_all(&store);
    write_all(&store);
    memory_store_clear(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > WRITER_MAX_BYTES) return 0;
    uint8_t *forged = malloc(size + 1);
    if (forged == NULL) abort();
    memcpy(forged, data, size);
    if (size >= sizeof(struct nigh__manifest_header)) forge_manifest(forged, size);
    for (int terms = 0; terms < 2; terms++) {
        try_manifest(data, size, terms != 0);
        try_manifest(forged, size, terms != 0);
    }
    free(forged);
    return 0;
}
