/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The table of files has no question for the age of a file; where it is not the system's, all prints are 0. */
#include "document/ledger.h"

#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/status.h"

void nigh__ledger_init(const nigh_context *context, struct nigh__ledger *out) {
    *out = (struct nigh__ledger){
        .context = context, .files = NIGH__ARRAY(uint64_t), .lost = NIGH__ARRAY(uint64_t), .first = true};
    pthread_mutex_init(&out->lock, NULL);
}

void nigh__ledger_release(struct nigh__ledger *ledger) {
    nigh__array_release(ledger->context, &ledger->files);
    nigh__array_release(ledger->context, &ledger->lost);
    pthread_mutex_destroy(&ledger->lock);
}

uint64_t nigh__ledger_print(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    const uint64_t words[] = {(uint64_t)status.st_dev, (uint64_t)status.st_ino, (uint64_t)status.st_size,
                              (uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec};
    return nigh__hash_seeded(path, strlen(path), nigh__hash(words, sizeof words));
}

nigh_status nigh__ledger_changed(const char *path, nigh_error *error) {
    (void)nigh__fail_at(error, NIGH_ECORRUPT, path, NIGH_NO_OFFSET, "changed while it was being read");
    return NIGH_ECORRUPT;
}

nigh_status nigh__ledger_file(struct nigh__ledger *ledger, size_t index, const char *path, uint64_t print,
                              nigh_error *error) {
    if (index < ledger->files.count) {
        const bool same = ((const uint64_t *)ledger->files.data)[index] == print;
        ledger->changed = ledger->changed || !same;
        return same ? NIGH_OK : nigh__ledger_changed(path, error);
    }
    uint64_t *place = nigh__array_add(ledger->context, &ledger->files, 1);
    if (place == NULL) return nigh__no_memory(error, "to list files");
    *place = print;
    return NIGH_OK;
}

nigh_status nigh__ledger_lose(struct nigh__ledger *ledger, uint64_t number, nigh_error *error) {
    if (ledger == NULL || !ledger->first) return NIGH_OK;
    pthread_mutex_lock(&ledger->lock);
    uint64_t *place = nigh__array_add(ledger->context, &ledger->lost, 1);
    if (place != NULL) *place = number;
    pthread_mutex_unlock(&ledger->lock);
    return place != NULL ? NIGH_OK : nigh__no_memory(error, "to list what is lost");
}

uint64_t nigh__ledger_lost(const struct nigh__ledger *ledger, uint64_t end) {
    const uint64_t *numbers = ledger->lost.data;
    uint64_t count = 0;
    for (size_t i = 0; i < ledger->lost.count; i++) count += numbers[i] < end;
    return count;
}
