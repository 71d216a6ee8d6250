/* SPDX-License-Identifier: Apache-2.0 */
#include "search/tuned.h"

#include "scan/ranking.h"
#include "search/methods.h"
#include "search/tuning.h"

/* Whether what it was measured with is still there. */
static bool is_usable(const nigh_collection *collection, const nigh_tuning *tuning,
                      const nigh_search_options *options) {
    size_t count;
    const struct nigh__search_method *const *methods = nigh__search_methods(&count);
    bool usable = true;
    for (size_t m = 0; m < count && usable; m++)
        usable = methods[m]->fits == NULL || methods[m]->fits(collection, tuning, options);
    return usable;
}

/* Whether queries are of the kind that it was measured with. */
static bool is_asked_so(const nigh_tuning *tuning, const nigh_search_options *options) {
    if (!nigh__ranks_plainly(options))
        return (tuning->asked == NIGH_TUNED_RANKED) == (options->rank == NIGH_RANK_WEIGHTED);
    return tuning->asked == NIGH_TUNED_ANY || (tuning->asked == NIGH_TUNED_WEIGHTED) == (options->weights != NULL);
}

/* The tuning that a search goes by; NULL: none. */
static const nigh_tuning *find_tuning(const nigh_collection *collection, const nigh_search_options *options) {
    const struct nigh__tuning *stored = nigh__tuning_of(collection, !nigh__ranks_plainly(options));
    const nigh_tuning *tuning = &stored->tuning;
    if (!stored->tuned || nigh__search_said(options)) return NULL;
    if (options->radius != NIGH_ALL || options->k > 2 * tuning->k) return NULL;
    return is_asked_so(tuning, options) && is_usable(collection, tuning, options) ? tuning : NULL;
}

/* A tuning is advice: one that this search cannot go by, whoever wrote it, is passed over. */
nigh_status nigh__search_settle(const nigh_collection *collection, nigh_search_options *options, nigh_error *error) {
    const nigh_tuning *tuning = find_tuning(collection, options);
    if (tuning != NULL) {
        nigh_search_options tuned = *options;
        nigh_tuning_apply(tuning, &tuned);
        if (nigh__search_check(collection, &tuned, NULL) == NIGH_OK) {
            *options = tuned;
            return NIGH_OK;
        }
    }
    return nigh__search_check(collection, options, error);
}
