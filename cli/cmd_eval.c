/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh eval: how well signatures stand for documents.  `eval signatures` holds
 * distances against what the texts have in common, `eval ranked` rankings against
 * the judgements of people; the other kinds have files of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evaluator.h"
#include "source.h"

#define PLACE(field) offsetof(struct eval_values, field)

static const struct cli_option options[] = {
    CLI_TEXT(0, "cosine", PLACE(cosine), "X",
             "signatures: pairs whose features have a cosine of X or more are alike (default 0.9)"),
    CLI_TEXT(0, "truth", PLACE(truth), "FILE",
             "signatures: go by labelled pairs instead, lines ID<TAB>ID<TAB>JACCARD; pairs without a label count as "
             "not alike"),
    CLI_TEXT(0, "jaccard", PLACE(jaccard), "X", "signatures: labels of X or more are alike (default 0.8)"),
    CLI_TEXT(
        0, "threshold", PLACE(threshold), "X",
        "duplicates: texts are near-copies whose sets of features have a Jaccard index of X or more (default 0.8)"),
    CLI_TEXT(0, "labels", PLACE(labels), "FILE",
             "duplicates: also tell which of these pairs 'nigh dedup' finds, lines ID<TAB>ID<TAB>JACCARD"),
    CLI_TEXT(0, "temporary", PLACE(temporary), "DIR",
             "duplicates: the folder for temporary files (default $TMPDIR, else /tmp)"),
    CLI_NUMBER(0, "probes", PLACE(probes), "N", 1, 4096, "256", "psm: look up to N combinations far"),
    CLI_NUMBER(0, "psm-queries", PLACE(psm_queries), "N", 0, UINT32_MAX, "20000",
               "psm: ask with N of the signatures that have a match at most; 0 takes all"),
    CLI_NUMBER('k', NULL, PLACE(k), "N", 1, 65536, "10", "nearest: the N nearest documents of each query"),
    CLI_NUMBER(0, "ask", PLACE(ask), "N", 1, 1000000, "200",
               "nearest: N documents of the collection ask, each left out of its own answer; or so many of --queries; "
               "learned: N of those that ask (default all)"),
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", cli_eval_methods, "auto", "nearest: as of 'nigh search'"),
    CLI_TEXT(0, "breadth", PLACE(breadth), "LIST",
             "nearest: measure each of these breadths, such as 0,1,3 or 0-4 (default the usual one)"),
    CLI_TEXT(0, "admit", PLACE(admit), "LIST", "nearest: with each of these, up to the breadth"),
    CLI_NUMBER(0, "candidates", PLACE(candidates), "N", 1, UINT32_MAX - 1, NULL, "nearest: as of 'nigh search'"),
    CLI_TEXT(0, "effort", PLACE(effort), "LIST",
             "nearest: measure each of these efforts of a graph, such as 50,100,400 (default the usual one)"),
    CLI_NUMBER(0, "patience", PLACE(patience), "N", 0, UINT32_MAX - 1, NULL, "nearest: as of 'nigh search'"),
    CLI_NUMBER(0, "slices", PLACE(slices), "N", 1, 16384, NULL, "nearest: as of 'nigh search'"),
    CLI_CHOICE(0, "probe", PLACE(probe), "WAY", cli_eval_probes, "auto", "nearest: as of 'nigh search'"),
    CLI_TEXT(0, "budget", PLACE(budget), "LIST",
             "nearest: with each of these budgets of 'nigh search', such as 4K,16K or all (default the usual one)"),
    CLI_FLAG(0, "certain", PLACE(certain), "nearest: go on until answers are exact, as --exact of 'nigh search'"),
    CLI_NUMBER(0, "rings", PLACE(rings), "B", 0, NIGH_MAX_SLICE_WIDTH, NULL,
               "nearest: also tell what the lists alone show after each ring up to B"),
    CLI_FLAG(0, "no-cache", PLACE(no_cache), "nearest: do not keep the truth beside the collection, nor use it"),
    CLI_TEXT(0, "methods", PLACE(methods), "LIST",
             "learned: the methods of 'nigh train' to measure, such as codewords,s3h (default all)"),
    CLI_TEXT(0, "widths", PLACE(widths), "LIST",
             "learned: with each of these numbers of bits (default 8,16,24,32,40,48,56,64, or --bits)"),
    CLI_TEXT(0, "max-features", PLACE(max_features), "LIST",
             "learned: and with each of these numbers of features, the best by chi-squared (default 10000)"),
    CLI_NUMBER(0, "seeds", PLACE(seeds), "N", 1, 1000, "3", "learned: with N seeds, from --seed on"),
    CLI_NUMBER(0, "radius", PLACE(radius), "BITS", 1, 1024, "3", "learned: look up documents within so many bits"),
    CLI_TEXT(0, "labelled", PLACE(labelled), "SHARE",
             "learned: keep the labels of this share of the documents that are learned from (default 1)"),
    CLI_FLAG(0, "strip-headers", PLACE(strip_headers),
             "learned: leave out what stands before the first empty line of a text, such as the headers of a message"),
    CLI_NUMBER(0, "iterations", PLACE(iterations), "N", 1, 100000, "60", "learned: as of 'nigh train'"),
    CLI_NUMBER(0, "min-documents", PLACE(min_documents), "N", 1, UINT32_MAX, "3", "learned: as of 'nigh train'"),
    CLI_TEXT(0, "l2", PLACE(l2), "X", "learned: as of 'nigh train'"),
    CLI_FLAG(0, "as-paper", PLACE(as_paper), "learned: as of 'nigh train'"),
    CLI_NUMBER(0, "block", PLACE(block), "N", 1, 1000000, "400", "terms: a block has N different words at most"),
    CLI_TEXT(0, "ratios", PLACE(ratios), "LIST",
             "terms: measure with each of these numbers of bits a word (default 1,2,3,4,5,6,7,8,9,10)"),
    CLI_NUMBER(0, "queries-of", PLACE(queries_of), "N", 1, 1000000, "2000",
               "terms: ask N queries of each number of words"),
    CLI_CHOICE_OR_FILE(0, "goal", PLACE(goal), PLACE(query_log), "GOAL", cli_eval_goals, "uniform",
                       "terms: choose k for few errors of every word alike, as the paper does, or of a word as often "
                       "as blocks have it, or as often as the queries of FILE ask for it, one query a line"),
    CLI_TEXT(0, "plot", PLACE(plot), "FILE",
             "signatures, psm, nearest, learned, terms: draw what was measured as an SVG image"),
    CLI_NUMBER(0, "sample", PLACE(sample), "N", 0, UINT32_MAX, "1000",
               "signatures: the mean cosine at a distance is that of N pairs at most; 0 takes all pairs; terms: errors "
               "are counted over N blocks (default 2000); 0 takes all"),
    CLI_NUMBER(0, "sample-seed", PLACE(sample_seed), "N", 0, NIGH_ALL_64, "0",
               "signatures, nearest: another sample; terms: also other queries"),
    CLI_TEXT(0, "queries", PLACE(queries), "FILE",
             "ranked: the topics, as documents whose ids are those of FILE below; nearest: signatures that ask"),
    CLI_TEXT(0, "judgements", PLACE(judgements), "FILE",
             "ranked: lines QUERY 0 DOCUMENT GRADE, as of TREC; a grade above 0 is relevant"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", cli_eval_output_names, "table", "the form of the answer"),
    CLI_LIST(0, "data", PLACE(data), "DIR", "the same as DIR among the inputs; may be given more than once"),
    CLI_NUMBER(0, "memory", PLACE(memory), "BYTES", 1048576, UINT64_C(1) << 44, "4G",
               "give up where documents and features take more"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_text_formats, "auto", "the format of the inputs"),
    CLI_SIGNING_OPTIONS(PLACE(signing)),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_TEXT(0, "label-key", PLACE(reading.label_key), "KEY",
             "learned: where the label is, a text or a number, or a list of them (default label)"),
    CLI_TEXT(0, "part-key", PLACE(reading.part_key), "KEY",
             "learned: where it says what a document is for: those of \"train\" are learned from, those of \"test\" "
             "ask; without it a random fifth asks"),
    CLI_END,
};

static const char *const usage[] = {"signatures [OPTION]... INPUT...",
                                    "ranked [OPTION]... --judgements FILE [--queries FILE] INPUT...",
                                    "duplicates [OPTION]... [--threshold X] [--labels FILE] INPUT...",
                                    "psm [OPTION]... INPUT...",
                                    "nearest [OPTION]... COLLECTION",
                                    "learned [OPTION]... [--label-key KEY] [--part-key KEY] INPUT...",
                                    "terms [OPTION]... [--block N] [--ratios LIST] INPUT...",
                                    NULL};

static const char *const description[] = {
    "signatures: signs all documents and compares every pair. For each distance it says how many pairs there are, the "
    "mean cosine of their features (the same features and weights that the signatures are made of), and with which "
    "precision, recall and F1 'at this distance or nearer' finds the pairs that are alike; and which radius is best "
    "for texts of which length. Counts are exact; time grows with the square of the number of documents.",
    "ranked: ranks all documents for each topic by the distance of signatures, and by the cosine of features, and "
    "gives "
    "mean average precision and precision at 10. Relevant documents are also taken as queries, each of a topic asking "
    "for the others. Ties go to the earlier document.",
    "duplicates: finds every pair of near-copies by comparing the sets of features (--features; three words in a row), "
    "and holds against them what 'nigh dedup' finds, and what simhash, MinHash bits and MinHash LSH find without a "
    "look "
    "at the texts. Exact copies are left out first. The inputs are read a dozen times.",
    "psm: takes 64-bit simhashes with the weights of their bits, and every pair within 3 bits; says how many "
    "combinations of bits are tried until the right one comes, weakest first or at random, and what share of the "
    "matches k probes of a table of p leading bits find.",
    "nearest: searches a collection, one query after the other on one thread, and compares with the true nearest "
    "documents: the cumulative distance ratio CDR, the recall by distance and by id, the share of answers that are "
    "proven exact and the distance below which nothing is missed, and the time of a query. The truth is found by "
    "comparing everything, once, and kept beside the collection as COLLECTION.truth-*.",
    "learned: learns from labelled documents by each method of 'nigh train', signs those that were learned from and "
    "those that ask, and ranks the first for each of the second. Relevant is what shares a label: mean average "
    "precision over the whole ranking, precision within --radius (0 where nothing is there) and documents found there, "
    "mean distances within a class and between two, and the time and memory of learning; means over --seeds. "
    "Documents that cannot be signed are found by nobody and find nothing. For comparison there are the inverted list, "
    "which returns all that shares a chosen feature, and the exact tf-idf cosine.",
    "terms: cuts documents into blocks of words as 'nigh terms index' does, and makes filters of them of each kind "
    "(Bloom, COCA, hybrid) and number of bits a word, with the k, and of hybrid the theta, that err least. Says which "
    "share of all words a block's filter has falsely, in the mean, over blocks and by how many blocks have a word; how "
    "many false blocks queries find; and how large filters and dictionary are, beside an inverted index of the same "
    "blocks.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "signatures, tsv: the words of the shorter text (all, 1-31, 32-127, 128-511, 512+), distance, pairs at it, alike "
    "ones of these, then of this distance or nearer precision, recall and F1, then mean cosine and its standard error "
    "(empty where not of all lengths). Distances without a pair are left out. jsonl has the same by name.",
    "ranked, tsv: topics or documents as queries, topics that count, rankings made, MAP and precision at 10 by "
    "distance, by distance in the bits that the query touches, by weighted bits, and by features.",
    "duplicates, tsv: 'method', its name, bits, radius, recall, precision, F1, candidates, their precision, whether "
    "they are estimated, seconds for reading and signing, seconds for finding, bytes of memory, what it left out; then "
    "'label', from, to, labelled pairs, alike ones, found ones, and both again with a threshold of 0.5.",
    "psm, tsv: 'attempts', the model, flipped bits, matches, combinations, mean, median, 90th and 99th percentile; "
    "then "
    "'recall', the model, p, k, share of matches found, share of queries with one found.",
    "nearest, tsv: setting, CDR(k), recall by distance and by id, share of exact answers, mean distance below which "
    "nothing is missed, queries a second, mean, median, 90th and 99th percentile of their microseconds, lists, "
    "postings and signatures compared a query; then 'ring', its number, lists, postings, percent of the signatures "
    "seen, share of queries whose nearest have been seen in every slice, and are certain.",
    "learned, tsv: method, features, bits (0 of a reference), seeds, MAP and its standard deviation over the seeds, "
    "precision within the radius and the same of it, documents returned, share of queries that find nothing, mean "
    "distance within a class and between two, seconds of learning, bytes of memory, documents signed a second, "
    "iterations of "
    "learning under the seed that had the fewest, seeds whose model has collapsed.",
    "terms, tsv: kind, bits a word, k, of hybrid the k of frequent words and theta, then the false positive error: its "
    "mean over blocks, standard deviation, least, most, 10%, median, 90%; the mean error for words of 1, 2 to 10, 11 "
    "to 100 and more blocks; false blocks of queries of 1, 2, 3 and 5 words, precision of the same (-1 where no block "
    "has so many words); the error with each word as often as blocks have it, what theory gives, the information-"
    "theoretic bound, share of bits set, bytes of rows and of the dictionary, seconds of making the filters. The last "
    "line is the inverted index.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval signatures --scheme simhash --plot simhash.svg pages/", "which radius fits these pages"},
    {"nigh eval signatures --scheme minhash --truth pairs.tsv texts.jsonl", "how labelled pairs are found"},
    {"nigh eval ranked --judgements qrels --queries topics.jsonl docs.jsonl", "MAP of topics, and of documents"},
    {"nigh eval duplicates texts.jsonl", "what each way of finding near-copies finds of them"},
    {"nigh eval psm --plot weak.svg texts.jsonl", "what weak bits are worth"},
    {"nigh eval nearest --breadth 0-3 --plot nearest.svg corpus.nigh", "what slice lists find at each breadth"},
    {"nigh eval learned --part-key split --plot learned.svg news.jsonl", "which method of learning is worth it"},
    {"nigh eval terms --block 100 --ratios 4,8 news.jsonl", "which filters fit these texts, and whether any do"},
    {NULL, NULL},
};

