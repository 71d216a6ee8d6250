/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learned signatures as an SVG image: for each number of features MAP, precision within
 * the radius and documents returned, by bits (Figures 1 to 3 of s3h-2011); where there are
 * several numbers of features, also the time and memory of learning by these (Figure 4).
 * The first five lines have colours, the next are dashed; references go from side to side.
 */
#include <string.h>

#include "eval/learned.h"
#include "eval/plot.h"

#define WIDTH 1180
#define PANEL_WIDTH 300
#define PANEL_HEIGHT 210
#define LEFT 56
#define ACROSS 388 /* from one panel to the next */
#define TOP 84
#define DOWN 300 /* from one row of panels to the next */
#define LINES 5  /* of the grid */
#define KEY_WIDTH 180
#define KEY_HEIGHT 20
#define KEYS_ACROSS 6
#define COLOURS 5
#define MAX_LINES 64 /* more methods and references are not drawn */

enum measure { MEASURE_MAP, MEASURE_PRECISION, MEASURE_RETURNED, MEASURE_SECONDS, MEASURE_MEGABYTES };

/* What the rows have: methods in their order, widths, numbers of features. */
struct figure {
    struct nigh__markup *drawing;
    const nigh_eval_learned *learned;
    const char *methods[MAX_LINES];
    size_t method_count;
    uint32_t widths[MAX_LINES];
    size_t width_count;
    uint32_t features[MAX_LINES];
    size_t feature_count;
};

struct panel {
    int left, top;
    double least, most; /* of the axis across */
    double highest;     /* of the axis upwards, which begins at 0 */
};

static const nigh_eval_learned_row *row_at(const struct figure *figure, size_t index) {
    return &((const struct nigh__learned_row *)figure->learned->rows.data)[index].row;
}

/* ------------------------------------------------------------------ series -- */

static void add_number(uint32_t *numbers, size_t *count, uint32_t number) {
    size_t at = 0;
    while (at < *count && numbers[at] < number) at++;
    if ((at < *count && numbers[at] == number) || *count == MAX_LINES) return;
    for (size_t i = (*count)++; i > at; i--) numbers[i] = numbers[i - 1];
    numbers[at] = number;
}

static void add_method(struct figure *figure, const char *method) {
    for (size_t i = 0; i < figure->method_count; i++)
        if (strcmp(figure->methods[i], method) == 0) return;
    if (figure->method_count < MAX_LINES) figure->methods[figure->method_count++] = method;
}

static void gather(struct figure *figure) {
    for (size_t i = 0; i < figure->learned->rows.count; i++) {
        const nigh_eval_learned_row *row = row_at(figure, i);
        add_method(figure, row->method);
        if (row->width_bits == 0) continue;
        add_number(figure->widths, &figure->width_count, row->width_bits);
        add_number(figure->features, &figure->feature_count, row->features);
    }
}

static double value_of(const nigh_eval_learned_row *row, enum measure measure) {
    switch (measure) {
    case MEASURE_MAP:
        return row->map;
    case MEASURE_PRECISION:
        return row->precision;
    case MEASURE_RETURNED:
        return row->returned;
    case MEASURE_SECONDS:
        return row->seconds;
    default:
        return (double)row->peak_bytes / 1e6;
    }
}

/* A reference has a line where it has the measure at all. */
static bool is_drawn(const nigh_eval_learned_row *row, enum measure measure, uint32_t features) {
    if (features == 0) return row->width_bits != 0;
    if (row->width_bits != 0) return row->features == features;
    const bool list = strcmp(row->method, "inverted list") == 0;
    const bool whole = strcmp(row->method, "tf-idf cosine, all features") == 0;
    return (whole || row->features == features) && (measure == MEASURE_MAP ? !list : list);
}

static double highest_of(const struct figure *figure, enum measure measure, uint32_t features) {
    double highest = 0;
    for (size_t i = 0; i < figure->learned->rows.count; i++) {
        const nigh_eval_learned_row *row = row_at(figure, i);
        if (is_drawn(row, measure, features) && value_of(row, measure) > highest) highest = value_of(row, measure);
    }
    return highest;
}

