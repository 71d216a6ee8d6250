/* SPDX-License-Identifier: Apache-2.0 */
#include "writing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "document_lines.h"
#include "route.h"

#define LOOK_MS 50u /* whether it is time for a segment */

struct serve_live {
    struct serve_server *server;
    struct serve_book *book;
    nigh_live *live;   /* NULL: it is closed */
    uint64_t used_us;  /* when it was used last */
    uint64_t since_us; /* when the first document came that is in no segment; 0: there is none */
    atomic_uint_fast64_t in_log;
};

uint64_t serve_writing_in_log(const struct serve_book *book) {
    return book->live == NULL ? 0 : atomic_load(&book->live->in_log);
}

/* ------------------------------------------------------------------- live -- */

static void note_log(struct serve_live *writing) {
    nigh_live_info info = {.size = sizeof info};
    if (writing->live != NULL) nigh_live_describe(writing->live, &info);
    atomic_store(&writing->in_log, info.in_log);
    if (info.in_log == 0)
        writing->since_us = 0;
    else if (writing->since_us == 0)
        writing->since_us = serve_now_us();
}

/* After a failure nobody knows what the disk has: the next one opens it anew, and takes up the log. */
static void drop_live(struct serve_live *writing) {
    nigh_live_close(writing->live);
    writing->live = NULL;
    note_log(writing);
}

static nigh_status open_live(struct serve_live *writing, nigh_error *error) {
    nigh_live_options options;
    writing->used_us = serve_now_us();
    if (writing->live != NULL) return NIGH_OK;
    nigh_live_options_init(&options);
    options.radius = writing->server->settings->radius;
    return nigh_live_open(writing->book->context, writing->book->path, &options, &writing->live, error);
}

static void note_commit(struct serve_book *book, const nigh_commit *commit) {
    if (commit->added == 0 && commit->deleted == 0) return;
    atomic_fetch_add(&book->commits, 1);
    atomic_fetch_add(&book->merged, commit->merged);
    serve_book_refresh(book);
}

/* What is in the log becomes a segment. */
static nigh_status fold(struct serve_live *writing, nigh_error *error) {
    nigh_commit commit = {.size = sizeof commit};
    if (writing->live == NULL || atomic_load(&writing->in_log) == 0) return NIGH_OK;
    const nigh_status status = nigh_live_commit(writing->live, &commit, error);
    if (status != NIGH_OK) {
        drop_live(writing);
        writing->since_us = 0;
        return status;
    }
    note_log(writing);
    note_commit(writing->book, &commit);
    return NIGH_OK;
}

/* The lock of the collection is free afterwards. */
static nigh_status release_live(struct serve_live *writing, nigh_error *error) {
    const nigh_status status = fold(writing, error);
    if (writing->live != NULL) drop_live(writing);
    return status;
}

/* Whatever it is time for. */
static void look_after(void *user) {
    struct serve_live *writing = user;
    const struct serve_settings *settings = writing->server->settings;
    const uint64_t now = serve_now_us();
    nigh_error error;
    if (writing->live == NULL) return;
    if (writing->since_us != 0 && now - writing->since_us >= (uint64_t)settings->visible_ms * 1000)
        (void)fold(writing, &error);
    if (writing->live != NULL && now - writing->used_us >= (uint64_t)settings->hold_ms * 1000)
        (void)release_live(writing, &error);
}

/* ------------------------------------------------------------ find or add -- */

/* A request of the group, and its lines. */
struct member {
    struct serve_request *request;
    struct serve_lines lines;
    bool read;
};

struct group {
    struct serve_live *writing;
    struct member *members;
    size_t count, documents;
    bool visible; /* somebody waits until searches find them */
};

static bool may_be_taken_alone(nigh_status status) {
    return status == NIGH_EINVAL || status == NIGH_EMISMATCH || status == NIGH_ELIMIT;
}

