/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index: all inputs go through one writer into one commit, so a command that fails at its last
 * row has changed nothing. Whether the inputs are documents or signatures is found by looking at
 * them; index_documents.c and index_signatures.c handle the two kinds. Afterwards lists, tables and
 * graphs are made (index_lists.c, index_tables.c, index_graph.c).
 */
#include <stdio.h>
#include <string.h>

#include "indexing.h"
#include "source.h"

#define PLACE(field) offsetof(struct index_values, field)

static const struct cli_option options[] = {
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_input_formats, "auto", "the format of the inputs"),
    CLI_TEXT(0, "ids", PLACE(ids), "FILE", "for signatures: read the ids from FILE, one a line; for one INPUT"),
    CLI_TEXT(0, "binarise", PLACE(binarise), "HOW",
             "for floats (embeddings): make one bit a column, 1 if the value is above 0 (sign), "
             "above the mean or median of the column, or above the numbers in an .npy FILE; the collection keeps these "
             "thresholds"),
    CLI_TEXT(0, "threshold", PLACE(threshold), "T",
             "with --scheme minhash: keep texts and keys, for a new collection, so that 'nigh against' verifies "
             "near-copies with a Jaccard index of T or more (default 0.8; 0: keep only bits)"),
    CLI_NUMBER(0, "snippet", PLACE(snippet), "BYTES", 0, 65536, "200",
               "for documents: keep this much of the beginning, to show it in answers"),
    CLI_FLAG(0, "keep-weights", PLACE(keep_weights),
             "for documents: keep how sure each bit is, one byte for each bit, for methods that use it; a collection "
             "that has weights keeps them for new documents too"),
    CLI_FLAG(0, "keep-masks", PLACE(keep_masks),
             "for topsig documents: keep which bits each document touches, for a graph of masks later; takes as much "
             "space as the signatures. --graph implies it"),
    CLI_TEXT(0, "keep-keys", PLACE(keep_keys), "KEY,KEY,...",
             "for JSON and CSV: keep the values under these keys, dotted paths or columns, for --where of 'nigh "
             "search'; the keys of a collection cannot change later"),
    CLI_FLAG(0, "replace", PLACE(replace),
             "if the collection has a document with the same id, replace it, in one commit; of several inputs with one "
             "id the first counts"),
    CLI_CHOICE(0, "lists", PLACE(lists), "LISTS", cli_list_names, "auto",
               "what to build for fast searches: slice lists; tables for near-copies, which miss nothing within a few "
               "bits; sorted tables, which are smaller and may miss some; auto: what suits the width, if enough "
               "signatures are added"),
    CLI_NUMBER(0, "slice-width", PLACE(slice_width), "BITS", NIGH_MIN_SLICE_WIDTH, NIGH_MAX_SLICE_WIDTH, NULL,
               "width of the slices of --lists slices (default: by the number of signatures, see 'nigh plan')"),
    CLI_NUMBER(
        'r', "radius", PLACE(radius), "BITS", 1, NIGH_MAX_WIDTH_BITS, NULL,
        "with --lists tables or sorted: for near-copies at most BITS bits away (default 3 of 64 bits, 6 of 128)"),
    CLI_NUMBER(0, "blocks", PLACE(blocks), "Z", 2, 16, NULL,
               "with --lists tables: blocks the bits are cut into; with --leading"),
    CLI_NUMBER(0, "leading", PLACE(leading), "X", 1, 15, NULL,
               "with --lists tables: blocks that must be equal; exact up to a radius of Z - X (default 1)"),
    CLI_NUMBER(0, "rotations", PLACE(rotations), "N", 1, 3, NULL,
               "with --lists sorted: tables, each sorted by other bits first (default 1)"),
    CLI_FLAG(0, "no-tables", PLACE(no_tables), "make no tables, and remove existing ones"),
    CLI_FLAG(0, "columns", PLACE(columns),
             "store a second copy of the signatures by column, which answers texts several times as fast, and exactly; "
             "the default for topsig documents if at least 32,768 signatures are added"),
    CLI_FLAG(0, "no-columns", PLACE(no_columns), "make no columns, and remove existing ones"),
    CLI_FLAG(0, "graph", PLACE(graph),
             "build a graph of near neighbours, which makes searching faster still; for a million signatures it takes "
             "a minute or two on one core"),
    CLI_FLAG(0, "no-graph", PLACE(no_graph), "remove existing graphs"),
    CLI_FLAG(
        0, "no-merge", PLACE(no_merge),
        "do not merge what is added with other segments, even if there are ten of about its size; see 'nigh merge'"),
    CLI_SIGNING_OPTIONS(PLACE(signing)),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_PASSAGE_LIMIT_OPTION(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {
    "[OPTION]... COLLECTION INPUT...", "--lists slices|tables|sorted|none [OPTION]... COLLECTION",
    "--columns|--no-columns [OPTION]... COLLECTION", "--graph|--no-graph [OPTION]... COLLECTION", NULL};

static const char *const description[] = {
    "Makes the collection, or adds to it if it exists. INPUT is documents: files, folders with everything in them, tar "
    "and zip archives, also compressed (gz, zst, xz, bz2); as plain text, JSON, CSV, HTML, WARC, WET or TREC. Or it "
    "is signatures: .npy (uint8, rows by bytes; or floats, with --binarise), .u8bin, raw rows (with --bits), lines of "
    "hex digits (\"ID<TAB>hex\" or \"hex\"), or a TopSig .sig file. '-' is standard input. The format is recognised; "
    "--format overrides it.",
    "Documents are signed by --scheme and its options. The collection remembers them, so that later documents and "
    "queries are signed in the same way. Weights by likelihood (the default of topsig) and tf-idf need to know how "
    "common each word is: the inputs are read twice, or the counts come from --vocabulary. The collection also keeps "
    "these counts, and the model of learned:FILE: later commands need not name them.",
    "Documents go by their ids: a key, a URI or a DOCNO if the format has one, else the path. Signatures have ids from "
    "the file or from --ids; without either, they are numbered from 0. Either all documents of a collection have ids, "
    "all different, or none has. A document whose id the collection already has is skipped, reported and counted; for "
    "a row of signatures this is an error.",
    "Malformed parts of documents (a bad line of JSON, a broken member of an archive, bytes that are not UTF-8) are "
    "skipped, reported and counted. Apart from these, all inputs are added at once or, after an error, none. While one "
    "command writes, others may read; a second writer is refused.",
    "Slice lists tell for each part of a signature which others have the same part, so that a search need not compare "
    "all. With --lists auto they are made if at least 65,536 different signatures of 128 bits or more are added. They "
    "are made once the documents are safe, in files of their own. Without an INPUT, --lists slices makes them for an "
    "existing collection, or makes them again with another --slice-width, and --lists none removes them.",
    "Tables find near-copies: all documents within --radius bits, without comparing every one ('nigh search --radius', "
    "'nigh against'). With --lists auto they are made if at least 16,384 different signatures of 64 to 128 bits are "
    "added, simhash, learned or your own; four tables of 64 bits take 33 bytes a signature. --lists sorted makes a "
    "sorted table instead, 12 to 13 bytes a signature, which needs to know how sure each bit of a query is, and finds "
    "95 of 100 near-copies: '--method tables' uses it. Without an INPUT they are made for an existing collection; "
    "--no-tables, and --lists none, remove them.",
    "With --graph every segment without one gets a graph of near neighbours, in a file of its own: a search walks "
    "along it to ever nearer signatures. Without an INPUT, graphs are made for an existing collection. Documents that "
    "are added later are not in the graph until --graph is given again. 'nigh info' shows which share of the ten "
    "nearest of a signature the graph knows. A text as a query on a topsig collection counts only some of the bits, "
    "those that its words touch. If the collection keeps which bits each document touches (--keep-masks, which --graph "
    "implies, or --keep-weights), the graph is one of masks: it compares these bits only, and so finds far more of the "
    "documents nearest to a text.",
    NULL,
};

static const char *const document_paragraphs[] = {
    "plain: each file is a document, whatever is in it.",
    "lines: each line is a document; only if you ask for it.",
    "jsonl: one object a line; the text is under --text-key, the id under --id-key. Objects without text are counted.",
    "html: title and visible text; the character set is taken from a byte order mark or meta element, or guessed.",
    "warc: responses and conversions, so WET files too; the id is the target URI.",
    "trec: everything between <DOC> and </DOC>; the id is the DOCNO.",
    NULL,
};

static const char *const format_paragraphs[] = {
    "Bit i of a signature is bit (i mod 8) of its byte (i / 8). A row is whole bytes; with --bits 63 the last bit of "
    "8 bytes is padding, and a row in which it is set is an error.",
    "npy: a NumPy array of dtype uint8 and shape [documents, bytes of a row], in C order; with --binarise of float16, "
    "float32 or float64 and shape [documents, bits].",
    "Means and medians of --binarise are taken over all inputs of the first 'nigh index'. The collection keeps them "
    "for later documents and queries, which need not name them.",
    "u8bin: two little-endian 32-bit numbers, the documents and the bytes of a row; then the rows.",
    "raw: the rows and nothing else; --bits says how long one is.",
    "hex: one document a line: two digits a byte, or the id, a tab and the digits.",
    "topsig: the .sig files that TopSig writes.",
    NULL,
};

static const struct cli_section format_section = {"FORMATS OF SIGNATURES", format_paragraphs};
static const struct cli_section document_section = {"FORMATS OF DOCUMENTS", document_paragraphs};
static const struct cli_section *const details[] = {&document_section, &format_section, NULL};

static const struct cli_example examples[] = {
    {"nigh index corpus.nigh crawl/*.warc.gz", "make a collection of the pages of a crawl, or add to it"},
    {"nigh index notes.nigh ~/notes", "everything in a folder"},
    {"nigh index news.nigh news.jsonl.zst --scheme minhash --text-key body", "for finding near-copies"},
    {"nigh index news.nigh news.jsonl --scheme learned:news.model",
     "with a model that 'nigh train' learned from labels"},
    {"nigh index news.nigh corrected.jsonl --replace", "replace documents that have the same ids"},
    {"nigh index corpus.nigh signatures.npy", "signatures of your own; documents go by number"},
    {"nigh index images.nigh embeddings.npy --binarise median", "embeddings: a bit for each dimension"},
    {"nigh index corpus.nigh hashes.raw --format raw --bits 256 --ids names.txt", "rows without a header, with names"},
    {"zcat pages.hex.gz | nigh index corpus.nigh -", "from standard input"},
    {"nigh index corpus.nigh --lists slices --slice-width 18", "slice lists for an existing collection"},
    {"nigh index pages.nigh --lists tables --radius 4", "tables for near-copies at most 4 bits away"},
    {"nigh index corpus.nigh --graph", "a graph for an existing collection"},
    {NULL, NULL},
};

/* What is there already, if anything is. */
static nigh_status look_before(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    nigh_status status = nigh_collection_open(job->context, indexer->path, NULL, &indexer->before, &job->error);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status == NIGH_OK) {
        indexer->old = (nigh_collection_info){.size = sizeof(nigh_collection_info)};
        nigh_collection_describe(indexer->before, &indexer->old);
        indexer->width_bits = indexer->old.width_bits;
        indexer->width_holder = indexer->path;
    }
    return status;
}

