/* SPDX-License-Identifier: Apache-2.0 */
/* nigh pairs: every pair of documents of a collection, or of two, whose signatures differ in few bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "among.h"
#include "amount.h"
#include "documents.h"
#include "output.h"
#include "scheme_lines.h"
#include "signals.h"

struct pairs_values {
    struct cli_common common;
    struct cli_number radius;
    struct cli_number limit;
    struct cli_number copies;
    const char *among;
    const char *where;
    const char *memory;
    const char *temporary;
    const char *model;
    int scheme;
    int output;
    bool numbers;
};

enum { OUTPUT_JSONL, OUTPUT_TSV };
static const char *const output_names[] = {"jsonl", "tsv", NULL};

#define PLACE(field) offsetof(struct pairs_values, field)

static const struct cli_option options[] = {
    CLI_NUMBER('r', "radius", PLACE(radius), "BITS", 0, NIGH_MAX_WIDTH_BITS, NULL,
               "list pairs at most BITS bits apart; optional for signatures made for near-copies"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "jsonl", "the form of the answer"),
    CLI_NUMBER(0, "limit", PLACE(limit), "N", 1, NIGH_ALL_64, NULL, "stop after N pairs"),
    CLI_NUMBER(0, "copies", PLACE(copies), "N", 1, UINT32_MAX, "1000",
               "list only the pairs with the first of more than N equal signatures"),
    CLI_AMONG_OPTIONS(PLACE(among), PLACE(where)),
    CLI_FLAG(0, "numbers", PLACE(numbers), "call documents by their number, from 0, not by their id"),
    CLI_SCHEME_OPTION(PLACE(scheme), PLACE(model)),
    CLI_TEXT(0, "memory", PLACE(memory), "SIZE",
             "use at most this much memory, such as 500M or 2G; what does not fit is sorted on disk (default half of "
             "the machine's memory)"),
    CLI_TEXT(0, "temporary", PLACE(temporary), "DIR", "the folder for temporary files (default $TMPDIR, else /tmp)"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION", "[OPTION]... COLLECTION OTHER", NULL};

static const char *const description[] = {
    "Lists every pair of documents whose signatures differ in at most --radius bits: within a COLLECTION, or between "
    "its documents and those of an OTHER that was made in the same way. Nothing is missed. Pairs are ordered by the "
    "first document, then the second, as they were added.",
    "The default --radius is 3 for simhash of 64 bits, where a larger one brings unrelated documents. For minhash it "
    "is the number of bits that documents that share four fifths of their features seldom exceed: 36 of 256, and in "
    "proportion. For other signatures it must be given.",
    "With --among or --where only some documents count; with two collections, some of the first.",
    "Signatures are compared, not texts: 'nigh dedup' also compares texts, and decides what to keep.",
    "The exit code is 1 if there is no pair.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "jsonl: an object for each pair, {\"id1\", \"id2\", \"distance\"}. Bytes of an id that are not UTF-8 become "
    "U+FFFD.",
    "tsv: the two ids and the distance, with tabs between.",
    "Documents without ids go by their number.",
    NULL,
};

static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh pairs pages.nigh > pairs.jsonl", "the near-copies among pages signed by simhash or minhash"},
    {"nigh pairs photos.nigh --radius 6 --output tsv", "image hashes of your own, at most 6 bits apart"},
    {"nigh pairs news.nigh --where 'year = 2024'", "among the documents of a year"},
    {"nigh pairs new.nigh old.nigh", "which new documents are near which old ones"},
    {"nigh pairs --memory 2G --temporary /scratch huge.nigh", "more documents than fit into memory"},
    {NULL, NULL},
};

struct pairing {
    struct cli_job *job;
    const struct pairs_values *values;
    nigh_collection *collections[2]; /* the second NULL: within the first */
    nigh_collection_info infos[2];
    nigh_filter *filter; /* of the first; NULL: all its documents */
    char *ids[2];        /* room for any */
    uint64_t given;
    bool enough;        /* the limit was reached */
    nigh_status failed; /* why the callback ended it */
    nigh_error error;   /* and the reason */
};

