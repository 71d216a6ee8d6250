/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find or add of 64-bit fingerprints within 3 bits as people do it with a database: SQLite in WAL mode, four columns of
 * 16 bits, each with an index that has the fingerprint too, so that no row has to be looked up; candidates share a
 * column, and their bits are counted here.  A batch is a transaction.
 *
 *     peer_sqlite FOLDER ROWS SECONDS BATCH...
 *
 * Prints "SYNC BATCH documents/s p99-seconds-of-a-batch", where SYNC is FULL (what is committed is on the disk) or OFF.
 * Of what it asks, half is near something that is there, as in bench_live.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RADIUS 3
#define MOST_BATCHES 1000000u

static sqlite3 *database;
static sqlite3_stmt *find, *add;
static uint64_t state = 1;

static double now(void) {
    struct timespec time;
    (void)timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(int code, int wanted, const char *what) {
    if (code == wanted) return;
    (void)fprintf(stderr, "peer_sqlite: %s: %s\n", what, sqlite3_errmsg(database));
    exit(2);
}

static void run(const char *sql) { must(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK, sql); }

static uint64_t next_random(void) {
    uint64_t value = state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static void insert(uint64_t print) {
    for (int i = 0; i < 4; i++) (void)sqlite3_bind_int(add, i + 1, (int)(print >> 16 * i & 0xffff));
    (void)sqlite3_bind_int64(add, 5, (sqlite3_int64)print);
    must(sqlite3_step(add), SQLITE_DONE, "insert");
    (void)sqlite3_reset(add);
}

static int is_there(uint64_t print) {
    int found = 0;
    for (int i = 0; i < 4; i++) (void)sqlite3_bind_int(find, i + 1, (int)(print >> 16 * i & 0xffff));
    while (!found && sqlite3_step(find) == SQLITE_ROW)
        found = __builtin_popcountll((uint64_t)sqlite3_column_int64(find, 0) ^ print) <= RADIUS;
    (void)sqlite3_reset(find);
    return found;
}

static void make(uint64_t rows) {
    run("CREATE TABLE f (a INT, b INT, c INT, d INT, print INT)");
    must(sqlite3_prepare_v2(database, "INSERT INTO f VALUES (?, ?, ?, ?, ?)", -1, &add, NULL), SQLITE_OK, "prepare");
    run("BEGIN");
    for (uint64_t i = 0; i < rows; i++) insert(next_random());
    run("COMMIT");
    run("CREATE INDEX fa ON f (a, print); CREATE INDEX fb ON f (b, print);"
        "CREATE INDEX fc ON f (c, print); CREATE INDEX fd ON f (d, print)");
    must(sqlite3_prepare_v2(database,
                            "SELECT print FROM f WHERE a = ? UNION ALL SELECT print FROM f WHERE b = ? UNION ALL "
                            "SELECT print FROM f WHERE c = ? UNION ALL SELECT print FROM f WHERE d = ?",
                            -1, &find, NULL),
         SQLITE_OK, "prepare");
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(uint64_t batch, double seconds) {
    double *times = malloc(MOST_BATCHES * sizeof *times);
    uint64_t batches = 0;
    uint64_t last = next_random();
    if (times == NULL) exit(2);
    const double began = now();
    while (batches < MOST_BATCHES && now() - began < seconds) {
        const double from = now();
        run("BEGIN");
        for (uint64_t i = 0; i < batch; i++) {
            const uint64_t print = i % 2 == 0 ? next_random() : last ^ UINT64_C(1) << next_random() % 64;
            last = print;
            if (!is_there(print)) insert(print);
        }
        run("COMMIT");
        times[batches++] = now() - from;
    }
    const double rate = (double)(batches * batch) / (now() - began);
    qsort(times, batches, sizeof *times, by_size);
    (void)printf("%" PRIu64 " %.1f %.6f\n", batch, rate, times[batches * 99 / 100]);
    free(times);
}

int main(int count, char **arguments) {
    char path[4096];
    if (count < 5) return 2;
    (void)snprintf(path, sizeof path, "%s/peer.sqlite", arguments[1]);
    must(sqlite3_open(path, &database), SQLITE_OK, "open");
    run("PRAGMA journal_mode = WAL; PRAGMA cache_size = -2000000; PRAGMA synchronous = OFF");
    make(strtoull(arguments[2], NULL, 10));
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    for (int mode = 0; mode < 2; mode++) {
        run(mode == 0 ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF");
        for (int i = 4; i < count; i++) {
            (void)printf("%s ", mode == 0 ? "FULL" : "OFF");
            measure(strtoull(arguments[i], NULL, 10), strtod(arguments[3], NULL));
        }
    }
    (void)sqlite3_finalize(add);
    (void)sqlite3_finalize(find);
    return sqlite3_close(database) == SQLITE_OK ? 0 : 2;
}
