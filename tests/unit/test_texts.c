/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and keys of documents in a collection: what is put in comes out, what is damaged is
 * told of, and nothing that lies about lengths leads anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/rng.h"
#include "collection/collection.h"
#include "collection/texts.h"
#include "support/forge.h"
#include "support/support.h"

#define BLOCK 65536u
#define SIGNATURE_BYTES 8u

/* -------------------------------------------------------- documents by rule */

/* Documents that have texts of these lengths, over and over, and keys. */
struct batch {
    const size_t *lengths; /* NULL: no texts */
    size_t length_count;
    uint32_t keys;
    bool noise; /* texts that cannot be packed */
};

static size_t length_of(const struct batch *batch, uint64_t number) {
    return batch->lengths[number % batch->length_count];
}

static void fill_text(const struct batch *batch, uint64_t number, char *out) {
    struct nigh__rng rng = {.state = nigh__mix(number)};
    const size_t length = length_of(batch, number);
    for (size_t i = 0; i < length; i++)
        out[i] = batch->noise ? (char)nigh__rng_next(&rng) : (char)('a' + (number + i / 512) % 26);
}

static uint32_t key_of(uint64_t number, uint32_t band) { return (uint32_t)nigh__mix(number * 1000 + band); }

static size_t longest_of(const struct batch *batch) {
    size_t longest = 0;
    for (size_t i = 0; i < batch->length_count; i++)
        if (batch->lengths[i] > longest) longest = batch->lengths[i];
    return longest;
}

static nigh_status add_one(nigh_writer *writer, const struct batch *batch, uint64_t number, char *text,
                           nigh_error *error) {
    uint8_t signature[SIGNATURE_BYTES];
    uint32_t keys[NIGH_MAX_KEYS];
    memcpy(signature, &number, sizeof signature);
    nigh_document document = {.size = sizeof document, .signature = signature};
    if (batch->lengths != NULL) {
        fill_text(batch, number, text);
        document.text = text;
        document.text_length = length_of(batch, number);
    }
    for (uint32_t band = 0; band < batch->keys; band++) keys[band] = key_of(number, band);
    document.keys = batch->keys == 0 ? NULL : keys;
    document.key_count = batch->keys;
    return nigh_writer_add(writer, &document, error);
}

static nigh_status open_writer(nigh_context *context, const char *path, nigh_writer **out, nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 8 * SIGNATURE_BYTES;
    return nigh_writer_open(context, path, &options, out, error);
}

/* Documents [first, first + count) in one commit. */
static nigh_status batch_add(nigh_context *context, const char *path, const struct batch *batch, uint64_t first,
                             uint64_t count, nigh_error *error) {
    nigh_writer *writer;
    nigh_status status = open_writer(context, path, &writer, error);
    if (status != NIGH_OK) return status;
    char *text = malloc(longest_of(batch) + 1);
    for (uint64_t i = first; i < first + count && status == NIGH_OK; i++)
        status = add_one(writer, batch, i, text, error);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, NULL, error);
    free(text);
    nigh_writer_close(writer);
    return status;
}

static void add(struct collection_place *f, const struct batch *batch, uint64_t first, uint64_t count) {
    nigh_error error;
    assert_ok(batch_add(f->context, f->path, batch, first, count, &error), &error);
}

static nigh_collection *open_collection(struct collection_place *f) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    return collection;
}

static nigh_status check(struct collection_place *f, nigh_error *error) {
    return nigh_collection_check(f->context, f->path, NULL, NULL, error);
}

static nigh_collection_info describe(const nigh_collection *collection) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    return info;
}

/* Whether a document's text is what was put in; `wanted` and `got` have room for the longest. */
static nigh_status read_text(const nigh_collection *collection, const struct batch *batch, uint64_t number,
                             char *wanted, char *got, nigh_error *error) {
    size_t length = 0;
    const size_t whole = length_of(batch, number);
    nigh_status status = nigh_collection_text(collection, number, got, whole, &length, error);
    if (status != NIGH_OK) return status;
    fill_text(batch, number, wanted);
    assert_int_equal(length, whole);
    assert_memory_equal(got, wanted, whole);
    return NIGH_OK;
}

