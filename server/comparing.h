/* SPDX-License-Identifier: Apache-2.0 */
/* POST .../against and .../dedup: documents of a body held against what is there, and against each other. */
#ifndef NIGH_SERVER_COMPARING_H
#define NIGH_SERVER_COMPARING_H

#include "request.h"

void serve_against_answer(struct serve_request *request);
void serve_dedup_answer(struct serve_request *request);

#endif
