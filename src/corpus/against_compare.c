/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing new documents. The answer is the same as if they came one by one: each would be compared with all
 * documents so far, and added if nothing matches. It is found in two steps, each over many documents at once:
 *
 *     there     a finder of the collection (or the chunks) gets the new ones as queries, a batch at a time; what a
 *               batch finds goes to a store that need not fit into memory (match_store.h).  Where tables beside the
 *               segments guarantee the radius, these are asked instead, and nothing is loaded or built
 *     earlier   a join of the new ones with each other gives pairs (i, j), i < j, ordered by i.
 *               A pair counts where i itself matched nothing, neither there nor earlier: when
 *               the pairs of i come, all those that could make i a repeat have come.  Of very many
 *               equal ones the join gives only the pairs of their first with another, so a
 *               copy of a repeat repeats what that repeats
 */
#include "base/limits.h"
#include "base/options.h"
#include "base/sorter.h"
#include "base/status.h"
#include "collection/collection.h"
#include "corpus/against_parts.h"
#include "finder/finder_each.h"
#include "finder/stored.h"
#include "finder/stored_method.h"
#include "nigh/join.h"

#define FIRST_BATCH 64u
#define LARGEST_BATCH 65536u
#define FEW_MATCHES (1u << 16) /* of a batch: the next may be larger */
#define MANY_MATCHES (1u << 20)
#define TICK_ROWS 65536u
#define STORED_BATCH 4096u
#define MANY_OF_ONE 256u                   /* matches of one in a batch that tables of the collection answer */
#define FEW_SIGNATURES 16384u              /* that may be compared one by one: fewer get no tables unasked */
#define USUAL_MEMORY (UINT64_C(256) << 20) /* for what was found, where nobody says */

/* ------------------------------------------------------------------ memory -- */

/*
 * Of the memory that there is, a quarter is for what was found: half of that for the store, half for what is on its
 * way there.  The rest is for what is looked up, or for the join.
 */
static uint64_t found_memory(const nigh_against *against) {
    const uint64_t limit = against->options.memory_bytes;
    return limit == 0 ? USUAL_MEMORY : limit / 4;
}

static uint64_t looked_up_memory(const nigh_against *against) {
    const uint64_t limit = against->options.memory_bytes;
    return limit == 0 ? 0 : limit - limit / 4;
}

static nigh_status open_store(const nigh_against *against, struct nigh__match_store *store, nigh_error *error) {
    return nigh__match_store_init(against->context, against->temporary, found_memory(against) / 2,
                                  against->incoming.count, store, error);
}

static const char *temporary_of(const nigh_against *against) {
    return against->temporary == NULL ? "/tmp" : against->temporary;
}

/* ------------------------------------------------------ with what is there -- */

/* Takes matches as they are found. */
struct taking {
    nigh_against *against;
    size_t begin;            /* the new one that is query 0 */
    size_t list;             /* the list that was added to last */
    uint64_t in_list;        /* matches it has, with those that are not told */
    const uint64_t *numbers; /* of the documents that the finder has, where some are deleted; NULL: from 0 on */
    uint64_t *untold;        /* of each list, where a list may be that of several; NULL: they are counted */
    uint64_t matches;        /* in all */
    nigh_error *error;       /* for whoever asked */
};

/* By the numbers of documents. */
static nigh_status add_matches(const struct taking *taking, size_t list, const nigh_match *matches, size_t count) {
    struct nigh__match_store *store = taking->against->there;
    nigh_status status = NIGH_OK;
    if (taking->numbers == NULL) return nigh__match_store_add(store, list, matches, count, taking->error);
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        nigh_match match = matches[i];
        match.document = taking->numbers[match.document];
        status = nigh__match_store_add(store, list, &match, 1, taking->error);
    }
    return status;
}