/* Each by itself, so that what is wrong with one says nothing of the others. */
static nigh_status take_each(struct group *group, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t m = 0; m < group->count; m++) {
        struct serve_lines *lines = &group->members[m].lines;
        for (size_t i = 0; i < lines->count && status == NIGH_OK; i++) {
            struct serve_line *line = &lines->items[i];
            if (!line->good) continue;
            status = nigh_live_find_or_add(group->writing->live, &line->document, 1, &line->answer, error);
            if (!may_be_taken_alone(status)) continue;
            line->good = false;
            (void)snprintf(line->why, sizeof line->why, "%.*s", (int)sizeof line->why - 1, error->why);
            status = NIGH_OK;
        }
    }
    return status;
}

/* All that are good one after the other, and back to their lines. */
static nigh_status take_all(struct group *group, nigh_error *error) {
    nigh_document *documents = calloc(group->documents, sizeof *documents);
    nigh_live_answer *answers = calloc(group->documents, sizeof *answers);
    size_t at = 0;
    nigh_status status = NIGH_ENOMEM;
    if (documents == NULL || answers == NULL) {
        *error = (nigh_error){.status = status, .offset = NIGH_NO_OFFSET};
    } else {
        for (size_t m = 0; m < group->count; m++)
            for (size_t i = 0; i < group->members[m].lines.count; i++)
                if (group->members[m].lines.items[i].good) documents[at++] = group->members[m].lines.items[i].document;
        status = nigh_live_find_or_add(group->writing->live, documents, at, answers, error);
        at = 0;
        for (size_t m = 0; m < group->count && status == NIGH_OK; m++)
            for (size_t i = 0; i < group->members[m].lines.count; i++)
                if (group->members[m].lines.items[i].good) group->members[m].lines.items[i].answer = answers[at++];
    }
    free(documents);
    free(answers);
    return may_be_taken_alone(status) ? take_each(group, error) : status;
}

static void put_live_id(struct serve_text *out, nigh_live *live, const char *key, uint64_t number) {
    char small[512];
    char *id = small;
    size_t length = 0;
    if (nigh_live_id(live, number, small, sizeof small, &length, NULL) != NIGH_OK) return;
    if (length > sizeof small) {
        id = malloc(length);
        if (id == NULL || nigh_live_id(live, number, id, length, &length, NULL) != NIGH_OK) out->failed = true;
    }
    serve_text_format(out, ",\"%s\":", key);
    if (id != NULL) serve_text_json(out, id, length);
    if (id != small) free(id);
}

static void put_answer(struct serve_text *out, nigh_live *live, const struct serve_line *line) {
    const nigh_live_answer *answer = &line->answer;
    const bool is_new = answer->match == NIGH_ALL_64;
    serve_lines_put_id(out, line);
    serve_text_format(out, ",\"new\":%s", is_new ? "true" : "false");
    if (is_new && answer->number == NIGH_ALL_64) serve_text_put(out, ",\"added\":false");
    if (is_new && answer->number != NIGH_ALL_64 && (answer->id_taken || line->document.id == NULL))
        put_live_id(out, live, "added_as", answer->number);
    if (!is_new) {
        put_live_id(out, live, "match", answer->match);
        serve_text_format(out, ",\"distance\":%u", answer->distance);
        if (answer->similarity >= 0) {
            serve_text_put(out, ",\"similarity\":");
            serve_text_json_real(out, answer->similarity, 6);
        }
    }
    if (answer->cluster != NIGH_ALL_64) put_live_id(out, live, "cluster", answer->cluster);
    serve_text_put(out, "}\n");
}

static void answer_member(struct group *group, struct member *member) {
    struct serve_request *request = member->request;
    struct serve_text *out = &request->reply.body;
    for (size_t i = 0; i < member->lines.count; i++) {
        const struct serve_line *line = &member->lines.items[i];
        if (line->good) {
            put_answer(out, group->writing->live, line);
            request->found += line->answer.number != NIGH_ALL_64;
        } else {
            serve_lines_put_bad(out, line);
        }
    }
    serve_answer(request, SERVE_LINES_TYPE);
}