/* The id of a document, or its number. */
static nigh_status find_name(struct pairing *pairing, unsigned which, uint64_t document, struct cli_name *name) {
    const unsigned of = pairing->collections[1] != NULL ? which : 0;
    name->text = pairing->ids[which];
    name->length = (size_t)snprintf(pairing->ids[which], 24, "%llu", (unsigned long long)document);
    if (pairing->values->numbers || !pairing->infos[of].has_ids) return NIGH_OK;
    return nigh_collection_id(pairing->collections[of], document, pairing->ids[which], NIGH_MAX_ID_LENGTH + 1,
                              &name->length, &pairing->error);
}

static void write_pair(struct pairing *pairing, struct cli_name first, struct cli_name second, uint32_t distance) {
    struct cli_sink *out = pairing->job->out;
    if (pairing->values->output == OUTPUT_TSV) {
        cli_sink_escaped(out, first.text, first.length);
        cli_sink_text(out, "\t");
        cli_sink_escaped(out, second.text, second.length);
        cli_sink_text(out, "\t");
        cli_sink_number(out, distance);
        cli_sink_text(out, "\n");
        return;
    }
    cli_sink_text(out, "{\"id1\":");
    cli_sink_json(out, first.text, first.length);
    cli_sink_text(out, ",\"id2\":");
    cli_sink_json(out, second.text, second.length);
    cli_sink_text(out, ",\"distance\":");
    cli_sink_number(out, distance);
    cli_sink_text(out, "}\n");
}

static int take_pair(void *user, const nigh_pair *pair) {
    struct pairing *pairing = user;
    const struct cli_number *limit = &pairing->values->limit;
    struct cli_name names[2];
    pairing->failed = find_name(pairing, 0, pair->first, &names[0]);
    if (pairing->failed == NIGH_OK) pairing->failed = find_name(pairing, 1, pair->second, &names[1]);
    if (pairing->failed != NIGH_OK) return 1;
    if (pairing->given == 0) cli_progress_clear(&pairing->job->progress);
    write_pair(pairing, names[0], names[1], pair->distance);
    pairing->given++;
    pairing->enough = limit->given && pairing->given >= limit->value;
    return pairing->enough || pairing->job->out->error != 0 || (pairing->given % 1024 == 0 && cli_interrupted() != 0);
}

/* The radius for signatures of this kind; false with a message where only the user can know. */
static bool choose_radius(const struct pairing *pairing, uint32_t *out) {
    struct cli_job *job = pairing->job;
    const uint32_t width = pairing->infos[0].width_bits;
    if (!cli_radius_fits(job, &pairing->values->radius, width)) return false;
    if (pairing->values->radius.given) {
        *out = (uint32_t)pairing->values->radius.value;
        return true;
    }
    *out = cli_near_radius(pairing->collections[0], width);
    if (*out != NIGH_ALL) return true;
    (void)cli_usage(job->command,
                    "give --radius: how many of the %u bits may differ depends on how the signatures of '%s' were made",
                    width, job->operands[0]);
    return false;
}

