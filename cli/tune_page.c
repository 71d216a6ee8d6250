/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings as points: to the left is fast, up is good.
 *
 *     recall |        o   o  o       the line is what was asked for; the point
 *        .95 |----o--*-----------    marked is what was chosen
 *            | o                     the time is logarithmic
 *            +-------------------
 */
#include "tune_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "page_chart.h"
#include "size.h"
#include "tuning_lines.h"

#define USUAL_RECALL 0.95 /* what nigh_tune() goes for where nothing is asked for */

void cli_tune_page_add(struct cli_tune_page *page, const nigh_tuning *tried) {
    if (page->count == page->capacity) {
        const size_t capacity = page->capacity == 0 ? 32 : 2 * page->capacity;
        nigh_tuning *more = realloc(page->tried, capacity * sizeof *more);
        if (more == NULL) {
            page->failed = true;
            return;
        }
        page->tried = more;
        page->capacity = capacity;
    }
    page->tried[page->count++] = *tried;
}

void cli_tune_page_release(struct cli_tune_page *page) {
    free(page->tried);
    *page = (struct cli_tune_page){.tried = NULL};
}

/* ------------------------------------------------------------------ drawing -- */

/* What the charts are drawn from: all that were tried as one line, the chosen one as another. */
struct drawn {
    const struct cli_tune_page *page;
    const nigh_tuning *best;
    bool cdr; /* and not recall */
};

static bool is_best(const nigh_tuning *tried, const nigh_tuning *best) {
    return strcmp(cli_tuning_words(tried).text, cli_tuning_words(best).text) == 0;
}

static const char *line_name(const void *from, size_t line) {
    (void)from;
    return line == 0 ? "measured" : "chosen";
}

static bool setting_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct drawn *drawn = from;
    if (index >= drawn->page->count) return false;
    const nigh_tuning *tried = &drawn->page->tried[index];
    *out = (struct cli_chart_point){tried->median, drawn->cdr ? tried->cdr : tried->recall};
    if (is_best(tried, drawn->best) != (line == 1)) out->up = NAN;
    return true;
}

static void say_setting(struct cli_sink *sink, const void *from, size_t line, size_t index) {
    const nigh_tuning *tried = &((const struct drawn *)from)->page->tried[index];
    (void)line;
    cli_page_text(sink, cli_tuning_words(tried).text, strlen(cli_tuning_words(tried).text));
    cli_sink_format(sink, ": recall %.4f, CDR %.4f, %s", tried->recall, tried->cdr, cli_time(tried->median).text);
}

static void draw_settings(struct cli_sink *sink, const struct cli_tune_page *page, const nigh_tuning *best,
                          const nigh_tune_options *asked) {
    const bool nothing = asked->recall <= 0 && asked->cdr <= 0 && asked->seconds <= 0;
    const double targets[] = {nothing ? USUAL_RECALL : asked->recall, asked->cdr};
    cli_sink_text(sink, CLI_CHARTS_BEGIN);
    for (int i = 0; i < 2; i++) {
        const struct drawn drawn = {.page = page, .best = best, .cdr = i == 1};
        const struct cli_chart chart = {.heading =
                                            i == 0 ? "Recall by the time of a query" : "CDR by the time of a query",
                                        .below = "median time; left is faster, up is better",
                                        .across = CLI_CHART_SECONDS,
                                        .up = CLI_CHART_SHARE,
                                        .apart = true,
                                        .lines = 2,
                                        .from = &drawn,
                                        .name = line_name,
                                        .point = setting_point,
                                        .says = say_setting,
                                        .level_says = targets[i] > 0 ? "asked for" : NULL,
                                        .level = targets[i]};
        cli_page_chart(sink, &chart);
    }
    cli_sink_text(sink, CLI_CHARTS_END);
}

/* -------------------------------------------------------------------- table -- */

static void put_settings(struct cli_sink *sink, const struct cli_tune_page *page, const nigh_tuning *best) {
    cli_sink_text(sink,
                  "<table><tr><th scope=\"col\">setting</th><th scope=\"col\" class=\"number\">recall</th>"
                  "<th scope=\"col\" class=\"number\">CDR</th><th scope=\"col\" class=\"number\">a query</th></tr>\n");
    for (size_t i = 0; i < page->count; i++) {
        const nigh_tuning *tried = &page->tried[i];
        cli_sink_text(sink, is_best(tried, best) ? "<tr class=\"chosen\"><td>" : "<tr><td>");
        cli_page_text(sink, cli_tuning_words(tried).text, strlen(cli_tuning_words(tried).text));
        cli_sink_format(sink,
                        "</td><td class=\"number\">%.4f</td><td class=\"number\">%.4f</td>"
                        "<td class=\"number\">%s</td></tr>\n",
                        tried->recall, tried->cdr, cli_time(tried->median).text);
    }
    cli_sink_text(sink,
                  "</table>\n<p class=\"hint\">As measured while choosing, on one half of the sample; the sentence "
                  "above is by the other half.</p>\n");
}

bool cli_tune_page_write(struct cli_job *job, const char *path, const struct cli_tune_page *page,
                         const nigh_tuning *best, bool met, const nigh_tune_options *asked) {
    struct cli_sink *sink = NULL;
    if (page->failed) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    if (!cli_page_open(job, path, "Ways to search", job->operands[0], &sink)) return false;
    cli_sink_text(sink, met ? "<p><b>Chosen: " : "<p><b>The targets cannot be met; the best: ");
    cli_page_text(sink, cli_tuning_words(best).text, strlen(cli_tuning_words(best).text));
    cli_sink_format(sink, "</b>. Recall %.4f (%.4f to %.4f), CDR %.4f; a query takes %s, 99%% within %s; ",
                    best->recall, best->recall_low, best->recall_high, best->cdr, cli_time(best->median).text,
                    cli_time(best->percentile_99).text);
    cli_sink_format(sink, "%s of memory; k = %u.</p>\n", cli_size((double)best->memory_bytes).text, best->k);
    if (page->count > 0) {
        draw_settings(sink, page, best, asked);
        put_settings(sink, page, best);
    }
    return cli_page_close(job, sink, true);
}
