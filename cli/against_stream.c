/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh against --add --stream: lines from a pipe, and an answer to each, as they come.
 *
 * Lines gather until there are as many as --group says, or the first has waited for --delay, or
 * there is nothing more to read; then all of them are found or added, made safe by one sync, and
 * answered. While the disk works, the next lines gather in the pipe: the slower the syncs, the
 * larger the groups.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "against_output.h"
#include "signals.h"

#define READ_BYTES (1u << 16)
#define FIRST_ROOM (1u << 20)
#define LONGER (1u << 16) /* than the largest document a line may be, for its keys */

/* A document of the group, by the line that it came from. */
struct entry {
    nigh_document document;
    size_t id, text, signature; /* places in the room */
    nigh_value values[NIGH_MAX_KEEP_KEYS];
    size_t value_texts[NIGH_MAX_KEEP_KEYS]; /* places of these */
    bool named;
    bool there; /* the line is a document */
    char why[128];
};

struct stream {
    struct against *against;
    struct cli_job *job;
    nigh_live *live;
    nigh_live_info info;
    int input;
    bool ended;
    char *bytes; /* what was read and not answered yet; owned */
    size_t used, capacity;
    size_t looked; /* so many of them were looked at for line ends */
    size_t lines;  /* whole ones */
    size_t end;    /* of the last whole one */
    double since;  /* when the first came */
    uint64_t line; /* of the first, from 0 */
    uint64_t errors, matched;

    struct entry *entries; /* owned; of the lines of the group */
    size_t entry_capacity;
    nigh_document *documents; /* owned; of those that are there */
    nigh_live_answer *answers;
    char *room; /* owned: ids, texts, signatures */
    size_t room_used, room_capacity;
    char *id; /* owned: room for one */
};

/* ------------------------------------------------------------------ memory -- */

static int no_memory(const struct stream *stream) {
    cli_set_error(stream->job, NIGH_ENOMEM, "", "out of memory");
    return cli_fail(stream->job);
}

static bool grow(char **bytes, size_t *capacity, size_t needed) {
    size_t larger = *capacity == 0 ? FIRST_ROOM : *capacity;
    while (larger < needed) larger *= 2;
    if (larger == *capacity) return true;
    char *moved = realloc(*bytes, larger);
    if (moved == NULL) return false;
    *bytes = moved;
    *capacity = larger;
    return true;
}

/* Copies bytes into the room; *place is where they are. */
static bool keep(struct stream *stream, const void *bytes, size_t length, size_t *place) {
    if (!grow(&stream->room, &stream->room_capacity, stream->room_used + length + 1)) return false;
    *place = stream->room_used;
    if (length > 0) memcpy(stream->room + stream->room_used, bytes, length);
    stream->room_used += length;
    return true;
}

/* One entry for each line of the group. */
static bool entries_ready(struct stream *stream, size_t count) {
    if (count > stream->entry_capacity) {
        free(stream->entries);
        free(stream->documents);
        free(stream->answers);
        stream->entries = malloc(count * sizeof *stream->entries);
        stream->documents = malloc(count * sizeof *stream->documents);
        stream->answers = malloc(count * sizeof *stream->answers);
        stream->entry_capacity = count;
        if (stream->entries == NULL || stream->documents == NULL || stream->answers == NULL) return false;
    }
    for (size_t i = 0; i < count; i++) {
        stream->entries[i].there = false;
        stream->entries[i].why[0] = '\0';
    }
    stream->room_used = 0;
    return true;
}

/* ----------------------------------------------------------------- reading -- */

/* Counts the lines among what came, up to those of one group. */
static void count_lines(struct stream *stream) {
    const size_t most = (size_t)stream->against->values->group.value;
    while (stream->lines < most && stream->looked < stream->used) {
        const char *from = stream->bytes + stream->looked;
        const char *at = memchr(from, '\n', stream->used - stream->looked);
        if (at == NULL && !stream->ended) {
            stream->looked = stream->used;
            return;
        }
        stream->looked = at == NULL ? stream->used : (size_t)(at - stream->bytes) + 1;
        if (stream->lines++ == 0) stream->since = cli_seconds();
        stream->end = stream->looked;
    }
}

