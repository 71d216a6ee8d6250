/* SPDX-License-Identifier: Apache-2.0 */
/* GET: the collections, and their state. */
#ifndef NIGH_SERVER_DESCRIBE_H
#define NIGH_SERVER_DESCRIBE_H

#include "request.h"

void serve_health_answer(struct serve_request *request);
void serve_ready_answer(struct serve_request *request);
void serve_collections_answer(struct serve_request *request);
void serve_collection_answer(struct serve_request *request);
void serve_document_answer(struct serve_request *request);
void serve_histogram_answer(struct serve_request *request);
void serve_clusters_answer(struct serve_request *request);

#endif
