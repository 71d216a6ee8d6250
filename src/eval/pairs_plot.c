/* SPDX-License-Identifier: Apache-2.0 */
/* The two plots of pairs: the mean cosine at each distance, and precision, recall and F1 by radius. */
#include "eval/pairs.h"
#include "eval/plot.h"

#define WIDTH 860
#define PANEL 340  /* width of one */
#define TOP 76     /* of the panels */
#define HEIGHT 260 /* of the panels */
#define POINTS 160 /* of a line at most */

/* ---------------------------------------------------------------- panels -- */

/* A panel: distances across, 0 to 1 upwards. */
struct panel {
    int left;
    uint32_t most; /* distance at the right edge, at least 1 */
};

static struct nigh__tenths x_of(const struct panel *panel, uint32_t distance) {
    return nigh__tenths(panel->left + (double)distance * PANEL / panel->most);
}

static struct nigh__tenths y_of(double value) { return nigh__tenths(TOP + (1 - value) * HEIGHT); }

static void draw_axes(struct nigh__markup *drawing, const struct panel *panel, const char *heading, const char *below) {
    const uint32_t step = (uint32_t)nigh__tick_step(panel->most, 8);
    nigh__markup_put(drawing, "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text>\n", panel->left, TOP - 14, heading);
    for (int i = 0; i <= 5; i++) {
        const int y = TOP + HEIGHT * (5 - i) / 5;
        nigh__markup_put(drawing, "<path class=\"%s\" d=\"M%d %dh%d\"/>", i == 0 ? "a" : "g", panel->left, y, PANEL);
        nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d.%d</text>\n", panel->left - 7, y + 4,
                         i / 5, i % 5 * 2);
    }
    for (uint32_t d = 0; d <= panel->most; d += step) {
        const struct nigh__tenths x = x_of(panel, d);
        nigh__markup_put(drawing, "<text x=\"%d.%d\" y=\"%d\" text-anchor=\"middle\">%u</text>\n", x.whole, x.rest,
                         TOP + HEIGHT + 18, d);
    }
    nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", panel->left + PANEL / 2,
                     TOP + HEIGHT + 38, below);
}

/* Cosine and precision stand in panels of their own, and share a colour. */
static const char *class_of(char what) { return what == 'r' ? "c1" : what == 'f' ? "d c4" : "c0"; }

static double value_of(const nigh_eval_pairs_row *row, char what) {
    return what == 'c' ? row->cosine : what == 'p' ? row->precision : what == 'r' ? row->recall : row->f1;
}

/* One line; distances without a pair have no cosine, and are passed over. */
static void draw_line(struct nigh__markup *drawing, const nigh_eval_pairs *pairs, const struct panel *panel,
                      char what) {
    const uint32_t stride = panel->most / POINTS + 1;
    bool begun = false;
    nigh__markup_put(drawing, "<path class=\"l %s\" d=\"", class_of(what));
    for (uint32_t d = 0; d <= panel->most; d += stride) {
        nigh_eval_pairs_row row = {.size = sizeof row};
        if (nigh_eval_pairs_at(pairs, NIGH_EVAL_LENGTH_ALL, d, &row) != NIGH_OK || value_of(&row, what) < 0) continue;
        const struct nigh__tenths x = x_of(panel, d);
        const struct nigh__tenths y = y_of(value_of(&row, what));
        nigh__markup_put(drawing, "%s%d.%d %d.%d", begun ? "L" : "M", x.whole, x.rest, y.whole, y.rest);
        begun = true;
    }
    nigh__markup_put(drawing, "\"/>\n");
}

static void draw_legend(struct nigh__markup *drawing, const struct panel *panel) {
    static const struct {
        char what;
        const char *name;
    } lines[] = {{'p', "precision"}, {'r', "recall"}, {'f', "F1"}};
    for (int i = 0; i < 3; i++) {
        const int x = panel->left + 116 + i * 88;
        nigh__markup_put(drawing, "<path class=\"l %s\" d=\"M%d %dh20\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
                         class_of(lines[i].what), x, TOP - 18, x + 25, TOP - 14, lines[i].name);
    }
}

/* The radius of the best F1, where there is one. */
static void draw_best(struct nigh__markup *drawing, const nigh_eval_pairs *pairs, const struct panel *panel) {
    nigh_eval_pairs_row best = {.size = sizeof best};
    if (nigh_eval_pairs_best(pairs, NIGH_EVAL_LENGTH_ALL, &best) != NIGH_OK || best.distance > panel->most) return;
    const struct nigh__tenths x = x_of(panel, best.distance);
    const bool right = best.distance > panel->most / 2;
    nigh__markup_put(drawing, "<path class=\"m\" d=\"M%d.%d %dv%d\"/>", x.whole, x.rest, TOP, HEIGHT);
    nigh__markup_put(drawing, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">best F1 at %u</text>\n",
                     x.whole + (right ? -5 : 5), TOP + HEIGHT - 8, right ? "end" : "start", best.distance);
}

/* ------------------------------------------------------------------ whole -- */

/* The farthest distance that any pair has, and that any pair that is alike has. */
static void find_ends(const nigh_eval_pairs *pairs, uint32_t *farthest, uint32_t *farthest_alike) {
    *farthest = *farthest_alike = 1;
    for (uint32_t d = 1; d <= pairs->width_bits; d++) {
        if (pairs->pairs[d] > pairs->pairs[d - 1]) *farthest = d;
        if (pairs->alike[d] > pairs->alike[d - 1]) *farthest_alike = d;
    }
}

static void draw(struct nigh__markup *drawing, const nigh_eval_pairs *pairs, const char *title) {
    uint32_t farthest = 0;
    uint32_t farthest_alike = 0;
    find_ends(pairs, &farthest, &farthest_alike);
    const uint32_t wider = farthest_alike + farthest_alike / 4 + 2;
    const struct panel cosines = {.left = 52, .most = farthest};
    const struct panel radii = {.left = 482, .most = wider < farthest ? wider : farthest};
    const struct nigh__tenths threshold = nigh__tenths(pairs->threshold * 100);
    nigh__plot_begin(drawing, WIDTH, TOP + HEIGHT + 56, cosines.left, title);
    draw_axes(drawing, &cosines, "mean cosine", "Hamming distance");
    draw_line(drawing, pairs, &cosines, 'c');
    draw_axes(drawing, &radii, pairs->labelled ? "labelled pairs" : "alike pairs", "radius");
    draw_legend(drawing, &radii);
    draw_best(drawing, pairs, &radii);
    draw_line(drawing, pairs, &radii, 'f');
    draw_line(drawing, pairs, &radii, 'p');
    draw_line(drawing, pairs, &radii, 'r');
    nigh__markup_put(drawing, "<text x=\"%d\" y=\"26\" text-anchor=\"end\">%s of %d.%02d or more are alike</text>\n",
                     radii.left + PANEL, pairs->labelled ? "labels" : "cosines", threshold.whole / 100,
                     threshold.whole % 100);
    nigh__plot_end(drawing);
}

nigh_status nigh_eval_pairs_plot(nigh_eval_pairs *pairs, const char *title, const char **svg, size_t *length,
                                 nigh_error *error) {
    struct nigh__markup drawing = {.context = pairs->context, .out = &pairs->svg};
    pairs->svg.count = 0;
    draw(&drawing, pairs, title);
    if (drawing.failed) return nigh__no_memory(error, "for the plot");
    *svg = pairs->svg.data;
    *length = pairs->svg.count;
    return NIGH_OK;
}
