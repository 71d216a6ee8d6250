/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranked retrieval against judgements.  Every document is ranked for every query
 * by distance, by distance in the bits that the query touches, weighted (as nigh
 * search asks for texts, of topsig in both ways), by the weights before they are
 * rounded to levels, and by cosine, so that a figure can be told apart: what the
 * features do not find, what the signature loses of them, and what the levels do.
 *
 * A judgement is a key, its topic above its document; sorted, the keys of a topic
 * stand together:
 *
 *     | 0:17 | 0:40 | 0:93 | 1:2 | 1:17 | ...       relevant ones only
 *
 * Topics are the queries; or, where documents ask, the different words in the
 * first column, known by their hashes: then each relevant document of a topic asks
 * for the other ones, and is itself left out of the ranking.
 */
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "eval/corpus.h"
#include "eval/eval_options.h"
#include "eval/fields.h"
#include "eval/metric.h"
#include "kernel/hamming.h"
#include "scan/nearest.h"
#include "scan/ranking.h"

#define DEPTH 10u
#define NOBODY UINT32_MAX

/* The rankings that are compared. */
enum order { BY_DISTANCE, BY_TOUCHED, BY_LEVEL, BY_WEIGHT, BY_COSINE, ORDERS };

struct scores {
    double average_precision, precision;
};

struct ranker {
    const nigh_eval_corpus *documents;
    const nigh_eval_corpus *queries; /* NULL: documents ask */
    struct nigh__array relevant;     /* of uint64_t, sorted */
    struct nigh__array names;        /* of struct name: the topic of each judgement */
    struct nigh__array letters;      /* of char: these names, if the caller wants to know them */
    uint32_t *judgement_of;          /* a judgement of each topic; NULL: queries ask */
    uint32_t *distances;             /* of each document */
    uint64_t *keys;                  /* of each document, sorted */
    uint64_t *ranks;                 /* of relevant ones */
    uint8_t *is_relevant;            /* of each document */
    double *vector;                  /* of the query, by the documents' numbers */
    uint32_t *costs;                 /* of each bit of the query: what it counts where it differs */
    uint32_t *table;                 /* [bytes of a signature][256]: the costs of the bits that differ */
    struct scores totals[ORDERS];    /* over the topics */
    struct nigh__progress progress;
    nigh_eval_ranking result;
    const nigh_eval_ranking_options *options;
};

/* The first column of a judgement. */
struct name {
    uint64_t hash;
    size_t at; /* among the letters */
    uint32_t length;
};

/* ----------------------------------------------------------- judgements -- */

/* Letters are kept for the caller alone: topics are told apart by their hashes.  False: out of memory. */
static bool keep_name(struct ranker *ranker, const struct nigh__field *field) {
    const nigh_context *context = ranker->documents->context;
    struct name *name = nigh__array_add(context, &ranker->names, 1);
    if (name == NULL) return false;
    *name = (struct name){nigh__hash(field->text, field->length), ranker->letters.count, (uint32_t)field->length};
    return ranker->options->topic == NULL || ranker->queries != NULL ||
           nigh__bytes_append(context, &ranker->letters, field->text, field->length);
}

static nigh_status read_judgement(struct ranker *ranker, const struct nigh__fields *fields, nigh_error *error) {
    double grade = 0;
    uint32_t topic = 0;
    uint32_t document = 0;
    if (fields->count != 4) return nigh__fields_fail(fields, error, "not QUERY, 0, DOCUMENT and GRADE");
    if (!nigh__field_decimal(&fields->at[3], &grade))
        return nigh__fields_fail(fields, error, "the grade is not a number");
    if (grade <= 0) return NIGH_OK;
    const struct nigh__field *name = &fields->at[0];
    bool known = nigh__corpus_find(ranker->documents, fields->at[2].text, fields->at[2].length, &document);
    if (ranker->queries != NULL) known = known && nigh__corpus_find(ranker->queries, name->text, name->length, &topic);
    if (!known) {
        ranker->result.missing++;
        return NIGH_OK;
    }
    uint64_t *key = nigh__array_add(ranker->documents->context, &ranker->relevant, 1);
    if (key == NULL || !keep_name(ranker, name)) return nigh__no_memory(error, "for the ranking");
    *key = nigh__key(topic, document);
    return NIGH_OK;
}

