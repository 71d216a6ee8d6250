/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages come to what one run comes to, byte for byte: over copies, crowds, chains and documents without a feature, in
 * several inputs, for every rule of what is kept and of clusters, for any number of shards, and also where a budget
 * cuts crowds short and where keys are of 64 bits.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "dedup/deduplication.h"
#include "stages/key_strips.h"
#include "support/support.h"

#define INPUTS 5u
#define TIGHT (UINT64_C(4) << 10) /* bytes of memory: too few for the bits, and for the labels, of all documents */

/* What is told besides: pairs and clusters as lines, and the page. */
struct told {
    char *lines, *page; /* files */
};

struct world {
    nigh_context *context;
    char *folder;
    char *inputs[INPUTS];
    char *plain, *staged; /* outputs */
    struct told plain_told, staged_told;
    nigh_staged_info info; /* of the first number of shards */
    nigh_dedup_options options;
};

/* ----------------------------------------------------------------- documents */

struct kinds {
    size_t count;
    unsigned templates;
    uint64_t changes; /* words of a template that are changed, at most */
    uint64_t copies;  /* one in so many is a copy of an earlier one; 0: none */
};

/* Words of a template, with some changed: all of them, of a chain, where the last left off. */
static void make_words(struct nigh__rng *rng, const struct kinds *kinds, uint64_t *words) {
    const uint64_t kind = nigh__rng_next(rng) % 10;
    const uint64_t which = nigh__rng_next(rng) % kinds->templates;
    const uint64_t changed = nigh__rng_next(rng) % (kinds->changes + 1);
    if (kind == 1) return; /* a link of a chain: a little of the document before is changed */
    for (uint64_t k = 0; k < 60; k++) words[k] = kind == 0 ? nigh__rng_next(rng) % 1000000 : which * 100 + k;
    for (uint64_t k = 0; k < changed; k++) words[nigh__rng_next(rng) % 60] = nigh__rng_next(rng) % 1000000;
}

static void write_line(struct nigh__rng *rng, FILE *file, const uint64_t *words, uint64_t number) {
    const char *mark = nigh__rng_next(rng) % 3 == 0 ? "," : ""; /* no feature, and another length */
    assert_true(
        fprintf(file, "{\"id\":\"d%" PRIu64 "\",\"score\":%d,\"text\":\"", number, (int)(nigh__rng_next(rng) % 7)) > 0);
    if (nigh__rng_next(rng) % 25 == 0) {
        assert_true(fprintf(file, "%.*s\"}\n", 1 + (int)(nigh__rng_next(rng) % 4), "!?!?") > 0);
        return;
    }
    for (uint64_t k = 0; k < 60; k++) assert_true(fprintf(file, "w%" PRIu64 "%s ", words[k], mark) > 0);
    assert_true(fputs("\"}\n", file) >= 0);
}

static void write_inputs(const struct world *world, const struct kinds *kinds, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    uint64_t words[60] = {0};
    uint64_t number = 0;
    for (unsigned i = 0; i < INPUTS; i++) {
        FILE *file = fopen(world->inputs[i], "w");
        assert_non_null(file);
        for (size_t k = 0; i != 3 && k < kinds->count / (INPUTS - 1); k++) { /* one has nothing in it */
            const bool copies = kinds->copies != 0 && nigh__rng_next(&rng) % kinds->copies == 0;
            if (!copies) make_words(&rng, kinds, words);
            if (!copies && nigh__rng_next(&rng) % 4 == 0) words[nigh__rng_next(&rng) % 60] = nigh__rng_next(&rng);
            write_line(&rng, file, words, number++);
            if (k % 97 == 0) assert_true(fputs("no JSON at all\n\n", file) >= 0);
        }
        assert_int_equal(fclose(file), 0);
    }
}

/* -------------------------------------------------------------------- running */

