/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands that read documents have in common: the options for reading
 * them and for signing them, in structs that a command puts into its own, and
 * the way from these to a reader and a signer of the library.
 *
 *     struct sign_values { struct cli_common common; struct cli_reading reading; struct cli_signing signing; ... };
 *     static const struct cli_option options[] = {CLI_READING_OPTIONS(PLACE(reading)), ... CLI_END};
 */
#ifndef NIGH_CLI_DOCUMENTS_H
#define NIGH_CLI_DOCUMENTS_H

#include "common.h"
#include "peek.h"

/* Values of --format: those of signatures, then those of documents. */
extern const char *const cli_input_formats[];
extern const char *const cli_text_formats[];

struct cli_reading {
    struct cli_list text_keys;
    const char *id_key;
    const char *label_key; /* these two NULL where the command does not take them */
    const char *part_key;
    const char *shard;
    struct cli_number limit;
    struct cli_number limit_passages; /* not given where the command does not take it */
    struct cli_number max_errors;
    struct cli_number max_document;
    struct cli_number max_expansion;
    struct cli_number max_members;
    struct cli_number max_depth;
    const char *scheme;           /* not an option: NULL, or that of a collection, whose keys are those of default */
    const char *const *keep_keys; /* not options either: those of --keep-keys, see cli_keep_keys() */
    size_t keep_key_count;
    bool strict;
    bool allow_loss;
    bool hidden;
    bool no_ignore;
    bool follow;
    struct cli_list include;
    struct cli_list exclude;
    struct cli_number min_bytes;
    struct cli_number min_words;
    const char *only_language;
};

struct cli_signing {
    int scheme;
    int weights;
    int stemming;
    int stop_words;
    int split;
    struct cli_number bits;
    struct cli_number seed;
    struct cli_number density;
    struct cli_number min_terms;
    struct cli_number max_terms;
    struct cli_number min_word_length;
    struct cli_number memory;
    bool no_numbers;
    const char *features;
    const char *language;
    const char *vocabulary;
    const char *model; /* the FILE of --scheme learned:FILE */
};

extern const char *const cli_scheme_names[]; /* of --scheme: "auto", then by nigh_scheme_kind */
extern const char *const cli_weight_names[];
extern const char *const cli_switch_names[];
extern const char *const cli_split_names[];

/* clang-format off */
#define CLI_READING_OPTIONS(at) \
    CLI_LIST(0, "text-key", (at) + offsetof(struct cli_reading, text_keys), "KEY", \
             "for JSON and CSV: where the text is, a dotted path such as page.body, or a column (default text); if " \
             "given more than once, the texts are joined by line breaks"), \
    CLI_TEXT(0, "id-key", (at) + offsetof(struct cli_reading, id_key), "KEY", \
             "for JSON and CSV: where the id is (default id)"), \
    CLI_NUMBER(0, "limit", (at) + offsetof(struct cli_reading, limit), "N", 1, NIGH_ALL_64, NULL, \
               "stop after N documents"), \
    CLI_TEXT(0, "shard", (at) + offsetof(struct cli_reading, shard), "I/N", \
             "only documents whose number, counting from 0, leaves the remainder I when divided by N"), \
    CLI_NUMBER(0, "max-errors", (at) + offsetof(struct cli_reading, max_errors), "N", 0, NIGH_ALL_64, "1000", \
               "malformed parts to skip before giving up"), \
    CLI_FLAG(0, "strict", (at) + offsetof(struct cli_reading, strict), "give up at the first malformed part"), \
    CLI_FLAG(0, "allow-loss", (at) + offsetof(struct cli_reading, allow_loss), \
             "go on even if input is lost: archives and compressed files that are cut short or damaged, files that " \
             "cannot be opened; without it that is an error, and nothing is written or added"), \
    CLI_LIST(0, "include", (at) + offsetof(struct cli_reading, include), "GLOB", \
             "in folders and archives: read only files that match, such as '*.txt', or 'a/*' from the folder given " \
             "on; may be given more than once"), \
    CLI_LIST(0, "exclude", (at) + offsetof(struct cli_reading, exclude), "GLOB", \
             "in folders and archives: leave out files and folders that match; may be given more than once"), \
    CLI_FLAG(0, "hidden", (at) + offsetof(struct cli_reading, hidden), \
             "in folders: read files and folders that begin with '.' too"), \
    CLI_FLAG(0, "no-ignore", (at) + offsetof(struct cli_reading, no_ignore), \
             "in folders: read what .gitignore and .ignore files leave out too"), \
    CLI_FLAG(0, "follow", (at) + offsetof(struct cli_reading, follow), "in folders: follow symbolic links"), \
    CLI_NUMBER(0, "min-bytes", (at) + offsetof(struct cli_reading, min_bytes), "BYTES", 0, UINT64_C(1) << 32, NULL, \
               "leave out documents of fewer bytes of text"), \
    CLI_NUMBER(0, "min-words", (at) + offsetof(struct cli_reading, min_words), "N", 0, UINT32_MAX, NULL, \
               "leave out documents of fewer than N words"), \
    CLI_TEXT(0, "only-language", (at) + offsetof(struct cli_reading, only_language), "CODE", \
             "leave out documents in other languages: da, de, en, es, fi, fr, it, nl, no, pt, ru or sv; documents " \
             "whose language cannot be told, such as a few words, are kept"), \
    CLI_LIMIT_OPTIONS(at)

