/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much weak bits help, as an SVG image of four panels: attempts (Figure 2 of the
 * paper), probes that a recall of .95 takes (Figure 5), and recall by probes where all
 * matches or any one is wanted (Figure 8).
 */
#include "eval/plot.h"
#include "eval/weak_bits.h"

#define WIDTH 860
#define PANEL_WIDTH 340
#define PANEL_HEIGHT 220
#define LEFT_PANEL 52
#define RIGHT_PANEL 482
#define UPPER_PANEL 76
#define LOWER_PANEL 412
#define POINTS 120 /* of a line at most */
#define STEPS 8    /* binary places of a logarithm */

/* An axis across by powers of two, `doublings` of them; upwards 0 to 1, or by powers of two as well. */
struct panel {
    int left, top;
    uint32_t doublings;
    uint32_t doublings_up; /* 0: shares */
};

/* Of 1 and more, as finely as a drawing needs it. */
static double log2_of(double value) {
    double whole = 0;
    double share = 0;
    while (value >= 2) {
        value /= 2;
        whole++;
    }
    for (int step = 1; step <= STEPS; step++) {
        value *= value;
        if (value < 2) continue;
        value /= 2;
        share += 1.0 / (1 << step);
    }
    return whole + share;
}

/* -------------------------------------------------------------------- axes -- */

static void draw_across(struct nigh__markup *drawing, const struct panel *panel, const char *below) {
    const uint32_t step = panel->doublings > 10 ? 2 : 1;
    for (uint32_t i = 0; i <= panel->doublings; i += step) {
        const int x = panel->left + (int)(PANEL_WIDTH * i / panel->doublings);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x, panel->top + PANEL_HEIGHT + 18);
        nigh__markup_put(drawing, i < 10 ? "%u" : "%uK", i < 10 ? 1u << i : 1u << (i - 10));
        nigh__markup_put(drawing, "</text>\n");
    }
    nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                     panel->left + PANEL_WIDTH / 2, panel->top + PANEL_HEIGHT + 38, below);
}

static void draw_up(struct nigh__markup *drawing, const struct panel *panel) {
    const int lines = panel->doublings_up == 0 ? 5 : (int)panel->doublings_up;
    for (int i = 0; i <= lines; i++) {
        const int y = panel->top + PANEL_HEIGHT * (lines - i) / lines;
        nigh__markup_put(drawing, "<path class=\"%s\" d=\"M%d %dh%d\"/>", i == 0 ? "a" : "g", panel->left, y,
                         PANEL_WIDTH);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", panel->left - 7, y + 4);
        if (panel->doublings_up == 0)
            nigh__markup_put(drawing, "%d.%d</text>\n", i / 5, i % 5 * 2);
        else
            nigh__markup_put(drawing, "%u</text>\n", 1u << i);
    }
}

static void draw_heading(struct nigh__markup *drawing, const struct panel *panel, const char *heading) {
    nigh__markup_put(drawing, "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text>\n", panel->left, panel->top - 14, heading);
}

/* Room for `lines` keys, over whatever was drawn there. */
static void draw_room(struct nigh__markup *drawing, int x, int y, int width, int lines) {
    nigh__markup_put(drawing, "<path class=\"k\" d=\"M%d %dh%dv%dh-%dz\"/>\n", x - 6, y - 15, width, 18 * lines + 3,
                     width);
}

/* A short line and what it stands for, in the panel. */
static void draw_key(struct nigh__markup *drawing, int x, int y, const char *class, const char *format,
                     uint32_t number) {
    nigh__markup_put(drawing, "<path class=\"l %s\" d=\"M%d %dh22\"/><text x=\"%d\" y=\"%d\">", class, x, y - 4, x + 28,
                     y);
    nigh__markup_put(drawing, "%s", format);
    if (number > 0) nigh__markup_put(drawing, "%u", number);
    nigh__markup_put(drawing, "</text>\n");
}

/* ------------------------------------------------------------------- lines -- */

