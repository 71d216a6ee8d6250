/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram as a drawing within the page:
 *
 *     count |  12          the values stand on the bars where there is room, and in any
 *           |  ##   7      case in a table below that can be unfolded
 *           |  ##  ##  1
 *           +-----------   labels below, as many as fit
 *              0   1   2
 *
 * If one bar is so high that the others would be mere lines, heights are logarithms, and
 * the page says so. Colours are classes: the style of the page follows light and dark.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/logarithm.h"
#include "dedup/report_parts.h"

#define WIDTH 360 /* about that of a phone, so that texts keep their size there */
#define LEFT 46
#define RIGHT 8
#define TOP 22
#define HEIGHT 150
#define PLOT (WIDTH - LEFT - RIGHT)
#define LETTER 7.4    /* width of a character of a label */
#define MAX_BARS 40u  /* more are put together */
#define MAX_LABEL 40u /* bytes of a label that are read */
#define DWARFED 25    /* how many times the middle bar the highest may be */
#define LINEAR_TICKS 4

struct bar {
    const struct nigh__report_bar *first, *last;
    uint64_t count;
};

struct chart {
    struct bar bars[MAX_BARS];
    size_t count;
    uint64_t most;   /* of a bar */
    double top;      /* what the upper edge stands for */
    bool logarithms; /* heights are */
};