/* ---------------------------------------------------------------- reading -- */

static nigh_status evaluate(struct evaluator *evaluator, const struct cli_inputs *inputs, uint64_t limit,
                            nigh_eval_corpus **out) {
    struct cli_job *job = evaluator->job;
    nigh_eval_corpus_options evaluation_options;
    nigh_eval_corpus_options_init(&evaluation_options);
    struct cli_problems problems;
    nigh_text_reader *reader = NULL;
    evaluation_options.threads = job->threads;
    evaluation_options.limit = limit;
    evaluation_options.memory_bytes = evaluator->values->memory.value;
    evaluation_options.keep_weights = evaluator->kind == EVAL_RANKED || evaluator->kind == EVAL_PSM;
    evaluation_options.progress = &job->progress.report;
    nigh_status status = cli_reader_open(job, inputs, &evaluator->values->reading,
                                         (nigh_text_format)evaluator->values->format, &problems, &reader);
    if (status == NIGH_OK)
        status = nigh_eval_corpus_new(evaluator->signer, reader, &evaluation_options, out, &job->error);
    nigh_text_reader_close(reader);
    cli_progress_clear(&job->progress);
    return status;
}

static nigh_status read_documents(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    nigh_signer_options *signer_options = &evaluator->signer_options;
    const struct eval_values *values = evaluator->values;
    nigh_status status = cli_model_get(job, values->signing.model, NULL, signer_options, &evaluator->model);
    if (status == NIGH_OK)
        status = cli_vocabulary_get(job, &evaluator->inputs, &values->reading, (nigh_text_format)values->format,
                                    &values->signing, signer_options, &evaluator->vocabulary);
    signer_options->vocabulary = evaluator->vocabulary;
    if (status == NIGH_OK) status = nigh_signer_new(job->context, signer_options, &evaluator->signer, &job->error);
    if (status == NIGH_OK)
        status = evaluate(evaluator, &evaluator->inputs, values->reading.limit.value, &evaluator->documents);
    if (status == NIGH_OK) nigh_eval_corpus_describe(evaluator->documents, &evaluator->info);
    return status;
}