static void draw_point(struct nigh__markup *drawing, const struct panel *panel, double across, double up, bool first) {
    const struct nigh__tenths x = nigh__tenths(panel->left + across * PANEL_WIDTH);
    const struct nigh__tenths y = nigh__tenths(panel->top + (1 - up) * PANEL_HEIGHT);
    nigh__markup_put(drawing, "%s%d.%d %d.%d", first ? "M" : "L", x.whole, x.rest, y.whole, y.rest);
}

/* Shares that grow: counts[first..first + most), of `whole`; `across` is 1 for the first of them. */
static void draw_counts(struct nigh__markup *drawing, const struct panel *panel, const uint64_t *counts, uint32_t most,
                        uint64_t whole, const char *class) {
    uint64_t sum = 0;
    double last = -1;
    if (whole == 0) return;
    nigh__markup_put(drawing, "<path class=\"l %s\" d=\"", class);
    for (uint32_t i = 0; i < most; i++) {
        const double across = log2_of(i + 1.0) / panel->doublings;
        sum += counts[i];
        if (across > 1 || (across - last < 1.0 / POINTS && i + 1 < most)) continue;
        draw_point(drawing, panel, across, (double)sum / (double)whole, last < 0);
        last = across;
    }
    nigh__markup_put(drawing, "\"/>\n");
}

/* The same where every attempt finds as many as any other. */
static void draw_chance(struct nigh__markup *drawing, const struct panel *panel, uint32_t most, const char *class) {
    nigh__markup_put(drawing, "<path class=\"l d %s\" d=\"", class);
    for (uint32_t i = 0; i <= POINTS; i++) {
        double tried = 1;
        for (uint32_t k = 0; k < i; k++) tried *= 1.0925; /* to the power of POINTS about 2^15.3 */
        if (tried > most) tried = most;
        draw_point(drawing, panel, log2_of(tried) / panel->doublings, tried / most, i == 0);
    }
    nigh__markup_put(drawing, "\"/>\n");
}

/* ------------------------------------------------------------------ panels -- */

static void draw_attempts(struct nigh__markup *drawing, const nigh_eval_weak_bits *weak) {
    static const char *const classes[] = {"c0", "c1", "c2"};
    const struct panel panel = {LEFT_PANEL, UPPER_PANEL, 16, 0};
    const uint32_t lines = weak->info.radius < NIGH__WEAK_FLIPS ? weak->info.radius : NIGH__WEAK_FLIPS;
    draw_heading(drawing, &panel, "found within so many attempts");
    draw_up(drawing, &panel);
    draw_across(drawing, &panel, "combinations tried");
    for (uint32_t flips = 1; flips <= lines; flips++) {
        const uint32_t most = nigh__weak_combinations(flips);
        const uint64_t *counts = weak->attempts[NIGH_WEAK_GAUSSIAN][flips - 1];
        uint64_t whole = 0;
        for (uint32_t i = 1; i <= most; i++) whole += counts[i];
        draw_chance(drawing, &panel, most, classes[flips - 1]);
        draw_counts(drawing, &panel, counts + 1, most, whole, classes[flips - 1]);
    }
    draw_room(drawing, panel.left + 206, panel.top + PANEL_HEIGHT - 68, 136, 4);
    for (uint32_t flips = 1; flips <= lines; flips++)
        draw_key(drawing, panel.left + 206, panel.top + PANEL_HEIGHT - 68 + 18 * (int)(flips - 1), classes[flips - 1],
                 "flipped bits: ", flips);
    draw_key(drawing, panel.left + 206, panel.top + PANEL_HEIGHT - 14, "d c4", "in random order", 0);
}