static void world_open(struct world *world) {
    nigh_error error;
    *world = (struct world){.folder = scratch_new()};
    assert_ok(nigh_context_new(NULL, &world->context, &error), &error);
    for (unsigned i = 0; i < INPUTS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "in%u.jsonl", i);
        world->inputs[i] = path_in(world->folder, name);
    }
    world->plain = path_in(world->folder, "plain");
    world->staged = path_in(world->folder, "staged");
    world->plain_told = (struct told){path_in(world->folder, "plain.told"), path_in(world->folder, "plain.html")};
    world->staged_told = (struct told){path_in(world->folder, "staged.told"), path_in(world->folder, "staged.html")};
    nigh_dedup_options_init(&world->options);
    world->options.score_key = "score";
    world->options.memory_bytes = 4 << 20;
    world->options.temporary = world->folder;
}

static void world_close(struct world *world) {
    for (unsigned i = 0; i < INPUTS; i++) free(world->inputs[i]);
    free(world->plain);
    free(world->staged);
    free(world->plain_told.lines);
    free(world->plain_told.page);
    free(world->staged_told.lines);
    free(world->staged_told.page);
    nigh_context_free(world->context);
    scratch_free(world->folder);
}

static const char *const *paths_of(const struct world *world) { return (const char *const *)world->inputs; }

static void put_id(FILE *file, const nigh_dedup_document *document) {
    assert_true(fprintf(file, "%.*s#%" PRIu64 " ", (int)document->id_length, document->id, document->number) > 0);
}

struct pair_lines {
    nigh_dedup *dedup;
    FILE *file;
};

static int put_pair(void *user, const nigh_dedup_pair *pair) {
    const struct pair_lines *lines = user;
    nigh_dedup_document document = {.size = sizeof document};
    assert_int_equal(nigh_dedup_at(lines->dedup, pair->first, &document), NIGH_OK);
    put_id(lines->file, &document);
    assert_int_equal(nigh_dedup_at(lines->dedup, pair->second, &document), NIGH_OK);
    put_id(lines->file, &document);
    assert_true(fprintf(lines->file, "%.9g %u %d\n", pair->similarity, pair->distance, pair->copy) > 0);
    return 0;
}

static int put_document(void *user, const nigh_dedup_document *document, const nigh_dedup_document *kept) {
    put_id(user, document);
    put_id(user, kept);
    assert_true(fprintf(user, "%d %d %.9g %u %" PRIu64 "\n", document->keep, document->copy, document->similarity,
                        document->distance, document->text_length) > 0);
    return 0;
}

/* `staged` NULL: of one run. */
static void tell(const struct world *world, nigh_dedup *dedup, nigh_staged *staged, const struct told *told) {
    nigh_error error;
    uint64_t untold = 0;
    FILE *file = fopen(told->lines, "w");
    assert_non_null(file);
    struct pair_lines lines = {dedup, file};
    const nigh_status status = nigh_dedup_pairs(dedup, put_pair, &lines, &untold, &error);
    assert_true(status == NIGH_OK || (staged != NULL && status == NIGH_ELIMIT));
    assert_true(fprintf(file, "%" PRIu64 " not told\n", untold) > 0);
    nigh_dedup_document document = {.size = sizeof document};
    nigh_dedup_document kept = {.size = sizeof kept};
    for (uint64_t i = 0; staged == NULL && nigh_dedup_at(dedup, i, &document) == NIGH_OK; i++) {
        assert_int_equal(nigh_dedup_at(dedup, document.cluster, &kept), NIGH_OK);
        (void)put_document(file, &document, &kept);
    }
    if (staged != NULL) assert_ok(nigh_staged_documents(staged, dedup, put_document, file, &error), &error);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(nigh_dedup_report(dedup, told->page, &error), status);
    (void)world;
}

/* What one run writes, and how much of it was a crowd too large. */
static void run_plain(struct world *world, const struct nigh__dedup_narrow *narrow, nigh_dedup_info *info) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_ok(nigh__dedup_run(world->context, paths_of(world), INPUTS, NULL, &world->options, narrow, &dedup, &error),
              &error);
    *info = (nigh_dedup_info){.size = sizeof *info};
    nigh_dedup_describe(dedup, info);
    assert_ok(nigh_dedup_write(dedup, world->plain, NULL, NULL, &error), &error);
    tell(world, dedup, NULL, &world->plain_told);
    nigh_dedup_free(dedup);
}

