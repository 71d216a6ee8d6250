/* SPDX-License-Identifier: Apache-2.0 */
/* What the plots of this folder share. */
#ifndef NIGH_EVAL_PLOT_H
#define NIGH_EVAL_PLOT_H

#include "base/markup.h"

/* Any bytes as text of XML. */
void nigh__plot_text(struct nigh__markup *drawing, const char *text);

#endif
