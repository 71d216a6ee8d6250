/* SPDX-License-Identifier: Apache-2.0 */
/* A number nobody can guess, for hash tables with input from strangers. No result may depend on it. */
#ifndef NIGH_BASE_SECRET_H
#define NIGH_BASE_SECRET_H

#include <stdint.h>

uint64_t nigh__secret(void);

#endif