static nigh_staged *open_staged(const struct world *world, const char *work, uint32_t shards) {
    nigh_staged *staged = NULL;
    nigh_error error;
    nigh_staged_options staging;
    nigh_staged_options_init(&staging);
    staging.shards = shards;
    staging.passing = shards != 1; /* syncs take most of the time */
    assert_ok(nigh_staged_plan(world->context, work, paths_of(world), INPUTS, NULL, &world->options, &staging, &error),
              &error);
    assert_ok(nigh_staged_open(world->context, work, &staged, &error), &error);
    assert_ok(nigh_staged_use(staged, paths_of(world), INPUTS, NULL, &world->options, &error), &error);
    return staged;
}

static void run_stages(nigh_staged *staged) {
    nigh_error error;
    for (int stage = 0; stage < NIGH_STAGE_COUNT; stage++)
        for (uint32_t i = nigh_staged_tasks(staged, (nigh_stage)stage); i-- > 0;) { /* in any order */
            nigh_stage_done done = {.size = sizeof done};
            assert_ok(nigh_staged_run(staged, (nigh_stage)stage, i, &done, &error), &error);
            assert_false(done.was_done || done.was_bad);
            assert_true(done.disk_bytes >= 64);
        }
}

static void assert_same_files(const char *a, const char *b) {
    const struct bytes x = file_read_all(a);
    const struct bytes y = file_read_all(b);
    assert_int_equal(x.length, y.length);
    assert_memory_equal(x.data, y.data, x.length);
    free(x.data);
    free(y.data);
}

/* One shard after the other, put together. */
static void assert_shards_same(const struct world *world, nigh_staged *staged) {
    nigh_error error;
    FILE *all = fopen(world->staged, "w");
    char *part = path_in(world->folder, "part");
    assert_non_null(all);
    for (uint32_t i = 0; i < nigh_staged_tasks(staged, NIGH_STAGE_SIGN); i++) {
        assert_ok(nigh_staged_write(staged, i, part, NULL, NULL, &error), &error);
        const struct bytes bytes = file_read_all(part);
        assert_int_equal(fwrite(bytes.data, 1, bytes.length, all), bytes.length);
        free(bytes.data);
    }
    assert_int_equal(fclose(all), 0);
    assert_same_files(world->plain, world->staged);
    free(part);
}

/* The page but for what it says of the work. */
static void assert_same_pages(const struct world *world) {
    char *pages[] = {world->plain_told.page, world->staged_told.page};
    struct bytes bytes[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = file_read_all(pages[i]);
        bytes[i].data[bytes[i].length - 1] = 0;
        char *work = strstr((char *)bytes[i].data, "How it was done");
        assert_non_null(work);
        *work = 0;
    }
    assert_string_equal((char *)bytes[0].data, (char *)bytes[1].data);
    free(bytes[0].data);
    free(bytes[1].data);
}

/* Clusters alone: what comes behind pairs. */
static void assert_same_clusters(const struct world *world) {
    const char *const files[] = {world->plain_told.lines, world->staged_told.lines};
    struct bytes bytes[2];
    const char *told[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = file_read_all(files[i]);
        bytes[i].data[bytes[i].length - 1] = 0;
        told[i] = strstr((char *)bytes[i].data, " not told\n");
        assert_non_null(told[i]);
    }
    assert_string_equal(told[0], told[1]);
    free(bytes[0].data);
    free(bytes[1].data);
}

