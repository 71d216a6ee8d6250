/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing answers: a table for people, and three forms for programs. Names may hold any
 * bytes, and each form escapes those that would break it.
 */
#include "output.h"

#include <stdio.h>

#include "search_page.h"

const char *const cli_output_names[] = {"table", "jsonl", "tsv", "trec", NULL};

struct cli_name cli_name_or_number(const char *id, size_t length, uint64_t number, char room[24]) {
    if (id != NULL) return (struct cli_name){.text = id, .length = length};
    return (struct cli_name){.text = room, .length = (size_t)snprintf(room, 24, "%llu", (unsigned long long)number)};
}

/* TREC columns end at any blank, so blanks in a name are written "_", as are control characters; all else is as it is.
 */
static void trec_name(struct cli_sink *sink, struct cli_name name) {
    for (size_t i = 0, step; i < name.length; i += step) {
        const size_t character = cli_utf8_length(name.text + i, name.length - i);
        step = character == 0 ? 1 : character;
        const bool plain = character == 0 || name.text[i] == '\\' || nigh_escape(name.text + i, step, NULL, 0) == step;
        if (plain && name.text[i] != ' ')
            cli_sink_bytes(sink, name.text + i, step);
        else
            cli_sink_text(sink, "_");
    }
}

/*
 * The share of what counts that agrees.  Six decimals tell any two distances of the widest signatures apart
 * (1 / 65,536 = 0.000015), and any two weighted ones of the widest that are made of texts unasked
 * (1 / (8 * 16,384) = 0.0000076).
 */
static double similarity_of(const struct cli_answers *answers, uint32_t distance) {
    return answers->whole == 0 ? 1.0 : 1.0 - (double)distance / (double)answers->whole;
}

static void tsv_match(struct cli_answers *answers, const struct cli_match *match) {
    cli_sink_escaped(answers->sink, answers->query.text, answers->query.length);
    cli_sink_text(answers->sink, "\t");
    cli_sink_escaped(answers->sink, match->document.text, match->document.length);
    cli_sink_text(answers->sink, "\t");
    cli_sink_number(answers->sink, match->distance);
    cli_sink_text(answers->sink, "\t");
    cli_sink_number(answers->sink, match->rank);
    cli_sink_format(answers->sink, "\t%.6f\t%u", similarity_of(answers, match->distance), answers->bits);
    if (match->collection.length > 0) {
        cli_sink_text(answers->sink, "\t");
        cli_sink_escaped(answers->sink, match->collection.text, match->collection.length);
    }
    cli_sink_text(answers->sink, "\n");
}

static void jsonl_match(struct cli_answers *answers, const struct cli_match *match) {
    cli_sink_text(answers->sink, "{\"query\":");
    cli_sink_json(answers->sink, answers->query.text, answers->query.length);
    cli_sink_text(answers->sink, ",\"document\":");
    cli_sink_json(answers->sink, match->document.text, match->document.length);
    if (match->collection.length > 0) {
        cli_sink_text(answers->sink, ",\"collection\":");
        cli_sink_json(answers->sink, match->collection.text, match->collection.length);
    }
    cli_sink_text(answers->sink, ",\"distance\":");
    cli_sink_number(answers->sink, match->distance);
    cli_sink_text(answers->sink, ",\"rank\":");
    cli_sink_number(answers->sink, match->rank);
    cli_sink_format(answers->sink, ",\"similarity\":%.6f,\"bits\":%u", similarity_of(answers, match->distance),
                    answers->bits);
    if (answers->weighted)
        cli_sink_format(answers->sink, ",\"whole\":%u,\"chance\":%.6f", answers->whole,
                        similarity_of(answers, answers->chance));
    if (answers->listed) cli_sink_format(answers->sink, ",\"exact\":%s", answers->exact ? "true" : "false");
    if (answers->listed && !answers->exact) cli_sink_format(answers->sink, ",\"below\":%u", answers->below);
    if (match->snippet.length > 0) {
        cli_sink_text(answers->sink, ",\"text\":");
        cli_sink_json(answers->sink, match->snippet.text, match->snippet.length);
    }
    cli_sink_text(answers->sink, "}\n");
}

static void trec_match(struct cli_answers *answers, const struct cli_match *match) {
    const double score = similarity_of(answers, match->distance);
    trec_name(answers->sink, answers->query);
    cli_sink_text(answers->sink, " Q0 ");
    if (match->collection.length > 0) {
        trec_name(answers->sink, match->collection);
        cli_sink_text(answers->sink, ":");
    }
    trec_name(answers->sink, match->document);
    cli_sink_format(answers->sink, " %llu %.6f nigh\n", (unsigned long long)match->rank, score);
}

