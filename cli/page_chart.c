/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charts that can be read on a phone. They are as wide as its screen, so that texts keep their size, and the names of
 * lines stand above the chart instead of beside it. There are six colours; from the seventh line on they repeat,
 * dashed.
 */
#include "page_chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page.h"
#include "tuning_lines.h"

#define WIDTH 400
#define HEIGHT 190 /* of the plot alone, as are the next four */
#define LEFT 52
#define RIGHT 14
#define TOP 12
#define BOTTOM 44
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
#define TICKS 12
#define MOST_ACROSS 5 /* ticks that there is room for */
#define MOST_UP 6
#define MOST_OWN 8      /* different values that are all told */
#define MOST_POINTS 200 /* of a line */
#define MOST_DOTS 40    /* with more, a line is a line alone */
#define COLOURS 6u
#define CHARACTER 8.0 /* the width of one, about */

/* -------------------------------------------------------------------- axes -- */

/* What its ends stand for: values, or their decimal logarithms. */
struct axis {
    enum cli_chart_scale scale;
    double from, to;
    double ticks[TICKS]; /* values */
    size_t count;
};

static bool is_logarithmic(enum cli_chart_scale scale) {
    return scale == CLI_CHART_POWERS || scale == CLI_CHART_SECONDS;
}

static double place_of(const struct axis *axis, double value) {
    const double at = is_logarithmic(axis->scale) ? log10(value) : value;
    return (at - axis->from) / (axis->to - axis->from);
}

static void add_tick(struct axis *axis, double value) {
    if (axis->count < TICKS) axis->ticks[axis->count++] = value;
}

/* The least of 1, 2, 5, 10, 20, ... parts of ten that is not below `span`. */
static double round_step(double span) {
    const double power = pow(10, floor(log10(span)));
    const double parts[] = {1, 2, 5};
    for (size_t i = 0; i < 3; i++)
        if (parts[i] * power >= span * (1 - 1e-9)) return parts[i] * power;
    return 10 * power;
}

static void plain_ticks(struct axis *axis, size_t most) {
    const double step = round_step((axis->to - axis->from) / (double)most);
    const double first = ceil(axis->from / step - 1e-9);
    for (size_t i = 0; i < TICKS && (first + (double)i) * step <= axis->to + step * 1e-6; i++)
        add_tick(axis, (first + (double)i) * step);
}

static void end_at_ticks(struct axis *axis) {
    axis->from = log10(axis->ticks[0]);
    axis->to = log10(axis->ticks[axis->count - 1]);
}

/* 1, 2, 5, 10, ...: from the last that is not above `least` to the first that is not below `most`. */
static void fine_ticks(struct axis *axis, double least, double most) {
    static const double parts[] = {1, 2, 5};
    double power = pow(10, floor(log10(least)));
    for (int i = 0; i < TICKS; i++) {
        const double value = parts[i % 3] * power;
        if (i % 3 == 2) power *= 10;
        if (value <= least * (1 + 1e-9)) axis->count = 0;
        add_tick(axis, value);
        if (axis->count > 1 && value >= most * (1 - 1e-9)) break;
    }
    end_at_ticks(axis);
}

/* Powers of ten, or every second, or third, ... */
static void coarse_ticks(struct axis *axis, double least, double most, size_t room) {
    const int first = (int)floor(log10(least) + 1e-9), last = (int)ceil(log10(most) - 1e-9);
    const int step = (last - first + (int)room - 1) / (int)room;
    for (int power = first; power < last + step; power += step) add_tick(axis, pow(10, power));
    end_at_ticks(axis);
}

/* Where there are few different values, such as widths, these say more than round numbers. */
static bool own_ticks(struct axis *axis, const struct cli_chart *chart) {
    struct cli_chart_point point;
    for (size_t line = 0; line < chart->lines; line++) {
        for (size_t i = 0; chart->point(chart->from, line, i, &point); i++) {
            size_t known = 0;
            while (known < axis->count && axis->ticks[known] < point.across) known++;
            if (known < axis->count && axis->ticks[known] == point.across) continue;
            if (axis->count == MOST_OWN || !isfinite(point.across)) return false;
            memmove(axis->ticks + known + 1, axis->ticks + known, (axis->count++ - known) * sizeof *axis->ticks);
            axis->ticks[known] = point.across;
        }
    }
    return axis->count > 1;
}