/* Of commands that keep what they cut. */
#define CLI_PASSAGE_LIMIT_OPTION(at) \
    CLI_NUMBER(0, "limit-passages", (at) + offsetof(struct cli_reading, limit_passages), "N", 1, NIGH_ALL_64, NULL, \
               "stop after N passages, or N documents that are not cut; words are still counted in all documents")

/* How much reading may take, whatever the input says. */
#define CLI_LIMIT_OPTIONS(at) \
    CLI_NUMBER(0, "max-document", (at) + offsetof(struct cli_reading, max_document), "BYTES", 1, UINT64_C(1) << 32, \
               "16M", "skip documents that are larger"), \
    CLI_NUMBER(0, "max-expansion", (at) + offsetof(struct cli_reading, max_expansion), "N", 1, UINT32_MAX, "1000", \
               "give up on an input that grows to more than N times its compressed size, beyond 64 MiB"), \
    CLI_NUMBER(0, "max-members", (at) + offsetof(struct cli_reading, max_members), "N", 1, NIGH_ALL_64, "100000000", \
               "give up on an archive or folder with more than N files"), \
    CLI_NUMBER(0, "max-depth", (at) + offsetof(struct cli_reading, max_depth), "N", 1, 10000, "512", \
               "skip JSON and HTML that is nested more than N deep")

/* Of commands that learn. */
#define CLI_LABEL_OPTIONS(at) \
    CLI_TEXT(0, "label-key", (at) + offsetof(struct cli_reading, label_key), "KEY", \
             "for JSON and CSV: where the label is, a text or a number, or a list of them (default label)"), \
    CLI_TEXT(0, "part-key", (at) + offsetof(struct cli_reading, part_key), "KEY", \
             "for JSON and CSV: learn only where KEY says \"train\"")

/* Of commands that take a collection, which knows its scheme. */
#define CLI_SCHEME_OPTION(place_of_scheme, place_of_model) \
    CLI_CHOICE_OR_FILE(0, "scheme", place_of_scheme, place_of_model, "SCHEME", cli_scheme_names, "auto", \
                       "the scheme of the collection, which it knows itself; any other is an error")

/* What is counted in a text; `by_default` ends the sentence. */
#define CLI_FEATURE_OPTION(at, by_default) \
    CLI_TEXT(0, "features", (at) + offsetof(struct cli_signing, features), "KIND", \
             "what is compared: words, ngrams:N (N words in a row) or chars:N (N characters in a row); by default " \
             by_default)
#define CLI_LANGUAGE_OPTIONS(at) \
    CLI_TEXT(0, "language", (at) + offsetof(struct cli_signing, language), "LANGUAGE", \
             "the language, for stop words and stemming: en, de, fr, ... or none (default en)"), \
    CLI_CHOICE(0, "stemming", (at) + offsetof(struct cli_signing, stemming), "WHEN", cli_switch_names, "auto", \
               "reduce words to their stems; auto: for words, not for ngrams and chars"), \
    CLI_CHOICE(0, "stop-words", (at) + offsetof(struct cli_signing, stop_words), "WHEN", cli_switch_names, "auto", \
               "leave out stop words; auto: for words, not for ngrams and chars"), \
    CLI_WORD_OPTIONS((at) + offsetof(struct cli_signing, min_word_length), \
                     (at) + offsetof(struct cli_signing, no_numbers))
/* Which words are left out beside stop words. */
#define CLI_WORD_OPTIONS(place_of_length, place_of_flag) \
    CLI_NUMBER(0, "min-word-length", place_of_length, "N", 1, 63, NULL, \
               "leave out words of fewer than N characters (default 1: none)"), \
    CLI_FLAG(0, "no-numbers", place_of_flag, "leave out words without a letter, such as 1984")
#define CLI_SEED_OPTION(at) \
    CLI_NUMBER(0, "seed", (at) + offsetof(struct cli_signing, seed), CLI_NUMBER_OR_RANDOM, 0, \
               NIGH_ALL_64, NULL, \
               "seed of the hashes (default 0); random: a secret one, against which nobody can craft texts; --stats " \
               "shows it, and a collection keeps it")

