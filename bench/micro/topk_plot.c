/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two panels with a line for each method: of its settings those that no other of them
 * beats in both speed and quality, on the second half of the queries.
 *
 * Quality goes from left to right by what is missing of 1, on a scale of logarithms, for
 * .99 and .999 to be as far apart as .9 and .99; what misses less than a thousandth
 * stands at the right edge.  Ours are whole lines, peers dashed.
 */
#include "topk_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/plot.h"

#define WIDTH 860
#define PANEL_WIDTH 340
#define PANEL_HEIGHT 300
#define TOP 76
#define KEYS_TOP (TOP + PANEL_HEIGHT + 66)
#define KEY_HEIGHT 20
#define COLOURS 5
#define MIN_MISSING 0.001

/* The last is the one to look at, and grey, the last of the colours, is for the first, which compares all. */
static unsigned colour_of(unsigned number) { return COLOURS - 1 - number % COLOURS; }

struct panel {
    enum topk_measure by;
    const char *heading;
    int left;
    double least; /* quality, at the left edge */
    const double *ticks;
    size_t tick_count;
};

/* Decades of queries a second: 10^first at the bottom to 10^last at the top. */
struct decades {
    int first, last;
};

/* ---------------------------------------------------------------------- places -- */

static double across(const struct panel *panel, double quality) {
    const double most = log10(1 - panel->least);
    const double share = (most - log10(1 - quality)) / (most - log10(MIN_MISSING));
    return panel->left + share * PANEL_WIDTH;
}

static double down(const struct decades *decades, double rate) {
    const double share = (log10(rate) - decades->first) / (decades->last - decades->first);
    return TOP + (1 - share) * PANEL_HEIGHT;
}

static struct decades decades_of(const struct topk_table *table) {
    double least = HUGE_VAL;
    double most = 0;
    for (size_t i = 0; i < table->count; i++) {
        const double rate = topk_half_rate(&table->rows[i].halves[TOPK_REPORTED]);
        if (rate > 0 && rate < least) least = rate;
        if (rate > most) most = rate;
    }
    if (most == 0) return (struct decades){.first = 0, .last = 1};
    const struct decades decades = {.first = (int)floor(log10(least)), .last = (int)ceil(log10(most))};
    return decades.first == decades.last ? (struct decades){decades.first, decades.first + 1} : decades;
}

/* ----------------------------------------------------------------------- lines -- */

struct point {
    double quality, rate;
};

/* Of equal ones the fastest last. */
static int by_quality(const void *a, const void *b) {
    const struct point *x = a;
    const struct point *y = b;
    if (x->quality != y->quality) return x->quality < y->quality ? -1 : 1;
    return x->rate < y->rate ? -1 : x->rate > y->rate;
}

/* The settings of a method that are worth having, the best quality last; at most as many as there are rows. */
static size_t worth_having(const struct topk_table *table, const char *method, const struct panel *panel,
                           struct point *points) {
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct topk_half *half = &table->rows[i].halves[TOPK_REPORTED];
        const double known = topk_quality(half->quality, panel->by);
        const double quality = 1 - known < MIN_MISSING ? 1 - MIN_MISSING : known; /* of those the fastest only */
        if (half->seconds.runs == 0 || quality < panel->least) continue;
        if (strcmp(table->contenders[table->rows[i].contender].method, method) != 0) continue;
        points[count++] = (struct point){quality, topk_half_rate(half)};
    }
    qsort(points, count, sizeof *points, by_quality);
    size_t kept = count;
    double fastest = 0;
    for (size_t i = count; i-- > 0;) { /* from the best quality down: a poorer one must be faster */
        if (points[i].rate <= fastest) continue;
        fastest = points[i].rate;
        points[--kept] = points[i];
    }
    memmove(points, points + kept, (count - kept) * sizeof *points);
    return count - kept;
}

static void put_place(struct nigh__markup *drawing, const char *before, double x, double y) {
    const struct nigh__tenths right = nigh__tenths(x);
    const struct nigh__tenths low = nigh__tenths(y);
    nigh__markup_put(drawing, "%s%d.%d %d.%d", before, right.whole, right.rest, low.whole, low.rest);
}

static void draw_method(struct nigh__markup *drawing, const struct topk_table *table, const struct panel *panel,
                        const struct decades *decades, const struct topk_contender *contender, unsigned colour) {
    struct point *points = measure_allocate(table->count, sizeof *points);
    const size_t count = worth_having(table, contender->method, panel, points);
    if (count != 0) {
        nigh__markup_put(drawing, "<path class=\"%s c%u\" d=\"", contender->ours ? "l" : "l d", colour);
        for (size_t i = 0; i < count; i++)
            put_place(drawing, i == 0 ? "M" : "L", across(panel, points[i].quality), down(decades, points[i].rate));
        nigh__markup_put(drawing, "\"/>\n<path class=\"p c%u\" style=\"stroke-width:5\" d=\"", colour);
        for (size_t i = 0; i < count; i++) {
            put_place(drawing, "M", across(panel, points[i].quality), down(decades, points[i].rate));
            nigh__markup_put(drawing, "h0");
        }
        nigh__markup_put(drawing, "\"/>\n");
    }
    free(points);
}

