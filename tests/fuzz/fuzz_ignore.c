/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes patterns of names: what stands before the first zero byte is a .gitignore, what follows it a path. */
#include <stdlib.h>
#include <string.h>

#include "document/ignore.h"
#include "fuzz/fuzz.h"

#define MAX_PATH 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    const uint8_t *zero = size == 0 ? NULL : memchr(data, 0, size);
    const size_t length = zero == NULL ? size : (size_t)(zero - data);
    char path[MAX_PATH + 1];
    size_t path_length = zero == NULL ? 0 : size - length - 1;
    if (path_length > MAX_PATH) path_length = MAX_PATH;
    if (path_length > 0) memcpy(path, zero + 1, path_length);
    path[path_length] = '\0';
    struct nigh__ignore ignore;
    nigh__ignore_init(&ignore);
    if (!nigh__ignore_parse(context, &ignore, (const char *)data, length)) abort();
    const enum nigh__ignore_verdict once = nigh__ignore_match(&ignore, path, true);
    (void)nigh__ignore_match(&ignore, path, false);
    /* The last line that matches decides: all lines once more change nothing. */
    if (!nigh__ignore_parse(context, &ignore, (const char *)data, length)) abort();
    if (nigh__ignore_match(&ignore, path, true) != once) abort();
    nigh__ignore_release(context, &ignore);
    return 0;
}
