/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Lists that outlive a command that is killed; pending.h says how.  "LIST.pending" is text: a
 * line that says so, the id of a document that was added, in hex, "-" for none; then a line for
 * each list that is or will be there, "LIST BYTES HASH CARRIED".
 */
#include "pending.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TITLE "nigh pending list 1\n"
#define CHUNK ((size_t)64 << 10)
#define LINE_SIZE (64 + 2 * ((size_t)NIGH_MAX_ID_LENGTH + 1))

/* ------------------------------------------------------------------ hashing -- */

/* FNV-1a, of at most `most` bytes of a file; *bytes is how many there were.  False: it cannot be read. */
static bool hash_file(const char *path, uint64_t most, uint64_t *hash, uint64_t *bytes) {
    FILE *file = fopen(path, "rb");
    unsigned char *chunk = malloc(CHUNK);
    bool good = file != NULL && chunk != NULL;
    *hash = UINT64_C(0xcbf29ce484222325);
    *bytes = 0;
    while (good && *bytes < most) {
        const size_t wanted = most - *bytes < CHUNK ? (size_t)(most - *bytes) : CHUNK;
        const size_t count = fread(chunk, 1, wanted, file);
        for (size_t i = 0; i < count; i++) *hash = (*hash ^ chunk[i]) * UINT64_C(0x100000001b3);
        *bytes += count;
        good = !ferror(file);
        if (count == 0) break;
    }
    if (file != NULL) (void)fclose(file);
    free(chunk);
    return good;
}

/* ------------------------------------------------------------------ reading -- */

static int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Puts the bytes of a line in hex in place of it; returns how many, 0 where it is something else. */
static size_t unhex(char *line) {
    const size_t length = strcspn(line, "\n") / 2;
    for (size_t i = 0; i < length; i++) {
        const int high = hex_value(line[2 * i]);
        const int low = hex_value(line[2 * i + 1]);
        if (high < 0 || low < 0) return 0;
        line[i] = (char)(unsigned char)(high * 16 + low);
    }
    return length;
}

/* Whether the list that is there is the one of the entry. */
static bool is_there(const char *path, const struct cli_pending_entry *entry) {
    struct stat status;
    uint64_t hash = 0;
    uint64_t bytes = 0;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || (uint64_t)status.st_size != entry->bytes) return false;
    return hash_file(path, entry->bytes, &hash, &bytes) && bytes == entry->bytes && hash == entry->hash;
}

/* Takes a line where it is of the list that is there. */
static void take_entry(struct cli_pending *pending, char *line, bool committed) {
    struct cli_pending_entry entry;
    char *end = line;
    const unsigned long list = strtoul(end, &end, 10);
    entry.bytes = strtoull(end, &end, 10);
    entry.hash = strtoull(end, &end, 16);
    entry.carried = strtoull(end, &end, 10);
    if (*end != '\n' || entry.carried > entry.bytes || list >= CLI_PENDING_LISTS) return;
    struct cli_pending_list *found = &pending->lists[list];
    if (found->path == NULL || found->entries[0].hash != 0 || !is_there(found->path, &entry)) return;
    found->entries[0] = entry;
    found->carried = committed ? entry.bytes : entry.carried;
}

/* Without an id nothing was added, and what was carried was committed before. */
static bool is_committed(const nigh_collection *collection, char *line) {
    uint64_t document = 0;
    nigh_error error;
    if (line[0] == '-') return true;
    const size_t length = unhex(line);
    return length > 0 && collection != NULL &&
           nigh_collection_find(collection, line, length, &document, &error) == NIGH_OK;
}

static void read_file(struct cli_pending *pending, const nigh_collection *collection) {
    FILE *file = fopen(pending->name, "r");
    char *line = malloc(LINE_SIZE);
    if (file != NULL && line != NULL && fgets(line, (int)LINE_SIZE, file) != NULL && strcmp(line, TITLE) == 0 &&
        fgets(line, (int)LINE_SIZE, file) != NULL) {
        const bool committed = is_committed(collection, line);
        while (fgets(line, (int)LINE_SIZE, file) != NULL) take_entry(pending, line, committed);
    }
    if (file != NULL) (void)fclose(file);
    free(line);
}

