/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places that a command writes to, and the check that none of them is also read:
 *
 *     a link            leads to its end, there or not; the end is what counts
 *     /dev/fd/2 ...     an open descriptor, which is written to as it is
 *     a pipe, a device  is written through
 *     anything else     is replaced by a whole file, which keeps the mode of the one before
 */
#ifndef NIGH_CLI_PLACE_H
#define NIGH_CLI_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CLI_PATH_SIZE 4096 /* the system takes no longer ones */

struct cli_job; /* common.h */

/* Where a path leads when all links are followed, the last to nowhere included.  False with errno. */
bool cli_place_follow(const char *path, char end[CLI_PATH_SIZE]);

/* The descriptor that a path such as /dev/stderr or /dev/fd/3 stands for; -1: none. */
int cli_place_descriptor(const char *path);

/* The option that names a place, or a file that is read. */
struct cli_place {
    const char *option;
    const char *path; /* NULL: not given */
};

/* Each of these says what is wrong and returns false, or returns true. */

/* No two of the places, nor one of them and --stats, are one file: the later would take the place of the earlier. */
bool cli_places_differ(const struct cli_job *job, const struct cli_place *places, size_t count);

/* None of the places is one of the inputs, the operands from `first_operand` on: it would be replaced. */
bool cli_places_spare_inputs(const struct cli_job *job, const struct cli_place *places, size_t count,
                             size_t first_operand);

/* None of the places, nor --stats, is a file that an option names to be read. */
bool cli_places_spare_files(const struct cli_job *job, const struct cli_place *places, size_t count,
                            const struct cli_place *files, size_t file_count);

/* None of them is in a folder among these operands: it would be read in its turn, or be a stranger in a collection. */
bool cli_places_outside(const struct cli_job *job, const struct cli_place *places, size_t count, size_t first_operand);

/* The folders of all are there and may be written to: what will fail after the work is better told before it. */
bool cli_places_writable(struct cli_job *job, const struct cli_place *places, size_t count);

/*
 * A file that the library replaces is made anew.  Between hold and release no file
 * is made with more rights than the one at `path` has; restore gives it the rest.
 */
struct cli_mode {
    bool there;
    mode_t mode;
    mode_t mask; /* of the process, before */
};
struct cli_mode cli_mode_hold(const char *path);
void cli_mode_release(const struct cli_mode *mode);
void cli_mode_restore(const struct cli_mode *mode, const char *path);

#endif