/* -------------------------------------------------------------------- axes -- */

/* A round number that is not below `value`: 1, 2 or 5 times a power of ten, five of which are the axis. */
static double round_up(double value) {
    double step = 1e-4;
    if (!(value > 0)) return 1;
    while (step < 1e15) {
        if (value <= step * LINES) return step * LINES;
        if (value <= 2 * step * LINES) return 2 * step * LINES;
        if (value <= 5 * step * LINES) return 5 * step * LINES;
        step *= 10;
    }
    return value;
}

/* A number of an axis, with as many places as its step has; printf would go by the locale. */
static void draw_number(struct nigh__markup *drawing, double value, double highest) {
    const unsigned places = highest >= LINES ? 0 : highest >= 0.1 * LINES ? 1 : highest >= 0.01 * LINES ? 2 : 4;
    unsigned unit = 1;
    for (unsigned i = 0; i < places; i++) unit *= 10;
    const unsigned long long units = (unsigned long long)(value * unit + 0.5);
    nigh__markup_put(drawing, "%llu", units / unit);
    if (places > 0) nigh__markup_put(drawing, ".%0*llu", (int)places, units % unit);
}

static void draw_axes(const struct figure *figure, const struct panel *panel, const char *heading, uint32_t features,
                      const char *below) {
    struct nigh__markup *drawing = figure->drawing;
    nigh__markup_put(drawing, "<text class=\"h\" x=\"%d\" y=\"%d\">%s", panel->left, panel->top - 14, heading);
    if (features > 0) nigh__markup_put(drawing, ", %u features", features);
    nigh__markup_put(drawing, "</text>\n");
    for (int i = 0; i <= LINES; i++) {
        const int y = panel->top + PANEL_HEIGHT * (LINES - i) / LINES;
        nigh__markup_put(drawing, "<path class=\"%s\" d=\"M%d %dh%d\"/>", i == 0 ? "a" : "g", panel->left, y,
                         PANEL_WIDTH);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", panel->left - 7, y + 4);
        draw_number(drawing, panel->highest * i / LINES, panel->highest);
        nigh__markup_put(drawing, "</text>\n");
    }
    nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                     panel->left + PANEL_WIDTH / 2, panel->top + PANEL_HEIGHT + 38, below);
}

static double across_of(const struct panel *panel, uint32_t number) {
    return panel->most > panel->least ? (number - panel->least) / (panel->most - panel->least) : 0.5;
}

static void draw_ticks(const struct figure *figure, const struct panel *panel, const uint32_t *numbers, size_t count) {
    double last = -1;
    for (size_t i = 0; i < count; i++) {
        const double across = across_of(panel, numbers[i]);
        if (last >= 0 && across - last < 0.09) continue; /* no room */
        nigh__markup_put(figure->drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%u</text>\n",
                         panel->left + (int)(across * PANEL_WIDTH), panel->top + PANEL_HEIGHT + 18, numbers[i]);
        last = across;
    }
}

/* ------------------------------------------------------------------- lines -- */

static void draw_point(const struct figure *figure, const struct panel *panel, double across, double value,
                       bool first) {
    const double up = value < panel->highest ? value / panel->highest : 1;
    const struct nigh__tenths x = nigh__tenths(panel->left + across * PANEL_WIDTH);
    const struct nigh__tenths y = nigh__tenths(panel->top + (1 - up) * PANEL_HEIGHT);
    nigh__markup_put(figure->drawing, "%s%d.%d %d.%d", first ? "M" : "L", x.whole, x.rest, y.whole, y.rest);
}

/* Whether it has bits, and is no reference. */
static bool is_method(const struct figure *figure, size_t method) {
    for (size_t i = 0; i < figure->learned->rows.count; i++)
        if (strcmp(row_at(figure, i)->method, figure->methods[method]) == 0) return row_at(figure, i)->width_bits != 0;
    return false;
}