static void count_all(const struct indexer *indexer) {
    struct cli_stats *stats = &indexer->job->stats;
    const nigh_commit *commit = &indexer->result.commit;
    stats->complete = true;
    stats->documents = commit->added;
    cli_stats_rate(stats, commit->added);
    cli_stats_count(stats, "distinct", commit->distinct);
    cli_stats_count(stats, "collection_documents", commit->documents - commit->deleted_now);
    if (indexer->values->replace) cli_stats_count(stats, "replaced", commit->deleted);
    cli_stats_count(stats, "collection_bytes", commit->bytes);
    cli_stats_count(stats, "width_bits", commit->width_bits);
    cli_stats_count(stats, "merged", commit->merged);
    if (!indexer->documents) return;
    cli_stats_count(stats, "repeated_ids", indexer->repeated + indexer->changed);
    cli_stats_count(stats, "changed_ids", indexer->changed);
    cli_stats_signing(stats, &indexer->result.signing);
}

static void summarise(const struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    const nigh_index_result *result = &indexer->result;
    char repeated[80] = "";
    char changed[120] = "";
    char replaced[80] = "";
    count_all(indexer);
    if (result->commit.deleted > 0)
        (void)snprintf(replaced, sizeof replaced, ", %s of them in the place of earlier ones",
                       cli_digits(result->commit.deleted).text);
    if (indexer->repeated > 0)
        (void)snprintf(repeated, sizeof repeated, "; %s",
                       cli_counted(indexer->repeated, "repeated id", "repeated ids").text);
    if (indexer->changed > 0)
        (void)snprintf(changed, sizeof changed, "; %s there with another text, and left out",
                       cli_counted(indexer->changed, "id is", "ids are").text);
    cli_note(job, "added %s (%s distinct%s) to '%s', which now has %s; %.2f s (%s/s)%s%s%s",
             cli_counted_rows(result->commit.added, result->passages != 0).text,
             cli_digits(result->commit.distinct).text, replaced, indexer->path,
             cli_digits(result->commit.documents - result->commit.deleted_now).text, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text,
             indexer->documents ? cli_skipped_by(&result->signing, result->learned != 0).text : "", repeated, changed);
    cli_tell_merged(job, indexer->path, &result->commit);
    if (indexer->documents && indexer->values->keep_weights && indexer->old.documents > 0 && !indexer->old.has_weights)
        cli_note(job, "'%s' has documents without weights from before; --keep-weights is for new ones only",
                 indexer->path);
}

