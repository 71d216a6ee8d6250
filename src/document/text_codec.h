/* SPDX-License-Identifier: Apache-2.0 */
/* How collections pack texts: by zstd.  Its memory is its own and does not come from the context. */
#ifndef NIGH_DOCUMENT_TEXT_CODEC_H
#define NIGH_DOCUMENT_TEXT_CODEC_H

#include "base/codec.h"

extern const struct nigh__codec nigh__text_codec;

#endif
