/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of filters as an SVG image, on a logarithmic scale: by bits a term, with theory and
 * bound (Figures 1, 2 and 4 of coca-2011); how they are spread over blocks (Figure 3): thin from
 * the least to the most, thick from 10% to 90%; and by all bytes there are, dictionary included, with a
 * mark where an inverted index stands, which does not err.
 */
#include "base/logarithm.h"
#include "eval/filters.h"
#include "eval/plot.h"

#define WIDTH 1250
#define HEIGHT 400
#define PANEL_WIDTH 330
#define PANEL_HEIGHT 250
#define LEFT 66
#define ACROSS 400 /* from one panel to the next */
#define TOP 84
#define KEYS_TOP 386
#define KEY_WIDTH 110
#define MAX_DECADES 6u
#define KINDS 3u
#define BAR_SHIFT 5.0 /* between bars of the same m / n */
#define TICKS 6u
#define LN_10 2.302585092994045684

struct figure {
    struct nigh__markup *drawing;
    const nigh_eval_filters *filters;
    unsigned decades; /* of the axis upwards, which ends at 1 */
    double most_ratio, most_bytes;
};

enum line { LINE_ERROR, LINE_THEORY, LINE_BOUND };

static const nigh_eval_filters_row *row_at(const struct figure *figure, size_t index) {
    return (const nigh_eval_filters_row *)figure->filters->rows.data + index;
}

static double value_of(const nigh_eval_filters_row *row, enum line line) {
    return line == LINE_ERROR ? row->error : line == LINE_THEORY ? row->theory : row->bound;
}

/* ----------------------------------------------------------------- axes -- */

static double decades_below(double value) { return value >= 1 ? 0 : -nigh__ln(value) / LN_10; }

static void fit_value(struct figure *figure, double value) {
    while (value > 0 && figure->decades < MAX_DECADES && decades_below(value) > figure->decades) figure->decades++;
}

static double bytes_of(const nigh_eval_filters_row *row) { return (double)(row->row_bytes + row->dictionary_bytes); }

static double inverted_bytes(const struct figure *figure) {
    const nigh_eval_filters_info *info = &figure->filters->info;
    return (double)(info->inverted_bytes + info->inverted_dictionary_bytes);
}

static void fit(struct figure *figure) {
    figure->decades = 1;
    figure->most_bytes = inverted_bytes(figure);
    for (size_t i = 0; i < figure->filters->rows.count; i++) {
        const nigh_eval_filters_row *row = row_at(figure, i);
        fit_value(figure, row->error);
        fit_value(figure, row->error_least);
        fit_value(figure, row->bound);
        if (row->ratio > figure->most_ratio) figure->most_ratio = row->ratio;
        if (bytes_of(row) > figure->most_bytes) figure->most_bytes = bytes_of(row);
    }
}

/* What is 0, or less than the axis shows, lies on its end. */
static double down_of(const struct figure *figure, double value) {
    const double decades = value > 0 ? decades_below(value) : figure->decades;
    return TOP + PANEL_HEIGHT * (decades < figure->decades ? decades / figure->decades : 1);
}

static int left_of(unsigned panel) { return LEFT + ACROSS * (int)panel; }

static void draw_axes(const struct figure *figure, unsigned panel, const char *heading, const char *below) {
    struct nigh__markup *drawing = figure->drawing;
    const int left = left_of(panel);
    nigh__markup_put(drawing, "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text>\n", left, TOP - 14, heading);
    for (unsigned decade = 0; decade <= figure->decades; decade++) {
        const struct nigh__tenths y = nigh__tenths(TOP + (double)PANEL_HEIGHT * decade / figure->decades);
        nigh__markup_put(drawing, "<path class=\"%s\" d=\"M%d %d.%dh%d\"/>", decade == figure->decades ? "a" : "g",
                         left, y.whole, y.rest, PANEL_WIDTH);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", left - 6, y.whole + 4);
        if (decade == 0) nigh__markup_put(drawing, "1");
        if (decade > 0) nigh__markup_put(drawing, ".%0*d", (int)decade, 1);
        nigh__markup_put(drawing, "</text>\n");
    }
    nigh__markup_put(drawing,
                     "<path class=\"a\" d=\"M%d %dv%d\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left,
                     TOP, PANEL_HEIGHT, left + PANEL_WIDTH, TOP + PANEL_HEIGHT + 34, below);
}

/* Whole numbers below the axis. */
static void draw_ticks(const struct figure *figure, unsigned panel, double most) {
    const uint64_t step = nigh__tick_step((uint64_t)most + 1, TICKS);
    for (uint64_t tick = 0; (double)tick <= most; tick += step) {
        const struct nigh__tenths x = nigh__tenths(left_of(panel) + PANEL_WIDTH * ((double)tick / most));
        nigh__markup_put(figure->drawing, "<text x=\"%d.%d\" y=\"%d\" text-anchor=\"middle\">%llu</text>\n", x.whole,
                         x.rest, TOP + PANEL_HEIGHT + 18, (unsigned long long)tick);
    }
}

