/* SPDX-License-Identifier: Apache-2.0 */
/* Packing by zstd, at the level that packs about as fast as documents are read. */
#include "document/text_codec.h"

#include <zstd.h>

#define LEVEL 3
#define EXPANSION 32768u /* a block of zstd unpacks to 128 KiB at most, and takes four bytes at least */

static size_t pack(void *packed, size_t capacity, const void *bytes, size_t length) {
    const size_t made = ZSTD_compress(packed, capacity, bytes, length, LEVEL);
    return ZSTD_isError(made) ? 0 : made;
}

static bool unpack(void *bytes, size_t length, const void *packed, size_t packed_length) {
    return ZSTD_decompress(bytes, length, packed, packed_length) == length;
}

const struct nigh__codec nigh__text_codec = {
    .number = NIGH__CODEC_ZSTD, .expansion = EXPANSION, .pack = pack, .unpack = unpack};
