/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * What a durable find-or-add costs beside what the disk can do.
 *
 * Fingerprints of 64 bits, radius 3, half of those asked near one that is there, against a collection of --rows, in
 * batches; with each call the disk is asked for a sync of as many bytes, so that both meet the same disk, and what the
 * slowest of a hundred takes is told of both.  Then without syncs, finds while segments are made and merged beside
 * them, the space after a merge beside a collection made at once, near-copies of texts beside dedup of the same, the
 * opening of a log that was left, and SQLite (peer/peer_sqlite.c) where it is installed, all in one run: the disk and
 * the machine are other people's too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "measure.h"

#define RADIUS 3u
#define LARGEST_BATCH 1024u
#define MOST_CALLS 1000000u
#define RECORD_BYTES 72u /* of a fingerprint in the log */
#define TEXT_WORDS 60u

struct bench {
    uint64_t rows, seconds, texts, log_megabytes;
    bool no_peer;
    const char *self;
    char folder[MEASURE_FOLDER];
    nigh_context *context;
    struct nigh__rng rng;
    uint64_t last;
    double *calls; /* seconds of each */
    double *syncs; /* the same of the disk */
};

static void path_in(const struct bench *bench, const char *name, char out[256]) {
    (void)snprintf(out, 256, "%s/%s", bench->folder, name);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double p99_of(double *calls, size_t count) {
    qsort(calls, count, sizeof *calls, by_size);
    return calls[count * 99 / 100];
}

static void note(const char *what, const char *unit, double value, double beside, const char *other, bool less) {
    measure_figure(&(struct measure_figure){
        .bench = "live", .what = what, .unit = unit, .value = value, .beside = beside, .other = other, .less = less});
}

/* Documents that are found or added a second. */
static void note_rate(const char *how, size_t batch, double rate, double beside, const char *other) {
    char what[64];
    (void)snprintf(what, sizeof what, "find or add, %s, batches of %zu", how, batch);
    note(what, "documents/s", rate, beside, other, false);
}

/* -------------------------------------------------------------------- the disk -- */

struct disk {
    double rate; /* syncs a second, of appends of as many bytes */
    double p99;  /* seconds of one */
};

/* A file to which blocks are appended, each by a sync. */
struct appended {
    char path[256];
    int file;
    uint8_t *block;
    size_t bytes;
};

static void append_begin(const struct bench *bench, size_t bytes, struct appended *out) {
    out->bytes = bytes;
    out->block = measure_allocate(bytes, 1);
    memset(out->block, 7, bytes);
    path_in(bench, "sync", out->path);
    out->file = open(out->path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (out->file < 0) measure_fail("a file to sync", out->path);
}

static double append_one(const struct appended *to) {
    const double from = measure_wall();
    if (write(to->file, to->block, to->bytes) != (ssize_t)to->bytes || fsync(to->file) != 0)
        measure_fail("a sync", to->path);
    return measure_wall() - from;
}

static void append_end(const struct appended *to) {
    (void)close(to->file);
    (void)unlink(to->path);
    free(to->block);
}

/* ---------------------------------------------------------------- fingerprints -- */

/* The first of each batch is new, so that each has something to sync. */
static uint64_t next_print(struct bench *bench, uint64_t number) {
    const uint64_t fresh = nigh__rng_next(&bench->rng);
    bench->last = number % 2 == 0 ? fresh : bench->last ^ UINT64_C(1) << fresh % 64;
    return bench->last;
}

/* As nigh index makes them unasked. */
static void make_tables(const struct bench *bench, const char *path) {
    nigh_tables_options options;
    nigh_error error;
    nigh_tables_options_init(&options);
    options.min_rows = 16384;
    options.keep = 1;
    measure_must(nigh_tables_build(bench->context, path, &options, NULL, &error), &error, "make tables");
}

static void make_collection(struct bench *bench, const char *path, uint64_t rows) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    measure_must(nigh_writer_open(bench->context, path, &options, &writer, &error), &error, "open a writer");
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t print = nigh__rng_next(&bench->rng);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&print};
        measure_must(nigh_writer_add(writer, &document, &error), &error, "add");
    }
    measure_must(nigh_writer_commit(writer, NULL, &error), &error, "commit");
    nigh_writer_close(writer);
    make_tables(bench, path);
}

