/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * nigh dedup --slurm: a script for each stage, a job array for sbatch, and submit.sh, which submits them one after
 * the other, each to begin once the one before it has ended well.  Slurm does the rest.
 *
 *     WORK/slurm/1-sign.sh ... 9-rewrite.sh    one task: --stage NAME --shard I/N
 *     WORK/slurm/submit.sh                     sbatch --dependency=afterok
 *     WORK/slurm/jobs.txt                      the numbers that sbatch gave
 *     WORK/slurm/log/sign-0                    what task 0 of the stage sign has said, each time it ran
 *
 * A path may hold any byte.  In scripts it stands as a word of bash (shell_words.h), and nowhere in a line that Slurm
 * reads: there '%' and '\' have a meaning, which is why tasks open their logs themselves and change folders themselves.
 */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dedup_stages.h"
#include "shell_words.h"

#define PART "{}"
#define MARGIN 1.25      /* of memory: what is asked for to what is expected */
#define MEGABYTE 1048576 /* as Slurm counts */

struct scripts {
    struct cli_job *job;
    const struct dedup_values *values;
    const struct cli_stage_plan *plan;
    struct cli_sink *sink; /* of the one that is being written */
    char here[CLI_PATH_SIZE];
    char tool[CLI_PATH_SIZE]; /* this program */
};

bool cli_dedup_in_parts(const char *output) { return strstr(output, PART) != NULL; }

/* "1-sign.sh" */
struct script_name {
    char text[32];
};

static struct script_name script_name(const struct scripts *scripts, size_t stage) {
    struct script_name made;
    (void)snprintf(made.text, sizeof made.text, "%zu-%s.sh", stage + 1, scripts->plan->needs[stage].name);
    return made;
}

/* ------------------------------------------------------------- one stage -- */

static const char header[] =
    "#!/bin/bash\n"
    "# Stage %s of a de-duplication: %s.\n"
    "# Written by 'nigh dedup --slurm'; submit.sh submits it.  Memory (MB) and time (minutes) are estimates: change\n"
    "# them here, or give sbatch others, which come before these.\n"
    "#SBATCH --job-name=nigh-%s\n"
    "#SBATCH --array=0-%u\n"
    "#SBATCH --ntasks=1\n"
    "#SBATCH --cpus-per-task=1\n"
    "#SBATCH --mem=%.0fM\n"
    "#SBATCH --time=%.0f\n"
    "#SBATCH --requeue\n"
    "#SBATCH --output=/dev/null\n\n";

/* After the assignments, which hold the paths. */
static const char opening[] = "task=$SLURM_ARRAY_TASK_ID\n\n"
                              "cd \"$folder\" || exit\n"
                              "exec >> \"$work/slurm/log/%s-$task\" 2>&1 || exit\n"
                              "printf '== %%s on %%s: job %%s, requeued %%s times\\n' \"$(date '+%%F %%T')\" "
                              "\"${SLURMD_NODENAME:-$HOSTNAME}\" \\\n"
                              "    \"${SLURM_ARRAY_JOB_ID}_$task\" \"${SLURM_RESTART_COUNT:-0}\"\n\n";

static const char closing[] = "code=$?\n\n"
                              "# Killed with -9, for example for want of memory: back to the queue, twice at most.\n"
                              "if ((code == 137 && ${SLURM_RESTART_COUNT:-0} < 2)); then\n"
                              "    scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$task\" && sleep 300\n"
                              "fi\n"
                              "exit \"$code\"\n";

static void assign(const struct scripts *scripts, const char *name, const char *value) {
    cli_sink_format(scripts->sink, "%s=", name);
    cli_shell_word(scripts->sink, value);
    cli_sink_text(scripts->sink, "\n");
}

/* The output, or the part of it that the task writes: its number with as many digits as the last one has. */
static void add_output(const struct scripts *scripts, uint32_t tasks) {
    const char *output = scripts->values->output;
    const char *mark = strstr(output, PART);
    char before[CLI_PATH_SIZE];
    if (mark == NULL) {
        assign(scripts, "output", output);
        return;
    }
    (void)snprintf(before, sizeof before, "%.*s", (int)(mark - output), output);
    cli_sink_format(scripts->sink,
                    "printf -v part '%%0%dd' \"$SLURM_ARRAY_TASK_ID\"\noutput=", snprintf(NULL, 0, "%u", tasks - 1));
    cli_shell_word(scripts->sink, before);
    cli_sink_text(scripts->sink, "$part");
    cli_shell_word(scripts->sink, mark + strlen(PART));
    cli_sink_text(scripts->sink, "\n");
}