static struct axis make_axis(enum cli_chart_scale scale, double least, double most, size_t room, bool upright) {
    struct axis axis = {.scale = scale, .from = least, .to = most};
    if (is_logarithmic(scale)) {
        if (most <= 100 * least)
            fine_ticks(&axis, least, most);
        else
            coarse_ticks(&axis, least, most, room);
        return axis;
    }
    if (scale == CLI_CHART_SHARE) {
        axis.from = least >= 0.9 ? 0.9 : least > 0.5 ? floor(least * 10) / 10 : 0;
        axis.to = 1;
    } else if (upright) {
        axis.from = least > 0 ? 0 : least;
    }
    if (!(axis.to > axis.from)) axis.to = axis.from + 1;
    plain_ticks(&axis, room);
    if (upright && axis.count > 1 && scale == CLI_CHART_PLAIN) { /* a line of the grid above everything */
        const double step = axis.ticks[1] - axis.ticks[0];
        const double last = axis.ticks[axis.count - 1];
        if (last < axis.to * (1 - 1e-9)) add_tick(&axis, axis.to = last + step);
    }
    return axis;
}

/* ------------------------------------------------------------------ points -- */

struct drawing {
    const struct cli_chart *chart;
    struct axis across, up;
};

static bool is_there(const struct cli_chart *chart, const struct cli_chart_point *point) {
    return isfinite(point->across) && isfinite(point->up) && (!is_logarithmic(chart->up) || point->up > 0) &&
           (!is_logarithmic(chart->across) || point->across > 0);
}

static size_t points_of(const struct cli_chart *chart, size_t line) {
    struct cli_chart_point point;
    size_t count = 0;
    while (chart->point(chart->from, line, count, &point)) count++;
    return count;
}

/* False: no point is there. */
static bool measure(struct drawing *drawing) {
    const struct cli_chart *chart = drawing->chart;
    struct cli_chart_point least = {INFINITY, INFINITY}, most = {-INFINITY, -INFINITY}, point;
    for (size_t line = 0; line < chart->lines; line++) {
        for (size_t i = 0; chart->point(chart->from, line, i, &point); i++) {
            if (!is_there(chart, &point)) continue;
            least = (struct cli_chart_point){fmin(least.across, point.across), fmin(least.up, point.up)};
            most = (struct cli_chart_point){fmax(most.across, point.across), fmax(most.up, point.up)};
        }
    }
    if (!isfinite(least.up)) return false;
    if (chart->level_says != NULL) {
        least.up = fmin(least.up, chart->level);
        most.up = fmax(most.up, chart->level);
    }
    struct axis own = {.scale = chart->across, .from = least.across, .to = most.across};
    drawing->across = make_axis(chart->across, least.across, most.across, MOST_ACROSS, false);
    if (chart->across == CLI_CHART_PLAIN && own_ticks(&own, chart)) drawing->across = own;
    drawing->up = make_axis(chart->up, least.up, most.up, MOST_UP, true);
    return true;
}

static double x_of(const struct drawing *drawing, double value) {
    return LEFT + place_of(&drawing->across, value) * PLOT_WIDTH;
}

/* A measure beyond its scale stays at its edge. */
static double y_of(const struct drawing *drawing, double value) {
    return TOP + (1 - fmin(1, fmax(0, place_of(&drawing->up, value)))) * HEIGHT;
}

/* ----------------------------------------------------------------- drawing -- */

struct value {
    char text[32];
};

static struct value value_of(enum cli_chart_scale scale, double value, int digits) {
    struct value out;
    if (scale == CLI_CHART_SECONDS)
        (void)snprintf(out.text, sizeof out.text, "%s", cli_time(value).text);
    else if (value >= 1e6)
        (void)snprintf(out.text, sizeof out.text, "%.3g M", value / 1e6);
    else if (value >= 1e4)
        (void)snprintf(out.text, sizeof out.text, "%.3g k", value / 1e3);
    else
        (void)snprintf(out.text, sizeof out.text, "%.*g", value >= 1000 ? 4 : digits, value);
    return out;
}

static void draw_axes(struct cli_sink *page, const struct drawing *drawing) {
    for (size_t i = 0; i < drawing->up.count; i++) {
        const double y = y_of(drawing, drawing->up.ticks[i]);
        cli_sink_format(
            page, "<path class=\"grid\" d=\"M%d %.1fh%d\"/><text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT,
            y, PLOT_WIDTH, LEFT - 6, y + 4, value_of(drawing->up.scale, drawing->up.ticks[i], 3).text);
    }
    double free = 0; /* from here on there is room for a text */
    for (size_t i = 0; i < drawing->across.count; i++) {
        const struct value value = value_of(drawing->across.scale, drawing->across.ticks[i], 3);
        const double x = x_of(drawing, drawing->across.ticks[i]);
        const double half = CHARACTER / 2 * (double)strlen(value.text);
        if (x - half < free) continue;
        free = x + half + CHARACTER;
        cli_sink_format(page, "<text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n", x + half > WIDTH ? "end" : "mid",
                        x + half > WIDTH ? WIDTH : x, TOP + HEIGHT + 17, value.text);
    }
    cli_sink_format(page, "<text class=\"mid\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT + PLOT_WIDTH / 2, TOP + HEIGHT + 36,
                    drawing->chart->below);
}

