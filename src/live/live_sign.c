/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a caller gives, before any of it is taken, and signs it. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/status.h"
#include "collection/values.h"
#include "live/live_parts.h"
#include "signature/band_keys.h"
#include "signature/snippet.h"

#define MAX_TEXT (NIGH__LOG_MAX_LENGTH - (UINT32_C(32) << 20)) /* so that all of a document fits a record */

/* All documents have ids or none has; the first one decides. */
static nigh_status check_id(nigh_live *live, const nigh_document *document, nigh_error *error) {
    const bool named = document->id != NULL;
    const char *problem = named ? nigh__id_problem(document->id_length) : NULL;
    if (problem != NULL) return nigh__fail(error, NIGH_EINVAL, "%s", problem);
    if (!live->ids_known) live->has_ids = named;
    live->ids_known = true;
    if (named == live->has_ids) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EMISMATCH, live->path, NIGH_NO_OFFSET,
                         named ? "its documents go by number; these have ids"
                               : "its documents have ids; these have none");
}

static nigh_status check_document(nigh_live *live, const nigh_document *document, nigh_error *error) {
    if (live->signer == NULL && document->signature == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a document without a signature");
    if (live->signer != NULL && document->text == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a document without a text");
    if (live->signer != NULL && (uint64_t)document->text_length > MAX_TEXT)
        return nigh__fail(error, NIGH_ELIMIT, "a text of %zu bytes; %u are allowed", document->text_length, MAX_TEXT);
    if (document->metadata_length > NIGH_MAX_METADATA_LENGTH)
        return nigh__fail(error, NIGH_EINVAL, "metadata of %zu bytes; %u are allowed", document->metadata_length,
                          NIGH_MAX_METADATA_LENGTH);
    nigh_status status =
        live->signer != NULL ? NIGH_OK : nigh__signature_check(document->signature, live->info.width_bits, error);
    if (status == NIGH_OK) status = nigh__document_values_check(document, live->keep_keys, error);
    return status == NIGH_OK ? check_id(live, document, error) : status;
}

/* Room for a signature, zeros; NULL: out of memory. */
static uint8_t *signature_room(nigh_live *live, struct nigh__live_made *made) {
    const size_t bytes = nigh__row_bytes(live->info.width_bits);
    uint8_t *place = nigh__array_add(live->context, &live->signatures, bytes);
    if (place == NULL) return NULL;
    memset(place, 0, bytes);
    made->signature = live->signatures.count - bytes;
    return place;
}

static nigh_status sign(nigh_live *live, struct nigh__live_made *made, uint8_t *signature, nigh_error *error) {
    const struct nigh__signer_plan *plan = nigh__signer_plan(live->signer);
    nigh_document *document = &made->document;
    uint8_t keys[NIGH__MAX_BANDS * sizeof(uint64_t)];
    const nigh_status status = nigh__signer_worker_sign(live->worker, document->text, document->text_length, error);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return status;
    const bool empty = status == NIGH_ENOTFOUND; /* no feature: all bits are 0 */
    if (plan->bands > 0) {
        nigh__bands_sign(empty ? NULL : nigh__signer_worker_projector(live->worker), document->text,
                         document->text_length, plan->bands, plan->band_rows, signature, keys);
        nigh__bands_keep(keys, plan->bands, made->keys);
        document->key_count = plan->bands;
    } else if (!empty) {
        nigh__signer_worker_bits(live->worker, signature);
    }
    return NIGH_OK;
}

/* The beginning of a text, to be shown in answers. */
static bool make_snippet(nigh_live *live, struct nigh__live_made *made) {
    const nigh_document *document = &made->document;
    const size_t most = nigh__smaller(live->options.snippet, document->text_length);
    made->snippet = live->snippets.count;
    if (most == 0) return true;
    char *place = nigh__array_add(live->context, &live->snippets, most);
    if (place == NULL) return false;
    made->length = nigh__snippet_make(document->text, document->text_length, place, most);
    live->snippets.count = made->snippet + made->length;
    return true;
}

static nigh_status make_one(nigh_live *live, const void *given, nigh_error *error) {
    nigh_document document = {.size = sizeof document};
    nigh_status status = nigh__struct_copy(&document, sizeof document, given, error);
    if (status == NIGH_OK) status = check_document(live, &document, error);
    if (status != NIGH_OK) return status;
    struct nigh__live_made *made = nigh__array_add(live->context, &live->made, 1);
    if (made == NULL) return nigh__no_memory(error, "for documents");
    made->document = document;
    made->length = 0;
    uint8_t *signature = signature_room(live, made);
    if (signature == NULL) return nigh__no_memory(error, "for documents");
    made->document.weights = NULL;
    made->document.key_count = 0;
    if (live->signer != NULL) {
        status = sign(live, made, signature, error);
        return status != NIGH_OK || make_snippet(live, made) ? status : nigh__no_memory(error, "for documents");
    }
    memcpy(signature, document.signature, nigh__row_bytes(live->info.width_bits));
    made->document.text = NULL;
    made->document.text_length = 0;
    return NIGH_OK;
}

/* What may have moved while others were added. */
static void set_pointers(nigh_live *live) {
    struct nigh__live_made *made = live->made.data;
    for (size_t i = 0; i < live->made.count; i++) {
        nigh_document *document = &made[i].document;
        document->signature = (const uint8_t *)live->signatures.data + made[i].signature;
        document->keys = document->key_count == 0 ? NULL : made[i].keys;
        if (live->signer == NULL) continue;
        document->metadata = made[i].length == 0 ? NULL : (const char *)live->snippets.data + made[i].snippet;
        document->metadata_length = made[i].length;
        if (live->copies != NULL) continue;
        document->text = NULL; /* only near-copies are compared by it */
        document->text_length = 0;
    }
}

nigh_status nigh__live_make(nigh_live *live, const nigh_document *documents, size_t count, nigh_error *error) {
    const uint8_t *at = (const uint8_t *)documents;
    nigh_status status = NIGH_OK;
    const bool known = live->ids_known;
    live->made.count = live->signatures.count = live->snippets.count = 0;
    for (size_t i = 0; i < count && status == NIGH_OK; i++, at += documents->size) status = make_one(live, at, error);
    if (status == NIGH_OK) set_pointers(live);
    if (status != NIGH_OK) live->ids_known = known;
    return status;
}