static void expect_texts(struct collection_place *f, const struct batch *batch, uint64_t count) {
    nigh_collection *collection = open_collection(f);
    char *wanted = malloc(longest_of(batch) + 1);
    char *got = malloc(longest_of(batch) + 1);
    nigh_error error;
    assert_true(describe(collection).has_texts);
    for (uint64_t i = 0; i < count; i++) assert_ok(read_text(collection, batch, i, wanted, got, &error), &error);
    free(wanted);
    free(got);
    nigh_collection_close(collection);
    assert_ok(check(f, &error), &error);
}

/* The same with one cache for all, forwards and back, as those read who compare texts. */
static void expect_texts_cached(struct collection_place *f, const struct batch *batch) {
    nigh_collection *collection = open_collection(f);
    char *wanted = malloc(longest_of(batch) + 1);
    struct nigh__text_cache cache;
    nigh__text_cache_init(&cache);
    const uint64_t count = describe(collection).documents;
    for (uint64_t step = 0; step < 2 * count; step++) {
        const uint64_t number = step < count ? step : 2 * count - 1 - step;
        const struct nigh__segment *segment;
        uint32_t within;
        const char *text;
        size_t length;
        nigh_error error;
        assert_ok(nigh__collection_locate(collection, number, &segment, &within, &error), &error);
        assert_ok(nigh__segment_text(segment, within, &cache, &text, &length, &error), &error);
        fill_text(batch, number, wanted);
        assert_int_equal(length, length_of(batch, number));
        assert_memory_equal(text, wanted, length);
    }
    nigh__text_cache_release(f->context, &cache);
    free(wanted);
    nigh_collection_close(collection);
}

/* -------------------------------------------------------------- round trips */

static const size_t only_empty[] = {0};
static const size_t one_byte[] = {1};
static const size_t empty_and_one[] = {0, 1, 0, 0, 1};
static const size_t to_the_end_of_a_block[] = {BLOCK - 1, 1, 0, 5};
static const size_t a_block[] = {BLOCK, 0, BLOCK, 0, 0};
static const size_t past_a_block[] = {40000, 0, 40000, 7};
static const size_t larger_than_a_block[] = {300000, 0, 1, 70000, BLOCK + 1};
static const size_t short_ones[] = {0, 3, 97, 30, 1, 250, 12};

#define LENGTHS(array) \
    { .lengths = (array), .length_count = sizeof(array) / sizeof(array)[0] }

static void texts_round_trip(void **state) {
    struct collection_place *f = *state;
    const struct batch batches[] = {
        LENGTHS(only_empty), LENGTHS(one_byte),     LENGTHS(empty_and_one),      LENGTHS(to_the_end_of_a_block),
        LENGTHS(a_block),    LENGTHS(past_a_block), LENGTHS(larger_than_a_block)};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        for (unsigned variant = 0; variant < 4; variant++) {
            struct batch batch = batches[i];
            const uint64_t first = variant / 2 == 0 ? 1 : 2 * batch.length_count;
            batch.noise = variant % 2 != 0;
            add(f, &batch, 0, first);
            add(f, &batch, first, 3);
            expect_texts(f, &batch, first + 3);
            expect_texts_cached(f, &batch);
            remove_tree(f->path);
        }
    }
}

static void many_texts(void **state) {
    struct collection_place *f = *state;
    struct batch batch = LENGTHS(short_ones);
    batch.keys = 5;
    add(f, &batch, 0, 4000);
    add(f, &batch, 4000, 100);
    expect_texts(f, &batch, 4100);
    expect_texts_cached(f, &batch);
    nigh_collection *collection = open_collection(f);
    const struct nigh__section_entry *sections = collection->segments[0]->sections;
    assert_true(sections[NIGH__SECTION_TEXT_BLOCKS].count > 3); /* several blocks, and the end */
    nigh_collection_close(collection);
}

/* Packed where that helps, and as they are where it does not. */
static void packed_where_that_helps(void **state) {
    struct collection_place *f = *state;
    for (int noise = 0; noise < 2; noise++) {
        struct batch batch = LENGTHS(past_a_block);
        batch.noise = noise != 0;
        add(f, &batch, 0, 4);
        nigh_collection *collection = open_collection(f);
        const uint64_t bytes = describe(collection).text_bytes;
        const bool packs = f->context->extensions->codec->number != NIGH__CODEC_NONE;
        if (batch.noise || !packs)
            assert_int_equal(bytes, 80007);
        else
            assert_in_range(bytes, 1, 8000);
        nigh_collection_close(collection);
        remove_tree(f->path);
    }
}