/* How many of the hashes, sorted, are smaller: the number of a topic, with gaps. */
static uint32_t smaller(const uint64_t *hashes, size_t count, uint64_t hash) {
    return (uint32_t)nigh__words_find(hashes, count, hash);
}

static nigh_status number_topics(struct ranker *ranker, nigh_error *error) {
    const nigh_context *context = ranker->documents->context;
    const size_t count = ranker->names.count;
    const struct name *names = ranker->names.data;
    uint64_t *keys = ranker->relevant.data;
    if (ranker->queries != NULL || count == 0) return NIGH_OK;
    if (count > UINT32_MAX) return nigh__fail(error, NIGH_ELIMIT, "too many judgements");
    uint64_t *sorted = nigh__alloc(context, count, sizeof *sorted);
    ranker->judgement_of = nigh__alloc(context, count, sizeof *ranker->judgement_of);
    if (sorted == NULL || ranker->judgement_of == NULL) {
        nigh__free(context, sorted);
        return nigh__no_memory(error, "for the ranking");
    }
    for (size_t i = 0; i < count; i++) sorted[i] = names[i].hash;
    nigh__keys_sort(context, sorted, count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t topic = smaller(sorted, count, names[i].hash);
        keys[i] = nigh__key(topic, nigh__key_number(keys[i]));
        ranker->judgement_of[topic] = (uint32_t)i;
    }
    nigh__free(context, sorted);
    return NIGH_OK;
}

/* Sorted, each once. */
static nigh_status read_judgements(struct ranker *ranker, const char *path, nigh_error *error) {
    struct nigh__fields fields;
    nigh_status status = nigh__fields_open(ranker->documents->context, path, " \t", &fields, error);
    while (status == NIGH_OK && (status = nigh__fields_next(&fields, error)) == NIGH_OK)
        status = read_judgement(ranker, &fields, error);
    nigh__fields_close(&fields);
    if (status == NIGH_END) status = number_topics(ranker, error);
    if (status != NIGH_OK) return status;
    uint64_t *keys = ranker->relevant.data;
    size_t count = 0;
    nigh__keys_sort(ranker->documents->context, keys, ranker->relevant.count);
    for (size_t i = 0; i < ranker->relevant.count; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) keys[count++] = keys[i];
    }
    ranker->relevant.count = count;
    return NIGH_OK;
}

/* -------------------------------------------------------------- ranking -- */

/* Sorts the keys, and finds where the relevant documents are. */
static struct scores score(struct ranker *ranker, uint32_t left_out, uint64_t relevant) {
    const uint32_t documents = nigh__corpus_count(ranker->documents);
    size_t found = 0;
    uint64_t rank = 0;
    nigh__keys_sort(ranker->documents->context, ranker->keys, documents);
    for (uint32_t i = 0; i < documents; i++) {
        const uint32_t document = nigh__key_number(ranker->keys[i]);
        if (document == left_out) continue;
        rank++;
        if (ranker->is_relevant[document]) ranker->ranks[found++] = rank;
    }
    return (struct scores){nigh__average_precision(ranker->ranks, found, relevant),
                           nigh__precision_at(ranker->ranks, found, DEPTH)};
}

static void rank_by_distance(struct ranker *ranker, const uint64_t *row) {
    const nigh_eval_corpus *corpus = ranker->documents;
    const uint32_t documents = nigh__corpus_count(corpus);
    (void)corpus->context->hamming->rows(row, corpus->rows.data, documents, corpus->words, ranker->distances);
    for (uint32_t d = 0; d < documents; d++) ranker->keys[d] = nigh__key(ranker->distances[d], d);
}

