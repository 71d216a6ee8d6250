/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in collections.  Start here: documents in, answers out.
 *
 *     #include <nigh.h>
 *     #include <stdio.h>
 *
 *     static int show(void *user, size_t query, const nigh_match *match) {
 *         char id[256];
 *         nigh_collection_id(user, match->document, id, sizeof id, NULL, NULL);
 *         return printf("distance %u: %s\n", match->distance, id) < 0;
 *     }
 *
 *     int main(void) {
 *         const char *inputs[] = {"news.jsonl"};
 *         nigh_context *context = NULL;
 *         nigh_collection *news = NULL;
 *         nigh_results *found = NULL;
 *         nigh_error error;
 *         if (nigh_context_new(NULL, &context, &error) == NIGH_OK &&
 *             nigh_index_documents(context, "news.nigh", inputs, 1, NULL, NULL, NULL, &error) == NIGH_OK &&
 *             nigh_collection_open(context, "news.nigh", NULL, &news, &error) == NIGH_OK &&
 *             nigh_search_text(news, "flood in the valley", NULL, &found, &error) == NIGH_OK)
 *             nigh_results_each(found, show, news);
 *         else
 *             fprintf(stderr, "%s\n", error.why);
 *         nigh_results_free(found);
 *         nigh_collection_close(news);
 *         nigh_context_free(context);
 *     }
 *
 * A context holds memory and files, and everything is made from one.  A handle that is
 * NULL may be closed or freed.  A NULL for options means all defaults.
 */
#ifndef NIGH_PUBLIC_CORPUS_H
#define NIGH_PUBLIC_CORPUS_H

#include "nigh/finder.h"
#include "nigh/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- asking -- */

/*
 * Finds the documents nearest to a text, or to each of `count` texts, as nigh_search() does.  A text is signed as the
 * documents were, whole, and of a topsig collection it is compared in the bits that its words touch
 * (nigh_search_options.all_bits: in all), each counting by how sure it is (nigh_search_options.rank: the same).
 * `lengths` NULL: the texts are terminated.  A text without a word to search for has no matches.
 *
 * Owns:    caller frees *out.
 * Lives:   the texts are read during the call only; *out does not need the collection.
 * Threads: any number of searches may share a collection.
 * Returns: as nigh_search(); NIGH_ENOTFOUND if the collection holds signatures that were not made from text;
 *          NIGH_EINVAL for options with masks or weights.
 */
NIGH_API nigh_status nigh_search_text(const nigh_collection *collection, const char *text,
                                      const nigh_search_options *options, nigh_results **out, nigh_error *error);
NIGH_API nigh_status nigh_search_texts(const nigh_collection *collection, const char *const *texts,
                                       const size_t *lengths, size_t count, const nigh_search_options *options,
                                       nigh_results **out, nigh_error *error);

/* ------------------------------------------------------------- adding -- */

struct nigh_index_result; /* below */

typedef struct nigh_index_options {
    size_t size;
    /*
     * How documents are signed.  NULL: the scheme of the collection, and topsig for a new one.  For an existing
     * collection, what is set here must agree with it.  If words are weighted by a vocabulary and none is given,
     * a new collection counts one in a first pass over the documents.
     */
    const nigh_signer_options *signer;
    uint32_t snippet;          /* this many bytes of a text are kept as metadata, to show in answers; default 200 */
    int keep_weights;          /* non-zero: how sure each bit is is kept too; and always if the collection has them */
    uint64_t limit;            /* this many documents; default: all */
    uint64_t vocabulary_bytes; /* memory for counting words; default 1 GiB */
    uint32_t threads;          /* default: one a core */
    int strict;                /* non-zero: an id that the collection has already is an error, and nothing is added */
    /* Called for each document left out because the collection has its id, on the calling thread. */
    void (*repeated)(void *user, const nigh_signed *document);
    /* Called before the commit; non-zero ends with NIGH_ECANCELLED, and nothing is added. */
    int (*before_commit)(void *user, const struct nigh_index_result *so_far);
    void *user; /* for all of these */
    const nigh_progress *progress;
    /*
     * Called instead of `repeated` for a document that is left out although the one there has another signature: its
     * text has changed, or two documents were given one id.  NULL: `repeated` is called for these too.
     */
    void (*changed)(void *user, const nigh_signed *document);
    uint64_t limit_passages; /* this many signatures, of documents or of passages of them; default: all.  Words are
                                counted in all documents up to `limit` */
    int replace;             /* non-zero: a document replaces the one with the same id, in the same commit; of several
                                given with one id the first counts */
    int merge;               /* as in nigh_writer_options; default 1 */
    int keep_masks; /* non-zero: which bits count most for a document is kept, an eighth of what weights take, for a
                       graph of masks (see nigh_graph_options); of topsig only, and and always if the collection has
                       them
                     */
} nigh_index_options;

