/* SPDX-License-Identifier: Apache-2.0 */
#include "search/tuned.h"

#include "scan/ranking.h"
#include "search/methods.h"
#include "search/tuning.h"

/* Whether what it was measured with is still there. */
static bool is_usable(const nigh_collection *collection, const nigh_search_options *options) {
    size_t count;
    const struct nigh__search_method *const *methods = nigh__search_methods(&count);
    bool usable = true;
    for (size_t m = 0; m < count && usable; m++)
        usable =
            methods[m]->fits == NULL || methods[m]->fits(collection, &nigh__tuning_of(collection)->tuning, options);
    return usable;
}

static bool is_for(const nigh_collection *collection, const nigh_search_options *options) {
    if (!nigh__tuning_of(collection)->tuned || nigh__search_said(options)) return false;
    if (!nigh__ranks_plainly(options) || options->radius != NIGH_ALL || options->k > 2 * nigh__tuning_of(collection)->tuning.k)
        return false;
    const nigh_tuned_queries asked = nigh__tuning_of(collection)->tuning.asked;
    if (asked != NIGH_TUNED_ANY && (asked == NIGH_TUNED_WEIGHTED) != (options->weights != NULL)) return false;
    return is_usable(collection, options);
}

/* A tuning is advice: one that this search cannot go by, whoever wrote it, is passed over. */
nigh_status nigh__search_settle(const nigh_collection *collection, nigh_search_options *options, nigh_error *error) {
    if (is_for(collection, options)) {
        nigh_search_options tuned = *options;
        nigh_tuning_apply(&nigh__tuning_of(collection)->tuning, &tuned);
        if (nigh__search_check(collection, &tuned, NULL) == NIGH_OK) {
            *options = tuned;
            return NIGH_OK;
        }
    }
    return nigh__search_check(collection, options, error);
}
