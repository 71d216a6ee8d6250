/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New documents against old ones: the answers are those of a loop that takes the new
 * ones one by one; what is added is what matched nothing, once and all of it or none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

enum { OLD = 300, NEW = 200, MAX_BYTES = 16, RADIUS = 3 };

/* Rows near each other, in families, so that each kind of match comes up. */
struct world {
    uint32_t width_bits;
    size_t bytes;
    uint8_t old[OLD * MAX_BYTES];
    uint8_t fresh[NEW * MAX_BYTES];
};

static void draw_row(const struct world *world, struct nigh__rng *rng, uint8_t *out) {
    struct nigh__rng family = {nigh__rng_next(rng) % 90};
    for (size_t i = 0; i < world->bytes; i++) out[i] = (uint8_t)nigh__rng_next(&family);
    for (uint64_t flips = nigh__rng_next(rng) % 5; flips > 0; flips--) {
        const uint64_t bit = nigh__rng_next(rng) % world->width_bits;
        out[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static struct world *world_new(uint32_t width_bits, uint64_t seed) {
    struct world *world = calloc(1, sizeof *world);
    struct nigh__rng rng = {seed};
    assert_non_null(world);
    world->width_bits = width_bits;
    world->bytes = width_bits / 8;
    for (size_t i = 0; i < OLD; i++) draw_row(world, &rng, world->old + i * world->bytes);
    for (size_t i = 0; i < NEW; i++) draw_row(world, &rng, world->fresh + i * world->bytes);
    /* Families that are not there: only the new ones have them. */
    for (size_t i = 0; i < NEW; i += 2) world->fresh[i * world->bytes] ^= 0xff;
    return world;
}

/* ---------------------------------------------------------------- one by one */

struct expected {
    nigh_match there[OLD];
    size_t there_count;
    nigh_match earlier[NEW];
    size_t earlier_count;
};

static uint32_t distance(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint32_t bits = 0;
    for (size_t i = 0; i < bytes; i++) bits += (uint32_t)__builtin_popcount(a[i] ^ b[i]);
    return bits;
}

static size_t near_rows(const uint8_t *rows, size_t count, size_t bytes, const uint8_t *row, const bool *counts,
                        nigh_match *out) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = distance(rows + i * bytes, row, bytes);
        if (bits <= RADIUS && (counts == NULL || counts[i])) out[found++] = (nigh_match){i, bits, 0};
    }
    return found;
}

/* Of all matches, in the order of their numbers: the first, or the nearest first. */
static size_t choose(nigh_match *matches, size_t count, bool first) {
    if (first) return count > 0;
    qsort(matches, count, sizeof *matches, compare_matches);
    return count;
}

static struct expected *expect(const struct world *world, bool first) {
    struct expected *all = calloc(NEW, sizeof *all);
    bool alone[NEW] = {false};
    assert_non_null(all);
    for (size_t i = 0; i < NEW; i++) {
        const uint8_t *row = world->fresh + i * world->bytes;
        all[i].there_count =
            choose(all[i].there, near_rows(world->old, OLD, world->bytes, row, NULL, all[i].there), first);
        all[i].earlier_count =
            choose(all[i].earlier, near_rows(world->fresh, i, world->bytes, row, alone, all[i].earlier), first);
        if (first && all[i].there_count > 0) all[i].earlier_count = 0;
        alone[i] = all[i].there_count + all[i].earlier_count == 0;
    }
    return all;
}

static void same_matches(const nigh_match *a, size_t a_count, const nigh_match *b, size_t b_count) {
    assert_int_equal(a_count, b_count);
    for (size_t i = 0; i < a_count; i++) {
        assert_int_equal(a[i].document, b[i].document);
        assert_int_equal(a[i].distance, b[i].distance);
    }
}

static void check_answers(const nigh_against *against, const struct expected *all) {
    nigh_against_info info = {.size = sizeof info};
    nigh_against_document document = {.size = sizeof document};
    uint64_t matches = 0, there = 0, repeated = 0;
    for (size_t i = 0; i < NEW; i++) {
        assert_int_equal(nigh_against_at(against, i, &document), NIGH_OK);
        same_matches(document.there, document.there_count, all[i].there, all[i].there_count);
        same_matches(document.earlier, document.earlier_count, all[i].earlier, all[i].earlier_count);
        assert_int_equal(document.unmatched != 0, all[i].there_count + all[i].earlier_count == 0);
        matches += all[i].there_count + all[i].earlier_count;
        there += all[i].there_count > 0;
        repeated += all[i].there_count == 0 && all[i].earlier_count > 0;
    }
    assert_int_equal(nigh_against_at(against, NEW, &document), NIGH_END);
    nigh_against_describe(against, &info);
    assert_int_equal(info.documents, OLD);
    assert_int_equal(info.incoming, NEW);
    assert_int_equal(info.matches, matches);
    assert_int_equal(info.there, there);
    assert_int_equal(info.repeated, repeated);
    assert_int_equal(info.unmatched, NEW - there - repeated);
    assert_true(there > 10 && repeated > 10 && info.unmatched > 10); /* or this shows nothing */
    assert_true(info.exact);
    assert_false(info.texts);
}

/* One of those that there are. */
static void is_among(const nigh_match *match, const nigh_match *all, size_t count) {
    size_t i = 0;
    while (i < count && (all[i].document != match->document || all[i].distance != match->distance)) i++;
    assert_true(i < count);
}

static void check_any(const nigh_against *against, const struct expected *all) {
    nigh_against_document document = {.size = sizeof document};
    for (size_t i = 0; i < NEW; i++) {
        assert_int_equal(nigh_against_at(against, i, &document), NIGH_OK);
        assert_int_equal(document.there_count, all[i].there_count > 0);
        assert_int_equal(document.earlier_count, all[i].there_count == 0 && all[i].earlier_count > 0);
        if (document.there_count > 0) is_among(document.there, all[i].there, all[i].there_count);
        if (document.earlier_count > 0) is_among(document.earlier, all[i].earlier, all[i].earlier_count);
    }
}

/* ------------------------------------------------------------------- places */

static nigh_against_options options_for(uint32_t radius) {
    nigh_against_options options;
    nigh_against_options_init(&options);
    options.radius = radius;
    options.threads = 1;
    return options;
}

static void add_chunk(nigh_context *context, const char *path, const uint8_t *rows, size_t count) {
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_chunks *chunks = NULL;
    nigh_error error;
    assert_ok(nigh_chunks_open(context, path, &options, &chunks, &error), &error);
    assert_ok(nigh_chunks_append(chunks, rows, count, NULL, &error), &error);
    nigh_chunks_close(chunks);
}

/* The bytes of a place, which is a folder or, of chunks, alone in one. */
static char *place_digest(const char *folder, const char *path, bool chunks) {
    return tree_digest(chunks ? folder : path);
}

static void make_place(nigh_context *context, const char *path, bool chunks, const struct world *world) {
    if (chunks)
        add_chunk(context, path, world->old, OLD);
    else
        signatures_add(context, path, world->width_bits, world->old, OLD);
}

static nigh_status open_place(nigh_context *context, const char *path, bool chunks, const nigh_against_options *options,
                              nigh_against **out, nigh_error *error) {
    return chunks ? nigh_against_open_chunks(context, path, options, out, error)
                  : nigh_against_open(context, path, options, out, error);
}

static nigh_status take_all(nigh_against *against, const struct world *world, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < NEW && status == NIGH_OK; i++) {
        const nigh_document document = {.size = sizeof document, .signature = world->fresh + i * world->bytes};
        status = nigh_against_take(against, &document, error);
    }
    return status;
}

