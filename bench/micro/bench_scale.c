/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * What de-duplication in stages costs beside one run: processor time, memory and disk, stage by stage.
 *
 * Makes short documents, JSON lines of some 25 words by Zipf's law in several files: ten in a hundred are one of the
 * last thousands with its last word changed, five are copies.  Then the tool is run as users run it, each task in a
 * process of its own whose processor time and peak of memory the system tells: plainly, stage by stage, and all stages
 * by one process and by two.  What comes out must be the same bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "measure.h"
#include "zipf_text.h"

#define KEPT_TEXTS 4096u /* made before, to be copied */
#define TERMS 20u        /* distinct words of a document */
#define LONGEST 2048u
#define NEAR_SHARE 10u /* of 100 documents */
#define COPY_SHARE 5u
#define MAX_FILES 64u
#define MAX_WORDS 96u
#define PATH_ROOM 128u

struct bench {
    const char *tool, *memory, *make;
    uint64_t documents, files, shards, most_plain;
    char folder[MEASURE_FOLDER];
    char inputs[MAX_FILES][PATH_ROOM];
    char plain[PATH_ROOM], staged[PATH_ROOM], work[PATH_ROOM];
    uint64_t bytes; /* of the inputs */
};

/* What a process took. */
struct cost {
    double processor, wall; /* seconds */
    uint64_t peak;          /* bytes of memory */
};

/* ------------------------------------------------------------- the documents -- */

struct maker {
    struct zipf_text text;
    struct zipf_document document;
    struct nigh__rng rng;
    char (*kept)[LONGEST]; /* KEPT_TEXTS of them */
    uint64_t made;
};

static size_t spell(const struct zipf_document *document, char *out) {
    size_t used = 0;
    for (size_t i = 0; i < document->word_count && used + ZIPF_SPELLED + 2 < LONGEST; i++) {
        if (i > 0) out[used++] = ' ';
        used += zipf_word_spell(document->words[i], out + used);
    }
    out[used] = '\0';
    return used;
}

/* The next text; it is the caller's until the next call. */
static const char *make_text(struct maker *maker, uint64_t number) {
    static char near[LONGEST];
    const uint64_t kind = nigh__rng_next(&maker->rng) % 100;
    const uint64_t most = maker->made < KEPT_TEXTS ? maker->made : KEPT_TEXTS;
    if (most > 0 && kind < NEAR_SHARE + COPY_SHARE) {
        const char *from = maker->kept[nigh__rng_next(&maker->rng) % most];
        if (kind >= NEAR_SHARE) return from;
        const char *last = strrchr(from, ' ');
        const int length = last == NULL ? 0 : (int)(last - from);
        (void)snprintf(near, sizeof near, "%.*s x%" PRIu64, length, from, number);
        return near;
    }
    char *place = maker->kept[maker->made++ % KEPT_TEXTS];
    zipf_text_document(&maker->text, number, &maker->document);
    (void)spell(&maker->document, place);
    return place;
}

static void make_file(struct bench *bench, struct maker *maker, uint64_t file) {
    const uint64_t begin = bench->documents * file / bench->files;
    const uint64_t end = bench->documents * (file + 1) / bench->files;
    FILE *out = fopen(bench->inputs[file], "wb");
    if (out == NULL) measure_fail(bench->inputs[file], "cannot be written");
    for (uint64_t i = begin; i < end; i++) {
        const int length = fprintf(out, "{\"id\": \"%" PRIu64 "\", \"text\": \"%s\"}\n", i, make_text(maker, i));
        if (length < 0) measure_fail(bench->inputs[file], "cannot be written");
        bench->bytes += (uint64_t)length;
    }
    if (fclose(out) != 0) measure_fail(bench->inputs[file], "cannot be written");
}

static void make_inputs(struct bench *bench) {
    static struct maker maker = {.rng = {.state = 1}};
    maker.kept = measure_allocate(KEPT_TEXTS, LONGEST);
    zipf_text_init(&maker.text, 1, TERMS);
    for (uint64_t i = 0; i < bench->files; i++) make_file(bench, &maker, i);
    (void)printf("%" PRIu64 " documents in %" PRIu64 " files, %.2f GB\n", bench->documents, bench->files,
                 (double)bench->bytes / 1e9);
    zipf_document_free(&maker.document);
    free(maker.kept);
}

/* ------------------------------------------------------------- the processes -- */

struct words {
    const char *list[MAX_WORDS];
    size_t count;
};

static void say(struct words *words, const char *word) {
    if (words->count + 1 >= MAX_WORDS) measure_fail(word, "does not fit the command");
    words->list[words->count++] = word;
}

/* "nigh dedup --quiet --memory M --threads 1 ..." */
static struct words command(const struct bench *bench) {
    struct words words = {.count = 0};
    static const char *const first[] = {"nigh", "dedup", "--quiet", "--threads", "1", "--memory"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) say(&words, first[i]);
    say(&words, bench->memory);
    return words;
}

