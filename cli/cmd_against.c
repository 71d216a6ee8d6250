/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh against: which of these are already there.  New documents or signatures
 * are read into memory, held against a collection or a file of chunks and against
 * each other (against_match.c), and those that matched nothing may be added: what a
 * crawler does with a batch of pages.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "against.h"
#include "amount.h"
#include "signals.h"
#include "source.h"

#define SAME_IDS_SHOWN 3
#define USUAL_RECALL 0.95 /* of psm, where none is given */

enum { OUTPUT_JSONL, OUTPUT_TSV };
static const char *const output_names[] = {"jsonl", "tsv", NULL};
static const char *const method_names[] = {"auto", "scan", "tables", "psm", NULL};

_Static_assert(NIGH_FINDER_SCAN == 1 && NIGH_FINDER_TABLES == 2 && NIGH_FINDER_PSM == 3,
               "the names above are in the order of the library's numbers");

#define PLACE(field) offsetof(struct against_values, field)

static const struct cli_option options[] = {
    CLI_NUMBER('r', "radius", PLACE(radius), "BITS", 0, NIGH_MAX_WIDTH_BITS, NULL,
               "what differs in at most BITS bits is the same (default 3 in 64 bits of simhash, 36 in 256 of minhash, "
               "and in proportion; of others it must be given)"),
    CLI_FLAG(0, "first", PLACE(first), "one match for each is enough: the one that was added first"),
    CLI_FLAG(0, "add", PLACE(add), "add those that matched nothing, all of them at once"),
    CLI_TEXT(0, "new", PLACE(new_path), "FILE",
             "write the ids of those that matched nothing to FILE, one a line; with --add of those that were added"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "jsonl", "the form of the matches"),
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", method_names, "auto",
               "how to look; auto is the fastest that 'nigh plan' predicts, and misses nothing unless --recall "
               "allows it"),
    CLI_TEXT(0, "recall", PLACE(recall), "X",
             "finding so much of what is there is enough, such as 0.95; below 1 psm may be used (default 1; 0.95 with "
             "--method psm)"),
    CLI_TEXT(0, "memory", PLACE(memory), "BYTES", "for what is looked up, such as 500M or 2G; else as it comes"),
    CLI_NUMBER(0, "blocks", PLACE(blocks), "Z", 2, 64, NULL, "of tables: blocks the bits are cut into; with --leading"),
    CLI_NUMBER(0, "leading", PLACE(leading), "X", 1, 63, NULL,
               "of tables: blocks that must be equal; exact up to a radius of Z - X"),
    CLI_FLAG(0, "approximate", PLACE(approximate), "of tables: allow a radius beyond that, and miss some"),
    CLI_NUMBER(0, "prefix", PLACE(prefix), "P", 1, 32, NULL, "of psm: bits that are looked up"),
    CLI_NUMBER(0, "probes", PLACE(probes), "K", 1, 4096, NULL, "of psm: combinations of weak bits to try"),
    CLI_NUMBER(0, "rotations", PLACE(rotations), "N", 1, 3, NULL, "of psm: tables, each sorted by other bits first"),
    CLI_NUMBER(0, "snippet", PLACE(snippet), "BYTES", 0, 65536, "200",
               "with --add: keep so much of the beginning of a document, to show it in answers"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_input_formats, "auto", "the format of the inputs"),
    CLI_SIGNING_OPTIONS(PLACE(signing)),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION INPUT...", "[OPTION]... FILE.chunks INPUT...", NULL};