static int read_some(struct stream *stream) {
    const uint64_t most = stream->against->values->reading.max_document.value + LONGER;
    if (!grow(&stream->bytes, &stream->capacity, stream->used + READ_BYTES)) return no_memory(stream);
    const ssize_t got = read(stream->input, stream->bytes + stream->used, READ_BYTES);
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
        cli_set_system_error(stream->job, errno, "standard input", "read");
        return cli_fail(stream->job);
    }
    if (got == 0) stream->ended = true;
    if (got > 0) stream->used += (size_t)got;
    count_lines(stream);
    if (stream->lines > 0 || stream->used <= most) return CLI_DONE;
    cli_error(stream->job, "line %" PRIu64 " is longer than --max-document allows; nothing of it was taken",
              stream->line + 1);
    return CLI_ERROR;
}

/* Until there is a group; *ready false: a signal, or the end. */
static int gather(struct stream *stream, bool *ready) {
    const size_t most = (size_t)stream->against->values->group.value;
    const double delay = (double)stream->against->values->delay.value / 1000;
    *ready = false;
    for (;;) {
        const double left = stream->since + delay - cli_seconds();
        struct pollfd wait = {.fd = stream->input, .events = POLLIN};
        if (cli_interrupted() != 0) return CLI_DONE;
        if (stream->lines >= most || (stream->ended && stream->lines > 0)) break;
        if (stream->ended) return CLI_DONE;
        const int milliseconds = stream->lines == 0 ? 500 : left <= 0 ? 0 : (int)(left * 1000) + 1;
        const int events = poll(&wait, 1, milliseconds);
        if (events < 0 && errno != EINTR) {
            cli_set_system_error(stream->job, errno, "standard input", "wait for");
            return cli_fail(stream->job);
        }
        if (events > 0) {
            const int code = read_some(stream);
            if (code != CLI_DONE) return code;
        } else if (stream->lines > 0 && cli_seconds() >= stream->since + delay) {
            break;
        }
    }
    *ready = true;
    return CLI_DONE;
}

/* --------------------------------------------------------------- documents -- */

/* The lines of the group, as the library reads them. */
struct group {
    struct stream *stream;
    size_t at;
};

static int give_bytes(void *user, void *buffer, size_t length, size_t *moved) {
    struct group *group = user;
    const size_t left = group->stream->end - group->at;
    *moved = length < left ? length : left;
    memcpy(buffer, group->stream->bytes + group->at, *moved);
    group->at += *moved;
    return 0;
}

static void note_problem(void *user, const nigh_error *problem) {
    struct stream *stream = user;
    if (problem->reason == NIGH_REASON_REPAIRED || problem->reason == NIGH_REASON_NO_KEY) return; /* no lines */
    if (problem->line == 0 || problem->line > stream->lines) return;
    struct entry *entry = &stream->entries[problem->line - 1];
    (void)snprintf(entry->why, sizeof entry->why, "%.*s", (int)sizeof entry->why - 1, problem->why);
}

/* A record without an id is called by its line: that of the stream, not of the group. */
static bool keep_id(struct stream *stream, const nigh_text *text, struct entry *entry) {
    char mark[32];
    char id[64];
    const int length = snprintf(mark, sizeof mark, "-:%" PRIu64 ":", text->line);
    const bool made = text->id_length == (size_t)length + 12 && memcmp(text->id, mark, (size_t)length) == 0;
    entry->document.id_length = text->id_length;
    if (!made) return keep(stream, text->id, text->id_length, &entry->id);
    entry->document.id_length =
        (size_t)snprintf(id, sizeof id, "-:%" PRIu64 ":%.12s", stream->line + text->line, text->id + length);
    return keep(stream, id, entry->document.id_length, &entry->id);
}

static bool keep_values(struct stream *stream, const nigh_text *text, struct entry *entry) {
    bool kept = true;
    entry->document.value_count = text->value_count;
    for (uint32_t i = 0; i < text->value_count && kept; i++) {
        entry->values[i] = text->values[i];
        if (text->values[i].type == NIGH_VALUE_TEXT)
            kept = keep(stream, text->values[i].text, text->values[i].length, &entry->value_texts[i]);
    }
    return kept;
}