static bool read_queries(struct evaluator *evaluator, nigh_eval_corpus **out) {
    const char *path = evaluator->values->queries;
    struct cli_inputs inputs;
    const bool done =
        cli_inputs_open_paths(evaluator->job, &path, 1, &inputs) && evaluate(evaluator, &inputs, 0, out) == NIGH_OK;
    cli_inputs_release(&inputs);
    return done;
}

void cli_eval_summarise(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    cli_progress_clear(&job->progress);
    job->stats.work_seconds = cli_seconds() - evaluator->started;
    job->stats.complete = true;
    job->stats.documents = evaluator->info.signed_rows;
    cli_stats_rate(&job->stats, evaluator->info.signed_rows);
    cli_stats_signing(&job->stats, &evaluator->info);
    cli_note(job, "measured %s of %.1f MB of text; %.2f s (%s/s)%s",
             cli_counted(evaluator->info.signed_rows, "document", "documents").text,
             (double)evaluator->info.reader.bytes_text / 1e6, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text, cli_skipped(&evaluator->info).text);
}

/* ------------------------------------------------------------- signatures -- */

void cli_eval_name_inputs(const struct evaluator *evaluator, char *name, size_t capacity) {
    const char *path = evaluator->inputs.paths[0];
    const char *slash = strrchr(path, '/');
    (void)snprintf(name, capacity, "%.40s%s", slash != NULL && slash[1] != '\0' ? slash + 1 : path,
                   evaluator->inputs.count > 1 ? " and others" : "");
}

