/* SPDX-License-Identifier: Apache-2.0 */
/* What all pages of the tool have: head and end, escaped texts, tables, and a histogram. */
#include "page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_style.h"

#define CHART_WIDTH 400
#define CHART_HEIGHT 140
#define CHART_TOP 10

/* ------------------------------------------------------------------- texts -- */

static void put_character(struct cli_sink *page, const char *text, size_t length) {
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (*text != entities[i].character) continue;
        cli_sink_text(page, entities[i].entity);
        return;
    }
    cli_sink_bytes(page, text, length);
}

void cli_page_text(struct cli_sink *page, const char *text, size_t length) {
    for (size_t i = 0, step; i < length; i += step) {
        const size_t character = cli_utf8_length(text + i, length - i);
        step = character == 0 ? 1 : character;
        const bool plain = text[i] == '\\' || (character > 0 && nigh_escape(text + i, step, NULL, 0) == step);
        if (plain)
            put_character(page, text + i, step);
        else
            cli_sink_escaped(page, text + i, step);
    }
}

/* -------------------------------------------------------------------- page -- */

static void put_head(struct cli_sink *page, const char *what, const char *title) {
    cli_sink_text(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                        "'sha256-" CLI_PAGE_STYLE_HASH "'; base-uri 'none'; form-action 'none'\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<meta name=\"color-scheme\" content=\"light dark\">\n"
                        "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    cli_page_text(page, title, strlen(title));
    cli_sink_text(page, "</title>\n<style>");
    for (size_t i = 0; i < CLI_PAGE_STYLE_PARTS; i++) cli_sink_text(page, cli_page_style[i]);
    cli_sink_format(page, "</style>\n</head>\n<body>\n<header><p class=\"hint\">%s</p>\n<h1><bdi>", what);
    cli_page_text(page, title, strlen(title));
    cli_sink_text(page, "</bdi></h1></header>\n<main>\n");
}

bool cli_page_open(struct cli_job *job, const char *path, const char *what, const char *title, struct cli_sink **out) {
    struct cli_sink *page = malloc(sizeof *page);
    if (page == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    if (!cli_sink_open(page, path)) {
        cli_set_system_error(job, page->error, path, "write");
        free(page);
        return false;
    }
    put_head(page, what, title);
    *out = page;
    return true;
}

bool cli_page_close(struct cli_job *job, struct cli_sink *page, bool good) {
    bool done = good;
    if (good) {
        cli_sink_text(page, "</main>\n<footer>Made by nigh. This page holds all it needs, and loads nothing.</footer>\n"
                            "</body>\n</html>\n");
        done = cli_sink_finish(page);
        if (!done) cli_set_system_error(job, page->error, page->path, "write");
    } else {
        cli_sink_abandon(page);
    }
    free(page);
    return done;
}

/* ------------------------------------------------------------------ tables -- */

void cli_page_table(struct cli_sink *page, const char *const *columns) {
    cli_sink_text(page, "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table><tr>");
    for (; *columns != NULL; columns++) {
        const bool number = **columns == '#';
        cli_sink_format(page, "<th scope=\"col\"%s>%s</th>", number ? " class=\"number\"" : "", *columns + number);
    }
    cli_sink_text(page, "</tr>\n");
}

void cli_page_table_end(struct cli_sink *page) { cli_sink_text(page, "</table></div>\n"); }

void cli_page_cell(struct cli_sink *page, const char *text) {
    cli_sink_text(page, "<td>");
    cli_page_text(page, text, strlen(text));
    cli_sink_text(page, "</td>");
}

void cli_page_number(struct cli_sink *page, const char *format, ...) {
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_sink_format(page, "<td class=\"number\">%s</td>", text);
}

void cli_page_bar(struct cli_sink *page, double share) {
    if (share < 0) {
        cli_sink_text(page, "<td>-</td>");
        return;
    }
    cli_sink_format(page,
                    "<td>%.4f<svg class=\"share\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" "
                    "aria-hidden=\"true\"><rect class=\"back\" width=\"100\" height=\"6\"/>"
                    "<rect class=\"part\" width=\"%.1f\" height=\"6\"/></svg></td>",
                    share, 100 * (share > 1 ? 1 : share));
}

/* --------------------------------------------------------------- histogram -- */

static void draw_share(struct cli_sink *page, const uint64_t *counts, size_t bins, size_t i, uint64_t most) {
    const double slot = (double)CHART_WIDTH / (double)bins;
    const double height = (double)counts[i] / (double)most * CHART_HEIGHT;
    cli_sink_format(
        page, "<path class=\"bar\" d=\"M%.1f %dV%.1fh%.1fV%dz\"><title>%.0f to %.0f%%: %llu</title></path>\n",
        slot * ((double)i + 0.1), CHART_TOP + CHART_HEIGHT, CHART_TOP + CHART_HEIGHT - (height < 1.5 ? 1.5 : height),
        slot * 0.8, CHART_TOP + CHART_HEIGHT, 100.0 * (double)i / (double)bins, 100.0 * (double)(i + 1) / (double)bins,
        (unsigned long long)counts[i]);
}

void cli_page_shares(struct cli_sink *page, const char *heading, const char *caption, const uint64_t *counts,
                     size_t bins) {
    uint64_t most = 0;
    for (size_t i = 0; i < bins; i++) most = counts[i] > most ? counts[i] : most;
    if (most == 0) return;
    cli_sink_format(page, "<figure><figcaption>%s</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" ", heading,
                    CHART_WIDTH, CHART_TOP + CHART_HEIGHT + 24);
    cli_sink_text(page, "aria-label=\"histogram\">\n");
    cli_sink_format(page, "<path class=\"grid\" d=\"M0 %dh%d\"/>\n", CHART_TOP + CHART_HEIGHT, CHART_WIDTH);
    for (size_t i = 0; i < bins; i++)
        if (counts[i] > 0) draw_share(page, counts, bins, i, most);
    for (int percent = 0; percent <= 100; percent += 20)
        cli_sink_format(page, "<text class=\"%s\" x=\"%d\" y=\"%d\">%d%%</text>",
                        percent == 100 ? "end"
                        : percent == 0 ? "start"
                                       : "mid",
                        CHART_WIDTH * percent / 100, CHART_TOP + CHART_HEIGHT + 17, percent);
    cli_sink_format(page, "\n</svg>\n<p class=\"hint\">%s</p></figure>\n", caption);
}
