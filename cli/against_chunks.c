/* SPDX-License-Identifier: Apache-2.0 */
/* The part of nigh against that compares with a file of chunks instead of a collection. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "against_output.h"

static bool is_named_chunks(const char *path) {
    size_t length = strlen(path);
    return length > 7 && strcmp(path + length - 7, ".chunks") == 0;
}

bool cli_against_is_chunks(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0) return !S_ISDIR(status.st_mode);
    return errno == ENOENT && is_named_chunks(path);
}

/* ----------------------------------------------------------------- opening -- */

/* The library takes an empty file, or one of zeros, for one of chunks whose making was cut short; so it may be, by its
 * name, but else it is somebody's. */
static int check_chunks(const struct against *against) {
    struct cli_job *job = against->job;
    nigh_chunks_options chunks_options;
    nigh_chunks_options_init(&chunks_options);
    nigh_chunks *chunks = NULL;
    if (is_named_chunks(against->path)) return CLI_DONE;
    nigh_status status = nigh_chunks_open(job->context, against->path, &chunks_options, &chunks, &job->error);
    nigh_chunks_close(chunks);
    if (status == NIGH_OK) return CLI_DONE;
    (void)cli_fail(job);
    if (status == NIGH_EFORMAT) cli_error(job, "--add starts a file of chunks only by a name that ends in .chunks");
    return CLI_ERROR;
}

/* The scheme that the file says; else the one that is asked for. */
static void choose_scheme(struct against *against) {
    const char *said = nigh_against_scheme(against->work);
    const struct cli_signing *signing = &against->values->signing;
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    against->has_scheme = true;
    against->scheme = signing->scheme == 0 ? NIGH_SCHEME_SIMHASH : (nigh_scheme_kind)(signing->scheme - 1);
    if (said != NULL && nigh_signer_options_parse(said, &held, NULL) == NIGH_OK) against->scheme = held.scheme;
}

int cli_against_open_chunks(struct against *against) {
    struct cli_job *job = against->job;
    const struct cli_signing *signing = &against->values->signing;
    if (against->values->approximate || against->values->rotations.given)
        return cli_usage(job->command, "--approximate and --rotations are for a collection, not for chunks");
    if (against->values->without_numbers)
        return cli_usage(job->command, "--without-numbers is for a collection; chunks are not loaded");
    if (against->values->records != NULL || against->values->threshold != NULL || against->values->no_verify)
        return cli_usage(job->command, "-o, --threshold and --no-verify are for a collection for near-copies, not for "
                                       "chunks; --new lists the ids of what is new");
    if (signing->bits.given && signing->bits.value != 64)
        return cli_usage(job->command, "chunks hold signatures of 64 bits, not %llu",
                         (unsigned long long)signing->bits.value);
    int code = against->values->add ? check_chunks(against) : CLI_DONE;
    if (code != CLI_DONE) return code;
    nigh_status status =
        nigh_against_open_chunks(job->context, against->path, &against->options, &against->work, &job->error);
    if (status != NIGH_OK) return cli_fail(job);
    cli_against_look(against);
    choose_scheme(against);
    return cli_against_check_radius(against, 64,
                                    against->values->radius.given ? (uint32_t)against->values->radius.value
                                                                  : nigh_default_radius(against->scheme, 64));
}

/* ----------------------------------------------------------------- signing -- */

static bool is_asked(const struct cli_signing *signing) {
    return signing->scheme != 0 || signing->weights != 0 || cli_words_asked(signing) || signing->split != 0 ||
           signing->seed.given || signing->density.given || signing->min_terms.given || signing->max_terms.given ||
           signing->features != NULL || signing->vocabulary != NULL;
}

/* Options given for a file that says itself how: what is not given is as it says, so that only what is can differ. */
static nigh_status lay_over(struct against *against, const char *said, nigh_signer_options *signer) {
    struct cli_job *job = against->job;
    const struct cli_signing *signing = &against->values->signing;
    struct cli_signing asked = *signing;
    nigh_chunks *chunks = nigh_against_chunks(against->work);
    const bool other_kind = signing->scheme != 0 && signing->scheme != (int)against->scheme + 1;
    asked.bits = (struct cli_number){.value = 64, .given = true};
    if (cli_signer_options(job, &asked, against->path, other_kind ? NULL : said, signer) != CLI_DONE) {
        job->error.status = NIGH_OK; /* it was said */
        return NIGH_EINVAL;
    }
    nigh_status status = NIGH_OK;
    if (signing->model != NULL)
        status = cli_model_get(job, signing->model, NULL, signer, &against->model);
    else if (signer->scheme == NIGH_SCHEME_LEARNED)
        status = nigh_chunks_model(chunks, &against->model, &job->error);
    signer->model = against->model;
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    if (status == NIGH_OK && signing->vocabulary == NULL && info.vocabulary_bytes > 0 &&
        nigh_signer_needs_vocabulary(signer))
        status = nigh_chunks_vocabulary(chunks, &against->vocabulary, &job->error);
    return status;
}

/* For a file that does not say: it is new, or of an older version. */
static nigh_status ask_options(struct against *against, nigh_signer_options *signer) {
    struct cli_job *job = against->job;
    struct cli_signing signing = against->values->signing;
    signing.scheme = (int)against->scheme + 1;
    signing.bits = (struct cli_number){.value = 64, .given = true};
    if (cli_signer_options(job, &signing, NULL, NULL, signer) != CLI_DONE) return NIGH_EINVAL;
    if (against->info.documents > 0)
        cli_note(job,
                 "'%s' does not say how its signatures were made, as files of older versions do not: these documents "
                 "are signed by %s, and match only those that were signed the same",
                 against->path, cli_scheme_name(signer->scheme));
    return cli_model_get(job, signing.model, NULL, signer, &against->model);
}

nigh_status cli_against_sign_chunks(struct against *against) {
    struct cli_job *job = against->job;
    const struct against_values *values = against->values;
    const char *said = nigh_against_scheme(against->work);
    nigh_signer_options signer;
    nigh_signer_options_init(&signer);
    const bool own = said != NULL && nigh_signer_options_parse(said, &signer, NULL) == NIGH_ENOTFOUND;
    if (said != NULL && (own || !is_asked(&values->signing))) return NIGH_OK; /* the library does as the file says */
    nigh_status status = said != NULL ? lay_over(against, said, &signer) : ask_options(against, &signer);
    if (status == NIGH_OK && against->vocabulary == NULL)
        status = cli_vocabulary_get(job, &against->inputs, &values->reading, cli_text_format(values->format),
                                    &values->signing, &signer, &against->vocabulary);
    signer.vocabulary = against->vocabulary;
    return status == NIGH_OK ? nigh_signer_new(job->context, &signer, &against->signer, &job->error) : status;
}
