/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that are in logs and in no segment yet: their signatures, ids and texts, in memory. */
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "live/live_parts.h"

void nigh__live_tail_init(const nigh_live *live, uint64_t first, struct nigh__live_tail *out) {
    *out = (struct nigh__live_tail){.first = first};
    nigh__incoming_init(live->context, live->info.width_bits, &out->documents);
}

void nigh__live_tail_release(const nigh_live *live, struct nigh__live_tail *tail) {
    nigh__incoming_release(&tail->documents);
    nigh__hash_table_release(live->context, &tail->names);
    *tail = (struct nigh__live_tail){.first = tail->first};
    nigh__incoming_init(live->context, live->info.width_bits, &tail->documents);
}

static bool add_name(const nigh_live *live, struct nigh__live_tail *tail, const nigh_document *document) {
    if (document->id == NULL) return true;
    if (tail->names.slots == NULL && !nigh__hash_table_init(live->context, &tail->names)) return false;
    return nigh__hash_table_add(live->context, &tail->names,
                                nigh__hash_seeded(document->id, document->id_length, live->secret),
                                (uint32_t)tail->documents.count);
}

nigh_status nigh__live_tail_add(const nigh_live *live, struct nigh__live_tail *tail, const nigh_document *document,
                                nigh_error *error) {
    nigh_document kept = *document;
    kept.value_count = 0;
    kept.metadata = document->text;
    kept.metadata_length = document->text == NULL || live->copies == NULL ? 0 : document->text_length;
    if (!add_name(live, tail, document)) return nigh__no_memory(error, "for the ids of documents");
    return nigh__incoming_add(&tail->documents, &kept, error);
}

const struct nigh__live_tail *nigh__live_tail_of(const nigh_live *live, uint64_t number, size_t *place) {
    if (number < live->collection->documents) return NULL;
    const struct nigh__live_tail *tail = number < live->tail.first ? &live->full : &live->tail;
    *place = (size_t)(number - tail->first);
    return tail;
}

static bool tail_has(const struct nigh__live_tail *tail, const char *id, size_t id_length, uint64_t hash) {
    if (tail->names.slots == NULL) return false;
    uint64_t cursor = nigh__hash_table_home(hash, tail->names.capacity);
    uint32_t place;
    while (nigh__hash_table_next(&tail->names, hash, &cursor, &place)) {
        const nigh_document document = nigh__incoming_document(&tail->documents, place);
        if (document.id_length == id_length && memcmp(document.id, id, id_length) == 0) return true;
    }
    return false;
}

nigh_status nigh__live_has_id(const nigh_live *live, const char *id, size_t id_length, bool *has, nigh_error *error) {
    const uint64_t hash = nigh__hash_seeded(id, id_length, live->secret);
    uint64_t document;
    *has = tail_has(&live->tail, id, id_length, hash) || tail_has(&live->full, id, id_length, hash);
    if (*has) return NIGH_OK;
    const nigh_status status = nigh__collection_find_named(live->collection, id, id_length, &document, error);
    *has = status == NIGH_OK;
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}
