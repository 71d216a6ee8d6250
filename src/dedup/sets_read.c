/* SPDX-License-Identifier: Apache-2.0 */
/* A pass that keeps the sets of features of some documents, each sorted and without repeats. */
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/pass.h"
#include "dedup/sets.h"
#include "text/feature.h"

#define FEW_FEATURES 1024u
#define CROWDED_SLOT 16u

/*
 * Sorts features.  They are hashes, so with as many slots as there are of them, by
 * their highest bits, each is soon near its place, and steps between neighbours do the
 * rest; features that somebody has made to crowd one slot, and very many, are sorted as
 * any words.
 */
static uint64_t *sort_features(uint64_t *words, uint64_t *scratch, size_t count) {
    uint16_t places[FEW_FEATURES + 1] = {0};
    unsigned bits = 1;
    while ((size_t)1 << bits < count && (size_t)1 << bits < FEW_FEATURES) bits++;
    uint32_t most = 0;
    for (size_t i = 0; i < count && count <= FEW_FEATURES; i++) {
        const uint32_t there = ++places[(words[i] >> (64 - bits)) + 1];
        most = there > most ? there : most;
    }
    if (count > FEW_FEATURES || most > CROWDED_SLOT) return nigh__words_sort(words, scratch, count, 1, 1, 1);
    for (size_t i = 1; i < (size_t)1 << bits; i++) places[i] = (uint16_t)(places[i] + places[i - 1]);
    for (size_t i = 0; i < count; i++) scratch[places[words[i] >> (64 - bits)]++] = words[i];
    for (size_t i = 1; i < count; i++) {
        const uint64_t moving = scratch[i];
        size_t place = i;
        for (; place > 0 && scratch[place - 1] > moving; place--) scratch[place] = scratch[place - 1];
        scratch[place] = moving;
    }
    return scratch;
}

uint64_t *nigh__set_make(const struct nigh__features *features, const char *text, size_t length, uint64_t *words,
                         uint64_t *scratch, size_t *count) {
    if (features->count == 0) {
        words[0] = nigh__hash(text, length);
        *count = 1;
        return words;
    }
    memcpy(words, features->hashes, features->count * sizeof *words);
    uint64_t *sorted = sort_features(words, scratch, features->count);
    size_t distinct = 1;
    for (size_t i = 1; i < features->count; i++) {
        sorted[distinct] = sorted[i];
        distinct += sorted[i] != sorted[distinct - 1];
    }
    *count = distinct;
    return sorted;
}

static nigh_status work_set(struct nigh__pass_worker *worker, const nigh_text *text,
                            const struct nigh__features *features, struct nigh__array *product, nigh_error *error) {
    const size_t room = features->count + 1;
    size_t distinct = 0;
    uint64_t *words = nigh__pass_words(worker, 2 * room);
    if (words == NULL) return nigh__no_memory(error, "to verify");
    const uint64_t *sorted = nigh__set_make(features, text->text, text->text_length, words, words + room, &distinct);
    uint8_t *place = nigh__array_add(worker->context, product, distinct * sizeof *words);
    if (place == NULL) return nigh__no_memory(error, "to verify");
    memcpy(place, sorted, distinct * sizeof *words);
    return NIGH_OK;
}

struct nigh__pass_step nigh__sets_step(nigh__pass_take *take, void *user) {
    return (struct nigh__pass_step){.stage = "verifying", .work = work_set, .take = take, .user = user};
}

struct taking {
    nigh_dedup *dedup;
    struct nigh__sets *sets;
};

static nigh_status take_set(void *user, uint64_t document, const nigh_text *text, const uint8_t *product, size_t length,
                            nigh_error *error) {
    struct taking *taking = user;
    (void)text;
    nigh__dedup_document(taking->dedup, document)->features = (uint32_t)(length / sizeof(uint64_t));
    return nigh__sets_add(taking->sets, document, product, error);
}

nigh_status nigh__sets_read(nigh_dedup *dedup, struct nigh__pass_plan *plan, const uint64_t *needed,
                            struct nigh__sets *sets, nigh_error *error) {
    struct taking taking = {.dedup = dedup, .sets = sets};
    const struct nigh__pass_step step = nigh__sets_step(take_set, &taking);
    return nigh__pass_run(dedup, plan, &step, needed, error);
}
