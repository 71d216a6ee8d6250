/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program that needs the header, the library and what it links. */
#include <nigh.h>
#include <stdio.h>

int main(void) {
    nigh_context *context = NULL;
    nigh_error error;
    if (nigh_context_new(NULL, &context, &error) != NIGH_OK) return 1;
    const uint8_t a[8] = {0xff};
    const uint8_t b[8] = {0x0f};
    uint32_t distance = nigh_distance(context, a, b, sizeof a);
    nigh_context_free(context);
    printf("nigh %s\n", nigh_version());
    return distance == 4 ? 0 : 1;
}
