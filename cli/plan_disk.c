/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how fast the disk reads, for the cost model. Some megabytes that cannot be
 * compressed are written to a file without a name and synced, and the system is told to
 * drop them from its cache. Then they are read twice, and the faster time counts, because
 * other programs may be running. This gives the speed of the file system in this folder
 * without the system's own cache. The cache of the disk, or of the host of a virtual
 * machine, may still help, and a file system in memory has nothing to drop.
 */
#define _GNU_SOURCE

#include "plan_disk.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "timing.h"

#define PIECE ((size_t)1 << 20)
#define MAX_PIECES 24u
#define MIN_PIECES 4u
#define WRITING_SECONDS 0.1 /* after these, what is written is enough */
#define READING_SECONDS 0.1 /* and there is no second time */

static int open_nameless(const char *folder) {
    char path[4096];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    int length = snprintf(path, sizeof path, "%s/nigh-plan-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) return -1;
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) (void)unlink(path);
    return file;
}

static void fill(uint64_t *words, uint64_t *state) {
    for (size_t i = 0; i < PIECE / sizeof *words; i++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        words[i] = *state;
    }
}

/* Returns how many pieces are on the disk; 0: it cannot be written to. */
static unsigned write_pieces(int file, uint64_t *words) {
    uint64_t state = 88172645463325252u;
    double started = cli_seconds();
    unsigned pieces = 0;
    while (pieces < MAX_PIECES && (pieces < MIN_PIECES || cli_seconds() - started < WRITING_SECONDS)) {
        fill(words, &state);
        if (write(file, words, PIECE) != (ssize_t)PIECE) return 0;
        pieces++;
        if (pieces % MIN_PIECES == 0 && fdatasync(file) != 0) return 0;
    }
    return fdatasync(file) == 0 ? pieces : 0;
}

/* Seconds; 0: it did not work. */
static double read_pieces(int file, uint64_t *words, unsigned pieces) {
    if (posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) return 0;
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    double started = cli_seconds();
    for (unsigned i = 0; i < pieces; i++)
        if (pread(file, words, PIECE, (off_t)(i * PIECE)) != (ssize_t)PIECE) return 0;
    return cli_seconds() - started;
}

static double speed_of(int file, uint64_t *words) {
    unsigned pieces = write_pieces(file, words);
    double seconds = pieces == 0 ? 0 : read_pieces(file, words, pieces);
    double again = seconds > 0 && seconds < READING_SECONDS ? read_pieces(file, words, pieces) : 0;
    if (again > 0 && again < seconds) seconds = again;
    return seconds > 0 ? (double)pieces * (double)PIECE / seconds : 0;
}

double plan_disk_speed(const char *folder) {
    uint64_t *words = malloc(PIECE);
    int file = words == NULL ? -1 : open_nameless(folder);
    double speed = file < 0 ? 0 : speed_of(file, words);
    if (file >= 0) (void)close(file);
    free(words);
    return speed;
}