static struct cost run(const struct bench *bench, const struct words *words) {
    char *arguments[MAX_WORDS] = {NULL};
    struct rusage usage;
    pid_t child;
    int status = 0;
    for (size_t i = 0; i < words->count; i++) memcpy(&arguments[i], &words->list[i], sizeof arguments[i]);
    const double start = measure_wall();
    if (posix_spawn(&child, bench->tool, NULL, NULL, arguments, environ) != 0)
        measure_fail(bench->tool, "cannot be started");
    while (wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR) measure_fail(bench->tool, "cannot be waited for");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) measure_fail(bench->tool, "failed");
    return (struct cost){.wall = measure_wall() - start,
                         .processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
                         .peak = (uint64_t)usage.ru_maxrss * 1024};
}

static void say_inputs(const struct bench *bench, struct words *words) {
    for (uint64_t i = 0; i < bench->files; i++) say(words, bench->inputs[i]);
}

/* -------------------------------------------------------------------- the runs -- */

static void show(const struct bench *bench, const char *what, const struct cost *cost, uint64_t disk) {
    const double documents = (double)bench->documents;
    (void)printf("%-12s %9.2f %9.2f %9.3f %9.0f %9.1f %9.1f\n", what, cost->processor, cost->wall,
                 cost->processor / documents * 1e6, (double)cost->peak / 1e6, (double)cost->peak / documents,
                 (double)disk / documents);
    (void)fflush(stdout);
}

static struct cost run_plain(const struct bench *bench) {
    struct words words = command(bench);
    say(&words, "-o");
    say(&words, bench->plain);
    say_inputs(bench, &words);
    return run(bench, &words);
}

/* All tasks of a stage, one after the other. */
static struct cost run_stage(const struct bench *bench, const char *stage, uint32_t tasks, uint64_t *disk) {
    struct cost all = {0, 0, 0};
    for (uint32_t i = 0; i < tasks; i++) {
        struct words words = command(bench);
        struct stat found;
        char shard[32];
        char path[PATH_ROOM + 32];
        (void)snprintf(shard, sizeof shard, "%u/%u", i, tasks);
        (void)snprintf(path, sizeof path, "%s/%s-%u", bench->work, stage, i);
        const char *const more[] = {"--work", bench->work, "--stage", stage, "--shard", shard};
        for (size_t k = 0; k < sizeof more / sizeof more[0]; k++) say(&words, more[k]);
        const struct cost one = run(bench, &words);
        all.processor += one.processor;
        all.wall += one.wall;
        if (one.peak > all.peak) all.peak = one.peak;
        if (stat(path, &found) == 0) *disk += (uint64_t)found.st_size;
    }
    return all;
}

static struct cost run_all(const struct bench *bench, const char *shards, const char *processes) {
    struct words words = command(bench);
    measure_folder_remove(bench->work);
    const char *const more[] = {"--work",      bench->work, "--shards", shards,
                                "--processes", processes,   "-o",       bench->staged};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) say(&words, more[i]);
    say_inputs(bench, &words);
    return run(bench, &words);
}

static struct cost run_stages(const struct bench *bench, const char *shards) {
    struct cost sum = {0, 0, 0};
    uint64_t disk = 0;
    struct words words = command(bench);
    const char *const more[] = {"--work", bench->work, "--plan", "--shards", shards};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) say(&words, more[i]);
    say_inputs(bench, &words);
    (void)fflush(stdout);
    (void)run(bench, &words);
    for (int i = 0; i <= NIGH_STAGE_COUNT; i++) {
        const char *stage = i < NIGH_STAGE_COUNT ? nigh_stage_name((nigh_stage)i) : NULL;
        uint64_t own = 0;
        struct cost cost;
        words = command(bench);
        const char *const rewrite[] = {"--work", bench->work, "-o", bench->staged};
        for (size_t k = 0; k < sizeof rewrite / sizeof rewrite[0]; k++) say(&words, rewrite[k]);
        if (stage != NULL)
            cost = run_stage(bench, stage, i == NIGH_STAGE_COMPONENTS ? 1 : (uint32_t)bench->shards, &own);
        else
            cost = run(bench, &words);
        show(bench, stage == NULL ? "rewrite" : stage, &cost, own);
        sum.processor += cost.processor;
        sum.wall += cost.wall;
        if (cost.peak > sum.peak) sum.peak = cost.peak;
        disk += own;
    }
    show(bench, "all stages", &sum, disk);
    return sum;
}

static bool are_same(const char *a, const char *b) {
    char line[2 * PATH_ROOM + 16];
    (void)snprintf(line, sizeof line, "cmp -s '%s' '%s'", a, b);
    return system(line) == 0;
}

/* ------------------------------------------------------------------ the report -- */

static void note(const struct bench *bench, const char *what, const char *unit, double value, double beside) {
    measure_figure(&(struct measure_figure){.bench = "scale",
                                            .what = what,
                                            .unit = unit,
                                            .value = value / (double)bench->documents,
                                            .beside = beside / (double)bench->documents,
                                            .other = "one run",
                                            .less = true});
}