int cli_eval_write_plot(struct evaluator *evaluator, const char *svg, size_t length) {
    struct cli_job *job = evaluator->job;
    const char *path = evaluator->values->plot;
    struct cli_sink *sink = malloc(sizeof *sink);
    if (sink == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    int code = CLI_DONE;
    if (cli_sink_open(sink, path)) cli_sink_bytes(sink, svg, length);
    if (sink->error != 0 || !cli_sink_finish(sink)) {
        cli_set_system_error(job, sink->error, path, "write");
        if (sink->owned) cli_sink_abandon(sink);
        code = cli_fail(job);
    }
    free(sink);
    return code;
}

static int plot_pairs(struct evaluator *evaluator, nigh_eval_pairs *pairs) {
    const char *svg = NULL;
    size_t length = 0;
    char name[100];
    char title[200];
    cli_eval_name_inputs(evaluator, name, sizeof name);
    (void)snprintf(title, sizeof title, "%s, %u bits: %s", cli_scheme_name(evaluator->signer_options.scheme),
                   nigh_signer_width(evaluator->signer), name);
    if (nigh_eval_pairs_plot(pairs, title, &svg, &length, &evaluator->job->error) != NIGH_OK)
        return cli_fail(evaluator->job);
    return cli_eval_write_plot(evaluator, svg, length);
}

static int eval_signatures(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    const struct eval_values *values = evaluator->values;
    nigh_eval_pairs_options pairs_options;
    nigh_eval_pairs_options_init(&pairs_options);
    nigh_eval_pairs_info info = {.size = sizeof info};
    nigh_eval_pairs *pairs = NULL;
    pairs_options.alike = evaluator->alike;
    pairs_options.labels = values->truth;
    pairs_options.sample = (uint32_t)values->sample.value;
    pairs_options.seed = values->sample_seed.value;
    pairs_options.threads = job->threads;
    pairs_options.progress = &job->progress.report;
    if (nigh_eval_pairs_measure(evaluator->documents, &pairs_options, &pairs, &job->error) != NIGH_OK)
        return cli_fail(job);
    cli_progress_clear(&job->progress);
    const struct cli_eval_pairs measured = {
        .pairs = pairs, .labelled = values->truth != NULL, .alike = evaluator->alike};
    cli_eval_show_pairs(job->out, (enum cli_eval_output)values->output, &measured);
    nigh_eval_pairs_describe(pairs, NIGH_EVAL_LENGTH_ALL, &info);
    if (info.labels_missing > 0)
        cli_note(job, "left out: %s of a document that is not there",
                 cli_counted(info.labels_missing, "label", "labels").text);
    cli_stats_count(&job->stats, "pairs", info.pairs);
    cli_stats_count(&job->stats, "alike", info.alike);
    int code = values->plot == NULL ? CLI_DONE : plot_pairs(evaluator, pairs);
    nigh_eval_pairs_free(pairs);
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code == CLI_DONE && info.pairs == 0 ? CLI_NOTHING : code;
}

/* ----------------------------------------------------------------- ranked -- */

/* False with job->error; `queries` NULL: documents ask. */
static bool rank(struct evaluator *evaluator, const nigh_eval_corpus *queries, bool first, uint64_t *topics) {
    struct cli_job *job = evaluator->job;
    nigh_eval_ranking_options ranking_options;
    nigh_eval_ranking_options_init(&ranking_options);
    nigh_eval_ranking ranking = {.size = sizeof ranking};
    ranking_options.judgements = evaluator->values->judgements;
    ranking_options.queries = queries;
    ranking_options.progress = &job->progress.report;
    if (nigh_eval_ranking_measure(evaluator->documents, &ranking_options, &ranking, &job->error) != NIGH_OK)
        return false;
    cli_progress_clear(&job->progress);
    cli_eval_show_ranking(job->out, (enum cli_eval_output)evaluator->values->output,
                          queries == NULL ? "documents" : "topics", first, &ranking);
    if (ranking.missing > 0)
        cli_note(job, "%s: left out %s of a query or document that is not there, or has no words",
                 queries == NULL ? "documents" : "topics",
                 cli_counted(ranking.missing, "judgement", "judgements").text);
    job->stats.queries += ranking.rankings;
    *topics += ranking.topics;
    return true;
}

static int eval_ranked(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    nigh_eval_corpus *queries = NULL;
    uint64_t topics = 0;
    bool done = true;
    if (evaluator->values->queries != NULL) {
        done = read_queries(evaluator, &queries) && rank(evaluator, queries, true, &topics);
        nigh_eval_corpus_free(queries);
    }
    done = done && rank(evaluator, NULL, evaluator->values->queries == NULL, &topics);
    if (!done) return cli_fail(job);
    cli_eval_summarise(evaluator);
    return topics == 0 ? CLI_NOTHING : CLI_DONE;
}

/* -------------------------------------------------------------------- run -- */

/* A number above 0, at most 1. */
static bool parse_share(const struct cli_job *job, const char *name, const char *text, double *out) {
    char *end = NULL;
    if (text == NULL) return true;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out > 0 && *out <= 1) return true;
    (void)cli_usage(job->command, "--%s takes a number above 0 and up to 1, not '%s'", name, text);
    return false;
}

