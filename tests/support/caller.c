/* SPDX-License-Identifier: Apache-2.0 */
/* The source gives texts that are gone with the next call, so that a sanitizer sees who keeps them longer. */
#define _GNU_SOURCE
#include "support/caller.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/text_support.h"

static nigh_status caller_fail(const struct caller *caller, nigh_error *error) {
    if (caller->silent) return caller->status;
    *error = (nigh_error){.status = caller->status, .offset = NIGH_NO_OFFSET};
    (void)snprintf(error->why, sizeof error->why, "row %zu is gone", caller->next);
    return caller->status;
}

/* What it says of a document, in memory that does not outlive it. */
static void caller_give(struct caller *caller, nigh_text *out) {
    const struct caller_document *document = &caller->documents[caller->next % caller->count];
    const bool changes = caller->passes == caller->change_in && caller->next == caller->change;
    free(caller->given);
    caller->given = strdup(document->text);
    assert_int_equal(out->size, sizeof *out);
    assert_null(out->id);
    out->id = document->id[0] == '\0' ? NULL : document->id;
    out->id_length = strlen(document->id);
    out->text = caller->given;
    out->text_length = strlen(caller->given);
    out->score = document->score;
    if (changes && caller->change_score)
        out->score++;
    else if (changes)
        caller->given[0] ^= 1;
}

static nigh_status caller_next(void *user, nigh_text *out, nigh_error *error) {
    struct caller *caller = user;
    assert_int_equal(__atomic_fetch_add(&caller->busy, 1, __ATOMIC_ACQ_REL), 0);
    const bool longer = caller->passes == caller->change_in && caller->change == caller->count;
    nigh_status status = NIGH_OK;
    if (caller->slow_every != 0 && caller->next % caller->slow_every == 0) usleep(CALLER_SLOW_US);
    if (caller->next == caller->fail_at)
        status = caller_fail(caller, error);
    else if (caller->next == caller->count + longer)
        status = NIGH_END;
    else
        caller_give(caller, out);
    caller->next += status == NIGH_OK;
    __atomic_fetch_sub(&caller->busy, 1, __ATOMIC_ACQ_REL);
    return status;
}

static nigh_status caller_rewind(void *user, nigh_error *error) {
    struct caller *caller = user;
    assert_int_equal(__atomic_load_n(&caller->busy, __ATOMIC_ACQUIRE), 0);
    caller->next = 0;
    caller->passes++;
    free(caller->given);
    caller->given = NULL;
    return caller->fail_rewind ? caller_fail(caller, error) : NIGH_OK;
}

nigh_source caller_source(struct caller *caller) {
    nigh_source source;
    nigh_source_init(&source);
    assert_true(source.documents == (uint64_t)NIGH_DEFAULT);
    source.user = caller;
    source.next = caller_next;
    source.rewind = caller_rewind;
    return source;
}

struct caller caller_new(size_t count) {
    struct caller caller = {
        .documents = calloc(count, sizeof(struct caller_document)), .count = count, .fail_at = SIZE_MAX};
    char *lines = text_lines(11, count);
    char *place = lines;
    for (size_t i = 0; i < count; i++) {
        struct caller_document *document = &caller.documents[i];
        char *line = strsep(&place, "\n");
        const char *text = i % 7 == 3 ? caller.documents[i - 3].text : line;
        document->text = malloc(strlen(text) + 16);
        (void)sprintf(document->text, "%s%s", text, i % 14 == 3 ? " again" : "");
        (void)snprintf(document->id, sizeof document->id, "row-%zu", i);
        document->score = (double)(i % 5);
    }
    free(lines);
    return caller;
}

void caller_free(struct caller *caller) {
    for (size_t i = 0; i < caller->count; i++) free(caller->documents[i].text);
    free(caller->documents);
    free(caller->given);
}

char *caller_json(const struct caller *caller, bool scores) {
    size_t length = 1;
    for (size_t i = 0; i < caller->count; i++) length += strlen(caller->documents[i].text) + 80;
    char *json = malloc(length), *place = json;
    *place = '\0';
    for (size_t i = 0; i < caller->count; i++) {
        const struct caller_document *document = &caller->documents[i];
        place += sprintf(place, "{\"id\":\"%s\",\"text\":\"%s\"", document->id, document->text);
        place += scores ? sprintf(place, ",\"score\":%g}\n", document->score) : sprintf(place, "}\n");
    }
    return json;
}

void caller_expect_word(const struct caller *caller, const nigh_error *error) {
    char expected[64];
    (void)snprintf(expected, sizeof expected, "row %zu is gone", caller->next);
    assert_int_equal(error->status, caller->status);
    if (caller->silent)
        assert_string_not_equal(error->why, "");
    else
        assert_string_equal(error->why, expected);
}
