/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Lists that outlive a command that is killed; pending.h says how.  "LIST.pending" is text:
 * a line that says so, then one for each list, "BYTES HASH CARRIED ID", the id in hex.
 */
#include "pending.h"

#include <errno.h>
#include <fcntl.h>
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

/* The id of a line, in hex; "-" for none.  False where it is none of these. */
static bool read_id(const char *hex, struct cli_pending_entry *entry) {
    const size_t length = strcspn(hex, "\n") / 2;
    if (hex[0] == '-') return true;
    if (length == 0 || length > NIGH_MAX_ID_LENGTH) return false;
    entry->id = malloc(length);
    if (entry->id == NULL) return false;
    for (size_t i = 0; i < length; i++) {
        const int high = hex_value(hex[2 * i]);
        const int low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        entry->id[i] = (char)(unsigned char)(high * 16 + low);
    }
    entry->id_length = length;
    return true;
}

static bool read_entry(char *line, struct cli_pending_entry *entry) {
    char *end = line;
    entry->bytes = strtoull(end, &end, 10);
    entry->hash = strtoull(end, &end, 16);
    entry->carried = strtoull(end, &end, 10);
    if (*end != ' ' || entry->carried > entry->bytes) return false;
    return read_id(end + 1, entry);
}

static void forget_entry(struct cli_pending_entry *entry) {
    free(entry->id);
    *entry = (struct cli_pending_entry){.id = NULL};
}

/* How many entries the file has; what is damaged has none. */
static size_t read_entries(const char *name, struct cli_pending_entry *entries) {
    FILE *file = fopen(name, "r");
    char *line = malloc(LINE_SIZE);
    size_t count = 0;
    if (file != NULL && line != NULL && fgets(line, (int)LINE_SIZE, file) != NULL && strcmp(line, TITLE) == 0)
        while (count < CLI_PENDING_ENTRIES && fgets(line, (int)LINE_SIZE, file) != NULL &&
               read_entry(line, &entries[count]))
            count++;
    if (file != NULL) (void)fclose(file);
    free(line);
    return count;
}

/* Whether the list that is there is the one of the entry. */
static bool is_there(const char *path, const struct cli_pending_entry *entry) {
    struct stat status;
    uint64_t hash = 0;
    uint64_t bytes = 0;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || (uint64_t)status.st_size != entry->bytes) return false;
    return hash_file(path, entry->bytes, &hash, &bytes) && bytes == entry->bytes && hash == entry->hash;
}

static bool is_committed(const nigh_collection *collection, const struct cli_pending_entry *entry) {
    uint64_t document = 0;
    nigh_error error;
    if (entry->id == NULL) return true; /* it added nothing itself, and what it carried was committed before */
    return collection != NULL &&
           nigh_collection_find(collection, entry->id, entry->id_length, &document, &error) == NIGH_OK;
}

