/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Running peer_postgres.py, which starts a server of its own, and reading its lines. */
#include "terms_postgres.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terms_ours.h"

struct told {
    const struct terms_set *set;
    double *whole, *index; /* milliseconds of each question */
    uint64_t count;
    double processor;
    struct terms_postgres_figures *figures;
};

static bool command_of(const struct terms_set *set, const char *self, bool bloom, uint32_t length, uint32_t hashes,
                       char *out, size_t capacity) {
    const char *slash = strrchr(self, '/');
    char path[2048];
    (void)snprintf(path, sizeof path, "%.*speer_postgres.py", slash == NULL ? 0 : (int)(slash - self + 1), self);
    if (access(path, R_OK) != 0 || access("/usr/lib/postgresql/15/bin/postgres", X_OK) != 0) {
        (void)printf("PostgreSQL 15 is not here, so the peer is left out\n");
        measure_lacking("PostgreSQL 15", "not installed");
        return false;
    }
    if (bloom)
        (void)snprintf(out, capacity, "python3 '%s' bloom '%s' '%s' %u %u %u", path, set->bloom_path, set->query_path,
                       TERMS_COLUMNS, length, hashes);
    else
        (void)snprintf(out, capacity, "python3 '%s' gin '%s' '%s'", path, set->gin_path, set->query_path);
    return true;
}

/* The numbers behind the word that a line begins with. */
static void take_numbers(const char *line, double *out, size_t count) {
    const char *at = strchr(line, ' ');
    for (size_t i = 0; i < count; i++) {
        char *end = NULL;
        out[i] = at == NULL ? 0 : strtod(at, &end);
        if (at == NULL || end == at) measure_fail("the peer says what it should not", line);
        at = end;
    }
}

static void take_query(struct told *told, const char *line) {
    double numbers[6]; /* milliseconds: whole, index, processor; answers, candidates, wrong */
    const double share = 1 / (double)told->set->options.queries;
    take_numbers(line, numbers, 6);
    if (told->count >= told->set->options.queries) measure_fail("the peer", "has too many answers");
    if (numbers[3] != (double)told->set->queries[told->count].answer_count)
        measure_fail("the peer", "has other answers than there are");
    told->whole[told->count] = numbers[0] / 1e3;
    told->index[told->count++] = numbers[1] / 1e3;
    told->processor += numbers[2] / 1e3;
    told->figures->mean += share * numbers[0] / 1e3;
    told->figures->candidates += share * numbers[4];
    told->figures->wrong += share * numbers[5];
}

static void take(struct told *told, const char *line) {
    struct terms_postgres_figures *figures = told->figures;
    double index[2] = {0};
    if (strncmp(line, "query ", 6) == 0) take_query(told, line);
    if (strncmp(line, "load ", 5) == 0) take_numbers(line, &figures->load_seconds, 1);
    if (strncmp(line, "table ", 6) == 0) take_numbers(line, &figures->table_bytes, 1);
    if (strncmp(line, "index ", 6) != 0) return;
    take_numbers(line, index, 2);
    figures->build_seconds = index[0];
    figures->index_bytes = index[1];
}

static FILE *start(const char *command) {
    FILE *lines = popen(command, "r");
    if (lines == NULL) measure_fail("the peer", "cannot be started");
    return lines;
}

static void sum_up(struct told *told) {
    struct terms_postgres_figures *figures = told->figures;
    const size_t queries = (size_t)told->set->options.queries;
    if (told->count != queries) measure_fail("the peer", "gave too few answers");
    figures->high = terms_quantile(told->whole, queries, 0.99);
    figures->median = terms_quantile(told->whole, queries, 0.5);
    figures->index_median = terms_quantile(told->index, queries, 0.5);
    figures->processor_mean = told->processor / (double)queries;
}

bool terms_postgres_measure(const struct terms_set *set, const char *self, bool bloom, uint32_t length, uint32_t hashes,
                            struct terms_postgres_figures *out) {
    char command[4096];
    char line[512];
    struct told told = {.set = set, .figures = out};
    *out = (struct terms_postgres_figures){0};
    if (!command_of(set, self, bloom, length, hashes, command, sizeof command)) return false;
    (void)fflush(stdout);
    told.whole = measure_allocate((size_t)set->options.queries, sizeof *told.whole);
    told.index = measure_allocate((size_t)set->options.queries, sizeof *told.index);
    FILE *lines = start(command);
    while (fgets(line, sizeof line, lines) != NULL) take(&told, line);
    if (pclose(lines) != 0) measure_fail("the peer", "failed");
    sum_up(&told);
    free(told.whole);
    free(told.index);
    return true;
}
