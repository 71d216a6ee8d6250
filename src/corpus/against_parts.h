/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An against, as its parts see it: against.c opens and describes it, against_take.c
 * takes the new ones, against_compare.c finds what they match, against_add.c adds them.
 */
#ifndef NIGH_CORPUS_AGAINST_PARTS_H
#define NIGH_CORPUS_AGAINST_PARTS_H

#include "base/progress.h"
#include "corpus/incoming.h"
#include "corpus/match_store.h"
#include "nigh/against.h"

/* What the new ones are; the first that is taken decides. */
enum nigh__incoming_kind { NIGH__INCOMING_NONE, NIGH__INCOMING_TEXTS, NIGH__INCOMING_SIGNATURES };

/* Each state can be reached from the one before only. */
enum nigh__against_state {
    NIGH__AGAINST_TAKING,
    NIGH__AGAINST_COMPARED,
    NIGH__AGAINST_ADDED,
    NIGH__AGAINST_COMMITTED,
    NIGH__AGAINST_BROKEN, /* to be closed */
};

struct nigh_against {
    nigh_context *context;
    char *path; /* owned */
    nigh_against_options options;
    struct nigh__progress progress;
    enum nigh__against_state state;

    nigh_collection *collection; /* either */
    nigh_collection_info held;
    nigh_chunks *chunks;     /* or */
    nigh_scheme_kind scheme; /* of what the texts are signed by */
    bool has_scheme;
    uint32_t asked_bits, asked_terms; /* by options.signer, for costly schemes; 0: nothing was */

    enum nigh__incoming_kind kind;
    nigh_signer *own_signer;
    nigh_signer *signer;              /* own, or the caller's */
    nigh_signing *signing;            /* of the last reader; it may still read ahead */
    nigh_signing_info signing_before; /* of the readers before that one, summed up */
    nigh_writer *writer;
    struct nigh__incoming incoming;

    /* Of near-copies; against_copies.c. */
    bool copies;
    nigh_signer_options new_signer; /* of a collection that is not there yet, */
    char *keys;                     /* and by which its documents are read; owned, NULL: the usual ones */
    nigh_dedup *dedup;              /* once they are taken */
    nigh_match *match;              /* the one told last; owned */
    struct nigh__array renamed;     /* of struct nigh__renamed, by number */
    struct nigh__array names;       /* of char: their new ids */

    struct nigh__match_store *there;   /* owned, both together */
    struct nigh__match_store *earlier; /* lists that are read back change, and nothing that is told */
    char *temporary;                   /* owned; NULL: the usual folder */
    bool *matched;                     /* of each new one */
    uint64_t *added_as;                /* of each new one; NULL: nothing was added yet */
    nigh_finder_info finder;
    nigh_against_info info; /* what can be counted; nigh_against_describe() fills in the rest */
};

/* A new document that was added by another id than its own. */
struct nigh__renamed {
    uint64_t number;
    size_t name, length; /* in the names */
};

/* NIGH_EINVAL with `why` where it is in another state. */
nigh_status nigh__against_expect(const nigh_against *against, enum nigh__against_state state, const char *why,
                                 nigh_error *error);

/* NIGH_ECANCELLED once the caller has asked to stop. */
nigh_status nigh__against_tick(nigh_against *against, const char *stage, uint64_t done, uint64_t total,
                               nigh_error *error);

/* Whether signing as the collection says costs what is usual, or was asked for. */
nigh_status nigh__against_check_cost(const nigh_against *against, nigh_error *error);

/* (Re)reads the collection, and says what it holds. */
nigh_status nigh__against_read_collection(nigh_against *against, nigh_error *error);

/* NIGH_EMISMATCH where documents that are to be added have values under other keys than those that are there. */
nigh_status nigh__against_check_keys(const nigh_against *against, const nigh_text_reader_options *reading,
                                     nigh_error *error);

/* Before the first new one: a writer, where one is to add, and the collection as it is then. */
nigh_status nigh__against_open_writer(nigh_against *against, nigh_error *error);

/* What the functions of the same names do of near-copies. */
nigh_status nigh__copies_read(nigh_against *against, nigh_error *error);
nigh_status nigh__copies_take(nigh_against *against, const char *const *paths, size_t count, const nigh_source *source,
                              const nigh_text_reader_options *reading, nigh_error *error);
nigh_status nigh__copies_at(const nigh_against *against, uint64_t number, nigh_against_document *out);
void nigh__copies_describe(const nigh_against *against, nigh_against_info *out);
nigh_status nigh__copies_add(nigh_against *against, nigh_error *error);

#endif
