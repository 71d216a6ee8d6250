/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing answers: a table for people, three forms for programs.  Names may
 * hold any bytes, and each form has its own idea of which would break it.
 */
#include "output.h"

#include "common.h"

const char *const cli_output_names[] = {"table", "jsonl", "tsv", "trec", NULL};

/* TREC columns end at any blank, so blanks in a name are written "_". */
static void trec_name(struct cli_sink *sink, struct cli_name name) {
    for (size_t i = 0; i < name.length; i++) {
        unsigned char byte = (unsigned char)name.text[i];
        cli_sink_bytes(sink, byte <= ' ' ? "_" : name.text + i, 1);
    }
}

static void tsv_match(struct cli_answers *answers, struct cli_name document, uint32_t distance, uint64_t rank) {
    cli_sink_bytes(answers->sink, answers->query.text, answers->query.length);
    cli_sink_text(answers->sink, "\t");
    cli_sink_bytes(answers->sink, document.text, document.length);
    cli_sink_text(answers->sink, "\t");
    cli_sink_number(answers->sink, distance);
    cli_sink_text(answers->sink, "\t");
    cli_sink_number(answers->sink, rank);
    cli_sink_text(answers->sink, "\n");
}

static void jsonl_match(struct cli_answers *answers, struct cli_name document, uint32_t distance, uint64_t rank) {
    cli_sink_text(answers->sink, "{\"query\":");
    cli_sink_json(answers->sink, answers->query.text, answers->query.length);
    cli_sink_text(answers->sink, ",\"document\":");
    cli_sink_json(answers->sink, document.text, document.length);
    cli_sink_text(answers->sink, ",\"distance\":");
    cli_sink_number(answers->sink, distance);
    cli_sink_text(answers->sink, ",\"rank\":");
    cli_sink_number(answers->sink, rank);
    cli_sink_text(answers->sink, "}\n");
}

/* Six decimals tell any two distances of the widest signatures apart (1 / 65,536 = 0.000015). */
static void trec_match(struct cli_answers *answers, struct cli_name document, uint32_t distance, uint64_t rank) {
    double score = 1.0 - (double)distance / (double)answers->width_bits;
    trec_name(answers->sink, answers->query);
    cli_sink_text(answers->sink, " Q0 ");
    trec_name(answers->sink, document);
    cli_sink_format(answers->sink, " %llu %.6f nigh\n", (unsigned long long)rank, score);
}

/* Rounded down, so that only equal signatures show 100%. */
static void table_match(struct cli_answers *answers, struct cli_name document, uint32_t distance, uint64_t rank) {
    uint64_t hundredths = (uint64_t)(answers->width_bits - distance) * 10000 / answers->width_bits;
    cli_sink_format(answers->sink, "%9s  %8s  %6llu.%02llu%%  ", cli_digits(rank).text, cli_digits(distance).text,
                    (unsigned long long)hundredths / 100, (unsigned long long)hundredths % 100);
    cli_sink_printable(answers->sink, document.text, document.length);
    cli_sink_text(answers->sink, "\n");
}

static void table_query(struct cli_answers *answers, struct cli_name query, size_t matches) {
    cli_sink_text(answers->sink, answers->queries > 0 ? "\nquery " : "query ");
    cli_sink_printable(answers->sink, query.text, query.length);
    cli_sink_text(answers->sink, "\n");
    if (matches == 0)
        cli_sink_text(answers->sink, "     nothing found\n");
    else
        cli_sink_text(answers->sink, "     rank  distance  similarity  document\n");
}

void cli_answers_query(struct cli_answers *answers, struct cli_name query, size_t matches) {
    answers->query = query;
    if (answers->output == CLI_OUTPUT_TABLE) table_query(answers, query, matches);
    answers->queries++;
}

void cli_answers_match(struct cli_answers *answers, struct cli_name document, uint32_t distance, uint64_t rank) {
    switch (answers->output) {
    case CLI_OUTPUT_TABLE:
        table_match(answers, document, distance, rank);
        break;
    case CLI_OUTPUT_JSONL:
        jsonl_match(answers, document, distance, rank);
        break;
    case CLI_OUTPUT_TSV:
        tsv_match(answers, document, distance, rank);
        break;
    case CLI_OUTPUT_TREC:
        trec_match(answers, document, distance, rank);
        break;
    }
}
