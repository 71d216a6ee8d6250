/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, documents. The library does the work; this file turns the tool's options
 * into the library's, and what the library reports into messages.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "indexing.h"
#include "signals.h"

#define REPEATS_SHOWN 3

/* ---------------------------------------------------- what is there already -- */

bool cli_index_scheme_fits(const struct indexer *indexer) {
    const struct cli_signing *signing = &indexer->values->signing;
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    if (indexer->before == NULL ||
        nigh_signer_options_parse(nigh_collection_scheme(indexer->before), &held, NULL) != NIGH_OK)
        return true; /* whoever needs it says why not */
    int scheme = (int)held.scheme + 1;
    int weights = (int)held.weights;
    if (signing->scheme != 0 && signing->scheme != scheme) {
        cli_error(indexer->job, "'%s' holds %s signatures; they cannot be mixed with %s", indexer->path,
                  cli_scheme_name(held.scheme), cli_scheme_name((nigh_scheme_kind)(signing->scheme - 1)));
        return false;
    }
    if (!cli_scheme_fits(indexer->job, signing->scheme, signing->model, indexer->path, indexer->before)) return false;
    /* Said now, because other weights may ask for a vocabulary that is not there. */
    if (signing->weights != 0 && weights != 0 && signing->weights != weights) {
        cli_error(indexer->job, "'%s': its signatures have weights=%s; they cannot be mixed with weights=%s",
                  indexer->path, cli_weight_names[weights], cli_weight_names[signing->weights]);
        return false;
    }
    return true;
}

/* ------------------------------------------------- what the library tells -- */

/* Crawls hold pages twice; the first of an id stays. */
static void tell_repeat(void *user, const nigh_signed *row) {
    struct indexer *indexer = user;
    struct cli_job *job = indexer->job;
    const struct cli_shown id = cli_shown(row->document->id, row->document->id_length);
    indexer->repeated++;
    if (indexer->values->reading.strict)
        cli_error(job, "'%s': the id '%s' already exists; nothing was added", row->source, id.text);
    else if (indexer->repeated <= REPEATS_SHOWN && !job->common->quiet)
        cli_error(job, "skipped: '%s': the id '%s' already exists%s", row->source, id.text,
                  indexer->repeated == REPEATS_SHOWN ? "; more such are counted, not shown" : "");
}

/* What is left out here is nowhere in the collection, so it is said also with --quiet. */
static void tell_change(void *user, const nigh_signed *row) {
    struct indexer *indexer = user;
    struct cli_job *job = indexer->job;
    const struct cli_shown id = cli_shown(row->document->id, row->document->id_length);
    indexer->changed++;
    if (indexer->values->reading.strict)
        cli_error(job, "'%s': the id '%s' already exists, with another text; nothing was added", row->source, id.text);
    else if (indexer->changed <= REPEATS_SHOWN)
        cli_error(job, "skipped: '%s': the id '%s' already exists, with another text%s", row->source, id.text,
                  indexer->changed == REPEATS_SHOWN ? "; more such are counted, not shown" : "");
}

static int ask_before_commit(void *user, const nigh_index_result *so_far) {
    struct indexer *indexer = user;
    indexer->width_bits = so_far->width_bits;
    indexer->refused = cli_index_check_slices(indexer) != CLI_DONE;
    return indexer->refused || cli_interrupted() != 0;
}

/* The exit code of a failure, said where it was not said yet. */
static int tell_failure(const struct indexer *indexer, nigh_status status) {
    struct cli_job *job = indexer->job;
    const nigh_index_result *result = &indexer->result;
    if (indexer->refused || (status == NIGH_EEXISTS && result->repeated > 0)) return CLI_ERROR;
    if (job->error.reason != NIGH_REASON_NO_DOCUMENT) return cli_fail(job);
    cli_error(job, "no document to index was found%s; '%s' was not made",
              cli_skipped_by(&result->signing, result->learned != 0).text, indexer->path);
    return CLI_NOTHING;
}

/* --------------------------------------------------------------------- how -- */