static void draw_needed(struct nigh__markup *drawing, const nigh_eval_weak_bits *weak) {
    static const char *const names[] = {"all matches", "any match", "all, linear weights", "any, linear weights"};
    static const char *const classes[] = {"c0", "c1", "d c0", "d c1"};
    const struct panel panel = {RIGHT_PANEL, UPPER_PANEL, 1, 8};
    draw_heading(drawing, &panel, "probes for a recall of .95");
    draw_up(drawing, &panel);
    for (uint32_t p = 0; p < NIGH__WEAK_PREFIXES; p++)
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%u</text>\n",
                         panel.left + (int)(PANEL_WIDTH * p / (NIGH__WEAK_PREFIXES - 1)), panel.top + PANEL_HEIGHT + 18,
                         nigh__weak_prefixes[p]);
    nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">leading bits, p</text>\n",
                     panel.left + PANEL_WIDTH / 2, panel.top + PANEL_HEIGHT + 38);
    for (uint32_t line = 0; line < 4; line++) {
        bool begun = false;
        nigh__markup_put(drawing, "<path class=\"l %s\" d=\"", classes[line]);
        for (size_t p = 0; p < NIGH__WEAK_PREFIXES; p++) {
            nigh_eval_weak_recall recall = {.size = sizeof recall};
            (void)nigh_eval_weak_bits_recall(weak, line < 2 ? NIGH_WEAK_GAUSSIAN : NIGH_WEAK_LINEAR, p, 1, &recall);
            const uint32_t probes = line % 2 == 0 ? recall.probes_all : recall.probes_any;
            if (probes == 0 || probes > 256) continue;
            draw_point(drawing, &panel, (double)p / (NIGH__WEAK_PREFIXES - 1), log2_of(probes) / 8, !begun);
            begun = true;
        }
        nigh__markup_put(drawing, "\"/>\n");
        draw_key(drawing, panel.left + 186, panel.top + PANEL_HEIGHT - 66 + 18 * (int)line, classes[line], names[line],
                 0);
    }
}

static void draw_recall(struct nigh__markup *drawing, const nigh_eval_weak_bits *weak, bool any) {
    static const char *const classes[] = {"c0", "c1", "c2", "c3"};
    static const char *const dashed[] = {"d c0", "d c1", "d c2", "d c3"};
    const struct panel panel = {any ? RIGHT_PANEL : LEFT_PANEL, LOWER_PANEL, 8, 0};
    draw_heading(drawing, &panel, any ? "queries with a match found, any" : "matches found, all");
    draw_up(drawing, &panel);
    draw_across(drawing, &panel, "probes, k");
    for (uint32_t line = 0; line < 4; line++) {
        const uint32_t p = line + 2; /* 16, 20, 24, 28 */
        for (uint32_t model = 0; model < NIGH__WEAK_MODELS; model++)
            draw_counts(drawing, &panel, any ? weak->any[model][p] : weak->all[model][p], weak->info.probes,
                        any ? weak->info.queries : weak->info.matches, model == 0 ? classes[line] : dashed[line]);
        draw_key(drawing, panel.left + 222, panel.top + PANEL_HEIGHT - 80 + 18 * (int)line, classes[line],
                 "p = ", nigh__weak_prefixes[p]);
    }
    draw_key(drawing, panel.left + 222, panel.top + PANEL_HEIGHT - 8, "d c4", "linear weights", 0);
}

/* ------------------------------------------------------------------- whole -- */

nigh_status nigh_eval_weak_bits_plot(nigh_eval_weak_bits *weak, const char *title, const char **svg, size_t *length,
                                     nigh_error *error) {
    struct nigh__markup drawing = {.context = weak->context, .out = &weak->svg};
    weak->svg.count = 0;
    nigh__plot_begin(&drawing, WIDTH, LOWER_PANEL + PANEL_HEIGHT + 56, LEFT_PANEL, title);
    draw_attempts(&drawing, weak);
    draw_needed(&drawing, weak);
    draw_recall(&drawing, weak, false);
    draw_recall(&drawing, weak, true);
    nigh__plot_end(&drawing);
    if (drawing.failed) return nigh__no_memory(error, "for the plot");
    *svg = weak->svg.data;
    *length = weak->svg.count;
    return NIGH_OK;
}