static bool can_replace(const char *path) {
    return path != NULL && !cli_sink_is_standard_output(path) && !cli_sink_writes_through(path);
}

bool cli_pending_look(struct cli_job *job, const char *const paths[CLI_PENDING_LISTS],
                      const nigh_collection *collection, struct cli_pending *out) {
    const char *first = NULL;
    *out = (struct cli_pending){.name = NULL};
    for (size_t i = CLI_PENDING_LISTS; i-- > 0;) {
        if (!can_replace(paths[i])) continue;
        first = out->lists[i].path = paths[i];
    }
    if (first == NULL) return true;
    const size_t size = strlen(first) + sizeof ".pending";
    out->name = malloc(size);
    if (out->name == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    (void)snprintf(out->name, size, "%s.pending", first);
    read_file(out, collection);
    if (out->lists[0].carried + out->lists[1].carried > 0)
        cli_error(job, "'%s' was left by an interrupted run; what it lists was added, and is listed again", first);
    return true;
}

void cli_pending_release(struct cli_pending *pending) {
    free(pending->name);
    pending->name = NULL;
}

bool cli_pending_carry(struct cli_job *job, const struct cli_pending_list *list, struct cli_sink *sink) {
    if (list->carried == 0) return true;
    FILE *file = fopen(list->path, "rb");
    char *chunk = malloc(CHUNK);
    bool good = file != NULL && chunk != NULL;
    for (uint64_t left = list->carried; good && left > 0;) {
        const size_t count = fread(chunk, 1, left < CHUNK ? (size_t)left : CHUNK, file);
        cli_sink_bytes(sink, chunk, count);
        left -= count;
        good = count > 0;
    }
    if (file != NULL) (void)fclose(file);
    free(chunk);
    if (!good) cli_set_system_error(job, errno == 0 ? EIO : errno, list->path, "read");
    return good;
}

/* ------------------------------------------------------------------ writing -- */

static void put_lines(struct cli_sink *sink, const struct cli_pending *pending, const char *id, size_t id_length) {
    cli_sink_text(sink, TITLE);
    for (size_t i = 0; id != NULL && i < id_length; i++) cli_sink_format(sink, "%02x", (unsigned)(unsigned char)id[i]);
    cli_sink_text(sink, id == NULL ? "-\n" : "\n");
    for (size_t i = 0; i < CLI_PENDING_LISTS; i++)
        for (size_t k = 0; k < CLI_PENDING_ENTRIES; k++) {
            const struct cli_pending_entry *entry = &pending->lists[i].entries[k];
            if (entry->hash != 0)
                cli_sink_format(sink, "%zu %" PRIu64 " %016" PRIx64 " %" PRIu64 "\n", i, entry->bytes, entry->hash,
                                entry->carried);
        }
}

static bool write_file(struct cli_job *job, const struct cli_pending *pending, const char *id, size_t id_length) {
    struct cli_sink *sink = malloc(sizeof *sink);
    if (sink == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    bool good = cli_sink_open(sink, pending->name);
    if (good) {
        put_lines(sink, pending, id, id_length);
        good = cli_sink_finish(sink);
    }
    if (!good) cli_set_system_error(job, sink->error, pending->name, "write");
    free(sink);
    return good;
}

bool cli_pending_write(struct cli_job *job, struct cli_pending *pending,
                       const char *const temporaries[CLI_PENDING_LISTS], const char *id, size_t id_length) {
    if (pending->name == NULL) return true;
    for (size_t i = 0; i < CLI_PENDING_LISTS; i++) {
        struct cli_pending_entry *next = &pending->lists[i].entries[1];
        if (pending->lists[i].path == NULL || temporaries[i] == NULL) continue;
        next->carried = pending->lists[i].carried;
        if (hash_file(temporaries[i], UINT64_MAX, &next->hash, &next->bytes)) continue;
        cli_set_system_error(job, errno == 0 ? EIO : errno, temporaries[i], "read");
        return false;
    }
    return write_file(job, pending, id, id_length);
}

void cli_pending_end(struct cli_pending *pending) {
    if (pending->name == NULL) return;
    (void)unlink(pending->name);
}