static void read_members(struct group *group, struct serve_request *first) {
    for (struct serve_request *request = first; request != NULL; request = request->next) {
        struct member *member = &group->members[group->count++];
        struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
        member->request = request;
        if (snapshot == NULL)
            serve_problem_gone(request);
        else
            member->read = serve_lines_read(request, snapshot, &member->lines);
        serve_snapshot_give(snapshot);
        group->documents += member->lines.good;
        group->visible = group->visible || serve_request_flag(request, "visible");
    }
}

static nigh_status take_group(struct group *group, nigh_error *error) {
    struct serve_live *writing = group->writing;
    nigh_status status = group->documents == 0 ? NIGH_OK : open_live(writing, error);
    if (status == NIGH_OK && group->documents > 0) status = take_all(group, error);
    if (status != NIGH_OK && writing->live != NULL) drop_live(writing);
    return status;
}

static void count_group(const struct group *group) {
    atomic_fetch_add(&group->writing->server->metrics.groups, 1);
    atomic_fetch_add(&group->writing->server->metrics.grouped, group->count);
}

static void find_or_add(struct serve_live *writing, struct serve_request *first) {
    struct group group = {.writing = writing};
    nigh_error error = {.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET};
    size_t count = 0;
    for (const struct serve_request *request = first; request != NULL; request = request->next) count++;
    group.members = calloc(count, sizeof *group.members);
    if (group.members != NULL) read_members(&group, first);
    nigh_status status = group.members == NULL ? NIGH_ENOMEM : take_group(&group, &error);
    count_group(&group);
    for (size_t m = 0; m < group.count && status == NIGH_OK; m++)
        if (group.members[m].read) answer_member(&group, &group.members[m]);
    if (status == NIGH_OK) note_log(writing);
    if (status == NIGH_OK && group.visible) status = fold(writing, &error);
    for (struct serve_request *request = first, *next; request != NULL; request = next) {
        next = request->next;
        if (status != NIGH_OK && request->reply.status < 400) serve_problem_error(request, &error);
        serve_request_finish(request);
    }
    for (size_t m = 0; m < group.count; m++) serve_lines_release(&group.members[m].lines);
    free(group.members);
}

/* -------------------------------------------------------------- documents -- */

static void note_repeated(void *user, const nigh_signed *row) {
    const struct serve_lines *lines = user;
    struct serve_line *line = serve_lines_good(lines, row->number);
    if (line != NULL) line->repeated = true;
}

static nigh_status index_texts(struct serve_live *writing, struct serve_lines *lines, bool replace, nigh_commit *commit,
                               nigh_error *error) {
    struct serve_lines_source place = {.lines = lines};
    const nigh_source source = serve_lines_source(&place);
    nigh_index_options options;
    nigh_index_result result = {.size = sizeof result};
    nigh_index_options_init(&options);
    options.threads = 1;
    options.replace = replace;
    options.repeated = note_repeated;
    options.user = lines;
    const nigh_status status =
        nigh_index_source(writing->book->context, writing->book->path, &source, NULL, &options, &result, error);
    *commit = result.commit;
    return status;
}

static nigh_status add_signatures(struct serve_live *writing, struct serve_lines *lines, bool replace, uint32_t width,
                                  nigh_commit *commit, nigh_error *error) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_writer_options_init(&options);
    options.width_bits = width;
    options.replace = replace;
    nigh_status status = nigh_writer_open(writing->book->context, writing->book->path, &options, &writer, error);
    for (size_t i = 0; i < lines->count && status == NIGH_OK; i++) {
        struct serve_line *line = &lines->items[i];
        if (!line->good) continue;
        status = nigh_writer_add(writer, &line->document, error);
        if (status == NIGH_EEXISTS) line->repeated = true;
        if (status == NIGH_EINVAL || status == NIGH_EMISMATCH) {
            line->good = false;
            (void)snprintf(line->why, sizeof line->why, "%.*s", (int)sizeof line->why - 1, error->why);
        }
        if (status == NIGH_EEXISTS || status == NIGH_EINVAL || status == NIGH_EMISMATCH) status = NIGH_OK;
    }
    if (status == NIGH_OK) status = nigh_writer_commit(writer, commit, error);
    nigh_writer_close(writer);
    return status;
}