static void add_run(const struct scripts *scripts, const struct cli_stage_need *need, bool last) {
    const struct dedup_values *values = scripts->values;
    struct cli_sink *sink = scripts->sink;
    cli_sink_text(sink, "\"$nigh\" dedup --work \"$work\"");
    if (!last || cli_dedup_in_parts(values->output))
        cli_sink_format(sink, " --stage %s --shard \"$task/%u\"", need->name, need->tasks);
    if (last) cli_sink_text(sink, " -o \"$output\"");
    cli_sink_text(sink, " \\\n    --threads \"${SLURM_CPUS_PER_TASK:-1}\" --memory ");
    if (values->memory == NULL)
        cli_sink_format(sink, "%u", CLI_SLURM_MEMORY);
    else
        cli_shell_word(sink, values->memory);
    if (values->temporary != NULL) cli_sink_text(sink, " --temporary \"$temporary\"");
    cli_sink_text(sink, "\n");
}

static void add_stage(struct scripts *scripts, size_t stage) {
    const struct cli_stage_need *need = &scripts->plan->needs[stage];
    const bool last = stage + 1 == CLI_STAGE_NEEDS;
    cli_sink_format(scripts->sink, header, need->name, cli_counted(need->tasks, "task", "tasks").text, need->name,
                    need->tasks - 1, ceil(need->memory * MARGIN / MEGABYTE), ceil(need->seconds / 60));
    assign(scripts, "nigh", scripts->tool);
    assign(scripts, "folder", scripts->here);
    assign(scripts, "work", scripts->values->work);
    if (scripts->values->temporary != NULL) assign(scripts, "temporary", scripts->values->temporary);
    if (last) add_output(scripts, need->tasks);
    cli_sink_format(scripts->sink, opening, need->name);
    add_run(scripts, need, last);
    cli_sink_text(scripts->sink, closing);
}

/* ------------------------------------------------------------ submitting -- */

static const char submit_opening[] = "#!/bin/bash\n"
                                     "# Submits the stages of a de-duplication, each to begin once all tasks of the "
                                     "one before it have ended well; where one\n"
                                     "# fails, Slurm takes the rest from the queue.  Written by 'nigh dedup --slurm'.  "
                                     "May be run again once the jobs have left\n"
                                     "# the queue: what was done is not done again.\n";

static const char submit_closing[] =
    "\ncommand -v sbatch > /dev/null || { echo 'submit.sh: there is no sbatch here' >&2; exit 2; }\n"
    "cd \"$folder\" && cd \"$work/slurm\" || exit 2\n\n"
    "# One run at a time.\n"
    "if [[ -s jobs.txt ]] && left=$(squeue --noheader --jobs=\"$(paste -sd , jobs.txt)\" 2> /dev/null) && [[ $left ]]; "
    "then\n"
    "    echo \"submit.sh: these jobs are in the queue; wait for them, or end them with scancel\" >&2\n"
    "    echo \"$left\" >&2\n"
    "    exit 2\n"
    "fi\n\n"
    "jobs=()\n"
    "submit() {\n"
    "    local after=() id\n"
    "    ((${#jobs[@]} == 0)) || after=(--dependency=\"afterok:$id_before\" --kill-on-invalid-dep=yes)\n"
    "    if ! id=$(sbatch --parsable --chdir=/ \"${options[@]}\" \"${after[@]}\" \"./$1\"); then\n"
    "        echo \"submit.sh: sbatch does not take $1\" >&2\n"
    "        ((${#jobs[@]} == 0)) || scancel \"${jobs[@]}\"\n"
    "        exit 2\n"
    "    fi\n"
    "    id_before=${id%%;*}\n"
    "    jobs+=(\"$id_before\")\n"
    "    printf '%s\\n' \"${jobs[@]}\" > jobs.txt\n"
    "    echo \"$id_before  $1\"\n"
    "}\n\n";

static const char submit_end[] = "\necho \"follow them with: squeue --jobs=$(paste -sd , jobs.txt)\"\n"
                                 "echo \"what they say is in $PWD/log\"\n";

static void add_submit(struct scripts *scripts) {
    const struct cli_list *options = &scripts->values->sbatch;
    cli_sink_text(scripts->sink, submit_opening);
    assign(scripts, "folder", scripts->here);
    assign(scripts, "work", scripts->values->work);
    cli_sink_text(scripts->sink, "options=(");
    for (size_t i = 0; i < options->count; i++) {
        if (i > 0) cli_sink_text(scripts->sink, " ");
        cli_shell_word(scripts->sink, options->items[i]);
    }
    cli_sink_text(scripts->sink, ")\n");
    cli_sink_text(scripts->sink, submit_closing);
    for (size_t i = 0; i < CLI_STAGE_NEEDS; i++)
        cli_sink_format(scripts->sink, "submit %s\n", script_name(scripts, i).text);
    cli_sink_text(scripts->sink, submit_end);
}

