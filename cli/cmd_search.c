/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh search: reads queries, a batch at a time, from files of documents or of signatures, as text, or by the id of a
 * stored document. Each batch is one call of nigh_search(), so the collection is read once for all of it. Its answers
 * are written before the next batch is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "among.h"
#include "amount.h"
#include "query_batch.h"
#include "search_help.h"
#include "search_hints.h"
#include "search_page.h"
#include "search_values.h"
#include "signals.h"
#include "source.h"

#define NEEDS_WEIGHTS                                                                                                 \
    " needs to know how sure each bit of a query is: ask with documents or texts, or with --id of a collection made " \
    "with --keep-weights"

#define SNIPPET_SHOWN 4096
#define FEW_QUERIES 8
#define MANY_MATCHES (UINT64_C(4) << 20) /* 64 MB of them */
#define MOST_QUERIES 4096u               /* of a batch that has grown */

struct searcher {
    struct cli_job *job;
    const struct cli_search_values *values;
    size_t members; /* collections that are searched as one: the first so many operands */
    nigh_collection *collection;
    nigh_collection_info info;
    nigh_search_options options;
    nigh_progress progress;
    struct cli_query_batch batch;
    struct cli_answers answers;
    struct cli_inputs inputs;
    nigh_signer *signer; /* for queries that are text */
    bool learned;        /* it signs by a model, which knows some words only */
    bool unsure;         /* its weights say nothing: minhash */
    bool sparse;         /* words touch some bits only: topsig */
    enum { VOCABULARY_UNSEEN, VOCABULARY_WHOLE, VOCABULARY_PARTIAL } vocabulary; /* has all words of the documents */
    char *id;                                                                    /* room for any */
    char *snippet;                                                               /* room for SNIPPET_SHOWN bytes */
    uint64_t unnamed;                                                            /* queries without an id so far */
    uint64_t expected;                                                           /* queries in all, 0 where not known */
    uint64_t batches;
    uint64_t scans;        /* batches that used no lists */
    nigh_results_info sum; /* over all batches */
    uint32_t below;        /* the least that is certain of any query */
    nigh_filter *filter;   /* of the documents to look among; NULL: all */
    bool weighted;         /* some distances are */
    bool suggested;        /* columns or tables, or there is no need */
    struct cli_search_page page;
    char worth[256];  /* what the answers are, in a few words */
    nigh_scale plain; /* of queries of which every bit counts once, all the same; size 0: not known yet */
    size_t together;  /* queries of the next batch */
};

/* The library counts within the batch; people want to see the queries. */
static int report_batch(void *user, const char *stage, uint64_t done, uint64_t total) {
    const struct searcher *searcher = user;
    struct cli_progress *progress = &searcher->job->progress;
    uint64_t queries = searcher->answers.queries;
    (void)stage;
    if (total > 0 && done <= total) queries += (uint64_t)((double)searcher->batch.count * (double)done / (double)total);
    cli_progress_update(progress, queries, searcher->expected);
    return cli_interrupted();
}

/*
 * The id of a document, or its number where documents have none, for which `number` has room; and of several
 * collections which one it is in.
 */
static nigh_status find_name(struct searcher *searcher, uint64_t document, char *number, size_t capacity,
                             struct cli_match *match) {
    nigh_member member = {.size = sizeof member};
    nigh_status status = nigh_collection_member(searcher->collection, document, &member, &searcher->job->error);
    if (status != NIGH_OK) return status;
    if (searcher->members > 1) match->collection = (struct cli_name){member.path, strlen(member.path)};
    match->document.text = number;
    match->document.length =
        (size_t)snprintf(number, capacity, "%llu", (unsigned long long)(document - member.first_document));
    if (!searcher->info.has_ids) return NIGH_OK;
    match->document.text = searcher->id;
    return nigh_collection_id(searcher->collection, document, searcher->id, NIGH_MAX_ID_LENGTH + 1,
                              &match->document.length, &searcher->job->error);
}

static nigh_status find_snippet(struct searcher *searcher, uint64_t document, struct cli_name *snippet) {
    enum cli_output output = searcher->answers.output;
    if (!searcher->info.has_metadata || (output != CLI_OUTPUT_TABLE && output != CLI_OUTPUT_JSONL)) return NIGH_OK;
    size_t length = 0;
    nigh_status status = nigh_collection_metadata(searcher->collection, document, searcher->snippet, SNIPPET_SHOWN,
                                                  &length, &searcher->job->error);
    if (length > SNIPPET_SHOWN) length = cli_utf8_whole(searcher->snippet, SNIPPET_SHOWN);
    *snippet = (struct cli_name){.text = searcher->snippet, .length = length};
    return status;
}