static int check_use(const struct cli_job *job) {
    const struct index_values *values = job->values;
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    if (values->slice_width.given && values->lists != CLI_LISTS_SLICES)
        return cli_usage(job->command, "--slice-width goes with --lists slices");
    if (cli_index_check_tables(job) != CLI_DONE) return CLI_ERROR;
    if (values->graph && values->no_graph) return cli_usage(job->command, "--graph and --no-graph exclude each other");
    if (values->columns && values->no_columns)
        return cli_usage(job->command, "--columns and --no-columns exclude each other");
    if (job->operand_count == 1 && values->lists == CLI_LISTS_AUTO && !values->graph && !values->no_graph &&
        !values->columns && !values->no_columns && !values->no_tables)
        return cli_usage(job->command, "no INPUT given");
    if (values->ids != NULL && job->operand_count > 2)
        return cli_usage(job->command, "--ids goes with one INPUT, not with %zu", job->operand_count - 1);
    if (values->ids != NULL && strcmp(values->ids, "-") == 0)
        return cli_usage(job->command, "--ids takes a file, not standard input");
    const struct cli_place files[] = {{"--ids", values->ids},
                                      {"--vocabulary", values->signing.vocabulary},
                                      {"--scheme", values->signing.model},
                                      {"--binarise", values->binarise}};
    if (!cli_places_spare_files(job, NULL, 0, files, 4)) return CLI_ERROR;
    if (!cli_reading_fits(job, &values->reading)) return CLI_ERROR;
    return cli_source_paths_fit(job, 1) ? CLI_DONE : CLI_ERROR;
}

