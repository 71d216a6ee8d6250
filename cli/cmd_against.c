/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh against: which documents a collection has already. The library's nigh_against does the
 * work; this file has the options and the order of the steps, and against_output.c shows the
 * result.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "against_output.h"
#include "amount.h"
#include "signals.h"
#include "source.h"

#define SAME_IDS_SHOWN 3

static const char *const output_names[] = {"jsonl", "tsv", NULL};
static const char *const model_names[] = {"gaussian", "linear", NULL};
static const char *const sync_names[] = {"group", "each", "never", NULL};
static const char *const method_names[] = {"auto", "scan", "tables", "psm", NULL};

_Static_assert(NIGH_FINDER_SCAN == 1 && NIGH_FINDER_TABLES == 2 && NIGH_FINDER_PSM == 3,
               "the names above are in the order of the library's numbers");
_Static_assert(NIGH_SYNC_GROUP == 0 && NIGH_SYNC_EACH == 1 && NIGH_SYNC_NEVER == 2, "as these are");
_Static_assert(NIGH_WEAK_GAUSSIAN == 0 && NIGH_WEAK_LINEAR == 1, "and these too");

#define PLACE(field) offsetof(struct against_values, field)

static const struct cli_option options[] = {
    CLI_FLAG(0, "add", PLACE(add),
             "add the inputs that matched nothing, all at once; makes the collection if there is none"),
    CLI_FLAG(0, "stream", PLACE(stream),
             "with --add: read lines as they come, and answer each on standard output; a new document is on the disk "
             "before its answer"),
    CLI_CHOICE(0, "sync", PLACE(sync), "WHEN", sync_names, "group",
               "with --stream: sync once for a group of lines, for each new document, or only with a segment"),
    CLI_NUMBER(0, "group", PLACE(group), "N", 1, 1000000, "1024", "with --stream: answer at most N lines together"),
    CLI_NUMBER(0, "delay", PLACE(delay), "MS", 0, 60000, "0",
               "with --stream: let a line wait MS ms for others; 0: only lines that have already come are "
               "answered together"),
    CLI_NUMBER(0, "log-size", PLACE(log_size), "BYTES", 4096, UINT64_C(1) << 40, "64M",
               "with --stream: make a segment of a log this large"),
    CLI_TEXT('o', NULL, PLACE(records), "FILE",
             "write the records that matched nothing to FILE, byte for byte in the form of the input; "
             "compressed if FILE ends in .gz, .zst, .xz or .bz2"),
    CLI_TEXT(0, "new", PLACE(new_path), "FILE",
             "write the ids of documents that matched nothing to FILE, one a line; with --add the ids of those that "
             "were added"),
    CLI_TEXT(0, "threshold", PLACE(threshold), "T",
             "for a collection that --add makes: documents whose sets of features have a Jaccard index of T or more "
             "are near-copies (default 0.8); an existing collection keeps its own"),
    CLI_FLAG(0, "no-verify", PLACE(no_verify),
             "trust the bits, without comparing texts: faster, but some matches are wrong"),
    CLI_FLAG(0, "fail-if-new", PLACE(fail_if_new), "exit with 1 if something is new"),
    CLI_FLAG(0, "fail-if-found", PLACE(fail_if_found), "exit with 1 if something is not new"),
    CLI_TEXT(0, "temporary", PLACE(temporary), "FOLDER", "where temporary files go (default $TMPDIR, else /tmp)"),
    CLI_NUMBER('r', "radius", PLACE(radius), "BITS", 0, NIGH_MAX_WIDTH_BITS, NULL,
               "documents match if they differ in at most BITS bits (default 3 in 64 bits of simhash, 36 in 256 of "
               "minhash, and in proportion; must be given for other signatures)"),
    CLI_CHOICE(0, "find", PLACE(find), "WHAT", cli_find_names, "all",
               "for each document: all: every match; first: the one that was added first; any: the first one found, "
               "and then stop"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "jsonl", "the form of the matches"),
    CLI_CHOICE(
        0, "method", PLACE(method), "METHOD", method_names, "auto",
        "how to search; auto is the fastest that 'nigh plan' predicts, and misses nothing unless --recall allows it"),
    CLI_TEXT(0, "recall", PLACE(recall), "X",
             "this share of the matches is enough, such as 0.95; below 1 psm may be used (default 1; 0.95 with "
             "--method psm)"),
    CLI_TEXT(0, "memory", PLACE(memory), "BYTES",
             "memory for the lookup structure and the matches, such as 500M or 2G; what does not fit goes to temporary "
             "files. By default the lookup structure takes what it needs, and matches 256M; the signatures and ids of "
             "the inputs, and the matches of one document, come on top"),
    CLI_NUMBER(0, "max-matches", PLACE(max_matches), "N", 1, NIGH_ALL_64, NULL,
               "report the N nearest matches of each document in the collection, and count the others (default all)"),
    CLI_NUMBER(0, "blocks", PLACE(blocks), "Z", 2, 64, NULL,
               "with --method tables: blocks the bits are cut into; with --leading"),
    CLI_NUMBER(0, "leading", PLACE(leading), "X", 1, 63, NULL,
               "with --method tables: blocks that must be equal; exact up to a radius of Z - X"),
    CLI_FLAG(0, "approximate", PLACE(approximate), "with --method tables: allow a radius beyond that, and miss some"),
    CLI_NUMBER(0, "prefix", PLACE(prefix), "P", 1, 32, NULL, "with --method psm: bits that are looked up"),
    CLI_NUMBER(0, "probes", PLACE(probes), "K", 1, 4096, NULL, "with --method psm: combinations of weak bits to try"),
    CLI_NUMBER(0, "rotations", PLACE(rotations), "N", 1, 3, NULL,
               "with --method psm: tables, each sorted by other bits first"),
    CLI_CHOICE(0, "model", PLACE(model), "MODEL", model_names, "gaussian",
               "with --method psm: how likely a bit is to differ, by its weight: the tail of a normal distribution, or "
               "linear"),
    CLI_FLAG(0, "without-numbers", PLACE(without_numbers),
             "with --method psm and --find any: load signatures of 64 bits without their numbers, 4 bytes less for "
             "each; the output then does not name what is matched"),
    CLI_NUMBER(0, "snippet", PLACE(snippet), "BYTES", 0, 65536, "200",
               "with --add: keep this much of the beginning of a document, to show it in answers"),
    CLI_TEXT(0, "keep-keys", PLACE(keep_keys), "KEY,KEY,...",
             "for JSON and CSV, with --add: a new collection keeps the values under these keys, dotted paths or "
             "columns, for 'nigh search --where'; an existing collection has its own keys"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_input_formats, "auto", "the format of the inputs"),
    CLI_SIGNING_OPTIONS(PLACE(signing)),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION INPUT...", "[OPTION]... FILE.chunks INPUT...",
                                    "--add --stream [OPTION]... COLLECTION [INPUT]", NULL};