static nigh_live *open_live(const struct bench *bench, const char *path, nigh_live_sync sync, uint64_t log_bytes) {
    nigh_live_options options;
    nigh_live *live = NULL;
    nigh_error error;
    nigh_live_options_init(&options);
    options.radius = RADIUS;
    options.create = 1;
    options.width_bits = 64;
    options.sync = sync;
    if (log_bytes != 0) options.log_bytes = log_bytes;
    measure_must(nigh_live_open(bench->context, path, &options, &live, &error), &error, "open a live");
    return live;
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* What some seconds of calls of one batch each came to. */
struct asked {
    double rate;         /* documents a second */
    double microseconds; /* of processor time, for each */
    double p99;          /* seconds of a call */
};

/* Seconds of one call. */
static double ask_batch(struct bench *bench, nigh_live *live, size_t batch) {
    static uint64_t prints[LARGEST_BATCH];
    static nigh_document documents[LARGEST_BATCH];
    static nigh_live_answer answers[LARGEST_BATCH];
    nigh_error error;
    for (size_t i = 0; i < batch; i++) {
        prints[i] = next_print(bench, i);
        documents[i] = (nigh_document){.size = sizeof documents[i], .signature = (const uint8_t *)&prints[i]};
    }
    const double from = measure_wall();
    measure_must(nigh_live_find_or_add(live, documents, batch, answers, &error), &error, "find or add");
    return measure_wall() - from;
}

static double sum(const double *seconds, size_t count) {
    double all = 0;
    for (size_t i = 0; i < count; i++) all += seconds[i];
    return all;
}

/* A call and a sync of the disk in turn: the disk is never the same for long. */
static struct asked ask_beside(struct bench *bench, nigh_live *live, size_t batch, struct disk *disk) {
    struct appended appended;
    size_t calls = 0;
    append_begin(bench, (batch / 2 + 1) * RECORD_BYTES, &appended);
    const double began = measure_wall();
    const double worked = processor_seconds();
    while (calls < MOST_CALLS && measure_wall() - began < 2 * (double)bench->seconds) {
        bench->calls[calls] = ask_batch(bench, live, batch);
        bench->syncs[calls++] = append_one(&appended);
    }
    const double count = (double)(calls * batch);
    struct asked asked = {.rate = count / sum(bench->calls, calls),
                          .microseconds = (processor_seconds() - worked) / count * 1e6};
    disk->rate = (double)calls / sum(bench->syncs, calls);
    asked.p99 = p99_of(bench->calls, calls);
    disk->p99 = p99_of(bench->syncs, calls);
    append_end(&appended);
    return asked;
}

static struct asked ask(struct bench *bench, nigh_live *live, size_t batch, double seconds) {
    size_t calls = 0;
    const double began = measure_wall();
    const double worked = processor_seconds();
    while (calls < MOST_CALLS && measure_wall() - began < seconds)
        bench->calls[calls++] = ask_batch(bench, live, batch);
    const double count = (double)(calls * batch);
    struct asked asked = {.rate = count / (measure_wall() - began),
                          .microseconds = (processor_seconds() - worked) / count * 1e6};
    asked.p99 = p99_of(bench->calls, calls);
    return asked;
}

#define BATCHES 3u

static const size_t batches[BATCHES] = {1, 64, 1024};
static double our_rates[2][BATCHES]; /* without syncs, and durable: for the peer to be held against */

static void measure_prints(struct bench *bench, const char *path) {
    const double seconds = (double)bench->seconds;
    nigh_live_info info = {.size = sizeof info};
    const double began = measure_wall();
    nigh_live *live = open_live(bench, path, NIGH_SYNC_GROUP, 0);
    const double opened = measure_wall() - began;
    nigh_live_describe(live, &info);
    printf("opened %" PRIu64 " fingerprints in %.1f ms; %" PRIu64 " in memory\n\n", bench->rows, opened * 1e3,
           info.in_memory);
    printf("durable find-or-add, radius %u, one thread\n", RADIUS);
    printf("batch   disk syncs/s   p99 of one   in syncs   documents/s   of what the disk can   p99 of a call   "
           "in syncs   in p99s   processor us each\n");
    for (size_t i = 0; i < BATCHES; i++) {
        struct disk disk;
        const struct asked asked = ask_beside(bench, live, batches[i], &disk);
        printf("%5zu   %12.0f   %7.2f ms   %8.1f   %11.0f   %20.2f   %10.2f ms   %8.1f   %7.2f   %17.2f\n", batches[i],
               disk.rate, disk.p99 * 1e3, disk.p99 * disk.rate, asked.rate,
               asked.rate / (disk.rate * (double)batches[i]), asked.p99 * 1e3, asked.p99 * disk.rate,
               asked.p99 / disk.p99, asked.microseconds);
        our_rates[true][i] = asked.rate;
        note_rate("durable", batches[i], asked.rate, disk.rate * (double)batches[i], "syncs of the disk");
        if (i == 0) note("p99 of a durable call", "ms", asked.p99 * 1e3, disk.p99 * 1e3, "p99 of a sync", true);
    }
    nigh_live_close(live);
    live = open_live(bench, path, NIGH_SYNC_NEVER, 0);
    for (size_t i = 0; i < BATCHES; i++) {
        const struct asked asked = ask(bench, live, batches[i], seconds);
        printf("%5zu          never   %10s   %8s   %11.0f   %20s   %10.2f ms   %8s   %7s   %17.2f\n", batches[i], "",
               "", asked.rate, "", asked.p99 * 1e3, "", "", asked.microseconds);
        our_rates[false][i] = asked.rate;
        note_rate("no syncs", batches[i], asked.rate, 0, NULL);
    }
    nigh_live_close(live);
}

/* ------------------------------------------------------------- beside a merge -- */

#define SMALL_LOG (UINT64_C(2) << 20)
#define FINDS 64u /* between two batches that are added */

#define FINDS 64u /* between two looks at how far the thread is */
#define QUIET_FINDS 200000u

static size_t find_some(struct bench *bench, nigh_live *live, size_t calls, size_t count) {
    nigh_error error;
    for (size_t i = 0; i < count && calls < MOST_CALLS; i++) {
        const uint64_t print = nigh__rng_next(&bench->rng);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&print};
        nigh_live_answer answer;
        const double from = measure_wall();
        measure_must(nigh_live_find(live, &document, 1, &answer, &error), &error, "find");
        bench->calls[calls++] = measure_wall() - from;
    }
    return calls;
}