/* What each bit of the query counts. */
static void cost_bits(struct ranker *ranker, const uint8_t *weights, enum order order) {
    const uint32_t bits = ranker->documents->width_bits;
    uint32_t heaviest = 1;
    for (uint32_t i = 0; i < bits; i++)
        if (weights[i] > heaviest) heaviest = weights[i];
    for (uint32_t i = 0; i < bits; i++) {
        ranker->costs[i] = weights[i];
        if (order == BY_TOUCHED) ranker->costs[i] = weights[i] > 0;
        if (order == BY_LEVEL) ranker->costs[i] = nigh__weight_level(weights[i], heaviest);
    }
}

/* The table: what each byte of a document's signature costs at its place. */
static void cost_bytes(struct ranker *ranker, const uint8_t *signature) {
    for (uint32_t place = 0; place < nigh__row_bytes(ranker->documents->width_bits); place++) {
        uint32_t *costs = ranker->table + (size_t)place * 256;
        costs[signature[place]] = 0;
        for (uint32_t differing = 1; differing < 256; differing++) {
            const uint32_t lowest = (uint32_t)__builtin_ctz(differing);
            costs[signature[place] ^ differing] =
                costs[signature[place] ^ (differing & (differing - 1))] + ranker->costs[place * 8 + lowest];
        }
    }
}

static void rank_by_cost(struct ranker *ranker, const nigh_eval_corpus *from, uint32_t query, enum order order) {
    const uint32_t bytes = (uint32_t)nigh__row_bytes(from->width_bits);
    cost_bits(ranker, (const uint8_t *)from->weights.data + (size_t)query * from->width_bits, order);
    cost_bytes(ranker, (const uint8_t *)nigh__corpus_row(from, query));
    for (uint32_t d = 0; d < nigh__corpus_count(ranker->documents); d++) {
        const uint8_t *bits = (const uint8_t *)nigh__corpus_row(ranker->documents, d);
        uint32_t sum = 0;
        for (uint32_t place = 0; place < bytes; place++) sum += ranker->table[(size_t)place * 256 + bits[place]];
        ranker->keys[d] = nigh__key(sum, d);
    }
}

/* Spreads the query's features out, or clears them; what no document has counts in its norm alone. */
static void spread(struct ranker *ranker, const nigh_eval_corpus *from, uint32_t query, bool clear) {
    const struct nigh__dictionary *dictionary = ranker->documents->dictionary;
    const uint64_t *terms = nigh__corpus_terms(from, query);
    for (uint32_t i = 0; i < nigh__corpus_entry(from, query)->term_count; i++) {
        uint32_t number = nigh__term_number(terms[i]);
        if (from != ranker->documents &&
            !nigh__dictionary_find(dictionary, from->dictionary->by_number[number], &number))
            continue;
        ranker->vector[number] = clear ? 0 : nigh__term_weight(terms[i]);
    }
}

/* By 1 - cosine in 32 bits, so that the order is that of keys again. */
static void rank_by_cosine(struct ranker *ranker, const nigh_eval_corpus *from, uint32_t query) {
    const nigh_eval_corpus *corpus = ranker->documents;
    spread(ranker, from, query, false);
    for (uint32_t d = 0; d < nigh__corpus_count(corpus); d++) {
        const struct nigh__entry *entry = nigh__corpus_entry(corpus, d);
        const uint64_t *terms = nigh__corpus_terms(corpus, d);
        double product = 0;
        for (uint32_t i = 0; i < entry->term_count; i++)
            product += ranker->vector[nigh__term_number(terms[i])] * nigh__term_weight(terms[i]);
        const double cosine = nigh__cosine(product, nigh__corpus_entry(from, query)->norm, entry->norm);
        ranker->keys[d] = nigh__key((uint32_t)((1 - cosine) * (double)UINT32_MAX), d);
    }
    spread(ranker, from, query, true);
}

/* One ranking of each kind, for one query. */
struct sums {
    struct scores by[ORDERS];
    uint64_t rankings;
};

static void add_scores(struct scores *sum, struct scores scores, double share) {
    sum->average_precision += scores.average_precision * share;
    sum->precision += scores.precision * share;
}

static void rank_by(struct ranker *ranker, const nigh_eval_corpus *from, uint32_t query, enum order order) {
    if (order == BY_DISTANCE)
        rank_by_distance(ranker, nigh__corpus_row(from, query));
    else if (order == BY_COSINE)
        rank_by_cosine(ranker, from, query);
    else
        rank_by_cost(ranker, from, query, order);
}

