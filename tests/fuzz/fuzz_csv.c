/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of tables: quotes, delimiters and line ends in any place, of CSV and of TSV. */
#include "fuzz/document_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)document_target(NIGH_TEXT_CSV, data, size);
    return document_target(NIGH_TEXT_TSV, data, size);
}
