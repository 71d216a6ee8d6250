/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * What deduplication costs beyond signing, from file to file.
 *
 * Makes JSON lines of some size out of a file of real text, a document a line: most
 * documents are a text of the file with three words in ten taken from elsewhere in it,
 * so that they are new; some are a document made before with a word or two changed; some
 * are exact copies.  Then takes turns with one thread: signing them all with minhash, and
 * deduplication by each method with the writing of what is kept.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/rng.h"
#include "measure.h"

#define KEPT_TEXTS 4096u /* made before, to be copied */
#define LONGEST 65536u
#define METHODS 2u
#define NEAR_SHARE 10u /* of 100 documents */
#define COPY_SHARE 5u

static const struct {
    const char *name;
    nigh_dedup_method method;
} methods[METHODS] = {{"minhash", NIGH_DEDUP_MINHASH}, {"exact", NIGH_DEDUP_EXACT}};

struct bench {
    const char *text_path;
    uint64_t megabytes;
    size_t runs;
    uint32_t threads;
    bool processor_time;
    FILE *json;

    char folder[MEASURE_FOLDER];
    char in_path[128], out_path[128];
    nigh_context *context;
    uint64_t documents, near, copies;
    struct series signing;
    struct series deduplication[METHODS];
    struct series writing[METHODS];
    nigh_dedup_info info[METHODS];
};

/* ------------------------------------------------------------------- the text -- */

struct words { /* of the whole file, in order */
    char *text;
    uint32_t *starts; /* of words */
    uint64_t count;
    uint64_t *lines; /* first word of each line; lines + 1 of them */
    uint64_t line_count;
};

static void *grown(void *old, size_t size) {
    void *memory = realloc(old, size);
    if (memory == NULL) measure_fail("memory", "there is not enough");
    return memory;
}

/* Splits in place at spaces and newlines; words end with a NUL. */
static void read_words(const char *path, struct words *words) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fprintf(stderr, "bench: '%s' cannot be read; `./run bench dedup` makes one\n", path);
        exit(2);
    }
    if (fseek(file, 0, SEEK_END) != 0) measure_fail(path, "cannot be read");
    const long size = ftell(file);
    rewind(file);
    words->text = measure_allocate((size_t)size + 1, 1);
    if (fread(words->text, 1, (size_t)size, file) != (size_t)size) measure_fail(path, "cannot be read");
    (void)fclose(file);
    words->starts = grown(NULL, ((size_t)size / 2 + 2) * sizeof *words->starts);
    words->lines = grown(NULL, ((size_t)size + 2) * sizeof *words->lines);
    bool inside = false;
    words->lines[0] = 0;
    for (long i = 0; i < size; i++) {
        char *at = &words->text[i];
        const bool newline = *at == '\n';
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ') *at = ' '; /* nothing that JSON would escape */
        if (*at == ' ') {
            *at = '\0';
            inside = false;
        } else if (!inside) {
            words->starts[words->count++] = (uint32_t)i;
            inside = true;
        }
        if (newline && words->count > words->lines[words->line_count]) words->lines[++words->line_count] = words->count;
    }
    if (words->line_count == 0) measure_fail(path, "has no lines");
}

/* ---------------------------------------------------------------- the documents -- */

struct maker {
    struct bench *bench;
    const struct words *words;
    struct nigh__rng rng;
    char *kept;    /* KEPT_TEXTS * LONGEST */
    uint64_t made; /* documents that are new */
    FILE *out;
    uint64_t bytes;
};

static uint64_t below(struct maker *maker, uint64_t limit) { return nigh__rng_next(&maker->rng) % limit; }

static const char *any_word(struct maker *maker) {
    return maker->words->text + maker->words->starts[below(maker, maker->words->count)];
}

static size_t append(char *text, size_t used, const char *word) {
    const size_t length = strlen(word);
    if (used + length + 2 > LONGEST) return used;
    if (used > 0) text[used++] = ' ';
    memcpy(text + used, word, length);
    text[used + length] = '\0';
    return used + length;
}

static void make_new(struct maker *maker, char *text) {
    const struct words *words = maker->words;
    const uint64_t line = below(maker, words->line_count);
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = words->lines[line]; i < words->lines[line + 1]; i++)
        used = append(text, used, below(maker, 10) < 3 ? any_word(maker) : words->text + words->starts[i]);
}

/* One or two words of a text become others. */
static void make_near(struct maker *maker, const char *from, char *text) {
    static char source[LONGEST];
    size_t used = 0;
    uint64_t count = 1;
    (void)snprintf(source, sizeof source, "%s", from);
    for (const char *at = source; *at != '\0'; at++) count += *at == ' ';
    const uint64_t first = below(maker, count);
    const uint64_t second = below(maker, count);
    uint64_t number = 0;
    char *rest = NULL;
    text[0] = '\0';
    for (char *word = strtok_r(source, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest), number++)
        used = append(text, used, number == first || number == second ? any_word(maker) : word);
}

