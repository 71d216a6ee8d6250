/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task VERIFY: the candidates of some components, with all their pairs and crowds, become a deduplication of their
 * own, which is decided as any other (dedup.c).  Its documents are the first of each set and, where that is another,
 * the best of it, in the order of their numbers.  Features wait in a file without a name until they are asked for.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/sorter.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/sets.h"
#include "stages/crowd_buckets.h"
#include "stages/task.h"

#define KNOWN_WORDS 2u /* of a document, and of a set: number or name, place of the set among the candidates */

struct deciding {
    struct nigh__dedup_reading hooks; /* the first member: hooks know the dedup alone */
    struct deciding *self;            /* which is not const */
    nigh_task *task;
    struct nigh__gathered gathered;
    struct nigh__array candidates; /* of struct nigh__task_set; by set once all are there */
    struct nigh__array known;      /* of uint64_t, KNOWN_WORDS each, of documents in order */
    struct nigh__array firsts;     /* of uint64_t: of each candidate its first document */
    struct nigh__sorter *pairs, *members;
    struct nigh__file file;
    struct nigh__output output;        /* to it */
    struct nigh__array words;          /* of uint64_t: features of one */
    struct nigh__crowd_buckets crowds; /* while candidates are added */
};

static nigh_status begin(nigh_task *task, nigh_error *error) {
    struct deciding *deciding = task->state = nigh__alloc_zero(task->context, 1, sizeof *deciding);
    if (deciding == NULL) return nigh__no_memory(error, "to verify");
    deciding->self = deciding;
    deciding->task = task;
    deciding->gathered = (struct nigh__gathered){
        .rows = NIGH__ARRAY(uint64_t), .signed_ones = NIGH__ARRAY(uint64_t), .row_words = NIGH__TASK_ROW_WORDS};
    deciding->candidates = (struct nigh__array)NIGH__ARRAY(struct nigh__task_set);
    deciding->known = deciding->firsts = deciding->words = (struct nigh__array)NIGH__ARRAY(uint64_t);
    nigh_status status = nigh__task_sorter(task, NIGH__TASK_PAIR_WORDS, false, 8, &deciding->pairs, error);
    if (status == NIGH_OK)
        status = nigh__task_sorter(task, NIGH__TASK_CROWD_WORDS, false, 8, &deciding->members, error);
    if (status == NIGH_OK)
        status = nigh__file_open_nameless(task->context, task->dedup->temporary, &deciding->file, error);
    if (status == NIGH_OK)
        status = nigh__output_init(task->context, &deciding->file, NULL, "features", &deciding->output, error);
    return status;
}

static void release(nigh_task *task) {
    struct deciding *deciding = task->state;
    nigh__sorter_free(deciding->pairs);
    nigh__sorter_free(deciding->members);
    nigh__output_release(&deciding->output);
    nigh__file_release(&deciding->file);
    nigh__gathered_release(task->context, &deciding->gathered);
    nigh__array_release(task->context, &deciding->candidates);
    nigh__array_release(task->context, &deciding->known);
    nigh__array_release(task->context, &deciding->firsts);
    nigh__array_release(task->context, &deciding->words);
}

/* ------------------------------------------------------------------- taking -- */

static nigh_status add_candidates(nigh_task *task, const uint64_t *words, size_t count, nigh_error *error) {
    struct deciding *deciding = task->state;
    if (count % NIGH__TASK_SET_WORDS != 0) return nigh__task_nonsense(task, NIGH_RECORDS_CANDIDATES, error);
    struct nigh__task_set *sets = nigh__array_add(task->context, &deciding->candidates, count / NIGH__TASK_SET_WORDS);
    if (sets == NULL) return nigh__no_memory(error, "for candidates");
    memcpy(sets, words, count * sizeof *words);
    for (size_t i = 0; i < count / NIGH__TASK_SET_WORDS; i++)
        if (sets[i].first > sets[i].best || sets[i].features == 0 || sets[i].features > UINT32_MAX)
            return nigh__task_nonsense(task, NIGH_RECORDS_CANDIDATES, error);
    return NIGH_OK;
}

