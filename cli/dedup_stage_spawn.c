/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Tasks in processes of their own: this tool again, told the stage and the shard.  A task that fails says why itself;
 * those that run beside it are waited for, for what they do is not in vain.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "amount.h"
#include "dedup_stages.h"
#include "signals.h"

#define SELF "/proc/self/exe"
#define MAX_WORDS 20

/* A number as an argument. */
struct number {
    char text[32];
};

static struct number number(uint64_t value) {
    struct number made;
    (void)snprintf(made.text, sizeof made.text, "%llu", (unsigned long long)value);
    return made;
}

static uint64_t share(uint64_t all, uint64_t processes) {
    return processes > 0 && all / processes > 0 ? all / processes : 1;
}

static int spawn(struct cli_job *job, const nigh_staged *staged, nigh_stage stage, uint32_t shard, pid_t *child) {
    const struct dedup_values *values = job->values;
    const uint64_t processes = values->processes.value;
    const struct number threads = number(share(job->threads, processes));
    uint64_t bytes = 0;
    char task[32];
    if (!cli_amount_bytes(job, "--memory", values->memory, &bytes)) return EINVAL;
    const struct number memory = number(share(bytes, processes));
    (void)snprintf(task, sizeof task, "%u/%u", shard, nigh_staged_tasks(staged, stage));
    const char *words[MAX_WORDS] = {"nigh",    "dedup", "--work",    values->work, "--stage", nigh_stage_name(stage),
                                    "--shard", task,    "--threads", threads.text, "--quiet"};
    size_t count = 11;
    if (values->memory != NULL) {
        words[count++] = "--memory";
        words[count++] = memory.text;
    }
    if (values->temporary != NULL) {
        words[count++] = "--temporary";
        words[count++] = values->temporary;
    }
    char *arguments[MAX_WORDS];
    for (size_t i = 0; i < MAX_WORDS; i++)
        memcpy(&arguments[i], &words[i], sizeof arguments[i]); /* they are not written to */
    return posix_spawn(child, SELF, NULL, NULL, arguments, environ);
}

/* Waits for one of them; true where it did what it should. */
static bool wait_one(struct cli_job *job, nigh_stage stage) {
    int status = 0;
    pid_t child;
    do child = waitpid(-1, &status, 0);
    while (child < 0 && errno == EINTR);
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (child > 0 && WIFSIGNALED(status))
        cli_error(job, "a task of stage %s was ended by signal %d; run it again", nigh_stage_name(stage),
                  WTERMSIG(status));
    return false;
}

int cli_dedup_spawn_stage(struct cli_job *job, const nigh_staged *staged, nigh_stage stage) {
    const struct dedup_values *values = job->values;
    const uint32_t tasks = nigh_staged_tasks(staged, stage);
    uint64_t running = 0;
    bool good = true;
    for (uint32_t i = 0; good && i < tasks && cli_interrupted() == 0; i++) {
        pid_t child;
        if (running == values->processes.value) {
            good = wait_one(job, stage);
            running--;
        }
        if (!good) break;
        const int failed = spawn(job, staged, stage, i, &child);
        if (failed != 0) {
            cli_error(job, "cannot start a process: %s", strerror(failed));
            good = false;
            break;
        }
        running++;
    }
    for (; running > 0; running--) good = wait_one(job, stage) && good;
    return good && cli_interrupted() == 0 ? CLI_DONE : CLI_ERROR;
}
