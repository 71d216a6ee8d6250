/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes HTTP responses: headers, chunks, compressed bodies. */
#include "fuzz/extract_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return extract_target(NIGH__RECORD_HTTP, NULL, data, size);
}