/* More pairs than the limit are told by one run in part, and by stages not at all. */
static void check_told(const struct world *world, nigh_staged *staged, const nigh_dedup_info *plain) {
    nigh_dedup *clusters = NULL;
    nigh_error error;
    nigh_dedup_info info = {.size = sizeof info};
    assert_ok(nigh_staged_clusters(staged, &clusters, &error), &error);
    tell(world, clusters, staged, &world->staged_told);
    if (plain->pairs_cut > 0 || clusters->pairs_refused > 0) {
        assert_true(world->options.all_pairs && world->options.pairs_limit != 0 && clusters->pairs_refused > 0);
        assert_same_clusters(world);
        nigh_dedup_free(clusters);
        return;
    }
    assert_same_files(world->plain_told.lines, world->staged_told.lines);
    assert_same_pages(world);
    nigh_dedup_describe(clusters, &info);
    assert_int_equal(info.clusters, plain->clusters);
    assert_int_equal(info.largest, plain->largest);
    assert_int_equal(info.kept, plain->kept);
    assert_int_equal(info.unread, plain->unread);
    if (world->options.cluster != NIGH_CLUSTER_COMPONENTS && !world->options.all_pairs)
        assert_int_equal(info.alike, plain->alike);
    nigh_dedup_free(clusters);
}

static void check_shards(struct world *world, uint32_t shards, const struct nigh__dedup_narrow *narrow,
                         const nigh_dedup_info *plain) {
    nigh_error error;
    nigh_staged_info info = {.size = sizeof info};
    char *work = path_in(world->folder, "work");
    remove_tree(work);
    nigh_staged *staged = open_staged(world, work, shards);
    if (shards == 2) staged->settled->options.memory_bytes = TIGHT; /* and components are found by sorting */
    staged->settled->narrow = *narrow;
    run_stages(staged);
    assert_ok(nigh_staged_write(staged, NIGH_ALL, world->staged, NULL, NULL, &error), &error);
    assert_same_files(world->plain, world->staged);
    assert_shards_same(world, staged);
    assert_ok(nigh_staged_describe(staged, &info, &error), &error);
    assert_int_equal(info.documents, plain->documents);
    assert_int_equal(info.kept, plain->kept);
    assert_int_equal(info.copies, plain->copies);
    assert_int_equal(info.empty, plain->empty);
    assert_int_equal(info.truncated, plain->truncated);
    if (shards == 1) world->info = info;
    assert_int_equal(info.components, world->info.components);
    assert_int_equal(info.largest, world->info.largest);
    check_told(world, staged, plain);
    nigh_staged_close(staged);
    free(work);
}

static void check(struct world *world, const struct kinds *kinds, const struct nigh__dedup_narrow *narrow,
                  uint64_t seed) {
    static const uint32_t shards[] = {1, 2, 7};
    nigh_dedup_info info;
    write_inputs(world, kinds, seed);
    run_plain(world, narrow, &info);
    assert_true(info.kept < info.documents && info.kept > 0);
    for (size_t i = 0; i < sizeof shards / sizeof shards[0]; i++) check_shards(world, shards[i], narrow, &info);
}

/* -------------------------------------------------------------------- tests */

static void test_rules(void **state) {
    static const struct kinds kinds = {.count = 600, .templates = 30, .changes = 6, .copies = 9};
    struct world world;
    (void)state;
    world_open(&world);
    for (int keep = NIGH_KEEP_FIRST; keep <= NIGH_KEEP_SCORE; keep++)
        for (int cluster = NIGH_CLUSTER_KEPT; cluster <= NIGH_CLUSTER_COMPLETE; cluster++) {
            world.options.all_pairs = (keep + cluster) % 2;
            world.options.keep = (nigh_keep_rule)keep;
            world.options.cluster = (nigh_cluster_rule)cluster;
            check(&world, &kinds, &nigh__dedup_usual_narrow, (uint64_t)keep * 3 + (uint64_t)cluster);
        }
    world_close(&world);
}