static void write_document(struct maker *maker, const char *text) {
    const int length =
        fprintf(maker->out, "{\"id\": \"%" PRIu64 "\", \"text\": \"%s\"}\n", maker->bench->documents++, text);
    if (length < 0) measure_fail(maker->bench->in_path, "cannot be written");
    maker->bytes += (uint64_t)length;
}

static void make_document(struct maker *maker) {
    static char text[LONGEST];
    const uint64_t kind = below(maker, 100);
    if (maker->made > 0 && kind < NEAR_SHARE + COPY_SHARE) {
        const uint64_t most = maker->made < KEPT_TEXTS ? maker->made : KEPT_TEXTS;
        const char *from = maker->kept + below(maker, most) * LONGEST;
        if (kind < NEAR_SHARE) {
            make_near(maker, from, text);
            maker->bench->near++;
            write_document(maker, text);
        } else {
            maker->bench->copies++;
            write_document(maker, from);
        }
        return;
    }
    char *place = maker->kept + (maker->made++ % KEPT_TEXTS) * LONGEST;
    make_new(maker, place);
    write_document(maker, place);
}

static void make_input(struct bench *bench) {
    struct words words = {0};
    read_words(bench->text_path, &words);
    struct maker maker = {.bench = bench, .words = &words, .rng = {.state = 1}};
    maker.kept = measure_allocate(KEPT_TEXTS, LONGEST);
    maker.out = fopen(bench->in_path, "wb");
    if (maker.out == NULL) measure_fail(bench->in_path, "cannot be written");
    while (maker.bytes < bench->megabytes * 1000000) make_document(&maker);
    if (fclose(maker.out) != 0) measure_fail(bench->in_path, "cannot be written");
    (void)printf("%" PRIu64 " documents, %" PRIu64 " MB of JSON lines; %" PRIu64 " near-copies and %" PRIu64
                 " exact copies planted\n",
                 bench->documents, maker.bytes / 1000000, bench->near, bench->copies);
    free(maker.kept);
    free(words.text);
    free(words.starts);
    free(words.lines);
}

/* --------------------------------------------------------------------- the runs -- */

static void run_signing(struct bench *bench, size_t run) {
    nigh_error error;
    nigh_signer *signer = NULL;
    nigh_text_reader *reader = NULL;
    nigh_signing *signing = NULL;
    nigh_signed row = {.size = sizeof row};
    const char *paths[] = {bench->in_path};
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_signing_options how;
    nigh_signing_options_init(&how);
    options.scheme = NIGH_SCHEME_MINHASH;
    how.threads = bench->threads;
    const double start = measure_now();
    measure_must(nigh_signer_new(bench->context, &options, &signer, &error), &error, "signing");
    measure_must(nigh_text_reader_open(bench->context, paths, 1, NULL, &reader, &error), &error, "reading");
    measure_must(nigh_signing_open(signer, reader, &how, &signing, &error), &error, "signing");
    nigh_status status;
    while ((status = nigh_signing_next(signing, &row, &error)) == NIGH_OK) {
    }
    if (status != NIGH_END) measure_must(status, &error, "signing");
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
    const double seconds = measure_now() - start;
    series_add(&bench->signing, seconds);
    measure_json(bench->json, "dedup", "sign", bench->threads, 0, run, seconds);
}

static void run_method(struct bench *bench, size_t method, size_t run) {
    nigh_error error;
    nigh_dedup *dedup = NULL;
    const char *paths[] = {bench->in_path};
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.method = methods[method].method;
    options.threads = bench->threads;
    options.temporary = bench->folder;
    const double start = measure_now();
    measure_must(nigh_dedup_run(bench->context, paths, 1, NULL, &options, &dedup, &error), &error, "deduplicating");
    const double found = measure_now();
    measure_must(nigh_dedup_write(dedup, bench->out_path, NULL, NULL, &error), &error, "writing");
    const double written = measure_now();
    bench->info[method] = (nigh_dedup_info){.size = sizeof(nigh_dedup_info)};
    nigh_dedup_describe(dedup, &bench->info[method]);
    nigh_dedup_free(dedup);
    series_add(&bench->deduplication[method], written - start);
    series_add(&bench->writing[method], written - found);
    measure_json(bench->json, "dedup", methods[method].name, bench->threads, 0, run, written - start);
}

/* ------------------------------------------------------------------- the report -- */