NIGH_API void nigh_index_options_init(nigh_index_options *options);

typedef struct nigh_index_result {
    size_t size;
    uint64_t repeated; /* documents left out, their ids being there already; also those below */
    int passages;      /* non-zero: what was added are passages of documents */
    int learned;       /* non-zero: signed by a model, which knows some words only */
    uint32_t width_bits;
    uint32_t reserved;
    nigh_commit commit;        /* documents added, and the state now */
    nigh_signing_info signing; /* what was read */
    uint64_t changed;          /* of those repeated, with another signature than the one there */
} nigh_index_result;

/*
 * Adds the documents of files, folders and archives to a collection, making it if there is none; all of them in
 * one commit, or after a failure none.  `reading` says how they are read (NULL: by what they look like).  Of documents
 * with the same id the first is added.
 *
 * Lives:   everything is read during the call.
 * Threads: one at a time for a collection on the whole machine, as a writer.
 * Returns: NIGH_OK; *result (may be NULL) is filled also after a failure; NIGH_ENOTFOUND if no document was found
 *          and there was no collection; NIGH_EMISMATCH if the collection is signed in another way; NIGH_EEXISTS
 *          with `strict`; NIGH_EINVAL with NIGH_REASON_ONE_PASS if words must be counted first and "-" is read;
 *          as nigh_text_reader_next() and nigh_writer_open().
 */
NIGH_API nigh_status nigh_index_documents(nigh_context *context, const char *path, const char *const *inputs,
                                          size_t count, const nigh_text_reader_options *reading,
                                          const nigh_index_options *options, nigh_index_result *result,
                                          nigh_error *error);

/*
 * The same for the caller's own documents.  A source that cannot be rewound will do if no words are to be counted
 * first.
 *
 * Lives:   everything is read during the call.
 * Threads: as nigh_index_documents(); of the source as it says itself.
 * Returns: as nigh_index_documents(); what the source returned if that ended it; NIGH_EINVAL with
 *          NIGH_REASON_ONE_PASS if words must be counted first and the source cannot be rewound.  *result is not
 *          filled if the source is refused.
 */
NIGH_API nigh_status nigh_index_source(nigh_context *context, const char *path, const nigh_source *source,
                                       const nigh_text_reader_options *reading, const nigh_index_options *options,
                                       nigh_index_result *result, nigh_error *error);

/* ------------------------------------------------------------- signing -- */

/*
 * Makes what signs texts as the documents of a collection were signed, with the vocabulary or the model it keeps.
 *
 * Owns:    caller frees *out.
 * Lives:   *out does not need the collection.
 * Returns: NIGH_OK; NIGH_ENOTFOUND, with NIGH_REASON_NOT_OF_TEXT, if its signatures were not made from text;
 *          NIGH_EVERSION for a scheme of a newer nigh; NIGH_ECORRUPT; NIGH_EIO; NIGH_ENOMEM.
 */
NIGH_API nigh_status nigh_collection_signer(const nigh_collection *collection, nigh_signer **out, nigh_error *error);

/*
 * The same for a file of chunks, which keeps a vocabulary or a model as a collection does.
 *
 * Returns: as nigh_collection_signer(); NIGH_ENOTFOUND also if the file does not say how it was signed.
 */
NIGH_API nigh_status nigh_chunks_signer(nigh_chunks *chunks, nigh_signer **out, nigh_error *error);
NIGH_API nigh_status nigh_chunks_vocabulary(nigh_chunks *chunks, nigh_vocabulary **out, nigh_error *error);
NIGH_API nigh_status nigh_chunks_model(nigh_chunks *chunks, nigh_model **out, nigh_error *error);

/* The vocabulary its documents were signed with; NIGH_ENOTFOUND if none is kept.  Caller frees *out. */
NIGH_API nigh_status nigh_collection_vocabulary(const nigh_collection *collection, nigh_vocabulary **out,
                                                nigh_error *error);
/* The same for the model. */
NIGH_API nigh_status nigh_collection_model(const nigh_collection *collection, nigh_model **out, nigh_error *error);

/*
 * What nigh_writer_options takes of a vocabulary or a model, so that the collection keeps it; NULL gives none.
 *
 * Lives:   the bytes live as long as the vocabulary or the model.
 */
NIGH_API nigh_attachment nigh_vocabulary_attachment(const nigh_vocabulary *vocabulary);
NIGH_API nigh_attachment nigh_model_attachment(const nigh_model *model);

#ifdef __cplusplus
}
#endif

#endif