/* ------------------------------------------------------------------ answers */

static void check_way(nigh_context *context, const char *path, bool chunks, const struct world *world,
                      const nigh_against_options *options) {
    struct expected *all = expect(world, options->find == NIGH_FIND_FIRST);
    nigh_against *against = NULL;
    nigh_error error;
    assert_ok(open_place(context, path, chunks, options, &against, &error), &error);
    assert_int_equal(nigh_against_collection(against) == NULL, chunks);
    assert_ok(take_all(against, world, &error), &error);
    assert_ok(nigh_against_compare(against, &error), &error);
    if (options->find == NIGH_FIND_ANY)
        check_any(against, all);
    else
        check_answers(against, all);
    nigh_against_close(against);
    free(all);
}

static void check_ways(nigh_context *context, bool chunks, uint32_t width_bits) {
    struct world *world = world_new(width_bits, 7 + width_bits);
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    make_place(context, path, chunks, world);
    for (unsigned way = 0; way < 18; way++) {
        nigh_against_options options = options_for(RADIUS);
        options.find = way % 3 == 1 ? NIGH_FIND_FIRST : way % 3 == 2 ? NIGH_FIND_ANY : NIGH_FIND_ALL;
        options.threads = way / 3 % 2 == 0 ? 1 : 3;
        options.method = (nigh_finder_method)(way / 6);
        check_way(context, path, chunks, world, &options);
    }
    free(path);
    scratch_free(folder);
    free(world);
}

