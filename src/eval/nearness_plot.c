/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches against the truth, as an SVG image of two panels: CDR by rank, a line for
 * each setting (Figure 1 of Chappell et al., 2013), and CDR(k) by the time of a query, a
 * point for each (their Figures 2 and 3 in one).
 */
#include "eval/nearness.h"
#include "eval/plot.h"

#define WIDTH 860
#define PANEL_WIDTH 340
#define PANEL_HEIGHT 260
#define LEFT_PANEL 52
#define RIGHT_PANEL 482
#define TOP 76
#define KEYS_TOP (TOP + PANEL_HEIGHT + 66)
#define KEY_HEIGHT 20
#define COLOURS 5
#define LINES 5 /* of the grid */

/* From `least` at the bottom to 1 at the top. */
struct scale {
    double least;
};

static struct scale scale_of(nigh_eval_nearness *const *runs, size_t count) {
    double least = 1;
    for (size_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < runs[i]->info.k; p++)
            if (runs[i]->cdr[p] < least) least = runs[i]->cdr[p];
    /* Down to the next tenth, for the lines to stand at round numbers. */
    const int tenths = (int)(least * 10);
    return (struct scale){.least = tenths >= 9 ? 0.9 : tenths / 10.0};
}

/* A truth that lies may be farther than what was found. */
static double within(double share) { return share > 1 ? 1 : share < 0 ? 0 : share; }

static void draw_point(struct nigh__markup *drawing, const struct scale *scale, int left, double across, double value,
                       const char *before) {
    const double up = within((value - scale->least) / (1 - scale->least));
    const struct nigh__tenths x = nigh__tenths(left + within(across) * PANEL_WIDTH);
    const struct nigh__tenths y = nigh__tenths(TOP + (1 - up) * PANEL_HEIGHT);
    nigh__markup_put(drawing, "%s%d.%d %d.%d", before, x.whole, x.rest, y.whole, y.rest);
}

static void draw_grid(struct nigh__markup *drawing, const struct scale *scale, int left, const char *heading,
                      const char *below) {
    nigh__markup_put(drawing, "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text>\n", left, TOP - 14, heading);
    for (int i = 0; i <= LINES; i++) {
        const int y = TOP + PANEL_HEIGHT * (LINES - i) / LINES;
        const int thousandths = (int)((scale->least + (1 - scale->least) * i / LINES) * 1000 + 0.5);
        nigh__markup_put(drawing, "<path class=\"%s\" d=\"M%d %dh%d\"/>", i == 0 ? "a" : "g", left, y, PANEL_WIDTH);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d.%02d</text>\n", left - 7, y + 4,
                         thousandths / 1000, thousandths % 1000 / 10);
    }
    nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", left + PANEL_WIDTH / 2,
                     TOP + PANEL_HEIGHT + 38, below);
}

static void draw_ranks(struct nigh__markup *drawing, const struct scale *scale, nigh_eval_nearness *const *runs,
                       size_t count) {
    const uint32_t k = runs[0]->info.k;
    draw_grid(drawing, scale, LEFT_PANEL, "CDR by rank", "rank");
    const uint64_t step = nigh__tick_step(k, 5);
    for (uint64_t rank = step; rank <= k; rank += step) {
        const int x = LEFT_PANEL + (k == 1 ? 0 : (int)(PANEL_WIDTH * (rank - 1) / (k - 1)));
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%llu</text>\n", x,
                         TOP + PANEL_HEIGHT + 18, (unsigned long long)rank);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t ranks = runs[i]->info.k < k ? runs[i]->info.k : k;
        nigh__markup_put(drawing, "<path class=\"l c%u\" d=\"", (unsigned)(i % COLOURS));
        for (uint32_t p = 0; p < ranks; p++)
            draw_point(drawing, scale, LEFT_PANEL, k == 1 ? 0 : p / (k - 1.0), runs[i]->cdr[p], p == 0 ? "M" : "L");
        nigh__markup_put(drawing, "\"/>\n");
    }
}

/* Decades of microseconds that hold all times: 10^first to 10^(first + count). */
struct decades {
    int first, count;
};

