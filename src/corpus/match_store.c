/* SPDX-License-Identifier: Apache-2.0 */
#include "corpus/match_store.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"

#define MIN_ROOM 4096u /* matches */

nigh_status nigh__match_store_init(const nigh_context *context, const char *temporary, uint64_t memory_bytes,
                                   size_t lists, struct nigh__match_store *store, nigh_error *error) {
    const uint64_t room = memory_bytes / sizeof(nigh_match) / 2; /* the array doubles */
    *store = (struct nigh__match_store){.context = context,
                                        .temporary = temporary == NULL ? "/tmp" : temporary,
                                        .room = room < MIN_ROOM ? MIN_ROOM : (size_t)room,
                                        .tail = NIGH__ARRAY(nigh_match),
                                        .loaded = NIGH__ARRAY(nigh_match),
                                        .lists = lists};
    store->ends = nigh__alloc_zero(context, lists, sizeof *store->ends);
    if (store->ends != NULL) return NIGH_OK;
    store->lists = 0;
    return nigh__no_memory(error, "for matches");
}

void nigh__match_store_release(struct nigh__match_store *store) {
    if (store->context == NULL) return;
    nigh__array_release(store->context, &store->tail);
    nigh__array_release(store->context, &store->loaded);
    nigh__free(store->context, store->ends);
    nigh__free(store->context, store->list_of);
    nigh__file_release(&store->file);
    *store = (struct nigh__match_store){.context = NULL};
}

/* ---------------------------------------------------------------------- adding */

static nigh_status spill(struct nigh__match_store *store, nigh_error *error) {
    nigh_status status =
        store->file.open ? NIGH_OK : nigh__file_open_nameless(store->context, store->temporary, &store->file, error);
    if (status == NIGH_OK)
        status = nigh__file_write(&store->file, store->in_file * sizeof(nigh_match), store->tail.data,
                                  store->tail.count * sizeof(nigh_match), error);
    if (status != NIGH_OK) return status;
    store->in_file += store->tail.count;
    store->tail.count = 0;
    return NIGH_OK;
}

/* The lists before this one have ended. */
static void begin_list(struct nigh__match_store *store, size_t list) {
    NIGH__ASSERT(list < store->lists && list + 1 >= store->begun);
    for (; store->begun <= list; store->begun++)
        store->ends[store->begun] = store->begun == 0 ? 0 : store->ends[store->begun - 1];
}

nigh_status nigh__match_store_add(struct nigh__match_store *store, size_t list, const nigh_match *matches, size_t count,
                                  nigh_error *error) {
    begin_list(store, list);
    while (count > 0) {
        const size_t some = nigh__smaller(count, store->room - store->tail.count);
        nigh_match *kept = nigh__array_add(store->context, &store->tail, some);
        if (kept == NULL) return nigh__no_memory(error, "for matches");
        memcpy(kept, matches, some * sizeof *kept);
        store->ends[list] += some;
        matches += some;
        count -= some;
        const nigh_status status = store->tail.count == store->room ? spill(store, error) : NIGH_OK;
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

void nigh__match_store_end(struct nigh__match_store *store) {
    if (store->lists > 0) begin_list(store, store->lists - 1);
}

/* --------------------------------------------------------------------- getting */

static size_t list_of(const struct nigh__match_store *store, size_t index) {
    return store->list_of == NULL ? index : store->list_of[index];
}

static uint64_t begin_of(const struct nigh__match_store *store, size_t list) {
    return list == 0 ? 0 : store->ends[list - 1];
}

size_t nigh__match_store_count(const struct nigh__match_store *store, size_t index) {
    if (store->ends == NULL) return 0;
    const size_t list = list_of(store, index);
    return (size_t)(store->ends[list] - begin_of(store, list));
}

/* What of a list is in the file, and then what is in memory. */
static nigh_status load(struct nigh__match_store *store, uint64_t begin, size_t count, nigh_error *error) {
    const size_t read = store->in_file - begin < count ? (size_t)(store->in_file - begin) : count;
    store->loaded.count = 0;
    nigh_match *loaded = nigh__array_add(store->context, &store->loaded, count);
    if (loaded == NULL) return nigh__no_memory(error, "for matches");
    const nigh_match *tail = store->tail.data;
    if (read < count) memcpy(loaded + read, tail, (count - read) * sizeof *loaded);
    return nigh__file_read(&store->file, begin * sizeof *loaded, loaded, read * sizeof *loaded, error);
}

nigh_status nigh__match_store_get(struct nigh__match_store *store, size_t index, const nigh_match **out, size_t *count,
                                  nigh_error *error) {
    *out = NULL;
    *count = nigh__match_store_count(store, index);
    if (*count == 0) return NIGH_OK;
    const uint64_t begin = begin_of(store, list_of(store, index));
    if (begin >= store->in_file) {
        *out = (const nigh_match *)store->tail.data + (begin - store->in_file);
        return NIGH_OK;
    }
    const nigh_status status = load(store, begin, *count, error);
    *out = status == NIGH_OK ? store->loaded.data : NULL;
    return status;
}
