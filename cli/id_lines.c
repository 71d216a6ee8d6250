/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "id_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"

static nigh_status take_lines(struct cli_job *job, FILE *file, const char *name,
                              nigh_status (*take)(void *user, const char *id, size_t length), void *user) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    nigh_status status = NIGH_OK;
    errno = 0;
    while (status == NIGH_OK && (length = getline(&line, &room, file)) >= 0) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) length--;
        if (length > 0) status = take(user, line, nigh_unescape(line, (size_t)length, line));
        if (cli_interrupted() != 0) status = NIGH_ECANCELLED;
        errno = 0;
    }
    if (status == NIGH_OK && (ferror(file) != 0 || errno != 0)) {
        cli_set_system_error(job, errno == 0 ? EIO : errno, name, "read");
        status = NIGH_EIO;
    }
    free(line);
    return status;
}

nigh_status cli_id_lines(struct cli_job *job, const char *path,
                         nigh_status (*take)(void *user, const char *id, size_t length), void *user) {
    if (strcmp(path, "-") == 0) return take_lines(job, stdin, "standard input", take, user);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        cli_set_system_error(job, errno, path, "open");
        return NIGH_EIO;
    }
    const nigh_status status = take_lines(job, file, path, take, user);
    (void)fclose(file);
    return status;
}
