/* SPDX-License-Identifier: Apache-2.0 */
#include "search/methods.h"

#include <string.h>

#include "base/status.h"
#include "columns/column_method.h"
#include "finder/stored_method.h"
#include "graph/graph_method.h"
#include "scan/cost_model.h"
#include "search/search_options.h"
#include "sketch/sketch_method.h"
#include "slices/slice_method.h"

static const struct nigh__search_method *const methods[] = {
    &nigh__scan_method,  &nigh__sketch_method, &nigh__column_method,
    &nigh__slice_method, &nigh__graph_method,  &nigh__table_method,
};

#define METHODS (sizeof methods / sizeof methods[0])

const struct nigh__search_method *const *nigh__search_methods(size_t *count) {
    *count = METHODS;
    return methods;
}

/* -------------------------------------------------------------------- the options */

static bool is_said(const struct nigh__search_method *method, const nigh_search_options *options) {
    nigh_search_options defaults;
    nigh__options_defaults(&nigh__search_options_shape, &defaults);
    for (uint32_t i = 0; i < method->option_count; i++) {
        const struct nigh__search_option *option = &method->options[i];
        const char *value = (const char *)options + option->offset;
        if (memcmp(value, (const char *)&defaults + option->offset, option->size) != 0) return true;
    }
    return false;
}

bool nigh__search_said(const nigh_search_options *options) {
    bool said = options->method != NIGH_SEARCH_AUTO;
    for (size_t m = 0; m < METHODS && !said; m++) said = is_said(methods[m], options);
    return said;
}

static bool is_asked_for(const struct nigh__search_method *method, const nigh_search_options *options) {
    return (unsigned)options->method < 32 && (method->asked_by >> (unsigned)options->method & 1) != 0;
}

/* The place of the method that is asked for; METHODS where there is no such one. */
static size_t asked_place(const nigh_search_options *options) {
    size_t m = 0;
    while (m < METHODS && !is_asked_for(methods[m], options)) m++;
    return m;
}

nigh_status nigh__search_check(const nigh_collection *collection, const nigh_search_options *options,
                               nigh_error *error) {
    if (options->method != NIGH_SEARCH_AUTO && asked_place(options) == METHODS)
        return nigh__fail(error, NIGH_EINVAL, "there is no search method %u", (unsigned)options->method);
    nigh_status status = NIGH_OK;
    for (size_t m = 0; m < METHODS && status == NIGH_OK; m++)
        if (methods[m]->check != NULL) status = methods[m]->check(collection, options, error);
    return status;
}

/* ---------------------------------------------------------------------- a segment */

/* Whether a segment may be searched by a method, as far as the options go. */
static bool is_open_to(size_t m, const nigh_search_options *options) {
    if (is_asked_for(methods[m], options)) return true;
    if (!methods[m]->automatic) return false;
    if (options->method != NIGH_SEARCH_AUTO) return m < asked_place(options);
    bool passed_over = false;
    for (size_t before = 0; before < m && !passed_over; before++)
        passed_over = methods[before]->automatic && is_said(methods[before], options);
    return !passed_over;
}

bool nigh__way_pays(struct nigh__way *way, uint32_t query, uint32_t limit) {
    if (way->method == NULL) return false;
    const double cost = way->method->estimate(way->prepared, query, limit);
    return cost < (way->prepared->bound ? NIGH__COST_IMPOSSIBLE : way->scan_cost);
}

/* Takes the method if it can search the segment, and pays for a query that wants as little as can be. */
static nigh_status try_method(struct nigh__way *way, const struct nigh__search_method *method, nigh_error *error) {
    const nigh_status status = method->prepare(&way->scan, &way->prepared, error);
    if (status != NIGH_OK || way->prepared == NULL) return status;
    way->method = method;
    way->batch_queries = method->batch_queries;
    if (!nigh__way_pays(way, 0, 1)) nigh__way_release(way);
    return NIGH_OK;
}

nigh_status nigh__way_choose(struct nigh__way *way, const nigh_collection *collection,
                             const struct nigh__segment *segment, const struct nigh__selection *selection,
                             const nigh_search_options *options, nigh_error *error) {
    *way = (struct nigh__way){
        .scan = {.collection = collection, .segment = segment, .options = options, .selection = selection},
        .batch_queries = nigh__scan_method.batch_queries,
    };
    way->scan_cost = nigh__scan_method.estimate(&way->scan, 0, 1);
    nigh_status status = NIGH_OK;
    for (size_t m = METHODS - 1; m > 0 && way->method == NULL && status == NIGH_OK; m--)
        if (is_open_to(m, options)) status = try_method(way, methods[m], error);
    return status;
}

void nigh__way_release(struct nigh__way *way) {
    if (way->prepared != NULL) nigh__free(way->scan.segment->context, way->prepared);
    way->method = NULL;
    way->prepared = NULL;
    way->batch_queries = nigh__scan_method.batch_queries;
}
