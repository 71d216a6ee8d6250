/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest program that needs the header, the library and what it links:
 * reading and signing are called so that a static one takes all of that in.
 */
#include <nigh.h>
#include <stdio.h>

static nigh_status sign(nigh_context *context, uint8_t *out, nigh_error *error) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_SIMHASH;
    nigh_signer *signer = NULL;
    nigh_status status = nigh_signer_new(context, &options, &signer, error);
    if (status == NIGH_OK) status = nigh_signer_sign(signer, "two documents", 13, out, NULL, error);
    nigh_signer_free(signer);
    return status;
}

int main(void) {
    nigh_context *context = NULL;
    nigh_error error;
    if (nigh_context_new(NULL, &context, &error) != NIGH_OK) return 1;
    uint8_t signature[8] = {0};
    int documents = 0; /* the first of the parts */
    (void)nigh_part_name(0, &documents);
    if (sign(context, signature, &error) != (documents ? NIGH_OK : NIGH_EUNSUPPORTED)) return 2;
    const char *paths[] = {"no/such/file"};
    nigh_text_reader *reader = NULL;
    if (nigh_text_reader_open(context, paths, 1, NULL, &reader, &error) == NIGH_OK) return 3;
    uint32_t distance = nigh_distance(context, signature, signature, sizeof signature);
    nigh_context_free(context);
    printf("nigh %s\n", nigh_version());
    return distance == 0 ? 0 : 4;
}
