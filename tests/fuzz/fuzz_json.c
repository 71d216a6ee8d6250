/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes lines of JSON, with a path of two keys. */
#include "fuzz/extract_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return extract_target(NIGH__RECORD_JSON, "a.b", data, size);
}