/* How a text as a whole becomes a signature, but for the hashes. */
#define CLI_SCHEME_OPTIONS(at) \
    CLI_CHOICE_OR_FILE(0, "scheme", (at) + offsetof(struct cli_signing, scheme), \
                       (at) + offsetof(struct cli_signing, model), "SCHEME", cli_scheme_names, "auto", \
                       "how text becomes bits: topsig for nearest documents, simhash or minhash for near-copies, " \
                       "learned: by a model of 'nigh train'; auto is the scheme of the collection, and topsig for a " \
                       "new one"), \
    CLI_NUMBER(0, "bits", (at) + offsetof(struct cli_signing, bits), "N", 1, NIGH_MAX_WIDTH_BITS, NULL, \
               "the width of the signatures (default 1024 for topsig, 64 for simhash, 256 for minhash, or the " \
               "model's); for signature files: how many bits of a row count, which raw files do not say, and others " \
               "only in whole bytes"), \
    CLI_FEATURE_OPTION(at, "words, and ngrams:3 for minhash"), \
    CLI_CHOICE(0, "weights", (at) + offsetof(struct cli_signing, weights), "KIND", cli_weight_names, "auto", \
               "how much a feature counts; auto is likelihood for topsig and log for simhash"), \
    CLI_LANGUAGE_OPTIONS(at), \
    CLI_TEXT(0, "vocabulary", (at) + offsetof(struct cli_signing, vocabulary), "FILE", \
             "weigh by the counts in FILE ('nigh sign --make-vocabulary') instead of a first pass over the input"), \
    CLI_NUMBER(0, "vocabulary-memory", (at) + offsetof(struct cli_signing, memory), "BYTES", 65536, \
               UINT64_C(1) << 40, "1G", "for counting words: exact up to this much memory, a sketch beyond")
#define CLI_HASHING_OPTIONS(at) \
    CLI_NUMBER(0, "density", (at) + offsetof(struct cli_signing, density), "N", 1, 65536, NULL, \
               "for topsig: a word touches one in N bits (default 21)"), \
    CLI_SEED_OPTION(at)

/* Of commands that may cut a text into passages. */
#define CLI_PASSAGE_OPTIONS(at) \
    CLI_CHOICE(0, "split", (at) + offsetof(struct cli_signing, split), "HOW", cli_split_names, "none", \
               "cut long documents into passages, each with a signature of its own, named ID#BEGIN-END"), \
    CLI_NUMBER(0, "min-terms", (at) + offsetof(struct cli_signing, min_terms), "N", 1, 1000000, NULL, \
               "the fewest words of a passage, with --split (default a quarter of --max-terms)"), \
    CLI_NUMBER(0, "max-terms", (at) + offsetof(struct cli_signing, max_terms), "N", 1, 1000000, NULL, \
               "the most words of a passage (default 256)")

#define CLI_SIGNING_OPTIONS(at) CLI_SCHEME_OPTIONS(at), CLI_PASSAGE_OPTIONS(at), CLI_HASHING_OPTIONS(at)
/* clang-format on */

/*
 * Inputs: a command's operands from some place on.  Those that can be read only
 * once (standard input, pipes) have a peek, through which they are looked at and
 * then read.
 */
struct cli_inputs {
    const char **paths; /* "-" where the library reads from the one peek there is */
    struct cli_peek **peeks;
    size_t count;
};

/* False, with job->error, where one cannot be opened.  To be released either way. */
bool cli_inputs_open(struct cli_job *job, size_t first_operand, struct cli_inputs *out);
bool cli_inputs_open_paths(struct cli_job *job, const char **paths, size_t count, struct cli_inputs *out);
void cli_inputs_release(struct cli_inputs *inputs);

/* Ends the reading of pipes, also on threads that wait for them; before a signing that reads them is closed. */
void cli_inputs_stop(const struct cli_inputs *inputs);

/*
 * Whether the inputs are documents (true) or signatures, by --format or by
 * looking; *ok is false, and it is said why, where they are not of one kind.
 */
bool cli_inputs_are_documents(struct cli_job *job, const struct cli_inputs *inputs, int format, bool *ok);

/*
 * The stream that documents are read from by the name "-", which the input that has it
 * gets; its `read` stays NULL where none has.  False, with job->error, where two have.
 */
bool cli_inputs_stream(struct cli_job *job, const struct cli_inputs *inputs, nigh_stream *stream);

/* NIGH_EINVAL, with job->error, where one of them is a pipe. */
nigh_status cli_inputs_readable_twice(struct cli_job *job, const struct cli_inputs *inputs);

