/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes what is between <DOC> and </DOC>. */
#include "fuzz/extract_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return extract_target(NIGH__RECORD_TREC, NULL, data, size);
}
