/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "text/text_options.h"

static const struct nigh__option signer_options_fields[] = {
    NIGH__OPTION(nigh_signer_options, width_bits, 0),
    NIGH__OPTION(nigh_signer_options, feature_length, 0),
    NIGH__OPTION_OPEN(nigh_signer_options, stemming),
    NIGH__OPTION_OPEN(nigh_signer_options, stop_words),
    NIGH__OPTION(nigh_signer_options, seed, 0),
    NIGH__OPTION(nigh_signer_options, density, 0),
    NIGH__OPTION(nigh_signer_options, min_terms, 0),
    NIGH__OPTION(nigh_signer_options, max_terms, 0),
    NIGH__OPTION_OPEN(nigh_signer_options, min_word_length),
    NIGH__OPTION_OPEN(nigh_signer_options, no_numbers),
};
const struct nigh__options nigh__signer_options_shape = NIGH__OPTIONS(nigh_signer_options, signer_options_fields);
void nigh_signer_options_init(nigh_signer_options *options) {
    nigh__options_init(&nigh__signer_options_shape, options);
}

static const struct nigh__option vocabulary_options_fields[] = {
    NIGH__OPTION(nigh_vocabulary_options, threads, 0),
    NIGH__OPTION(nigh_vocabulary_options, memory_bytes, 0),
    NIGH__OPTION(nigh_vocabulary_options, limit, 0),
};
const struct nigh__options nigh__vocabulary_options_shape =
    NIGH__OPTIONS(nigh_vocabulary_options, vocabulary_options_fields);
void nigh_vocabulary_options_init(nigh_vocabulary_options *options) {
    nigh__options_init(&nigh__vocabulary_options_shape, options);
}