/* What does not go together is refused before anything is read. */
static void test_find_options(void **state) {
    nigh_against *against = NULL;
    nigh_error error;
    for (unsigned wrong = 0; wrong < 5; wrong++) {
        nigh_against_options options = options_for(RADIUS);
        options.find = wrong == 0 ? (nigh_find_mode)3 : wrong == 4 ? NIGH_FIND_FIRST : NIGH_FIND_ANY;
        options.model = wrong == 1 ? (nigh_weak_model)2 : NIGH_WEAK_GAUSSIAN;
        options.without_numbers = wrong >= 2;
        options.method = wrong == 3 ? NIGH_FINDER_AUTO : NIGH_FINDER_PSM;
        if (wrong == 2) /* is right, of a collection */
            assert_int_equal(nigh_against_open_chunks(*state, "none", &options, &against, &error), NIGH_EINVAL);
        else
            assert_int_equal(nigh_against_open(*state, "none", &options, &against, &error), NIGH_EINVAL);
        assert_null(against);
    }
}

static void test_collection(void **state) {
    check_ways(*state, false, 64);
    check_ways(*state, false, 128);
}

static void test_chunks(void **state) { check_ways(*state, true, 64); }

/* ------------------------------------------------------------------- adding */

/* Everything from opening to the commit. */
static nigh_status add_all(nigh_context *context, const char *path, bool chunks, const struct world *world,
                           const nigh_progress *progress, nigh_against_info *info, nigh_commit *commit,
                           nigh_error *error) {
    nigh_against_options options = options_for(RADIUS);
    options.add = 1;
    options.progress = progress;
    nigh_against *against = NULL;
    nigh_status status = open_place(context, path, chunks, &options, &against, error);
    if (status == NIGH_OK) status = take_all(against, world, error);
    if (status == NIGH_OK) status = nigh_against_compare(against, error);
    if (status == NIGH_OK) status = nigh_against_add(against, error);
    if (status == NIGH_OK) status = nigh_against_commit(against, commit, error);
    if (status == NIGH_OK) nigh_against_describe(against, info);
    nigh_against_close(against);
    return status;
}

static void check_commit(const nigh_commit *commit, uint64_t added, uint64_t documents) {
    assert_int_equal(commit->added, added);
    assert_int_equal(commit->documents, documents);
    assert_int_equal(commit->first_document, documents - added);
    assert_int_equal(commit->width_bits, 64);
    assert_true(commit->bytes > 0);
}

static void check_adding(nigh_context *context, bool chunks) {
    struct world *world = world_new(64, 5);
    nigh_against_info first = {.size = sizeof first};
    nigh_against_info second = {.size = sizeof second};
    nigh_commit commit = {.size = sizeof commit};
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    nigh_error error;
    make_place(context, path, chunks, world);
    assert_ok(add_all(context, path, chunks, world, NULL, &first, &commit, &error), &error);
    assert_int_equal(first.added, first.unmatched);
    assert_true(first.added > 10);
    check_commit(&commit, first.added, OLD + first.added);
    /* The second time all of them are there, and nothing is written. */
    char *before = place_digest(folder, path, chunks);
    assert_ok(add_all(context, path, chunks, world, NULL, &second, &commit, &error), &error);
    assert_int_equal(second.documents, OLD + first.added);
    assert_int_equal(second.there, NEW);
    assert_int_equal(second.added, 0);
    check_commit(&commit, 0, OLD + first.added);
    char *after = place_digest(folder, path, chunks);
    assert_string_equal(after, before);
    free(after);
    free(before);
    free(path);
    scratch_free(folder);
    free(world);
}

