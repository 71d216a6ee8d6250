/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "signature/signature_options.h"

static const struct nigh__option signature_reader_options_fields[] = {
    NIGH__OPTION(nigh_signature_reader_options, width_bits, 0),
};
const struct nigh__options nigh__signature_reader_options_shape =
    NIGH__OPTIONS(nigh_signature_reader_options, signature_reader_options_fields);
void nigh_signature_reader_options_init(nigh_signature_reader_options *options) {
    nigh__options_init(&nigh__signature_reader_options_shape, options);
}

static const struct nigh__option signature_writer_options_fields[] = {
    NIGH__OPTION(nigh_signature_writer_options, width_bits, 0),
    NIGH__OPTION_OPEN(nigh_signature_writer_options, rows),
};
const struct nigh__options nigh__signature_writer_options_shape =
    NIGH__OPTIONS(nigh_signature_writer_options, signature_writer_options_fields);
void nigh_signature_writer_options_init(nigh_signature_writer_options *options) {
    nigh__options_init(&nigh__signature_writer_options_shape, options);
}

static const struct nigh__option generator_options_fields[] = {
    NIGH__OPTION(nigh_generator_options, count, 1000000),
    NIGH__OPTION(nigh_generator_options, seed, 1),
    NIGH__OPTION(nigh_generator_options, width_bits, 1024),
};
const struct nigh__options nigh__generator_options_shape =
    NIGH__OPTIONS(nigh_generator_options, generator_options_fields);
void nigh_generator_options_init(nigh_generator_options *options) {
    nigh__options_init(&nigh__generator_options_shape, options);
}

static const struct nigh__option signing_options_fields[] = {
    NIGH__OPTION(nigh_signing_options, threads, 0),
    NIGH__OPTION(nigh_signing_options, snippet, 0),
    NIGH__OPTION(nigh_signing_options, limit, 0),
    NIGH__OPTION(nigh_signing_options, limit_passages, 0),
};
const struct nigh__options nigh__signing_options_shape = NIGH__OPTIONS(nigh_signing_options, signing_options_fields);
void nigh_signing_options_init(nigh_signing_options *options) {
    nigh__options_init(&nigh__signing_options_shape, options);
}
