/* SPDX-License-Identifier: Apache-2.0 */
/* Logs as a whole, and one after the other; log.h draws the chain. */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/directory.h"
#include "collection/header.h"
#include "collection/log.h"

/* ---------------------------------------------------------------- one log -- */

static nigh_status take_record(const struct nigh__log_reader *reader, const struct nigh__log_record *record,
                               nigh__log_take *take, void *user, nigh_error *error) {
    struct nigh__log_room room;
    nigh_document document;
    nigh_status status = nigh__log_document(reader, record, &room, &document, error);
    if (status != NIGH_OK || take == NULL) return status;
    status = take(user, &document, error);
    if (status != NIGH_EEXISTS && status != NIGH_EINVAL && status != NIGH_EMISMATCH) return status;
    return nigh__because(error, NIGH_REASON_DAMAGED_LOG, /* it was taken once */
                         nigh__fail_at(error, NIGH_ECORRUPT, reader->file.path, record->offset,
                                       "a document that cannot be in this collection"));
}

nigh_status nigh__log_each(const struct nigh__file *directory, const struct nigh__log_plan *plan, nigh__log_take *take,
                           void *user, struct nigh__logs_told *told, nigh_error *error) {
    struct nigh__log_reader reader;
    struct nigh__log_record record;
    nigh_status status = nigh__log_reader_open(directory, plan, &reader, error);
    if (status != NIGH_OK) return status;
    while (status == NIGH_OK && (status = nigh__log_next(&reader, &record, error)) == NIGH_OK) {
        status = take_record(&reader, &record, take, user, error);
        told->documents += status == NIGH_OK;
    }
    told->logs++;
    told->highest = plan->number;
    told->bytes += reader.length - reader.dropped_bytes;
    told->dropped_bytes += reader.dropped_bytes;
    told->dropped_records += reader.dropped_records;
    nigh__log_reader_release(&reader);
    return status == NIGH_END ? NIGH_OK : status;
}

/* ---------------------------------------------------------------- a chain -- */

/* Numbers of logs that are not spent, ascending; the caller releases them, also after a failure. */
static nigh_status list_logs(const struct nigh__file *directory, uint64_t next, struct nigh__array *out,
                             nigh_error *error) {
    struct nigh__listing listing;
    *out = (struct nigh__array)NIGH__ARRAY(uint64_t);
    nigh_status status = nigh__listing_read(directory, &listing, error);
    if (status != NIGH_OK) return status;
    const uint64_t *numbers = listing.logs.data;
    for (size_t i = 0; i < listing.logs.count && status == NIGH_OK; i++) {
        if (numbers[i] < next) continue;
        uint64_t *slot = nigh__array_add(directory->context, out, 1);
        if (slot == NULL)
            status = nigh__no_memory(error, "for a list of logs");
        else
            *slot = numbers[i];
    }
    nigh__listing_release(directory->context, &listing);
    return status;
}

/* With which sequence a log begins; 0: its header is not whole, so nobody was told of anything in it, or is not ours.
 */
static uint64_t first_of(const struct nigh__file *directory, const struct nigh__log_plan *plan, uint64_t number) {
    char name[NIGH__NAME_SIZE];
    struct nigh__file file;
    struct nigh__log_header header;
    uint64_t length = 0;
    nigh__log_name(name, number, "");
    if (nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, NULL) != NIGH_OK) return 0;
    const bool read = nigh__file_length(&file, &length, NULL) == NIGH_OK && length >= sizeof header &&
                      nigh__file_read(&file, 0, &header, sizeof header, NULL) == NIGH_OK;
    nigh__file_release(&file);
    if (!read || nigh__hash(&header, offsetof(struct nigh__log_header, checksum)) != header.checksum) return 0;
    const bool ours = memcmp(header.magic, NIGH__LOG_MAGIC, NIGH__MAGIC_SIZE) == 0 && header.number == number &&
                      header.scheme == plan->scheme && header.width_bits == plan->width_bits;
    return ours ? header.first : 0;
}

nigh_status nigh__logs_each(const struct nigh__file *directory, const struct nigh__log_plan *plan, nigh__log_take *take,
                            void *user, struct nigh__logs_told *told, nigh_error *error) {
    struct nigh__array numbers;
    struct nigh__log_plan next = *plan;
    *told = (struct nigh__logs_told){.logs = 0};
    nigh_status status = list_logs(directory, plan->number, &numbers, error);
    const uint64_t *number = numbers.data;
    for (size_t i = 0; i < numbers.count && status == NIGH_OK; i++) {
        next.number = number[i];
        next.first = plan->first + told->documents;
        next.end = i + 1 < numbers.count ? first_of(directory, plan, number[i + 1]) : 0;
        status = nigh__log_each(directory, &next, take, user, told, error);
    }
    nigh__array_release(directory->context, &numbers);
    return status;
}

/* -------------------------------------------------------------- repairing -- */

/* A log that is sound stays as it is; next->first moves behind it. */
static nigh_status repair_log(const struct nigh__file *directory, struct nigh__log_plan *next, bool later,
                              const struct nigh__log_losses *losses, nigh_error *error) {
    struct nigh__logs_told told = {.logs = 0};
    nigh_error problem = {.status = NIGH_OK};
    const uint64_t begins = first_of(directory, next, next->number);
    const nigh_status status = nigh__log_each(directory, next, NULL, NULL, &told, &problem);
    if (status == NIGH_OK) {
        next->first += told.documents;
        return NIGH_OK;
    }
    /* One whose `first` is another follows one that has lost documents. */
    if (status == NIGH_ECORRUPT || (later && status == NIGH_EMISMATCH && begins != 0))
        return nigh__log_repair(directory, next, begins == 0 ? next->first : begins, losses, &next->first, error);
    if (error != NULL) *error = problem;
    return status;
}

nigh_status nigh__logs_repair(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                              const struct nigh__log_losses *losses, nigh_error *error) {
    struct nigh__array numbers;
    struct nigh__log_plan next = *plan;
    nigh_status status = list_logs(directory, plan->number, &numbers, error);
    const uint64_t *number = numbers.data;
    for (size_t i = 0; i < numbers.count && status == NIGH_OK; i++) {
        next.number = number[i];
        next.end = i + 1 < numbers.count ? first_of(directory, plan, number[i + 1]) : 0;
        if (next.end < next.first) next.end = 0; /* what is before it has lost some */
        status = repair_log(directory, &next, i > 0, losses, error);
    }
    nigh__array_release(directory->context, &numbers);
    return status;
}