/* Options that belong to some kinds only. */
static int check_options(const struct cli_job *job, const struct eval_values *values, enum eval_kind kind) {
    if (kind != EVAL_RANKED && values->judgements != NULL)
        return cli_usage(job->command, "--judgements goes with 'ranked'");
    if (kind != EVAL_RANKED && kind != EVAL_NEAREST && values->queries != NULL)
        return cli_usage(job->command, "--queries goes with 'ranked' and 'nearest'");
    if (kind != EVAL_SIGNATURES && (values->truth != NULL || values->cosine != NULL || values->jaccard != NULL))
        return cli_usage(job->command, "--truth, --cosine and --jaccard go with 'signatures'");
    if ((kind == EVAL_RANKED || kind == EVAL_DUPLICATES) && values->plot != NULL)
        return cli_usage(job->command, "--plot goes with 'signatures', 'psm', 'nearest', 'learned' and 'terms'");
    if (kind != EVAL_TERMS &&
        (values->block.given || values->ratios != NULL || values->queries_of.given || values->goal != 0))
        return cli_usage(job->command, "--block, --ratios, --queries-of and --goal go with 'terms'");
    if (kind != EVAL_LEARNED &&
        (values->methods != NULL || values->widths != NULL || values->max_features != NULL || values->seeds.given ||
         values->radius.given || values->labelled != NULL || values->strip_headers || values->iterations.given ||
         values->min_documents.given || values->l2 != NULL || values->as_paper || values->reading.label_key != NULL ||
         values->reading.part_key != NULL))
        return cli_usage(
            job->command,
            "--methods, --widths, --max-features, --seeds, --radius, --labelled, --strip-headers, "
            "--iterations, --min-documents, --l2, --as-paper, --label-key and --part-key go with 'learned'");
    if (kind != EVAL_NEAREST && kind != EVAL_LEARNED && values->ask.given)
        return cli_usage(job->command, "--ask goes with 'nearest' and 'learned'");
    if (kind != EVAL_NEAREST &&
        (values->k.given || values->method != 0 || values->breadth != NULL || values->admit != NULL ||
         values->candidates.given || values->slices.given || values->effort != NULL || values->patience.given ||
         values->rings.given || values->budget != NULL || values->probe != 0 || values->certain || values->no_cache))
        return cli_usage(job->command,
                         "-k, --method, --breadth, --admit, --candidates, --slices, --effort, "
                         "--patience, --probe, --budget, --certain, --rings and --no-cache go with 'nearest'");
    if (kind != EVAL_DUPLICATES && (values->threshold != NULL || values->labels != NULL || values->temporary != NULL))
        return cli_usage(job->command, "--threshold, --labels and --temporary go with 'duplicates'");
    if (kind != EVAL_PSM && (values->probes.given || values->psm_queries.given))
        return cli_usage(job->command, "--probes and --psm-queries go with 'psm'");
    return CLI_DONE;
}

