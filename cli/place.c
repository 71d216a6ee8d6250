/* SPDX-License-Identifier: Apache-2.0 */
/* Where paths lead, and whether an output would overwrite something that is read; see place.h. */
#define _POSIX_C_SOURCE 200809L

#include "place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

#define LINKS 40    /* as many as the system follows */
#define FOLDERS 100 /* how far up an output is followed */

/* ---------------------------------------------------------------------- paths -- */

/* By its name alone. */
static int named_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(folders[i]);
        const char *number = path + length;
        if (strncmp(path, folders[i], length) != 0 || *number == '\0' || strlen(number) > 6) continue;
        if (strspn(number, "0123456789") == strlen(number)) return (int)strtol(number, NULL, 10);
    }
    return -1;
}

/* `path` becomes what a link at it says, which is relative to its folder. */
static bool take_link(char path[CLI_PATH_SIZE], const char *target) {
    const char *slash = strrchr(path, '/');
    size_t folder = *target == '/' || slash == NULL ? 0 : (size_t)(slash - path) + 1;
    size_t length = strlen(target);
    if (length >= CLI_PATH_SIZE - folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + folder, target, length + 1);
    return true;
}

bool cli_place_follow(const char *path, char end[CLI_PATH_SIZE]) {
    struct stat status;
    char target[CLI_PATH_SIZE];
    size_t length = strlen(path);
    errno = ENAMETOOLONG;
    if (length >= CLI_PATH_SIZE) return false;
    memcpy(end, path, length + 1);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) return true;
    for (int i = 0; i < LINKS; i++) {
        if (named_descriptor(end) >= 0) return true;
        ssize_t got = readlink(end, target, sizeof target - 1);
        if (got <= 0) return true; /* no link, or not there */
        target[got] = '\0';
        if (!take_link(end, target)) return false;
    }
    errno = ELOOP;
    return false;
}

int cli_place_descriptor(const char *path) {
    char end[CLI_PATH_SIZE];
    return cli_place_follow(path, end) ? named_descriptor(end) : -1;
}

/* The folder that a new file would be in. */
static bool parent_of(const char *path, char parent[CLI_PATH_SIZE]) {
    char end[CLI_PATH_SIZE];
    if (!cli_place_follow(path, end)) return false;
    const char *slash = strrchr(end, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - end) + 1;
    memcpy(parent, end, length);
    parent[length] = '\0';
    if (length == 0) (void)snprintf(parent, CLI_PATH_SIZE, ".");
    return true;
}

/* Where a new file would be made: its directory's status, and its name there. */
static bool find_parent(const char *path, struct stat *directory, char name[CLI_PATH_SIZE]) {
    char parent[CLI_PATH_SIZE];
    char end[CLI_PATH_SIZE];
    if (!parent_of(path, parent) || !cli_place_follow(path, end)) return false;
    const char *slash = strrchr(end, '/');
    (void)snprintf(name, CLI_PATH_SIZE, "%s", slash == NULL ? end : slash + 1);
    return stat(parent, directory) == 0;
}

static bool place_status(const char *path, struct stat *out) {
    return (cli_sink_is_standard_output(path) ? fstat(STDOUT_FILENO, out) : stat(path, out)) == 0;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Devices such as /dev/null keep nothing, so that two outputs may share one. */
static bool same_place(const char *a, const char *b) {
    struct stat a_status;
    struct stat b_status;
    char a_name[CLI_PATH_SIZE];
    char b_name[CLI_PATH_SIZE];
    bool a_there = place_status(a, &a_status);
    bool b_there = place_status(b, &b_status);
    if (a_there != b_there) return false;
    if (a_there && S_ISCHR(a_status.st_mode)) return false;
    if (strcmp(a, b) == 0) return true;
    if (!a_there &&
        !(find_parent(a, &a_status, a_name) && find_parent(b, &b_status, b_name) && strcmp(a_name, b_name) == 0))
        return false;
    return same_file(&a_status, &b_status);
}

/* ------------------------------------------------------------------- each other -- */

static bool places_fit(const struct cli_job *job, struct cli_place a, struct cli_place b) {
    if (a.path == NULL || b.path == NULL) return true;
    if (cli_sink_is_standard_output(a.path) && cli_sink_is_standard_output(b.path)) {
        (void)cli_usage(job->command, "%s and %s cannot both be standard output", a.option, b.option);
        return false;
    }
    if (!same_place(a.path, b.path)) return true;
    (void)cli_usage(job->command, "%s and %s name the same file", a.option, b.option);
    return false;
}

bool cli_places_differ(const struct cli_job *job, const struct cli_place *places, size_t count) {
    const struct cli_place stats = {"--stats", job->common->stats};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++)
            if (!places_fit(job, places[i], places[j])) return false;
        if (!places_fit(job, places[i], stats)) return false;
    }
    return true;
}

/* ----------------------------------------------------------------- what is read -- */