/* --bits must agree with what is there. */
static int check_width(struct indexer *indexer) {
    const struct cli_number *bits = &indexer->values->signing.bits;
    if (!bits->given) return CLI_DONE;
    if (indexer->width_bits != 0 && bits->value != indexer->width_bits) {
        cli_error(indexer->job, "'%s' holds signatures of %u bits, not %llu", indexer->path, indexer->width_bits,
                  (unsigned long long)bits->value);
        return CLI_ERROR;
    }
    indexer->width_bits = (uint32_t)bits->value;
    return CLI_DONE;
}

/* More than were added where the segment was merged with others: it then is as large as they all. */
static int count_new_rows(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    nigh_collection *collection = NULL;
    nigh_collection_info info = {.size = sizeof info};
    nigh_segment_info last = {.size = sizeof last};
    indexer->new_rows = indexer->result.commit.distinct;
    if (indexer->result.commit.merged == 0) return CLI_DONE;
    if (nigh_collection_open(job->context, indexer->path, NULL, &collection, &job->error) != NIGH_OK)
        return cli_fail(job);
    nigh_collection_describe(collection, &info);
    const nigh_status status = nigh_collection_segment(collection, info.segments - 1, &last, &job->error);
    nigh_collection_close(collection);
    indexer->new_rows = last.signatures;
    return status == NIGH_OK ? CLI_DONE : cli_fail(job);
}

