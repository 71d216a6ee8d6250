/* SPDX-License-Identifier: Apache-2.0 */
#include "text/spelling.h"

#include <string.h>

#include "base/assert.h"
#include "base/status.h"

#define COPY 16u /* bytes that are copied whether a term has them or not; nearly all have no more */

struct place {
    size_t begin;
    size_t length; /* 0: not spelled yet */
};

static void forget(struct nigh__spelling *spelling) {
    spelling->generation = spelling->analyser->generation;
    nigh__array_release(spelling->context, &spelling->letters);
    nigh__array_release(spelling->context, &spelling->places);
}

/* Places up to this number, zeros where nothing is known; NULL: out of memory. */
static struct place *place_of(struct nigh__spelling *spelling, uint32_t number) {
    const size_t count = spelling->places.count;
    if (number >= count) {
        struct place *added = nigh__array_add(spelling->context, &spelling->places, number + 1 - count);
        if (added == NULL) return NULL;
        memset(added, 0, (number + 1 - count) * sizeof *added);
    }
    return (struct place *)spelling->places.data + number;
}

/* Always with COPY bytes more than terms have, so that they can be read past their end. */
static bool term_take(void *user, uint32_t number, uint64_t hash, const char *term, size_t length) {
    struct nigh__spelling *spelling = user;
    (void)hash;
    if (spelling->generation != spelling->analyser->generation) forget(spelling);
    struct place *place = place_of(spelling, number);
    if (place == NULL || place->length > 0) return place != NULL;
    const size_t begin = spelling->letters.count;
    char *letters = nigh__array_add(spelling->context, &spelling->letters, length + COPY);
    if (letters == NULL) return false;
    memcpy(letters, term, length);
    memset(letters + length, 0, COPY);
    spelling->letters.count -= COPY;
    *place = (struct place){.begin = begin, .length = length};
    return true;
}

nigh_status nigh__spelling_init(const nigh_context *context, const struct nigh__analysis *analysis,
                                struct nigh__spelling *spelling, nigh_error *error) {
    *spelling = (struct nigh__spelling){.context = context,
                                        .letters = NIGH__ARRAY(char),
                                        .places = NIGH__ARRAY(struct place),
                                        .spelled = NIGH__ARRAY(char)};
    nigh_status status = nigh__analyser_new(context, analysis, &spelling->analyser, error);
    if (status != NIGH_OK) return status;
    spelling->analyser->tell = term_take;
    spelling->analyser->user = spelling;
    return NIGH_OK;
}

void nigh__spelling_release(struct nigh__spelling *spelling) {
    if (spelling->context == NULL) return;
    nigh__analyser_free(spelling->analyser);
    nigh__array_release(spelling->context, &spelling->letters);
    nigh__array_release(spelling->context, &spelling->places);
    nigh__array_release(spelling->context, &spelling->spelled);
}

/* Bytes of all terms with a space after each, or more than NIGH__MAX_SPELLED of the first; *count: how many these are.
 */
static size_t length_of(const struct nigh__spelling *spelling, const uint32_t *numbers, size_t *count) {
    const struct place *places = spelling->places.data;
    size_t length = 0;
    size_t i = 0;
    for (; i < *count && length <= NIGH__MAX_SPELLED; i++) length += places[numbers[i]].length + 1;
    *count = i;
    return length;
}

static void copy_terms(const struct nigh__spelling *spelling, const uint32_t *numbers, size_t count, char *out) {
    const struct place *places = spelling->places.data;
    const char *letters = spelling->letters.data;
    for (size_t i = 0; i < count; i++) {
        const struct place place = places[numbers[i]];
        NIGH__ASSERT(place.length > 0 && place.begin + place.length <= spelling->letters.count);
        memcpy(out, letters + place.begin, COPY);
        if (place.length > COPY) memcpy(out + COPY, letters + place.begin + COPY, place.length - COPY);
        out += place.length;
        *out++ = ' ';
    }
}

nigh_status nigh__spelling_find(struct nigh__spelling *spelling, const char *text, size_t length, const char **spelled,
                                size_t *spelled_length, nigh_error *error) {
    const uint32_t *numbers;
    size_t count;
    nigh_status status = nigh__analyse(spelling->analyser, text, length, &numbers, &count, error);
    if (status != NIGH_OK) return status;
    const size_t bytes = length_of(spelling, numbers, &count);
    spelling->spelled.count = 0;
    char *out = nigh__array_add(spelling->context, &spelling->spelled, bytes + COPY);
    if (out == NULL) return nigh__no_memory(error, "for the terms of a text");
    copy_terms(spelling, numbers, count, out);
    *spelled = out;
    *spelled_length = bytes > 0 ? bytes - 1 : 0; /* without the last space */
    return NIGH_OK;
}
