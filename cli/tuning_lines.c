/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning_lines.h"

#include <stdarg.h>
#include <stdio.h>

#include "common.h"

static const char *method_name(nigh_search_method method) {
    switch (method) {
    case NIGH_SEARCH_SCAN:
        return "scan";
    case NIGH_SEARCH_SLICES:
        return "slices";
    case NIGH_SEARCH_SKETCH:
        return "sketch";
    case NIGH_SEARCH_GRAPH:
        return "graph";
    case NIGH_SEARCH_COLUMNS:
        return "columns";
    default:
        return "auto";
    }
}

__attribute__((format(printf, 2, 3))) static void add(struct cli_tuning_words *words, const char *format, ...) {
    size_t length = 0;
    va_list arguments;
    while (length < sizeof words->text && words->text[length] != '\0') length++;
    va_start(arguments, format);
    (void)vsnprintf(words->text + length, sizeof words->text - length, format, arguments);
    va_end(arguments);
}

static void add_slices(struct cli_tuning_words *words, const nigh_tuning *tuning) {
    add(words, "slice lists");
    if (tuning->probe == NIGH_PROBE_DIRECTED) add(words, " by weights");
    if (tuning->breadth != (uint32_t)NIGH_DEFAULT) add(words, ", breadth %u", tuning->breadth);
    if (tuning->probes != 0) add(words, ", %s", cli_counted(tuning->probes, "probe", "probes").text);
    if (tuning->postings != 0) add(words, ", %s", cli_counted(tuning->postings, "posting", "postings").text);
}

struct cli_tuning_words cli_tuning_words(const nigh_tuning *tuning) {
    struct cli_tuning_words words = {""};
    if (tuning->method == NIGH_SEARCH_SCAN) add(&words, "every document compared");
    if (tuning->method == NIGH_SEARCH_GRAPH) {
        add(&words, "graph");
        if (tuning->effort != (uint32_t)NIGH_DEFAULT) add(&words, ", effort %s", cli_digits(tuning->effort).text);
        if (tuning->patience != (uint32_t)NIGH_DEFAULT) add(&words, ", patience %u", tuning->patience);
    }
    if (tuning->method == NIGH_SEARCH_COLUMNS) {
        add(&words, "columns");
        if (tuning->slack >= 0) add(&words, ", slack %.3g", tuning->slack);
    }
    if (tuning->method == NIGH_SEARCH_SLICES) add_slices(&words, tuning);
    if (tuning->method == NIGH_SEARCH_SKETCH) add(&words, "sketches of %u bits", tuning->sketch_bits);
    if ((tuning->method == NIGH_SEARCH_SKETCH || tuning->method == NIGH_SEARCH_SLICES) &&
        tuning->candidates != (uint32_t)NIGH_DEFAULT)
        add(&words, ", %s", cli_counted(tuning->candidates, "candidate", "candidates").text);
    return words;
}

struct cli_time cli_time(double seconds) {
    struct cli_time time;
    if (seconds < 0.9995e-3)
        (void)snprintf(time.text, sizeof time.text, seconds < 9.95e-6 ? "%.1f us" : "%.0f us", seconds * 1e6);
    else if (seconds < 0.9995)
        (void)snprintf(time.text, sizeof time.text, seconds < 9.95e-3 ? "%.1f ms" : "%.0f ms", seconds * 1e3);
    else
        (void)snprintf(time.text, sizeof time.text, "%.3g s", seconds);
    return time;
}

bool cli_tuning_is_old(const nigh_tuning *tuning, uint64_t documents) {
    return documents > tuning->documents && documents - tuning->documents > tuning->documents / 10;
}

/* Only where it is said: ,"name":value */
static void json_number(struct cli_sink *out, const char *name, uint32_t value) {
    if (value != (uint32_t)NIGH_DEFAULT) cli_sink_json_count(out, name, value);
}

void cli_tuning_json(struct cli_sink *out, const nigh_tuning *tuning) {
    cli_sink_format(out, "\"method\":\"%s\"", method_name(tuning->method));
    cli_sink_json_count(out, "k", tuning->k);
    if (tuning->probe == NIGH_PROBE_DIRECTED) cli_sink_text(out, ",\"probe\":\"directed\"");
    json_number(out, "breadth", tuning->breadth);
    json_number(out, "candidates", tuning->candidates);
    json_number(out, "sketch_bits", tuning->sketch_bits);
    json_number(out, "effort", tuning->effort);
    json_number(out, "patience", tuning->patience);
    if (tuning->postings != 0) cli_sink_json_count(out, "postings", tuning->postings);
    if (tuning->probes != 0) cli_sink_json_count(out, "probes", tuning->probes);
    if (tuning->slack >= 0) cli_sink_format(out, ",\"slack\":%.4f", tuning->slack);
    if (tuning->slice_width != 0) cli_sink_json_count(out, "slice_width", tuning->slice_width);
    cli_sink_json_count(out, "queries", tuning->queries);
    cli_sink_format(out, ",\"recall\":%.6f,\"recall_low\":%.6f,\"recall_high\":%.6f", tuning->recall,
                    tuning->recall_low, tuning->recall_high);
    cli_sink_format(out, ",\"cdr\":%.6f,\"cdr_low\":%.6f,\"cdr_high\":%.6f", tuning->cdr, tuning->cdr_low,
                    tuning->cdr_high);
    cli_sink_format(out, ",\"median_us\":%.2f,\"percentile_99_us\":%.2f", tuning->median * 1e6,
                    tuning->percentile_99 * 1e6);
    cli_sink_json_count(out, "memory_bytes", tuning->memory_bytes);
    cli_sink_json_count(out, "documents", tuning->documents);
    cli_sink_json_count(out, "sequence", tuning->sequence);
    static const char *const asked[] = {"any", "signatures", "texts", "masked", "ranked"};
    if (tuning->asked <= NIGH_TUNED_RANKED) cli_sink_format(out, ",\"for\":\"%s\"", asked[tuning->asked]);
}