static nigh_status take_text(struct stream *stream, const nigh_text *text) {
    if (text->line == 0 || text->line > stream->lines) return NIGH_OK;
    struct entry *entry = &stream->entries[text->line - 1];
    entry->document = (nigh_document){.size = sizeof entry->document, .text_length = text->text_length};
    entry->there = entry->named = true;
    if (keep_id(stream, text, entry) && keep(stream, text->text, text->text_length, &entry->text) &&
        keep_values(stream, text, entry))
        return NIGH_OK;
    cli_set_error(stream->job, NIGH_ENOMEM, "", "out of memory");
    return NIGH_ENOMEM;
}

static nigh_status read_texts(struct stream *stream) {
    struct cli_job *job = stream->job;
    struct group group = {stream, 0};
    const nigh_stream bytes = {.user = &group, .read = give_bytes};
    const char *path = "-";
    struct cli_reading reading = stream->against->values->reading;
    nigh_text_reader_options options;
    nigh_text_reader *reader = NULL;
    nigh_text text = {.size = sizeof text};
    reading.scheme = nigh_live_scheme(stream->live);
    cli_reader_options(job, &reading, NIGH_TEXT_JSONL, &stream->against->problems, &options);
    options.stream = &bytes;
    options.problem = note_problem;
    options.user = stream;
    options.max_errors = NIGH_ALL_64; /* they are counted over all groups */
    options.strict = 0;
    nigh_status status = nigh_text_reader_open(job->context, &path, 1, &options, &reader, &job->error);
    while (status == NIGH_OK && (status = nigh_text_reader_next(reader, &text, &job->error)) == NIGH_OK)
        status = take_text(stream, &text);
    nigh_text_reader_close(reader);
    return status == NIGH_END ? NIGH_OK : status;
}

/* -------------------------------------------------------------- signatures -- */

/* One line, by itself: so what is wrong with one says nothing of the others. */
static nigh_status read_line(struct stream *stream, size_t number, size_t begin, size_t end) {
    struct entry *entry = &stream->entries[number];
    const size_t whole = stream->end;
    struct group group = {stream, begin};
    const nigh_stream bytes = {.user = &group, .read = give_bytes};
    nigh_signature_reader_options options;
    nigh_signature_reader *reader = NULL;
    nigh_document row = {.size = sizeof row};
    nigh_error problem = {.status = NIGH_OK};
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_HEX;
    options.width_bits = stream->info.width_bits;
    options.stream = &bytes;
    stream->end = end;
    nigh_status status = nigh_signature_reader_open(stream->job->context, "-", &options, &reader, &problem);
    if (status == NIGH_OK) status = nigh_signature_reader_next(reader, &row, &problem);
    entry->there = status == NIGH_OK;
    entry->named = entry->there && row.id != NULL;
    entry->document = (nigh_document){.size = sizeof entry->document, .id_length = row.id_length};
    bool kept = true;
    if (entry->there)
        kept = keep(stream, row.signature, nigh_signature_bytes(stream->info.width_bits), &entry->signature) &&
               (!entry->named || keep(stream, row.id, row.id_length, &entry->id));
    else
        (void)snprintf(entry->why, sizeof entry->why, "%.*s", (int)sizeof entry->why - 1, problem.why);
    nigh_signature_reader_close(reader);
    stream->end = whole;
    if (kept && status != NIGH_ENOMEM) return NIGH_OK;
    cli_set_error(stream->job, NIGH_ENOMEM, "", "out of memory");
    return NIGH_ENOMEM;
}

static nigh_status read_signatures(struct stream *stream) {
    nigh_status status = NIGH_OK;
    size_t begin = 0;
    for (size_t i = 0; i < stream->lines && status == NIGH_OK; i++) {
        const char *at = memchr(stream->bytes + begin, '\n', stream->end - begin);
        const size_t end = at == NULL ? stream->end : (size_t)(at - stream->bytes) + 1;
        if (end > begin + 1) status = read_line(stream, i, begin, end);
        begin = end;
    }
    return status;
}