/* A method's line; by bits for so many features, or by features where that is 0, then with the widest signatures. */
static void draw_line(const struct figure *figure, const struct panel *panel, size_t method, enum measure measure,
                      uint32_t features) {
    const uint32_t widest = figure->widths[figure->width_count - 1];
    const bool dot = features != 0 && figure->width_count == 1 && is_method(figure, method);
    bool first = true;
    nigh__markup_put(figure->drawing, "<path class=\"%s c%u\" d=\"",
                     dot                 ? "p"
                     : method >= COLOURS ? "l d"
                                         : "l",
                     (unsigned)(method % COLOURS));
    for (size_t i = 0; i < figure->learned->rows.count; i++) {
        const nigh_eval_learned_row *row = row_at(figure, i);
        if (strcmp(row->method, figure->methods[method]) != 0 || !is_drawn(row, measure, features)) continue;
        if (features == 0 && row->width_bits != widest) continue;
        if (row->width_bits == 0) {
            draw_point(figure, panel, 0, value_of(row, measure), true);
            nigh__markup_put(figure->drawing, "h%d", PANEL_WIDTH);
        } else {
            draw_point(figure, panel, across_of(panel, features == 0 ? row->features : row->width_bits),
                       value_of(row, measure), first);
        }
        first = false;
    }
    nigh__markup_put(figure->drawing, dot ? "h0\"/>\n" : "\"/>\n");
}

static void draw_panel(const struct figure *figure, int column, int line, enum measure measure, uint32_t features) {
    static const char *const headings[] = {"MAP", "precision within the radius", "documents returned",
                                           "seconds of learning", "megabytes of learning"};
    const uint32_t *numbers = features == 0 ? figure->features : figure->widths;
    const size_t count = features == 0 ? figure->feature_count : figure->width_count;
    const struct panel panel = {.left = LEFT + ACROSS * column,
                                .top = TOP + DOWN * line,
                                .least = numbers[0],
                                .most = numbers[count - 1],
                                .highest = round_up(highest_of(figure, measure, features))};
    draw_axes(figure, &panel, headings[measure], features, features == 0 ? "features" : "bits");
    draw_ticks(figure, &panel, numbers, count);
    for (size_t method = 0; method < figure->method_count; method++)
        draw_line(figure, &panel, method, measure, features);
}

static void draw_keys(const struct figure *figure, int top) {
    for (size_t i = 0; i < figure->method_count; i++) {
        const int x = LEFT + KEY_WIDTH * (int)(i % KEYS_ACROSS);
        const int y = top + KEY_HEIGHT * (int)(i / KEYS_ACROSS);
        nigh__markup_put(figure->drawing,
                         "<path class=\"l%s c%u\" d=\"M%d %dh22\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
                         i >= COLOURS ? " d" : "", (unsigned)(i % COLOURS), x, y - 4, x + 28, y, figure->methods[i]);
    }
}

nigh_status nigh_eval_learned_plot(nigh_eval_learned *learned, const char *title, const char **svg, size_t *length,
                                   nigh_error *error) {
    struct nigh__markup drawing = {.context = learned->context, .out = &learned->svg};
    struct figure figure = {.drawing = &drawing, .learned = learned};
    learned->svg.count = 0;
    gather(&figure);
    const bool costs = figure.feature_count > 1;
    const int lines = (int)figure.feature_count + (costs ? 1 : 0);
    const int keys = TOP + DOWN * lines - 20;
    const int key_lines = (int)((figure.method_count + KEYS_ACROSS - 1) / KEYS_ACROSS);
    nigh__plot_begin(&drawing, WIDTH, keys + KEY_HEIGHT * key_lines, LEFT, title);
    for (size_t f = 0; f < figure.feature_count; f++)
        for (int measure = MEASURE_MAP; measure <= MEASURE_RETURNED; measure++)
            draw_panel(&figure, measure, (int)f, (enum measure)measure, figure.features[f]);
    if (costs) {
        draw_panel(&figure, 0, lines - 1, MEASURE_SECONDS, 0);
        draw_panel(&figure, 1, lines - 1, MEASURE_MEGABYTES, 0);
    }
    draw_keys(&figure, keys);
    nigh__plot_end(&drawing);
    if (drawing.failed) return nigh__no_memory(error, "for the plot");
    *svg = learned->svg.data;
    *length = learned->svg.count;
    return NIGH_OK;
}