static void add_ranking(struct ranker *ranker, const nigh_eval_corpus *from, uint32_t query, uint32_t left_out,
                        uint64_t relevant, struct sums *sums) {
    for (enum order order = 0; order < ORDERS; order++) {
        if (order != BY_DISTANCE && order != BY_COSINE && from->weights.count == 0) continue;
        rank_by(ranker, from, query, order);
        add_scores(&sums->by[order], score(ranker, left_out, relevant), 1);
    }
    sums->rankings++;
}

/* The figures that `sums` come to, over so many. */
static void fill(nigh_eval_ranking *out, const struct scores sums[ORDERS], uint64_t count) {
    const double divisor = count == 0 ? 1 : (double)count;
    const struct {
        double *map, *precision;
    } places[ORDERS] = {[BY_DISTANCE] = {&out->map, &out->precision},
                        [BY_TOUCHED] = {&out->touched_map, &out->touched_precision},
                        [BY_LEVEL] = {&out->weighted_map, &out->weighted_precision},
                        [BY_WEIGHT] = {&out->unrounded_map, &out->unrounded_precision},
                        [BY_COSINE] = {&out->vector_map, &out->vector_precision}};
    for (size_t order = 0; order < ORDERS; order++) {
        *places[order].map = sums[order].average_precision / divisor;
        *places[order].precision = sums[order].precision / divisor;
    }
}

/* Tells the caller of a topic.  True: to be cancelled. */
static bool tell_topic(const struct ranker *ranker, uint32_t topic, const struct sums *sums) {
    nigh_eval_ranking figures = {.size = sizeof figures, .topics = 1, .rankings = sums->rankings};
    const char *text;
    size_t length;
    if (ranker->options->topic == NULL) return false;
    if (ranker->queries != NULL) {
        const struct nigh__entry *entry = nigh__corpus_entry(ranker->queries, topic);
        text = (const char *)ranker->queries->ids.data + entry->id;
        length = entry->id_length;
    } else {
        const struct name *name = (const struct name *)ranker->names.data + ranker->judgement_of[topic];
        text = (const char *)ranker->letters.data + name->at;
        length = name->length;
    }
    fill(&figures, sums->by, sums->rankings);
    return ranker->options->topic(ranker->options->user, text, length, &figures) != 0;
}

/* The rankings of one topic, whose relevant documents are keys[0 .. count).  True: to be cancelled. */
static bool rank_topic(struct ranker *ranker, const uint64_t *keys, size_t count, size_t place) {
    struct sums sums = {.rankings = 0};
    bool cancelled = false;
    for (size_t i = 0; i < count; i++) ranker->is_relevant[nigh__key_number(keys[i])] = 1;
    if (ranker->queries != NULL)
        add_ranking(ranker, ranker->queries, nigh__key_distance(keys[0]), NOBODY, count, &sums);
    for (size_t i = 0; ranker->queries == NULL && count > 1 && i < count && !cancelled; i++) {
        const uint32_t asking = nigh__key_number(keys[i]);
        ranker->is_relevant[asking] = 0;
        add_ranking(ranker, ranker->documents, asking, asking, count - 1, &sums);
        ranker->is_relevant[asking] = 1;
        cancelled = nigh__progress_tick(&ranker->progress, "ranking", place + i, ranker->relevant.count);
    }
    for (size_t i = 0; i < count; i++) ranker->is_relevant[nigh__key_number(keys[i])] = 0;
    if (sums.rankings == 0) return false;
    ranker->result.topics++;
    ranker->result.rankings += sums.rankings;
    for (size_t order = 0; order < ORDERS; order++)
        add_scores(&ranker->totals[order], sums.by[order], 1 / (double)sums.rankings);
    return cancelled || tell_topic(ranker, nigh__key_distance(keys[0]), &sums);
}