/* The nigh_text_format that an index into cli_input_formats stands for. */
nigh_text_format cli_text_format(int format);

/* Problems met while reading, as far as people want to see them. */
struct cli_problems {
    struct cli_job *job;
    uint64_t shown;
    uint64_t binary;   /* files, shown or not */
    uint64_t of_lines; /* files that were read as one document, shown or not */
};

/* The keys of --keep-keys. */
struct cli_keep_keys {
    char *text; /* owned, to be freed: these, with zeros for commas */
    const char *keys[NIGH_MAX_KEEP_KEYS + 1];
    size_t count; /* one more than are allowed: too many, and the library says so */
};
/* NULL are none.  False, with job->error, where there is no memory. */
bool cli_keep_keys(struct cli_job *job, const char *given, struct cli_keep_keys *out);

/* How documents are read, but for streams.  `problems` must outlive whatever reads so. */
void cli_reader_options(struct cli_job *job, const struct cli_reading *reading, nigh_text_format format,
                        struct cli_problems *problems, nigh_text_reader_options *out);

/* Opens the inputs as documents; on failure job->error says why.  `problems` must outlive the reader. */
nigh_status cli_reader_open(struct cli_job *job, const struct cli_inputs *inputs, const struct cli_reading *reading,
                            nigh_text_format format, struct cli_problems *problems, nigh_text_reader **out);

/* "words", "ngrams:3", "chars:5"; false where it is none of them. */
bool cli_features_parse(const char *text, nigh_feature_kind *kind, uint32_t *length);

/* What on, off and auto stand for, where auto is `before`. */
int cli_switch(int choice, int before);

/* False with a message for what is wrong with the values, before anything is opened. */
bool cli_reading_fits(const struct cli_job *job, const struct cli_reading *reading);
/* "I/N" of --shard, I below N; false where it is not that. */
bool cli_parse_shard(const char *text, uint64_t *shard, uint64_t *shards);

/* Of signatures: limits, --shard and what leaves out documents would do nothing.  NIGH_OK, or NIGH_EINVAL with
 * job->error. */
nigh_status cli_reading_fits_signatures(struct cli_job *job, const struct cli_reading *reading);

/* Whether an option says which words there are: a language, stemming, what is left out. */
bool cli_words_asked(const struct cli_signing *signing);

/* What was asked for, laid over what is there (the scheme of the collection `holder`; NULL: none).  CLI_DONE or
 * CLI_ERROR. */
int cli_signer_options(struct cli_job *job, const struct cli_signing *signing, const char *holder, const char *scheme,
                       nigh_signer_options *out);

/*
 * The vocabulary these options need: loaded from --vocabulary, or counted in a
 * pass over the inputs; *out stays NULL where none is needed.
 */
nigh_status cli_vocabulary_get(struct cli_job *job, const struct cli_inputs *inputs, const struct cli_reading *reading,
                               nigh_text_format format, const struct cli_signing *signing,
                               const nigh_signer_options *options, nigh_vocabulary **out);

/* "topsig", "simhash", "minhash" or "learned". */
const char *cli_scheme_name(nigh_scheme_kind scheme);

/*
 * Whether --scheme names what `collection`, called `holder`, was signed by; says so where not.
 * A model is compared with the one the collection keeps.
 */
bool cli_scheme_fits(struct cli_job *job, int scheme, const char *model, const char *holder,
                     const nigh_collection *collection);

/*
 * The model that signing by these options needs, put into them: that of the collection, or where
 * that is NULL of the FILE.  *out stays NULL where none is needed; it must outlive the signer.
 */
nigh_status cli_model_get(struct cli_job *job, const char *path, const nigh_collection *collection,
                          nigh_signer_options *options, nigh_model **out);

/* What a model is, in a few words: "codewords, 32 bits, 10,000 features". */
struct cli_model_words {
    char text[96];
};
struct cli_model_words cli_model_words(const nigh_model *model);

/* "; 3 records without text; 1 document without words; 2 malformed parts", or "". */
struct cli_skipped {
    char text[640];
};
struct cli_counted cli_counted_rows(uint64_t rows, bool passages); /* "2 documents", or "2 passages" */
struct cli_skipped cli_skipped(const nigh_signing_info *info);
/* The same of signing by a model, which knows some words only. */
struct cli_skipped cli_skipped_by(const nigh_signing_info *info, bool learned);
/* Documents that were left out as asked, where there are any, as a line of its own. */
void cli_note_left_out(struct cli_job *job, const nigh_text_reader_info *reader);
/* Files, records, and what was skipped of them: malformed, binary and damaged are three counts. */
void cli_stats_reader(struct cli_stats *stats, const nigh_text_reader_info *reader);
void cli_stats_signing(struct cli_stats *stats, const nigh_signing_info *info);

#endif
