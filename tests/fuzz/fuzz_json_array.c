/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of JSON arrays: where an item ends, and parsing it. */
#include "fuzz/document_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return document_target(NIGH_TEXT_JSON, data, size); }