/* All pairs, of copies, of sets that have many, and of crowds; and a limit that is too low, whatever it is for. */
static void test_pairs(void **state) {
    static const struct kinds kinds = {.count = 1200, .templates = 3, .changes = 5, .copies = 4};
    static const uint64_t limits[] = {0, 100000000, 3000, 50000};
    struct world world;
    (void)state;
    world_open(&world);
    world.options.all_pairs = 1;
    for (int cluster = NIGH_CLUSTER_KEPT; cluster <= NIGH_CLUSTER_COMPLETE; cluster++)
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
            world.options.cluster = (nigh_cluster_rule)cluster;
            world.options.pairs_limit = limits[i];
            world.options.no_verify = i == 1;
            world.options.bucket_budget = cluster == NIGH_CLUSTER_KEPT && i == 0 ? 60 : 0;
            check(&world, &kinds, &nigh__dedup_usual_narrow, 300 + (uint64_t)cluster * 4 + i);
        }
    world_close(&world);
}

/* Buckets of many more than 200, which are lists and not pairs; with a small budget they are cut short. */
static void test_crowds(void **state) {
    static const struct kinds kinds = {.count = 1600, .templates = 2, .changes = 9};
    struct world world;
    (void)state;
    world_open(&world);
    for (int cluster = NIGH_CLUSTER_KEPT; cluster <= NIGH_CLUSTER_COMPLETE; cluster++)
        for (int cut = 0; cut < 2; cut++) {
            world.options.cluster = (nigh_cluster_rule)cluster;
            world.options.bucket_budget = cut ? 40 : 2000;
            world.options.keep = cut ? NIGH_KEEP_LONGEST : NIGH_KEEP_FIRST;
            check(&world, &kinds, &nigh__dedup_usual_narrow, 100 + (uint64_t)cluster * 2 + (uint64_t)cut);
        }
    world_close(&world);
}

/*
 * The rule COMPLETE with budgets that run out, over more documents than one wave has (dedup/keep.c): who is decided
 * beside whom differs between one run and the tasks of stages, and must not matter.
 */
static void test_complete_cut(void **state) {
    static const struct kinds kinds = {.count = 6000, .templates = 6, .changes = 5};
    static const uint64_t budgets[] = {8, 20, 50};
    struct world world;
    (void)state;
    world_open(&world);
    world.options.cluster = NIGH_CLUSTER_COMPLETE;
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        world.options.bucket_budget = budgets[i];
        world.options.no_verify = i == 1;
        world.options.keep = i == 2 ? NIGH_KEEP_SHORTEST : NIGH_KEEP_FIRST;
        check(&world, &kinds, &nigh__dedup_usual_narrow, 200 + i);
    }
    world_close(&world);
}

/* Low halves of keys count for documents past the first block, as they would for the 67 millionth. */
static void test_wide_keys(void **state) {
    static const struct kinds kinds = {.count = 6000, .templates = 900, .changes = 5, .copies = 50};
    const struct nigh__dedup_narrow narrow = {.numbers = NIGH__HALF_WORD_NUMBERS, .keys = 4096};
    struct world world;
    (void)state;
    world_open(&world);
    check(&world, &kinds, &narrow, 7);
    world_close(&world);
}

static void sign_in_order(nigh_staged *staged) {
    nigh_error error;
    for (uint32_t i = 0; i < nigh_staged_tasks(staged, NIGH_STAGE_SIGN); i++)
        assert_ok(nigh_staged_run(staged, NIGH_STAGE_SIGN, i, NULL, &error), &error);
}

static void finish_stages(nigh_staged *staged) {
    nigh_error error;
    for (int stage = NIGH_STAGE_SIGN + 1; stage < NIGH_STAGE_COUNT; stage++)
        for (uint32_t i = 0; i < nigh_staged_tasks(staged, (nigh_stage)stage); i++)
            assert_ok(nigh_staged_run(staged, (nigh_stage)stage, i, NULL, &error), &error);
}