/* What the distances of an answer mean.  That takes longer to say than a look-up in tables, so it is asked once. */
static nigh_status scale_of(struct searcher *searcher, const nigh_results *results, size_t query, nigh_scale *out) {
    const bool plain = searcher->options.rank != NIGH_RANK_WEIGHTED && searcher->options.masks == NULL;
    nigh_status status = NIGH_OK;
    if (!plain || searcher->plain.size == 0)
        status = nigh_results_scale(results, query, out, &searcher->job->error);
    else
        *out = searcher->plain;
    if (status == NIGH_OK && plain) searcher->plain = *out;
    return status;
}

/* What the distances of an answer mean, and what is certain of it. */
static nigh_status describe_query(struct searcher *searcher, const nigh_results *results, size_t query) {
    struct cli_answers *answers = &searcher->answers;
    nigh_proof proof = {.size = sizeof proof};
    nigh_scale scale = {.size = sizeof scale};
    nigh_status status = nigh_results_proof(results, query, &proof, &searcher->job->error);
    if (status == NIGH_OK) status = scale_of(searcher, results, query, &scale);
    if (status != NIGH_OK) return status;
    if (proof.below < searcher->below) searcher->below = proof.below;
    answers->listed = proof.breadth != NIGH_ALL;
    answers->exact = proof.exact != 0;
    answers->below = proof.below;
    answers->bits = searcher->batch.compared[query];
    answers->weighted = scale.rank == NIGH_RANK_WEIGHTED;
    answers->whole = scale.whole;
    answers->chance = scale.chance;
    searcher->weighted = searcher->weighted || answers->weighted;
    return NIGH_OK;
}

static nigh_status print_query(struct searcher *searcher, const nigh_results *results, size_t query) {
    char number[24];
    size_t count = 0;
    const nigh_match *matches = nigh_results_matches(results, query, &count);
    const nigh_status known = describe_query(searcher, results, query);
    if (known != NIGH_OK) return known;
    cli_answers_query(&searcher->answers, cli_query_batch_name(&searcher->batch, query), count);
    for (size_t i = 0; i < count; i++) {
        if (searcher->job->out->error != 0) return NIGH_EIO; /* nobody reads on */
        if (cli_interrupted() != 0) return NIGH_ECANCELLED;
        struct cli_match match = {.distance = matches[i].distance, .rank = i + 1};
        nigh_status status = find_name(searcher, matches[i].document, number, sizeof number, &match);
        if (status == NIGH_OK) status = find_snippet(searcher, matches[i].document, &match.snippet);
        if (status != NIGH_OK) return status;
        cli_answers_match(&searcher->answers, &match);
    }
    cli_answers_end(&searcher->answers);
    return NIGH_OK;
}

static void add_up(struct searcher *searcher, const nigh_results *results) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_info *sum = &searcher->sum;
    nigh_results_describe(results, &info);
    searcher->batches++;
    searcher->scans += info.distances >= info.queries * searcher->info.signatures;
    sum->matches += info.matches;
    sum->distances += info.distances;
    sum->lists += info.lists;
    sum->postings += info.postings;
    sum->skipped_lists += info.skipped_lists;
    sum->exact_queries += info.exact_queries;
    sum->scanned += info.scanned;
    sum->steps += info.steps;
    sum->probes += info.probes;
}

/* More queries go together where tables answer them, which takes so little that a batch is most of the work, and fewer
   where they bring up many documents.  What is asked for by --batch stays. */
static void choose_next(struct searcher *searcher, const nigh_results *results) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    if (searcher->values->batch.given || info.probes == 0) return;
    if (info.matches > MANY_MATCHES / 4)
        searcher->together = FEW_QUERIES;
    else if (info.matches < 16 * info.queries)
        searcher->together = 4 * searcher->together < MOST_QUERIES ? 4 * searcher->together : MOST_QUERIES;
    if (searcher->together > searcher->batch.capacity) searcher->together = searcher->batch.capacity;
}