static void test_adding(void **state) {
    check_adding(*state, false);
    check_adding(*state, true);
}

/* What others add before the first is taken is there; afterwards they wait. */
static void test_others_adding(void **state) {
    nigh_context *context = *state;
    struct world *world = world_new(64, 3);
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    nigh_against_options options = options_for(0);
    nigh_against_info info = {.size = sizeof info};
    nigh_against *against = NULL;
    nigh_writer *writer = NULL;
    nigh_writer_options writing;
    nigh_writer_options_init(&writing);
    nigh_error error;
    writing.width_bits = 64;
    options.add = 1;
    signatures_add(context, path, 64, world->old, 1);
    assert_ok(nigh_against_open(context, path, &options, &against, &error), &error);
    signatures_add(context, path, 64, world->fresh, 1);
    assert_ok(take_all(against, world, &error), &error);
    assert_int_equal(nigh_writer_open(context, path, &writing, &writer, &error), NIGH_EBUSY);
    assert_ok(nigh_against_compare(against, &error), &error);
    nigh_against_describe(against, &info);
    assert_int_equal(info.documents, 2);
    assert_true(info.there >= 1);
    nigh_against_close(against);
    free(path);
    scratch_free(folder);
    free(world);
}

/* ------------------------------------------------------------------ signatures */

static void test_signature_reader(void **state) {
    nigh_context *context = *state;
    static const char lines[] = "v\t0700000000000000\nw\t00ff00ff00000000\nx\t00ff00ff07000000\n";
    static const uint8_t zeros[8] = {0};
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    char *file = path_in(folder, "rows.hex");
    nigh_against_options options = options_for(3);
    nigh_against_document document = {.size = sizeof document};
    nigh_against *against = NULL;
    nigh_signature_reader *reader = NULL;
    nigh_error error;
    signatures_add(context, path, 64, zeros, 1);
    file_write_all(file, lines, sizeof lines - 1);
    assert_ok(nigh_signature_reader_open(context, file, NULL, &reader, &error), &error);
    assert_ok(nigh_against_open(context, path, &options, &against, &error), &error);
    assert_ok(nigh_against_take_signatures(against, reader, &error), &error);
    assert_ok(nigh_against_compare(against, &error), &error);
    assert_int_equal(nigh_against_at(against, 0, &document), NIGH_OK);
    assert_memory_equal(document.id, "v", 1);
    assert_int_equal(document.there_count, 1);
    assert_int_equal(nigh_against_at(against, 2, &document), NIGH_OK);
    assert_int_equal(document.earlier_count, 1);
    assert_int_equal(document.earlier[0].document, 1);
    nigh_against_close(against);
    nigh_signature_reader_close(reader);
    free(file);
    free(path);
    scratch_free(folder);
}

static void test_other_width(void **state) {
    nigh_context *context = *state;
    static const uint8_t zeros[16] = {0};
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    char *file = path_in(folder, "rows.hex");
    nigh_against_options options = options_for(3);
    nigh_against *against = NULL;
    nigh_signature_reader *reader = NULL;
    nigh_error error;
    signatures_add(context, path, 128, zeros, 1);
    file_write_all(file, "0700000000000000\n", 17);
    assert_ok(nigh_signature_reader_open(context, file, NULL, &reader, &error), &error);
    assert_ok(nigh_against_open(context, path, &options, &against, &error), &error);
    assert_int_equal(nigh_against_take_signatures(against, reader, &error), NIGH_EMISMATCH);
    nigh_against_close(against);
    nigh_signature_reader_close(reader);
    free(file);
    free(path);
    scratch_free(folder);
}

/* ---------------------------------------------------------------------- texts */