static uint64_t add_up(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* Puts neighbours together until there are few enough. */
static void gather_bars(struct chart *chart, const struct nigh__report_bar *bars, size_t count) {
    const size_t group = count == 0 ? 1 : (count - 1) / MAX_BARS + 1;
    for (size_t at = 0; at < count; at += group) {
        const size_t end = count - at < group ? count : at + group;
        struct bar *bar = &chart->bars[chart->count++];
        *bar = (struct bar){.first = &bars[at], .last = &bars[end - 1]};
        for (size_t i = at; i < end; i++) bar->count = add_up(bar->count, bars[i].count);
        if (bar->count > chart->most) chart->most = bar->count;
    }
}

/* The middle one of the bars that are not empty. */
static uint64_t middle_count(const struct chart *chart) {
    uint64_t sorted[MAX_BARS];
    size_t used = 0;
    for (size_t i = 0; i < chart->count; i++) {
        size_t at = used;
        if (chart->bars[i].count == 0) continue;
        for (; at > 0 && sorted[at - 1] > chart->bars[i].count; at--) sorted[at] = sorted[at - 1];
        sorted[at] = chart->bars[i].count;
        used++;
    }
    return used == 0 ? 0 : sorted[(used - 1) / 2];
}

/* Of logarithms the lower edge is 1/2, so that a bar of 1 can be seen. */
static double height_of(const struct chart *chart, uint64_t count) {
    if (count == 0) return 0;
    const double value = (double)count;
    if (chart->logarithms) return nigh__ln(value * 2) / nigh__ln(chart->top * 2) * HEIGHT;
    return value / chart->top * HEIGHT;
}

static void set_scale(struct chart *chart) {
    chart->logarithms = chart->most / DWARFED > middle_count(chart);
    chart->top = chart->most == 0 ? 1 : (double)chart->most;
}

/* ----------------------------------------------------------------- labels */

/* 9,999 in full, then 12.3K, 4.5M: three digits that count. */
static void put_short(struct nigh__markup *page, uint64_t number) {
    static const char units[] = "KMGTPE";
    if (number < 10000) {
        nigh__page_number(page, number);
        return;
    }
    size_t unit = 0;
    uint64_t tenths = number / 100;
    while (tenths >= 10000) {
        tenths /= 1000;
        unit++;
    }
    if (tenths < 1000 && tenths % 10 != 0)
        nigh__markup_put(page, "%u.%u%c", (unsigned)(tenths / 10), (unsigned)(tenths % 10), units[unit]);
    else
        nigh__markup_put(page, "%u%c", (unsigned)(tenths / 10), units[unit]);
}

static size_t label_length(const struct nigh__report_bar *bar) {
    return bar->label == NULL ? 0 : nigh__smaller(strlen(bar->label), MAX_LABEL);
}

static void put_label(struct nigh__markup *page, const struct bar *bar) {
    nigh__page_text(page, bar->first->label, label_length(bar->first), NIGH__PAGE_PLAIN);
    if (bar->first == bar->last) return;
    nigh__markup_put(page, " \u2013 ");
    nigh__page_text(page, bar->last->label, label_length(bar->last), NIGH__PAGE_PLAIN);
}

/* Every how many bars a label has room. */
static size_t label_step(const struct chart *chart) {
    size_t longest = 1;
    for (size_t i = 0; i < chart->count; i++) {
        const size_t length = label_length(chart->bars[i].first);
        if (length > longest) longest = length;
    }
    const double slot = (double)PLOT / (double)chart->count;
    return (size_t)(((double)longest * LETTER + 4) / slot) + 1;
}

/* ---------------------------------------------------------------- drawing */

static void draw_tick(struct nigh__markup *page, const struct chart *chart, uint64_t value) {
    const struct nigh__tenths y = nigh__tenths(TOP + HEIGHT - height_of(chart, value));
    nigh__markup_put(page, "<path class=\"%s\" d=\"M%d %d.%dh%d\"/>", value == 0 ? "axis" : "grid", LEFT, y.whole,
                     y.rest, PLOT);
    if (value == 0 && chart->logarithms) return;
    nigh__markup_put(page, "<text class=\"end\" x=\"%d\" y=\"%d.%d\">", LEFT - 6, y.whole + 4, y.rest);
    put_short(page, value);
    nigh__markup_put(page, "</text>\n");
}

static void draw_ticks(struct nigh__markup *page, const struct chart *chart) {
    draw_tick(page, chart, 0);
    if (chart->logarithms) {
        /* Powers of ten; of many only every second. */
        const uint64_t factor = chart->most >= UINT64_C(10000000) ? 100 : 10;
        for (uint64_t value = 1; value <= chart->most; value *= factor) {
            draw_tick(page, chart, value);
            if (value > UINT64_MAX / factor) break;
        }
        return;
    }
    const uint64_t step = nigh__tick_step(chart->most, LINEAR_TICKS);
    for (uint64_t value = step; value <= chart->most; value += step) {
        draw_tick(page, chart, value);
        if (value > UINT64_MAX - step) break;
    }
}

static void draw_bar(struct nigh__markup *page, const struct chart *chart, size_t i, bool with_value, bool with_label) {
    const struct bar *bar = &chart->bars[i];
    const double slot = (double)PLOT / (double)chart->count;
    const double thickness = slot * 0.8 < 64 ? slot * 0.8 : 64;
    const double middle = LEFT + slot * ((double)i + 0.5);
    const double height = height_of(chart, bar->count);
    const struct nigh__tenths x = nigh__tenths(middle - thickness / 2);
    const struct nigh__tenths y = nigh__tenths(TOP + HEIGHT - (bar->count > 0 && height < 1.5 ? 1.5 : height));
    const struct nigh__tenths wide = nigh__tenths(thickness);
    const struct nigh__tenths centre = nigh__tenths(middle);
    if (bar->count > 0) {
        nigh__markup_put(page, "<path class=\"bar\" d=\"M%d.%d %dV%d.%dh%d.%dV%dz\"><title>", x.whole, x.rest,
                         TOP + HEIGHT, y.whole, y.rest, wide.whole, wide.rest, TOP + HEIGHT);
        put_label(page, bar);
        nigh__markup_put(page, ": ");
        nigh__page_number(page, bar->count);
        nigh__markup_put(page, "</title></path>");
    }
    if (with_value) {
        nigh__markup_put(page, "<text class=\"value\" x=\"%d.%d\" y=\"%d.%d\">", centre.whole, centre.rest, y.whole - 5,
                         y.rest);
        put_short(page, bar->count);
        nigh__markup_put(page, "</text>");
    }
    if (with_label) {
        if (middle + (double)label_length(bar->first) * LETTER / 2 > WIDTH) /* it would be cut off */
            nigh__markup_put(page, "<text class=\"end\" x=\"%d\" y=\"%d\">", WIDTH, TOP + HEIGHT + 17);
        else
            nigh__markup_put(page, "<text class=\"mid\" x=\"%d.%d\" y=\"%d\">", centre.whole, centre.rest,
                             TOP + HEIGHT + 17);
        nigh__page_text(page, bar->first->label, label_length(bar->first), NIGH__PAGE_PLAIN);
        nigh__markup_put(page, "</text>");
    }
    nigh__markup_put(page, "\n");
}

static void draw_chart(struct nigh__markup *page, const struct chart *chart, const char *caption) {
    const bool values = chart->count <= 10;
    const size_t step = label_step(chart);
    nigh__markup_put(page, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"histogram; its numbers follow\">\n",
                     WIDTH, TOP + HEIGHT + 24);
    draw_ticks(page, chart);
    for (size_t i = 0; i < chart->count; i++) draw_bar(page, chart, i, values, i % step == 0);
    nigh__markup_put(page, "</svg>\n<p class=\"below\">");
    nigh__page_string(page, caption);
    nigh__markup_put(page, "</p>\n");
}

static void list_numbers(struct nigh__markup *page, const struct chart *chart) {
    nigh__markup_put(page, "<details class=\"numbers\"><summary>The numbers</summary>\n<table>\n");
    for (size_t i = 0; i < chart->count; i++) {
        nigh__markup_put(page, "<tr><th scope=\"row\">");
        put_label(page, &chart->bars[i]);
        nigh__markup_put(page, "</th><td>");
        nigh__page_number(page, chart->bars[i].count);
        nigh__markup_put(page, "</td></tr>\n");
    }
    nigh__markup_put(page, "</table></details>\n");
}

void nigh__page_chart(struct nigh__markup *page, const char *heading, const char *caption,
                      const struct nigh__report_bar *bars, size_t count) {
    struct chart chart = {.count = 0};
    gather_bars(&chart, bars, count);
    if (chart.most == 0) return; /* nothing to see */
    set_scale(&chart);
    nigh__markup_put(page, "<figure><figcaption>%s", heading);
    if (chart.logarithms)
        nigh__markup_put(page, " <small>logarithmic scale: each line is %s times the one below</small>",
                         chart.most >= UINT64_C(10000000) ? "100" : "10");
    nigh__markup_put(page, "</figcaption>\n");
    draw_chart(page, &chart, caption);
    list_numbers(page, &chart);
    nigh__markup_put(page, "</figure>\n");
}