/* Whether what is written to the place would take the place of what is read, or be read in its turn. */
static bool is_input(const char *path, const char *input) {
    struct stat output_status;
    struct stat input_status;
    if (!place_status(path, &output_status) || !S_ISREG(output_status.st_mode)) return false;
    if ((strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &input_status) : stat(input, &input_status)) != 0) return false;
    return same_file(&output_status, &input_status);
}

static bool place_spares_inputs(const struct cli_job *job, struct cli_place place, size_t first_operand) {
    for (size_t i = first_operand; place.path != NULL && i < job->operand_count; i++) {
        if (!is_input(place.path, job->operands[i])) continue;
        if (cli_sink_is_standard_output(place.path))
            (void)cli_usage(job->command, "standard output and the input '%s' are the same file", job->operands[i]);
        else
            (void)cli_usage(job->command, "%s '%s' and the input '%s' are the same file", place.option, place.path,
                            job->operands[i]);
        return false;
    }
    return true;
}

bool cli_places_spare_inputs(const struct cli_job *job, const struct cli_place *places, size_t count,
                             size_t first_operand) {
    for (size_t i = 0; i < count; i++)
        if (!place_spares_inputs(job, places[i], first_operand)) return false;
    return true;
}

static bool place_spares_files(const struct cli_job *job, struct cli_place place, const struct cli_place *files,
                               size_t count) {
    for (size_t i = 0; place.path != NULL && i < count; i++) {
        if (files[i].path == NULL || !is_input(place.path, files[i].path)) continue;
        (void)cli_usage(job->command, "%s and %s name the same file", place.option, files[i].option);
        return false;
    }
    return true;
}

bool cli_places_spare_files(const struct cli_job *job, const struct cli_place *places, size_t count,
                            const struct cli_place *files, size_t file_count) {
    const struct cli_place stats = {"--stats", job->common->stats};
    for (size_t i = 0; i < count; i++)
        if (!place_spares_files(job, places[i], files, file_count)) return false;
    return place_spares_files(job, stats, files, file_count);
}

/* Whether a file at `path` would be among those of the folder. */
static bool is_inside(const char *path, const char *folder) {
    struct stat outer;
    struct stat now;
    struct stat last = {0};
    char place[CLI_PATH_SIZE];
    if (stat(folder, &outer) != 0 || !S_ISDIR(outer.st_mode) || !parent_of(path, place)) return false;
    for (int i = 0; i < FOLDERS && stat(place, &now) == 0; i++) {
        if (same_file(&now, &outer)) return true;
        if (i > 0 && same_file(&now, &last)) return false; /* the root */
        last = now;
        size_t length = strlen(place);
        if (length + sizeof "/.." > sizeof place) return false;
        memcpy(place + length, "/..", sizeof "/..");
    }
    return false;
}

bool cli_places_outside(const struct cli_job *job, const struct cli_place *places, size_t count, size_t first_operand) {
    for (size_t i = 0; i < count; i++) {
        const char *path = places[i].path;
        if (path == NULL || cli_sink_is_standard_output(path)) continue;
        for (size_t j = first_operand; j < job->operand_count; j++) {
            if (!is_inside(path, job->operands[j])) continue;
            (void)cli_usage(job->command, "%s '%s' is in the folder '%s', which is read", places[i].option, path,
                            job->operands[j]);
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------------- writing -- */

static bool is_writable(const char *path) {
    struct stat status;
    char parent[CLI_PATH_SIZE];
    if (cli_sink_is_standard_output(path) || cli_place_descriptor(path) >= 0) return true;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return true;
    errno = *path == '\0' ? ENOENT : EISDIR;
    if (*path == '\0' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode))) return false;
    return parent_of(path, parent) && access(parent, W_OK) == 0;
}

/* A folder, there or meant. */
static bool is_folder(const char *path) {
    struct stat status;
    const size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

bool cli_places_writable(struct cli_job *job, const struct cli_place *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (places[i].path == NULL || is_writable(places[i].path)) continue;
        if (is_folder(places[i].path))
            cli_set_error(job, NIGH_EIO, places[i].path, "cannot write: this names a folder; give the name of a file");
        else
            cli_set_system_error(job, errno, places[i].path, "write");
        (void)cli_fail(job);
        return false;
    }
    return true;
}

struct cli_mode cli_mode_hold(const char *path) {
    struct cli_mode held = {0};
    struct stat status;
    held.there = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    held.mode = held.there ? status.st_mode & 0777 : 0;
    if (held.there) held.mask = umask(~held.mode & 0777);
    return held;
}

void cli_mode_release(const struct cli_mode *mode) {
    if (mode->there) (void)umask(mode->mask);
}

/* A file system without modes has none to give. */
void cli_mode_restore(const struct cli_mode *mode, const char *path) {
    if (mode->there) (void)chmod(path, mode->mode);
}
