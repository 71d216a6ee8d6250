/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a collection and reading single documents. */
#include "collection/collection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/keep_keys.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/check_segment.h"
#include "collection/collection_options.h"
#include "collection/deletions.h"
#include "collection/directory.h"
#include "collection/loading.h"
#include "collection/maps.h"
#include "collection/selection.h"
#include "collection/sidecar.h"
#include "collection/state.h"
#include "collection/texts.h"

/* Documents that were there before it cannot have been signed with it, and there is one for all. */
static nigh_status attachment_fits(const struct nigh_collection *collection, const struct nigh__segment *segment,
                                   nigh_error *error) {
    static const char *const misplaced[] = {"a vocabulary that is not in the first segment of the collection",
                                            "a model that is not in the first segment of the collection",
                                            "thresholds that are not in the first segment of the collection"};
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS; kind++) {
        const struct nigh__segment *keeper = nigh__collection_keeper(collection, kind);
        if (segment->kept[kind] == NULL || (keeper != NULL && nigh__segment_keeps_as(keeper, segment, kind))) continue;
        if (keeper != NULL || collection->documents != 0)
            return nigh__segment_corrupt(segment, nigh__attachment_section(kind), 0, misplaced[kind], error);
    }
    return NIGH_OK;
}

static nigh_status segment_fits(const struct nigh_collection *collection, const struct nigh__segment *segment,
                                nigh_error *error) {
    if (segment->width_bits != collection->width_bits)
        return nigh__fail_at(error, NIGH_ECORRUPT, segment->path, offsetof(struct nigh__segment_header, width_bits),
                             "the segment has %u bits, the manifest says %u", segment->width_bits,
                             collection->width_bits);
    if (collection->segment_count == 0) return NIGH_OK;
    const struct nigh__segment *first = collection->segments[0];
    if (strcmp(segment->scheme, first->scheme) != 0)
        return nigh__segment_corrupt(segment, NIGH__SECTION_SCHEME, 0, "the scheme is not that of the other segments",
                                     error);
    if (segment->documents != 0 && first->documents != 0 &&
        (segment->id_offsets == NULL) != (first->id_offsets == NULL))
        return nigh__fail_at(error, NIGH_ECORRUPT, segment->path, NIGH_NO_OFFSET,
                             "some segments have ids and others have none");
    return attachment_fits(collection, segment, error);
}

/* NULL where there is no kind of this number. */
static const struct nigh__sidecar_kind *kind_of(const struct nigh_collection *collection, unsigned number) {
    return collection->context->extensions->sidecars[number];
}

/* A collection on its way, and a state of it that is open already, or NULL. */
struct opening {
    nigh_collection *collection;
    const nigh_collection *before;
};

/* The segment that an entry names, in the state before; NULL: it has none that can be taken over. */
static const struct nigh__segment *find_again(const nigh_collection *before, const struct nigh__manifest_entry *entry) {
    for (uint32_t i = 0; before != NULL && i < before->segment_count; i++)
        if (nigh__segment_is(before->segments[i], entry))
            return before->segments[i]->loaded ? NULL : before->segments[i];
    return NULL;
}

/* Which of its documents live. */
static nigh_status open_deletions(const struct nigh__file *directory, const struct nigh__living_entry *entry,
                                  const struct nigh__segment *before, struct nigh__segment *segment,
                                  nigh_error *error) {
    segment->deletions = entry->deletions;
    if (before == NULL || memcmp(&before->deletions, &entry->deletions, sizeof entry->deletions) != 0)
        return nigh__segment_open_deletions(directory, segment, error);
    segment->living = nigh__selection_join(before->living);
    return NIGH_OK;
}

