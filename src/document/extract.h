/* SPDX-License-Identifier: Apache-2.0 */
/* Extracting: from a record to an id and text.  record.h draws where it stands. */
#ifndef NIGH_DOCUMENT_EXTRACT_H
#define NIGH_DOCUMENT_EXTRACT_H

#include "document/record.h"
#include "document/sieve.h"

struct nigh__extractor; /* opaque; one a thread: parsers and buffers that are used again */

/* The keys, max_document_bytes, max_depth and what is left out by the options count; the keys must outlive it. */
nigh_status nigh__extractor_new(const nigh_context *context, const nigh_text_reader_options *options,
                                struct nigh__extractor **out, nigh_error *error);
void nigh__extractor_free(struct nigh__extractor *extractor); /* accepts NULL */

/*
 * Understands one record of a batch (of any kind but NIGH__RECORD_PROBLEM).  A
 * pure function of the record and the options.
 *
 * Lives:   what *out points to, until the next call or until the batch changes.
 *          `text` is valid UTF-8.
 * Returns: NIGH_OK; and where bytes that are no UTF-8 were replaced in plain
 *          text, *repaired is their offset in the source, else NIGH_NO_OFFSET;
 *          NIGH_ENOTFOUND (without a detail): there is no text in it, such as
 *          JSON without the key, an image, a redirect, a page of pictures; or its
 *          document is left out, as nigh__extract_sieved() says;
 *          NIGH_EFORMAT, NIGH_ELIMIT: malformed or over a limit, skip it;
 *          NIGH_ENOMEM.
 */
nigh_status nigh__extract(struct nigh__extractor *extractor, const struct nigh__batch *batch,
                          const struct nigh__record *record, nigh_text *out, uint64_t *repaired, nigh_error *error);

/* Of the record that was understood last: why its document is left out, or that none is. */
enum nigh__sieved nigh__extract_sieved(const struct nigh__extractor *extractor);

#define NIGH__MAX_LABELS 1024u       /* of a document, */
#define NIGH__MAX_LABEL_BYTES 65536u /* and of all of them, with a newline between two */

/*
 * Of the document just given: whether what is under label_key or part_key is malformed, or over
 * these limits; then it is as if it were not there, and *problem says why.
 */
bool nigh__extract_remark(const struct nigh__extractor *extractor, const nigh_text *text, nigh_error *problem);

#endif
