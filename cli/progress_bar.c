/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing the progress line; see progress_bar.h. */
#define _DEFAULT_SOURCE

#include "progress_bar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common.h"
#include "signals.h"

#define FIRST_DRAW_SECONDS 0.3 /* what is done by then needs no bar */
#define REDRAW_SECONDS 0.1
#define BAR_WIDTH 20

unsigned cli_terminal_width(int descriptor) {
    struct winsize size;
    if (!isatty(descriptor)) return 0;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

/* The library's stages arrive here; its counts have no unit that a reader would know. */
static int library_report(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct cli_progress *progress = user;
    if (strncmp(progress->stage, stage, sizeof progress->stage - 1) != 0) cli_progress_begin(progress, stage, NULL);
    cli_progress_update(progress, done, total);
    return cli_interrupted();
}

void cli_progress_init(struct cli_progress *progress, bool quiet) {
    const char *terminal = getenv("TERM");
    *progress = (struct cli_progress){.report = {.report = library_report, .user = progress}};
    progress->wanted =
        !quiet && isatty(STDERR_FILENO) && terminal != NULL && *terminal != '\0' && strcmp(terminal, "dumb") != 0;
}

void cli_progress_begin(struct cli_progress *progress, const char *stage, const char *unit) {
    snprintf(progress->stage, sizeof progress->stage, "%s", stage);
    progress->unit = unit;
    progress->started = cli_seconds();
}

void cli_progress_rename(struct cli_progress *progress, const char *stage) {
    snprintf(progress->stage, sizeof progress->stage, "%s", stage);
}

/* "[=======>        ]  45%" */
static int draw_share(char *line, size_t capacity, uint64_t done, uint64_t total) {
    char bar[BAR_WIDTH + 1];
    double share = done >= total ? 1.0 : (double)done / (double)total;
    int full = (int)(share * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[BAR_WIDTH] = '\0';
    return snprintf(line, capacity, "  [%s] %3d%%", bar, (int)(share * 100));
}

static int draw_counts(const struct cli_progress *progress, char *line, size_t capacity, uint64_t done, uint64_t total,
                       double elapsed) {
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    if (total == 0)
        return snprintf(line, capacity, "  %s %s, %s/s", cli_digits(done).text, progress->unit,
                        cli_digits((uint64_t)rate).text);
    return snprintf(line, capacity, "  %s of %s %s, %s/s", cli_digits(done).text, cli_digits(total).text,
                    progress->unit, cli_digits((uint64_t)rate).text);
}

static int draw_left(char *line, size_t capacity, uint64_t done, uint64_t total, double elapsed) {
    double left = elapsed * (double)(total - done) / (double)done;
    unsigned long seconds = left < 360000 ? (unsigned long)(left + 0.5) : 360000;
    if (seconds >= 3600)
        return snprintf(line, capacity, "  %lu:%02lu:%02lu left", seconds / 3600, seconds / 60 % 60, seconds % 60);
    return snprintf(line, capacity, "  %lu:%02lu left", seconds / 60, seconds % 60);
}

static void draw(struct cli_progress *progress, uint64_t done, uint64_t total, double elapsed) {
    char line[256];
    size_t used = (size_t)snprintf(line, sizeof line, "%s", progress->stage);
    if (total > 0) used += (size_t)draw_share(line + used, sizeof line - used, done, total);
    if (total > 0 && done > 0 && done < total && used < sizeof line)
        used += (size_t)draw_left(line + used, sizeof line - used, done, total, elapsed);
    if (progress->unit != NULL && used < sizeof line)
        (void)draw_counts(progress, line + used, sizeof line - used, done, total, elapsed);
    unsigned width = cli_terminal_width(STDERR_FILENO);
    fprintf(stderr, "\r%.*s\033[K", width > 1 ? (int)width - 1 : 79, line);
    fflush(stderr);
    progress->drawn = true;
}

void cli_progress_update(struct cli_progress *progress, uint64_t done, uint64_t total) {
    if (!progress->wanted) return;
    double now = cli_seconds();
    if (now - progress->started < FIRST_DRAW_SECONDS || now - progress->redrawn < REDRAW_SECONDS) return;
    progress->redrawn = now;
    draw(progress, done, total, now - progress->started);
}

void cli_progress_clear(struct cli_progress *progress) {
    if (progress->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->drawn = false;
}