/* A line by its id. */
struct named {
    const char *id;
    size_t length;
    struct serve_line *line;
};

static int by_id_then_line(const void *a, const void *b) {
    const struct named *first = a, *second = b;
    const size_t shorter = first->length < second->length ? first->length : second->length;
    const int differ = memcmp(first->id, second->id, shorter);
    if (differ != 0) return differ;
    if (first->length != second->length) return first->length < second->length ? -1 : 1;
    return first->line->line < second->line->line ? -1 : 1;
}

/* Of those with one id in the body the first counts. */
static bool mark_repeated(struct serve_lines *lines) {
    struct named *named = calloc(lines->count + 1, sizeof *named);
    size_t count = 0;
    if (named == NULL) return false;
    for (size_t i = 0; i < lines->count; i++) {
        struct serve_line *line = &lines->items[i];
        if (line->good && line->document.id != NULL)
            named[count++] = (struct named){line->document.id, line->document.id_length, line};
    }
    qsort(named, count, sizeof *named, by_id_then_line);
    for (size_t i = 1; i < count; i++)
        if (named[i - 1].length == named[i].length && memcmp(named[i - 1].id, named[i].id, named[i].length) == 0)
            named[i].line->repeated = true;
    free(named);
    return true;
}

/* What is there now tells whether a document was added: a text without words is not. */
static void put_added(struct serve_request *request, const struct serve_lines *lines) {
    struct serve_text *out = &request->reply.body;
    struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
    for (size_t i = 0; i < lines->count; i++) {
        const struct serve_line *line = &lines->items[i];
        uint64_t number = 0;
        if (!line->good) {
            serve_lines_put_bad(out, line);
            continue;
        }
        const bool there =
            line->document.id == NULL ||
            (snapshot != NULL && nigh_collection_find(snapshot->collection, line->document.id, line->document.id_length,
                                                      &number, NULL) == NIGH_OK);
        serve_lines_put_id(out, line);
        if (line->repeated)
            serve_text_put(out, ",\"added\":false,\"why\":\"exists\"");
        else
            serve_text_put(out, there ? ",\"added\":true" : ",\"added\":false,\"why\":\"no words\"");
        request->found += there && !line->repeated;
        serve_text_put(out, "}\n");
    }
    serve_snapshot_give(snapshot);
}

static void add_documents(struct serve_live *writing, struct serve_request *request) {
    struct serve_lines lines = {.items = NULL};
    struct serve_snapshot *snapshot = serve_snapshot_take(request->book);
    const bool replace = serve_request_flag(request, "replace");
    nigh_commit commit = {.size = sizeof commit};
    nigh_error error;
    if (snapshot == NULL) {
        serve_problem_gone(request);
    } else if (serve_lines_read(request, snapshot, &lines) && !mark_repeated(&lines)) {
        serve_problem_memory(request);
    } else if (lines.items != NULL && request->reply.status == 0) {
        nigh_status status = lines.good == 0 ? NIGH_OK : release_live(writing, &error);
        if (status == NIGH_OK && lines.good > 0)
            status = snapshot->texts
                         ? index_texts(writing, &lines, replace, &commit, &error)
                         : add_signatures(writing, &lines, replace, snapshot->info.width_bits, &commit, &error);
        if (status == NIGH_OK) {
            if (lines.good > 0) note_commit(writing->book, &commit);
            put_added(request, &lines);
            serve_answer(request, SERVE_LINES_TYPE);
        } else {
            serve_problem_error(request, &error);
        }
    }
    serve_snapshot_give(snapshot);
    serve_lines_release(&lines);
    serve_request_finish(request);
}