static nigh_status take_matches(void *user, size_t query, const nigh_match *matches, size_t count) {
    struct taking *taking = user;
    nigh_against *against = taking->against;
    const uint64_t most = against->options.most_matches < 1 ? 1 : against->options.most_matches;
    const size_t list = taking->begin + query;
    if (list != taking->list || taking->matches == 0) taking->in_list = 0;
    const uint64_t room = most > taking->in_list ? most - taking->in_list : 0;
    const size_t told = count < room ? count : (size_t)room;
    taking->list = list;
    taking->in_list += count;
    taking->matches += count;
    if (taking->untold != NULL)
        taking->untold[list] += count - told;
    else
        against->info.untold += count - told;
    return add_matches(taking, list, matches, told);
}

static void count_finds(nigh_against *against, const struct nigh__find_counts *counts) {
    against->info.distances += counts->compared;
    against->info.probes += counts->probes;
    against->info.truncated += counts->truncated;
}

static uint64_t living_count(const nigh_against *against) {
    return against->collection->documents - against->collection->deleted;
}

/* All signatures of the collection, in the order of its documents. */
static nigh_status load_rows(nigh_against *against, const uint64_t *numbers, uint8_t *rows, nigh_error *error) {
    const size_t bytes = nigh__row_bytes(against->info.width_bits);
    const uint64_t count = living_count(against);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t document = numbers == NULL ? i : numbers[i];
        nigh_status status = nigh_collection_signature(against->collection, document, rows + i * bytes, error);
        if (status == NIGH_OK && i % TICK_ROWS == 0) status = nigh__against_tick(against, "loading", i, count, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

static void finder_options(const nigh_against *against, nigh_finder_options *out) {
    const nigh_against_options *options = &against->options;
    nigh_finder_options_init(out);
    out->method = options->method;
    out->width_bits = against->info.width_bits;
    out->radius = against->info.radius;
    out->blocks = options->blocks;
    out->leading = options->leading;
    out->approximate = options->approximate;
    out->prefix_bits = options->prefix_bits;
    out->probes = options->probes;
    out->rotations = options->rotations;
    out->model = options->model;
    out->without_numbers = options->without_numbers;
    out->recall = options->recall;
    out->memory_bytes = looked_up_memory(against);
    out->threads = options->threads;
    out->progress = options->progress;
}

static nigh_status make_finder(nigh_against *against, const uint64_t *numbers, nigh_finder **out, nigh_error *error) {
    nigh_finder_options options;
    finder_options(against, &options);
    const size_t bytes = nigh__row_bytes(options.width_bits);
    const uint64_t count = living_count(against);
    uint8_t *rows = count > SIZE_MAX / bytes ? NULL : nigh__alloc(against->context, (size_t)count, bytes);
    if (rows == NULL) return nigh__no_memory(error, "for the signatures of a collection");
    nigh_status status = load_rows(against, numbers, rows, error);
    if (status == NIGH_OK) status = nigh_finder_new(against->context, rows, count, &options, out, error);
    nigh__free(against->context, rows);
    return status;
}

/* Few queries at once where they bring up many, so that the matches of a batch do not fill the memory. */
static size_t next_batch(size_t batch, uint64_t matches) {
    if (matches < FEW_MATCHES) return batch * 4 < LARGEST_BATCH ? batch * 4 : LARGEST_BATCH;
    if (matches > MANY_MATCHES) return batch > 4 ? batch / 4 : 1;
    return batch;
}

/* The first batch: what a scan may find of it fits; of the others, what they found is counted. */
static size_t largest_batch(const nigh_against *against, const nigh_finder *finder, size_t batch) {
    while (batch > 1 && nigh__finder_scan_bytes(finder, batch) > found_memory(against) / 2) batch /= 2;
    return batch;
}

/* Asks the next ones; *count becomes how many were told, *matches what they have. */
static nigh_status find_batch(nigh_against *against, const nigh_finder *finder, const uint64_t *numbers, size_t begin,
                              size_t *count, uint64_t *matches, nigh_error *error) {
    const struct nigh__incoming *incoming = &against->incoming;
    struct taking taking = {.against = against, .numbers = numbers, .begin = begin, .error = error};
    const struct nigh__match_sink sink = {
        .take = take_matches, .user = &taking, .memory_bytes = found_memory(against) / 4};
    struct nigh__find_counts counts;
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.mode = against->options.find;
    options.threads = against->options.threads;
    options.weights = nigh__incoming_weights(incoming, begin);
    nigh_status status =
        nigh__finder_each(finder, nigh__incoming_rows(incoming, begin), *count, &options, &sink, &counts, error);
    if (status == NIGH_ELIMIT && *count > 1) status = NIGH_OK; /* fewer at once, from where it has come to */
    *count = counts.told;
    *matches = taking.matches;
    count_finds(against, &counts);
    return status;
}

static nigh_status find_all(nigh_against *against, const nigh_finder *finder, const uint64_t *numbers,
                            nigh_error *error) {
    const size_t total = against->incoming.count;
    nigh_status status = NIGH_OK;
    size_t batch = largest_batch(against, finder, FIRST_BATCH);
    for (size_t begin = 0; begin < total && status == NIGH_OK;) {
        const size_t asked = batch < total - begin ? batch : total - begin;
        size_t told = asked;
        uint64_t matches = 0;
        status = nigh__against_tick(against, "comparing", begin, total, error);
        if (status == NIGH_OK) status = find_batch(against, finder, numbers, begin, &told, &matches, error);
        batch = told < asked ? asked > 8 ? asked / 8 : 1 : next_batch(batch, matches);
        if (against->options.memory_bytes != 0) batch = largest_batch(against, finder, batch);
        begin += told;
    }
    return status;
}

/* ------------------------------------------------------ by tables of the collection -- */

/* The largest segment whose tables guarantee the radius, where all but a few signatures have such; else NULL. */
static const struct nigh__segment *covered(const nigh_against *against) {
    const nigh_collection *collection = against->collection;
    const struct nigh__segment *largest = NULL;
    uint64_t without = 0;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        const struct nigh__segment *segment = collection->segments[s];
        if (!nigh__stored_guarantees(segment, against->info.radius))
            without += segment->signatures;
        else if (largest == NULL || segment->signatures > largest->signatures)
            largest = segment;
    }
    return without < FEW_SIGNATURES ? largest : NULL;
}

/* Whether nothing was said that tables of the collection do not do. */
static bool takes_stored(const nigh_against_options *options) {
    const bool tables = options->method == NIGH_FINDER_AUTO || options->method == NIGH_FINDER_TABLES;
    return tables && options->blocks == 0 && options->leading == 0 && !options->approximate;
}

/* As of a finder; none of it is in memory of its own. */
static nigh_status describe_stored(nigh_against *against, const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__stored stored;
    const nigh_status status = nigh__stored_of_segment(segment, &stored, error);
    if (status != NIGH_OK) return status;
    against->finder = (nigh_finder_info){.size = sizeof against->finder,
                                         .method = NIGH_FINDER_TABLES,
                                         .rows = against->info.documents,
                                         .distinct = against->held.signatures,
                                         .blocks = stored.facts.blocks,
                                         .leading = stored.facts.leading,
                                         .tables = stored.facts.tables,
                                         .exact_radius = stored.facts.radius};
    return NIGH_OK;
}

/* Some new ones from `begin` on, of each at most k matches: the nearest.  The caller frees *out. */
static nigh_status search_stored(nigh_against *against, size_t begin, size_t count, uint32_t k, nigh_results **out,
                                 nigh_error *error) {
    nigh_search_options options;
    nigh_results_info info = {.size = sizeof info};
    nigh_search_options_init(&options);
    options.k = k;
    options.radius = against->info.radius;
    options.method = NIGH_SEARCH_TABLES;
    options.stop = NIGH_STOP_CERTAIN; /* of segments that have none */
    options.threads = against->options.threads;
    const nigh_status status =
        nigh_search(against->collection, nigh__incoming_rows(&against->incoming, begin), count, &options, out, error);
    if (status != NIGH_OK) return status;
    nigh_results_describe(*out, &info);
    against->info.distances += info.distances;
    against->info.probes += info.probes;
    against->info.exact = against->info.exact && info.exact;
    return NIGH_OK;
}

/* The matches of one, as the mode has it; they are all of them. */
static nigh_status take_found(struct taking *taking, size_t query, const nigh_match *matches, size_t count) {
    const nigh_match *first = matches;
    for (size_t i = 1; i < count; i++)
        if (matches[i].document < first->document) first = &matches[i];
    if (count == 0) return NIGH_OK;
    if (taking->against->options.find == NIGH_FIND_FIRST) return take_matches(taking, query, first, 1);
    return take_matches(taking, query, matches, count);
}

/* One that has as many matches as were asked for may have more, and is asked again by itself. */
static nigh_status take_stored(struct taking *taking, const nigh_results *results, size_t query, uint32_t k) {
    nigh_against *against = taking->against;
    nigh_results *all = NULL;
    size_t count;
    const nigh_match *matches = nigh_results_matches(results, query, &count);
    if (count < k || against->options.find == NIGH_FIND_ANY) return take_found(taking, query, matches, count);
    nigh_status status = search_stored(against, taking->begin + query, 1, NIGH_ALL, &all, taking->error);
    if (status != NIGH_OK) return status;
    matches = nigh_results_matches(all, 0, &count);
    status = take_found(taking, query, matches, count);
    nigh_results_free(all);
    return status;
}

static nigh_status match_stored(nigh_against *against, const struct nigh__segment *segment, nigh_error *error) {
    const size_t total = against->incoming.count;
    const uint32_t k = against->options.find == NIGH_FIND_ANY ? 1 : MANY_OF_ONE;
    const uint64_t fit = found_memory(against) / 4 / (k * sizeof(nigh_match)) + 1;
    const size_t batch = fit < STORED_BATCH ? (size_t)fit : STORED_BATCH;
    nigh_status status = describe_stored(against, segment, error);
    for (size_t begin = 0, some; begin < total && status == NIGH_OK; begin += some) {
        struct taking taking = {.against = against, .begin = begin, .error = error};
        nigh_results *results = NULL;
        some = batch < total - begin ? batch : total - begin;
        status = nigh__against_tick(against, "comparing", begin, total, error);
        if (status == NIGH_OK) status = search_stored(against, begin, some, k, &results, error);
        for (size_t q = 0; q < some && status == NIGH_OK; q++) status = take_stored(&taking, results, q, k);
        nigh_results_free(results);
    }
    return status;
}

static nigh_status match_collection(nigh_against *against, nigh_error *error) {
    nigh_finder *finder = NULL;
    uint64_t *numbers = NULL;
    const struct nigh__segment *stored = takes_stored(&against->options) ? covered(against) : NULL;
    if (stored != NULL) return match_stored(against, stored, error);
    nigh_status status = nigh__collection_living(against->collection, &numbers, error);
    if (status == NIGH_OK) status = make_finder(against, numbers, &finder, error);
    if (status == NIGH_OK) {
        nigh_finder_describe(finder, &against->finder);
        status = find_all(against, finder, numbers, error);
        against->info.exact = against->finder.exact_radius >= against->info.radius;
    }
    nigh_finder_free(finder);
    nigh__free(against->context, numbers);
    return status;
}

static void batch_options(const nigh_against *against, nigh_batch_options *out) {
    const nigh_against_options *options = &against->options;
    nigh_batch_options_init(out);
    out->method = options->method;
    out->mode = options->find;
    out->radius = against->info.radius;
    out->weights = nigh__incoming_weights(&against->incoming, 0);
    out->blocks = options->blocks;
    out->leading = options->leading;
    out->prefix_bits = options->prefix_bits;
    out->probes = options->probes;
    out->model = options->model;
    out->recall = options->recall;
    out->threads = options->threads;
    out->progress = options->progress;
}

/* What stands in the list of several counts for each. */
static void count_untold(nigh_against *against, const uint64_t *untold) {
    const uint32_t *list_of = against->there->list_of;
    for (size_t i = 0; i < against->incoming.count; i++)
        against->info.untold += untold[list_of == NULL ? i : list_of[i]];
}

static nigh_status match_chunks(nigh_against *against, nigh_error *error) {
    const struct nigh__incoming *incoming = &against->incoming;
    struct taking taking = {.against = against, .error = error};
    const struct nigh__match_sink sink = {.take = take_matches,
                                          .user = &taking,
                                          .memory_bytes = found_memory(against) / 2,
                                          .temporary = temporary_of(against)};
    struct nigh__find_counts counts;
    nigh_batch_options options;
    if (incoming->count == 0) return NIGH_OK;
    taking.untold = nigh__alloc_zero(against->context, incoming->count, sizeof *taking.untold);
    if (taking.untold == NULL) return nigh__no_memory(error, "for matches");
    batch_options(against, &options);
    const nigh_status status = nigh__chunks_each(against->chunks, nigh__incoming_rows(incoming, 0), incoming->count,
                                                 &options, &sink, &against->there->list_of, &counts, error);
    if (status == NIGH_OK) {
        count_finds(against, &counts);
        count_untold(against, taking.untold);
        against->info.exact = counts.exact;
    }
    nigh__free(against->context, taking.untold);
    return status;
}

/* Who has a match there, once all are found. */
static void mark_there(nigh_against *against) {
    for (size_t i = 0; i < against->incoming.count; i++) {
        const size_t count = nigh__match_store_count(against->there, i);
        against->matched[i] = count > 0;
        against->info.there += count > 0;
        against->info.matches += count;
    }
}

static nigh_status match_there(nigh_against *against, nigh_error *error) {
    if (against->info.documents == 0) return NIGH_OK;
    nigh_status status = open_store(against, against->there, error);
    if (status == NIGH_OK)
        status = against->chunks != NULL ? match_chunks(against, error) : match_collection(against, error);
    if (status != NIGH_OK) return status;
    nigh__match_store_end(against->there);
    mark_there(against);
    return NIGH_OK;
}

/* --------------------------------------------------------- with each other -- */

/* A match with an earlier one, as words that sort as they should: whose it is, then the nearest first, ties by number.
 */
struct repeat {
    uint64_t owner, distance, document;
};
#define REPEAT_WORDS 3u

struct joining {
    nigh_against *against;
    struct nigh__sorter *repeats; /* of struct repeat */
    nigh_match *first;            /* of each new one, the first that it repeats; document NIGH_ALL_64: none */
    uint32_t *counts;             /* of each new one, how many it repeats */
    nigh_status status;           /* of the sorter */
    nigh_error error;
};

static int take_pair(void *user, const nigh_pair *pair) {
    struct joining *joining = user;
    nigh_against *against = joining->against;
    const size_t later = (size_t)pair->second;
    const nigh_match repeated = joining->first[pair->first];
    nigh_match match = {.document = pair->first, .distance = pair->distance};
    if (against->options.find != NIGH_FIND_ALL && against->matched[later]) return 0;
    if (against->matched[pair->first]) {
        if (pair->distance > 0 || repeated.document == NIGH_ALL_64 || against->matched[later]) return 0;
        match = repeated;
        against->info.untold += joining->counts[pair->first] - 1;
    }
    joining->counts[later] += joining->counts[later] < UINT32_MAX;
    if (joining->first[later].document == NIGH_ALL_64) joining->first[later] = match;
    const struct repeat repeat = {later, match.distance, match.document};
    joining->status = nigh__sorter_add(joining->repeats, &repeat.owner, 1, &joining->error);
    against->info.repeated += !against->matched[later];
    against->matched[later] = true;
    return joining->status != NIGH_OK;
}

/* From the sorter to the lists. */
static nigh_status keep_repeats(struct joining *joining, nigh_error *error) {
    nigh_against *against = joining->against;
    struct nigh__sorter_cursor cursor = {.sorter = joining->repeats, .words = REPEAT_WORDS};
    const uint64_t *record = NULL;
    if (nigh__sorter_count(joining->repeats) == 0) return NIGH_OK;
    nigh_status status = nigh__sorter_finish(joining->repeats, error);
    if (status == NIGH_OK) status = open_store(against, against->earlier, error);
    while (status == NIGH_OK) {
        status = nigh__sorter_peek(&cursor, &record, error);
        if (status != NIGH_OK || record == NULL) break;
        const nigh_match match = {.document = record[2], .distance = (uint32_t)record[1]};
        status = nigh__match_store_add(against->earlier, (size_t)record[0], &match, 1, error);
        against->info.matches++;
        cursor.next++;
    }
    nigh__match_store_end(against->earlier);
    return status;
}

static nigh_status join(struct joining *joining, nigh_error *error) {
    nigh_against *against = joining->against;
    const struct nigh__incoming *incoming = &against->incoming;
    nigh_join_options options;
    nigh_join_options_init(&options);
    nigh_join_result result = {.size = sizeof result};
    options.width_bits = incoming->width_bits;
    options.radius = against->info.radius;
    options.threads = against->options.threads;
    options.memory_bytes = looked_up_memory(against);
    options.temporary = temporary_of(against);
    options.pair = take_pair;
    options.user = joining;
    options.progress = against->options.progress;
    nigh_status status = nigh_join(against->context, nigh__incoming_rows(incoming, 0), incoming->count, NULL, 0,
                                   &options, &result, error);
    if (status == NIGH_ECANCELLED && joining->status != NIGH_OK) {
        if (error != NULL) *error = joining->error;
        return joining->status;
    }
    against->info.truncated += result.truncated;
    against->info.distances += result.compared;
    return status;
}

static nigh_status open_repeats(struct joining *joining, nigh_error *error) {
    const nigh_against *against = joining->against;
    const size_t count = against->incoming.count;
    const struct nigh__sorter_options options = {.words = REPEAT_WORDS,
                                                 .key_words = REPEAT_WORDS,
                                                 .memory_bytes = found_memory(against) / 2,
                                                 .temporary = temporary_of(against),
                                                 .threads = against->options.threads};
    joining->first = nigh__alloc(against->context, count, sizeof *joining->first);
    joining->counts = nigh__alloc_zero(against->context, count, sizeof *joining->counts);
    if (joining->first == NULL || joining->counts == NULL) return nigh__no_memory(error, "for matches");
    for (size_t i = 0; i < count; i++) joining->first[i] = (nigh_match){.document = NIGH_ALL_64};
    return nigh__sorter_new(against->context, &options, &joining->repeats, error);
}

static nigh_status match_each_other(nigh_against *against, nigh_error *error) {
    if (against->incoming.count < 2) return NIGH_OK;
    struct joining joining = {.against = against};
    nigh_status status = open_repeats(&joining, error);
    if (status == NIGH_OK) status = join(&joining, error);
    if (status == NIGH_OK) status = keep_repeats(&joining, error);
    nigh__sorter_free(joining.repeats);
    nigh__free(against->context, joining.first);
    nigh__free(against->context, joining.counts);
    return status;
}

nigh_status nigh_against_compare(nigh_against *against, nigh_error *error) {
    nigh_status status = nigh__against_expect(against, NIGH__AGAINST_TAKING, "it was compared already", error);
    if (status != NIGH_OK) return status;
    if (against->dedup != NULL) { /* which did it */
        against->state = NIGH__AGAINST_COMPARED;
        return NIGH_OK;
    }
    against->matched = nigh__alloc_zero(against->context, against->incoming.count, sizeof *against->matched);
    if (against->matched == NULL) status = nigh__no_memory(error, "for matches");
    if (status == NIGH_OK) status = match_there(against, error);
    if (status == NIGH_OK) status = match_each_other(against, error);
    if (against->info.truncated > 0) against->info.exact = 0;
    against->state = status == NIGH_OK ? NIGH__AGAINST_COMPARED : NIGH__AGAINST_BROKEN;
    return status;
}