/* What does not fit is cut off, and nothing behind the buffer is touched. */
static void buffers_that_are_too_short(void **state) {
    struct collection_place *f = *state;
    static const size_t lengths[] = {10};
    const struct batch batch = LENGTHS(lengths);
    add(f, &batch, 0, 1);
    nigh_collection *collection = open_collection(f);
    char wanted[10];
    size_t length = 0;
    nigh_error error;
    fill_text(&batch, 0, wanted);
    assert_ok(nigh_collection_text(collection, 0, NULL, 0, &length, &error), &error);
    assert_int_equal(length, 10);
    for (size_t capacity = 1; capacity <= 12; capacity++) {
        char buffer[13];
        const size_t part = capacity < 10 ? capacity : 10;
        memset(buffer, '?', sizeof buffer);
        assert_ok(nigh_collection_text(collection, 0, buffer, capacity, &length, &error), &error);
        assert_int_equal(length, 10);
        assert_memory_equal(buffer, wanted, part);
        for (size_t i = part; i < sizeof buffer; i++) assert_int_equal(buffer[i], '?');
    }
    assert_int_equal(nigh_collection_text(collection, 1, NULL, 0, &length, &error), NIGH_EINVAL);
    nigh_collection_close(collection);
}

static void expect_keys(const struct nigh__segment *segment, uint32_t keys, uint64_t first) {
    static uint32_t got[NIGH__KEY_BLOCK];
    assert_int_equal(nigh__segment_key_count(segment), keys);
    for (uint32_t block = 0; (uint64_t)block * NIGH__KEY_BLOCK < segment->documents; block++) {
        for (uint32_t band = 0; band < keys; band++) {
            uint32_t count = 0;
            nigh_error error;
            assert_ok(nigh__segment_keys(segment, band, block, got, &count, &error), &error);
            const uint32_t left = segment->documents - block * NIGH__KEY_BLOCK;
            assert_int_equal(count, left < NIGH__KEY_BLOCK ? left : NIGH__KEY_BLOCK);
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(got[i], key_of(first + (uint64_t)block * NIGH__KEY_BLOCK + i, band));
        }
    }
}