/* --------------------------------------------------------------- deleting -- */

static nigh_status delete_one(nigh_writer *writer, struct serve_request *request, nigh_error *error) {
    nigh_status status = nigh_writer_delete(writer, request->document, request->document_length, error);
    if (status != NIGH_ENOTFOUND || memchr(request->document, '\\', request->document_length) == NULL) return status;
    const size_t plain = nigh_unescape(request->document, request->document_length, request->document);
    return nigh_writer_delete(writer, request->document, plain, error);
}

/* Not found is the answer of one; anything else ends it for all. */
static nigh_status delete_each(nigh_writer *writer, struct serve_request *first, nigh_error *error) {
    for (struct serve_request *request = first; request != NULL; request = request->next) {
        const nigh_status status = delete_one(writer, request, error);
        if (status == NIGH_ENOTFOUND || status == NIGH_EINVAL)
            serve_problem_error(request, error);
        else if (status != NIGH_OK)
            return status;
        request->items = 1;
        request->found = status == NIGH_OK;
    }
    return NIGH_OK;
}

static void delete_documents(struct serve_live *writing, struct serve_request *first) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_commit commit = {.size = sizeof commit};
    nigh_error error = {.status = NIGH_OK};
    nigh_writer_options_init(&options);
    nigh_status status = release_live(writing, &error);
    if (status == NIGH_OK)
        status = nigh_writer_open(writing->book->context, writing->book->path, &options, &writer, &error);
    if (status == NIGH_OK) status = delete_each(writer, first, &error);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, &commit, &error);
    nigh_writer_close(writer);
    if (status == NIGH_OK) note_commit(writing->book, &commit);
    for (struct serve_request *request = first, *next; request != NULL; request = next) {
        next = request->next;
        if (status != NIGH_OK) {
            serve_problem_error(request, &error);
        } else if (request->reply.status == 0) {
            serve_text_format(&request->reply.body, "{\"deleted\":true,\"sequence\":%" PRIu64 "}\n", commit.sequence);
            serve_answer(request, SERVE_JSON_TYPE);
        }
        serve_request_finish(request);
    }
}

/* ------------------------------------------------------------------- lane -- */

static bool is_route(const struct serve_request *request, const char *name) {
    return strcmp(request->route->name, name) == 0;
}

static bool joins(const struct serve_request *first, const struct serve_request *other) {
    return first->route == other->route && !is_route(first, "documents");
}

static void work(void *user, struct serve_request *first) {
    struct serve_live *writing = user;
    if (is_route(first, "find-or-add"))
        find_or_add(writing, first);
    else if (is_route(first, "delete"))
        delete_documents(writing, first);
    else
        add_documents(writing, first);
    look_after(writing);
}

nigh_status serve_writing_start(struct serve_server *server, struct serve_book *book, nigh_error *error) {
    struct serve_live *writing = calloc(1, sizeof *writing);
    *error = (nigh_error){.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET, .why = "out of memory"};
    if (writing == NULL) return NIGH_ENOMEM;
    writing->server = server;
    writing->book = book;
    book->live = writing;
    book->writing.work = work;
    book->writing.joins = joins;
    book->writing.idle = look_after;
    book->writing.idle_ms = LOOK_MS;
    book->writing.limit = server->settings->max_waiting;
    book->writing.most = UINT32_MAX;
    book->writing.user = writing;
    return serve_lane_start(&book->writing, 1) == 0 ? NIGH_OK : NIGH_ENOMEM;
}

void serve_writing_end(struct serve_book *book) {
    nigh_error error;
    if (book->live == NULL) return;
    serve_lane_end(&book->writing);
    (void)release_live(book->live, &error);
    free(book->live);
    book->live = NULL;
}