static nigh_status open_segment(const struct opening *opening, const struct nigh__file *directory,
                                const struct nigh__living_entry *entry, const struct nigh__listing *listing,
                                struct nigh__segment **out, nigh_error *error) {
    const nigh_collection *collection = opening->collection;
    const struct nigh__segment *before = find_again(opening->before, &entry->segment);
    nigh_status status = before == NULL ? nigh__segment_open(directory, &entry->segment, out, error)
                                        : nigh__segment_again(directory, before, out, error);
    if (status != NIGH_OK) return status;
    status = segment_fits(collection, *out, error);
    if (status == NIGH_OK) status = open_deletions(directory, entry, before, *out, error);
    for (unsigned i = 1; i < NIGH__SIDECAR_KINDS && status == NIGH_OK; i++) {
        const struct nigh__sidecar_kind *kind = kind_of(collection, i);
        if (kind != NULL && nigh__listing_has_sidecar(listing, kind, entry->segment.number))
            status = nigh__segment_open_sidecar(directory, kind, before, *out, error);
    }
    if (status == NIGH_OK) return NIGH_OK;
    nigh__segment_close(*out);
    *out = NULL;
    return status;
}

static nigh_status open_segments(const struct opening *opening, const struct nigh__file *directory,
                                 const struct nigh__manifest *manifest, const struct nigh__listing *listing,
                                 nigh_error *error) {
    nigh_collection *collection = opening->collection;
    collection->segments =
        nigh__alloc_zero(collection->context, manifest->header.segment_count, sizeof(struct nigh__segment *));
    if (collection->segments == NULL) return nigh__no_memory(error, "for segments");
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) {
        struct nigh__segment *segment;
        nigh_status status = open_segment(opening, directory, &manifest->entries[i], listing, &segment, error);
        if (status != NIGH_OK) return status;
        segment->first_document = collection->documents;
        segment->index = collection->segment_count;
        collection->documents += segment->documents;
        collection->deleted += segment->deletions.deleted;
        collection->segments[collection->segment_count++] = segment;
    }
    return NIGH_OK;
}

static void close_segments(struct nigh_collection *collection) {
    for (uint32_t i = 0; i < collection->segment_count; i++) nigh__segment_close(collection->segments[i]);
    nigh__free(collection->context, collection->segments);
    collection->segments = NULL;
    collection->segment_count = 0;
    collection->documents = collection->deleted = 0;
}

static nigh_status open_extras(const struct opening *opening, const struct nigh__file *directory,
                               const struct nigh__listing *listing, nigh_error *error) {
    nigh_collection *collection = opening->collection;
    nigh_status status = NIGH_OK;
    for (unsigned i = 0; i < NIGH__EXTRAS && status == NIGH_OK; i++) {
        const struct nigh__extra *extra = collection->context->extensions->extras[i];
        if (extra == NULL) continue;
        if (opening->before != NULL && extra->again != NULL)
            status =
                extra->again(collection, opening->before, opening->before->extras[i], &collection->extras[i], error);
        if (status == NIGH_OK && collection->extras[i] == NULL)
            status =
                extra->open(collection->context, collection->segment_count,
                            listing != NULL && listing->extras[i] ? directory : NULL, &collection->extras[i], error);
    }
    return status;
}

nigh_status nigh__collection_fresh_extras(struct nigh_collection *collection, nigh_error *error) {
    const struct opening opening = {.collection = collection};
    return open_extras(&opening, NULL, NULL, error);
}

static void close_extras(struct nigh_collection *collection) {
    for (unsigned i = 0; i < NIGH__EXTRAS; i++) {
        const struct nigh__extra *extra = collection->context->extensions->extras[i];
        if (extra != NULL) extra->close(collection->context, collection->extras[i]);
        collection->extras[i] = NULL;
    }
}

void *nigh__collection_extra(const struct nigh_collection *collection, const struct nigh__extra *extra) {
    for (unsigned i = 0; i < NIGH__EXTRAS; i++)
        if (collection->context->extensions->extras[i] == extra) return collection->extras[i];
    return NULL;
}

