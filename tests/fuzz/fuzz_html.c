/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes pages: tags, entities and character sets. */
#include "fuzz/extract_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return extract_target(NIGH__RECORD_HTML, NULL, data, size);
}