static int check_signatures(const struct cli_job *job, const struct eval_values *values) {
    if (values->truth != NULL && values->cosine != NULL)
        return cli_usage(job->command, "--truth goes by labels, and leaves no --cosine to ask for");
    if (values->truth == NULL && values->jaccard != NULL) return cli_usage(job->command, "--jaccard goes with --truth");
    return CLI_DONE;
}

static int check_ranked(const struct cli_job *job, const struct eval_values *values) {
    if (values->judgements == NULL) return cli_usage(job->command, "no --judgements given");
    if (values->queries != NULL && strcmp(values->queries, "-") == 0)
        return cli_usage(job->command, "--queries takes a file, not standard input");
    return CLI_DONE;
}

static int check_duplicates(const struct cli_job *job, const struct eval_values *values) {
    const struct cli_signing *signing = &values->signing;
    if (signing->scheme != 0 || signing->bits.given || signing->weights != 0)
        return cli_usage(job->command,
                         "duplicates measures its own signatures; leave --scheme, --bits and --weights out");
    for (size_t i = 1; i < job->operand_count; i++)
        if (strcmp(job->operands[i], "-") == 0)
            return cli_usage(job->command, "duplicates reads its inputs many times; standard input cannot be");
    return CLI_DONE;
}

static int check_psm(const struct cli_job *job, const struct eval_values *values) {
    const struct cli_signing *signing = &values->signing;
    if (signing->scheme != 0 && signing->scheme - 1 != NIGH_SCHEME_SIMHASH && signing->model == NULL)
        return cli_usage(job->command,
                         "psm goes by the weights of simhash, or of a model; there is no other --scheme for it");
    if (signing->bits.given && signing->bits.value != 64) return cli_usage(job->command, "psm measures 64 bits");
    return CLI_DONE;
}