/* How many documents of each shard have no low halves: whole strips of those that are among the first of all. */
static void assert_narrow(const nigh_staged *staged) {
    const uint64_t most = staged->settled->narrow.keys;
    uint64_t *bases = NULL;
    uint64_t info[NIGH__SIGN_INFO_WORDS];
    nigh_error error;
    assert_ok(nigh__staged_bases(staged, &bases, &error), &error);
    assert_true(bases[1] > 0 && bases[1] < most && bases[staged->shards] > most);
    for (uint32_t i = 0; i < staged->shards; i++) {
        const uint64_t left = bases[i] < most ? most - bases[i] : 0;
        assert_ok(nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, info, NIGH__SIGN_INFO_WORDS, &error), &error);
        assert_int_equal(info[NIGH__SIGN_NARROW], left / NIGH__STRIP_KEYS * NIGH__STRIP_KEYS);
    }
    nigh__free(staged->context, bases);
}

/* Tasks that are done in order leave out low halves that do not count; a reader who needs them misses them. */
static void test_left_out_keys(void **state) {
    static const struct kinds kinds = {.count = 40000, .templates = 9000, .changes = 5, .copies = 50};
    const struct nigh__dedup_narrow narrow = {.numbers = NIGH__HALF_WORD_NUMBERS,
                                              .keys = (uint64_t)2 * NIGH__STRIP_KEYS};
    struct world world;
    nigh_dedup_info info;
    nigh_error error;
    (void)state;
    world_open(&world);
    write_inputs(&world, &kinds, 11);
    run_plain(&world, &narrow, &info);
    char *work = path_in(world.folder, "work");
    nigh_staged *staged = open_staged(&world, work, INPUTS);
    staged->settled->narrow = narrow;
    sign_in_order(staged);
    assert_narrow(staged);
    finish_stages(staged);
    assert_ok(nigh_staged_write(staged, NIGH_ALL, world.staged, NULL, NULL, &error), &error);
    assert_same_files(world.plain, world.staged);
    char *buckets = path_in(work, "buckets-0");
    assert_int_equal(remove(buckets), 0);
    staged->settled->narrow.keys = NIGH__STRIP_KEYS;
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_BUCKETS, 0, NULL, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error.file, "sign-0"));
    nigh_staged_close(staged);
    free(buckets);
    free(work);
    world_close(&world);
}

static void test_unverified(void **state) {
    static const struct kinds kinds = {.count = 800, .templates = 40, .changes = 8, .copies = 20};
    struct world world;
    (void)state;
    world_open(&world);
    world.options.no_verify = 1;
    world.options.threshold = 0.6;
    check(&world, &kinds, &nigh__dedup_usual_narrow, 8);
    world_close(&world);
}

/* One file damaged, or another's: told, and made again where it is a task's own; named where it is another's. */
static void test_damage(void **state) {
    static const struct kinds kinds = {.count = 300, .templates = 20, .changes = 5, .copies = 9};
    struct world world;
    nigh_error error;
    nigh_dedup_info info;
    (void)state;
    world_open(&world);
    write_inputs(&world, &kinds, 9);
    run_plain(&world, &nigh__dedup_usual_narrow, &info);
    char *work = path_in(world.folder, "work");
    nigh_staged *staged = open_staged(&world, work, 2);
    run_stages(staged);
    for (int stage = 0; stage < NIGH_STAGE_COUNT; stage++) {
        nigh_stage_done done = {.size = sizeof done};
        char name[32];
        (void)snprintf(name, sizeof name, "%s-0", nigh_stage_name((nigh_stage)stage));
        char *path = path_in(work, name);
        struct bytes bytes = file_read_all(path);
        bytes.data[bytes.length / 2] ^= 1;
        file_write_all(path, bytes.data, bytes.length);
        assert_ok(nigh_staged_run(staged, (nigh_stage)stage, 0, &done, &error), &error);
        assert_true(done.was_bad && !done.was_done);
        assert_non_null(strstr(done.why.file, name));
        assert_ok(nigh_staged_run(staged, (nigh_stage)stage, 0, &done, &error), &error);
        assert_true(done.was_done && !done.was_bad);
        free(bytes.data);
        free(path);
    }
    assert_ok(nigh_staged_write(staged, NIGH_ALL, world.staged, NULL, NULL, &error), &error);
    assert_same_files(world.plain, world.staged);
    nigh_staged_close(staged);
    free(work);
    world_close(&world);
}

