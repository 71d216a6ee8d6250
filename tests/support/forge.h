/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an attacker does: any bytes, with every checksum made right afterwards,
 * so that the checks behind the checksums are reached.
 */
#ifndef NIGH_TESTS_FORGE_H
#define NIGH_TESTS_FORGE_H

#include <stddef.h>
#include <stdint.h>

#include "collection/format.h"

/*
 * Corrects the key of the id lookup and the checksums of sections, header and footer of the segment in
 * `bytes`, as far as they lie inside; *entry is what a manifest would say of it.
 * A segment shorter than header, table space and footer is left alone.
 */
void forge_segment(uint8_t *bytes, size_t length, struct nigh__manifest_entry *entry);

/* Corrects the checksums of blocks of texts of a segment, as far as they lie inside; before forge_segment(). */
void forge_texts(uint8_t *bytes, size_t length);

/* As forge_segment() for a file of slice lists, which is made to belong to the segment with this checksum. */
void forge_sidecar(uint8_t *bytes, size_t length, uint64_t segment_checksum);

/* As forge_segment() for a group of a term signature file. */
void forge_terms(uint8_t *bytes, size_t length, struct nigh__manifest_entry *entry);

/* Corrects the checksum of a manifest of at least 64 bytes. */
void forge_manifest(uint8_t *bytes, size_t length);

#endif
