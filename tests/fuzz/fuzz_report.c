/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the report: the input, cut at the byte 0x1e, is the title, the warning, ids
 * and texts of a page, which must be whole and hold no markup but ours; and two
 * pairs of its texts are compared word by word: the runs must walk through both.
 */
#include <stdlib.h>
#include <string.h>

#include "dedup/report.h"
#include "dedup/report_diff.h"
#include "fuzz/fuzz.h"
#include "support/page_check.h"

#define FIELDS 24u
#define CUT 0x1e
#define MAX_BYTES 16384u

struct field {
    const char *bytes; /* zero after its end */
    size_t length;
};

/* Cuts a copy of the input, which ends in a zero; fields that are not there are empty. */
static void cut_fields(char *copy, size_t size, struct field fields[FIELDS]) {
    char *at = copy;
    for (size_t i = 0; i < FIELDS; i++) {
        const size_t left = size - (size_t)(at - copy);
        char *end = i + 1 < FIELDS ? memchr(at, CUT, left) : NULL;
        const size_t length = end == NULL ? left : (size_t)(end - at);
        fields[i] = (struct field){at, length};
        at += length;
        if (end != NULL) *at++ = '\0';
    }
}

static struct nigh__report_text text_of(const struct field *id, const struct field *text) {
    return (struct nigh__report_text){
        .id = id->bytes, .id_length = id->length, .text = text->bytes, .text_length = text->length};
}

static void check_page(const nigh_context *context, const struct field *field, size_t size) {
    struct nigh__report_pair pairs[4];
    for (size_t i = 0; i < 4; i++) {
        const struct field *own = field + 8 + i * 4;
        pairs[i] = (struct nigh__report_pair){.kept = text_of(own, own + 1),
                                              .other = text_of(own + 2, own + 3),
                                              .similarity = (double)(size % 17) / 16,
                                              .distance = (uint32_t)size % 5,
                                              .copy = i == 3};
    }
    const struct nigh__report_text others[] = {pairs[0].kept, pairs[1].kept};
    const struct nigh__report_cluster clusters[] = {
        {.documents = size, .pairs = pairs, .pair_count = 4, .others = others, .other_count = 2},
        {.documents = 2, .kept = text_of(field + 7, field + 11)}};
    const struct nigh__report_fact fact = {field[2].bytes, field[3].bytes};
    const struct nigh__report_bar bars[] = {{field[4].bytes, size}, {field[5].bytes, size * size * size}};
    const struct nigh__report report = {.title = field[0].bytes,
                                        .documents = size * 3,
                                        .kept = size,
                                        .near = size / 2,
                                        .copies = size * 3 - size - size / 2,
                                        .warning = field[1].bytes,
                                        .facts = &fact,
                                        .fact_count = 1,
                                        .distances = bars,
                                        .distance_count = 2,
                                        .distance_caption = field[6].bytes,
                                        .sizes = bars,
                                        .size_count = 2,
                                        .largest = clusters,
                                        .largest_count = 2};
    struct nigh__array html = NIGH__ARRAY(char);
    if (nigh__report_make(context, &report, &html, NULL) != NIGH_OK) abort();
    if (page_problem(html.data, html.count) != NULL) abort();
    nigh__array_release(context, &html);
}

static void check_diff(const nigh_context *context, const struct field *left, const struct field *right) {
    struct nigh__diff diff;
    if (nigh__diff_make(context, left->bytes, left->length, right->bytes, right->length, &diff, NULL) != NIGH_OK)
        abort();
    const struct nigh__diff_word *a = diff.left.data;
    const struct nigh__diff_word *b = diff.right.data;
    const struct nigh__diff_run *runs = diff.runs.data;
    size_t x = 0;
    size_t y = 0;
    for (size_t i = 0; i < diff.runs.count; i++) {
        if (runs[i].left != x || runs[i].right != y || runs[i].count == 0) abort();
        for (size_t n = 0; n < runs[i].count && runs[i].kind == NIGH__DIFF_SAME; n++) {
            const size_t length = a[x + n].end - a[x + n].begin;
            if (length != b[y + n].end - b[y + n].begin) abort();
            if (memcmp(left->bytes + a[x + n].begin, right->bytes + b[y + n].begin, length) != 0) abort();
        }
        if (runs[i].kind != NIGH__DIFF_RIGHT) x += runs[i].count;
        if (runs[i].kind != NIGH__DIFF_LEFT) y += runs[i].count;
    }
    if (x != diff.left.count || y != diff.right.count) abort();
    nigh__diff_release(context, &diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    if (size > MAX_BYTES) return 0;
    struct field fields[FIELDS];
    char *copy = malloc(size + 1);
    if (copy == NULL) return 0;
    if (size > 0) memcpy(copy, data, size);
    copy[size] = '\0';
    cut_fields(copy, size, fields);
    check_page(context, fields, size);
    check_diff(context, &fields[9], &fields[11]);
    check_diff(context, &fields[13], &fields[9]);
    free(copy);
    return 0;
}
