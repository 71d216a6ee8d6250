/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of .npy: the dictionary, the counts, the rows. */
#include "fuzz/signature_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return signature_target(NIGH_FORMAT_NPY, data, size); }
