/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST .../against and .../dedup: compares the documents of a body with those of the collection, and with each other.
 */
#ifndef NIGH_SERVER_COMPARING_H
#define NIGH_SERVER_COMPARING_H

#include "request.h"

void serve_against_answer(struct serve_request *request);
void serve_dedup_answer(struct serve_request *request);

#endif
