/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh generate: makes signatures that look like those of a real collection, for trying
 * things out and for measuring. The same options give the same bytes on every machine.
 */
#include <stdlib.h>

#include "common.h"
#include "signals.h"
#include "source.h"

struct generate_values {
    struct cli_common common;
    struct cli_number count;
    struct cli_number bits;
    struct cli_number seed;
    struct cli_number queries;
    const char *output;
    int format;
};

#define PLACE(field) offsetof(struct generate_values, field)
#define MAX_DOCUMENTS (UINT64_C(0xFFFFFFFE)) /* one commit, hence one 'nigh index', adds no more */

static const struct cli_option options[] = {
    CLI_TEXT('o', NULL, PLACE(output), "FILE", "write to FILE; '-' is standard output"),
    CLI_NUMBER('n', "count", PLACE(count), "N", 0, MAX_DOCUMENTS, "1000000",
               "the documents of the collection, such as 60000 or 10M"),
    CLI_NUMBER(0, "bits", PLACE(bits), "N", 1, NIGH_MAX_WIDTH_BITS, "1024", "the width of the signatures"),
    CLI_NUMBER(0, "seed", PLACE(seed), "N", 0, NIGH_ALL_64, "1", "which collection: another seed, another one"),
    CLI_NUMBER(0, "queries", PLACE(queries), "N", 0, MAX_DOCUMENTS, NULL,
               "write N queries instead: documents that the collection of these options does not have"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_write_formats, "auto",
               "the format to write; auto goes by the ending of FILE, and is hex for '-'"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... -o FILE", NULL};

static const char *const description[] = {
    "Makes signatures that are grouped as real ones are: topics within topics, documents near each other, near-copies "
    "and exact copies. The same options give the same signatures on every machine.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh generate -o million.npy", "a million signatures of 1,024 bits"},
    {"nigh generate --queries 1000 -o queries.npy", "queries for them, which are not among them"},
    {"nigh generate -n 1000 --bits 64 -o - | nigh index small.nigh -", "straight into a collection"},
    {NULL, NULL},
};

struct range {
    uint64_t first;
    uint64_t count;
};

static nigh_status write_all(struct cli_job *job, const nigh_generator_options *generator, struct range range,
                             uint8_t *signature, struct cli_target *target) {
    const nigh_document document = {.size = sizeof(nigh_document), .signature = signature};
    cli_progress_begin(&job->progress, "generating", "documents");
    for (uint64_t i = 0; i < range.count; i++) {
        nigh_status status = nigh_generate(generator, range.first + i, signature, &job->error);
        if (status == NIGH_OK) status = nigh_signature_writer_add(target->writer, &document, &job->error);
        if (status != NIGH_OK) return status;
        if (i % 1024 == 0) {
            cli_progress_update(&job->progress, i, range.count);
            if (cli_interrupted() != 0) return NIGH_ECANCELLED;
        }
    }
    return cli_target_finish(job, target);
}

static void summarise(struct cli_job *job, uint64_t written, uint32_t width_bits, const char *name) {
    job->stats.complete = true;
    job->stats.documents = written;
    cli_stats_rate(&job->stats, written);
    cli_stats_count(&job->stats, "width_bits", width_bits);
    cli_note(job, "wrote %s of %s bits to %s; %.2f s (%s/s)", cli_counted(written, "signature", "signatures").text,
             cli_digits(width_bits).text, name, job->stats.work_seconds, cli_digits((uint64_t)job->stats.rate).text);
}

static int generate(struct cli_job *job, const struct generate_values *values, uint8_t *signature) {
    nigh_generator_options generator;
    nigh_generator_options_init(&generator);
    struct range range = {.first = 0, .count = values->count.value};
    struct cli_target target;
    generator.count = values->count.value;
    generator.seed = values->seed.value;
    generator.width_bits = (uint32_t)values->bits.value;
    if (values->queries.given) range = (struct range){.first = values->count.value, .count = values->queries.value};
    struct cli_target_options target_options = {
        .format = values->format, .width_bits = generator.width_bits, .rows = range.count};
    int code = cli_target_open(job, values->output, &target_options, &target);
    if (code != CLI_DONE) return code;
    double started = cli_seconds();
    nigh_status status = write_all(job, &generator, range, signature, &target);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    if (status != NIGH_OK)
        code = cli_fail(job);
    else
        summarise(job, range.count, generator.width_bits, target.name);
    cli_target_close(job, &target);
    return code;
}

static int run(struct cli_job *job) {
    const struct generate_values *values = job->values;
    if (job->operand_count != 0) return cli_usage(job->command, "unexpected operand '%s'", job->operands[0]);
    if (values->output == NULL) return cli_usage(job->command, "no output given; -o FILE, or -o - for standard output");
    const struct cli_place place = {"-o", values->output};
    if (!cli_places_differ(job, &place, 1)) return CLI_ERROR;
    uint8_t *signature = malloc(nigh_signature_bytes((uint32_t)values->bits.value));
    if (signature == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    int code = generate(job, values, signature);
    free(signature);
    return code;
}

const struct cli_command cmd_generate = {
    .name = "generate",
    .summary = "make signatures for trying things out",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct generate_values),
    .run = run,
};