/* ------------------------------------------------------------------------ grid -- */

static void draw_grid(struct nigh__markup *drawing, const struct panel *panel, const struct decades *decades) {
    static const char *const names[] = {"1", "10", "100", "1,000", "10,000", "100,000", "1M", "10M"};
    nigh__markup_put(drawing, "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text>\n", panel->left, TOP - 14, panel->heading);
    for (int power = decades->first; power <= decades->last; power++) {
        const int y = TOP + PANEL_HEIGHT * (decades->last - power) / (decades->last - decades->first);
        nigh__markup_put(drawing, "<path class=\"%s\" d=\"M%d %dh%d\"/>", power == decades->first ? "a" : "g",
                         panel->left, y, PANEL_WIDTH);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", panel->left - 7, y + 4,
                         names[power < 0   ? 0
                               : power > 7 ? 7
                                           : power]);
    }
    for (size_t i = 0; i < panel->tick_count; i++) {
        const struct nigh__tenths x = nigh__tenths(across(panel, panel->ticks[i]));
        const int thousandths = (int)(panel->ticks[i] * 1000 + 0.5);
        const bool rough = thousandths % 10 == 0;
        nigh__markup_put(drawing, "<path class=\"g\" d=\"M%d.%d %dv%d\"/>", x.whole, x.rest, TOP, PANEL_HEIGHT);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">.%0*d</text>\n", x.whole,
                         TOP + PANEL_HEIGHT + 18, rough ? 2 : 3, rough ? thousandths / 10 : thousandths);
    }
}

static void draw_keys(struct nigh__markup *drawing, const struct topk_table *table, const struct panel *panels) {
    unsigned ours = 0;
    unsigned peers = 0;
    for (size_t i = 0; i < table->contender_count; i++) {
        const struct topk_contender *contender = &table->contenders[i];
        if (!topk_table_is_first(table, i) || contender->lacking[0] != '\0') continue;
        const unsigned at = contender->ours ? ours++ : peers++;
        const int x = panels[contender->ours ? 0 : 1].left;
        const int y = KEYS_TOP + KEY_HEIGHT * (int)at;
        nigh__markup_put(drawing, "<path class=\"%s c%u\" d=\"M%d %dh22\"/><text x=\"%d\" y=\"%d\">",
                         contender->ours ? "l" : "l d", colour_of(at), x, y - 4, x + 28, y);
        nigh__plot_text(drawing, contender->method);
        nigh__markup_put(drawing, "</text>\n");
    }
}

/* ----------------------------------------------------------------------- whole -- */

static void draw_panel(struct nigh__markup *drawing, const struct topk_table *table, const struct panel *panel,
                       const struct decades *decades) {
    unsigned ours = 0;
    unsigned peers = 0;
    draw_grid(drawing, panel, decades);
    for (size_t i = 0; i < table->contender_count; i++) {
        const struct topk_contender *contender = &table->contenders[i];
        if (!topk_table_is_first(table, i) || contender->lacking[0] != '\0') continue;
        draw_method(drawing, table, panel, decades, contender, colour_of(contender->ours ? ours++ : peers++));
    }
}

void topk_plot(const struct topk_table *table, const char *path) {
    static const double recalls[] = {0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999};
    static const double ratios[] = {0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999};
    static const struct panel panels[] = {
        {TOPK_RECALL, "queries/s by recall@10, one core", 62, 0.5, recalls, sizeof recalls / sizeof recalls[0]},
        {TOPK_CDR, "queries/s by CDR@10, one core", 492, 0.8, ratios, sizeof ratios / sizeof ratios[0]},
    };
    char title[128];
    struct nigh__array svg = NIGH__ARRAY(char);
    struct nigh__markup drawing = {.context = table->set->context, .out = &svg};
    const struct decades decades = decades_of(table);
    (void)snprintf(title, sizeof title, "%s: %" PRIu64 " signatures of %u bits", table->set->name, table->set->count,
                   table->set->bits);
    nigh__plot_begin(&drawing, WIDTH, KEYS_TOP + KEY_HEIGHT * COLOURS, panels[0].left, title);
    for (size_t i = 0; i < 2; i++) draw_panel(&drawing, table, &panels[i], &decades);
    draw_keys(&drawing, table, panels);
    nigh__plot_end(&drawing);
    FILE *file = fopen(path, "wb");
    if (drawing.failed || file == NULL || fwrite(svg.data, 1, svg.count, file) != svg.count || fclose(file) != 0)
        measure_fail(path, "cannot be written");
    nigh__array_release(table->set->context, &svg);
}
