/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes vocabularies: bytes as they come, and with the checksum made right, so that what lies behind it is reached. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "nigh.h"
#include "text/vocabulary_parts.h"

static void try_bytes(nigh_context *context, const uint8_t *data, size_t size) {
    nigh_vocabulary *vocabulary = NULL;
    nigh_error error;
    if (nigh_vocabulary_parse(context, data, size, &vocabulary, &error) != NIGH_OK) return;
    for (uint64_t hash = 1; hash != 0; hash <<= 1) (void)nigh__vocabulary_find(vocabulary, hash - 1);
    nigh_vocabulary_free(vocabulary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    try_bytes(context, data, size);
    if (size < VOCABULARY_HEADER) return 0;
    uint8_t *mended = malloc(size);
    if (mended == NULL) return 0;
    memcpy(mended, data, size);
    uint64_t checksum = nigh__vocabulary_checksum(mended, size);
    memcpy(mended + VOCABULARY_CHECKSUM, &checksum, sizeof checksum);
    try_bytes(context, mended, size);
    free(mended);
    return 0;
}
