/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of .npy: the dictionary, the counts, the rows; and floats, as bits by sign and by thresholds that
 * are measured on them.
 */
#include "fuzz/signature_target.h"
#include "signature/thresholds_measure.h"

struct bytes {
    const uint8_t *data;
    size_t size;
    struct memory_source source;
    nigh_stream stream;
};

static nigh_status open_bytes(void *user, size_t index, const nigh_signature_reader_options *options,
                              nigh_signature_reader **out, nigh_error *error) {
    struct bytes *bytes = user;
    nigh_signature_reader_options own = *options;
    bytes->source =
        (struct memory_source){.bytes = bytes->data, .length = bytes->size, .chunk = 1 + index, .fail_at = SIZE_MAX};
    if (index == 0) bytes->source.chunk = 0;
    bytes->stream = memory_source_stream(&bytes->source);
    own.stream = &bytes->stream;
    return nigh_signature_reader_open(target_context(), "-", &own, out, error);
}

static struct reading read_by_sign(const nigh_thresholds *sign, const uint8_t *data, size_t size, size_t chunk) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_NPY;
    options.thresholds = sign;
    return target_read_options(target_context(), &options, data, size, chunk);
}

/* Bits that are set, where all rows can be read. */
static uint64_t count_bits(struct bytes *bytes, const nigh_thresholds *thresholds, nigh_signature_info *info) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_NPY;
    options.thresholds = thresholds;
    nigh_signature_reader *reader;
    nigh_document row = {.size = sizeof row};
    uint64_t set = 0;
    if (open_bytes(bytes, 0, &options, &reader, NULL) != NIGH_OK) abort();
    nigh_signature_reader_describe(reader, info);
    while (nigh_signature_reader_next(reader, &row, NULL) == NIGH_OK)
        for (uint32_t i = 0; i < nigh_signature_bytes(info->width_bits); i++)
            set += (uint64_t)__builtin_popcount(row.signature[i]);
    nigh_signature_reader_close(reader);
    return set;
}

/* No more than half of a column is above its median; and the same rows twice have the same medians. */
static void measure(struct bytes *bytes, nigh_binarise how) {
    struct nigh__float_inputs inputs = {.open = open_bytes, .user = bytes, .count = 1};
    nigh_thresholds *once;
    nigh_thresholds *twice;
    if (nigh__thresholds_measure(target_context(), how, &inputs, NULL, &once, NULL) != NIGH_OK) return;
    inputs.count = 2;
    const nigh_status status = nigh__thresholds_measure(target_context(), how, &inputs, NULL, &twice, NULL);
    nigh_signature_info info = {.size = sizeof info};
    const uint64_t set = count_bits(bytes, once, &info);
    if (how == NIGH_BINARISE_MEDIAN) {
        if (status != NIGH_OK || set > info.rows / 2 * info.width_bits) abort();
        if (memcmp(once->values, twice->values, once->count * sizeof(double)) != 0) abort();
    }
    nigh_thresholds_free(once);
    nigh_thresholds_free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static nigh_thresholds *sign;
    struct bytes bytes = {.data = data, .size = size};
    (void)signature_target(NIGH_FORMAT_NPY, data, size);
    if (sign == NULL &&
        nigh_thresholds_measure(target_context(), NIGH_BINARISE_SIGN, NULL, 0, NULL, &sign, NULL) != NIGH_OK)
        abort();
    struct reading whole = read_by_sign(sign, data, size, 0);
    struct reading pieces = read_by_sign(sign, data, size, 1 + size % 7);
    if (whole.status != pieces.status || whole.hash != pieces.hash || strcmp(whole.message, pieces.message) != 0)
        abort();
    if (whole.status != NIGH_END) return 0;
    measure(&bytes, NIGH_BINARISE_MEDIAN);
    measure(&bytes, NIGH_BINARISE_MEAN);
    return 0;
}
