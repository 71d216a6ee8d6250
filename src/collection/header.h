/* SPDX-License-Identifier: Apache-2.0 */
/* What the first 24 bytes of every file of ours have in common, and its checks. */
#ifndef NIGH_COLLECTION_HEADER_H
#define NIGH_COLLECTION_HEADER_H

#include "nigh.h"

/*
 * Checks magic, endianness mark and version at the start of a header, in that
 * order, before anything else of it is believed.  `kind` is for the message.
 */
nigh_status nigh__header_check(const char *path, const void *header, const char *magic, const char *kind,
                               nigh_error *error);

/* Refuses incompatible features that this version does not know; once the checksum is right. */
nigh_status nigh__features_check(const char *path, uint32_t incompatible, uint32_t known, nigh_error *error);

/* Widths are from 1 to 65,536.  `path` may be NULL. */
nigh_status nigh__width_check(const char *path, uint64_t offset, uint32_t width_bits, nigh_error *error);

#endif