/* Fills a log, and finds until it is a segment; with the last of ten, until they are one. */
static size_t find_beside(struct bench *bench, nigh_live *live, size_t calls, nigh_live_info *info) {
    const uint64_t segments = info->segments;
    const double seconds = 0.05; /* it may be merged already when this looks */
    nigh_live_describe(live, info);
    for (const uint64_t before = info->added; (info->added - before) * RECORD_BYTES <= SMALL_LOG;
         nigh_live_describe(live, info))
        (void)ask_batch(bench, live, LARGEST_BATCH);
    for (const double began = measure_wall();
         calls + FINDS < MOST_CALLS && (info->segments == segments || measure_wall() - began < seconds);
         nigh_live_describe(live, info))
        calls = find_some(bench, live, calls, FINDS);
    return calls;
}

/* One find at a time, quiet, and while logs become segments, these get tables, and ten of them become one. */
static void measure_merging(struct bench *bench, const char *path) {
    nigh_live_info info = {.size = sizeof info};
    nigh_live *live = open_live(bench, path, NIGH_SYNC_NEVER, SMALL_LOG);
    double quiet[2];
    quiet[0] = p99_of(bench->calls, find_some(bench, live, 0, QUIET_FINDS));
    size_t calls = 0;
    while (info.merged == 0 && calls + FINDS < MOST_CALLS) calls = find_beside(bench, live, calls, &info);
    const double busy = p99_of(bench->calls, calls);
    quiet[1] = p99_of(bench->calls, find_some(bench, live, 0, QUIET_FINDS));
    printf("\none find at a time: p99 %.2f us quiet before and %.2f behind; %.2f us while %" PRIu64
           " segments are made and %" PRIu64 " merged: %.1f times\n",
           quiet[0] * 1e6, quiet[1] * 1e6, busy * 1e6, info.segments, info.merged, 2 * busy / (quiet[0] + quiet[1]));
    note("p99 of a find beside merging", "us", busy * 1e6, (quiet[0] + quiet[1]) / 2 * 1e6, "in quiet", true);
    nigh_live_close(live);
}