static nigh_status print_batch(struct searcher *searcher, const nigh_results *results) {
    add_up(searcher, results);
    choose_next(searcher, results);
    cli_progress_clear(&searcher->job->progress);
    for (size_t i = 0; i < searcher->batch.count; i++) {
        nigh_status status = print_query(searcher, results, i);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

/* How the queries at hand are ranked: as asked, or as nigh_search_text() would. */
static nigh_search_rank ranking_of(const struct searcher *searcher) {
    const struct cli_search_values *values = searcher->values;
    const nigh_search_options *asked = &searcher->options;
    if (values->rank != NIGH_RANK_AUTO) return (nigh_search_rank)values->rank;
    const bool weighted = searcher->sparse && searcher->batch.weighted && !values->all_bits && !values->radius.given &&
                          cli_search_ranks(asked->method) && asked->probe != NIGH_PROBE_DIRECTED;
    return weighted ? NIGH_RANK_WEIGHTED : NIGH_RANK_BITS;
}

/* Whether the queries at hand can be asked as the options have it.  NIGH_EINVAL with a reason. */
static nigh_status check_batch(const struct searcher *searcher) {
    const nigh_search_options *asked = &searcher->options;
    if (searcher->batch.masked && !cli_search_ranks(asked->method)) {
        cli_set_error(
            searcher->job, NIGH_EINVAL, "",
            asked->method <= NIGH_SEARCH_SLICES_PLAIN
                ? "slice lists cannot be searched in some of the bits only; give --all-bits, or another "
                  "--method"
                : "sketches cannot be searched in some of the bits only; give --all-bits, or another --method");
        return NIGH_EINVAL;
    }
    const bool weighted = searcher->values->rank == NIGH_RANK_WEIGHTED;
    if (searcher->batch.weighted || (!weighted && asked->probe != NIGH_PROBE_DIRECTED)) return NIGH_OK;
    cli_set_error(searcher->job, NIGH_EINVAL, "",
                  weighted ? "--rank weighted" NEEDS_WEIGHTS : "--probe directed" NEEDS_WEIGHTS);
    return NIGH_EINVAL;
}

/* NIGH_EIO, which cli_fail() turns into silence, where nobody reads our output any more. */
static nigh_status search_batch(struct searcher *searcher) {
    struct cli_job *job = searcher->job;
    nigh_results *results = NULL;
    if (searcher->batch.count == 0) return NIGH_OK;
    if (cli_interrupted() != 0) return NIGH_ECANCELLED; /* small searches end before they report */
    nigh_status status = check_batch(searcher);
    if (status != NIGH_OK) return status;
    double started = cli_seconds();
    searcher->options.masks = searcher->batch.masked ? searcher->batch.masks : NULL;
    searcher->options.weights = searcher->batch.weighted ? searcher->batch.weights : NULL;
    searcher->options.rank = ranking_of(searcher);
    if (!searcher->suggested)
        searcher->suggested = cli_search_hint(job, searcher->collection, searcher->info.width_bits, &searcher->options);
    status = nigh_search(searcher->collection, searcher->batch.signatures, searcher->batch.count, &searcher->options,
                         &results, &job->error);
    job->stats.work_seconds += cli_seconds() - started;
    if (status == NIGH_OK) status = print_batch(searcher, results);
    nigh_results_free(results);
    searcher->batch.count = 0;
    searcher->batch.masked = false;
    searcher->batch.names_used = 0;
    if (!cli_sink_flush(job->out) && status == NIGH_OK) status = NIGH_EIO;
    return status;
}

/* `weights` NULL: nobody knows them. */
static nigh_status add_query(struct searcher *searcher, const uint8_t *signature, const uint8_t *weights,
                             const nigh_signer *signer, struct cli_name name) {
    struct cli_query_batch *batch = &searcher->batch;
    if (batch->count > 0 && batch->weighted != (weights != NULL)) {
        nigh_status status = search_batch(searcher);
        if (status != NIGH_OK) return status;
    }
    if (!cli_query_batch_add(batch, signature, weights, signer, name)) {
        cli_set_error(searcher->job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    return batch->count >= searcher->together ? search_batch(searcher) : NIGH_OK;
}

/* As it is given, or else as answers show it: escaped. */
static nigh_status find_id(struct searcher *searcher, const char *given, struct cli_name *name, uint64_t *document) {
    nigh_error *error = &searcher->job->error;
    *name = (struct cli_name){.text = given, .length = strlen(given)};
    nigh_status status = nigh_collection_find(searcher->collection, name->text, name->length, document, error);
    if (status != NIGH_ENOTFOUND || name->length > NIGH_MAX_ID_LENGTH || strchr(given, '\\') == NULL) return status;
    const size_t length = nigh_unescape(given, name->length, searcher->id);
    nigh_error again;
    if (nigh_collection_find(searcher->collection, searcher->id, length, document, &again) != NIGH_OK) return status;
    *name = (struct cli_name){.text = searcher->id, .length = length};
    return NIGH_OK;
}

static nigh_status search_rows(struct searcher *searcher, struct cli_source *source) {
    nigh_document document = {.size = sizeof document};
    char number[24];
    for (;;) {
        nigh_status status = nigh_signature_reader_next(source->reader, &document, &searcher->job->error);
        if (status != NIGH_OK) return status == NIGH_END ? NIGH_OK : status;
        struct cli_name name = {.text = document.id, .length = document.id_length};
        if (document.id == NULL) {
            name.length = (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)searcher->unnamed++);
            name.text = number;
        }
        status = add_query(searcher, document.signature, NULL, NULL, name);
        if (status != NIGH_OK) return status;
    }
}

static nigh_status search_signatures(struct searcher *searcher) {
    struct cli_source_options source_options = {.format = searcher->values->format,
                                                .width_bits = searcher->info.width_bits,
                                                .collection = searcher->collection};
    const nigh_status fits = cli_reading_fits_signatures(searcher->job, &searcher->values->reading);
    if (fits != NIGH_OK) return fits;
    for (size_t i = 0; i < searcher->inputs.count; i++) {
        source_options.peek = searcher->inputs.peeks[i];
        struct cli_source source;
        nigh_status status = cli_source_open(searcher->job, searcher->inputs.paths[i], &source_options, &source);
        if (status != NIGH_OK) return status;
        /* One file tells how much there is to do; of several only the first would be known. */
        if (searcher->inputs.count == 1 && source.info.rows != UINT64_MAX)
            searcher->expected = source.info.rows + searcher->values->ids.count + searcher->values->texts.count;
        status = search_rows(searcher, &source);
        cli_source_close(&source);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

/* ------------------------------------------------------- queries of text -- */

/* What signs queries as the documents of the collection were signed. */
static nigh_status make_signer(struct searcher *searcher) {
    if (searcher->signer != NULL) return NIGH_OK;
    return nigh_collection_signer(searcher->collection, &searcher->signer, &searcher->job->error);
}

/* The signer, where only the bits that words touch may be compared. */
static const nigh_signer *asking(const struct searcher *searcher) {
    return searcher->values->all_bits ? NULL : searcher->signer;
}

/* The text stands for itself in the answers, with what would break a line or a column made a space. */
static struct cli_name name_text(const char *text, char *room, size_t capacity) {
    size_t length = 0;
    for (; length < capacity && text[length] != '\0'; length++)
        room[length] = (unsigned char)text[length] < ' ' ? ' ' : text[length];
    if (text[length] != '\0') length = cli_utf8_whole(text, length);
    return (struct cli_name){.text = room, .length = length};
}

/* Whether the collection's vocabulary was counted over its documents, and none came later. */
static bool vocabulary_is_whole(struct searcher *searcher) {
    nigh_vocabulary *vocabulary = NULL;
    nigh_vocabulary_info known = {.size = sizeof known};
    if (searcher->info.segments != 1 || nigh_collection_vocabulary(searcher->collection, &vocabulary, NULL) != NIGH_OK)
        return false;
    nigh_vocabulary_describe(vocabulary, &known);
    nigh_vocabulary_free(vocabulary);
    return !known.sketch && known.documents == searcher->info.documents;
}

/* A text that has no word in common with any document, or no bit that its words agree on, is no question: says so. */
static bool says_nothing(struct searcher *searcher, bool unknown, const uint8_t *weights, struct cli_name name) {
    const struct cli_shown shown = cli_shown(name.text, name.length);
    const char *path = searcher->job->operands[0];
    bool touched = weights == NULL || searcher->values->all_bits;
    for (size_t i = 0; !touched && i < searcher->info.width_bits; i++) touched = weights[i] != 0;
    if (unknown && searcher->vocabulary == VOCABULARY_UNSEEN)
        searcher->vocabulary = vocabulary_is_whole(searcher) ? VOCABULARY_WHOLE : VOCABULARY_PARTIAL;
    if (unknown && searcher->vocabulary == VOCABULARY_WHOLE) {
        cli_error(searcher->job, "nothing like '%s': none of its words is in '%s'", shown.text, path);
        return true;
    }
    if (unknown)
        cli_error(searcher->job, "warning: none of the words of '%s' is in the vocabulary of '%s'", shown.text, path);
    if (!touched && !unknown)
        cli_error(searcher->job, "nothing like '%s': its words cancel each other out in every bit", shown.text);
    return !touched;
}

static nigh_status search_texts(struct searcher *searcher) {
    const struct cli_list *texts = &searcher->values->texts;
    char room[200];
    if (texts->count == 0) return NIGH_OK;
    uint8_t *signature = malloc(searcher->batch.signature_bytes * 9); /* the weights behind it, a byte for each bit */
    uint8_t *weights = signature == NULL ? NULL : signature + searcher->batch.signature_bytes;
    nigh_status status = signature != NULL ? make_signer(searcher) : NIGH_ENOMEM;
    if (signature == NULL) cli_set_error(searcher->job, status, "", "out of memory");
    for (size_t i = 0; i < texts->count && status == NIGH_OK; i++) {
        status = nigh_signer_sign(searcher->signer, texts->items[i], strlen(texts->items[i]), signature, weights,
                                  &searcher->job->error);
        if (status == NIGH_ENOTFOUND) {
            struct cli_name shown = name_text(texts->items[i], room, 60);
            cli_error(searcher->job, "no word %s in '%.*s'",
                      searcher->learned ? "that the model knows" : "to search for", (int)shown.length, shown.text);
            status = NIGH_OK;
        } else if (status == NIGH_OK &&
                   !says_nothing(searcher, nigh_signer_unknown(searcher->signer) != 0,
                                 searcher->unsure ? NULL : weights, name_text(texts->items[i], room, 60))) {
            status = add_query(searcher, signature, searcher->unsure ? NULL : weights, asking(searcher),
                               name_text(texts->items[i], room, sizeof room));
        }
    }
    free(signature);
    return status;
}

/* As a text would ask, where the collection keeps what it knows of the bits of documents. */
static nigh_status add_stored(struct searcher *searcher, uint64_t document, struct cli_name name, uint8_t *signature) {
    uint8_t *weights = signature + searcher->batch.signature_bytes;
    nigh_error *error = &searcher->job->error;
    nigh_status status = nigh_collection_signature(searcher->collection, document, signature, error);
    if (status != NIGH_OK) return status;
    if (!searcher->info.has_weights || searcher->unsure) return add_query(searcher, signature, NULL, NULL, name);
    status = nigh_collection_weights(searcher->collection, document, weights, error);
    if (status == NIGH_OK && searcher->sparse) status = make_signer(searcher);
    if (status != NIGH_OK) return status;
    if ((searcher->sparse || searcher->values->rank == NIGH_RANK_WEIGHTED) &&
        says_nothing(searcher, false, weights, name))
        return NIGH_OK;
    return add_query(searcher, signature, weights, searcher->sparse ? asking(searcher) : NULL, name);
}

static nigh_status search_ids(struct searcher *searcher) {
    const struct cli_list *ids = &searcher->values->ids;
    uint8_t *signature = malloc(searcher->batch.signature_bytes * 9); /* the weights behind it, a byte for each bit */
    nigh_status status = signature != NULL ? NIGH_OK : NIGH_ENOMEM;
    if (status != NIGH_OK) cli_set_error(searcher->job, status, "", "out of memory");
    for (size_t i = 0; i < ids->count && status == NIGH_OK; i++) {
        struct cli_name name;
        uint64_t document = 0;
        status = find_id(searcher, ids->items[i], &name, &document);
        if (status == NIGH_OK) status = add_stored(searcher, document, name, signature);
    }
    free(signature);
    return status;
}

static nigh_status search_signed(struct searcher *searcher, nigh_signing *signing) {
    nigh_signing_info info = {.size = sizeof info};
    nigh_signed row = {.size = sizeof row};
    nigh_status status;
    while ((status = nigh_signing_next(signing, &row, &searcher->job->error)) == NIGH_OK) {
        struct cli_name name = {.text = row.document->id, .length = row.document->id_length};
        const uint8_t *weights = searcher->unsure ? NULL : row.document->weights;
        if (says_nothing(searcher, row.unknown != 0, weights, name)) continue;
        status = add_query(searcher, row.document->signature, weights, asking(searcher), name);
        if (status != NIGH_OK) return status;
    }
    if (status != NIGH_END) return status;
    nigh_signing_describe(signing, &info);
    struct cli_skipped skipped = cli_skipped_by(&info, searcher->learned);
    if (skipped.text[0] != '\0') cli_note(searcher->job, "not asked:%s", skipped.text + 1);
    return NIGH_OK;
}

static nigh_status search_documents(struct searcher *searcher) {
    const struct cli_search_values *values = searcher->values;
    struct cli_job *job = searcher->job;
    nigh_text_reader *reader = NULL;
    nigh_signing *signing = NULL;
    struct cli_problems problems;
    nigh_signing_options signing_options;
    nigh_signing_options_init(&signing_options);
    signing_options.threads = 1; /* searching takes longer than signing */
    signing_options.keep_weights = 1;
    signing_options.whole = 1;
    signing_options.limit = values->reading.limit.value;
    struct cli_reading reading = values->reading;
    reading.scheme = nigh_collection_scheme(searcher->collection);
    nigh_status status = make_signer(searcher);
    if (status == NIGH_OK)
        status = cli_reader_open(job, &searcher->inputs, &reading, cli_text_format(values->format), &problems, &reader);
    if (status == NIGH_OK)
        status = nigh_signing_open(searcher->signer, reader, &signing_options, &signing, &job->error);
    if (status == NIGH_OK) status = search_signed(searcher, signing);
    cli_inputs_stop(&searcher->inputs);
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
    return status;
}

/* Where the collection was not made from text, a query that does not look like signatures is still read as such. */
static nigh_status search_files(struct searcher *searcher) {
    nigh_signer_options ignored;
    nigh_signer_options_init(&ignored);
    bool ok = true;
    if (searcher->inputs.count == 0) return NIGH_OK;
    bool text =
        nigh_signer_options_parse(nigh_collection_scheme(searcher->collection), &ignored, NULL) != NIGH_ENOTFOUND;
    if (!text && searcher->values->format <= NIGH_FORMAT_TOPSIG) return search_signatures(searcher);
    bool documents = cli_inputs_are_documents(searcher->job, &searcher->inputs, searcher->values->format, &ok);
    if (!ok) {
        cli_set_error(searcher->job, NIGH_EINVAL, "", "the queries are of two kinds");
        return NIGH_EINVAL;
    }
    return documents ? search_documents(searcher) : search_signatures(searcher);
}

/* What the answers are worth, in a few words. */
static void describe_answers(const struct searcher *searcher, char *text, size_t capacity) {
    const nigh_results_info *sum = &searcher->sum;
    const uint64_t queries = searcher->answers.queries;
    const bool demanded = searcher->options.method >= NIGH_SEARCH_SLICES;
    if (sum->exact_queries == queries && sum->distances >= queries * searcher->info.signatures)
        snprintf(text, capacity, "exact: every one of %s documents compared%s",
                 cli_digits(searcher->info.documents - searcher->info.deleted).text,
                 demanded && sum->scanned > 0 ? ", which takes less than the lists" : "");
    else if (sum->exact_queries == queries && sum->lists == 0)
        snprintf(text, capacity, sum->probes > 0 ? "exact, by tables" : "exact");
    else if (sum->exact_queries == queries)
        snprintf(text, capacity, "exact, %s of %s by slice lists alone", cli_digits(queries - sum->scanned).text,
                 cli_counted(queries, "query", "queries").text);
    else if (searcher->below > 0)
        snprintf(text, capacity, "approximate: exact for %s of %s; every document nearer than %s was seen",
                 cli_digits(sum->exact_queries).text, cli_counted(queries, "query", "queries").text,
                 cli_distance(searcher->below, searcher->weighted).text);
    else
        snprintf(text, capacity, "approximate: exact for %s of %s; nearer documents may have been missed",
                 cli_digits(sum->exact_queries).text, cli_counted(queries, "query", "queries").text);
}

static void close_statistics(struct searcher *searcher) {
    struct cli_job *job = searcher->job;
    const nigh_results_info *sum = &searcher->sum;
    const uint64_t queries = searcher->answers.queries;
    const uint64_t row_bytes = ((uint64_t)searcher->info.width_bits + 63) / 64 * 8;
    const struct cli_counter counters[] = {
        {"matches", sum->matches},
        {"distances", sum->distances},
        {"batches", searcher->batches},
        {"bytes_scanned", searcher->scans * searcher->info.signatures * row_bytes},
        {"exact", sum->exact_queries == queries},
        {"exact_queries", sum->exact_queries},
        {"scanned", sum->scanned},
        {"lists", sum->lists},
        {"postings", sum->postings},
        {"skipped_lists", sum->skipped_lists},
        {"steps", sum->steps},
        {"probes", sum->probes},
    };
    cli_stats_close(&job->stats, searcher->info.documents, counters, sizeof counters / sizeof counters[0]);
    job->stats.work_name = "search_seconds";
    job->stats.queries = queries;
    cli_stats_rate(&job->stats, queries);
    if (queries == 0) {
        cli_note(job, "no query was asked");
        return;
    }
    describe_answers(searcher, searcher->worth, sizeof searcher->worth);
    cli_note(job, "%s; %s in %.2f s (%s/s), kernel %s, %s", searcher->worth,
             cli_counted(queries, "query", "queries").text, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text, nigh_context_kernel(job->context),
             cli_counted(job->threads, "thread", "threads").text);
}

/* -k alone, --radius alone, or both; -k counts as given only where it was typed. */
static void set_options(struct searcher *searcher) {
    const struct cli_search_values *values = searcher->values;
    searcher->options.k = values->radius.given && !values->k.given ? NIGH_ALL : (uint32_t)values->k.value;
    searcher->options.radius = values->radius.given ? (uint32_t)values->radius.value : NIGH_ALL;
    searcher->options.threads = searcher->job->threads;
    searcher->options.filter = searcher->filter;
    searcher->progress = (nigh_progress){.report = report_batch, .user = searcher};
    searcher->options.progress = &searcher->progress;
}

/* The matches of a batch are all in memory at once; where they could be too many, fewer queries go together. */
static size_t choose_batch(const struct searcher *searcher) {
    const struct cli_number *batch = &searcher->values->batch;
    uint64_t most = searcher->options.k < searcher->info.documents ? searcher->options.k : searcher->info.documents;
    if (batch->given || most <= MANY_MATCHES / batch->value) return (size_t)batch->value;
    return FEW_QUERIES;
}

/* A width that does not fit is the query's only beside the collection's. */
static int refuse(const struct searcher *searcher, nigh_status status) {
    struct cli_job *job = searcher->job;
    int code = cli_fail(job);
    if (status == NIGH_EMISMATCH)
        cli_error(job, "'%s' holds signatures of %u bits", job->operands[0], searcher->info.width_bits);
    return code;
}

static bool is_of(const nigh_collection *collection, nigh_scheme_kind scheme) {
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    return nigh_signer_options_parse(nigh_collection_scheme(collection), &held, NULL) == NIGH_OK &&
           held.scheme == scheme;
}

/* Which documents --among and --where name: once, whatever the queries. */
static bool read_among(struct searcher *searcher) {
    return cli_among_read(searcher->job, searcher->values->among, searcher->values->where, searcher->collection,
                          &searcher->filter) == NIGH_OK;
}

/* Whether the collection is as the options have it; says what is not. */
static bool collection_fits(const struct searcher *searcher) {
    struct cli_job *job = searcher->job;
    const struct cli_search_values *values = searcher->values;
    if (values->bits.given && values->bits.value != searcher->info.width_bits) {
        cli_error(job, "'%s' holds signatures of %u bits, not %llu", job->operands[0], searcher->info.width_bits,
                  (unsigned long long)values->bits.value);
        return false;
    }
    if (values->rank != NIGH_RANK_WEIGHTED && !cli_radius_fits(job, &values->radius, searcher->info.width_bits))
        return false;
    return cli_scheme_fits(job, values->scheme, values->model, job->operands[0], searcher->collection);
}

/* What the scheme says of weights; false, having said so, where they are to rank by and there are none. */
static bool look_at_scheme(struct searcher *searcher) {
    searcher->unsure = is_of(searcher->collection, NIGH_SCHEME_MINHASH);
    searcher->learned = is_of(searcher->collection, NIGH_SCHEME_LEARNED);
    searcher->sparse = is_of(searcher->collection, NIGH_SCHEME_TOPSIG);
    if (!searcher->unsure || searcher->values->rank != NIGH_RANK_WEIGHTED) return true;
    cli_error(searcher->job,
              "'%s' holds minhash signatures, whose bits have no weights to rank by; leave out --rank weighted",
              searcher->job->operands[0]);
    return false;
}

/* For a batch, and for what is said of a match. */
static bool make_room(struct searcher *searcher) {
    const bool may_grow = searcher->info.table_segments > 0 && !searcher->values->batch.given;
    searcher->together = choose_batch(searcher);
    searcher->id = malloc(NIGH_MAX_ID_LENGTH + 1);
    searcher->snippet = malloc(SNIPPET_SHOWN);
    if (searcher->id != NULL && searcher->snippet != NULL &&
        cli_query_batch_init(&searcher->batch, may_grow ? MOST_QUERIES : searcher->together, searcher->info.width_bits))
        return true;
    cli_error(searcher->job, "out of memory");
    return false;
}

static int search_opened(struct searcher *searcher) {
    struct cli_job *job = searcher->job;
    if (!collection_fits(searcher)) return CLI_ERROR;
    if (!read_among(searcher)) return cli_fail(job);
    set_options(searcher);
    if (!look_at_scheme(searcher) || !make_room(searcher)) return CLI_ERROR;
    searcher->answers = (struct cli_answers){.sink = job->out,
                                             .page = searcher->page.sink == NULL ? NULL : &searcher->page,
                                             .output = (enum cli_output)searcher->values->output,
                                             .signatures = searcher->info.signatures,
                                             .columns = cli_terminal_width(STDOUT_FILENO)};
    cli_progress_begin(&job->progress, "searching", "queries");
    nigh_status status = search_ids(searcher);
    if (status == NIGH_OK) status = search_texts(searcher);
    if (status == NIGH_OK) status = search_files(searcher);
    if (status == NIGH_OK) status = search_batch(searcher);
    if (status != NIGH_OK) return refuse(searcher, status);
    close_statistics(searcher);
    return searcher->sum.matches > 0 ? CLI_DONE : CLI_NOTHING;
}

/* With a page beside the answers, where one is wanted; it is there only where the search went well. */
static int search_reported(struct searcher *searcher) {
    if (!cli_search_page_open(searcher->job, searcher->values->report, searcher->members, &searcher->page))
        return CLI_ERROR;
    const int code = search_opened(searcher);
    return cli_search_page_close(searcher->job, &searcher->page, searcher->worth, code);
}

/* A query of several words that names no file was meant as a text.  An exit code. */
static int look_for_texts(struct cli_job *job, size_t members) {
    for (size_t i = members; i < job->operand_count; i++)
        if (strchr(job->operands[i], ' ') != NULL && access(job->operands[i], F_OK) != 0)
            return cli_usage(job->command, "there is no file '%s'; to search for a text, give --text '%s'",
                             job->operands[i], job->operands[i]);
    return CLI_DONE;
}

static int run(struct cli_job *job) {
    const struct cli_search_values *values = job->values;
    struct searcher searcher = {.job = job, .values = values, .below = NIGH_ALL};
    nigh_search_options_init(&searcher.options);
    nigh_open_options open_options;
    nigh_open_options_init(&open_options);
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    searcher.members = cli_search_count_collections(job);
    if (job->operand_count == searcher.members && values->ids.count == 0 && values->texts.count == 0)
        return cli_usage(job->command, "no QUERY given, and no --text or --id");
    if (look_for_texts(job, searcher.members) != CLI_DONE) return CLI_ERROR;
    if (!cli_source_paths_fit(job, searcher.members) || !cli_reading_fits(job, &values->reading)) return CLI_ERROR;
    if (!cli_search_values_set(job, values, &searcher.options)) return CLI_ERROR;
    open_options.verify = values->verify;
    open_options.load = values->load;
    open_options.progress = &job->progress.report;
    if (nigh_collection_open_together(job->context, (const char *const *)job->operands, searcher.members, &open_options,
                                      &searcher.collection, &job->error) != NIGH_OK)
        return cli_fail(job);
    cli_collection_look(job, job->operands[0], searcher.collection, &searcher.info);
    if (searcher.options.method == NIGH_SEARCH_AUTO) cli_tell_damaged(job, &searcher.info, "graphs");
    int code = cli_inputs_open(job, searcher.members, &searcher.inputs) ? search_reported(&searcher) : cli_fail(job);
    cli_query_batch_release(&searcher.batch);
    free(searcher.id);
    nigh_filter_free(searcher.filter);
    free(searcher.snippet);
    cli_inputs_release(&searcher.inputs);
    nigh_signer_free(searcher.signer);
    nigh_collection_close(searcher.collection);
    return code;
}

const struct cli_command cmd_search = {
    .name = "search",
    .summary = "find the documents nearest to a query",
    .usage = cli_search_usage,
    .description = cli_search_description,
    .details = cli_search_details,
    .examples = cli_search_examples,
    .options = cli_search_options,
    .values_size = sizeof(struct cli_search_values),
    .run = run,
};
