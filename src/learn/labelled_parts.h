/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread makes of a document, for the one that gathers.  A product:
 *
 *     u32 features   u32 bytes of labels   u32 bytes of names   u32 part
 *     features times { u64 hash, u32 count }
 *     the labels, one a line
 *     { u64 hash, u8 length, that many bytes } ...      names, of features not met before
 */
#ifndef NIGH_LEARN_LABELLED_PARTS_H
#define NIGH_LEARN_LABELLED_PARTS_H

#include "document/pipeline.h"
#include "learn/labelled.h"

#define NIGH__LABELLED_HEAD 16u
#define NIGH__LABELLED_COUNT 12u
#define NIGH__LABELLED_MAX_NAME 255u
#define NIGH__PART_SILENT 3u /* of a product: the document does not say; else enum nigh__part */

struct nigh__labelled_plan {
    const nigh_context *context;         /* for the threads' own things */
    const nigh_context *product_context; /* that of the reader, whose pipeline holds the products */
    struct nigh__feature_plan features;
    bool strip_headers;
};

/* Work for a pipeline; `plan` must outlive it. */
struct nigh__pipeline_work nigh__labelled_work(struct nigh__labelled_plan *plan);

#endif