static nigh_status open_state(void *user, const struct nigh__file *directory, const struct nigh__manifest *manifest,
                              const struct nigh__listing *listing, nigh_error *error) {
    struct opening opening = *(const struct opening *)user;
    nigh_collection *collection = opening.collection;
    collection->width_bits = manifest->header.width_bits;
    collection->sequence = manifest->header.sequence;
    collection->next_segment = manifest->header.next_segment;
    collection->features = manifest->header.incompatible;
    if (opening.before != NULL && opening.before->width_bits != collection->width_bits) opening.before = NULL;
    nigh_status status = open_segments(&opening, directory, manifest, listing, error);
    if (status == NIGH_OK) status = open_extras(&opening, directory, listing, error);
    if (status == NIGH_OK) return NIGH_OK;
    close_extras(collection);
    close_segments(collection);
    return status;
}

nigh_status nigh__collection_open_in(nigh_context *context, const struct nigh__file *directory, nigh_collection **out,
                                     nigh_error *error) {
    return nigh__collection_open_after(context, directory, NULL, out, error);
}

nigh_status nigh__collection_open_after(nigh_context *context, const struct nigh__file *directory,
                                        const nigh_collection *before, nigh_collection **out, nigh_error *error) {
    *out = NULL;
    nigh_collection *collection = nigh__alloc_zero(context, 1, sizeof *collection);
    if (collection == NULL) return nigh__no_memory(error, "for a collection");
    struct opening opening = {.collection = collection, .before = before};
    collection->context = context;
    collection->path = nigh__string_copy(context, directory->path);
    nigh_status status = collection->path == NULL ? nigh__no_memory(error, "for a collection")
                                                  : nigh__state_open(directory, NIGH__STORE_COLLECTION, open_state,
                                                                     &opening, &collection->damaged_manifests, error);
    if (status == NIGH_OK && before != NULL) nigh__maps_touch(collection->segments, collection->segment_count);
    if (status == NIGH_OK)
        *out = collection;
    else
        nigh_collection_close(collection);
    return status;
}

/* Who asks for proof wants to hear of lists that cannot be used, too. */
static nigh_status verify_sidecars(const struct nigh__segment *segment, struct nigh__progress *progress,
                                   nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS && status == NIGH_OK; kind++) {
        const nigh_error *problem = &segment->sidecar_problems[kind];
        if (segment->sidecars[kind] != NULL) {
            status = nigh__sidecar_check_sums(segment->sidecars[kind], progress, error);
        } else if (problem->status != NIGH_OK) {
            if (error != NULL) *error = *problem;
            status = problem->status;
        }
    }
    return status;
}

