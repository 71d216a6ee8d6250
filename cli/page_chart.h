/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and points for the pages of --report, drawn as SVG. Pointing at a point shows its numbers. */
#ifndef NIGH_CLI_PAGE_CHART_H
#define NIGH_CLI_PAGE_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "sink.h"

struct cli_chart_point {
    double across, up; /* not finite: there is no such point, and a line goes on without it */
};

enum cli_chart_scale {
    CLI_CHART_PLAIN,
    CLI_CHART_SHARE,   /* up to 1; from 0, or where all is above a half from the tenth below */
    CLI_CHART_POWERS,  /* logarithmic; what is not above 0 is not drawn */
    CLI_CHART_SECONDS, /* the same, of times */
};

struct cli_chart {
    const char *heading, *below; /* our words: what goes up, and what goes across */
    enum cli_chart_scale across, up;
    bool apart; /* points by themselves, not joined to lines */
    size_t lines;
    const void *from; /* what these two are called with */
    const char *(*name)(const void *from, size_t line);
    bool (*point)(const void *from, size_t line, size_t index, struct cli_chart_point *out); /* false: past the last */
    /* What is said of a point when one points at it; NULL: its line and its numbers. */
    void (*says)(struct cli_sink *page, const void *from, size_t line, size_t index);
    const char *level_says; /* NULL, or what stands at a level line up at `level` */
    double level;
    const char *mark_says; /* NULL, or what stands at an upright line across at `mark` */
    double mark;
};

/* Charts stand between these, side by side where there is room. */
#define CLI_CHARTS_BEGIN "<div class=\"charts\">\n"
#define CLI_CHARTS_END "</div>\n"

/* Nothing where there is no point. */
void cli_page_chart(struct cli_sink *page, const struct cli_chart *chart);

#endif