static void put_text(char *out, size_t capacity, const char *id, unsigned first) {
    size_t used = (size_t)snprintf(out, capacity, "{\"id\":\"%s\",\"text\":\"", id);
    for (unsigned i = first; i < first + 80; i++)
        used += (size_t)snprintf(out + used, capacity - used, "word%u ", i * 7919 % 1009);
    (void)snprintf(out + used, capacity - used, "\"}\n");
}

/* A file of texts: pairs of an id and a number, where the same number is the same text. */
struct text {
    const char *id;
    unsigned number;
};

static void write_texts(const char *path, const struct text *texts, size_t count) {
    char *all = calloc(count, 2000);
    assert_non_null(all);
    for (size_t i = 0; i < count; i++) put_text(all + strlen(all), 2000, texts[i].id, texts[i].number);
    file_write_all(path, all, strlen(all));
    free(all);
}

static nigh_signer *signer_new(nigh_context *context, nigh_scheme_kind scheme, uint32_t width_bits) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    options.scheme = scheme;
    options.width_bits = width_bits;
    nigh_signer *signer = NULL;
    nigh_error error;
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    return signer;
}

static nigh_text_reader *reader_new(nigh_context *context, const char *path) {
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.format = NIGH_TEXT_JSONL;
    nigh_text_reader *reader = NULL;
    nigh_error error;
    assert_ok(nigh_text_reader_open(context, &path, 1, &options, &reader, &error), &error);
    return reader;
}