bool cli_pending_look(struct cli_job *job, const char *path, const nigh_collection *collection,
                      struct cli_pending *out) {
    struct cli_pending_entry found[CLI_PENDING_ENTRIES] = {{.id = NULL}, {.id = NULL}};
    *out = (struct cli_pending){.path = path};
    if (path == NULL || cli_sink_is_standard_output(path) || cli_sink_writes_through(path)) {
        out->path = NULL;
        return true;
    }
    const size_t size = strlen(path) + sizeof ".pending";
    out->name = malloc(size);
    if (out->name == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    (void)snprintf(out->name, size, "%s.pending", path);
    const size_t count = read_entries(out->name, found);
    for (size_t i = 0; i < CLI_PENDING_ENTRIES; i++) {
        if (i >= count || out->entries[0].bytes > 0 || !is_there(path, &found[i])) {
            forget_entry(&found[i]);
            continue;
        }
        out->entries[0] = found[i];
        out->carried = is_committed(collection, &found[i]) ? found[i].bytes : found[i].carried;
    }
    if (out->carried > 0)
        cli_error(job,
                  "'%s' is of a run that was ended before it could say so; what it lists was added, and is "
                  "listed again",
                  path);
    return true;
}

void cli_pending_release(struct cli_pending *pending) {
    for (size_t i = 0; i < CLI_PENDING_ENTRIES; i++) forget_entry(&pending->entries[i]);
    free(pending->name);
    pending->name = NULL;
}

bool cli_pending_carry(struct cli_job *job, const struct cli_pending *pending, struct cli_sink *sink) {
    if (pending->carried == 0) return true;
    FILE *file = fopen(pending->path, "rb");
    char *chunk = malloc(CHUNK);
    bool good = file != NULL && chunk != NULL;
    for (uint64_t left = pending->carried; good && left > 0;) {
        const size_t count = fread(chunk, 1, left < CHUNK ? (size_t)left : CHUNK, file);
        cli_sink_bytes(sink, chunk, count);
        left -= count;
        good = count > 0;
    }
    if (file != NULL) (void)fclose(file);
    free(chunk);
    if (!good) cli_set_system_error(job, errno == 0 ? EIO : errno, pending->path, "read");
    return good;
}

/* ------------------------------------------------------------------ writing -- */

static void put_entry(FILE *file, const struct cli_pending_entry *entry) {
    (void)fprintf(file, "%" PRIu64 " %016" PRIx64 " %" PRIu64 " ", entry->bytes, entry->hash, entry->carried);
    for (size_t i = 0; i < entry->id_length; i++) (void)fprintf(file, "%02x", (unsigned)(unsigned char)entry->id[i]);
    (void)fputs(entry->id == NULL ? "-\n" : "\n", file);
}

/* The directory of a path, so that names in it are on the disk. */
static void sync_directory(const char *path) {
    char *copy = strdup(path);
    char *slash = copy == NULL ? NULL : strrchr(copy, '/');
    if (slash != NULL) slash[slash == copy] = '\0';
    const int descriptor = open(slash == NULL ? "." : copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        (void)close(descriptor);
    }
    free(copy);
}

static bool write_entries(struct cli_job *job, const struct cli_pending *pending) {
    struct cli_sink *sink = malloc(sizeof *sink);
    bool good = sink != NULL && cli_sink_open(sink, pending->name);
    char *text = NULL;
    size_t length = 0;
    FILE *file = good ? open_memstream(&text, &length) : NULL;
    if (file != NULL) {
        (void)fputs(TITLE, file);
        for (size_t i = 0; i < CLI_PENDING_ENTRIES; i++)
            if (pending->entries[i].bytes > 0) put_entry(file, &pending->entries[i]);
        (void)fclose(file);
        cli_sink_bytes(sink, text, length);
        good = cli_sink_finish(sink);
    }
    if (!good || file == NULL)
        cli_set_system_error(job, sink == NULL || sink->error == 0 ? ENOMEM : sink->error, pending->name, "write");
    free(text);
    free(sink);
    sync_directory(pending->name);
    return good && file != NULL;
}

bool cli_pending_write(struct cli_job *job, struct cli_pending *pending, const char *temporary, const char *id,
                       size_t id_length) {
    struct cli_pending_entry *next = &pending->entries[1];
    if (pending->path == NULL || temporary == NULL) return true;
    if (!hash_file(temporary, UINT64_MAX, &next->hash, &next->bytes)) {
        cli_set_system_error(job, errno == 0 ? EIO : errno, temporary, "read");
        return false;
    }
    next->carried = pending->carried;
    next->id = id == NULL ? NULL : malloc(id_length);
    next->id_length = next->id == NULL ? 0 : id_length;
    if (next->id != NULL) memcpy(next->id, id, id_length);
    return (id == NULL) == (next->id == NULL) && write_entries(job, pending);
}

void cli_pending_end(struct cli_pending *pending) {
    if (pending->path == NULL || pending->name == NULL) return;
    sync_directory(pending->name);
    (void)unlink(pending->name);
}