static void report(const struct bench *bench) {
    const double sign = series_median(&bench->signing);
    (void)printf("\n%u thread%s            seconds   MB/s  times signing   read  find  verify cluster  write\n",
                 bench->threads, bench->threads == 1 ? " " : "s");
    (void)printf("sign, minhash 256 %10.2f %6.0f %14.2f\n", sign, (double)bench->megabytes / sign, 1.0);
    for (size_t i = 0; i < METHODS; i++) {
        const double all = series_median(&bench->deduplication[i]);
        const double *seconds = bench->info[i].seconds;
        (void)printf("dedup, %-9s %12.2f %6.0f %14.2f %7.2f %5.2f %7.2f %7.2f %6.2f%s\n", methods[i].name, all,
                     (double)bench->megabytes / all, all / sign, seconds[0], seconds[1], seconds[2], seconds[3],
                     series_median(&bench->writing[i]),
                     i > 0             ? ""
                     : all / sign <= 2 ? "  yes"
                                       : "  NO (2 times expected)");
    }
    for (size_t i = 0; i < METHODS; i++)
        (void)printf("%s: kept %" PRIu64 " of %" PRIu64 ", exact copies %" PRIu64 ", clusters %" PRIu64
                     ", candidates %" PRIu64 ", verified %" PRIu64 "\n",
                     methods[i].name, bench->info[i].kept, bench->info[i].documents, bench->info[i].copies,
                     bench->info[i].clusters, bench->info[i].candidates, bench->info[i].verified);
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) (void)printf("peak memory %ld MB\n", usage.ru_maxrss / 1024);
}

static void note_figures(const struct bench *bench) {
    const double megabytes = (double)bench->megabytes;
    for (size_t i = 0; i < METHODS; i++)
        measure_figure(&(struct measure_figure){.bench = "dedup",
                                                .what = methods[i].name,
                                                .unit = "MB/s",
                                                .value = megabytes / series_minimum(&bench->deduplication[i]),
                                                .beside = megabytes / series_minimum(&bench->signing),
                                                .other = "signing alone"});
}

/* ------------------------------------------------------------------- the options -- */

static const char usage[] =
    "usage: bench_dedup [--megabytes N] [--threads N] [--runs N] [--json FILE] [--quick] [--cpu] [FILE]\n"
    "  FILE            real text, a document a line (default build/bench/text/documents.txt)\n"
    "  --megabytes N   of JSON lines to make of it (default 1000)\n"
    "  --threads N     default 1\n"
    "  --runs N        of each measurement (default 3, at most 1000)\n"
    "  --json FILE     append every run as a line of JSON\n"
    "  --quick         20 megabytes and 1 run: to see that it works\n"
    "  --cpu           processor time: for one thread, where others use the machine too\n";

static void parse(struct bench *bench, int count, char **arguments) {
    uint64_t threads = bench->threads;
    uint64_t runs = bench->runs;
    const struct measure_option options[] = {
        {.name = "megabytes", .number = &bench->megabytes, .least = 1, .most = 1000000, .quick = 20},
        {.name = "threads", .number = &threads, .least = 1, .most = 256},
        {.name = "runs", .number = &runs, .least = 1, .most = MEASURE_MAX_RUNS, .quick = 1},
        {.name = "json", .file = &bench->json},
        {.name = "cpu", .flag = &bench->processor_time},
        {.name = NULL},
    };
    const int operand = measure_parse(options, usage, count, arguments);
    if (operand + 1 < count) measure_usage(usage, 2);
    if (operand < count) bench->text_path = arguments[operand];
    bench->threads = (uint32_t)threads;
    bench->runs = (size_t)runs;
}

static void remove_data(struct bench *bench) {
    nigh_context_free(bench->context);
    measure_folder_remove(bench->folder);
    if (bench->json != NULL) (void)fclose(bench->json);
}

int main(int count, char **arguments) {
    static struct bench bench = {
        .text_path = "build/bench/text/documents.txt", .megabytes = 1000, .runs = 3, .threads = 1};
    parse(&bench, count, arguments);
    if (bench.processor_time) measure_processor_time();
    measure_folder_make(bench.folder);
    (void)snprintf(bench.in_path, sizeof bench.in_path, "%s/in.jsonl", bench.folder);
    (void)snprintf(bench.out_path, sizeof bench.out_path, "%s/out.jsonl", bench.folder);
    nigh_error error;
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");
    measure_print_host(stdout, nigh_context_kernel(bench.context));
    make_input(&bench);
    for (size_t run = 0; run < bench.runs; run++) {
        run_signing(&bench, run);
        for (size_t i = 0; i < METHODS; i++) run_method(&bench, i, run);
    }
    report(&bench);
    note_figures(&bench);
    remove_data(&bench);
    return 0;
}