/* Records of features are whole, and each ascends. */
static nigh_status add_features(nigh_task *task, const uint64_t *words, size_t count, nigh_error *error) {
    struct deciding *deciding = task->state;
    for (size_t i = 0; i < count;) {
        const size_t left = count - i;
        if (left < NIGH__FEATURES_WORDS || words[i + 2] == 0 || words[i + 2] > left - NIGH__FEATURES_WORDS)
            return nigh__task_nonsense(task, NIGH_RECORDS_FEATURES, error);
        const uint64_t *features = words + i + NIGH__FEATURES_WORDS;
        for (uint64_t k = 1; k < words[i + 2]; k++)
            if (features[k - 1] >= features[k]) return nigh__task_nonsense(task, NIGH_RECORDS_FEATURES, error);
        i += NIGH__FEATURES_WORDS + (size_t)words[i + 2];
    }
    return nigh__output_add(&deciding->output, words, count * sizeof *words, error);
}

static nigh_status add(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count, nigh_error *error) {
    const struct deciding *deciding = task->state;
    if (kind == NIGH_RECORDS_CANDIDATES) return add_candidates(task, words, count, error);
    if (kind == NIGH_RECORDS_FEATURES) return add_features(task, words, count, error);
    if (kind == NIGH_RECORDS_PAIRS && count % NIGH__TASK_PAIR_WORDS == 0)
        return nigh__sorter_add(deciding->pairs, words, count / NIGH__TASK_PAIR_WORDS, error);
    if (kind == NIGH_RECORDS_CROWDS && count % NIGH__TASK_CROWD_WORDS == 0)
        return nigh__sorter_add(deciding->members, words, count / NIGH__TASK_CROWD_WORDS, error);
    return nigh__task_nonsense(task, kind, error);
}

/* ---------------------------------------------------------------- documents -- */

static struct nigh__task_set *candidate_at(const struct deciding *deciding, size_t place) {
    return (struct nigh__task_set *)deciding->candidates.data + place;
}

/* Sorts records of two words by the first of them, in place. */
static nigh_status sort_pairs(const nigh_context *context, void *data, size_t count, nigh_error *error) {
    uint64_t *scratch = nigh__alloc(context, count, KNOWN_WORDS * sizeof *scratch);
    if (scratch == NULL) return nigh__no_memory(error, "for candidates");
    const uint64_t *sorted = nigh__words_sort(data, scratch, count, KNOWN_WORDS, 1, 1);
    if (count > 0 && sorted != data) memcpy(data, sorted, count * KNOWN_WORDS * sizeof *sorted);
    nigh__free(context, scratch);
    return NIGH_OK;
}

static nigh_status know(struct deciding *deciding, uint64_t number, uint64_t candidate, nigh_error *error) {
    uint64_t *known = nigh__array_add(deciding->task->context, &deciding->known, KNOWN_WORDS);
    if (known == NULL) return nigh__no_memory(error, "for candidates");
    known[0] = number;
    known[1] = candidate;
    return NIGH_OK;
}

/* Candidates in the order of `words`, of which each second one is a place in `from`. */
static void gather_candidates(struct nigh__task_set *to, const struct nigh__task_set *from, const uint64_t *words,
                              size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = from[words[KNOWN_WORDS * i + 1]];
}