static int check_nearest(const struct cli_job *job, const struct eval_values *values) {
    if (job->operand_count != 2 || values->data.count != 0)
        return cli_usage(job->command, "nearest takes one collection");
    return CLI_DONE;
}

/* That the plot is nothing that is read, by whatever option. */
static bool plot_fits(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    const struct eval_values *values = evaluator->values;
    const struct cli_place places[] = {{"--plot", values->plot}, {"--stats", job->common->stats}};
    const struct cli_place files[] = {{"--truth", values->truth},         {"--labels", values->labels},
                                      {"--queries", values->queries},     {"--judgements", values->judgements},
                                      {"--goal", values->query_log},      {"--vocabulary", values->signing.vocabulary},
                                      {"--scheme", values->signing.model}};
    struct cli_job data = *job; /* what --data names is read as the operands are */
    memcpy(&data.operands, &values->data.items, sizeof data.operands); /* they are not written to */
    data.operand_count = values->data.count;
    return cli_places_differ(job, places, 1) && cli_places_spare_inputs(job, places, 1, 1) &&
           cli_places_spare_files(job, places, 1, files, sizeof files / sizeof files[0]) &&
           cli_places_outside(job, places, 1, 1) && cli_places_spare_inputs(&data, places, 2, 0) &&
           cli_places_outside(&data, places, 2, 0) && cli_places_writable(job, places, 1);
}

