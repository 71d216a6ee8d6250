/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several collections open as one.
 *
 *     a.nigh    segments 1 4      documents  0 .. 69        documents  0 .. 69
 *     b.nigh    segments 2        documents  0 .. 19    as  documents 70 .. 89
 *     c.nigh    segments 1 2      documents  0 .. 9         documents 90 .. 99
 *
 * A collection is a list of segments that know where their files are.  So several are one longer list, with documents
 * numbered on: whatever reads a collection reads several, and its answers, ties and proofs are those of one collection
 * with the same documents in the same order.
 */
#include "base/memory.h"
#include "base/options.h"
#include "base/status.h"
#include "collection/agreement.h"

struct together {
    nigh_context *context;
    const char *const *paths;
    nigh_collection **parts; /* owned; NULL where they are not open yet */
    size_t count;
    nigh_collection *whole;
};

static nigh_status open_parts(struct together *together, const nigh_open_options *options, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < together->count && status == NIGH_OK; i++) {
        status = nigh_collection_open(together->context, together->paths[i], options, &together->parts[i], error);
        for (size_t j = 0; j < i && status == NIGH_OK; j++)
            if (together->parts[j]->segment_count != 0 && together->parts[i]->segment_count != 0)
                status = nigh__collections_agree(together->parts[j], together->parts[i], error);
    }
    return status;
}

static nigh_status make_room(struct together *together, nigh_error *error) {
    nigh_collection *whole = nigh__alloc_zero(together->context, 1, sizeof *whole);
    uint64_t segments = 0;
    if (whole == NULL) return nigh__no_memory(error, "for a collection");
    together->whole = whole;
    whole->context = together->context;
    for (size_t i = 0; i < together->count; i++) segments += together->parts[i]->segment_count;
    if (segments > UINT32_MAX)
        return nigh__fail(error, NIGH_ELIMIT, "more than %u segments cannot be open as one", UINT32_MAX);
    whole->segments = nigh__alloc_zero(together->context, (size_t)segments, sizeof(struct nigh__segment *));
    whole->members = nigh__alloc_zero(together->context, together->count, sizeof *whole->members);
    whole->path = nigh__string_copy(together->context, together->paths[0]);
    if (whole->segments == NULL || whole->members == NULL || whole->path == NULL)
        return nigh__no_memory(error, "for a collection");
    return NIGH_OK;
}

/* The segments of `part` are the next of the whole; it keeps none. */
static void move_segments(nigh_collection *whole, nigh_collection *part) {
    for (uint32_t i = 0; i < part->segment_count; i++) {
        struct nigh__segment *segment = part->segments[i];
        segment->first_document = whole->documents;
        segment->index = whole->segment_count;
        whole->documents += segment->documents;
        whole->segments[whole->segment_count++] = segment;
    }
    whole->width_bits = part->segment_count != 0 || whole->width_bits == 0 ? part->width_bits : whole->width_bits;
    whole->deleted += part->deleted;
    whole->sequence += part->sequence;
    whole->damaged_manifests += part->damaged_manifests;
    whole->features |= part->features;
    part->segment_count = 0;
}

static nigh_status put_together(struct together *together, nigh_error *error) {
    nigh_collection *whole = together->whole;
    for (size_t i = 0; i < together->count; i++) {
        struct nigh__member *member = &whole->members[whole->member_count];
        member->path = nigh__string_copy(together->context, together->paths[i]);
        member->first_document = whole->documents;
        if (member->path == NULL) return nigh__no_memory(error, "for a collection");
        whole->member_count++;
        move_segments(whole, together->parts[i]);
    }
    return nigh__collection_fresh_extras(whole, error);
}

nigh_status nigh_collection_open_together(nigh_context *context, const char *const *paths, size_t count,
                                          const nigh_open_options *options, nigh_collection **out, nigh_error *error) {
    struct together together = {.context = context, .paths = paths, .count = count};
    *out = NULL;
    if (count == 0 || count > UINT32_MAX)
        return nigh__fail(error, NIGH_EINVAL, "%zu collections to open as one; at least 1 is needed", count);
    if (count == 1) return nigh_collection_open(context, paths[0], options, out, error);
    together.parts = nigh__alloc_zero(context, count, sizeof(nigh_collection *));
    nigh_status status = together.parts == NULL ? nigh__no_memory(error, "for a list of collections")
                                                : open_parts(&together, options, error);
    if (status == NIGH_OK) status = make_room(&together, error);
    if (status == NIGH_OK) status = put_together(&together, error);
    for (size_t i = 0; together.parts != NULL && i < count; i++) nigh_collection_close(together.parts[i]);
    nigh__free(context, (void *)together.parts);
    if (status == NIGH_OK)
        *out = together.whole;
    else
        nigh_collection_close(together.whole);
    return status;
}

/* The last member that begins no later; empty ones begin where the next does. */
static uint32_t member_of(const nigh_collection *collection, uint64_t document) {
    uint32_t low = 0;
    uint32_t high = collection->member_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (collection->members[middle].first_document <= document)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static nigh_member describe_member(const nigh_collection *collection, uint64_t document) {
    nigh_member member = {.size = sizeof member, .path = collection->path, .documents = collection->documents};
    if (collection->member_count == 0) return member;
    const uint32_t number = member_of(collection, document);
    const uint64_t end =
        number + 1 < collection->member_count ? collection->members[number + 1].first_document : collection->documents;
    member.number = number;
    member.path = collection->members[number].path;
    member.first_document = collection->members[number].first_document;
    member.documents = end - member.first_document;
    return member;
}

nigh_status nigh_collection_member(const nigh_collection *collection, uint64_t document, nigh_member *out,
                                   nigh_error *error) {
    if (document >= collection->documents) return nigh__fail(error, NIGH_EINVAL, "there is no document of this number");
    const nigh_member member = describe_member(collection, document);
    nigh__info_copy(out, &member, sizeof member);
    return NIGH_OK;
}