/* By name, in place.  They are wider than the records of a sort (base/word_sort.h), so their places are sorted. */
static nigh_status sort_candidates(struct deciding *deciding, nigh_error *error) {
    const nigh_context *context = deciding->task->context;
    const size_t count = deciding->candidates.count;
    uint64_t *words = nigh__alloc(context, count, KNOWN_WORDS * sizeof *words);
    struct nigh__task_set *sorted = nigh__alloc(context, count, sizeof *sorted);
    nigh_status status = words == NULL || sorted == NULL ? nigh__no_memory(error, "for candidates") : NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        words[KNOWN_WORDS * i] = candidate_at(deciding, i)->set;
        words[KNOWN_WORDS * i + 1] = i;
    }
    if (status == NIGH_OK) status = sort_pairs(context, words, count, error);
    if (status == NIGH_OK && count > 0) {
        gather_candidates(sorted, deciding->candidates.data, words, count);
        memcpy(deciding->candidates.data, sorted, count * sizeof *sorted);
    }
    nigh__free(context, words);
    nigh__free(context, sorted);
    return status;
}

static nigh_status know_documents(struct deciding *deciding, nigh_error *error) {
    const size_t count = deciding->candidates.count;
    nigh_status status = sort_candidates(deciding, error);
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const struct nigh__task_set *set = candidate_at(deciding, i);
        if (i > 0 && set[-1].set == set->set)
            return nigh__task_nonsense(deciding->task, NIGH_RECORDS_CANDIDATES, error);
        status = know(deciding, set->first, i, error);
        if (status == NIGH_OK && set->best != set->first) status = know(deciding, set->best, i, error);
    }
    if (status != NIGH_OK) return status;
    return sort_pairs(deciding->task->context, deciding->known.data, deciding->known.count / KNOWN_WORDS, error);
}

static nigh_status make_room(struct deciding *deciding, size_t documents, nigh_error *error) {
    const nigh_context *context = deciding->task->context;
    nigh_dedup *dedup = deciding->task->dedup;
    uint64_t *rows = nigh__array_add(context, &deciding->gathered.rows, documents * NIGH__TASK_ROW_WORDS);
    if (nigh__array_add(context, &dedup->documents, documents) == NULL || rows == NULL ||
        nigh__array_add(context, &deciding->firsts, deciding->candidates.count) == NULL)
        return nigh__no_memory(error, "for candidates");
    memset(rows, 0, documents * NIGH__TASK_ROW_WORDS * sizeof *rows);
    return NIGH_OK;
}

/* One after the other, each of the set that its first has begun. */
static nigh_status make_documents(struct deciding *deciding, nigh_error *error) {
    nigh_dedup *dedup = deciding->task->dedup;
    nigh_status status = know_documents(deciding, error);
    const size_t count = deciding->known.count / KNOWN_WORDS;
    if (status == NIGH_OK) status = make_room(deciding, count, error);
    uint64_t *firsts = deciding->firsts.data;
    uint64_t *rows = deciding->gathered.rows.data;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *known = (const uint64_t *)deciding->known.data + i * KNOWN_WORDS;
        const struct nigh__task_set *set = candidate_at(deciding, (size_t)known[1]);
        const bool is_first = known[0] == set->first;
        if (i > 0 && known[0] == *(known - KNOWN_WORDS))
            return nigh__task_nonsense(deciding->task, NIGH_RECORDS_CANDIDATES, error);
        if (is_first) firsts[known[1]] = i;
        *nigh__dedup_document(dedup, i) =
            (struct nigh__duplicate){.text_length = is_first ? set->first_merit : set->best_merit,
                                     .features = (uint32_t)set->features,
                                     .copy_of = i,
                                     .next = NIGH__NO_DOCUMENT,
                                     .kept = i,
                                     .similarity = 1,
                                     .distance = NIGH_ALL};
        nigh__gather_join(dedup, i, firsts[known[1]]);
        if (is_first) memcpy(rows + i * NIGH__TASK_ROW_WORDS, set->row, sizeof set->row);
    }
    return status;
}

