/* SPDX-License-Identifier: Apache-2.0 */
/* dedup/crowd_lists.h says how near two documents must be, and what makes a crowd. */
#include "stages/bucket_stream.h"

#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "dedup/candidates.h"

nigh_status nigh__bucket_stream_begin(struct nigh__bucket_stream *stream, const nigh_dedup *dedup, nigh_error *error) {
    stream->context = dedup->context;
    stream->radius = nigh__crowd_find_radius(dedup->options.threshold);
    stream->most = nigh__smaller(dedup->options.bucket_budget, NIGH__CROWD_MEMBERS);
    stream->recent = nigh__alloc_table(stream->context, (size_t)2 << NIGH__STREAM_RECENT_BITS, sizeof *stream->recent);
    return stream->recent == NULL ? nigh__no_memory(error, "to find candidates") : NIGH_OK;
}

void nigh__bucket_stream_release(struct nigh__bucket_stream *stream) {
    if (stream->context != NULL) nigh__free(stream->context, stream->recent);
}

static nigh_status give_pair(struct nigh__bucket_stream *stream, uint64_t a, uint64_t b, nigh_error *error) {
    const uint64_t pair[2] = {a < b ? a : b, a < b ? b : a};
    const uint64_t both = nigh__mix(pair[0]) + pair[1];
    uint64_t *recent = &stream->recent[(nigh__mix(both) >> (64 - NIGH__STREAM_RECENT_BITS)) * 2];
    if (recent[0] == pair[0] && recent[1] == pair[1]) return NIGH_OK;
    memcpy(recent, pair, sizeof pair);
    return stream->take_pair(stream->user, pair, error);
}

static bool are_near(const struct nigh__bucket_stream *stream, size_t a, size_t b, uint32_t distance) {
    return distance <= stream->radius &&
           (stream->least == 0 || nigh__lengths_fit(stream->least, stream->features[a], stream->features[b]));
}

static nigh_status compare_all(struct nigh__bucket_stream *stream, nigh_error *error) {
    const struct nigh__hamming *hamming = stream->context->hamming;
    const size_t words = NIGH__STREAM_ROW_WORDS;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i + 1 < stream->members; i++) {
        const uint64_t *row = stream->rows + i * words;
        const size_t others = (size_t)stream->members - i - 1;
        if (hamming->rows(row, row + words, others, words, stream->distances) > stream->radius) continue;
        for (size_t j = 0; status == NIGH_OK && j < others; j++)
            if (are_near(stream, i, i + 1 + j, stream->distances[j]))
                status = give_pair(stream, stream->ids[i], stream->ids[i + 1 + j], error);
    }
    return status;
}

static nigh_status give_member(const struct nigh__bucket_stream *stream, uint64_t id, nigh_error *error) {
    return stream->take_member(stream->user, stream->crowds, stream->bucket, id, error);
}

nigh_status nigh__bucket_stream_end(struct nigh__bucket_stream *stream, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (stream->members > stream->most)
        stream->crowds++;
    else
        status = compare_all(stream, error);
    stream->members = 0;
    return status;
}

static nigh_status add_member(struct nigh__bucket_stream *stream, const struct nigh__bucket_member *member,
                              nigh_error *error) {
    const uint64_t place = stream->members++;
    if (place > stream->most) return give_member(stream, member->id, error);
    stream->ids[place] = member->id;
    stream->features[place] = member->features;
    memcpy(stream->rows + place * NIGH__STREAM_ROW_WORDS, member->row, NIGH__STREAM_ROW_WORDS * sizeof *member->row);
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && place == stream->most && i <= place; i++) /* now it is a crowd */
        status = give_member(stream, stream->ids[i], error);
    return status;
}

static bool is_of_bucket(const struct nigh__bucket_stream *stream, const struct nigh__bucket_member *member) {
    return stream->members > 0 && member->bucket == stream->bucket && (stream->low == 0 || member->low == stream->low);
}

nigh_status nigh__bucket_stream_add(struct nigh__bucket_stream *stream, const struct nigh__bucket_member *member,
                                    nigh_error *error) {
    if (!is_of_bucket(stream, member)) {
        nigh_status status = nigh__bucket_stream_end(stream, error);
        if (status != NIGH_OK) return status;
        stream->bucket = member->bucket;
        stream->low = member->low;
    }
    return add_member(stream, member, error);
}