static uint64_t folder_bytes(const char *path) {
    uint64_t bytes = 0;
    DIR *folder = opendir(path);
    if (folder == NULL) measure_fail("a folder", path);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[600];
        struct stat kind;
        (void)snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (stat(name, &kind) == 0 && S_ISREG(kind.st_mode)) bytes += (uint64_t)kind.st_size;
    }
    (void)closedir(folder);
    return bytes;
}

/* The same signatures, at once. */
static void copy_collection(const struct bench *bench, const char *from, const char *to) {
    nigh_collection *collection = NULL;
    nigh_collection_info info = {.size = sizeof info};
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_error error;
    measure_must(nigh_collection_open(bench->context, from, NULL, &collection, &error), &error, "open");
    nigh_collection_describe(collection, &info);
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    measure_must(nigh_writer_open(bench->context, to, &options, &writer, &error), &error, "open a writer");
    for (uint64_t i = 0; i < info.documents; i++) {
        uint64_t print;
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&print};
        measure_must(nigh_collection_signature(collection, i, (uint8_t *)&print, &error), &error, "read");
        measure_must(nigh_writer_add(writer, &document, &error), &error, "add");
    }
    measure_must(nigh_writer_commit(writer, NULL, &error), &error, "commit");
    nigh_writer_close(writer);
    nigh_collection_close(collection);
    make_tables(bench, to);
}

static void measure_space(struct bench *bench) {
    char path[256];
    char fresh[256];
    nigh_live_info info = {.size = sizeof info};
    nigh_error error;
    path_in(bench, "grown.nigh", path);
    path_in(bench, "fresh.nigh", fresh);
    nigh_live *live = open_live(bench, path, NIGH_SYNC_NEVER, SMALL_LOG);
    while (info.merged == 0) {
        (void)ask(bench, live, LARGEST_BATCH, 0.1);
        nigh_live_describe(live, &info);
    }
    measure_must(nigh_live_commit(live, NULL, &error), &error, "commit");
    nigh_live_close(live);
    const uint64_t grown = folder_bytes(path);
    measure_must(nigh_merge(bench->context, path, NULL, NULL, &error), &error, "merge");
    copy_collection(bench, path, fresh);
    printf("\n%" PRIu64 " fingerprints, streamed into %" PRIu64
           " segments: %.2f times the space of a collection made at "
           "once, %.2f after a merge of all\n",
           info.documents, info.segments, (double)grown / (double)folder_bytes(fresh),
           (double)folder_bytes(path) / (double)folder_bytes(fresh));
    note("streamed, then merged, space", "bytes", (double)folder_bytes(path) / (double)info.documents,
         (double)folder_bytes(fresh) / (double)info.documents, "made at once", true);
}

/* A log that a killed process left, on a small collection: what is read is the log. */
static void measure_recovery(struct bench *bench) {
    char path[256];
    nigh_live_info info = {.size = sizeof info};
    path_in(bench, "left.nigh", path);
    nigh_live *live = open_live(bench, path, NIGH_SYNC_NEVER, UINT64_C(1) << 40);
    do {
        (void)ask(bench, live, LARGEST_BATCH, 0.2);
        nigh_live_describe(live, &info);
    } while (info.log_bytes < bench->log_megabytes << 20);
    nigh_live_close(live);
    const double began = measure_wall();
    const double worked = processor_seconds();
    live = open_live(bench, path, NIGH_SYNC_GROUP, 0);
    const double seconds = measure_wall() - began;
    printf("\na log of %" PRIu64 " MB (%" PRIu64
           " documents) that was left: opened in %.2f s, %.2f s of processor time\n",
           info.log_bytes >> 20, info.in_log, seconds, processor_seconds() - worked);
    note("opening a log that was left", "documents/s", (double)info.in_log / seconds, 0, NULL, false);
    nigh_live_close(live);
}

/* ----------------------------------------------------------------------- texts -- */

struct texts {
    char **texts;
    uint64_t count, next;
};

