/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP responses as crawlers keep them: their headers, and the body decoded. */
#ifndef NIGH_DOCUMENT_HTTP_H
#define NIGH_DOCUMENT_HTTP_H

#include <stdbool.h>

#include "base/memory.h"

struct nigh__span {
    const char *text;
    size_t length;
};

struct nigh__http {
    unsigned status; /* 100 to 999 */
    bool chunked;
    struct nigh__span type;     /* of Content-Type: "text/html", */
    struct nigh__span charset;  /* and its charset, without quotes; lengths of 0: none */
    struct nigh__span encoding; /* Content-Encoding */
    struct nigh__span body;     /* as it lies */
};

/* Lives: spans point into the response.  Returns: NIGH_OK; NIGH_EFORMAT; NIGH_ELIMIT for headers over 64 KiB. */
nigh_status nigh__http_parse(const char *bytes, size_t length, struct nigh__http *out, nigh_error *error);

/*
 * Takes off the transfer's and the content's encoding.  A body that is not
 * encoded although the headers say so is taken as it is: crawlers decode and
 * leave the headers.
 *
 * What a body unpacks to is limited for each document, by `max_bytes`, and not
 * in all of an input, as what an input is packed in is: see expansion.h.
 *
 * Lives:   *body points into the response or into `scratch`, two arrays of bytes.
 * Returns: NIGH_OK; NIGH_ENOTFOUND for an encoding we do not have (without a
 *          detail); NIGH_EFORMAT; NIGH_ELIMIT; NIGH_ENOMEM.
 */
nigh_status nigh__http_body(const nigh_context *context, const struct nigh__http *http, uint64_t max_bytes,
                            struct nigh__array scratch[2], struct nigh__span *body, nigh_error *error);

/* Whether a span is a word, in any case. */
bool nigh__span_is(struct nigh__span span, const char *word);

#endif