/* ---------------------------------------------------------------- lines -- */

static void draw_point(const struct figure *figure, unsigned panel, double across, double value, bool first) {
    const struct nigh__tenths x = nigh__tenths(left_of(panel) + PANEL_WIDTH * across);
    const struct nigh__tenths y = nigh__tenths(down_of(figure, value));
    nigh__markup_put(figure->drawing, "%s%d.%d %d.%d", first ? "M" : "L", x.whole, x.rest, y.whole, y.rest);
}

/* Of a kind over all ratios; by bytes in the last panel. */
static void draw_line(const struct figure *figure, unsigned panel, unsigned kind, enum line line, const char *class) {
    const size_t count = figure->filters->ratio_count;
    nigh__markup_put(figure->drawing, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < count; i++) {
        const nigh_eval_filters_row *row = row_at(figure, kind * count + i);
        const double across = panel == 2 ? bytes_of(row) / figure->most_bytes : row->ratio / figure->most_ratio;
        draw_point(figure, panel, across, value_of(row, line), i == 0);
    }
    nigh__markup_put(figure->drawing, "h0\"/>\n");
}

static void draw_bar(const struct figure *figure, const nigh_eval_filters_row *row, unsigned kind, double from,
                     double to, const char *style) {
    const double middle = row->ratio / figure->most_ratio * PANEL_WIDTH + BAR_SHIFT * ((double)kind - 1);
    const struct nigh__tenths x = nigh__tenths(left_of(1) + middle);
    const struct nigh__tenths top = nigh__tenths(down_of(figure, to));
    const struct nigh__tenths end = nigh__tenths(down_of(figure, from));
    nigh__markup_put(figure->drawing, "<path class=\"c%u\" style=\"%s\" d=\"M%d.%d %d.%dV%d.%d\"/>", kind, style,
                     x.whole, x.rest, top.whole, top.rest, end.whole, end.rest);
}

static void draw_distribution(const struct figure *figure) {
    for (size_t i = 0; i < figure->filters->rows.count; i++) {
        const nigh_eval_filters_row *row = row_at(figure, i);
        const unsigned kind = (unsigned)(i / figure->filters->ratio_count);
        draw_bar(figure, row, kind, row->error_least, row->error_most, "stroke-width:1");
        draw_bar(figure, row, kind, row->error_quantiles[0], row->error_quantiles[2], "stroke-width:4");
        nigh__markup_put(figure->drawing, "\n");
    }
}

static void draw_inverted(const struct figure *figure) {
    const struct nigh__tenths x =
        nigh__tenths(left_of(2) + PANEL_WIDTH * (inverted_bytes(figure) / figure->most_bytes));
    nigh__markup_put(figure->drawing, "<path class=\"m\" d=\"M%d.%d %dv%d\"/>\n", x.whole, x.rest, TOP, PANEL_HEIGHT);
}

static void draw_keys(const struct figure *figure) {
    static const struct {
        const char *class, *name;
    } keys[] = {{"l c0", "bloom"},  {"l c1", "coca"},  {"l c2", "hybrid"},
                {"d c4", "theory"}, {"d c3", "bound"}, {"m", "inverted index"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const int x = LEFT + KEY_WIDTH * (int)i;
        nigh__markup_put(figure->drawing, "<path class=\"%s\" d=\"M%d %dh22\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
                         keys[i].class, x, KEYS_TOP - 4, x + 28, KEYS_TOP, keys[i].name);
    }
}

nigh_status nigh_eval_filters_plot(nigh_eval_filters *filters, const char *title, const char **svg, size_t *length,
                                   nigh_error *error) {
    static const char *const classes[KINDS] = {"l c0", "l c1", "l c2"};
    struct nigh__markup drawing = {.context = filters->context, .out = &filters->svg};
    struct figure figure = {.drawing = &drawing, .filters = filters};
    filters->svg.count = 0;
    fit(&figure);
    nigh__plot_begin(&drawing, WIDTH, HEIGHT, LEFT, title);
    draw_axes(&figure, 0, "false positive error", "bits a word");
    draw_axes(&figure, 1, "its distribution over blocks", "bits a word");
    draw_axes(&figure, 2, "by size, dictionary included", "kilobytes");
    draw_ticks(&figure, 0, figure.most_ratio);
    draw_ticks(&figure, 1, figure.most_ratio);
    draw_ticks(&figure, 2, figure.most_bytes / 1e3);
    draw_line(&figure, 0, 0, LINE_THEORY, "d c4");
    draw_line(&figure, 0, 0, LINE_BOUND, "d c3");
    draw_inverted(&figure);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        draw_line(&figure, 0, kind, LINE_ERROR, classes[kind]);
        draw_line(&figure, 2, kind, LINE_ERROR, classes[kind]);
    }
    draw_distribution(&figure);
    draw_keys(&figure);
    nigh__plot_end(&drawing);
    if (drawing.failed) return nigh__no_memory(error, "for the plot");
    *svg = filters->svg.data;
    *length = filters->svg.count;
    return NIGH_OK;
}