static const char *const description[] = {
    "Says which of the inputs are already in the collection, nearly or exactly. INPUT is documents or signatures in "
    "any format that 'nigh index' reads, or '-' for standard input. Documents are signed as those of the collection "
    "were.",
    "The new ones are taken one after the other, and each is held against the collection and against the new ones "
    "before it that matched nothing themselves; so of two copies in one input the second is told. The answer is the "
    "same as of as many commands with --add, one for each document. With --add those that matched nothing are added "
    "in one commit, all of them or, after an error, none; but for a document whose id is there already with another "
    "text: it is told, and neither added nor listed by --new.",
    "COLLECTION may also be a file of chunks: 64-bit signatures sorted on the disk, which are read once for all the "
    "inputs and never loaded; a file that ends in .chunks is made by --add, where there is none or an empty one. It "
    "holds no ids, so that matches go by "
    "number, and no scheme: documents are signed by --scheme, simhash where it is not given, the same every time.",
    "The exit code is 0 where something matched, 1 where all are new.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "jsonl: an object for each match, {\"id1\", \"id2\", \"distance\"}: the new one, the one it matches, and the bits "
    "in which they differ; \"input\":true where that is an earlier one of the input. In the order of the input, the "
    "nearest first, matches of the collection before those of the input.",
    "tsv: the same with tabs between; the last column is collection or input.",
    "Without ids, old and new ones go by their numbers from 0. Of more than 1,000 new ones that are equal, and repeat "
    "an earlier one of the input, one match of each is told.",
    NULL,
};

static const char *const method_paragraphs[] = {
    "scan: compares with every document. Any radius, and the slowest.",
    "tables: permuted tables. Exact up to a radius of Z - X: of Z blocks X stay equal. Four tables of 16 bits find "
    "radius 3 in 64 bits.",
    "psm: probabilistic matching. A fifth of the memory; finds most, not all. It needs to know how sure the bits of a "
    "new document are, so documents of simhash, topsig or a model, not signatures.",
    NULL,
};

static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section method_section = {"METHODS", method_paragraphs};
static const struct cli_section *const details[] = {&output_section, &method_section, NULL};

static const struct cli_example examples[] = {
    {"nigh against news.nigh today.jsonl", "which of today's articles are there already"},
    {"nigh against --add --first news.nigh today.jsonl > seen.jsonl", "and add the others"},
    {"nigh against --new fresh.txt news.nigh today.jsonl > seen.jsonl", "the ids of the others, without adding them"},
    {"nigh against --radius 5 --output tsv prints.nigh more.npy", "signatures of your own, within 5 bits"},
    {"nigh against --add --method psm crawl.chunks batch-17.warc.gz", "a crawler's batch against a file on disk"},
    {NULL, NULL},
};

/* ------------------------------------------------------------------ radius -- */

static int choose_radius(struct against *against, uint32_t width_bits) {
    const struct cli_number *radius = &against->values->radius;
    if (radius->given && radius->value > width_bits)
        return cli_usage(against->job->command, "--radius %llu is more than the %u bits there are",
                         (unsigned long long)radius->value, width_bits);
    against->radius = (uint32_t)radius->value;
    if (radius->given) return CLI_DONE;
    const bool learned = against->has_scheme && against->scheme == NIGH_SCHEME_LEARNED;
    if (!against->has_scheme || learned || against->scheme == NIGH_SCHEME_TOPSIG)
        return cli_usage(against->job->command, "'%s' holds %s; say with --radius how many bits may differ",
                         against->path,
                         learned               ? "learned signatures"
                         : against->has_scheme ? "topsig signatures"
                                               : "signatures of your own");
    against->radius = nigh_default_radius(against->scheme, width_bits);
    return CLI_DONE;
}

/* ----------------------------------------------------------------- opening -- */

/* What a collection says itself. */
static int check_signing(const struct against *against) {
    const struct cli_signing *signing = &against->values->signing;
    struct cli_job *job = against->job;
    if (signing->bits.given && signing->bits.value != against->info.width_bits) {
        cli_error(job, "'%s' holds signatures of %u bits, not %llu", against->path, against->info.width_bits,
                  (unsigned long long)signing->bits.value);
        return CLI_ERROR;
    }
    if (!cli_scheme_fits(job, signing->scheme, signing->model, against->path, against->collection)) return CLI_ERROR;
    if (signing->weights != 0 || signing->stemming != 0 || signing->stop_words != 0 || signing->split != 0 ||
        signing->seed.given || signing->density.given || signing->min_terms.given || signing->max_terms.given ||
        signing->features != NULL || signing->language != NULL || signing->vocabulary != NULL)
        return cli_usage(job->command, "'%s' says itself how documents are signed; options for that go with chunks",
                         against->path);
    return CLI_DONE;
}

static int open_collection(struct against *against) {
    struct cli_job *job = against->job;
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    if (cli_collection_open(job, against->path, NULL, &against->collection, &against->info) != NIGH_OK)
        return cli_fail(job);
    nigh_status status = nigh_signer_options_parse(nigh_collection_scheme(against->collection), &held, &job->error);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return cli_fail(job);
    against->has_scheme = status == NIGH_OK;
    against->scheme = held.scheme;
    against->old_count = against->info.documents;
    int code = check_signing(against);
    return code == CLI_DONE ? choose_radius(against, against->info.width_bits) : code;
}

static bool is_named_chunks(const char *path) {
    size_t length = strlen(path);
    return length > 7 && strcmp(path + length - 7, ".chunks") == 0;
}

static bool is_chunks(const struct against *against) {
    struct stat status;
    if (stat(against->path, &status) == 0) return !S_ISDIR(status.st_mode);
    return errno == ENOENT && is_named_chunks(against->path);
}

/* The library takes an empty file, or one of zeros, for one of chunks whose making was cut short; so it may be, by its
 * name, but else it is somebody's. */
static int check_chunks(const struct against *against) {
    struct cli_job *job = against->job;
    nigh_chunks_options chunks_options;
    nigh_chunks_options_init(&chunks_options);
    nigh_chunks *chunks = NULL;
    if (is_named_chunks(against->path)) return CLI_DONE;
    nigh_status status = nigh_chunks_open(job->context, against->path, &chunks_options, &chunks, &job->error);
    nigh_chunks_close(chunks);
    if (status == NIGH_OK) return CLI_DONE;
    (void)cli_fail(job);
    if (status == NIGH_EFORMAT) cli_error(job, "--add starts a file of chunks only by a name that ends in .chunks");
    return CLI_ERROR;
}

static int open_chunks(struct against *against) {
    struct cli_job *job = against->job;
    const struct cli_signing *signing = &against->values->signing;
    nigh_chunks_options chunks_options;
    nigh_chunks_options_init(&chunks_options);
    nigh_chunks_info info = {.size = sizeof info};
    if (against->values->memory != NULL || against->values->approximate || against->values->rotations.given)
        return cli_usage(job->command, "--memory, --approximate and --rotations are for a collection, not for chunks");
    if (signing->bits.given && signing->bits.value != 64)
        return cli_usage(job->command, "chunks hold signatures of 64 bits, not %llu",
                         (unsigned long long)signing->bits.value);
    if (against->values->add && check_chunks(against) != CLI_DONE) return CLI_ERROR;
    chunks_options.writable = against->values->add;
    if (nigh_chunks_open(job->context, against->path, &chunks_options, &against->chunks, &job->error) != NIGH_OK)
        return cli_fail(job);
    nigh_chunks_describe(against->chunks, &info);
    against->old_count = info.fingerprints;
    against->info.width_bits = 64;
    against->has_scheme = true;
    against->scheme = signing->scheme == 0 ? NIGH_SCHEME_SIMHASH : (nigh_scheme_kind)(signing->scheme - 1);
    return choose_radius(against, 64);
}

/* ------------------------------------------------------------------- reading -- */

static nigh_status make_signer(struct against *against) {
    struct cli_job *job = against->job;
    const struct against_values *values = against->values;
    nigh_signer_options signer_options;
    nigh_signer_options_init(&signer_options);
    nigh_status status = NIGH_OK;
    if (against->chunks != NULL) {
        struct cli_signing signing = values->signing;
        signing.scheme = (int)against->scheme + 1;
        signing.bits = (struct cli_number){.value = 64, .given = true};
        if (cli_signer_options(job, &signing, NULL, NULL, &signer_options) != CLI_DONE) return NIGH_EINVAL;
        status = cli_model_get(job, signing.model, NULL, &signer_options, &against->model);
        if (status == NIGH_OK)
            status = cli_vocabulary_get(job, &against->inputs, &values->reading, cli_text_format(values->format),
                                        &signing, &signer_options, &against->vocabulary);
    } else {
        status = nigh_signer_options_parse(nigh_collection_scheme(against->collection), &signer_options, &job->error);
        if (status == NIGH_ENOTFOUND)
            cli_set_error(job, status, against->path,
                          "holds signatures that nigh did not make from text; give signatures");
        /* A scheme says nothing of the width. */
        signer_options.width_bits = against->info.width_bits;
        if (status == NIGH_OK && nigh_signer_needs_vocabulary(&signer_options))
            status = nigh_collection_vocabulary(against->collection, &against->vocabulary, &job->error);
        if (status == NIGH_OK) status = cli_model_get(job, NULL, against->collection, &signer_options, &against->model);
    }
    signer_options.vocabulary = against->vocabulary;
    if (status == NIGH_OK) status = nigh_signer_new(job->context, &signer_options, &against->signer, &job->error);
    return status;
}

/* Opens the writer, and the collection again: what others added before the writer locked it belongs to it. */
static nigh_status open_writer(struct against *against) {
    struct cli_job *job = against->job;
    nigh_writer_options writer_options;
    nigh_writer_options_init(&writer_options);
    if (!against->values->add || against->chunks != NULL) return NIGH_OK;
    writer_options.width_bits = against->info.width_bits;
    writer_options.scheme = against->signer == NULL ? NULL : nigh_signer_scheme(against->signer);
    writer_options.vocabulary = nigh_vocabulary_attachment(against->vocabulary);
    writer_options.model = nigh_model_attachment(against->model);
    writer_options.progress = &job->progress.report;
    nigh_status status = nigh_writer_open(job->context, against->path, &writer_options, &against->writer, &job->error);
    if (status != NIGH_OK) return status;
    nigh_collection_close(against->collection);
    against->collection = NULL;
    status = cli_collection_open(job, against->path, NULL, &against->collection, &against->info);
    against->old_count = against->info.documents;
    return status;
}

/* Whether the bits of a document have weights that tell them apart. */
static bool has_weights(const struct against *against, bool documents) {
    return documents && against->has_scheme && against->scheme != NIGH_SCHEME_MINHASH;
}

static int choose_recall(struct against *against, bool documents) {
    const struct against_values *values = against->values;
    bool psm = values->method == NIGH_FINDER_PSM;
    if (psm && !has_weights(against, documents))
        return cli_usage(against->job->command, "--method psm needs to know how sure each bit is, which %s cannot tell",
                         documents ? "minhash" : "signatures");
    if (!has_weights(against, documents)) against->recall = 1;
    if (psm && values->recall == NULL) against->recall = USUAL_RECALL;
    against->incoming.keep_weights =
        psm || (values->method == NIGH_FINDER_AUTO && against->recall < 1) ||
        (documents && values->add && against->collection != NULL && against->info.has_weights);
    return CLI_DONE;
}

static int read_incoming(struct against *against) {
    struct cli_job *job = against->job;
    const struct against_values *values = against->values;
    bool ok = true;
    bool documents = values->format > NIGH_FORMAT_TOPSIG;
    /* What is held by a collection of the user's own signatures can only be signatures. */
    if (against->has_scheme || documents)
        documents = cli_inputs_are_documents(job, &against->inputs, values->format, &ok);
    if (!ok) return CLI_ERROR;
    int code = choose_recall(against, documents);
    if (code != CLI_DONE) return code;
    job->error.status = NIGH_OK;
    nigh_status status = documents ? make_signer(against) : NIGH_OK;
    if (status != NIGH_OK && job->error.status == NIGH_OK) return CLI_ERROR; /* said already */
    if (status == NIGH_OK && !documents) status = cli_reading_fits_signatures(job, &values->reading);
    if (status == NIGH_OK) status = open_writer(against);
    const bool reading = status == NIGH_OK;
    against->incoming.width_bits = against->info.width_bits;
    if (reading)
        status = documents ? cli_incoming_sign(job, &against->inputs, &values->reading, values->format,
                                               values->add ? (uint32_t)values->snippet.value : 0, against->signer,
                                               &against->incoming)
                           : cli_incoming_read(job, &against->inputs, values->format, &against->incoming);
    if (status == NIGH_OK) return CLI_DONE;
    code = cli_fail(job);
    if (status == NIGH_EMISMATCH && !documents && reading)
        cli_error(job, "'%s' holds signatures of %u bits", against->path, against->info.width_bits);
    return code;
}

/* ------------------------------------------------------------------ printing -- */

static nigh_status old_name(const struct against *against, const struct against_match *match, char *id, char number[24],
                            struct cli_name *out) {
    if (match->input) {
        *out = cli_newcomer_name(&against->incoming, (size_t)match->number, number);
        return NIGH_OK;
    }
    *out = (struct cli_name){.text = number};
    out->length = (size_t)snprintf(number, 24, "%llu", (unsigned long long)match->number);
    if (against->collection == NULL || !against->info.has_ids) return NIGH_OK;
    out->text = id;
    return nigh_collection_id(against->collection, match->number, id, NIGH_MAX_ID_LENGTH + 1, &out->length,
                              &against->job->error);
}

static void print_match(const struct against *against, struct cli_name newcomer, struct cli_name old,
                        const struct against_match *match) {
    struct cli_sink *out = against->job->out;
    if (against->values->output == OUTPUT_TSV) {
        cli_sink_bytes(out, newcomer.text, newcomer.length);
        cli_sink_text(out, "\t");
        cli_sink_bytes(out, old.text, old.length);
        cli_sink_format(out, "\t%u\t%s\n", match->distance, match->input ? "input" : "collection");
        return;
    }
    cli_sink_text(out, "{\"id1\":");
    cli_sink_json(out, newcomer.text, newcomer.length);
    cli_sink_text(out, ",\"id2\":");
    cli_sink_json(out, old.text, old.length);
    cli_sink_format(out, ",\"distance\":%u%s}\n", match->distance, match->input ? ",\"input\":true" : "");
}

static nigh_status print_list(const struct against *against, const struct against_matches *matches, size_t newcomer,
                              size_t *at, char *id) {
    char new_number[24];
    char old_number[24];
    struct cli_name name = cli_newcomer_name(&against->incoming, newcomer, new_number);
    for (; *at < matches->count && matches->owners[*at] == newcomer; ++*at) {
        struct cli_name old;
        nigh_status status = old_name(against, &matches->items[*at], id, old_number, &old);
        if (status != NIGH_OK) return status;
        if (against->job->out->error != 0) return NIGH_EIO; /* nobody reads on */
        print_match(against, name, old, &matches->items[*at]);
    }
    return NIGH_OK;
}

static nigh_status print_matches(const struct against *against) {
    nigh_status status = NIGH_OK;
    size_t old_at = 0;
    size_t again_at = 0;
    char *id = malloc(NIGH_MAX_ID_LENGTH + 1);
    if (id == NULL) {
        cli_set_error(against->job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    for (size_t i = 0; i < against->incoming.count && status == NIGH_OK; i++) {
        status = print_list(against, &against->old, i, &old_at, id);
        if (status == NIGH_OK) status = print_list(against, &against->again, i, &again_at, id);
        if (status == NIGH_OK && i % 1024 == 0 && cli_interrupted() != 0) status = NIGH_ECANCELLED;
    }
    free(id);
    if (!cli_sink_flush(against->job->out) && status == NIGH_OK) status = NIGH_EIO;
    return status;
}

/* ----------------------------------------------------------------------- new -- */

static void put_new(struct against *against) {
    for (size_t i = 0; i < against->incoming.count; i++) {
        char number[24];
        struct cli_name name = cli_newcomer_name(&against->incoming, i, number);
        if (against->matched[i] || (against->refused != NULL && against->refused[i])) continue;
        cli_sink_bytes(against->fresh, name.text, name.length);
        cli_sink_text(against->fresh, "\n");
    }
}

static int fail_new(struct against *against) {
    cli_set_system_error(against->job, against->fresh->error, against->values->new_path, "write");
    return cli_fail(against->job);
}

/* --new, but for its name: before anything is added, as what cannot be written here nobody could find out later. */
static int write_new(struct against *against) {
    const char *path = against->values->new_path;
    if (path == NULL) return CLI_DONE;
    against->fresh = malloc(sizeof *against->fresh);
    if (against->fresh == NULL) {
        cli_error(against->job, "out of memory");
        return CLI_ERROR;
    }
    if (!cli_sink_open(against->fresh, path)) return fail_new(against);
    put_new(against);
    return cli_sink_sync(against->fresh) ? CLI_DONE : fail_new(against);
}

static int finish_new(struct against *against) {
    if (against->fresh == NULL || cli_sink_finish(against->fresh)) return CLI_DONE;
    return fail_new(against);
}

static void release_new(struct against *against) {
    if (against->fresh != NULL && against->fresh->owned) cli_sink_abandon(against->fresh);
    free(against->fresh);
}

/* -------------------------------------------------------------------- adding -- */

/* An id that is there already with other content: documents are passed over, as by nigh index. */
static int bear_same_id(struct against *against, const nigh_document *document) {
    struct cli_job *job = against->job;
    int length = (int)(document->id_length <= 200 ? document->id_length : cli_utf8_whole(document->id, 200));
    against->same_ids++;
    if (!against->incoming.documents || against->values->reading.strict) {
        cli_error(job, "the id '%.*s' is there already; nothing was added", length, document->id);
        return CLI_ERROR;
    }
    if (against->same_ids <= SAME_IDS_SHOWN && !job->common->quiet)
        cli_error(job, "not added: the id '%.*s' is there already%s", length, document->id,
                  against->same_ids == SAME_IDS_SHOWN ? "; more such are counted, not shown" : "");
    return CLI_DONE;
}

/* All but the commit. */
static int offer_to_collection(struct against *against) {
    struct cli_job *job = against->job;
    bool weights = against->info.has_weights && against->info.documents > 0;
    against->refused = calloc(against->incoming.count + 1, sizeof *against->refused);
    if (against->refused == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    for (size_t i = 0; i < against->incoming.count; i++) {
        if (against->matched[i]) continue;
        nigh_document document = cli_newcomer_document(&against->incoming, i);
        if (!weights) document.weights = NULL;
        nigh_status status = nigh_writer_add(against->writer, &document, &job->error);
        int code = status == NIGH_OK || status == NIGH_EEXISTS ? CLI_DONE : cli_fail(job);
        if (status == NIGH_EEXISTS) code = bear_same_id(against, &document);
        if (code != CLI_DONE) return code;
        against->added += status == NIGH_OK;
        against->refused[i] = status == NIGH_EEXISTS;
        if (cli_interrupted() != 0) return cli_fail(job);
    }
    return CLI_DONE;
}

static int add_to_collection(struct against *against) {
    struct cli_job *job = against->job;
    int code = offer_to_collection(against);
    if (code == CLI_DONE) code = write_new(against);
    if (code != CLI_DONE || against->added == 0) return code;
    return nigh_writer_commit(against->writer, NULL, &job->error) == NIGH_OK ? CLI_DONE : cli_fail(job);
}

static int add_to_chunks(struct against *against) {
    struct cli_job *job = against->job;
    int code = write_new(against);
    if (code != CLI_DONE) return code;
    size_t count = against->incoming.count;
    uint8_t *rows = malloc(count * 8 + 1);
    if (rows == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    size_t added = 0;
    for (size_t i = 0; i < count; i++)
        if (!against->matched[i]) memcpy(rows + added++ * 8, against->incoming.signatures + i * 8, 8);
    nigh_status status = NIGH_OK;
    if (added > 0) status = nigh_chunks_append(against->chunks, rows, added, &job->progress.report, &job->error);
    free(rows);
    if (status != NIGH_OK) return cli_fail(job);
    against->added = added;
    return CLI_DONE;
}

static int add_new(struct against *against) {
    if (!against->values->add) return write_new(against);
    if (cli_interrupted() != 0) return cli_fail(against->job);
    cli_progress_begin(&against->job->progress, "adding", "documents");
    int code = against->chunks != NULL ? add_to_chunks(against) : add_to_collection(against);
    cli_progress_clear(&against->job->progress);
    return code;
}

/* ------------------------------------------------------------------ telling -- */

static void count_all(struct against *against) {
    struct cli_stats *stats = &against->job->stats;
    uint64_t count = against->incoming.count;
    stats->complete = true;
    stats->documents = against->old_count;
    stats->queries = count;
    cli_stats_rate(stats, count);
    cli_stats_count(stats, "matches", against->old.count + against->again.count);
    cli_stats_count(stats, "there", against->there);
    cli_stats_count(stats, "repeated", against->repeated);
    cli_stats_count(stats, "new", count - against->there - against->repeated);
    cli_stats_count(stats, "added", against->added);
    cli_stats_count(stats, "radius", against->radius);
    cli_stats_count(stats, "distances", against->counts.distances);
    cli_stats_count(stats, "probes", against->counts.probes);
    cli_stats_count(stats, "truncated", against->truncated);
    cli_stats_count(stats, "exact", against->counts.exact != 0);
    cli_stats_count(stats, "finder_bytes", against->finder.bytes);
    if (against->incoming.documents) cli_stats_signing(stats, &against->incoming.info);
}

/* "exact (tables, 5 choose 2)" */
static void tell_method(const struct against *against, char *out, size_t capacity) {
    const nigh_finder_info *finder = &against->finder;
    const char *exact = against->counts.exact ? "exact" : "approximate";
    char setting[128] = "";
    if (finder->method == NIGH_FINDER_TABLES)
        (void)snprintf(setting, sizeof setting, ", %u choose %u", finder->blocks, finder->leading);
    if (finder->method == NIGH_FINDER_PSM)
        (void)snprintf(setting, sizeof setting, ", %u probes of %u bits in %s", finder->probes, finder->prefix_bits,
                       cli_counted(finder->rotations, "table", "tables").text);
    if (finder->method == NIGH_FINDER_AUTO)
        (void)snprintf(out, capacity, "%s", exact);
    else
        (void)snprintf(out, capacity, "%s (%s%s)", exact, nigh_finder_method_name(finder->method), setting);
}

static void summarise(struct against *against) {
    struct cli_job *job = against->job;
    uint64_t fresh = against->incoming.count - against->there - against->repeated;
    char method[200];
    char repeated[96] = "";
    char added[128] = "";
    count_all(against);
    tell_method(against, method, sizeof method);
    if (against->repeated > 0)
        (void)snprintf(repeated, sizeof repeated, ", %s earlier one of the input",
                       against->repeated == 1 ? "1 repeats an" : cli_counted(against->repeated, "", "repeat an").text);
    if (against->values->add) (void)snprintf(added, sizeof added, ", %s added", cli_digits(against->added).text);
    cli_note(job, "%s against %s of '%s' within %u bits: %s there%s, %s new%s; %s; %.2f s (%s/s)%s",
             against->incoming.documents ? cli_counted(against->incoming.count, "document", "documents").text
                                         : cli_counted(against->incoming.count, "signature", "signatures").text,
             cli_digits(against->old_count).text, against->path, against->radius, cli_digits(against->there).text,
             repeated, cli_digits(fresh).text, added, method, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text,
             against->incoming.documents ? cli_skipped_by(&against->incoming.info, against->model != NULL).text : "");
    if (against->truncated > 0)
        cli_note(job, "%s more rows than are compared for one; some matches may be missing",
                 cli_counted(against->truncated, "look-up found", "look-ups found").text);
}

/* ---------------------------------------------------------------------- run -- */

static bool places_fit(const struct against *against) {
    struct cli_job *job = against->job;
    const struct cli_place places[] = {{"--new", against->values->new_path}, {"COLLECTION", against->path}};
    const struct cli_place files[] = {{"--vocabulary", against->values->signing.vocabulary},
                                      {"--scheme", against->values->signing.model}};
    return cli_places_differ(job, places, 2) && cli_places_spare_inputs(job, places, 2, 1) &&
           cli_places_spare_files(job, places, 2, files, 2) && cli_places_outside(job, places, 1, 0) &&
           cli_places_writable(job, places, 1);
}

static int check_use(struct against *against) {
    struct cli_job *job = against->job;
    const struct against_values *values = against->values;
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    if (job->operand_count == 1) return cli_usage(job->command, "no INPUT given; '-' is standard input");
    against->path = job->operands[0];
    if (values->blocks.given != values->leading.given)
        return cli_usage(job->command, "--blocks and --leading go together");
    if (values->blocks.given && values->leading.value >= values->blocks.value)
        return cli_usage(job->command, "--leading must be below --blocks");
    bool for_tables = values->blocks.given || values->approximate;
    bool for_psm = values->prefix.given || values->probes.given || values->rotations.given;
    if (for_tables && values->method != NIGH_FINDER_TABLES)
        return cli_usage(job->command, "--blocks, --leading and --approximate go with --method tables");
    if (for_psm && values->method != NIGH_FINDER_PSM)
        return cli_usage(job->command, "--prefix, --probes and --rotations go with --method psm");
    if (values->recall != NULL && values->method != NIGH_FINDER_AUTO && values->method != NIGH_FINDER_PSM)
        return cli_usage(job->command, "--recall goes with --method auto or psm");
    if (values->new_path != NULL && cli_sink_is_standard_output(values->new_path))
        return cli_usage(job->command, "--new takes a file; the matches go to standard output");
    if (values->signing.bits.value % 8 != 0)
        return cli_usage(job->command, "--bits takes a multiple of 8, not %llu",
                         (unsigned long long)values->signing.bits.value);
    against->recall = 1;
    if (!cli_amount_share(job, "--recall", values->recall, &against->recall) ||
        !cli_amount_bytes(job, "--memory", values->memory, &against->memory_bytes))
        return CLI_ERROR;
    if (!cli_reading_fits(job, &values->reading) || !cli_source_paths_fit(job, 1)) return CLI_ERROR;
    return places_fit(against) ? CLI_DONE : CLI_ERROR;
}

/* Of tables that would miss some, what else there is. */
static int fail_matching(struct against *against) {
    const struct against_values *values = against->values;
    int code = cli_fail(against->job);
    if (against->job->error.status != NIGH_EINVAL || !values->blocks.given ||
        values->blocks.value - values->leading.value >= against->radius)
        return code;
    cli_error(against->job, "give more --blocks, a smaller --radius, or %s",
              against->chunks == NULL ? "--approximate, which may miss some" : "--method scan");
    return code;
}

static int match_and_add(struct against *against) {
    struct cli_job *job = against->job;
    if (!cli_inputs_open(job, 1, &against->inputs)) return cli_fail(job);
    double started = cli_seconds();
    int code = read_incoming(against);
    if (code != CLI_DONE) return code;
    against->counts.exact = 1;
    if (cli_against_match(against) != NIGH_OK) return fail_matching(against);
    if (against->finder.method != NIGH_FINDER_AUTO)
        against->counts.exact = against->finder.exact_radius >= against->radius && against->truncated == 0;
    if (print_matches(against) != NIGH_OK) return cli_fail(job);
    code = add_new(against);
    if (code == CLI_DONE) code = finish_new(against);
    job->stats.work_seconds = cli_seconds() - started;
    if (code != CLI_DONE) return code;
    summarise(against);
    return against->there + against->repeated > 0 ? CLI_DONE : CLI_NOTHING;
}

static int run(struct cli_job *job) {
    struct against against = {.job = job, .values = job->values, .finder = {.size = sizeof(nigh_finder_info)}};
    int code = check_use(&against);
    if (code != CLI_DONE || against.path == NULL) return code;
    code = is_chunks(&against) ? open_chunks(&against) : open_collection(&against);
    if (code == CLI_DONE) code = match_and_add(&against);
    cli_inputs_release(&against.inputs);
    nigh_writer_close(against.writer);
    nigh_signer_free(against.signer);
    nigh_vocabulary_free(against.vocabulary);
    nigh_model_free(against.model);
    release_new(&against);
    cli_incoming_release(&against.incoming);
    cli_against_release(&against);
    nigh_chunks_close(against.chunks);
    nigh_collection_close(against.collection);
    return code;
}

const struct cli_command cmd_against = {
    .name = "against",
    .summary = "say which of these are already there, and add the others",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct against_values),
    .run = run,
};