static int check_use(struct evaluator *evaluator) {
    static int (*const checks[EVAL_KINDS])(const struct cli_job *, const struct eval_values *) = {
        check_signatures, check_ranked,           check_duplicates,    check_psm,
        check_nearest,    cli_eval_check_learned, cli_eval_check_terms};
    const struct cli_job *job = evaluator->job;
    const struct eval_values *values = evaluator->values;
    if (job->operand_count < 2 && values->data.count == 0)
        return cli_usage(job->command, "no INPUT given; '-' is standard input");
    if (!cli_reading_fits(job, &values->reading) || !cli_source_paths_fit(job, 1)) return CLI_ERROR;
    if (values->signing.split != 0)
        return cli_usage(job->command, "documents are measured as a whole; leave --split out");
    evaluator->alike = values->truth == NULL && evaluator->kind != EVAL_DUPLICATES ? 0.9 : 0.8;
    if (!parse_share(job, "cosine", values->cosine, &evaluator->alike)) return CLI_ERROR;
    if (!parse_share(job, "jaccard", values->jaccard, &evaluator->alike)) return CLI_ERROR;
    if (!parse_share(job, "threshold", values->threshold, &evaluator->alike)) return CLI_ERROR;
    if (check_options(job, values, evaluator->kind) != CLI_DONE) return CLI_ERROR;
    if (checks[evaluator->kind](job, values) != CLI_DONE) return CLI_ERROR;
    return plot_fits(evaluator) ? CLI_DONE : CLI_ERROR;
}

/* The operands but for the first, and what --data names. */
static bool open_documents(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    const struct cli_list *data = &evaluator->values->data;
    size_t count = job->operand_count - 1;
    const char **paths = malloc((count + data->count) * sizeof *paths);
    if (paths == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++) paths[i] = job->operands[i + 1];
    for (size_t i = 0; i < data->count; i++) paths[count++] = data->items[i];
    const bool done = cli_inputs_open_paths(job, paths, count, &evaluator->inputs);
    free(paths);
    return done;
}

static int run_evaluator(struct evaluator *evaluator) {
    static int (*const kinds[EVAL_KINDS])(struct evaluator *) = {eval_signatures, eval_ranked,      cli_eval_duplicates,
                                                                 cli_eval_psm,    cli_eval_nearest, cli_eval_learned,
                                                                 cli_eval_terms};
    struct cli_job *job = evaluator->job;
    int code = check_use(evaluator);
    if (code == CLI_DONE)
        code = cli_signer_options(job, &evaluator->values->signing, NULL, NULL, &evaluator->signer_options);
    if (code != CLI_DONE) return code;
    if (evaluator->kind == EVAL_NEAREST) return cli_eval_nearest(evaluator);
    if (evaluator->kind == EVAL_PSM && evaluator->values->signing.model == NULL)
        evaluator->signer_options.scheme = NIGH_SCHEME_SIMHASH;
    if (!open_documents(evaluator)) return cli_fail(job);
    const bool reads_itself =
        evaluator->kind == EVAL_DUPLICATES || evaluator->kind == EVAL_LEARNED || evaluator->kind == EVAL_TERMS;
    if (!reads_itself && read_documents(evaluator) != NIGH_OK) return cli_fail(job);
    return kinds[evaluator->kind](evaluator);
}

static int run(struct cli_job *job) {
    static const char *const names[EVAL_KINDS] = {"signatures", "ranked",  "duplicates", "psm",
                                                  "nearest",    "learned", "terms"};
    struct evaluator evaluator = {
        .job = job, .values = job->values, .info = {.size = sizeof(nigh_signing_info)}, .started = cli_seconds()};
    const char *what = job->operand_count == 0 ? "" : job->operands[0];
    int kind = 0;
    if (*what == '\0')
        return cli_usage(job->command,
                         "say what to measure: signatures, ranked, duplicates, psm, nearest, learned or terms");
    while (kind < EVAL_KINDS && strcmp(what, names[kind]) != 0) kind++;
    if (kind == EVAL_KINDS)
        return cli_usage(
            job->command,
            "there is signatures, ranked, duplicates, psm, nearest, learned and terms to measure, not '%s'", what);
    evaluator.kind = (enum eval_kind)kind;
    const int code = run_evaluator(&evaluator);
    nigh_eval_corpus_free(evaluator.documents);
    nigh_signer_free(evaluator.signer);
    nigh_vocabulary_free(evaluator.vocabulary);
    nigh_model_free(evaluator.model);
    cli_inputs_release(&evaluator.inputs);
    return code;
}

const struct cli_command cmd_eval = {
    .name = "eval",
    .summary = "measure how well signatures stand for documents",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct eval_values),
    .words = 1,
    .run = run,
};
