/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of u8bin: two numbers and rows. */
#include "fuzz/signature_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return signature_target(NIGH_FORMAT_U8BIN, data, size); }