static void make_texts(struct bench *bench, struct texts *out) {
    out->texts = measure_allocate(out->count, sizeof *out->texts);
    for (uint64_t i = 0; i < out->count; i++) {
        char *text = measure_allocate(TEXT_WORDS * 9 + 1, 1);
        const bool copy = i > 0 && nigh__rng_next(&bench->rng) % 4 == 0;
        if (copy) {
            memcpy(text, out->texts[nigh__rng_next(&bench->rng) % i], TEXT_WORDS * 9 + 1);
            (void)snprintf(text, 9, "w%07" PRIx64, nigh__rng_next(&bench->rng) % 100000);
            text[8] = ' ';
        }
        for (size_t k = 0; k < TEXT_WORDS && !copy; k++)
            (void)snprintf(text + 9 * k, 10, "w%07" PRIx64 " ", nigh__rng_next(&bench->rng) % 100000);
        out->texts[i] = text;
    }
}

static nigh_status next_text(void *user, nigh_text *out, nigh_error *error) {
    struct texts *texts = user;
    (void)error;
    if (texts->next == texts->count) return NIGH_END;
    out->text = texts->texts[texts->next++];
    out->text_length = strlen(out->text);
    return NIGH_OK;
}

static nigh_status rewind_texts(void *user, nigh_error *error) {
    (void)error;
    ((struct texts *)user)->next = 0;
    return NIGH_OK;
}

static double dedup_texts(const struct bench *bench, struct texts *texts, uint64_t *kept) {
    nigh_source source;
    nigh_dedup_options options;
    nigh_dedup *dedup = NULL;
    nigh_dedup_info info = {.size = sizeof info};
    nigh_error error;
    nigh_source_init(&source);
    nigh_dedup_options_init(&options);
    source.user = texts;
    source.next = next_text;
    source.rewind = rewind_texts;
    options.threads = 1;
    const double began = measure_now();
    measure_must(nigh_dedup_source(bench->context, &source, NULL, &options, &dedup, &error), &error, "dedup");
    const double seconds = measure_now() - began;
    nigh_dedup_describe(dedup, &info);
    *kept = info.kept;
    nigh_dedup_free(dedup);
    return seconds;
}

static double stream_texts(const struct bench *bench, const struct texts *texts, uint64_t *kept) {
    static nigh_document documents[LARGEST_BATCH];
    static nigh_live_answer answers[LARGEST_BATCH];
    char path[256];
    nigh_live_options options;
    nigh_live *live = NULL;
    nigh_live_info info = {.size = sizeof info};
    nigh_error error;
    nigh_live_options_init(&options);
    options.create = 1;
    path_in(bench, "texts.nigh", path);
    measure_must(nigh_live_open(bench->context, path, &options, &live, &error), &error, "open a live");
    const double began = measure_now();
    for (uint64_t at = 0; at < texts->count;) {
        size_t count = 0;
        for (; count < LARGEST_BATCH && at < texts->count; count++, at++)
            documents[count] = (nigh_document){
                .size = sizeof documents[0], .text = texts->texts[at], .text_length = strlen(texts->texts[at])};
        measure_must(nigh_live_find_or_add(live, documents, count, answers, &error), &error, "find or add");
    }
    measure_must(nigh_live_commit(live, NULL, &error), &error, "commit");
    const double seconds = measure_now() - began;
    nigh_live_describe(live, &info);
    *kept = info.documents;
    nigh_live_close(live);
    return seconds;
}

static void measure_texts(struct bench *bench) {
    struct texts texts = {.count = bench->texts};
    uint64_t kept[2];
    make_texts(bench, &texts);
    const double dedup = dedup_texts(bench, &texts, &kept[0]);
    const double stream = stream_texts(bench, &texts, &kept[1]);
    printf("\nnear-copies, verified, %" PRIu64 " texts of %u words, one thread: dedup %.0f/s, kept %" PRIu64
           "; find-or-add in batches of %u, durable, %.0f/s, kept %" PRIu64 ": %.2f of it\n",
           texts.count, TEXT_WORDS, (double)texts.count / dedup, kept[0], LARGEST_BATCH, (double)texts.count / stream,
           kept[1], dedup / stream);
    note("near-copies of texts", "documents/s", (double)texts.count / stream, (double)texts.count / dedup, "dedup",
         false);
    for (uint64_t i = 0; i < texts.count; i++) free(texts.texts[i]);
    free(texts.texts);
}

