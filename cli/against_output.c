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

static void print_match(const struct against *against, struct cli_name incoming, struct cli_name old, uint32_t distance,
                        bool input) {
    struct cli_sink *out = against->job->out;
    if (against->values->output == AGAINST_TSV) {
        cli_sink_bytes(out, incoming.text, incoming.length);
        cli_sink_text(out, "\t");
        cli_sink_bytes(out, old.text, old.length);
        cli_sink_format(out, "\t%u\t%s\n", distance, input ? "input" : "collection");
        return;
    }
    cli_sink_text(out, "{\"id1\":");
    cli_sink_json(out, incoming.text, incoming.length);
    cli_sink_text(out, ",\"id2\":");
    cli_sink_json(out, old.text, old.length);
    cli_sink_format(out, ",\"distance\":%u%s}\n", distance, input ? ",\"input\":true" : "");
}

static nigh_status print_there(const struct against *against, struct cli_name name,
                               const nigh_against_document *document, char *id) {
    const nigh_collection *collection = nigh_against_collection(against->work);
    const bool named = collection != NULL && against->held.has_ids;
    nigh_status status = NIGH_OK;
    char room[24];
    for (size_t i = 0; i < document->there_count && status == NIGH_OK; i++) {
        const nigh_match *match = &document->there[i];
        size_t length = 0;
        if (named)
            status = nigh_collection_id(collection, match->document, id, NIGH_MAX_ID_LENGTH + 1, &length,
                                        &against->job->error);
        if (status == NIGH_OK && against->job->out->error != 0) status = NIGH_EIO; /* nobody reads on */
        if (status == NIGH_OK)
            print_match(against, name, cli_name_or_number(named ? id : NULL, length, match->document, room),
                        match->distance, false);
    }
    return status;
}

static nigh_status print_earlier(const struct against *against, struct cli_name name,
                                 const nigh_against_document *document) {
    nigh_against_document old = {.size = sizeof old};
    char room[24];
    for (size_t i = 0; i < document->earlier_count; i++) {
        const nigh_match *match = &document->earlier[i];
        if (against->job->out->error != 0) return NIGH_EIO; /* nobody reads on */
        (void)nigh_against_at(against->work, match->document, &old);
        print_match(against, name, name_of(&old, match->document, room), match->distance, true);
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
    for (uint64_t i = 0; status == NIGH_OK && nigh_against_at(against->work, i, &document) == NIGH_OK; i++) {
        const struct cli_name name = name_of(&document, i, room);
        status = print_there(against, name, &document, id);
        if (status == NIGH_OK) status = print_earlier(against, name, &document);
        if (status == NIGH_OK && i % 1024 == 0 && cli_interrupted() != 0) status = NIGH_ECANCELLED;
    }
    free(id);
    if (!cli_sink_flush(against->job->out) && status == NIGH_OK) status = NIGH_EIO;
    return status;
}

/* ----------------------------------------------------------------------- new -- */

static void put_new(struct against *against) {
    nigh_against_document document = {.size = sizeof document};
    for (uint64_t i = 0; nigh_against_at(against->work, i, &document) == NIGH_OK; i++) {
        char room[24];
        const struct cli_name name = name_of(&document, i, room);
        if (!document.unmatched || document.id_taken) continue;
        cli_sink_bytes(against->fresh, name.text, name.length);
        cli_sink_text(against->fresh, "\n");
    }
}

static int fail_new(struct against *against) {
    cli_set_system_error(against->job, against->fresh->error, against->values->new_path, "write");
    return cli_fail(against->job);
}

int cli_against_write_new(struct against *against) {
    const char *path = against->values->new_path;
    if (path == NULL) return CLI_DONE;
    against->fresh = malloc(sizeof *against->fresh);
    if (against->fresh == NULL) {
        cli_error(against->job, "out of memory");
        return CLI_ERROR;
    }
    if (!cli_sink_open(against->fresh, path)) return fail_new(against);
    put_new(against);
    return cli_sink_sync(against->fresh) ? CLI_DONE : fail_new(against);
}

int cli_against_finish_new(struct against *against) {
    if (against->fresh == NULL || cli_sink_finish(against->fresh)) return CLI_DONE;
    return fail_new(against);
}

void cli_against_release_new(struct against *against) {
    if (against->fresh != NULL && against->fresh->owned) cli_sink_abandon(against->fresh);
    free(against->fresh);
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
    cli_stats_count(stats, "radius", info->radius);
    cli_stats_count(stats, "distances", info->distances);
    cli_stats_count(stats, "probes", info->probes);
    cli_stats_count(stats, "truncated", info->truncated);
    cli_stats_count(stats, "exact", info->exact != 0);
    cli_stats_count(stats, "finder_bytes", finder->bytes);
    if (info->texts) cli_stats_signing(stats, signing);
}

/* "exact (tables, 5 choose 2)" */
static void tell_method(const nigh_finder_info *finder, bool is_exact, char *out, size_t capacity) {
    const char *exact = is_exact ? "exact" : "approximate";
    char setting[128] = "";
    if (finder->method == NIGH_FINDER_TABLES)
        (void)snprintf(setting, sizeof setting, ", %u choose %u", finder->blocks, finder->leading);
    if (finder->method == NIGH_FINDER_PSM)
        (void)snprintf(setting, sizeof setting, ", %u probes of %u bits in %s", finder->probes, finder->prefix_bits,
                       cli_counted(finder->rotations, "table", "tables").text);
    if (finder->method == NIGH_FINDER_AUTO)
        (void)snprintf(out, capacity, "%s", exact);
    else
        (void)snprintf(out, capacity, "%s (%s%s)", exact, nigh_finder_method_name(finder->method), setting);
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
    cli_note(job, "%s against %s of '%s' within %u bits: %s there%s, %s new%s; %s; %.2f s (%s/s)%s",
             info->texts ? cli_counted(info->incoming, "document", "documents").text
                         : cli_counted(info->incoming, "signature", "signatures").text,
             cli_digits(info->documents).text, against->path, info->radius, cli_digits(info->there).text, repeated,
             cli_digits(info->unmatched).text, added, method, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text, skipped);
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
    tell_method(&finder, against->info.exact != 0, method, sizeof method);
    note_outcome(against, method,
                 against->info.texts ? cli_skipped_by(&signing, against->scheme == NIGH_SCHEME_LEARNED).text : "");
}
