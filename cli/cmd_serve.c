/* SPDX-License-Identifier: Apache-2.0 */
/* nigh serve: the options of the HTTP server, which is in server/. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "serve.h"
#include "signals.h"

struct serve_values {
    struct cli_common common;
    const char *listen, *token_file, *log;
    bool without_token, read_only;
    struct cli_list hosts, origins;
    struct cli_number radius;
    struct cli_number max_body, max_header, max_memory, max_answer, max_depth, max_queries, max_documents, max_matches;
    struct cli_number max_connections, max_waiting;
    struct cli_number idle, body, work, drain, visible, hold;
};

#define PLACE(member) offsetof(struct serve_values, member)
#define LONGEST_SECONDS 86400

static const struct cli_option options[] = {
    CLI_TEXT(0, "listen", PLACE(listen), "ADDRESS:PORT",
             "where to listen (default: 127.0.0.1:7700); port 0 takes a free port, 'systemd' the socket that is handed "
             "over"),
    CLI_TEXT(0, "token-file", PLACE(token_file), "FILE",
             "ask for a token: one a line, with 'read' and 'collections=NAME,NAME' to limit it"),
    CLI_FLAG(0, "read-only", PLACE(read_only), "nothing can be added or deleted"),
    CLI_NUMBER('r', "radius", PLACE(radius), "BITS", 0, NIGH_MAX_WIDTH_BITS, NULL,
               "signatures within BITS bits match, in find-or-add and against"),
    CLI_TEXT(0, "log", PLACE(log), "FILE",
             "append a line of JSON for each request, without users' texts; '-' is stdout"),
    CLI_LIST(0, "host", PLACE(hosts), "NAME", "answer to this Host too, as behind a proxy"),
    CLI_LIST(0, "origin", PLACE(origins), "ORIGIN", "let pages of this origin use the API (https://example.org)"),
    CLI_FLAG(0, "without-token", PLACE(without_token), "ask for no token, even if other machines can connect"),
    CLI_NUMBER(0, "visible", PLACE(visible), "MS", 0, 3600000, "1000",
               "searches find what find-or-add added within this time; it is on the disk before it is answered"),
    CLI_NUMBER(0, "hold", PLACE(hold), "SECONDS", 0, LONGEST_SECONDS, "10",
               "other processes can write to a collection once nothing was added for this long"),
    CLI_NUMBER(0, "max-body", PLACE(max_body), "BYTES", 1, UINT64_C(1) << 31, "64M", "the largest body of a request"),
    CLI_NUMBER(0, "max-header", PLACE(max_header), "BYTES", 1024, 1 << 20, "16K", "the largest head of a request"),
    CLI_NUMBER(0, "max-memory", PLACE(max_memory), "BYTES", 1, UINT64_C(1) << 40, "512M",
               "memory for requests and answers at one time; beyond it, requests are turned away (503)"),
    CLI_NUMBER(0, "max-answer", PLACE(max_answer), "BYTES", 65536, UINT64_C(1) << 31, "64M", "the largest answer"),
    CLI_NUMBER(0, "max-depth", PLACE(max_depth), "N", 4, 1024, "32", "levels of JSON in JSON"),
    CLI_NUMBER(0, "max-queries", PLACE(max_queries), "N", 1, 65536, "256", "queries of a request"),
    CLI_NUMBER(0, "max-documents", PLACE(max_documents), "N", 1, 10000000, "100000", "documents of a request"),
    CLI_NUMBER(0, "max-matches", PLACE(max_matches), "N", 1, 1000000, "1000", "matches of a query"),
    CLI_NUMBER(0, "max-connections", PLACE(max_connections), "N", 16, 1000000, "10240", "open connections"),
    CLI_NUMBER(0, "max-waiting", PLACE(max_waiting), "N", 1, 1000000, "1024",
               "requests that may wait for a thread; more are turned away (503)"),
    CLI_NUMBER(0, "idle-time", PLACE(idle), "SECONDS", 1, LONGEST_SECONDS, "60",
               "close connections that do not send the whole head of a request in this time"),
    CLI_NUMBER(0, "body-time", PLACE(body), "SECONDS", 1, LONGEST_SECONDS, "30",
               "close connections that do not send the rest of a request, or do not read the answer, in this time"),
    CLI_NUMBER(0, "work-time", PLACE(work), "SECONDS", 1, LONGEST_SECONDS, "30",
               "give up on an answer that takes longer (503)"),
    CLI_NUMBER(0, "drain-time", PLACE(drain), "SECONDS", 0, LONGEST_SECONDS, "30",
               "at the end, wait this long for answers in progress"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION...", NULL};

static const char *const description[] = {
    "Answers over HTTP: searches, find-or-add, adding, deleting, against and dedup, with JSON in and out, and a page "
    "for the browser. A collection is named after the last part of its path, without '.nigh'. docs/server.md has the "
    "requests, and /openapi.json describes them for programs.",
    "It is for use on this machine, or behind a proxy that does TLS: by default it listens on loopback; on any other "
    "address it asks for a token (--token-file). Requests from pages of other origins are refused, as are those for "
    "another Host.",
    "Searches that wait together are answered in one pass over the collection; a single one never waits. What other "
    "processes commit is seen within a second. What is acknowledged is on the disk. SIGTERM and SIGINT end the server, "
    "after the answers in progress. Nothing acknowledged is lost, however it ends.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh serve news.nigh images.nigh", "the page is at http://127.0.0.1:7700/"},
    {"nigh serve news.nigh --read-only --listen 127.0.0.1:0", "read-only, on any free port"},
    {"nigh serve seen.nigh --token-file tokens --log access.jsonl", "only for those who have a token"},
    {NULL, NULL},
};

static void tell_ready(void *user, const char *address, uint32_t connections) {
    struct cli_job *job = user;
    const struct serve_values *values = job->values;
    cli_sink_format(job->out, "http://%s/\n", address);
    (void)cli_sink_flush(job->out);
    if (connections < values->max_connections.value)
        cli_note(job, "at most %u connections at one time, for no more files can be open (ulimit -n)", connections);
    cli_note(job, "serving %s; Ctrl-C ends it", cli_counted(job->operand_count, "collection", "collections").text);
}

static void set_limits(const struct serve_values *values, struct serve_settings *settings) {
    settings->max_body = values->max_body.value;
    settings->max_header = values->max_header.value;
    settings->max_memory = values->max_memory.value;
    settings->max_answer = values->max_answer.value;
    settings->max_depth = (uint32_t)values->max_depth.value;
    settings->max_queries = (uint32_t)values->max_queries.value;
    settings->max_documents = (uint32_t)values->max_documents.value;
    settings->max_matches = (uint32_t)values->max_matches.value;
    settings->max_connections = (uint32_t)values->max_connections.value;
    settings->max_waiting = (uint32_t)values->max_waiting.value;
    settings->idle_ms = (uint32_t)values->idle.value * 1000;
    settings->body_ms = (uint32_t)values->body.value * 1000;
    settings->work_ms = (uint32_t)values->work.value * 1000;
    settings->drain_ms = (uint32_t)values->drain.value * 1000;
    settings->visible_ms = (uint32_t)values->visible.value;
    settings->hold_ms = (uint32_t)values->hold.value * 1000;
}

static void set_all(struct cli_job *job, struct serve_settings *settings) {
    const struct serve_values *values = job->values;
    serve_settings_init(settings);
    settings->paths = (struct serve_names){(const char *const *)job->operands, job->operand_count};
    settings->hosts = (struct serve_names){values->hosts.items, values->hosts.count};
    settings->origins = (struct serve_names){values->origins.items, values->origins.count};
    if (values->listen != NULL) settings->listen = values->listen;
    settings->token_file = values->token_file;
    settings->without_token = values->without_token;
    settings->read_only = values->read_only;
    settings->threads = job->threads;
    if (values->radius.given) settings->radius = (uint32_t)values->radius.value;
    set_limits(values, settings);
    settings->ready = tell_ready;
    settings->user = job;
    settings->stopped = cli_interrupted;
}

/* Lines are appended, so that whoever turns the file over loses none. */
static bool open_log(struct cli_job *job, const char *path, int *out) {
    *out = path == NULL ? -1 : STDOUT_FILENO;
    if (path == NULL || strcmp(path, "-") == 0) return true;
    *out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (*out >= 0) return true;
    cli_set_system_error(job, errno, path, "open");
    return false;
}

static int run(struct cli_job *job) {
    const struct serve_values *values = job->values;
    struct serve_settings settings;
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    set_all(job, &settings);
    if (!open_log(job, values->log, &settings.log)) return cli_fail(job);
    cli_signals_wait();
    const nigh_status status = serve_run(job->context, &settings, &job->error);
    if (settings.log > STDERR_FILENO) (void)close(settings.log);
    if (status != NIGH_OK) return cli_fail(job);
    cli_note(job, "ended");
    return CLI_DONE;
}

const struct cli_command cmd_serve = {
    .name = "serve",
    .summary = "serve collections over HTTP, with a page for the browser",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct serve_values),
    .run = run,
    .part = "server",
};