/* --------------------------------------------------------------- answering -- */

static void point(struct stream *stream, struct entry *entry) {
    nigh_document *document = &entry->document;
    document->id = entry->named ? stream->room + entry->id : NULL;
    if (document->value_count > 0) document->values = entry->values;
    for (uint32_t i = 0; i < document->value_count; i++)
        if (entry->values[i].type == NIGH_VALUE_TEXT) entry->values[i].text = stream->room + entry->value_texts[i];
    if (stream->info.texts)
        document->text = stream->room + entry->text;
    else
        document->signature = (const uint8_t *)stream->room + entry->signature;
}

static int print_id(struct stream *stream, const char *key, uint64_t number) {
    size_t length = 0;
    if (nigh_live_id(stream->live, number, stream->id, NIGH_MAX_ID_LENGTH + 1, &length, &stream->job->error) != NIGH_OK)
        return cli_fail(stream->job);
    cli_sink_format(stream->job->out, ",\"%s\":", key);
    cli_sink_json(stream->job->out, stream->id, length);
    return CLI_DONE;
}

static int print_new(struct stream *stream, const nigh_live_answer *answer) {
    struct cli_sink *out = stream->job->out;
    cli_sink_text(out, ",\"new\":true");
    if (answer->number == NIGH_ALL_64) {
        cli_sink_text(out, ",\"added\":false,\"why\":\"the id already exists\"");
        return CLI_DONE;
    }
    const int code = answer->id_taken ? print_id(stream, "added_as", answer->number) : CLI_DONE;
    return code == CLI_DONE ? print_id(stream, "cluster", answer->cluster) : code;
}

static int print_match(struct stream *stream, const nigh_live_answer *answer) {
    struct cli_sink *out = stream->job->out;
    stream->matched++;
    cli_sink_text(out, ",\"new\":false");
    int code = print_id(stream, "match", answer->match);
    cli_sink_format(out, ",\"distance\":%u", answer->distance);
    if (answer->similarity >= 0) cli_sink_format(out, ",\"similarity\":%.6f", answer->similarity);
    return code == CLI_DONE ? print_id(stream, "cluster", answer->cluster) : code;
}

static int print_answer(struct stream *stream, const struct entry *entry, const nigh_live_answer *answer) {
    struct cli_sink *out = stream->job->out;
    char number[24];
    cli_sink_text(out, "{\"id\":");
    if (entry->named) {
        cli_sink_json(out, entry->document.id, entry->document.id_length);
    } else if (answer->number != NIGH_ALL_64) {
        const int length = snprintf(number, sizeof number, "%" PRIu64, answer->number);
        cli_sink_json(out, number, (size_t)length);
    } else {
        cli_sink_text(out, "null");
    }
    const int code = answer->match == NIGH_ALL_64 ? print_new(stream, answer) : print_match(stream, answer);
    cli_sink_text(out, "}\n");
    return code;
}

static bool is_blank(const struct stream *stream, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        if (strchr(" \t\r\n", stream->bytes[i]) == NULL) return false;
    return true;
}

/* What is no document is answered too, so that whoever counts lines can. */
static void print_error(struct stream *stream, size_t number) {
    struct cli_sink *out = stream->job->out;
    const char *why = stream->entries[number].why;
    if (why[0] == '\0') why = "no document in this line";
    stream->errors++;
    cli_sink_format(out, "{\"line\":%" PRIu64 ",\"error\":", stream->line + number + 1);
    cli_sink_json(out, why, strlen(why));
    cli_sink_text(out, "}\n");
}

static int print_all(struct stream *stream) {
    size_t answer = 0;
    size_t begin = 0;
    int code = CLI_DONE;
    for (size_t i = 0; i < stream->lines && code == CLI_DONE; i++) {
        const char *at = memchr(stream->bytes + begin, '\n', stream->end - begin);
        const size_t end = at == NULL ? stream->end : (size_t)(at - stream->bytes) + 1;
        if (stream->entries[i].there)
            code = print_answer(stream, &stream->entries[i], &stream->answers[answer++]);
        else if (!is_blank(stream, begin, end))
            print_error(stream, i);
        begin = end;
    }
    if (code == CLI_DONE && !cli_sink_flush(stream->job->out)) code = cli_fail(stream->job);
    return code;
}