struct copying_sections {
    struct nigh__stage_reader reader;
    struct nigh__stage_writer writer;
    nigh_error error;
};

/* A section as it is; of one of crowds, the first crowd names its first member last as well. */
static bool copy_section(struct copying_sections *copying, uint32_t section, bool forges) {
    const uint64_t *words = NULL;
    size_t count = 0;
    bool forged = false;
    nigh__stage_begin(&copying->reader, section);
    while (nigh__stage_next(&copying->reader, 0, &words, &count, &copying->error) == NIGH_OK) {
        uint64_t *own = malloc(count * sizeof *own);
        assert_non_null(own);
        memcpy(own, words, count * sizeof *own);
        size_t last = 0;
        while (forges && last + NIGH__CROWD_WORDS < count && own[last + NIGH__CROWD_WORDS] == own[0])
            last += NIGH__CROWD_WORDS;
        if (!forged && last > NIGH__CROWD_WORDS) {
            own[last + 2] = own[2];
            forged = true;
        }
        assert_ok(nigh__stage_add(&copying->writer, section, own, count, &copying->error), &copying->error);
        free(own);
    }
    return forged;
}

/* Writes the file of the task anew, with all checksums right. */
static void forge_crowd(nigh_staged *staged) {
    struct copying_sections copying;
    const uint32_t sections = nigh__staged_sections(staged, NIGH_STAGE_COMPONENTS);
    bool forged = false;
    char *path = nigh__staged_path(staged, NIGH_STAGE_COMPONENTS, 0);
    assert_ok(nigh__staged_read(staged, NIGH_STAGE_COMPONENTS, 0, &copying.reader, &copying.error), &copying.error);
    assert_ok(nigh__stage_writer_open(staged->context, path, &copying.reader.label, sections, &copying.writer,
                                      &copying.error),
              &copying.error);
    for (uint32_t i = 0; i < sections; i++)
        forged |= copy_section(&copying, i, i == NIGH__COMPONENTS_TASKS + 2 * staged->shards);
    assert_true(forged);
    assert_ok(nigh__stage_writer_finish(&copying.writer, &copying.error), &copying.error);
    nigh__stage_writer_release(&copying.writer);
    nigh__stage_reader_release(&copying.reader);
    nigh__free(staged->context, path);
}

/* A crowd that names a member twice, with others between. */
static void test_member_twice(void **state) {
    static const struct kinds kinds = {.count = 1200, .templates = 1, .changes = 4};
    struct world world;
    nigh_error error;
    (void)state;
    world_open(&world);
    write_inputs(&world, &kinds, 12);
    char *work = path_in(world.folder, "work");
    char *verify = path_in(work, "verify-0");
    nigh_staged *staged = open_staged(&world, work, 1);
    run_stages(staged);
    assert_int_equal(remove(verify), 0);
    forge_crowd(staged);
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_VERIFY, 0, NULL, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error.file, "components-0"));
    nigh_staged_close(staged);
    free(verify);
    free(work);
    world_close(&world);
}

