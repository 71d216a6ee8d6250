/* SPDX-License-Identifier: Apache-2.0 */
/* What the plots of this folder share; plot.c has the classes of lines and texts. */
#ifndef NIGH_EVAL_PLOT_H
#define NIGH_EVAL_PLOT_H

#include "base/markup.h"

/* The beginning of an image: its style, and the title from `left` on. */
void nigh__plot_begin(struct nigh__markup *drawing, int width, int height, int left, const char *title);
void nigh__plot_end(struct nigh__markup *drawing);

/* Any bytes as text of XML. */
void nigh__plot_text(struct nigh__markup *drawing, const char *text);

#endif