static const char *const description[] = {
    "Says which of the inputs are already in the collection, nearly or exactly, and with --add adds the others. INPUT "
    "is documents or signatures in any format that 'nigh index' reads, or '-' for standard input. Documents are signed "
    "like those of the collection.",
    "The inputs are taken one after the other. Each is compared with the collection, and with the inputs before it "
    "that matched nothing; so of two copies in one input the second is reported. With --add those that matched nothing "
    "are added in one commit, all of them or, after an error, none.",
    "A collection that --add makes is one for near-copies: it keeps the texts, packed, and every match is verified by "
    "them, as 'nigh dedup' does. Done day after day, this keeps exactly the documents that one 'nigh dedup --keep "
    "first' over all days keeps. Other collections have only bits, and their matches are not verified.",
    "-o and --new are complete on the disk before the commit is made. If the command is killed in between, run it "
    "again: the lists then begin with what was added and not reported.",
    "COLLECTION may also be a file of chunks: 64-bit signatures sorted on the disk, which are read once for all inputs "
    "and never loaded. If the file does not exist or is empty, and its name ends in .chunks, --add makes it. It holds "
    "no ids, so matches go by number. It records how its first documents were signed, by --scheme and its options "
    "(default simhash), with the vocabulary or the model, and later documents are signed in the same way; other "
    "options are refused. A file made by an older nigh does not record this, and gets a warning.",
    "--stream is for programs that ask about one document after the other, through a pipe: a line of JSON in (for a "
    "collection of signatures a line of hex), and a line of JSON out. A document that is answered as new is in a log "
    "on the disk; the log becomes a segment when it is large, and at the end. After a kill at any moment, the next "
    "--stream takes up the log; until then other commands cannot add to the collection.",
    "The exit code is 0 on success, whether something matched or not; --fail-if-new and --fail-if-found are for "
    "scripts.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "jsonl: an object for each match, {\"id1\", \"id2\", \"distance\"}: the new document, the one it matches, and how "
    "many bits differ; \"input\":true if that is an earlier one of the input. For near-copies also \"similarity\", the "
    "Jaccard index, and \"cluster\": the document kept for it, which stays the same from day to day. In the order of "
    "the input, the nearest first, matches of the collection before those of the input; for near-copies one match "
    "each, the one that was added first.",
    "tsv: the same with tabs between: id1, id2, distance, collection or input, and for near-copies similarity.",
    "With --without-numbers, a match of the collection has no \"id2\", and in tsv that field is empty.",
    "With --stream, an object for each line: {\"id\", \"new\":true, \"cluster\"}, or {\"id\", \"new\":false, "
    "\"match\", \"distance\", \"similarity\", \"cluster\"}, for signatures without similarity; \"added_as\" if the "
    "collection has the id with another text; {\"line\", \"error\"} for a line that is not a document. Blank lines get "
    "no answer.",
    "Without ids, old and new documents go by their numbers from 0. If more than 1,000 new documents are equal, and "
    "repeat an earlier one of the input, one match of each is reported. If the id of a new document belongs to another "
    "text, a collection for near-copies adds it as ID~ and 8 digits made from its text, and says so; other collections "
    "report it, and do not add it.",
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
    {"nigh against --add news.nigh today.jsonl -o new.jsonl > seen.jsonl", "every day: what is new, and add it"},
    {"nigh against news.nigh today.jsonl", "which of today's articles it has already"},
    {"nigh against --new fresh.txt news.nigh today.jsonl > seen.jsonl", "the ids of the others, without adding them"},
    {"nigh against --radius 5 --output tsv prints.nigh more.npy", "signatures of your own, within 5 bits"},
    {"crawler | nigh against --add --stream seen.nigh", "answer each page as it comes: new, or which one it copies"},
    {"nigh against --add --method psm crawl.chunks batch-17.warc.gz", "a crawler's batch against a file on disk"},
    {NULL, NULL},
};

/* ----------------------------------------------------------------- opening -- */

int cli_against_check_radius(const struct against *against, uint32_t width_bits, uint32_t found) {
    const bool learned = against->has_scheme && against->scheme == NIGH_SCHEME_LEARNED;
    if (!cli_radius_fits(against->job, &against->values->radius, width_bits)) return CLI_ERROR;
    if (found != NIGH_ALL) return CLI_DONE;
    return cli_usage(against->job->command, "'%s' holds %s; say with --radius how many bits may differ", against->path,
                     learned               ? "learned signatures"
                     : against->has_scheme ? "topsig signatures"
                                           : "signatures of your own");
}

/* What a collection says itself. */
static int check_signing(const struct against *against, const nigh_signer_options *held) {
    const struct cli_signing *signing = &against->values->signing;
    struct cli_job *job = against->job;
    if (signing->bits.given && signing->bits.value != against->held.width_bits) {
        cli_error(job, "'%s' holds signatures of %u bits, not %llu", against->path, against->held.width_bits,
                  (unsigned long long)signing->bits.value);
        return CLI_ERROR;
    }
    if (!cli_scheme_fits(job, signing->scheme, signing->model, against->path, nigh_against_collection(against->work)))
        return CLI_ERROR;
    if (signing->weights != 0 || cli_words_asked(signing) || signing->split != 0 || signing->seed.given ||
        signing->density.given || signing->min_terms.given ||
        (signing->max_terms.given && signing->max_terms.value != held->max_terms) || signing->features != NULL ||
        signing->vocabulary != NULL)
        return cli_usage(job->command, "'%s' decides how documents are signed; options for that go with chunks",
                         against->path);
    return CLI_DONE;
}

/* What a costly scheme must be asked for by. */
static void ask_cost(struct against *against) {
    nigh_signer_options_init(&against->new_signer);
    against->new_signer.width_bits = (uint32_t)against->values->signing.bits.value;
    against->new_signer.max_terms = (uint32_t)against->values->signing.max_terms.value;
    against->options.signer = &against->new_signer;
}

/* Another scheme than minhash is that of a collection which is there; whether it fits is said later. */
static int expect_there(const struct against *against) {
    nigh_collection *collection = NULL;
    const nigh_status status = nigh_collection_open(against->job->context, against->path, NULL, &collection, NULL);
    nigh_collection_close(collection);
    if (status != NIGH_ENOTFOUND) return CLI_DONE;
    return cli_usage(against->job->command,
                     "--add makes a collection for near-copies, of --scheme minhash; 'nigh index' makes others");
}

int cli_against_plan_new(struct against *against) {
    const struct against_values *values = against->values;
    struct cli_job *job = against->job;
    struct cli_signing signing = values->signing;
    if (signing.scheme == 0) signing.scheme = (int)NIGH_SCHEME_MINHASH + 1;
    if (signing.scheme != (int)NIGH_SCHEME_MINHASH + 1) return expect_there(against);
    against->plans_new = true;
    against->threshold = 0.8;
    if (!cli_amount_share(job, "--threshold", values->threshold, &against->threshold)) return CLI_ERROR;
    int code = cli_signer_options(job, &signing, NULL, NULL, &against->new_signer);
    against->new_signer.threshold = against->threshold;
    against->options.signer = &against->new_signer;
    return code;
}

static int refuse_keys(const struct against *against) {
    return cli_usage(against->job->command, "--keep-keys is for documents; signatures have no keys");
}

int cli_against_keep_keys(struct against *against) {
    const struct against_values *values = against->values;
    struct cli_job *job = against->job;
    if (values->keep_keys == NULL) return CLI_DONE;
    if (!values->add) return cli_usage(job->command, "--keep-keys goes with --add");
    if (cli_against_is_chunks(against->path))
        return cli_usage(job->command, "--keep-keys is for a collection; chunks keep no keys");
    if (values->format != NIGH_FORMAT_AUTO && values->format <= NIGH_FORMAT_TOPSIG) return refuse_keys(against);
    return cli_keep_keys(job, values->keep_keys, &against->keep) ? CLI_DONE : cli_fail(job);
}

/* What a collection for near-copies decides itself. */
static int check_copies(const struct against *against) {
    const struct against_values *values = against->values;
    struct cli_job *job = against->job;
    double threshold = against->info.threshold;
    if (!cli_amount_share(job, "--threshold", values->threshold, &threshold)) return CLI_ERROR;
    if (!against->info.copies) {
        if (values->records != NULL || values->threshold != NULL || values->no_verify)
            return cli_usage(job->command,
                             "-o, --threshold and --no-verify are for a collection for near-copies, "
                             "which '%s' is not",
                             against->path);
        return cli_against_check_radius(against, against->info.width_bits, against->info.radius);
    }
    if (values->radius.given || values->method != NIGH_FINDER_AUTO || values->recall != NULL ||
        values->find != NIGH_FIND_ALL || values->max_matches.given)
        return cli_usage(job->command, "near-copies are found by --threshold; --radius, --method, --recall, --find and "
                                       "--max-matches are for other collections");
    if (values->threshold == NULL || fabs(threshold - against->info.threshold) < 1e-9) return CLI_DONE;
    cli_error(job, "'%s' was made for near-copies at %g, not at %g", against->path, against->info.threshold, threshold);
    return CLI_ERROR;
}

static int open_collection(struct against *against) {
    struct cli_job *job = against->job;
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    ask_cost(against);
    int code = against->values->add ? cli_against_plan_new(against) : CLI_DONE;
    if (code != CLI_DONE) return code;
    if (nigh_against_open(job->context, against->path, &against->options, &against->work, &job->error) != NIGH_OK)
        return cli_fail(job);
    const nigh_collection *collection = nigh_against_collection(against->work);
    cli_against_look(against);
    if (collection == NULL) { /* it will be made */
        against->has_scheme = true;
        against->scheme = NIGH_SCHEME_MINHASH;
        return check_copies(against);
    }
    cli_collection_look(job, against->path, collection, &against->held);
    against->has_scheme = nigh_signer_options_parse(nigh_collection_scheme(collection), &held, NULL) == NIGH_OK;
    against->scheme = held.scheme;
    code = check_signing(against, &held);
    return code == CLI_DONE ? check_copies(against) : code;
}

/* ------------------------------------------------------------------- reading -- */

static int fail_taking(struct against *against) {
    struct cli_job *job = against->job;
    if (job->error.reason == NIGH_REASON_NEEDS_WEIGHTS) return cli_usage(job->command, "--method %s", job->error.why);
    if (job->error.reason == NIGH_REASON_NOT_OF_TEXT)
        cli_set_error(job, NIGH_ENOTFOUND, against->path,
                      "holds signatures that nigh did not make from text; give signatures");
    return cli_fail(job);
}

static nigh_status take_copies(struct against *against, const struct cli_reading *by) {
    struct cli_job *job = against->job;
    nigh_text_reader_options reading;
    nigh_stream stream = {0};
    if (!cli_inputs_stream(job, &against->inputs, &stream)) return NIGH_EINVAL;
    cli_reader_options(job, by, cli_text_format(against->values->format), &against->problems, &reading);
    if (stream.read != NULL) reading.stream = &stream;
    return nigh_against_take_paths(against->work, against->inputs.paths, against->inputs.count, &reading, &job->error);
}

static int take_documents(struct against *against) {
    struct cli_job *job = against->job;
    const struct against_values *values = against->values;
    struct cli_reading reading = values->reading;
    reading.keep_keys = against->keep.keys;
    reading.keep_key_count = against->keep.count;
    job->error.status = NIGH_OK;
    nigh_status status = against->chunks ? cli_against_sign_chunks(against) : NIGH_OK;
    if (status != NIGH_OK && job->error.status == NIGH_OK) return CLI_ERROR; /* said already */
    if (status == NIGH_OK && against->info.copies) {
        status = take_copies(against, &reading);
    } else if (status == NIGH_OK) {
        reading.scheme = nigh_against_scheme(against->work);
        status = cli_reader_open(job, &against->inputs, &reading, cli_text_format(values->format), &against->problems,
                                 &against->reader);
        if (status == NIGH_OK)
            status = nigh_against_take_texts(against->work, against->reader, against->signer, &job->error);
    }
    if (status == NIGH_OK && cli_interrupted() != 0) status = NIGH_ECANCELLED;
    cli_inputs_stop(&against->inputs);
    return status == NIGH_OK ? CLI_DONE : fail_taking(against);
}

static int take_input(struct against *against, size_t input) {
    struct cli_job *job = against->job;
    struct cli_source source;
    struct cli_source_options source_options = {.format = against->values->format,
                                                .width_bits = against->info.width_bits,
                                                .peek = against->inputs.peeks[input],
                                                .collection = nigh_against_collection(against->work)};
    nigh_status status = cli_source_open(job, against->inputs.paths[input], &source_options, &source);
    const bool opened = status == NIGH_OK;
    if (opened) status = nigh_against_take_signatures(against->work, source.reader, &job->error);
    if (opened) cli_source_close(&source);
    if (status == NIGH_OK) return CLI_DONE;
    cli_against_look(against);
    int code = fail_taking(against);
    if (status == NIGH_EMISMATCH && (!opened || against->info.incoming > 0))
        cli_error(job, "'%s' holds signatures of %u bits", against->path, against->info.width_bits);
    return code;
}

static int take_signatures(struct against *against) {
    struct cli_job *job = against->job;
    int code = CLI_DONE;
    if (against->values->keep_keys != NULL) return refuse_keys(against);
    if (cli_reading_fits_signatures(job, &against->values->reading) != NIGH_OK) return cli_fail(job);
    cli_progress_begin(&job->progress, "reading", "signatures");
    for (size_t i = 0; i < against->inputs.count && code == CLI_DONE; i++) code = take_input(against, i);
    return code;
}

static int take_inputs(struct against *against) {
    struct cli_job *job = against->job;
    bool ok = true;
    bool documents = against->values->format > NIGH_FORMAT_TOPSIG;
    /* What is held by a collection of the user's own signatures can only be signatures. */
    if (against->has_scheme || documents)
        documents = cli_inputs_are_documents(job, &against->inputs, against->values->format, &ok);
    if (!ok) return CLI_ERROR;
    int code = documents ? take_documents(against) : take_signatures(against);
    cli_progress_clear(&job->progress);
    return code;
}

/* -------------------------------------------------------------------- adding -- */

/* An id that is there already with other content: documents are passed over, as by nigh index, or renamed. */
static int bear_same_id(const struct against *against, const nigh_against_document *document, uint64_t before) {
    struct cli_job *job = against->job;
    const char *more = before + 1 == SAME_IDS_SHOWN ? "; more such are counted, not shown" : "";
    const struct cli_shown id = cli_shown(document->id, document->id_length);
    if (!against->info.texts || against->values->reading.strict) {
        cli_error(job, "the id '%s' already exists; nothing was added", id.text);
        return CLI_ERROR;
    }
    if (before >= SAME_IDS_SHOWN || job->common->quiet) return CLI_DONE;
    if (against->info.copies)
        cli_error(job, "the id '%s' is there with another text; added as '%s~...%.3s'%s", id.text, id.text,
                  document->added_id + document->added_id_length - 3, more);
    else
        cli_error(job, "not added: the id '%s' already exists%s", id.text, more);
    return CLI_DONE;
}

static int bear_same_ids(struct against *against) {
    nigh_against_document document = {.size = sizeof document};
    uint64_t found = 0;
    int code = CLI_DONE;
    cli_against_look(against);
    for (uint64_t i = 0; code == CLI_DONE && found < against->info.ids_taken; i++) {
        (void)nigh_against_look(against->work, i, &document);
        if (document.id_taken) code = bear_same_id(against, &document, found++);
    }
    return code;
}

static int add_new(struct against *against) {
    struct cli_job *job = against->job;
    if (!against->values->add) return CLI_DONE;
    if (cli_interrupted() != 0) return cli_fail(job);
    cli_progress_begin(&job->progress, "adding", "documents");
    int code = nigh_against_add(against->work, &job->error) == NIGH_OK ? bear_same_ids(against) : cli_fail(job);
    cli_progress_clear(&job->progress);
    return code;
}

/* What could not be read is not passed over in silence. */
static int check_loss(const struct against *against) {
    const uint64_t lost = against->info.lost;
    if (lost == 0 || against->values->reading.allow_loss) return CLI_DONE;
    cli_error(against->job,
              "nothing was %s: %s of the input could not be read: too large, cut off or damaged; --allow-loss goes on "
              "without %s",
              against->values->add ? "added" : "written", cli_counted(lost, "record", "records").text,
              lost == 1 ? "it" : "them");
    return CLI_ERROR;
}

/* The lists before the commit that they belong to. */
static int write_and_commit(struct against *against) {
    struct cli_job *job = against->job;
    int code = cli_against_open_lists(against);
    if (code == CLI_DONE) code = cli_against_write_lists(against);
    if (code != CLI_DONE || !against->values->add) return code;
    if (cli_interrupted() != 0) return cli_fail(job);
    nigh_commit commit = {.size = sizeof commit};
    if (nigh_against_commit(against->work, &commit, &job->error) != NIGH_OK) return cli_fail(job);
    cli_tell_merged(job, against->path, &commit);
    if (against->info.unmatched > 0) cli_committed(job, "what is new was added to '%s'", against->path);
    return CLI_DONE;
}

/* ---------------------------------------------------------------------- run -- */

static bool places_fit(const struct against *against) {
    struct cli_job *job = against->job;
    const struct cli_place places[] = {
        {"--new", against->values->new_path}, {"-o", against->values->records}, {"COLLECTION", against->path}};
    const struct cli_place files[] = {{"--vocabulary", against->values->signing.vocabulary},
                                      {"--scheme", against->values->signing.model}};
    return cli_places_differ(job, places, 3) && cli_places_spare_inputs(job, places, 3, 1) &&
           cli_places_spare_files(job, places, 3, files, 2) && cli_places_outside(job, places, 2, 0) &&
           cli_places_writable(job, places, 2);
}

/* --model and --without-numbers, which are of psm. */
static int check_finding(const struct against *against) {
    struct cli_job *job = against->job;
    const struct against_values *values = against->values;
    const bool may_psm =
        values->method == NIGH_FINDER_PSM || (values->method == NIGH_FINDER_AUTO && values->recall != NULL);
    if (values->model != NIGH_WEAK_GAUSSIAN && !may_psm)
        return cli_usage(job->command, "--model goes with --method psm, or with --recall");
    if (!values->without_numbers) return CLI_DONE;
    if (values->method != NIGH_FINDER_PSM || values->find != NIGH_FIND_ANY)
        return cli_usage(job->command, "--without-numbers goes with --method psm and --find any");
    if (values->rotations.given && values->rotations.value > 1)
        return cli_usage(job->command, "--without-numbers goes with one of the --rotations");
    return CLI_DONE;
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
    const int code = check_finding(against);
    if (code != CLI_DONE) return code;
    if (values->recall != NULL && values->method != NIGH_FINDER_AUTO && values->method != NIGH_FINDER_PSM)
        return cli_usage(job->command, "--recall goes with --method auto or psm");
    if (values->new_path != NULL && cli_sink_is_standard_output(values->new_path))
        return cli_usage(job->command, "--new takes a file; the matches go to standard output");
    if (values->records != NULL && cli_sink_is_standard_output(values->records))
        return cli_usage(job->command, "-o takes a file; the matches go to standard output");
    if (values->fail_if_new && values->fail_if_found)
        return cli_usage(job->command, "--fail-if-new and --fail-if-found do not go together");
    if (!cli_reading_fits(job, &values->reading) || !cli_source_paths_fit(job, 1)) return CLI_ERROR;
    return places_fit(against) ? CLI_DONE : CLI_ERROR;
}

/* What was asked for, as the library takes it. */
static int set_options(struct against *against) {
    const struct against_values *values = against->values;
    struct cli_job *job = against->job;
    nigh_against_options *chosen = &against->options;
    double recall = 1;
    uint64_t memory_bytes = 0;
    if (!cli_amount_share(job, "--recall", values->recall, &recall) ||
        !cli_amount_bytes(job, "--memory", values->memory, &memory_bytes))
        return CLI_ERROR;
    nigh_against_options_init(chosen);
    if (values->radius.given) chosen->radius = (uint32_t)values->radius.value;
    if (values->recall != NULL) chosen->recall = recall;
    chosen->memory_bytes = memory_bytes;
    if (values->max_matches.given) chosen->most_matches = values->max_matches.value;
    chosen->find = (nigh_find_mode)values->find;
    chosen->model = (nigh_weak_model)values->model;
    chosen->without_numbers = values->without_numbers;
    chosen->no_verify = values->no_verify;
    chosen->temporary = cli_temporary(values->temporary);
    chosen->add = values->add;
    chosen->snippet = (uint32_t)values->snippet.value;
    chosen->limit = values->reading.limit.value;
    chosen->method = (nigh_finder_method)values->method;
    chosen->blocks = (uint32_t)values->blocks.value;
    chosen->leading = (uint32_t)values->leading.value;
    chosen->approximate = values->approximate;
    chosen->prefix_bits = (uint32_t)values->prefix.value;
    chosen->probes = (uint32_t)values->probes.value;
    chosen->rotations = (uint32_t)values->rotations.value;
    chosen->threads = job->threads;
    chosen->progress = &job->progress.report;
    return CLI_DONE;
}

/* Of tables that would miss some, what else there is. */
static int fail_matching(struct against *against) {
    const struct against_values *values = against->values;
    int code = cli_fail(against->job);
    if (against->job->error.status != NIGH_EINVAL || !values->blocks.given ||
        values->blocks.value - values->leading.value >= against->info.radius)
        return code;
    cli_error(against->job, "give more --blocks, a smaller --radius, or %s",
              against->chunks ? "--method scan" : "--approximate, which may miss some");
    return code;
}

static int compare_and_add(struct against *against) {
    struct cli_job *job = against->job;
    if (!cli_inputs_open(job, 1, &against->inputs)) return cli_fail(job);
    double started = cli_seconds();
    int code = take_inputs(against);
    if (code != CLI_DONE) return code;
    nigh_status status = nigh_against_compare(against->work, &job->error);
    cli_progress_clear(&job->progress);
    cli_against_look(against);
    if (status != NIGH_OK) return fail_matching(against);
    if (nigh_against_collection(against->work) != NULL)
        nigh_collection_describe(nigh_against_collection(against->work), &against->held);
    code = check_loss(against);
    if (code == CLI_DONE) code = add_new(against);
    if (code == CLI_DONE && cli_against_print(against) != NIGH_OK) code = cli_fail(job);
    if (code == CLI_DONE) code = write_and_commit(against);
    job->stats.work_seconds = cli_seconds() - started;
    if (code != CLI_DONE) return code;
    cli_against_summarise(against);
    if (!cli_sink_flush(job->out)) return cli_fail(job);
    cli_against_end_lists(against);
    if (against->values->fail_if_new && against->info.unmatched > 0) return CLI_NOTHING;
    if (against->values->fail_if_found && against->info.matches > 0) return CLI_NOTHING;
    return CLI_DONE;
}

/* The against may still read ahead, and its reader goes after it. */
static void release(struct against *against) {
    cli_inputs_stop(&against->inputs);
    nigh_against_close(against->work);
    nigh_text_reader_close(against->reader);
    cli_inputs_release(&against->inputs);
    free(against->keep.text);
    nigh_signer_free(against->signer);
    nigh_vocabulary_free(against->vocabulary);
    nigh_model_free(against->model);
    cli_against_release_lists(against);
}

static int run(struct cli_job *job) {
    struct against against = {.job = job, .values = job->values};
    if (against.values->stream) return cli_against_stream(&against);
    int code = check_use(&against);
    if (code == CLI_DONE) code = set_options(&against);
    if (code == CLI_DONE) code = cli_against_keep_keys(&against);
    if (code != CLI_DONE) return code;
    against.chunks = cli_against_is_chunks(against.path);
    code = against.chunks ? cli_against_open_chunks(&against) : open_collection(&against);
    if (code == CLI_DONE) code = compare_and_add(&against);
    release(&against);
    return code;
}

const struct cli_command cmd_against = {
    .name = "against",
    .summary = "say which documents a collection has already, and add the others",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct against_values),
    .run = run,
};