static void close_statistics(struct pairing *pairing, const nigh_join_result *result, uint32_t radius) {
    struct cli_job *job = pairing->job;
    const nigh_collection_info *other = &pairing->infos[1];
    const uint64_t first = pairing->filter != NULL ? nigh_filter_count(pairing->filter)
                                                   : pairing->infos[0].documents - pairing->infos[0].deleted;
    const uint64_t documents = first + (pairing->collections[1] != NULL ? other->documents - other->deleted : 0);
    const struct cli_counter counters[] = {
        {"radius", radius},
        {"pairs", pairing->given},
        {"distinct", result->distinct},
        {"copies_untold", result->copies_untold},
        {"compared", result->compared},
        {"truncated", result->truncated},
        {"tables", result->tables},
        {"disk_bytes", result->disk_bytes},
    };
    cli_stats_close(&job->stats, documents, counters, sizeof counters / sizeof counters[0]);
    cli_note(job, "%s within %s%s, among %s; %.2f s (%s/s)", cli_counted(pairing->given, "pair", "pairs").text,
             cli_counted(radius, "bit", "bits").text, pairing->enough ? " and perhaps more" : "",
             cli_counted(documents, "document", "documents").text, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text);
    if (result->copies_untold > 0)
        cli_note(job, "not listed: %s of documents with equal signatures; --copies lists more",
                 cli_counted(result->copies_untold, "pair", "pairs").text);
    if (result->truncated > 0)
        cli_error(job, "%s of documents too much alike to compare them all: pairs may be missing",
                  cli_counted(result->truncated, "crowd", "crowds").text);
}

static int pair_opened(struct pairing *pairing) {
    struct cli_job *job = pairing->job;
    const struct pairs_values *values = pairing->values;
    nigh_join_options join;
    nigh_join_options_init(&join);
    nigh_join_result result = {.size = sizeof result};
    if (!cli_amount_bytes(job, "--memory", values->memory, &join.memory_bytes)) return CLI_ERROR;
    if (!choose_radius(pairing, &join.radius)) return CLI_ERROR;
    if (cli_among_read(job, values->among, values->where, pairing->collections[0], &pairing->filter) != NIGH_OK)
        return cli_fail(job);
    join.filter = pairing->filter;
    pairing->ids[0] = malloc(NIGH_MAX_ID_LENGTH + 1);
    pairing->ids[1] = malloc(NIGH_MAX_ID_LENGTH + 1);
    if (pairing->ids[0] == NULL || pairing->ids[1] == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    join.temporary = cli_temporary(values->temporary);
    join.copies = (uint32_t)values->copies.value;
    join.threads = job->threads;
    join.pair = take_pair;
    join.user = pairing;
    join.progress = &job->progress.report;
    const double started = cli_seconds();
    nigh_status status =
        nigh_collection_join(pairing->collections[0], pairing->collections[1], &join, &result, &job->error);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    if (status == NIGH_ECANCELLED && pairing->enough) status = NIGH_OK;
    if (pairing->failed != NIGH_OK) job->error = pairing->error;
    if (status != NIGH_OK) return cli_fail(job);
    close_statistics(pairing, &result, join.radius);
    return pairing->given > 0 ? CLI_DONE : CLI_NOTHING;
}

static int run(struct cli_job *job) {
    struct pairing pairing = {.job = job, .values = job->values};
    nigh_status status = NIGH_OK;
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    if (job->operand_count > 2)
        return cli_usage(job->command, "give one COLLECTION, or two, not %zu", job->operand_count);
    for (size_t i = 0; i < job->operand_count && status == NIGH_OK; i++)
        status = cli_collection_open(job, job->operands[i], NULL, &pairing.collections[i], &pairing.infos[i]);
    int code = status == NIGH_OK ? CLI_DONE : cli_fail(job);
    for (size_t i = 0; i < job->operand_count && code == CLI_DONE; i++)
        if (!cli_scheme_fits(job, pairing.values->scheme, pairing.values->model, job->operands[i],
                             pairing.collections[i]))
            code = CLI_ERROR;
    if (code == CLI_DONE) code = pair_opened(&pairing);
    free(pairing.ids[0]);
    free(pairing.ids[1]);
    nigh_filter_free(pairing.filter);
    nigh_collection_close(pairing.collections[0]);
    nigh_collection_close(pairing.collections[1]);
    return code;
}

const struct cli_command cmd_pairs = {
    .name = "pairs",
    .summary = "list every pair of documents that are nearly the same",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct pairs_values),
    .run = run,
};