/* The place of a set among the candidates; their number where it is not. */
static size_t find_candidate(const struct deciding *deciding, uint64_t set) {
    size_t begin_at = 0;
    size_t end = deciding->candidates.count;
    while (begin_at < end) {
        const size_t middle = begin_at + (end - begin_at) / 2;
        if (candidate_at(deciding, middle)->set < set)
            begin_at = middle + 1;
        else
            end = middle;
    }
    const bool found = begin_at < deciding->candidates.count && candidate_at(deciding, begin_at)->set == set;
    return found ? begin_at : deciding->candidates.count;
}

/* The first document of a set. */
static nigh_status find_document(const struct deciding *deciding, uint64_t set, nigh_records kind, uint64_t *out,
                                 nigh_error *error) {
    const size_t place = find_candidate(deciding, set);
    if (place == deciding->candidates.count) return nigh__task_nonsense(deciding->task, kind, error);
    *out = ((const uint64_t *)deciding->firsts.data)[place];
    return NIGH_OK;
}

/* -------------------------------------------------------------------- hooks -- */

static struct deciding *deciding_of(const nigh_dedup *dedup) {
    return ((const struct deciding *)(const void *)dedup->reading)->self;
}

static nigh_status take_pair(nigh_task *task, const uint64_t *pair, nigh_error *error) {
    struct deciding *deciding = task->state;
    uint64_t a = 0;
    uint64_t b = 0;
    nigh_status status = find_document(deciding, pair[0], NIGH_RECORDS_PAIRS, &a, error);
    if (status == NIGH_OK) status = find_document(deciding, pair[1], NIGH_RECORDS_PAIRS, &b, error);
    if (status == NIGH_OK && a == b) status = nigh__task_nonsense(task, NIGH_RECORDS_PAIRS, error);
    return status == NIGH_OK ? nigh__pair_queue_add(&deciding->crowds.buckets.deciding, a, b, error) : status;
}

static nigh_status take_member(nigh_task *task, const uint64_t *record, nigh_error *error) {
    struct deciding *deciding = task->state;
    uint64_t document = 0;
    nigh_status status = find_document(deciding, record[2], NIGH_RECORDS_CROWDS, &document, error);
    if (status != NIGH_OK) return status;
    if (!nigh__crowd_buckets_fits(&deciding->crowds, record[0], (uint32_t)record[1], document))
        return nigh__task_nonsense(task, NIGH_RECORDS_CROWDS, error);
    return nigh__crowd_buckets_add(&deciding->crowds, record[0], (uint32_t)record[1], document, error);
}

static nigh_status find_candidates(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                   nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error) {
    struct deciding *deciding = deciding_of(dedup);
    (void)plan;
    nigh_status status = nigh__crowd_buckets_begin(candidates, gathered, &deciding->crowds, error);
    if (status == NIGH_OK)
        status = nigh__task_each(deciding->task, deciding->pairs, NIGH__TASK_PAIR_WORDS, take_pair, error);
    if (status == NIGH_OK)
        status = nigh__task_each(deciding->task, deciding->members, NIGH__TASK_CROWD_WORDS, take_member, error);
    return nigh__crowd_buckets_end(&deciding->crowds, status, dedup, error);
}

static nigh_status changed(nigh_error *error) {
    return nigh__fail(error, NIGH_ECORRUPT, "a document is gone, or its text is not what it was when it was signed");
}

/* The record of features at a place of the file; *place is then that of the next. */
static nigh_status read_features(struct deciding *deciding, uint64_t *place, uint64_t head[NIGH__FEATURES_WORDS],
                                 nigh_error *error) {
    const size_t head_bytes = NIGH__FEATURES_WORDS * sizeof *head;
    nigh_status status = nigh__file_read(&deciding->file, *place, head, head_bytes, error);
    if (status != NIGH_OK) return status;
    const size_t bytes = (size_t)head[2] * sizeof *head;
    uint64_t *features = nigh__array_room(deciding->task->context, &deciding->words, (size_t)head[2]);
    if (features == NULL) return nigh__no_memory(error, "to verify");
    status = nigh__file_read(&deciding->file, *place + head_bytes, features, bytes, error);
    *place += head_bytes + bytes;
    return status;
}