/* Under the id, from where it begins; on a terminal one line of it. */
static void table_snippet(struct cli_answers *answers, struct cli_name snippet) {
    const size_t indent = 33;
    size_t length = snippet.length;
    if (answers->columns > indent + 8) {
        size_t used = 0;
        for (size_t columns = indent; used < length && columns < answers->columns; columns++) {
            size_t step = cli_utf8_length(snippet.text + used, length - used);
            used += step > 0 ? step : 1;
        }
        length = used < length ? used : length;
    }
    cli_sink_format(answers->sink, "%*s", (int)indent, "");
    cli_sink_escaped(answers->sink, snippet.text, length);
    cli_sink_text(answers->sink, "\n");
}

/* Rounded down, so that only what agrees in all that counts shows 100%. */
static void table_match(struct cli_answers *answers, const struct cli_match *match) {
    uint64_t hundredths =
        answers->whole == 0 ? 10000 : (uint64_t)(answers->whole - match->distance) * 10000 / answers->whole;
    cli_sink_format(answers->sink, "%9s  %8s  %6llu.%02llu%%  ", cli_digits(match->rank).text,
                    cli_digits(match->distance).text, (unsigned long long)hundredths / 100,
                    (unsigned long long)hundredths % 100);
    cli_sink_escaped(answers->sink, match->document.text, match->document.length);
    if (match->collection.length > 0) {
        cli_sink_text(answers->sink, "  in ");
        cli_sink_escaped(answers->sink, match->collection.text, match->collection.length);
    }
    cli_sink_text(answers->sink, "\n");
    if (match->snippet.length > 0) table_snippet(answers, match->snippet);
}

static void table_query(struct cli_answers *answers, struct cli_name query, size_t matches) {
    cli_sink_text(answers->sink, answers->queries > 0 ? "\nquery " : "query ");
    cli_sink_escaped(answers->sink, query.text, query.length);
    cli_sink_text(answers->sink, "\n");
    if (matches == 0)
        cli_sink_text(answers->sink, "     nothing found\n");
    else
        cli_sink_text(answers->sink, "     rank  distance  similarity  document\n");
}

struct cli_counted cli_distance(uint32_t distance, bool weighted) {
    struct cli_counted text = cli_counted(distance, "bit", "bits");
    if (weighted) snprintf(text.text, sizeof text.text, "distance %s", cli_digits(distance).text);
    return text;
}

/* By which people can judge a similarity; of plain bits nothing was ever said. */
static void table_chance(const struct cli_answers *answers) {
    if (!answers->weighted || answers->matches == 0) return;
    cli_sink_format(answers->sink, "     by chance the nearest of %s would agree in %.0f%%\n",
                    cli_counted(answers->signatures, "unrelated document", "unrelated documents").text,
                    100 * similarity_of(answers, answers->chance));
}

static void table_end(struct cli_answers *answers) {
    table_chance(answers);
    if (answers->exact) return;
    if (answers->below > 0)
        cli_sink_format(answers->sink, "     approximate: nothing nearer than %s was missed\n",
                        cli_distance(answers->below, answers->weighted).text);
    else
        cli_sink_text(answers->sink, "     approximate: nearer documents may have been missed\n");
}

void cli_answers_query(struct cli_answers *answers, struct cli_name query, size_t matches) {
    answers->query = query;
    answers->matches = matches;
    if (answers->output == CLI_OUTPUT_TABLE) table_query(answers, query, matches);
    if (answers->page != NULL) cli_search_page_query(answers->page, answers);
    answers->queries++;
}

void cli_answers_match(struct cli_answers *answers, const struct cli_match *match) {
    if (answers->page != NULL) cli_search_page_match(answers->page, answers, match);
    switch (answers->output) {
    case CLI_OUTPUT_TABLE:
        table_match(answers, match);
        break;
    case CLI_OUTPUT_JSONL:
        jsonl_match(answers, match);
        break;
    case CLI_OUTPUT_TSV:
        tsv_match(answers, match);
        break;
    case CLI_OUTPUT_TREC:
        trec_match(answers, match);
        break;
    }
}

void cli_answers_end(struct cli_answers *answers) {
    if (answers->output == CLI_OUTPUT_TABLE) table_end(answers);
    if (answers->page != NULL) cli_search_page_end(answers->page, answers);
}
