/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for term signature files, in a library built without them; see absent.h. */
#include "absent/absent.h"

const char *nigh_filter_kind_name(nigh_filter_kind kind) { return NULL; }

nigh_status nigh_terms_index(nigh_context *context, const char *path, const char *const *inputs, size_t count,
                             const nigh_text_reader_options *reading, const nigh_terms_options *options,
                             nigh_terms_info *info, nigh_error *error) {
    return nigh__absent(error, "terms");
}

nigh_status nigh_terms_open(nigh_context *context, const char *path, const nigh_open_options *options, nigh_terms **out,
                            nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "terms");
}

void nigh_terms_close(nigh_terms *terms) {}

void nigh_terms_describe(const nigh_terms *terms, nigh_terms_info *out) {}

nigh_status nigh_terms_id(const nigh_terms *terms, uint64_t document, char *buffer, size_t capacity, size_t *length,
                          nigh_error *error) {
    return nigh__absent(error, "terms");
}

nigh_status nigh_terms_check(nigh_context *context, const char *path, const nigh_check_options *options,
                             nigh_check_result *result, nigh_error *error) {
    return nigh__absent(error, "terms");
}

nigh_status nigh_terms_search(const nigh_terms *terms, const nigh_terms_query *query, nigh_terms_answer **out,
                              nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "terms");
}

void nigh_terms_answer_describe(const nigh_terms_answer *answer, nigh_terms_answer_info *out) {}

const uint64_t *nigh_terms_answer_documents(const nigh_terms_answer *answer, size_t *count) { return NULL; }

void nigh_terms_answer_free(nigh_terms_answer *answer) {}