/* A file that a stage needs is missing, cut short, of another plan, or another shard's: named, and nothing is done. */
static void test_refusals(void **state) {
    static const struct kinds kinds = {.count = 200, .templates = 20, .changes = 5, .copies = 9};
    struct world world;
    nigh_error error;
    (void)state;
    world_open(&world);
    write_inputs(&world, &kinds, 10);
    char *work = path_in(world.folder, "work");
    char *other = path_in(world.folder, "other");
    char *theirs = path_in(other, "sign-1");
    char *ours = path_in(work, "sign-1");
    char *twin = path_in(work, "sign-0");
    nigh_staged *staged = open_staged(&world, work, 2);
    nigh_staged *stranger = open_staged(&world, other, 2);
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_COPIES, 0, NULL, &error), NIGH_ENOTFOUND);
    assert_non_null(strstr(error.file, "sign-0"));
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(nigh_staged_run(staged, NIGH_STAGE_SIGN, i, NULL, &error), &error);
        assert_ok(nigh_staged_run(stranger, NIGH_STAGE_SIGN, i, NULL, &error), &error);
    }
    const struct bytes good = file_read_all(ours);
    const struct bytes strange = file_read_all(theirs);
    const struct bytes same = file_read_all(twin);
    file_write_all(ours, strange.data, strange.length);
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_COPIES, 0, NULL, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error.file, "sign-1"));
    file_write_all(ours, same.data, same.length);
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_COPIES, 0, NULL, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error.why, "is shard 0/2, not 1/2"));
    file_write_all(ours, good.data, good.length / 2);
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_COPIES, 0, NULL, &error), NIGH_ECORRUPT);
    file_write_all(ours, good.data, good.length);
    assert_ok(nigh_staged_run(staged, NIGH_STAGE_COPIES, 0, NULL, &error), &error);
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_COPIES, 2, NULL, &error), NIGH_EINVAL);
    /* Another output than that of the last stage is not there yet. */
    assert_int_equal(nigh_staged_write(staged, NIGH_ALL, world.staged, NULL, NULL, &error), NIGH_ENOTFOUND);
    assert_false(path_exists(world.staged));
    nigh_staged_close(staged);
    nigh_staged_close(stranger);
    free(good.data);
    free(strange.data);
    free(same.data);
    free(ours);
    free(theirs);
    free(twin);
    free(work);
    free(other);
    world_close(&world);
}

/* Inputs and options that are not those of the plan. */
static void test_changes(void **state) {
    static const struct kinds kinds = {.count = 100, .templates = 20, .changes = 5, .copies = 9};
    struct world world;
    nigh_error error;
    nigh_staged_options staging;
    (void)state;
    world_open(&world);
    write_inputs(&world, &kinds, 11);
    char *work = path_in(world.folder, "work");
    nigh_staged *staged = open_staged(&world, work, 2);
    assert_ok(nigh_staged_run(staged, NIGH_STAGE_SIGN, 0, NULL, &error), &error);
    world.options.threshold = 0.7;
    assert_int_equal(nigh_staged_use(staged, paths_of(&world), INPUTS, NULL, &world.options, &error), NIGH_EMISMATCH);
    nigh_staged_options_init(&staging);
    staging.shards = 2;
    assert_int_equal(
        nigh_staged_plan(world.context, work, paths_of(&world), INPUTS, NULL, &world.options, &staging, &error),
        NIGH_EMISMATCH);
    world.options.threshold = 0.8;
    assert_ok(nigh_staged_use(staged, paths_of(&world), INPUTS, NULL, &world.options, &error), &error);
    file_write_all(world.inputs[4], "{\"text\":\"another\"}\n", 19);
    assert_int_equal(nigh_staged_run(staged, NIGH_STAGE_SIGN, 1, NULL, &error), NIGH_ECORRUPT);
    assert_string_equal(error.file, world.inputs[4]);
    assert_int_equal(nigh_staged_use(staged, paths_of(&world), INPUTS, NULL, &world.options, &error), NIGH_ECORRUPT);
    assert_int_equal(nigh_staged_use(staged, paths_of(&world), INPUTS - 1, NULL, &world.options, &error),
                     NIGH_EMISMATCH);
    world.options.method = NIGH_DEDUP_EXACT;
    assert_int_equal(nigh_staged_use(staged, paths_of(&world), INPUTS, NULL, &world.options, &error), NIGH_EINVAL);
    nigh_staged_close(staged);
    free(work);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),         cmocka_unit_test(test_crowds),     cmocka_unit_test(test_wide_keys),
        cmocka_unit_test(test_left_out_keys), cmocka_unit_test(test_unverified), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_member_twice),  cmocka_unit_test(test_refusals),   cmocka_unit_test(test_changes),
        cmocka_unit_test(test_complete_cut),  cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
