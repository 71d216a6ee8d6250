/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all groups of a term signature file have in common, as lines "key=value": the shape of
 * the filters and the analysis.  A key or value that is not known was written by a newer nigh,
 * and looking terms up by other rules would lose documents, so it is refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/key_lines.h"
#include "base/status.h"
#include "terms/terms_file_parts.h"
#include "text/plan.h"
#include "text/text_options.h"

_Static_assert(sizeof(((struct nigh_terms *)0)->analysis) >= NIGH__PLAN_LINES_SIZE, "room");
_Static_assert(sizeof(((nigh_terms_info *)0)->lines) == sizeof(((struct nigh_terms *)0)->analysis), "room");

static const char *const kind_names[] = {"", "hybrid", "bloom", "coca", NULL}; /* by nigh_filter_kind */

nigh_status nigh__terms_lines_make(const nigh_context *context, const struct nigh__filter_shape *shape,
                                   const struct nigh__feature_plan *plan, uint32_t block_terms, char **out,
                                   nigh_error *error) {
    char analysis[NIGH__PLAN_LINES_SIZE];
    char own[256];
    if (shape->seed != plan->analysis.seed)
        return nigh__fail(error, NIGH_EINVAL, "filters and analysis must have the same seed");
    nigh__plan_lines(plan, analysis, sizeof analysis);
    int used = snprintf(own, sizeof own, "block-terms=%u\nfilter-bits=%u\n", block_terms, shape->bits);
    if (shape->kind == NIGH_FILTER_HYBRID)
        used += snprintf(own + used, sizeof own - (size_t)used, "frequent-hashes=%u\n", shape->frequent_hashes);
    used += snprintf(own + used, sizeof own - (size_t)used, "hashes=%u\nkind=%s\n", shape->hashes,
                     nigh_filter_kind_name(shape->kind));
    if (shape->kind == NIGH_FILTER_HYBRID)
        used += snprintf(own + used, sizeof own - (size_t)used, "theta=%u\n", shape->theta);
    (void)snprintf(own + used, sizeof own - (size_t)used, "version=%u\n", NIGH__TERMS_LINES_VERSION);
    return nigh__key_lines_merge(context, analysis, own, NIGH__TERMS_MAX_LINES, "the description", out, error);
}

struct reading {
    struct nigh__filter_shape shape;
    nigh_signer_options options;
    uint32_t block_terms;
};

/* False for a key or a value that is not known. */
static bool read_line(const char *key, const char *value, struct reading *reading) {
    uint32_t version = 0;
    const enum nigh__plan_line analysis = nigh__plan_read_line(key, value, &reading->options);
    if (analysis != NIGH__PLAN_LINE_OTHER) return analysis == NIGH__PLAN_LINE_READ;
    if (strcmp(key, "kind") == 0) {
        const int kind = nigh__key_value_name(value, kind_names);
        reading->shape.kind = kind < 0 ? NIGH_FILTER_AUTO : (nigh_filter_kind)kind;
        return kind > NIGH_FILTER_AUTO;
    }
    if (strcmp(key, "version") == 0)
        return nigh__key_value_number32(value, NIGH__TERMS_LINES_VERSION, &version) && version > 0;
    uint32_t *number = strcmp(key, "block-terms") == 0       ? &reading->block_terms
                       : strcmp(key, "filter-bits") == 0     ? &reading->shape.bits
                       : strcmp(key, "hashes") == 0          ? &reading->shape.hashes
                       : strcmp(key, "frequent-hashes") == 0 ? &reading->shape.frequent_hashes
                       : strcmp(key, "theta") == 0           ? &reading->shape.theta
                                                             : NULL;
    return number != NULL && nigh__key_value_number32(value, UINT32_MAX, number);
}

nigh_status nigh__terms_lines_read(const nigh_context *context, const char *lines, const char *path, uint64_t offset,
                                   struct nigh_terms *out, nigh_error *error) {
    struct reading reading = {.block_terms = 0};
    nigh__options_defaults(&nigh__signer_options_shape, &reading.options);
    if (!nigh__key_lines_sound(lines, NULL))
        return nigh__fail_at(error, NIGH_ECORRUPT, path, offset, "not made of lines 'key=value'");
    for (const char *line = lines; *line != '\0'; line = strchr(line, '\n') + 1) {
        char key[32], value[64];
        if (!nigh__key_line_cut(line, key, sizeof key, value, sizeof value) || !read_line(key, value, &reading))
            return nigh__fail_at(error, NIGH_EVERSION, path, offset, "'%.*s' is not known to this version of nigh",
                                 (int)nigh__smaller(strcspn(line, "\n"), 60), line);
    }
    /* The lines must be those that we would write: a key that is missing, or other words for the same, is damage. */
    char *again = NULL;
    reading.shape.seed = reading.options.seed;
    nigh_error problem;
    nigh_status status = nigh__plan_features(&reading.options, &out->plan, &problem);
    if (status == NIGH_OK) status = nigh__filter_shape_check(&reading.shape, &problem);
    if (status != NIGH_OK) return nigh__fail_at(error, NIGH_ECORRUPT, path, offset, "%s", problem.why);
    status = nigh__terms_lines_make(context, &reading.shape, &out->plan, reading.block_terms, &again, error);
    if (status != NIGH_OK || again == NULL) return status;
    const bool same = strcmp(lines, again) == 0;
    nigh__free(context, again);
    if (!same || reading.block_terms == 0 || out->plan.kind != NIGH_FEATURES_WORDS)
        return nigh__fail_at(error, NIGH_ECORRUPT, path, offset, "shape and analysis do not go together");
    out->shape = reading.shape;
    out->block_terms = reading.block_terms;
    nigh__plan_lines(&out->plan, out->analysis, sizeof out->analysis);
    return NIGH_OK;
}