static double microseconds(const nigh_eval_nearness *run) { return run->info.seconds * 1e6; }

static struct decades decades_of(nigh_eval_nearness *const *runs, size_t count) {
    double least = microseconds(runs[0]);
    double most = least;
    for (size_t i = 1; i < count; i++) {
        if (microseconds(runs[i]) < least) least = microseconds(runs[i]);
        if (microseconds(runs[i]) > most) most = microseconds(runs[i]);
    }
    struct decades decades = {.first = 0, .count = 0};
    double power = 1;
    while (power * 10 <= least && decades.first < 9) {
        power *= 10;
        decades.first++;
    }
    while (power < most && decades.first + decades.count < 10) {
        power *= 10;
        decades.count++;
    }
    if (decades.count == 0) decades.count = 1;
    return decades;
}

/* The decimal logarithm of 1 and more, by a few halvings: good enough to place a point. */
static double log10_of(double value) {
    double whole = 0;
    double share = 0;
    double part = 0.5;
    while (value >= 10) {
        value /= 10;
        whole++;
    }
    for (int i = 0; i < 10; i++) {
        value *= value;
        if (value >= 10) {
            value /= 10;
            share += part;
        }
        part /= 2;
    }
    return whole + share;
}

static void draw_times(struct nigh__markup *drawing, const struct scale *scale, nigh_eval_nearness *const *runs,
                       size_t count) {
    static const char *const names[] = {"1 us", "10 us", "100 us", "1 ms",   "10 ms",  "100 ms",
                                        "1 s",  "10 s",  "100 s",  "1000 s", "10000 s"};
    const struct decades decades = decades_of(runs, count);
    draw_grid(drawing, scale, RIGHT_PANEL, "CDR and time", "time of a query");
    for (int i = 0; i <= decades.count; i++)
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                         RIGHT_PANEL + PANEL_WIDTH * i / decades.count, TOP + PANEL_HEIGHT + 18,
                         names[decades.first + i]);
    for (size_t i = 0; i < count; i++) {
        const double time = microseconds(runs[i]) < 1 ? 1 : microseconds(runs[i]);
        const double across = (log10_of(time) - decades.first) / decades.count;
        nigh__markup_put(drawing, "<path class=\"p c%u\" d=\"", (unsigned)(i % COLOURS));
        draw_point(drawing, scale, RIGHT_PANEL, across, runs[i]->info.cdr, "M");
        nigh__markup_put(drawing, "h0\"/>\n");
    }
}

static void draw_keys(struct nigh__markup *drawing, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int x = i % 2 == 0 ? LEFT_PANEL : RIGHT_PANEL;
        const int y = KEYS_TOP + KEY_HEIGHT * (int)(i / 2);
        nigh__markup_put(drawing, "<path class=\"l c%u\" d=\"M%d %dh22\"/><text x=\"%d\" y=\"%d\">",
                         (unsigned)(i % COLOURS), x, y - 4, x + 28, y);
        nigh__plot_text(drawing, names[i]);
        nigh__markup_put(drawing, "</text>\n");
    }
}

nigh_status nigh_eval_nearness_plot(nigh_eval_nearness *const *runs, const char *const *names, size_t count,
                                    const char *title, const char **svg, size_t *length, nigh_error *error) {
    if (count == 0) return nigh__fail(error, NIGH_EINVAL, "there is nothing to plot");
    struct nigh__markup drawing = {.context = runs[0]->context, .out = &runs[0]->svg};
    const struct scale scale = scale_of(runs, count);
    runs[0]->svg.count = 0;
    nigh__plot_begin(&drawing, WIDTH, KEYS_TOP + KEY_HEIGHT * (int)((count + 1) / 2), LEFT_PANEL, title);
    draw_ranks(&drawing, &scale, runs, count);
    draw_times(&drawing, &scale, runs, count);
    draw_keys(&drawing, names, count);
    nigh__plot_end(&drawing);
    if (drawing.failed) return nigh__no_memory(error, "for the plot");
    *svg = runs[0]->svg.data;
    *length = runs[0]->svg.count;
    return NIGH_OK;
}
