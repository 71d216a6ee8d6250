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
#include "size.h"
#include "tuning_lines.h"

#define WIDTH 640
#define HEIGHT 300
#define LEFT 48
#define RIGHT 16
#define TOP 12
#define USUAL_RECALL 0.95 /* what nigh_tune() goes for where nothing is asked for */
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)

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

/* What the edges of the drawing stand for: logarithms of seconds, and recall. */
struct scale {
    double fast, slow, worst;
};

static double time_of(const nigh_tuning *tried) { return log10(tried->median > 1e-9 ? tried->median : 1e-9); }

static struct scale scale_of(const struct cli_tune_page *page, double target) {
    struct scale scale = {.fast = 9, .slow = -9, .worst = target > 0 ? target : 1};
    for (size_t i = 0; i < page->count; i++) {
        const double time = time_of(&page->tried[i]);
        scale.fast = time < scale.fast ? time : scale.fast;
        scale.slow = time > scale.slow ? time : scale.slow;
        scale.worst = page->tried[i].recall < scale.worst ? page->tried[i].recall : scale.worst;
    }
    scale.fast = floor(scale.fast * 4 - 0.2) / 4;
    scale.slow = ceil(scale.slow * 4 + 0.2) / 4;
    scale.worst = floor(scale.worst * 20 - 0.2) / 20;
    if (scale.worst < 0) scale.worst = 0;
    return scale;
}

static double across(const struct scale *scale, double time) {
    return LEFT + (time - scale->fast) / (scale->slow - scale->fast) * PLOT_WIDTH;
}

static double down(const struct scale *scale, double recall) {
    return TOP + (1 - recall) / (1 - scale->worst) * HEIGHT;
}

static void draw_axes(struct cli_sink *sink, const struct scale *scale) {
    for (int i = 0; i <= 4; i++) {
        const double recall = scale->worst + (1 - scale->worst) * i / 4;
        cli_sink_format(sink,
                        "<path class=\"grid\" d=\"M%d %.1fh%d\"/><text class=\"end\" x=\"%d\" y=\"%.1f\">%.3g</text>\n",
                        LEFT, down(scale, recall), PLOT_WIDTH, LEFT - 6, down(scale, recall) + 4, recall);
    }
    for (int i = 0; i <= 3; i++) {
        const double time = scale->fast + (scale->slow - scale->fast) * i / 3;
        cli_sink_format(sink, "<text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                        i == 3   ? "end"
                        : i == 0 ? "start"
                                 : "mid",
                        across(scale, time), TOP + HEIGHT + 18, cli_time(pow(10, time)).text);
    }
}

static bool is_best(const nigh_tuning *tried, const nigh_tuning *best) {
    return strcmp(cli_tuning_words(tried).text, cli_tuning_words(best).text) == 0;
}

static void draw_settings(struct cli_sink *sink, const struct cli_tune_page *page, const nigh_tuning *best,
                          double target) {
    const struct scale scale = scale_of(page, target);
    cli_sink_format(sink,
                    "<figure><figcaption>Recall by the time of a query</figcaption>\n<svg viewBox=\"0 0 %d %d\" "
                    "role=\"img\" aria-label=\"settings by time and recall; a table follows\">\n",
                    WIDTH, TOP + HEIGHT + 26);
    draw_axes(sink, &scale);
    if (target > 0)
        cli_sink_format(sink, "<path class=\"target\" d=\"M%d %.1fh%d\"><title>asked for: %.3g</title></path>\n", LEFT,
                        down(&scale, target), PLOT_WIDTH, target);
    for (size_t i = 0; i < page->count; i++) {
        const nigh_tuning *tried = &page->tried[i];
        const bool chosen = is_best(tried, best);
        cli_sink_format(sink, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
                        chosen ? "chosen" : "tried", across(&scale, time_of(tried)), down(&scale, tried->recall),
                        chosen ? 7 : 5);
        cli_page_text(sink, cli_tuning_words(tried).text, strlen(cli_tuning_words(tried).text));
        cli_sink_format(sink, ": recall %.4f, %s</title></circle>\n", tried->recall, cli_time(tried->median).text);
    }
    cli_sink_text(
        sink, "</svg>\n<p class=\"hint\">up is better, left is faster; point at one for its setting</p></figure>\n");
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
        const bool nothing = asked->recall <= 0 && asked->cdr <= 0 && asked->seconds <= 0;
        draw_settings(sink, page, best, nothing ? USUAL_RECALL : asked->recall);
        put_settings(sink, page, best);
    }
    return cli_page_close(job, sink, true);
}
