/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of these signatures are nearly the same: 64-bit numbers in hex, one a line, on standard input.  Prints those
 * to keep, and for each of the others the one that is kept for it.
 */
#include <inttypes.h>
#include <nigh.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ROWS 100000

static uint64_t rows[MAX_ROWS];

/* Each that is not kept, with the one it is a near-copy of. */
static void show(const nigh_dedup *dedup) {
    nigh_dedup_document document = {.size = sizeof document};
    for (uint64_t i = 0; nigh_dedup_at(dedup, i, &document) == NIGH_OK; i++) {
        printf("%016" PRIx64, rows[i]);
        if (!document.keep) printf(" is near %016" PRIx64, rows[document.cluster]);
        printf("\n");
    }
}

int main(void) {
    uint64_t count = 0;
    nigh_context *context = NULL;
    nigh_dedup *dedup = NULL;
    nigh_dedup_options options;
    nigh_error error;
    char line[64];
    while (count < MAX_ROWS && fgets(line, sizeof line, stdin) != NULL) rows[count++] = strtoull(line, NULL, 16);
    nigh_dedup_options_init(&options);
    options.distance = 3;
    const int done = nigh_context_new(NULL, &context, &error) == NIGH_OK &&
                     nigh_dedup_rows(context, (const uint8_t *)rows, count, 64, &options, &dedup, &error) == NIGH_OK;
    if (done)
        show(dedup);
    else
        fprintf(stderr, "%s\n", error.why);
    nigh_dedup_free(dedup);
    nigh_context_free(context);
    return done ? 0 : 2;
}