static nigh_status verify(struct nigh_collection *collection, const nigh_progress *progress, nigh_error *error) {
    struct nigh__progress state;
    nigh__progress_init(&state, progress);
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        nigh_status status = nigh__segment_check_sums(collection->segments[i], &state, error);
        if (status == NIGH_OK) status = nigh__segment_check_padding(collection->segments[i], error);
        if (status == NIGH_OK) status = verify_sidecars(collection->segments[i], &state, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

nigh_status nigh_collection_open(nigh_context *context, const char *path, const nigh_open_options *options,
                                 nigh_collection **out, nigh_error *error) {
    *out = NULL;
    nigh_open_options chosen;
    nigh_status status = nigh__options_copy(&nigh__open_options_shape, &chosen, options, error);
    if (status != NIGH_OK) return status;
    if (chosen.before != NULL && chosen.before->context != context)
        return nigh__fail(error, NIGH_EINVAL, "the state before was opened with another context");
    struct nigh__file directory;
    status = nigh__directory_open(context, path, NIGH__STORE_COLLECTION, &directory, error);
    if (status != NIGH_OK) return status;
    nigh_collection *collection = NULL;
    status = nigh__collection_open_after(context, &directory, chosen.load ? NULL : chosen.before, &collection, error);
    nigh__file_release(&directory);
    if (collection == NULL) return status;
    if (chosen.load)
        status = nigh__segments_load(context, collection->segments, collection->segment_count, chosen.progress, error);
    if (status == NIGH_OK && chosen.verify) status = verify(collection, chosen.progress, error);
    if (status == NIGH_OK)
        *out = collection;
    else
        nigh_collection_close(collection);
    return status;
}

void nigh_collection_close(nigh_collection *collection) {
    if (collection == NULL) return;
    close_extras(collection);
    if (collection->segments != NULL) close_segments(collection);
    for (uint32_t i = 0; i < collection->member_count; i++)
        nigh__free(collection->context, collection->members[i].path);
    nigh__free(collection->context, collection->members);
    nigh__free(collection->context, collection->path);
    nigh__free(collection->context, collection);
}

nigh_status nigh__collection_whole(const struct nigh_collection *collection, nigh_error *error) {
    if (collection->damaged_manifests == 0) return NIGH_OK;
    return nigh__because(error, NIGH_REASON_DAMAGED_MANIFEST,
                         nigh__fail_at(error, NIGH_ECORRUPT, collection->path, NIGH_NO_OFFSET,
                                       "the newest manifest is damaged, and writing on would lose what it lists"));
}

bool nigh__collection_has_ids(const struct nigh_collection *collection) {
    for (uint32_t i = 0; i < collection->segment_count; i++)
        if (collection->segments[i]->documents != 0) return collection->segments[i]->id_offsets != NULL;
    return false;
}

bool nigh__collection_has_weights(const struct nigh_collection *collection) {
    for (uint32_t i = 0; i < collection->segment_count; i++)
        if (collection->segments[i]->documents != 0 && collection->segments[i]->weights == NULL) return false;
    return collection->documents != 0;
}

bool nigh__collection_has_masks(const struct nigh_collection *collection) {
    for (uint32_t i = 0; i < collection->segment_count; i++)
        if (collection->segments[i]->documents != 0 && collection->segments[i]->masks == NULL) return false;
    return collection->documents != 0;
}

bool nigh__collection_has_texts(const struct nigh_collection *collection) {
    for (uint32_t i = 0; i < collection->segment_count; i++)
        if (collection->segments[i]->documents != 0 && collection->segments[i]->text_offsets == NULL) return false;
    return collection->documents != 0;
}

uint32_t nigh__collection_key_count(const struct nigh_collection *collection) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        if (segment->documents == 0) continue;
        const uint32_t here = nigh__segment_key_count(segment);
        if (here == 0 || (count != 0 && count != here)) return 0;
        count = here;
    }
    return count;
}

const struct nigh__segment *nigh__collection_keeper(const struct nigh_collection *collection,
                                                    enum nigh__attachment kind) {
    for (uint32_t i = 0; i < collection->segment_count; i++)
        if (collection->segments[i]->kept[kind] != NULL) return collection->segments[i];
    return NULL;
}

static uint64_t attachment_length(const struct nigh_collection *collection, enum nigh__attachment kind) {
    const struct nigh__segment *keeper = nigh__collection_keeper(collection, kind);
    return keeper == NULL ? 0 : keeper->sections[nigh__attachment_section(kind)].length;
}

void nigh_collection_describe(const nigh_collection *collection, nigh_collection_info *out) {
    nigh_collection_info info = {
        .documents = collection->documents,
        .sequence = collection->sequence,
        .segments = collection->segment_count,
        .width_bits = collection->width_bits,
        .has_ids = nigh__collection_has_ids(collection),
        .damaged_manifests = collection->damaged_manifests,
        .has_weights = nigh__collection_has_weights(collection),
        .has_masks = nigh__collection_has_masks(collection),
        .keep_keys = nigh__keep_keys_count(nigh_collection_scheme(collection)),
        .has_texts = nigh__collection_has_texts(collection),
        .key_count = nigh__collection_key_count(collection),
        .vocabulary_bytes = attachment_length(collection, NIGH__ATTACHMENT_VOCABULARY),
        .model_bytes = attachment_length(collection, NIGH__ATTACHMENT_MODEL),
        .deleted = collection->deleted,
    };
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        info.signatures += collection->segments[i]->signatures;
        info.bytes += collection->segments[i]->length + collection->segments[i]->deletions.file_length;
        if (collection->segments[i]->metadata_offsets != NULL) info.has_metadata = 1;
        info.text_bytes += collection->segments[i]->sections[NIGH__SECTION_TEXT_BYTES].length;
    }
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++)
        if (kind_of(collection, kind) != NULL) kind_of(collection, kind)->describe(collection, &info);
    nigh__info_copy(out, &info, sizeof info);
}

