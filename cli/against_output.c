/* SPDX-License-Identifier: Apache-2.0 */
/* What nigh against shows: the matches, the list of new ones, the summary. */
#include "against_output.h"

#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "signals.h"

void cli_against_look(struct against *against) {
    against->info.size = sizeof against->info;
    nigh_against_describe(against->work, &against->info);
}

/* ------------------------------------------------------------------ printing -- */

static struct cli_name name_of(const nigh_against_document *document, uint64_t number, char room[24]) {
    return cli_name_or_number(document->id, document->id_length, number, room);
}

/* The id it was added by, which is that of its cluster; before that its own. */
static struct cli_name added_name(const nigh_against_document *document, uint64_t number, char room[24]) {
    if (document->added_id == NULL) return name_of(document, number, room);
    return cli_name_or_number(document->added_id, document->added_id_length, number, room);
}

/* What is known of a match besides who it is. */
struct likeness {
    uint32_t distance;
    double similarity; /* negative: not known */
    bool input;        /* it is a new one itself */
};

/* `old` without a text: which one it is was not asked for. */
static void print_match(const struct against *against, struct cli_name incoming, struct cli_name old,
                        const struct likeness *likeness) {
    struct cli_sink *out = against->job->out;
    const bool copies = against->info.copies != 0;
    if (against->values->output == AGAINST_TSV) {
        cli_sink_escaped(out, incoming.text, incoming.length);
        cli_sink_text(out, "\t");
        if (old.text != NULL) cli_sink_escaped(out, old.text, old.length);
        cli_sink_format(out, "\t%u\t%s", likeness->distance, likeness->input ? "input" : "collection");
        if (copies && likeness->similarity >= 0) cli_sink_format(out, "\t%.6f", likeness->similarity);
        cli_sink_text(out, "\n");
        return;
    }
    cli_sink_text(out, "{\"id1\":");
    cli_sink_json(out, incoming.text, incoming.length);
    if (old.text != NULL) {
        cli_sink_text(out, ",\"id2\":");
        cli_sink_json(out, old.text, old.length);
    }
    cli_sink_format(out, ",\"distance\":%u", likeness->distance);
    if (likeness->input) cli_sink_text(out, ",\"input\":true");
    if (copies && likeness->similarity >= 0) cli_sink_format(out, ",\"similarity\":%.6f", likeness->similarity);
    if (copies) {
        cli_sink_text(out, ",\"cluster\":");
        cli_sink_json(out, old.text, old.length);
    }
    cli_sink_text(out, "}\n");
}

static nigh_status print_there(const struct against *against, struct cli_name name,
                               const nigh_against_document *document, char *id) {
    const nigh_collection *collection = nigh_against_collection(against->work);
    const bool numbered = !against->values->without_numbers;
    const bool named = collection != NULL && against->held.has_ids && numbered;
    nigh_status status = NIGH_OK;
    char room[24];
    for (size_t i = 0; i < document->there_count && status == NIGH_OK; i++) {
        const nigh_match *match = &document->there[i];
        size_t length = 0;
        if (named)
            status = nigh_collection_id(collection, match->document, id, NIGH_MAX_ID_LENGTH + 1, &length,
                                        &against->job->error);
        if (status == NIGH_OK && against->job->out->error != 0) status = NIGH_EIO; /* nobody reads on */
        const struct likeness likeness = {.distance = match->distance, .similarity = document->similarity};
        const struct cli_name old = numbered && status == NIGH_OK
                                        ? cli_name_or_number(named ? id : NULL, length, match->document, room)
                                        : (struct cli_name){0};
        if (status == NIGH_OK) print_match(against, name, old, &likeness);
    }
    return status;
}

static nigh_status print_earlier(const struct against *against, struct cli_name name,
                                 const nigh_against_document *document) {
    nigh_against_document old = {.size = sizeof old};
    char room[24];
    for (size_t i = 0; i < document->earlier_count; i++) {
        const nigh_match match = document->earlier[i];
        const struct likeness likeness = {
            .distance = match.distance, .similarity = document->similarity, .input = true};
        if (against->job->out->error != 0) return NIGH_EIO; /* nobody reads on */
        (void)nigh_against_look(against->work, match.document, &old);
        print_match(against, name, added_name(&old, match.document, room), &likeness);
    }
    return NIGH_OK;
}