static int check_errors(struct stream *stream) {
    const struct cli_reading *reading = &stream->against->values->reading;
    if (stream->errors == 0 || (!reading->strict && stream->errors <= reading->max_errors.value)) return CLI_DONE;
    cli_error(stream->job, "%s no document; %s", cli_counted(stream->errors, "line is", "lines are").text,
              reading->strict ? "--strict ends here" : "--max-errors allows no more");
    return CLI_ERROR;
}

static void next_group(struct stream *stream) {
    memmove(stream->bytes, stream->bytes + stream->end, stream->used - stream->end);
    stream->used -= stream->end;
    stream->line += stream->lines;
    stream->looked = stream->lines = stream->end = 0;
    count_lines(stream);
}

static int answer_group(struct stream *stream) {
    struct cli_job *job = stream->job;
    size_t count = 0;
    if (!entries_ready(stream, stream->lines)) return no_memory(stream);
    nigh_status status = stream->info.texts ? read_texts(stream) : read_signatures(stream);
    if (status != NIGH_OK) return cli_fail(job);
    for (size_t i = 0; i < stream->lines; i++) {
        if (!stream->entries[i].there) continue;
        point(stream, &stream->entries[i]);
        stream->documents[count++] = stream->entries[i].document;
    }
    status = nigh_live_find_or_add(stream->live, stream->documents, count, stream->answers, &job->error);
    if (status != NIGH_OK) return cli_fail(job);
    int code = print_all(stream);
    if (code == CLI_DONE) code = check_errors(stream);
    next_group(stream);
    return code;
}

/* ----------------------------------------------------------------- opening -- */

static int check_stream(const struct against *against) {
    const struct against_values *values = against->values;
    struct cli_job *job = against->job;
    if (!values->add) return cli_usage(job->command, "--stream goes with --add");
    if (job->operand_count > 2) return cli_usage(job->command, "--stream reads one INPUT, by default standard input");
    if (values->records != NULL || values->new_path != NULL || values->no_verify || values->fail_if_new ||
        values->fail_if_found || values->method != NIGH_FINDER_AUTO || values->recall != NULL ||
        values->find != NIGH_FIND_ALL || values->max_matches.given || values->memory != NULL ||
        values->without_numbers || values->reading.limit.given || values->reading.shard != NULL)
        return cli_usage(job->command, "--stream takes no -o, --new, --no-verify, --fail-if-new, --fail-if-found, "
                                       "--method, --recall, --find, --max-matches, --memory, --without-numbers, "
                                       "--limit and --shard");
    if (cli_against_is_chunks(against->path)) return cli_usage(job->command, "--stream takes a collection, not chunks");
    return CLI_DONE;
}

/* Of a log that was left. */
static void tell_recovered(const struct stream *stream) {
    const nigh_live_info *info = &stream->info;
    if (info->dropped_bytes > 0)
        cli_note(stream->job, "took up a log that was left: %s; %s at its end were never acknowledged, and dropped",
                 cli_counted(info->recovered, "document", "documents").text,
                 cli_counted(info->dropped_bytes, "byte", "bytes").text);
    else if (info->recovered > 0)
        cli_note(stream->job, "took up a log that was left: %s",
                 cli_counted(info->recovered, "document", "documents").text);
}