nigh_status nigh_collection_segment(const nigh_collection *collection, uint32_t segment, nigh_segment_info *out,
                                    nigh_error *error) {
    if (segment >= collection->segment_count)
        return nigh__fail(error, NIGH_EINVAL, "no segment %u; the collection has %u", segment,
                          collection->segment_count);
    const struct nigh__segment *from = collection->segments[segment];
    nigh_segment_info info = {.number = from->number,
                              .documents = from->documents,
                              .signatures = from->signatures,
                              .bytes = from->length,
                              .deleted = from->deletions.deleted};
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++)
        if (kind_of(collection, kind) != NULL) kind_of(collection, kind)->describe_segment(from, &info);
    nigh__info_copy(out, &info, sizeof info);
    return NIGH_OK;
}

const char *nigh_collection_scheme(const nigh_collection *collection) {
    return collection->segment_count == 0 ? "" : collection->segments[0]->scheme;
}

/* By halving. */
static const struct nigh__segment *segment_of(const struct nigh_collection *collection, uint64_t document,
                                              uint32_t *within) {
    uint32_t low = 0;
    uint32_t high = collection->segment_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (collection->segments[middle]->first_document <= document)
            low = middle;
        else
            high = middle;
    }
    *within = (uint32_t)(document - collection->segments[low]->first_document);
    return collection->segments[low];
}

nigh_status nigh__collection_locate(const struct nigh_collection *collection, uint64_t document,
                                    const struct nigh__segment **segment, uint32_t *within, nigh_error *error) {
    if (document >= collection->documents)
        return nigh__fail(error, NIGH_EINVAL, "no document %" PRIu64 "; the collection has %" PRIu64, document,
                          collection->documents);
    *segment = segment_of(collection, document, within);
    if (nigh__selection_has((*segment)->living, *within)) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "document %" PRIu64 " is deleted", document);
}

nigh_status nigh__collection_living(const struct nigh_collection *collection, uint64_t **out, nigh_error *error) {
    const uint64_t count = collection->documents - collection->deleted;
    *out = NULL;
    if (collection->deleted == 0) return NIGH_OK;
    uint64_t *numbers =
        count > SIZE_MAX / sizeof *numbers ? NULL : nigh__alloc(collection->context, (size_t)count, sizeof *numbers);
    if (numbers == NULL) return nigh__no_memory(error, "for the documents that are not deleted");
    size_t next = 0;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        const struct nigh__segment *segment = collection->segments[s];
        for (uint32_t document = 0; document < segment->documents && next < count; document++)
            if (nigh__selection_has(segment->living, document)) numbers[next++] = segment->first_document + document;
    }
    *out = numbers;
    return NIGH_OK;
}

int nigh_collection_lives(const nigh_collection *collection, uint64_t document) {
    uint32_t within;
    if (document >= collection->documents) return 0;
    const struct nigh__segment *segment = segment_of(collection, document, &within);
    return nigh__selection_has(segment->living, within);
}

nigh_status nigh_collection_id(const nigh_collection *collection, uint64_t document, char *buffer, size_t capacity,
                               size_t *length, nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    nigh_status status = nigh__collection_locate(collection, document, &segment, &within, error);
    if (status != NIGH_OK) return status;
    if (segment->id_offsets != NULL) return nigh__segment_id(segment, within, buffer, capacity, length, error);
    *length = (size_t)snprintf(buffer, capacity, "%" PRIu64, document);
    return NIGH_OK;
}

