/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "document/document_options.h"

#include "base/status.h"

static const struct nigh__option text_reader_options_fields[] = {
    NIGH__OPTION(nigh_text_reader_options, max_depth, 512),
    NIGH__OPTION(nigh_text_reader_options, shard, 0),
    NIGH__OPTION(nigh_text_reader_options, shards, 0),
    NIGH__OPTION(nigh_text_reader_options, max_document_bytes, UINT64_C(16) << 20),
    NIGH__OPTION(nigh_text_reader_options, max_expansion, 1000),
    NIGH__OPTION(nigh_text_reader_options, max_expansion_free, UINT64_C(64) << 20),
    NIGH__OPTION(nigh_text_reader_options, max_members, UINT64_C(100) * 1000 * 1000),
    NIGH__OPTION(nigh_text_reader_options, max_errors, 1000),
    NIGH__OPTION(nigh_text_reader_options, min_bytes, 0),
    NIGH__OPTION(nigh_text_reader_options, min_words, 0),
};
const struct nigh__options nigh__text_reader_options_shape =
    NIGH__OPTIONS(nigh_text_reader_options, text_reader_options_fields);
void nigh_text_reader_options_init(nigh_text_reader_options *options) {
    nigh__options_init(&nigh__text_reader_options_shape, options);
}

static const struct nigh__option source_fields[] = {NIGH__OPTION_OPEN(nigh_source, documents)};
static const struct nigh__options source_shape = NIGH__OPTIONS(nigh_source, source_fields);
void nigh_source_init(nigh_source *source) { nigh__options_init(&source_shape, source); }

nigh_status nigh__source_copy(nigh_source *out, const nigh_source *given, nigh_error *error) {
    if (given == NULL) return nigh__fail(error, NIGH_EINVAL, "no source to read documents from");
    nigh_status status = nigh__options_copy(&source_shape, out, given, error);
    if (status != NIGH_OK || out->next != NULL) return status;
    return nigh__fail(error, NIGH_EINVAL, "a source that cannot be read: it has no function `next`");
}
