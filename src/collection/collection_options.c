/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "collection/collection_options.h"

const struct nigh__options nigh__open_options_shape = NIGH__OPTIONS_PLAIN(nigh_open_options);
void nigh_open_options_init(nigh_open_options *options) { nigh__options_init(&nigh__open_options_shape, options); }

const struct nigh__options nigh__check_options_shape = NIGH__OPTIONS_PLAIN(nigh_check_options);
void nigh_check_options_init(nigh_check_options *options) { nigh__options_init(&nigh__check_options_shape, options); }

static const struct nigh__option merge_options_fields[] = {
    NIGH__OPTION(nigh_merge_options, tiered, 0),
    NIGH__OPTION(nigh_merge_options, threads, 0),
};
const struct nigh__options nigh__merge_options_shape = NIGH__OPTIONS(nigh_merge_options, merge_options_fields);
void nigh_merge_options_init(nigh_merge_options *options) { nigh__options_init(&nigh__merge_options_shape, options); }

const struct nigh__options nigh__adopt_options_shape = NIGH__OPTIONS_PLAIN(nigh_adopt_options);
void nigh_adopt_options_init(nigh_adopt_options *options) { nigh__options_init(&nigh__adopt_options_shape, options); }

static const struct nigh__option writer_options_fields[] = {
    NIGH__OPTION(nigh_writer_options, width_bits, 0),
    NIGH__OPTION(nigh_writer_options, merge, 1),
};
const struct nigh__options nigh__writer_options_shape = NIGH__OPTIONS(nigh_writer_options, writer_options_fields);
void nigh_writer_options_init(nigh_writer_options *options) {
    nigh__options_init(&nigh__writer_options_shape, options);
}
