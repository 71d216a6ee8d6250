/* SPDX-License-Identifier: Apache-2.0 */
/* Columns as a way to search (scan/method.h). */
#ifndef NIGH_COLUMNS_COLUMN_METHOD_H
#define NIGH_COLUMNS_COLUMN_METHOD_H

#include "scan/method.h"

extern const struct nigh__search_method nigh__column_method;

#endif
