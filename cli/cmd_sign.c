/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh sign: turns documents into signatures, in the order of the input for any number of
 * threads. With --make-vocabulary it only counts words.
 */
#include <stdlib.h>
#include <string.h>

#include "documents.h"
#include "signals.h"
#include "source.h"
#include "vocabulary_file.h"

struct sign_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing;
    const char *output;
    const char *make_vocabulary;
    int format;
    int to;
    bool json;
};

#define PLACE(field) offsetof(struct sign_values, field)

static const struct cli_option options[] = {
    CLI_TEXT('o', NULL, PLACE(output), "FILE", "write to FILE; without it, to standard output"),
    CLI_CHOICE(
        0, "to", PLACE(to), "FORMAT", cli_write_formats, "auto",
        "the format to write; auto goes by the ending of FILE (.npy, .u8bin, .raw; .hex, .txt and .tsv are hex), "
        "and is hex for standard output"),
    CLI_FLAG(
        0, "json", PLACE(json),
        "write JSON lines instead: {\"id\", \"signature\", \"weights\"}, the weights a number for each bit, from 0 "
        "(a toss-up) to 255 (sure)"),
    CLI_TEXT(0, "make-vocabulary", PLACE(make_vocabulary), "FILE",
             "count the words of the inputs into FILE, for --vocabulary, and sign nothing"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_text_formats, "auto", "the format of the inputs"),
    CLI_SIGNING_OPTIONS(PLACE(signing)),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_PASSAGE_LIMIT_OPTION(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... INPUT...", "[OPTION]... --make-vocabulary FILE INPUT...", NULL};

static const char *const description[] = {
    "Turns documents into binary signatures whose distance says how alike the documents are. INPUT is anything that "
    "'nigh index' takes as documents; '-' is standard input. The output is in the order of the input, and the same for "
    "any number of threads.",
    "A document without a word to sign has no signature; it is left out and counted. Ids are written in hex lines and "
    "in JSON; the other formats hold only rows.",
    NULL,
};

static const char *const scheme_paragraphs[] = {
    "topsig: each word has a sparse random vector of +1 and -1; those of the document are summed up by weight, and a "
    "bit is 1 where the sum is positive. 1,024 bits by default; for finding the nearest documents.",
    "simhash: the same with all bits of a hash of each feature. 64 bits by default; for near-copies.",
    "minhash: one bit of each of N min-wise hashes of the set of features (by default three words in a row). Of two "
    "documents that share a part J of their features, (1 - J) / 2 of the bits differ. 256 bits by default; for "
    "near-copies, and sharper than simhash.",
    "learned:FILE: by the model in FILE, which 'nigh train' made from labelled documents; for documents of one kind. "
    "Bits, features and language are the model's; options that disagree are an error. Words that the model does not "
    "know are ignored; a document with no other words has no signature.",
    NULL,
};

static const char *const weight_paragraphs[] = {
    "With c occurrences in a document of n features; F among all T of the collection; d of D documents having it:",
    "tf: c. log: 1 + ln c. tf-idf: (1 + ln c) ln(D / d). likelihood: (c - 0.5) ln((c / n) / (F / T)). A weight that is "
    "not positive becomes 1/64.",
    NULL,
};

static const struct cli_section scheme_section = {"SCHEMES", scheme_paragraphs};
static const struct cli_section weight_section = {"WEIGHTS", weight_paragraphs};
static const struct cli_section *const details[] = {&scheme_section, &weight_section, NULL};

static const struct cli_example examples[] = {
    {"nigh sign --scheme simhash pages/ > pages.hex", "64-bit simhashes of everything in a folder"},
    {"nigh sign news.jsonl.gz -o news.npy", "TopSig signatures of 1,024 bits for NumPy"},
    {"nigh sign --make-vocabulary english.vocabulary big.jsonl", "count words once, for --vocabulary later"},
    {"nigh sign --scheme learned:news.model news.jsonl", "with a model of 'nigh train'"},
    {"nigh sign --scheme simhash --features ngrams:3 --json - < page.txt", "three words in a row, with weights"},
    {NULL, NULL},
};

struct signer {
    struct cli_job *job;
    const struct sign_values *values;
    struct cli_inputs inputs;
    struct cli_problems problems;
    nigh_vocabulary *vocabulary;
    nigh_model *model;
    nigh_signer *signer;
    nigh_text_reader *reader;
    nigh_signing *signing;
    nigh_signing_info info;
    uint32_t width_bits;
    bool passages;
};

/* --------------------------------------------------------------- writing -- */

/* Where rows go: signatures in a format, or JSON. */
struct rows_out {
    struct cli_target target; /* of signatures */
    struct cli_sink *sink;    /* of JSON */
    bool owned;               /* the sink is a file's, ours to finish and free */
};

static void write_json(struct cli_sink *sink, const nigh_document *document, uint32_t width_bits) {
    cli_sink_text(sink, "{\"id\":");
    cli_sink_json(sink, document->id, document->id_length);
    cli_sink_text(sink, ",\"signature\":\"");
    for (uint32_t i = 0; i < nigh_signature_bytes(width_bits); i++)
        cli_sink_format(sink, "%02x", document->signature[i]);
    cli_sink_text(sink, "\",\"weights\":[");
    for (uint32_t i = 0; i < width_bits; i++) {
        if (i > 0) cli_sink_text(sink, ",");
        cli_sink_number(sink, document->weights[i]);
    }
    cli_sink_text(sink, "]}\n");
}

static nigh_status write_row(struct signer *signer, struct rows_out *out, const nigh_document *document) {
    if (out->sink == NULL) return nigh_signature_writer_add(out->target.writer, document, &signer->job->error);
    write_json(out->sink, document, signer->width_bits);
    if (out->sink->error == 0) return NIGH_OK;
    cli_set_system_error(signer->job, out->sink->error, out->sink->path == NULL ? "" : out->sink->path, "write");
    return NIGH_EIO;
}

static int open_json(struct signer *signer, const char *path, struct rows_out *out) {
    struct cli_job *job = signer->job;
    out->sink = job->out;
    if (cli_sink_is_standard_output(path)) return CLI_DONE;
    out->sink = malloc(sizeof *out->sink);
    if (out->sink == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    out->owned = true;
    if (cli_sink_open(out->sink, path)) return CLI_DONE;
    cli_set_system_error(job, out->sink->error, path, "write");
    return cli_fail(job);
}

static int open_rows(struct signer *signer, struct rows_out *out) {
    const char *path = signer->values->output == NULL ? "-" : signer->values->output;
    *out = (struct rows_out){0};
    if (signer->values->json) return open_json(signer, path, out);
    struct cli_target_options target_options = {
        .format = signer->values->to, .format_option = "--to", .width_bits = signer->width_bits, .rows = UINT64_MAX};
    return cli_target_open(signer->job, path, &target_options, &out->target);
}

static nigh_status finish_rows(struct signer *signer, struct rows_out *out) {
    if (out->sink == NULL) return cli_target_finish(signer->job, &out->target);
    if (!out->owned || cli_sink_finish(out->sink)) return NIGH_OK;
    cli_set_system_error(signer->job, out->sink->error, signer->values->output, "write");
    return NIGH_EIO;
}

static void close_rows(struct signer *signer, struct rows_out *out) {
    if (out->sink == NULL) cli_target_close(signer->job, &out->target);
    if (!out->owned) return;
    if (out->sink->owned) cli_sink_abandon(out->sink);
    free(out->sink);
}

/* --------------------------------------------------------------- signing -- */

static nigh_status sign_all(struct signer *signer, struct rows_out *out) {
    struct cli_job *job = signer->job;
    nigh_signed row = {.size = sizeof row};
    cli_progress_begin(&job->progress, "signing", NULL);
    for (uint64_t done = 1;; done++) {
        nigh_status status = nigh_signing_next(signer->signing, &row, &job->error);
        if (status == NIGH_END) return cli_interrupted() != 0 ? NIGH_ECANCELLED : finish_rows(signer, out);
        if (status == NIGH_OK) status = write_row(signer, out, row.document);
        if (status != NIGH_OK) return status;
        if (done % 64 != 0) continue;
        nigh_signing_describe(signer->signing, &signer->info);
        cli_progress_update(&job->progress, signer->info.reader.bytes_read, signer->info.reader.bytes_total);
        if (cli_interrupted() != 0) return NIGH_ECANCELLED;
    }
}

static nigh_status open_signing(struct signer *signer, nigh_signer_options *signer_options) {
    const struct sign_values *values = signer->values;
    struct cli_job *job = signer->job;
    nigh_signing_options signing_options;
    nigh_signing_options_init(&signing_options);
    nigh_text_format format = (nigh_text_format)values->format;
    signing_options.threads = job->threads;
    signing_options.keep_weights = values->json;
    signing_options.limit = values->reading.limit.value;
    signing_options.limit_passages = values->reading.limit_passages.value;
    signing_options.progress = &job->progress.report;
    nigh_status status = cli_model_get(job, values->signing.model, NULL, signer_options, &signer->model);
    if (status == NIGH_OK)
        status = cli_vocabulary_get(job, &signer->inputs, &values->reading, format, &values->signing, signer_options,
                                    &signer->vocabulary);
    signer_options->vocabulary = signer->vocabulary;
    if (status == NIGH_OK) status = nigh_signer_new(job->context, signer_options, &signer->signer, &job->error);
    if (status != NIGH_OK) return status;
    signer->width_bits = nigh_signer_width(signer->signer);
    signer->passages = signer_options->split != NIGH_SPLIT_NONE;
    status = cli_reader_open(job, &signer->inputs, &values->reading, format, &signer->problems, &signer->reader);
    if (status != NIGH_OK) return status;
    return nigh_signing_open(signer->signer, signer->reader, &signing_options, &signer->signing, &job->error);
}

static void summarise(struct signer *signer) {
    struct cli_job *job = signer->job;
    nigh_signing_describe(signer->signing, &signer->info);
    job->stats.complete = true;
    job->stats.documents = signer->info.signed_rows;
    cli_stats_rate(&job->stats, signer->info.signed_rows);
    cli_stats_count(&job->stats, "width_bits", signer->width_bits);
    cli_stats_signing(&job->stats, &signer->info);
    cli_note(job, "signed %s of %.1f MB of text with %u bits each; %.2f s (%s/s)%s",
             cli_counted_rows(signer->info.signed_rows, signer->passages).text,
             (double)signer->info.reader.bytes_text / 1e6, signer->width_bits, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text, cli_skipped_by(&signer->info, signer->model != NULL).text);
}

static int sign(struct signer *signer, nigh_signer_options *signer_options) {
    struct cli_job *job = signer->job;
    struct rows_out out;
    double started = cli_seconds();
    if (open_signing(signer, signer_options) != NIGH_OK) return cli_fail(job);
    int code = open_rows(signer, &out);
    if (code == CLI_DONE && sign_all(signer, &out) != NIGH_OK) code = cli_fail(job);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    close_rows(signer, &out);
    if (code == CLI_DONE) summarise(signer);
    return code == CLI_DONE && signer->info.signed_rows == 0 ? CLI_NOTHING : code;
}

/* ------------------------------------------------------------ vocabulary -- */

static int make_vocabulary(struct signer *signer, nigh_signer_options *signer_options) {
    const struct sign_values *values = signer->values;
    struct cli_job *job = signer->job;
    nigh_vocabulary_info info = {.size = sizeof info};
    double started = cli_seconds();
    nigh_vocabulary_options counting;
    nigh_vocabulary_options_init(&counting);
    counting.threads = job->threads;
    counting.memory_bytes = values->signing.memory.value;
    counting.limit = values->reading.limit.value;
    counting.progress = &job->progress.report;
    nigh_status status = cli_reader_open(job, &signer->inputs, &values->reading, (nigh_text_format)values->format,
                                         &signer->problems, &signer->reader);
    if (status == NIGH_OK)
        status = nigh_vocabulary_count(job->context, signer_options, signer->reader, &counting, &signer->vocabulary,
                                       &job->error);
    if (status == NIGH_OK)
        status = cli_vocabulary_save(job, signer->vocabulary, values->make_vocabulary, started, &info);
    if (status != NIGH_OK) return cli_fail(job);
    cli_note(job, "counted %s of %s words%s in %s into '%s'; %.2f s (%s/s)", cli_digits(info.occurrences).text,
             info.sketch ? "very many" : cli_digits(info.terms).text, info.sketch ? " (a sketch)" : "",
             cli_counted(info.documents, "document", "documents").text, values->make_vocabulary,
             job->stats.work_seconds, cli_digits((uint64_t)job->stats.rate).text);
    return CLI_DONE;
}

/* ------------------------------------------------------------------- run -- */

static int check_use(const struct cli_job *job) {
    const struct sign_values *values = job->values;
    const char *output = values->output == NULL && values->make_vocabulary == NULL ? "-" : values->output;
    const struct cli_place places[] = {{"-o", values->output},
                                       {"--make-vocabulary", values->make_vocabulary},
                                       {"--vocabulary", values->signing.vocabulary},
                                       {"--scheme", values->signing.model}};
    const struct cli_place written[] = {{"-o", output}, {"--make-vocabulary", values->make_vocabulary}};
    if (job->operand_count == 0) return cli_usage(job->command, "no INPUT given; '-' is standard input");
    if (values->make_vocabulary != NULL && (values->output != NULL || values->json || values->to != 0))
        return cli_usage(job->command, "--make-vocabulary signs nothing; leave -o, --to and --json out");
    if (values->make_vocabulary != NULL &&
        cli_vocabulary_place(job, "--make-vocabulary", values->make_vocabulary) != CLI_DONE)
        return CLI_ERROR;
    if (values->json && values->to != 0) return cli_usage(job->command, "--json and --to do not go together");
    if (!cli_reading_fits(job, &values->reading) || !cli_source_paths_fit(job, 0)) return CLI_ERROR;
    if (!cli_places_differ(job, places, 4) || !cli_places_spare_inputs(job, written, 2, 0) ||
        !cli_places_outside(job, written, 2, 0))
        return CLI_ERROR;
    return CLI_DONE;
}

static int run(struct cli_job *job) {
    int code = check_use(job);
    if (code != CLI_DONE) return code;
    struct signer signer = {.job = job, .values = job->values, .info = {.size = sizeof(nigh_signing_info)}};
    nigh_signer_options signer_options;
    code = cli_signer_options(job, &signer.values->signing, NULL, NULL, &signer_options);
    if (code != CLI_DONE) return code;
    if (!cli_inputs_open(job, 0, &signer.inputs)) {
        cli_inputs_release(&signer.inputs);
        return cli_fail(job);
    }
    code = signer.values->make_vocabulary != NULL ? make_vocabulary(&signer, &signer_options)
                                                  : sign(&signer, &signer_options);
    cli_inputs_stop(&signer.inputs);
    nigh_signing_close(signer.signing);
    nigh_text_reader_close(signer.reader);
    nigh_signer_free(signer.signer);
    nigh_model_free(signer.model);
    nigh_vocabulary_free(signer.vocabulary);
    cli_inputs_release(&signer.inputs);
    return code;
}

const struct cli_command cmd_sign = {
    .name = "sign",
    .summary = "turn documents into signatures",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct sign_values),
    .run = run,
    .part = "documents",
};