/* A collection of the texts in a file. */
static void index_texts(nigh_context *context, const char *path, const char *file, nigh_scheme_kind scheme) {
    nigh_signer *signer = signer_new(context, scheme, 64);
    nigh_text_reader *reader = reader_new(context, file);
    nigh_signing *signing = NULL;
    nigh_writer *writer = NULL;
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    nigh_signed row = {.size = sizeof row};
    nigh_error error;
    options.width_bits = 64;
    options.scheme = nigh_signer_scheme(signer);
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    assert_ok(nigh_signing_open(signer, reader, NULL, &signing, &error), &error);
    while (nigh_signing_next(signing, &row, &error) == NIGH_OK)
        assert_ok(nigh_writer_add(writer, row.document, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
}

static const struct text old_texts[] = {{"one", 1}, {"two", 500}};
static const struct text new_texts[] = {{"copy", 1}, {"fresh", 2000}, {"again", 2000}, {"two", 2700}};

/* The texts above, in a folder. */
struct texts {
    char *folder;
    char *path;
    char *old_file;
    char *new_file;
};

static struct texts texts_new(nigh_context *context, nigh_scheme_kind scheme) {
    struct texts texts = {.folder = scratch_new()};
    texts.path = path_in(texts.folder, "place");
    texts.old_file = path_in(texts.folder, "old.jsonl");
    texts.new_file = path_in(texts.folder, "new.jsonl");
    write_texts(texts.old_file, old_texts, 2);
    write_texts(texts.new_file, new_texts, 4);
    index_texts(context, texts.path, texts.old_file, scheme);
    return texts;
}

static void texts_free(struct texts *texts) {
    free(texts->path);
    free(texts->old_file);
    free(texts->new_file);
    scratch_free(texts->folder);
}

static void check_new_texts(const nigh_against *against) {
    nigh_against_document document = {.size = sizeof document};
    nigh_against_info info = {.size = sizeof info};
    nigh_signing_info signing = {.size = sizeof signing};
    assert_int_equal(nigh_against_at(against, 0, &document), NIGH_OK);
    assert_int_equal(document.there_count, 1);
    assert_int_equal(document.there[0].document, 0);
    assert_int_equal(nigh_against_at(against, 1, &document), NIGH_OK);
    assert_true(document.unmatched && document.added_as == 2 && !document.id_taken);
    assert_int_equal(nigh_against_at(against, 2, &document), NIGH_OK);
    assert_int_equal(document.earlier_count, 1);
    assert_int_equal(document.earlier[0].document, 1);
    assert_int_equal(nigh_against_at(against, 3, &document), NIGH_OK);
    assert_true(document.unmatched && document.id_taken && document.added_as == NIGH_ALL_64);
    nigh_against_describe(against, &info);
    assert_int_equal(info.radius, 3);
    assert_int_equal(info.added, 1);
    assert_int_equal(info.ids_taken, 1);
    assert_true(info.texts);
    nigh_against_describe_signing(against, &signing);
    assert_int_equal(signing.signed_rows, 4);
}

static void check_text_is_there(nigh_context *context, const char *path) {
    nigh_collection *collection = NULL;
    nigh_error error;
    uint64_t number = 0;
    char snippet[8] = "";
    size_t length = 0;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    assert_ok(nigh_collection_find(collection, "fresh", 5, &number, &error), &error);
    assert_int_equal(number, 2);
    assert_ok(nigh_collection_metadata(collection, 2, snippet, 4, &length, &error), &error);
    assert_memory_equal(snippet, "word", 4);
    assert_int_equal(length <= 200 && length > 100, 1);
    nigh_collection_close(collection);
}

/* Signed as those of the collection; one whose id is there with another text is told. */
static void test_texts(void **state) {
    nigh_context *context = *state;
    struct texts texts = texts_new(context, NIGH_SCHEME_SIMHASH);
    nigh_text_reader *reader = reader_new(context, texts.new_file);
    nigh_against_options options;
    nigh_against_options_init(&options);
    nigh_against *against = NULL;
    nigh_error error;
    options.add = 1;
    assert_ok(nigh_against_open(context, texts.path, &options, &against, &error), &error);
    assert_ok(nigh_against_take_texts(against, reader, NULL, &error), &error);
    assert_ok(nigh_against_compare(against, &error), &error);
    assert_ok(nigh_against_add(against, &error), &error);
    check_new_texts(against);
    assert_ok(nigh_against_commit(against, NULL, &error), &error);
    nigh_against_close(against);
    nigh_text_reader_close(reader);
    check_text_is_there(context, texts.path);
    texts_free(&texts);
}

/* Two readers are as one; a limit counts for each. */
static void test_several_readers(void **state) {
    nigh_context *context = *state;
    struct texts texts = texts_new(context, NIGH_SCHEME_SIMHASH);
    nigh_text_reader *readers[2] = {reader_new(context, texts.old_file), reader_new(context, texts.new_file)};
    nigh_against_options options = options_for(3);
    nigh_against_info info = {.size = sizeof info};
    nigh_signing_info signing = {.size = sizeof signing};
    nigh_against *against = NULL;
    nigh_error error;
    options.limit = 2;
    assert_ok(nigh_against_open(context, texts.path, &options, &against, &error), &error);
    for (size_t i = 0; i < 2; i++) assert_ok(nigh_against_take_texts(against, readers[i], NULL, &error), &error);
    assert_ok(nigh_against_compare(against, &error), &error);
    nigh_against_describe(against, &info);
    assert_int_equal(info.incoming, 4);
    assert_int_equal(info.there, 3);
    nigh_against_describe_signing(against, &signing);
    assert_int_equal(signing.signed_rows, 4);
    assert_int_equal(signing.reader.files, 2);
    nigh_against_close(against);
    for (size_t i = 0; i < 2; i++) nigh_text_reader_close(readers[i]);
    texts_free(&texts);
}

/* Chunks do not say how texts are signed: simhash, or by whom the caller says. */
static void check_chunk_texts(nigh_context *context, const struct texts *texts, const char *path, nigh_signer *signer,
                              uint32_t radius, uint64_t there) {
    nigh_text_reader *reader = reader_new(context, texts->old_file);
    nigh_against_options options;
    nigh_against_options_init(&options);
    nigh_against_info info = {.size = sizeof info};
    nigh_against *against = NULL;
    nigh_error error;
    options.add = 1;
    assert_ok(nigh_against_open_chunks(context, path, &options, &against, &error), &error);
    assert_ok(nigh_against_take_texts(against, reader, signer, &error), &error);
    assert_ok(nigh_against_compare(against, &error), &error);
    assert_ok(nigh_against_add(against, &error), &error);
    assert_ok(nigh_against_commit(against, NULL, &error), &error);
    nigh_against_describe(against, &info);
    assert_int_equal(info.radius, radius);
    assert_int_equal(info.there, there);
    nigh_against_close(against);
    nigh_text_reader_close(reader);
}

static void test_chunk_texts(void **state) {
    nigh_context *context = *state;
    struct texts texts = texts_new(context, NIGH_SCHEME_SIMHASH);
    nigh_signer *minhash = signer_new(context, NIGH_SCHEME_MINHASH, 64);
    char *plain = path_in(texts.folder, "plain.chunks");
    char *signed_by = path_in(texts.folder, "minhash.chunks");
    for (uint64_t round = 0; round < 2; round++) {
        check_chunk_texts(context, &texts, plain, NULL, 3, round * 2);
        check_chunk_texts(context, &texts, signed_by, minhash, nigh_default_radius(NIGH_SCHEME_MINHASH, 64), round * 2);
    }
    free(plain);
    free(signed_by);
    nigh_signer_free(minhash);
    texts_free(&texts);
}

/* -------------------------------------------------------------------- refused */

static void test_order_of_calls(void **state) {
    nigh_context *context = *state;
    struct world *world = world_new(64, 1);
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    nigh_against_options options = options_for(RADIUS);
    nigh_against *against = NULL;
    nigh_error error;
    signatures_add(context, path, 64, world->old, OLD);
    assert_ok(nigh_against_open(context, path, &options, &against, &error), &error);
    assert_int_equal(nigh_against_add(against, &error), NIGH_EINVAL);
    assert_int_equal(nigh_against_commit(against, NULL, &error), NIGH_EINVAL);
    assert_ok(take_all(against, world, &error), &error);
    assert_ok(nigh_against_compare(against, &error), &error);
    assert_int_equal(nigh_against_compare(against, &error), NIGH_EINVAL);
    assert_int_equal(take_all(against, world, &error), NIGH_EINVAL);
    assert_int_equal(nigh_against_add(against, &error), NIGH_EINVAL); /* it was not opened for that */
    nigh_against_close(against);
    nigh_against_close(NULL);
    free(path);
    scratch_free(folder);
    free(world);
}

/* Opens, takes a signature or the texts, and expects to be refused. */
static void check_refused(nigh_context *context, const char *path, const nigh_against_options *options,
                          const char *texts, nigh_signer *signer, nigh_status status, nigh_reason reason) {
    static const uint8_t zeros[8] = {0};
    const nigh_document document = {.size = sizeof document, .signature = zeros};
    nigh_text_reader *reader = texts == NULL ? NULL : reader_new(context, texts);
    nigh_against *against = NULL;
    nigh_error error;
    assert_ok(nigh_against_open(context, path, options, &against, &error), &error);
    nigh_status found = texts == NULL ? nigh_against_take(against, &document, &error)
                                      : nigh_against_take_texts(against, reader, signer, &error);
    assert_int_equal(found, status);
    assert_int_equal(error.reason, reason);
    nigh_against_close(against);
    nigh_text_reader_close(reader);
}

static void test_refused(void **state) {
    nigh_context *context = *state;
    struct texts texts = texts_new(context, NIGH_SCHEME_MINHASH);
    nigh_signer *signer = signer_new(context, NIGH_SCHEME_MINHASH, 64);
    nigh_against_options options;
    nigh_against_options_init(&options);
    char *own = path_in(texts.folder, "own");
    static const uint8_t zeros[8] = {0};
    signatures_add(context, own, 64, zeros, 1);
    check_refused(context, own, &options, NULL, NULL, NIGH_EINVAL, NIGH_REASON_NEEDS_RADIUS);
    options.radius = 3;
    check_refused(context, own, &options, texts.new_file, NULL, NIGH_ENOTFOUND, NIGH_REASON_NOT_OF_TEXT);
    check_refused(context, texts.path, &options, texts.new_file, signer, NIGH_EINVAL, NIGH_REASON_NONE);
    options.method = NIGH_FINDER_PSM;
    check_refused(context, own, &options, NULL, NULL, NIGH_EINVAL, NIGH_REASON_NEEDS_WEIGHTS);
    check_refused(context, texts.path, &options, texts.new_file, NULL, NIGH_EINVAL, NIGH_REASON_NEEDS_WEIGHTS);
    /* Signatures of one's own do not go into what was signed from texts. */
    options.method = NIGH_FINDER_AUTO;
    options.add = 1;
    check_refused(context, texts.path, &options, NULL, NULL, NIGH_EMISMATCH, NIGH_REASON_NONE);
    free(own);
    nigh_signer_free(signer);
    texts_free(&texts);
}

/* --------------------------------------------------------------------- faults */

static int refuse(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    ++*(int *)user;
    return 1;
}

static void test_cancelled(void **state) {
    nigh_context *context = *state;
    for (int way = 0; way < 2; way++) {
        const bool chunks = way != 0;
        struct world *world = world_new(64, 9);
        char *folder = scratch_new();
        char *path = path_in(folder, "place");
        int asked = 0;
        const nigh_progress progress = {.report = refuse, .user = &asked};
        nigh_against_info info = {.size = sizeof info};
        nigh_error error;
        make_place(context, path, chunks, world);
        char *before = place_digest(folder, path, chunks);
        assert_int_equal(add_all(context, path, chunks, world, &progress, &info, NULL, &error), NIGH_ECANCELLED);
        assert_true(asked > 0);
        char *after = place_digest(folder, path, chunks);
        assert_string_equal(after, before);
        free(before);
        free(after);
        free(path);
        scratch_free(folder);
        free(world);
    }
}

static void check_no_memory(nigh_context *sound, bool chunks) {
    struct world *world = world_new(64, 11);
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    make_place(sound, path, chunks, world);
    char *before = place_digest(folder, path, chunks);
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t at = 0; status != NIGH_OK; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const int64_t live = memory.live;
        nigh_against_info info = {.size = sizeof info};
        nigh_error error;
        memory.fail_at = memory.calls + at;
        status = add_all(context, path, chunks, world, NULL, &info, NULL, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        assert_int_equal(memory.live, live);
        nigh_context_free(context);
        char *after = place_digest(folder, path, chunks);
        assert_int_equal(strcmp(after, before) == 0, status != NIGH_OK);
        free(after);
        assert_true(at < 5000);
    }
    free(before);
    free(path);
    scratch_free(folder);
    free(world);
}

static void test_no_memory(void **state) {
    check_no_memory(*state, false);
    check_no_memory(*state, true);
}

/* A new one that there was no memory for is not taken by half: given again, it is as if nothing had happened. */
static void test_taken_again(void **state) {
    struct world *world = world_new(64, 13);
    struct expected *all = expect(world, false);
    char *folder = scratch_new();
    char *path = path_in(folder, "place");
    make_place(*state, path, false, world);
    bool failed = true;
    for (uint64_t at = 0; failed; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const nigh_against_options options = options_for(RADIUS);
        nigh_against *against = NULL;
        nigh_error error;
        failed = false;
        assert_ok(nigh_against_open(context, path, &options, &against, &error), &error);
        memory.fail_at = memory.calls + at;
        for (size_t i = 0; i < NEW; i++) {
            const nigh_document document = {
                .size = sizeof document, .signature = world->fresh + i * world->bytes, .id = "an id", .id_length = 5};
            if (nigh_against_take(against, &document, &error) == NIGH_OK) continue;
            assert_int_equal(error.status, NIGH_ENOMEM);
            failed = true;
            assert_ok(nigh_against_take(against, &document, &error), &error);
        }
        memory.fail_at = UINT64_MAX;
        assert_ok(nigh_against_compare(against, &error), &error);
        check_answers(against, all);
        nigh_against_close(against);
        nigh_context_free(context);
    }
    free(all);
    free(path);
    scratch_free(folder);
    free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_options),    cmocka_unit_test(test_collection),
        cmocka_unit_test(test_chunks),          cmocka_unit_test(test_adding),
        cmocka_unit_test(test_others_adding),   cmocka_unit_test(test_signature_reader),
        cmocka_unit_test(test_other_width),     cmocka_unit_test(test_texts),
        cmocka_unit_test(test_several_readers), cmocka_unit_test(test_chunk_texts),
        cmocka_unit_test(test_order_of_calls),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cancelled),       cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_taken_again),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