/* --------------------------------------------------------------- writing -- */

static bool make_folder(struct cli_job *job, const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return true;
    cli_set_system_error(job, errno, path, "make the folder");
    return false;
}

/* Opens WORK/slurm/NAME. */
static bool open_script(struct scripts *scripts, const char *name, char path[CLI_PATH_SIZE]) {
    (void)snprintf(path, CLI_PATH_SIZE, "%s/slurm/%s", scripts->values->work, name);
    if (cli_sink_open(scripts->sink, path)) return true;
    cli_set_system_error(scripts->job, scripts->sink->error, path, "write");
    return false;
}

static bool finish_script(struct scripts *scripts, const char *path) {
    if (cli_sink_finish(scripts->sink)) return true;
    cli_set_system_error(scripts->job, scripts->sink->error, path, "write");
    return false;
}

static bool write_scripts(struct scripts *scripts) {
    char path[CLI_PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/slurm", scripts->values->work);
    if (!make_folder(scripts->job, path)) return false;
    (void)snprintf(path, sizeof path, "%s/slurm/log", scripts->values->work);
    if (!make_folder(scripts->job, path)) return false;
    for (size_t i = 0; i < CLI_STAGE_NEEDS; i++) {
        if (!open_script(scripts, script_name(scripts, i).text, path)) return false;
        add_stage(scripts, i);
        if (!finish_script(scripts, path)) return false;
    }
    if (!open_script(scripts, "submit.sh", path)) return false;
    add_submit(scripts);
    return finish_script(scripts, path);
}

/* Where the tasks are to be: here, by the name the user knows it by, and with this program. */
static bool find_places(struct scripts *scripts) {
    char *here = get_current_dir_name();
    const ssize_t length = readlink("/proc/self/exe", scripts->tool, sizeof scripts->tool - 1);
    const bool found = here != NULL && length > 0 && strlen(here) < sizeof scripts->here;
    if (found) {
        (void)snprintf(scripts->here, sizeof scripts->here, "%s", here);
        scripts->tool[length] = '\0';
    } else {
        cli_set_system_error(scripts->job, errno, ".", "find out the name of");
    }
    free(here);
    return found;
}

/* ------------------------------------------------------------------- all -- */

/* What makes a task another one, or begin before it may, is ours. */
static int check_options(const struct cli_job *job, const struct cli_list *options) {
    static const char *const ours[] = {"--array", "-a", "--dependency", "-d", "--wrap", NULL};
    for (size_t i = 0; i < options->count; i++) {
        if (options->items[i][0] != '-')
            return cli_usage(job->command,
                             "--sbatch takes an option and its value in one word, such as "
                             "--partition=long, not '%s'",
                             options->items[i]);
        for (size_t k = 0; ours[k] != NULL; k++)
            if (strncmp(options->items[i], ours[k], strlen(ours[k])) == 0)
                return cli_usage(job->command, "--sbatch '%s': the scripts set that themselves", options->items[i]);
    }
    return CLI_DONE;
}

static int submit(struct cli_job *job, const char *work) {
    char path[CLI_PATH_SIZE];
    char bash[] = "bash";
    char *words[] = {bash, path, NULL};
    pid_t child;
    int status = 0;
    (void)snprintf(path, sizeof path, "%s%s/slurm/submit.sh", work[0] == '-' ? "./" : "", work);
    (void)cli_sink_flush(job->out);
    const int failed = posix_spawnp(&child, bash, NULL, NULL, words, environ);
    if (failed != 0) {
        cli_error(job, "cannot start bash: %s", strerror(failed));
        return CLI_ERROR;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CLI_DONE : CLI_ERROR;
}

int cli_dedup_slurm(struct cli_job *job, const struct cli_stage_plan *plan) {
    const struct dedup_values *values = job->values;
    struct scripts scripts = {.job = job, .values = values, .plan = plan};
    int code = check_options(job, &values->sbatch);
    if (code != CLI_DONE) return code;
    scripts.sink = calloc(1, sizeof *scripts.sink);
    if (scripts.sink == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    const bool written = find_places(&scripts) && write_scripts(&scripts);
    free(scripts.sink);
    if (!written) return cli_fail(job);
    cli_sink_format(job->out, "\n%d scripts for Slurm are in '%s/slurm'\n", CLI_STAGE_NEEDS + 1, values->work);
    if (values->submit) return submit(job, values->work);
    cli_sink_text(job->out, "submit them with: bash ");
    cli_shell_word(job->out, values->work);
    cli_sink_text(job->out, "/slurm/submit.sh\n");
    return CLI_DONE;
}