static void draw_level(struct cli_sink *page, const struct drawing *drawing) {
    const struct cli_chart *chart = drawing->chart;
    if (chart->level_says == NULL) return;
    cli_sink_format(page, "<path class=\"mark\" d=\"M%d %.1fh%d\"/><text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                    LEFT, y_of(drawing, chart->level), PLOT_WIDTH, LEFT + PLOT_WIDTH, y_of(drawing, chart->level) + 15,
                    chart->level_says);
}

static void draw_mark(struct cli_sink *page, const struct drawing *drawing) {
    const struct cli_chart *chart = drawing->chart;
    if (chart->mark_says == NULL) return;
    const double x = x_of(drawing, chart->mark);
    const bool right = x > LEFT + PLOT_WIDTH / 2.0;
    if (!(x >= LEFT && x <= LEFT + PLOT_WIDTH)) return;
    cli_sink_format(page, "<path class=\"mark\" d=\"M%.1f %dv%d\"/><text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                    x, TOP, HEIGHT, right ? "end" : "start", right ? x - 5 : x + 5, TOP + HEIGHT - 8, chart->mark_says);
}

static void put_colour(struct cli_sink *page, size_t line) {
    cli_sink_format(page, "c%u%s", (unsigned)(line % COLOURS), line / COLOURS % 2 == 1 ? " dashed" : "");
}

static void draw_dot(struct cli_sink *page, const struct drawing *drawing, size_t line, size_t index,
                     const struct cli_chart_point *point) {
    const struct cli_chart *chart = drawing->chart;
    const char *name = chart->name(chart->from, line);
    cli_sink_text(page, "<circle class=\"dot ");
    put_colour(page, line);
    cli_sink_format(page, "\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>", x_of(drawing, point->across),
                    y_of(drawing, point->up), chart->apart ? "5" : "3");
    if (chart->says != NULL) {
        chart->says(page, chart->from, line, index);
    } else {
        cli_page_text(page, name, strlen(name));
        cli_sink_format(page, ": %s at %s", value_of(chart->up, point->up, 4).text,
                        value_of(chart->across, point->across, 4).text);
    }
    cli_sink_text(page, "</title></circle>\n");
}

static void draw_line(struct cli_sink *page, const struct drawing *drawing, size_t line) {
    const struct cli_chart *chart = drawing->chart;
    const size_t count = points_of(chart, line);
    const size_t stride = count / MOST_POINTS + 1;
    struct cli_chart_point point;
    bool begun = false;
    if (!chart->apart && count > 1) {
        cli_sink_text(page, "<path class=\"line ");
        put_colour(page, line);
        cli_sink_text(page, "\" d=\"");
        for (size_t i = 0; i < count; i++) {
            if (i % stride != 0 && i + 1 < count) continue;
            if (!chart->point(chart->from, line, i, &point) || !is_there(chart, &point)) continue;
            cli_sink_format(page, "%s%.1f %.1f", begun ? "L" : "M", x_of(drawing, point.across),
                            y_of(drawing, point.up));
            begun = true;
        }
        cli_sink_text(page, "\"/>\n");
    }
    for (size_t i = 0; count <= MOST_DOTS && i < count; i++)
        if (chart->point(chart->from, line, i, &point) && is_there(chart, &point))
            draw_dot(page, drawing, line, i, &point);
}

static void put_key(struct cli_sink *page, const struct cli_chart *chart) {
    cli_sink_text(page, "<p class=\"key\">");
    for (size_t line = 0; line < chart->lines; line++) {
        const char *name = chart->name(chart->from, line);
        cli_sink_text(page, "<span><svg viewBox=\"0 0 20 10\" aria-hidden=\"true\">");
        cli_sink_text(page, chart->apart ? "<circle class=\"dot " : "<path class=\"line ");
        put_colour(page, line);
        cli_sink_text(page, chart->apart ? "\" cx=\"10\" cy=\"5\" r=\"5\"/></svg>" : "\" d=\"M0 5h20\"/></svg>");
        cli_page_text(page, name, strlen(name));
        cli_sink_text(page, "</span> ");
    }
    cli_sink_text(page, "</p>\n");
}

void cli_page_chart(struct cli_sink *page, const struct cli_chart *chart) {
    struct drawing drawing = {.chart = chart};
    if (!measure(&drawing)) return;
    cli_sink_format(page, "<figure><figcaption>%s</figcaption>\n", chart->heading);
    if (chart->lines > 1) put_key(page, chart);
    cli_sink_format(page, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s, by %s\">\n", WIDTH,
                    TOP + HEIGHT + BOTTOM, chart->heading, chart->below);
    draw_axes(page, &drawing);
    draw_level(page, &drawing);
    draw_mark(page, &drawing);
    for (size_t line = 0; line < chart->lines; line++) draw_line(page, &drawing, line);
    cli_sink_text(page, "</svg></figure>\n");
}