/* ---------------------------------------------------------------------- SQLite -- */

static void note_peer(bool durable, uint64_t batch, double rate) {
    for (size_t i = 0; i < BATCHES; i++)
        if (batches[i] == batch && our_rates[durable][i] > 0)
            note_rate(durable ? "durable" : "no syncs", batch, our_rates[durable][i], rate, "SQLite");
}

static void measure_peer(const struct bench *bench) {
    char command[1024];
    printf("\nSQLite, WAL, four indexed columns of 16 bits\n");
    const char *slash = strrchr(bench->self, '/');
    (void)snprintf(command, sizeof command, "'%.*s/peer_sqlite' '%s' %" PRIu64 " %" PRIu64 " 1 64 1024",
                   (int)(slash == NULL ? 1 : slash - bench->self), slash == NULL ? "." : bench->self, bench->folder,
                   bench->rows, bench->seconds);
    (void)fflush(stdout);
    FILE *lines = popen(command, "r");
    char line[128];
    while (lines != NULL && fgets(line, sizeof line, lines) != NULL) {
        char *rest = strchr(line, ' '); /* behind how it syncs */
        if (rest == NULL) break;
        *rest++ = '\0';
        const uint64_t batch = strtoull(rest, &rest, 10);
        const double rate = strtod(rest, &rest);
        const double p99 = strtod(rest, &rest);
        printf("%5" PRIu64 "   %12s   %11.0f   %20s   %10.2f ms\n", batch, line, rate, "", p99 * 1e3);
        note_peer(strcmp(line, "FULL") == 0, batch, rate);
    }
    if (lines != NULL && pclose(lines) == 0) return;
    printf("(there is no SQLite here to hold it against)\n");
    measure_lacking("peer_sqlite", "not built: its library is not installed");
}

/* ------------------------------------------------------------------------- main -- */

static bool wanted(const char *only, const char *part) { return only == NULL || strcmp(only, part) == 0; }

static void run_parts(struct bench *bench, const char *path, const char *only) {
    if (wanted(only, "prints") || wanted(only, "merging")) make_collection(bench, path, bench->rows);
    if (wanted(only, "prints")) measure_prints(bench, path);
    if (wanted(only, "merging")) measure_merging(bench, path);
    if (wanted(only, "space")) measure_space(bench);
    if (wanted(only, "peer") && !bench->no_peer) measure_peer(bench);
    if (wanted(only, "log")) measure_recovery(bench);
    if (wanted(only, "texts")) measure_texts(bench);
}

int main(int count, char **arguments) {
    static const char usage[] = "bench_live [--rows N] [--seconds N] [--texts N] [--log MB] [--no-peer] [--quick] "
                                "[--only prints|merging|space|peer|log|texts]";
    struct bench bench = {.rows = 10000000, .seconds = 6, .texts = 200000, .log_megabytes = 64, .rng = {.state = 1}};
    const char *only = NULL;
    const struct measure_option options[] = {
        {.name = "rows", .number = &bench.rows, .least = 1000, .most = 1000000000, .quick = 100000},
        {.name = "seconds", .number = &bench.seconds, .least = 1, .most = 600, .quick = 1},
        {.name = "texts", .number = &bench.texts, .least = 1, .most = 100000000, .quick = 20000},
        {.name = "log", .number = &bench.log_megabytes, .least = 1, .most = 4096, .quick = 8},
        {.name = "no-peer", .flag = &bench.no_peer},
        {.name = "only", .text = &only},
        {.name = NULL},
    };
    nigh_error error;
    char path[256];
    if (measure_parse(options, usage, count, arguments) < count) measure_usage(usage, 2);
    bench.self = arguments[0];
    bench.calls = measure_allocate(MOST_CALLS, sizeof *bench.calls);
    bench.syncs = measure_allocate(MOST_CALLS, sizeof *bench.syncs);
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "a context");
    measure_folder_make(bench.folder);
    measure_print_host(stdout, nigh_context_kernel(bench.context));
    path_in(&bench, "prints.nigh", path);
    run_parts(&bench, path, only);
    measure_folder_remove(bench.folder);
    nigh_context_free(bench.context);
    free(bench.calls);
    free(bench.syncs);
    return 0;
}
