/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image hashes within a radius: image_hashes KNOWN QUERIES RADIUS, both files of hex lines (a hash of 256 bits, such
 * as PDQ, with "ID<TAB>" before it).  A finder keeps the known ones in memory, laid out so that all within the radius
 * are found without looking at each.
 */
#include <nigh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 32
#define MAX_ROWS 100000
#define MAX_ID 64

struct hashes {
    uint8_t rows[MAX_ROWS][BYTES];
    char ids[MAX_ROWS][MAX_ID];
    size_t count;
};

static nigh_status read_hashes(nigh_context *context, const char *path, struct hashes *out, nigh_error *error) {
    nigh_signature_reader *reader = NULL;
    nigh_signature_reader_options options;
    nigh_document row = {.size = sizeof row};
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_HEX;
    options.width_bits = 8 * BYTES;
    nigh_status status = nigh_signature_reader_open(context, path, &options, &reader, error);
    while (status == NIGH_OK && out->count < MAX_ROWS &&
           (status = nigh_signature_reader_next(reader, &row, error)) == NIGH_OK) {
        memcpy(out->rows[out->count], row.signature, BYTES);
        snprintf(out->ids[out->count++], MAX_ID, "%.*s", (int)row.id_length, row.id != NULL ? row.id : "");
    }
    nigh_signature_reader_close(reader);
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status match(nigh_context *context, const struct hashes *known, const struct hashes *asked, uint32_t radius,
                         nigh_error *error) {
    nigh_finder *finder = NULL;
    nigh_results *found = NULL;
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.width_bits = 8 * BYTES;
    options.radius = radius;
    nigh_status status = nigh_finder_new(context, known->rows[0], known->count, &options, &finder, error);
    if (status == NIGH_OK) status = nigh_finder_find(finder, asked->rows[0], asked->count, NULL, &found, error);
    for (size_t query = 0; status == NIGH_OK && query < asked->count; query++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(found, query, &count);
        for (size_t i = 0; i < count; i++)
            printf("%s\t%s\t%u\n", asked->ids[query], known->ids[matches[i].document], matches[i].distance);
    }
    nigh_results_free(found);
    nigh_finder_free(finder);
    return status;
}

int main(int count, char **arguments) {
    struct hashes *known = calloc(2, sizeof *known), *asked = known + 1;
    nigh_context *context = NULL;
    nigh_error error = {.status = NIGH_EINVAL, .why = "usage: image_hashes KNOWN QUERIES RADIUS"};
    nigh_status status = count == 4 && known != NULL ? nigh_context_new(NULL, &context, &error) : NIGH_EINVAL;
    if (status == NIGH_OK) status = read_hashes(context, arguments[1], known, &error);
    if (status == NIGH_OK) status = read_hashes(context, arguments[2], asked, &error);
    if (status == NIGH_OK) status = match(context, known, asked, (uint32_t)strtoul(arguments[3], NULL, 10), &error);
    if (status != NIGH_OK) fprintf(stderr, "%s\n", error.why);
    nigh_context_free(context);
    free(known);
    return status == NIGH_OK ? 0 : 2;
}