/* What files the options name: a vocabulary, and for a new collection a model. */
static nigh_status load_files(struct indexer *indexer, nigh_signer_options *signer) {
    struct cli_job *job = indexer->job;
    const struct cli_signing *signing = &indexer->values->signing;
    nigh_status status = NIGH_OK;
    if (indexer->before == NULL) status = cli_model_get(job, signing->model, NULL, signer, &indexer->model);
    if (status != NIGH_OK || !nigh_signer_needs_vocabulary(signer)) return status;
    if (signing->vocabulary != NULL)
        status = nigh_vocabulary_load(job->context, signing->vocabulary, &indexer->vocabulary, &job->error);
    else if (indexer->before == NULL)
        status = cli_inputs_readable_twice(job, &indexer->inputs);
    signer->vocabulary = indexer->vocabulary;
    return status;
}

static void set_options(struct indexer *indexer, const nigh_signer_options *signer, nigh_index_options *out) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    nigh_index_options_init(out);
    out->signer = signer;
    out->snippet = (uint32_t)values->snippet.value;
    out->keep_weights = values->keep_weights;
    out->keep_masks = values->keep_masks || values->graph;
    out->limit = values->reading.limit.value;
    out->limit_passages = values->reading.limit_passages.value;
    out->vocabulary_bytes = values->signing.memory.value;
    out->threads = job->threads;
    out->merge = !values->no_merge;
    out->strict = values->reading.strict;
    out->replace = values->replace;
    out->repeated = tell_repeat;
    out->changed = tell_change;
    out->before_commit = ask_before_commit;
    out->user = indexer;
    out->progress = &job->progress.report;
}

/* Near-copies of a new collection by minhash can be verified, unless that is not wanted or cannot be. */
static int choose_threshold(const struct indexer *indexer, nigh_signer_options *signer) {
    const char *asked = indexer->values->threshold;
    struct cli_job *job = indexer->job;
    const bool fits = signer->scheme == NIGH_SCHEME_MINHASH && signer->split == NIGH_SPLIT_NONE &&
                      (signer->width_bits == 0 || signer->width_bits == 256);
    double threshold = fits ? 0.8 : 0;
    if (asked != NULL && strcmp(asked, "0") == 0)
        threshold = 0;
    else if (!cli_amount_share(job, "--threshold", asked, &threshold))
        return CLI_ERROR;
    if (asked != NULL && threshold > 0 && !fits)
        return cli_usage(job->command, "--threshold goes with --scheme minhash of 256 bits, and whole documents");
    if (indexer->before == NULL) signer->threshold = threshold;
    return CLI_DONE;
}

static nigh_status add_documents(struct indexer *indexer, const nigh_signer_options *signer) {
    struct cli_job *job = indexer->job;
    nigh_index_options options;
    nigh_text_reader_options reading;
    nigh_stream stream = {0};
    struct cli_problems problems;
    if (!cli_inputs_stream(job, &indexer->inputs, &stream)) return NIGH_EINVAL;
    struct cli_keep_keys keep;
    if (!cli_keep_keys(job, indexer->values->keep_keys, &keep)) return NIGH_ENOMEM;
    cli_reader_options(job, &indexer->values->reading, cli_text_format(indexer->values->format), &problems, &reading);
    if (stream.read != NULL) reading.stream = &stream;
    set_options(indexer, signer, &options);
    reading.keep_keys = keep.keys;
    reading.keep_key_count = keep.count;
    const nigh_status status =
        nigh_index_documents(job->context, indexer->path, indexer->inputs.paths, indexer->inputs.count, &reading,
                             &options, &indexer->result, &job->error);
    free(keep.text);
    return status;
}

int cli_index_documents(struct indexer *indexer) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    nigh_signer_options signer;
    const char *scheme = indexer->before == NULL ? NULL : nigh_collection_scheme(indexer->before);
    if (values->ids != NULL) return cli_usage(job->command, "--ids is for signatures; documents have ids of their own");
    int code = cli_signer_options(job, &values->signing, indexer->path, scheme, &signer);
    if (code == CLI_DONE) code = choose_threshold(indexer, &signer);
    if (code != CLI_DONE) return code;
    nigh_status status = load_files(indexer, &signer);
    if (status == NIGH_OK) status = add_documents(indexer, &signer);
    cli_inputs_stop(&indexer->inputs);
    cli_progress_clear(&job->progress);
    indexer->width_bits = indexer->result.width_bits;
    return status == NIGH_OK ? CLI_DONE : tell_failure(indexer, status);
}