nigh_status cli_against_print(const struct against *against) {
    nigh_status status = NIGH_OK;
    nigh_against_document document = {.size = sizeof document};
    char room[24];
    char *id = malloc(NIGH_MAX_ID_LENGTH + 1);
    if (id == NULL) {
        cli_set_error(against->job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    for (uint64_t i = 0; status == NIGH_OK; i++) {
        status = nigh_against_at(against->work, i, &document);
        if (status != NIGH_OK) break;
        const struct cli_name name = name_of(&document, i, room);
        status = print_there(against, name, &document, id);
        if (status == NIGH_OK) status = print_earlier(against, name, &document);
        if (status == NIGH_OK && i % 1024 == 0 && cli_interrupted() != 0) status = NIGH_ECANCELLED;
    }
    free(id);
    if (status == NIGH_END) status = NIGH_OK;
    if (status != NIGH_OK && against->job->error.status == NIGH_OK && against->job->out->error == 0)
        cli_set_error(against->job, status, against->options.temporary, "cannot read the matches back");
    if (!cli_sink_flush(against->job->out) && status == NIGH_OK) status = NIGH_EIO;
    return status;
}

/* --------------------------------------------------------------------- lists -- */

/* Whether a document is listed: it is new, and was added where that was asked for. */
static bool is_listed(const struct against *against, const nigh_against_document *document) {
    return document->unmatched && (!document->id_taken || against->info.copies);
}

static int fail_list(struct against *against, const struct cli_sink *sink, const char *path) {
    if (sink != NULL && sink->error != 0) cli_set_system_error(against->job, sink->error, path, "write");
    return cli_fail(against->job);
}

static int open_list(struct against *against, const char *path, size_t number, struct cli_sink **out) {
    struct cli_job *job = against->job;
    if (path == NULL) return CLI_DONE;
    *out = malloc(sizeof **out);
    if (*out == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    if (!cli_sink_open(*out, path)) return fail_list(against, *out, path);
    return cli_pending_carry(job, &against->pending.lists[number], *out) ? CLI_DONE : cli_fail(job);
}

int cli_against_open_lists(struct against *against) {
    const struct against_values *values = against->values;
    const char *const paths[CLI_PENDING_LISTS] = {values->records, values->new_path};
    if (values->add &&
        !cli_pending_look(against->job, paths, nigh_against_collection(against->work), &against->pending))
        return cli_fail(against->job);
    int code = open_list(against, values->records, 0, &against->records);
    return code == CLI_DONE ? open_list(against, values->new_path, 1, &against->ids) : code;
}

static void put_ids(struct against *against) {
    nigh_against_document document = {.size = sizeof document};
    for (uint64_t i = 0; nigh_against_look(against->work, i, &document) == NIGH_OK; i++) {
        char room[24];
        if (!is_listed(against, &document)) continue;
        const struct cli_name name = added_name(&document, i, room);
        cli_sink_escaped(against->ids, name.text, name.length);
        cli_sink_text(against->ids, "\n");
    }
}

static bool put_records(struct against *against) {
    nigh_dedup_write_options options;
    nigh_dedup_write_options_init(&options);
    const nigh_stream stream = cli_sink_stream(against->records);
    options.stream = &stream;
    return nigh_against_write(against->work, against->values->records, &options, NULL, &against->job->error) == NIGH_OK;
}

/* One that is added, by its id; false: none is. */
static bool find_added(const struct against *against, nigh_against_document *out) {
    for (uint64_t i = 0; nigh_against_look(against->work, i, out) == NIGH_OK; i++) {
        if (out->added_as == NIGH_ALL_64 || out->id == NULL) continue;
        if (out->added_id == NULL) {
            out->added_id = out->id;
            out->added_id_length = out->id_length;
        }
        return true;
    }
    return false;
}

/* They are on the disk but for their names. */
static bool announce(struct against *against) {
    const char *const temporaries[CLI_PENDING_LISTS] = {
        against->records == NULL ? NULL : against->records->temporary,
        against->ids == NULL ? NULL : against->ids->temporary,
    };
    nigh_against_document added = {.size = sizeof added};
    if (!against->values->add) return true;
    const bool any = find_added(against, &added);
    return cli_pending_write(against->job, &against->pending, temporaries, any ? added.added_id : NULL,
                             added.added_id_length);
}

int cli_against_write_lists(struct against *against) {
    const struct against_values *values = against->values;
    if (against->ids != NULL) put_ids(against);
    if (against->records != NULL && !put_records(against)) return fail_list(against, against->records, values->records);
    if (against->records != NULL && !cli_sink_sync(against->records))
        return fail_list(against, against->records, values->records);
    if (against->ids != NULL && !cli_sink_sync(against->ids)) return fail_list(against, against->ids, values->new_path);
    if (!announce(against)) return cli_fail(against->job);
    if (against->records != NULL && !cli_sink_finish(against->records))
        return fail_list(against, against->records, values->records);
    if (against->ids != NULL && !cli_sink_finish(against->ids))
        return fail_list(against, against->ids, values->new_path);
    return CLI_DONE;
}

void cli_against_end_lists(struct against *against) { cli_pending_end(&against->pending); }

static void release_list(struct cli_sink *sink) {
    if (sink != NULL && sink->owned) cli_sink_abandon(sink);
    free(sink);
}

void cli_against_release_lists(struct against *against) {
    release_list(against->records);
    release_list(against->ids);
    cli_pending_release(&against->pending);
}

/* ------------------------------------------------------------------ telling -- */

static void count_all(const struct against *against, const nigh_finder_info *finder, const nigh_signing_info *signing) {
    struct cli_stats *stats = &against->job->stats;
    const nigh_against_info *info = &against->info;
    stats->complete = true;
    stats->documents = info->documents;
    stats->queries = info->incoming;
    cli_stats_rate(stats, info->incoming);
    cli_stats_count(stats, "matches", info->matches);
    cli_stats_count(stats, "there", info->there);
    cli_stats_count(stats, "repeated", info->repeated);
    cli_stats_count(stats, "new", info->unmatched);
    cli_stats_count(stats, "added", info->added);
    if (!info->copies) cli_stats_count(stats, "radius", info->radius);
    cli_stats_count(stats, "distances", info->distances);
    cli_stats_count(stats, "probes", info->probes);
    cli_stats_count(stats, "truncated", info->truncated);
    cli_stats_count(stats, "exact", info->exact != 0);
    cli_stats_count(stats, "verified", info->verified != 0);
    cli_stats_count(stats, "ids_taken", info->ids_taken);
    cli_stats_count(stats, "lost", info->lost);
    cli_stats_count(stats, "untold", info->untold);
    cli_stats_count(stats, "finder_bytes", finder->bytes);
    if (info->texts) cli_stats_signing(stats, signing);
}

/* "exact (tables, 5 choose 2)".  Texts that were compared by their bits alone are no proof of anything. */
static void tell_method(const nigh_against_info *info, const nigh_finder_info *finder, char *out, size_t capacity) {
    const char *exact = info->exact ? info->texts ? "all within them" : "exact" : "approximate";
    const char *unverified = info->texts ? ", texts not verified" : "";
    char setting[128] = "";
    if (finder->method == NIGH_FINDER_TABLES)
        (void)snprintf(setting, sizeof setting, "%s, %u choose %u", finder->bytes == 0 ? " of the collection" : "",
                       finder->blocks, finder->leading);
    if (finder->method == NIGH_FINDER_PSM)
        (void)snprintf(setting, sizeof setting, ", %u probes of %u bits in %s", finder->probes, finder->prefix_bits,
                       cli_counted(finder->rotations, "table", "tables").text);
    if (finder->method == NIGH_FINDER_AUTO)
        (void)snprintf(out, capacity, "%s%s", exact, unverified);
    else
        (void)snprintf(out, capacity, "%s (%s%s)%s", exact, nigh_finder_method_name(finder->method), setting,
                       unverified);
}

static void note_outcome(const struct against *against, const char *method, const char *skipped) {
    struct cli_job *job = against->job;
    const nigh_against_info *info = &against->info;
    char repeated[96] = "";
    char added[128] = "";
    if (info->repeated > 0)
        (void)snprintf(repeated, sizeof repeated, ", %s earlier one of the input",
                       info->repeated == 1 ? "1 repeats an" : cli_counted(info->repeated, "", "repeat an").text);
    if (against->values->add) (void)snprintf(added, sizeof added, ", %s added", cli_digits(info->added).text);
    char within[64];
    if (info->copies)
        (void)snprintf(within, sizeof within, "at Jaccard %g", info->threshold);
    else
        (void)snprintf(within, sizeof within, "within %u bits", info->radius);
    cli_note(job, "%s against %s of '%s' %s: %s there%s, %s new%s; %s; %.2f s (%s/s)%s",
             info->texts ? cli_counted(info->incoming, "document", "documents").text
                         : cli_counted(info->incoming, "signature", "signatures").text,
             cli_digits(info->documents).text, against->path, within, cli_digits(info->there).text, repeated,
             cli_digits(info->unmatched).text, added, method, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text, skipped);
    if (info->untold > 0)
        cli_note(job,
                 "%s not listed: %s, and of more than 1,000 equal new ones that repeat an earlier one, one match each",
                 cli_counted(info->untold, "more match is", "more matches are").text,
                 against->values->max_matches.given ? "of each document the nearest are, up to --max-matches"
                                                    : "of each document all that are in the collection are");
    if (info->truncated > 0)
        cli_note(job, "%s more rows than are compared for one; some matches may be missing",
                 cli_counted(info->truncated, "look-up found", "look-ups found").text);
}

void cli_against_summarise(struct against *against) {
    nigh_finder_info finder = {.size = sizeof finder};
    nigh_signing_info signing = {.size = sizeof signing};
    char method[200];
    cli_against_look(against);
    nigh_against_describe_finder(against->work, &finder);
    nigh_against_describe_signing(against->work, &signing);
    count_all(against, &finder, &signing);
    if (against->info.copies)
        (void)snprintf(method, sizeof method, "%s",
                       against->info.verified ? "verified by text" : "unverified: by bits alone");
    else
        tell_method(&against->info, &finder, method, sizeof method);
    note_outcome(against, method,
                 against->info.texts ? cli_skipped_by(&signing, against->scheme == NIGH_SCHEME_LEARNED).text : "");
}