static void keys_round_trip(void **state) {
    struct collection_place *f = *state;
    static const struct {
        uint32_t keys, documents;
    } cases[] = {
        {1, 1}, {3, NIGH__KEY_BLOCK}, {3, NIGH__KEY_BLOCK + 1}, {7, 2 * NIGH__KEY_BLOCK + 5}, {NIGH_MAX_KEYS, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct batch batch = {.keys = cases[i].keys};
        nigh_error error;
        add(f, &batch, 0, cases[i].documents);
        add(f, &batch, cases[i].documents, 2);
        nigh_collection *collection = open_collection(f);
        assert_int_equal(describe(collection).key_count, cases[i].keys);
        expect_keys(collection->segments[0], cases[i].keys, 0);
        expect_keys(collection->segments[1], cases[i].keys, cases[i].documents);
        nigh_collection_close(collection);
        assert_ok(check(f, &error), &error);
        remove_tree(f->path);
    }
}

/* ---------------------------------------------------- who has which of them */

static void expect_kinds(struct collection_place *f, bool texts, uint32_t keys) {
    nigh_collection *collection = open_collection(f);
    const nigh_collection_info info = describe(collection);
    nigh_error error;
    size_t length = 99;
    assert_int_equal(info.has_texts != 0, texts);
    assert_int_equal(info.key_count, keys);
    assert_int_equal(info.text_bytes != 0, texts);
    const nigh_status status = nigh_collection_text(collection, 0, NULL, 0, &length, &error);
    assert_int_equal(status, texts ? NIGH_OK : NIGH_ENOTFOUND);
    if (!texts) {
        assert_int_equal(length, 0);
        assert_non_null(strstr(error_text(&error), "document 0 was added without its text"));
    }
    nigh_collection_close(collection);
    assert_ok(check(f, &error), &error);
}

static void texts_or_keys_or_neither(void **state) {
    struct collection_place *f = *state;
    for (unsigned variant = 0; variant < 4; variant++) {
        struct batch batch = LENGTHS(one_byte);
        if ((variant & 1) == 0) batch = (struct batch){.keys = 0};
        batch.keys = (variant & 2) != 0 ? 4 : 0;
        add(f, &batch, 0, 3);
        expect_kinds(f, (variant & 1) != 0, batch.keys);
        remove_tree(f->path);
    }
}

static void segments_may_differ(void **state) {
    struct collection_place *f = *state;
    struct batch both = LENGTHS(one_byte);
    both.keys = 4;
    struct batch fewer = both;
    fewer.keys = 3;
    const struct batch neither = {.keys = 0};
    add(f, &both, 0, 0);
    add(f, &both, 0, 2);
    expect_kinds(f, true, 4); /* the empty segment has no say */
    add(f, &fewer, 2, 2);
    expect_kinds(f, true, 0); /* not all have as many */
    add(f, &neither, 4, 1);
    nigh_collection *collection = open_collection(f);
    nigh_error error;
    size_t length;
    assert_int_equal(describe(collection).has_texts, 0);
    assert_ok(nigh_collection_text(collection, 3, NULL, 0, &length, &error), &error);
    assert_int_equal(nigh_collection_text(collection, 4, NULL, 0, &length, &error), NIGH_ENOTFOUND);
    nigh_collection_close(collection);
    assert_ok(check(f, &error), &error);
}

static nigh_status add_mixed(nigh_writer *writer, uint64_t number, const char *text, const uint32_t *keys,
                             uint32_t key_count, nigh_error *error) {
    uint8_t signature[SIGNATURE_BYTES];
    memcpy(signature, &number, sizeof signature);
    const nigh_document document = {.size = sizeof document,
                                    .signature = signature,
                                    .text = text,
                                    .text_length = text == NULL ? 0 : strlen(text),
                                    .keys = keys,
                                    .key_count = key_count};
    return nigh_writer_add(writer, &document, error);
}

static void for_all_of_a_commit_or_none(void **state) {
    struct collection_place *f = *state;
    const uint32_t keys[] = {1, 2, 3};
    nigh_writer *writer;
    nigh_error error;
    assert_ok(open_writer(f->context, f->path, &writer, &error), &error);
    assert_ok(add_mixed(writer, 0, "text", keys, 2, &error), &error);
    assert_int_equal(add_mixed(writer, 1, NULL, keys, 2, &error), NIGH_EMISMATCH);
    assert_int_equal(add_mixed(writer, 1, "text", NULL, 0, &error), NIGH_EMISMATCH);
    assert_int_equal(add_mixed(writer, 1, "text", keys, 3, &error), NIGH_EMISMATCH);
    assert_int_equal(add_mixed(writer, 1, NULL, NULL, 0, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "some documents come with their text or keys"));
    assert_ok(add_mixed(writer, 1, "", keys + 1, 2, &error), &error); /* and life goes on */
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    expect_kinds(f, true, 2);

    assert_ok(open_writer(f->context, f->path, &writer, &error), &error);
    assert_ok(add_mixed(writer, 2, NULL, keys, 0, &error), &error); /* no keys, wherever they would be */
    assert_int_equal(add_mixed(writer, 3, "text", NULL, 0, &error), NIGH_EMISMATCH);
    assert_int_equal(add_mixed(writer, 3, NULL, keys, 1, &error), NIGH_EMISMATCH);
    assert_ok(add_mixed(writer, 3, NULL, NULL, 0, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    assert_ok(check(f, &error), &error);
}

static void limits(void **state) {
    struct collection_place *f = *state;
    static const uint32_t keys[NIGH_MAX_KEYS + 1];
    static const uint8_t signature[SIGNATURE_BYTES];
    nigh_writer *writer;
    nigh_error error;
    assert_ok(open_writer(f->context, f->path, &writer, &error), &error);
    assert_int_equal(add_mixed(writer, 0, "text", keys, NIGH_MAX_KEYS + 1, &error), NIGH_EINVAL);
    const nigh_document document = {
        .size = sizeof document, .signature = signature, .text = "", .text_length = (size_t)NIGH_MAX_TEXT_LENGTH + 1};
    assert_int_equal(nigh_writer_add(writer, &document, &error), NIGH_EINVAL);
    assert_ok(add_mixed(writer, 0, "text", keys, NIGH_MAX_KEYS, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

/* What a writer that died has left is ours, is told of, and is cleared away by the next. */
static void leftovers(void **state) {
    struct collection_place *f = *state;
    static const char *const names[] = {"segment-00000000000000000002.texts.tmp",
                                        "segment-00000000000000000002.keys.tmp"};
    struct batch batch = LENGTHS(one_byte);
    batch.keys = 2;
    add(f, &batch, 0, 1);
    for (size_t i = 0; i < 2; i++) {
        char *path = path_in(f->path, names[i]);
        assert_false(path_exists(path));
        file_write_all(path, "left", 4);
        nigh_check_result result = {.size = sizeof result};
        nigh_error error;
        assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
        assert_int_equal(result.leftovers, 1);
        add(f, &batch, 1 + i, 1);
        assert_false(path_exists(path));
        free(path);
    }
}

/* ------------------------------------------------------- damage and forgery */

/* Three blocks, of which the last is not packed, and a text that is empty. */
static const size_t to_damage[] = {100, BLOCK, 0, 200000, 0, 20};

struct damage {
    struct collection_place *f;
    struct batch batch;
    uint64_t documents;
    char *segment_path, *manifest_path;
    struct bytes segment; /* as it was */
    struct bytes manifest;
    char *wanted, *got;
};

static void damage_init(struct collection_place *f, struct damage *out) {
    out->f = f;
    out->batch = (struct batch)LENGTHS(to_damage);
    out->batch.keys = 2;
    out->documents = out->batch.length_count;
    add(f, &out->batch, 0, out->documents);
    out->segment_path = path_in(f->path, "segment-00000000000000000001");
    out->manifest_path = path_in(f->path, "manifest-00000000000000000001");
    out->segment = file_read_all(out->segment_path);
    out->manifest = file_read_all(out->manifest_path);
    out->wanted = malloc(longest_of(&out->batch));
    out->got = malloc(longest_of(&out->batch));
}

static void damage_release(struct damage *damage) {
    free(damage->segment_path);
    free(damage->manifest_path);
    free(damage->segment.data);
    free(damage->manifest.data);
    free(damage->wanted);
    free(damage->got);
}

static struct nigh__section_entry *entry_of(struct bytes *segment, uint32_t type) {
    struct nigh__section_entry *entries = (struct nigh__section_entry *)(void *)(segment->data + 64);
    size_t found = 0;
    while (entries[found].type != type) found++;
    return &entries[found];
}

/* Writes the segment, and with `forged` every checksum made right, the manifest's too. */
static void damage_store(const struct damage *damage, bool forged) {
    if (forged) {
        uint8_t *at = damage->manifest.data + sizeof(struct nigh__manifest_header);
        struct nigh__manifest_entry entry;
        memcpy(&entry, at, sizeof entry);
        forge_segment(damage->segment.data, damage->segment.length, &entry);
        memcpy(at, &entry, sizeof entry);
        forge_manifest(damage->manifest.data, damage->manifest.length);
        file_write_all(damage->manifest_path, damage->manifest.data, damage->manifest.length);
    }
    file_write_all(damage->segment_path, damage->segment.data, damage->segment.length);
}

/* Reads all texts; those that are given must be right, where no offset of a text was changed.  How many are not. */
static uint64_t read_damaged_texts(const struct damage *damage, uint32_t type) {
    nigh_collection *collection = open_collection(damage->f);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < damage->documents; i++) {
        nigh_error error;
        size_t length = 0;
        nigh_status status;
        if (type == NIGH__SECTION_TEXT_OFFSETS)
            status = nigh_collection_text(collection, i, damage->got, 10, &length, &error);
        else
            status = read_text(collection, &damage->batch, i, damage->wanted, damage->got, &error);
        if (status == NIGH_OK) continue;
        assert_true(status == NIGH_ECORRUPT || status == NIGH_EUNSUPPORTED);
        refused++;
    }
    nigh_collection_close(collection);
    return refused;
}

static void damage_byte(struct damage *damage, uint32_t type, uint64_t at, uint8_t flip, bool forged) {
    nigh_error error;
    uint8_t *byte = damage->segment.data + entry_of(&damage->segment, type)->offset + at;
    *byte ^= flip;
    damage_store(damage, forged);
    const uint64_t refused = read_damaged_texts(damage, type);
    if (type == NIGH__SECTION_TEXT_BYTES && refused == 0) fail_msg("byte %d of the texts is not missed", (int)at);
    if (type == NIGH__SECTION_KEYS) assert_int_equal(refused, 0);
    const nigh_status checked = check(damage->f, &error);
    if (!forged)
        assert_int_equal(checked, NIGH_ECORRUPT);
    else if (type == NIGH__SECTION_KEYS)
        assert_ok(checked, &error); /* any keys will do */
    else if (type != NIGH__SECTION_TEXT_OFFSETS && checked == NIGH_OK)
        fail_msg("byte %d of section %u is not missed", (int)at, type);
    *byte ^= flip;
    damage_store(damage, forged);
}

static void every_byte_damaged(void **state) {
    struct damage damage;
    damage_init(*state, &damage);
    for (uint32_t type = NIGH__SECTION_TEXT_OFFSETS; type <= NIGH__SECTION_KEYS; type++) {
        const uint64_t length = entry_of(&damage.segment, type)->length;
        for (uint64_t at = 0; at < length; at++) {
            const uint8_t flip = (uint8_t)(1u << (at % 8));
            damage_byte(&damage, type, at, flip, false);
            damage_byte(&damage, type, at, flip, true);
            damage_byte(&damage, type, at, 0xff, true);
        }
    }
    expect_texts(*state, &damage.batch, damage.documents);
    damage_release(&damage);
}

static void expect_refused(const struct damage *damage, const char *why) {
    nigh_collection *collection;
    nigh_error error;
    assert_int_equal(nigh_collection_open(damage->f->context, damage->f->path, NULL, &collection, &error),
                     NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), why));
}

static void sections_that_do_not_go_together(void **state) {
    struct damage damage;
    damage_init(*state, &damage);
    for (uint32_t type = NIGH__SECTION_TEXT_OFFSETS; type <= NIGH__SECTION_KEYS; type++) {
        struct nigh__section_entry *entry = entry_of(&damage.segment, type);
        const struct nigh__section_entry kept = *entry;
        const uint64_t size = kept.length / kept.count;
        entry->type = 77; /* of a later version */
        damage_store(&damage, true);
        if (type != NIGH__SECTION_KEYS) expect_refused(&damage, "sections 14 to 17 do not go together");
        *entry = kept;
        entry->length -= 1;
        damage_store(&damage, true);
        expect_refused(&damage, "has the wrong size");
        entry->count = 0;
        entry->length = 0;
        damage_store(&damage, true);
        if (type != NIGH__SECTION_TEXT_BYTES)
            expect_refused(&damage, type == NIGH__SECTION_TEXT_OFFSETS ? "wrong size" : "do not go together");
        *entry = kept;
        entry->count -= 1;
        entry->length -= size;
        damage_store(&damage, true);
        if (type == NIGH__SECTION_KEYS) expect_refused(&damage, "sections 14 to 17 do not go together");
        *entry = kept;
    }
    damage_store(&damage, true);
    expect_texts(*state, &damage.batch, damage.documents);
    damage_release(&damage);
}

/* A codec of a later version: the rest of the collection can be read, and the check says why not the texts. */
static void an_unknown_codec(void **state) {
    struct damage damage;
    damage_init(*state, &damage);
    struct nigh__text_block *blocks =
        (struct nigh__text_block *)(void *)(damage.segment.data +
                                            entry_of(&damage.segment, NIGH__SECTION_TEXT_BLOCKS)->offset);
    nigh_error error;
    uint8_t signature[SIGNATURE_BYTES];
    size_t length;
    blocks[1].codec = 9;
    damage_store(&damage, true);
    nigh_collection *collection = open_collection(*state);
    assert_ok(nigh_collection_text(collection, 0, NULL, 0, &length, &error), &error);
    assert_int_equal(nigh_collection_text(collection, 3, NULL, 0, &length, &error), NIGH_EUNSUPPORTED);
    assert_int_equal(length, 0);
    assert_non_null(strstr(error_text(&error), "this build cannot unpack"));
    assert_ok(nigh_collection_signature(collection, 3, signature, &error), &error);
    nigh_collection_close(collection);
    assert_int_equal(check(*state, &error), NIGH_EUNSUPPORTED);
    damage_release(&damage);
}

/* Few bytes that say they are two thousand million: refused before memory is taken for them. */
static void a_bomb(void **state) {
    struct damage damage;
    damage_init(*state, &damage);
    struct nigh__section_entry *entry = entry_of(&damage.segment, NIGH__SECTION_TEXT_BLOCKS);
    struct nigh__text_block *blocks = (struct nigh__text_block *)(void *)(damage.segment.data + entry->offset);
    uint64_t *offsets =
        (uint64_t *)(void *)(damage.segment.data + entry_of(&damage.segment, NIGH__SECTION_TEXT_OFFSETS)->offset);
    const uint64_t more = (UINT64_C(1) << 31) - 200000;
    for (uint64_t i = 4; i <= damage.documents; i++) offsets[i] += more;
    for (uint64_t i = 2; i < entry->count; i++) blocks[i].begin += more;
    damage_store(&damage, true);

    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_collection *collection;
    nigh_error error;
    size_t length;
    assert_ok(nigh_collection_open(context, damage.f->path, NULL, &collection, &error), &error);
    memory.fail_at = memory.calls + 1; /* the first holds the packed bytes, and there is no second */
    assert_int_equal(nigh_collection_text(collection, 3, NULL, 0, &length, &error), NIGH_ECORRUPT);
    memory.fail_at = UINT64_MAX;
    nigh_collection_close(collection);
    nigh_context_free(context);
    assert_int_equal(memory.live, 0);
    assert_int_equal(check(*state, &error), NIGH_ECORRUPT);
    damage_release(&damage);
}

/* ------------------------------------------------------------ without memory */

/* Each allocation fails in turn: a commit is there as a whole, or not at all, and nothing is lost. */
static void writing_without_memory(void **state) {
    struct collection_place *f = *state;
    struct batch batch = LENGTHS(past_a_block);
    batch.keys = 3;
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_error error;
        memory.fail_at = memory.calls + fail_at;
        const nigh_status status = batch_add(context, f->path, &batch, 0, 4, &error);
        failed = memory.calls > memory.fail_at;
        memory.fail_at = UINT64_MAX;
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        if (!failed) assert_ok(status, &error);
        if (status == NIGH_OK) expect_texts(f, &batch, 4);
        remove_tree(f->path);
    }
}

static void reading_without_memory(void **state) {
    struct collection_place *f = *state;
    struct batch batch = LENGTHS(past_a_block);
    batch.keys = 3;
    add(f, &batch, 0, 4);
    char *wanted = malloc(longest_of(&batch));
    char *got = malloc(longest_of(&batch));
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_collection *collection;
        nigh_error error;
        assert_ok(nigh_collection_open(context, f->path, NULL, &collection, &error), &error);
        memory.fail_at = memory.calls + fail_at;
        nigh_status status = read_text(collection, &batch, 2, wanted, got, &error);
        if (status == NIGH_OK) status = nigh_collection_check(context, f->path, NULL, NULL, &error);
        failed = memory.calls > memory.fail_at;
        memory.fail_at = UINT64_MAX;
        assert_int_equal(status, failed ? NIGH_ENOMEM : NIGH_OK);
        nigh_collection_close(collection);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
    free(wanted);
    free(got);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, collection_place_setup, collection_place_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(texts_round_trip),
        WITH_FIXTURE(many_texts),
        WITH_FIXTURE(packed_where_that_helps),
        WITH_FIXTURE(buffers_that_are_too_short),
        WITH_FIXTURE(keys_round_trip),
        WITH_FIXTURE(texts_or_keys_or_neither),
        WITH_FIXTURE(segments_may_differ),
        WITH_FIXTURE(for_all_of_a_commit_or_none),
        WITH_FIXTURE(limits),
        WITH_FIXTURE(leftovers),
        WITH_FIXTURE(every_byte_damaged),
        WITH_FIXTURE(sections_that_do_not_go_together),
        WITH_FIXTURE(an_unknown_codec),
        WITH_FIXTURE(a_bomb),
        WITH_FIXTURE(writing_without_memory),
        WITH_FIXTURE(reading_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