static int finish(struct indexer *indexer) {
    const nigh_commit *commit = &indexer->result.commit;
    cli_committed(indexer->job, "the documents are in '%s': %s were added, it now has %s", indexer->path,
                  cli_digits(commit->added).text, cli_digits(commit->documents - commit->deleted_now).text);
    summarise(indexer);
    int code = count_new_rows(indexer);
    if (code == CLI_DONE) code = cli_index_lists(indexer);
    if (code == CLI_DONE) code = cli_index_tables_auto(indexer);
    if (code == CLI_DONE) code = cli_index_columns_auto(indexer);
    return code == CLI_DONE ? cli_index_graph(indexer->job, indexer->path, true) : code;
}

/* What looks like text cannot be added to signatures of the user's own, so it is taken for hex gone wrong. */
static bool takes_documents(const struct indexer *indexer) {
    nigh_signer_options ignored;
    nigh_signer_options_init(&ignored);
    return indexer->before == NULL || indexer->values->format != 0 ||
           nigh_signer_options_parse(nigh_collection_scheme(indexer->before), &ignored, NULL) != NIGH_ENOTFOUND;
}

static int index_all(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    bool ok = true;
    if (look_before(indexer) != NIGH_OK) return cli_fail(job);
    if (!cli_index_scheme_fits(indexer)) return CLI_ERROR;
    int code = check_width(indexer);
    if (code != CLI_DONE) return code;
    if (!cli_inputs_open(job, 1, &indexer->inputs)) return cli_fail(job);
    indexer->documents =
        takes_documents(indexer) && cli_inputs_are_documents(job, &indexer->inputs, indexer->values->format, &ok);
    if (!ok) return CLI_ERROR;
    if (indexer->documents && indexer->values->binarise != NULL)
        return cli_usage(job->command, "--binarise is for floats, as .npy, and the inputs are documents");
    double started = cli_seconds();
    code = indexer->documents ? cli_index_documents(indexer) : cli_index_signatures(indexer);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    return code == CLI_DONE ? finish(indexer) : code;
}

/* Without an INPUT. */
static int derive_only(struct cli_job *job) {
    const struct index_values *values = job->values;
    const double started = cli_seconds();
    int code = values->lists == CLI_LISTS_AUTO ? CLI_DONE : cli_index_lists_only(job);
    if (code == CLI_DONE) code = cli_index_tables(job, job->operands[0], false);
    if (code == CLI_DONE) code = cli_index_columns(job, job->operands[0], false);
    if (code == CLI_DONE) code = cli_index_graph(job, job->operands[0], false);
    job->stats.complete = code == CLI_DONE;
    job->stats.work_seconds = cli_seconds() - started;
    return code;
}

static int run(struct cli_job *job) {
    int code = check_use(job);
    if (code != CLI_DONE) return code;
    if (job->operand_count == 1) return derive_only(job);
    struct indexer indexer = {.job = job, .values = job->values, .path = job->operands[0]};
    indexer.result.size = sizeof indexer.result;
    indexer.result.commit.size = sizeof indexer.result.commit;
    code = index_all(&indexer);
    nigh_writer_close(indexer.writer);
    nigh_vocabulary_free(indexer.vocabulary);
    nigh_model_free(indexer.model);
    nigh_thresholds_free(indexer.thresholds);
    nigh_collection_close(indexer.before);
    cli_inputs_release(&indexer.inputs);
    return code;
}

const struct cli_command cmd_index = {
    .name = "index",
    .summary = "make a collection of documents or signatures, or add to it",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct index_values),
    .run = run,
};