nigh_status nigh_collection_metadata(const nigh_collection *collection, uint64_t document, void *buffer,
                                     size_t capacity, size_t *length, nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    nigh_status status = nigh__collection_locate(collection, document, &segment, &within, error);
    if (status != NIGH_OK) return status;
    return nigh__segment_metadata(segment, within, buffer, capacity, length, error);
}

nigh_status nigh_collection_signature(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                      nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    nigh_status status = nigh__collection_locate(collection, document, &segment, &within, error);
    if (status != NIGH_OK) return status;
    return nigh__segment_signature(segment, within, out, error);
}

nigh_status nigh_collection_weights(const nigh_collection *collection, uint64_t document, uint8_t *out,
                                    nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    nigh_status status = nigh__collection_locate(collection, document, &segment, &within, error);
    if (status != NIGH_OK) return status;
    status = nigh__segment_weights(segment, within, out, error);
    if (status == NIGH_ENOTFOUND)
        return nigh__fail_at(error, status, collection->path, NIGH_NO_OFFSET,
                             "document %" PRIu64 " was added without weights", document);
    return status;
}

static nigh_status copy_text(const struct nigh__segment *segment, uint32_t within, char *buffer, size_t capacity,
                             size_t *length, nigh_error *error) {
    struct nigh__text_cache cache;
    const char *text = NULL;
    nigh__text_cache_init(&cache);
    nigh_status status = nigh__segment_text(segment, within, &cache, &text, length, error);
    const size_t part = *length < capacity ? *length : capacity;
    if (status == NIGH_OK && part > 0) memcpy(buffer, text, part);
    nigh__text_cache_release(segment->context, &cache);
    return status;
}

nigh_status nigh_collection_text(const nigh_collection *collection, uint64_t document, char *buffer, size_t capacity,
                                 size_t *length, nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    *length = 0;
    nigh_status status = nigh__collection_locate(collection, document, &segment, &within, error);
    if (status != NIGH_OK || segment == NULL) return status;
    if (segment->text_offsets == NULL)
        return nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET,
                             "document %" PRIu64 " was added without its text", document);
    return copy_text(segment, within, buffer, capacity, length, error);
}

/* Only the way we would write a number counts as its name: "07" is not 7. */
static bool parse_number(const char *text, size_t length, uint64_t *out) {
    if (length == 0 || length > 20 || (length > 1 && text[0] == '0')) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        if (__builtin_mul_overflow(value, UINT64_C(10), &value)) return false;
        if (__builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value)) return false;
    }
    *out = value;
    return true;
}

nigh_status nigh__collection_find_named(const struct nigh_collection *collection, const char *id, size_t id_length,
                                        uint64_t *document, nigh_error *error) {
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        if (segment->id_offsets == NULL) continue;
        uint32_t within;
        nigh_status status = nigh__segment_find(segment, id, id_length, &within, error);
        if (status == NIGH_ENOTFOUND || (status == NIGH_OK && !nigh__selection_has(segment->living, within))) continue;
        if (status == NIGH_OK) *document = segment->first_document + within;
        return status;
    }
    return NIGH_ENOTFOUND;
}

nigh_status nigh_collection_find(const nigh_collection *collection, const char *id, size_t id_length,
                                 uint64_t *document, nigh_error *error) {
    nigh_status status = NIGH_ENOTFOUND;
    if (nigh__collection_has_ids(collection))
        status = nigh__collection_find_named(collection, id, id_length, document, error);
    else if (parse_number(id, id_length, document) && nigh_collection_lives(collection, *document))
        status = NIGH_OK;
    if (status == NIGH_ENOTFOUND)
        return nigh__fail_at(error, status, collection->path, NIGH_NO_OFFSET, "no document '%s'",
                             nigh__shown(id, id_length).text);
    return status;
}