static int open_live(struct stream *stream) {
    struct against *against = stream->against;
    const struct against_values *values = against->values;
    struct cli_job *job = stream->job;
    nigh_live_options options;
    nigh_live_options_init(&options);
    if (values->radius.given) options.radius = (uint32_t)values->radius.value;
    options.sync = (nigh_live_sync)values->sync;
    options.log_bytes = values->log_size.value;
    options.snippet = (uint32_t)values->snippet.value;
    options.threads = 1;
    options.create = 1;
    options.signer = against->plans_new ? &against->new_signer : NULL;
    options.progress = &job->progress.report;
    options.keep_keys = against->keep.keys;
    options.keep_key_count = against->keep.count;
    if (values->format == NIGH_FORMAT_HEX && values->signing.bits.given)
        options.width_bits = (uint32_t)values->signing.bits.value;
    const nigh_status status = nigh_live_open(job->context, against->path, &options, &stream->live, &job->error);
    cli_progress_clear(&job->progress);
    if (status != NIGH_OK) return cli_fail(job);
    stream->info.size = sizeof stream->info;
    nigh_live_describe(stream->live, &stream->info);
    tell_recovered(stream);
    return CLI_DONE;
}

static int open_input(struct stream *stream) {
    const struct cli_job *job = stream->job;
    const char *path = job->operand_count < 2 ? "-" : job->operands[1];
    if (strcmp(path, "-") == 0) return CLI_DONE;
    stream->input = open(path, O_RDONLY | O_CLOEXEC);
    if (stream->input >= 0) return CLI_DONE;
    cli_set_system_error(stream->job, errno, path, "open");
    return cli_fail(stream->job);
}

static void summarise(struct stream *stream) {
    struct cli_job *job = stream->job;
    struct cli_stats *stats = &job->stats;
    nigh_live_describe(stream->live, &stream->info);
    const nigh_live_info *info = &stream->info;
    stats->complete = true;
    stats->documents = info->taken;
    cli_stats_rate(stats, info->taken);
    cli_stats_count(stats, "added", info->added);
    cli_stats_count(stats, "matched", stream->matched);
    cli_stats_count(stats, "errors", stream->errors);
    cli_stats_count(stats, "syncs", info->syncs);
    cli_stats_count(stats, "segments", info->segments);
    cli_stats_count(stats, "recovered", info->recovered);
    cli_stats_count(stats, "compared", info->compared);
    cli_stats_count(stats, "truncated", info->truncated);
    cli_note(job, "%s: %" PRIu64 " new, added; %" PRIu64 " there already; %s",
             cli_counted(info->taken, "document", "documents").text, info->added, stream->matched,
             cli_counted(info->syncs, "sync", "syncs").text);
}

/* To the end of the input; what was acknowledged is safe whatever ends it before. */
static int run_stream(struct stream *stream) {
    struct cli_job *job = stream->job;
    const double started = cli_seconds();
    bool ready = true;
    int code = open_input(stream);
    while (code == CLI_DONE && (code = gather(stream, &ready)) == CLI_DONE && ready) code = answer_group(stream);
    if (code != CLI_DONE) return code;
    if (cli_interrupted() != 0) {
        cli_set_error(job, NIGH_ECANCELLED, "", "cancelled");
        return cli_fail(job);
    }
    if (nigh_live_commit(stream->live, NULL, &job->error) != NIGH_OK) return cli_fail(job);
    job->stats.work_seconds = cli_seconds() - started;
    summarise(stream);
    return CLI_DONE;
}

int cli_against_stream(struct against *against) {
    struct stream stream = {.against = against, .job = against->job, .input = STDIN_FILENO};
    if (against->job->operand_count == 0) return cli_usage(against->job->command, "no COLLECTION given");
    against->path = against->job->operands[0];
    int code = check_stream(against);
    if (code == CLI_DONE && !cli_reading_fits(against->job, &against->values->reading)) code = CLI_ERROR;
    if (code == CLI_DONE) code = cli_against_plan_new(against);
    if (code == CLI_DONE) code = cli_against_keep_keys(against);
    if (code != CLI_DONE) return code;
    stream.id = malloc(NIGH_MAX_ID_LENGTH + 1);
    code = stream.id == NULL ? no_memory(&stream) : open_live(&stream);
    if (code == CLI_DONE) code = run_stream(&stream);
    nigh_live_close(stream.live);
    if (stream.input > STDIN_FILENO) (void)close(stream.input);
    free(stream.bytes);
    free(stream.entries);
    free(stream.documents);
    free(stream.answers);
    free(stream.room);
    free(stream.id);
    free(against->keep.text);
    return code;
}
