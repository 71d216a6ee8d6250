/* SPDX-License-Identifier: Apache-2.0 */
/* See staged.h. */
#define _POSIX_C_SOURCE 200809L

#include "staged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "sink.h"

#define PREFIX ".nigh-new."

static bool is_file(const char *place) {
    return place != NULL && !cli_sink_is_standard_output(place) && !cli_sink_writes_through(place) &&
           cli_place_descriptor(place) < 0;
}

/* "FOLDER/NAME" as "FOLDER/.nigh-new.NAME": endings, which say how to pack, stay. */
static char *staged_name(const char *target) {
    const char *slash = strrchr(target, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash - target) + 1;
    const size_t room = strlen(target) + sizeof PREFIX;
    char *name = malloc(room);
    if (name != NULL) (void)snprintf(name, room, "%.*s" PREFIX "%s", (int)folder, target, target + folder);
    return name;
}

static bool stage(struct cli_job *job, struct cli_staged *staged) {
    char end[CLI_PATH_SIZE];
    if (!cli_place_follow(staged->path, end)) {
        cli_set_system_error(job, errno, staged->path, "open");
        return false;
    }
    staged->target = strdup(end);
    staged->temporary = staged_name(end);
    if (staged->target == NULL || staged->temporary == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    staged->path = staged->temporary;
    return true;
}

bool cli_staged_open(struct cli_job *job, const char *const *places, size_t count, struct cli_staged *out) {
    size_t files = 0;
    bool staged = true;
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct cli_staged){.path = places[i]};
        files += is_file(places[i]);
    }
    for (size_t i = 0; i < count && files > 1 && staged; i++)
        if (is_file(places[i])) staged = stage(job, &out[i]);
    return staged;
}

/* What is replaced keeps its mode; a file system without modes has none to give. */
static bool publish(struct cli_job *job, struct cli_staged *staged) {
    struct stat before;
    if (stat(staged->target, &before) == 0) (void)chmod(staged->temporary, before.st_mode & 0777);
    if (rename(staged->temporary, staged->target) != 0) {
        cli_set_system_error(job, errno, staged->target, "write");
        return false;
    }
    free(staged->temporary);
    staged->temporary = NULL;
    cli_sink_sync_folder(staged->target);
    return true;
}

bool cli_staged_publish(struct cli_job *job, struct cli_staged *staged, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (staged[i].temporary != NULL && !publish(job, &staged[i])) return false;
    return true;
}

void cli_staged_release(struct cli_staged *staged, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (staged[i].temporary != NULL) (void)unlink(staged[i].temporary);
        free(staged[i].temporary);
        free(staged[i].target);
    }
}