static nigh_status add_set(struct deciding *deciding, const uint64_t *head, const uint64_t *needed,
                           struct nigh__sets *sets, uint64_t *found, nigh_error *error) {
    const size_t place = find_candidate(deciding, head[0]);
    if (place == deciding->candidates.count) return nigh__task_nonsense(deciding->task, NIGH_RECORDS_FEATURES, error);
    if (candidate_at(deciding, place)->check != head[1]) return changed(error);
    const uint64_t document = ((const uint64_t *)deciding->firsts.data)[place];
    ++*found;
    if (!nigh__bit_is_set(needed, document)) return NIGH_OK;
    nigh__dedup_document(deciding->task->dedup, document)->features = (uint32_t)head[2];
    return nigh__sets_add(sets, document, deciding->words.data, error);
}

static nigh_status read_sets(nigh_dedup *dedup, struct nigh__pass_plan *plan, const uint64_t *needed,
                             struct nigh__sets *sets, nigh_error *error) {
    struct deciding *deciding = deciding_of(dedup);
    uint64_t head[NIGH__FEATURES_WORDS];
    uint64_t place = 0;
    uint64_t found = 0;
    (void)plan;
    nigh_status status = nigh__output_flush(&deciding->output, error);
    const uint64_t end = nigh__output_length(&deciding->output);
    while (status == NIGH_OK && place < end) {
        status = read_features(deciding, &place, head, error);
        if (status == NIGH_OK) status = add_set(deciding, head, needed, sets, &found, error);
    }
    return status == NIGH_OK && found != deciding->candidates.count ? changed(error) : status;
}

/* ----------------------------------------------------------------- deciding -- */

/* A set goes where what is kept for its first is of another. */
static nigh_status tell(const struct deciding *deciding, nigh_error *error) {
    nigh_task *task = deciding->task;
    const uint64_t *known = deciding->known.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < deciding->candidates.count; i++) {
        const uint64_t first = ((const uint64_t *)deciding->firsts.data)[i];
        const struct nigh__duplicate *document = nigh__dedup_document(task->dedup, first);
        const double similarity = (double)document->similarity;
        if (nigh__dedup_document(task->dedup, document->kept)->set_of == first) continue;
        const uint64_t match[NIGH__MATCH_WORDS] = {nigh__task_signed_number(candidate_at(deciding, i)->best),
                                                   nigh__task_signed_number(known[document->kept * KNOWN_WORDS]),
                                                   nigh__load64(&similarity)};
        status = nigh__task_put(task, NIGH_RECORDS_MATCHES, 0, match, NIGH__MATCH_WORDS, error);
    }
    return status;
}

static nigh_status finish(nigh_task *task, nigh_error *error) {
    struct deciding *deciding = task->state;
    nigh_dedup *dedup = task->dedup;
    const struct nigh__dedup_reading *usual = dedup->reading;
    if (deciding->candidates.count == 0) return NIGH_OK;
    deciding->hooks = *usual;
    deciding->hooks.find_candidates = find_candidates;
    deciding->hooks.read_sets = read_sets;
    dedup->reading = &deciding->hooks;
    if (dedup->options.keep != NIGH_KEEP_FIRST) dedup->options.keep = NIGH_KEEP_SHORTEST; /* merits are as lengths */
    nigh_status status = make_documents(deciding, error);
    if (status == NIGH_OK) status = nigh__dedup_decide(dedup, dedup->plan, &deciding->gathered, error);
    if (status == NIGH_OK) status = tell(deciding, error);
    task->counters[NIGH_COUNTER_VERIFIED] = dedup->info.verified;
    task->counters[NIGH_COUNTER_TRUNCATED] = dedup->info.truncated;
    dedup->reading = usual; /* the hooks go before it */
    return status;
}

const struct nigh__task_work nigh__task_verify = {begin, add, finish, release};