static nigh_status rank_all(struct ranker *ranker, nigh_error *error) {
    const uint64_t *keys = ranker->relevant.data;
    size_t end = 0;
    for (size_t begin = 0; begin < ranker->relevant.count; begin = end) {
        while (end < ranker->relevant.count && nigh__key_distance(keys[end]) == nigh__key_distance(keys[begin])) end++;
        if (rank_topic(ranker, keys + begin, end - begin, begin) ||
            nigh__progress_tick(&ranker->progress, "ranking", end, ranker->relevant.count))
            return nigh__progress_cancelled(error);
    }
    fill(&ranker->result, ranker->totals, ranker->result.topics);
    return NIGH_OK;
}

/* --------------------------------------------------------------- public -- */

static bool ranker_alloc(struct ranker *ranker) {
    const nigh_context *context = ranker->documents->context;
    const size_t documents = ranker->documents->entries.count;
    ranker->distances = nigh__alloc(context, documents, sizeof *ranker->distances);
    ranker->keys = nigh__alloc(context, documents, sizeof *ranker->keys);
    ranker->ranks = nigh__alloc(context, documents, sizeof *ranker->ranks);
    ranker->is_relevant = nigh__alloc_zero(context, documents, sizeof *ranker->is_relevant);
    ranker->vector = nigh__alloc_zero(context, ranker->documents->dictionary->count, sizeof *ranker->vector);
    /* Padding, which never differs, costs nothing. */
    const size_t bytes = nigh__row_bytes(ranker->documents->width_bits);
    ranker->costs = nigh__alloc_zero(context, bytes * 8, sizeof *ranker->costs);
    ranker->table = nigh__alloc(context, bytes * 256, sizeof *ranker->table);
    return ranker->costs != NULL && ranker->table != NULL && ranker->distances != NULL && ranker->keys != NULL &&
           ranker->ranks != NULL && ranker->is_relevant != NULL && ranker->vector != NULL;
}

static void ranker_release(struct ranker *ranker) {
    const nigh_context *context = ranker->documents->context;
    nigh__array_release(context, &ranker->relevant);
    nigh__array_release(context, &ranker->names);
    nigh__array_release(context, &ranker->letters);
    nigh__free(context, ranker->judgement_of);
    nigh__free(context, ranker->distances);
    nigh__free(context, ranker->keys);
    nigh__free(context, ranker->ranks);
    nigh__free(context, ranker->is_relevant);
    nigh__free(context, ranker->vector);
    nigh__free(context, ranker->costs);
    nigh__free(context, ranker->table);
}

static nigh_status check_options(const nigh_eval_corpus *documents, const nigh_eval_ranking_options *options,
                                 nigh_error *error) {
    if (options->judgements == NULL) return nigh__fail(error, NIGH_EINVAL, "no judgements given");
    if (options->queries == NULL) return NIGH_OK;
    if (options->queries->width_bits != documents->width_bits ||
        strcmp(options->queries->scheme, documents->scheme) != 0)
        return nigh__fail(error, NIGH_EMISMATCH, "the queries were not signed as the documents were");
    return NIGH_OK;
}

nigh_status nigh_eval_ranking_measure(const nigh_eval_corpus *documents, const nigh_eval_ranking_options *options,
                                      nigh_eval_ranking *out, nigh_error *error) {
    nigh_eval_ranking_options known;
    nigh_status status = nigh__options_copy(&nigh__eval_ranking_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check_options(documents, &known, error);
    if (status != NIGH_OK) return status;
    struct ranker ranker = {.documents = documents,
                            .queries = known.queries,
                            .relevant = NIGH__ARRAY(uint64_t),
                            .names = NIGH__ARRAY(struct name),
                            .letters = NIGH__ARRAY(char),
                            .result = {.size = sizeof(nigh_eval_ranking)},
                            .options = &known};
    nigh__progress_init(&ranker.progress, known.progress);
    status = ranker_alloc(&ranker) ? read_judgements(&ranker, known.judgements, error)
                                   : nigh__no_memory(error, "for the ranking");
    if (status == NIGH_OK) status = rank_all(&ranker, error);
    if (status == NIGH_OK) nigh__info_copy(out, &ranker.result, sizeof ranker.result);
    ranker_release(&ranker);
    return status;
}