/* What a document takes; `one` and `two` processes do all stages. */
static void note_figures(const struct bench *bench, const struct cost *plain, const struct cost *stages,
                         const struct cost *one, const struct cost *two) {
    note(bench, "one run, processor time", "us/document", plain->processor * 1e6, 0);
    note(bench, "one run, memory", "bytes/document", (double)plain->peak, 0);
    note(bench, "stages, processor time", "us/document", one->processor * 1e6, plain->processor * 1e6);
    note(bench, "stages, memory of a process", "bytes/document", (double)stages->peak, (double)plain->peak);
    measure_figure(&(struct measure_figure){.bench = "scale",
                                            .what = "stages, 2 processes",
                                            .unit = "documents/s",
                                            .value = (double)bench->documents / two->wall,
                                            .beside = (double)bench->documents / one->wall,
                                            .other = "1 process"});
}

static void compare(const struct bench *bench) {
    char shards[32];
    (void)snprintf(shards, sizeof shards, "%" PRIu64, bench->shards);
    (void)printf("%-12s %9s %9s %9s %9s %9s %9s\n", "", "processor", "wall", "us a", "peak", "bytes a", "disk a");
    (void)printf("%-12s %9s %9s %9s %9s %9s %9s\n", "", "seconds", "seconds", "document", "MB", "document", "document");
    (void)fflush(stdout);
    const bool has_plain = bench->documents <= bench->most_plain;
    const struct cost plain = has_plain ? run_plain(bench) : (struct cost){0, 0, 0};
    if (has_plain) show(bench, "plain", &plain, 0);
    const struct cost stages = run_stages(bench, shards);
    if (has_plain) (void)printf("the same bytes: %s\n", are_same(bench->plain, bench->staged) ? "yes" : "NO");
    const struct cost one = run_all(bench, shards, "1");
    show(bench, "1 process", &one, 0);
    const struct cost two = run_all(bench, shards, "2");
    show(bench, "2 processes", &two, 0);
    if (has_plain)
        (void)printf("the same bytes: %s\nprocessor time, times the plain run: %.2f\n",
                     are_same(bench->plain, bench->staged) ? "yes" : "NO", one.processor / plain.processor);
    (void)printf("two processes, times one: %.2f\n", one.wall / two.wall);
    note_figures(bench, &plain, &stages, &one, &two);
}

static const char usage[] =
    "usage: bench_scale [--documents N] [--files N] [--shards N] [--memory SIZE] [--tool FILE] [--quick]\n"
    "  --documents N   short ones, some 170 bytes each (default 1000000)\n"
    "  --files N       that they lie in (default 8)\n"
    "  --shards N      of the plan (default 8)\n"
    "  --memory SIZE   of a process (default 4G)\n"
    "  --plain N       leave out the plain run beyond so many documents (default 30000000)\n"
    "  --tool FILE     what is run (default build/nigh)\n"
    "  --make FOLDER   only make the documents, there; the folder is made where there is none\n"
    "  --quick         20000 documents: to see that it works\n";

int main(int count, char **arguments) {
    static struct bench bench = {
        .tool = "build/nigh", .memory = "4G", .documents = 1000000, .files = 8, .shards = 8, .most_plain = 30000000};
    const struct measure_option options[] = {
        {.name = "documents", .number = &bench.documents, .least = 1, .most = 10000000000, .quick = 20000},
        {.name = "files", .number = &bench.files, .least = 1, .most = MAX_FILES},
        {.name = "shards", .number = &bench.shards, .least = 1, .most = NIGH_MAX_SHARDS},
        {.name = "plain", .number = &bench.most_plain, .least = 0, .most = 10000000000},
        {.name = "memory", .text = &bench.memory},
        {.name = "tool", .text = &bench.tool},
        {.name = "make", .text = &bench.make},
        {.name = NULL},
    };
    if (measure_parse(options, usage, count, arguments) < count) measure_usage(usage, 2);
    if (bench.make == NULL) measure_folder_make(bench.folder);
    if (bench.make != NULL) (void)snprintf(bench.folder, sizeof bench.folder, "%s", bench.make);
    if (bench.make != NULL && mkdir(bench.make, 0777) != 0 && errno != EEXIST)
        measure_fail(bench.make, "cannot be made");
    for (uint64_t i = 0; i < bench.files; i++)
        (void)snprintf(bench.inputs[i], PATH_ROOM, "%s/in-%" PRIu64 ".jsonl", bench.folder, i);
    (void)snprintf(bench.plain, PATH_ROOM, "%s/plain.jsonl", bench.folder);
    (void)snprintf(bench.staged, PATH_ROOM, "%s/staged.jsonl", bench.folder);
    (void)snprintf(bench.work, PATH_ROOM, "%s/work", bench.folder);
    measure_print_host(stdout, "");
    make_inputs(&bench);
    if (bench.make != NULL) return 0;
    compare(&bench);
    measure_folder_remove(bench.folder);
    return 0;
}
