/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well signatures stand for documents, as tables: lists of dicts, a row each.  Documents are read and signed into
 * memory, and measured there; see nigh/eval.h for what comes out.
 */
#include "py_nigh.h"

static const struct py_option corpus_table[] = {
    PY_OPTION(nigh_eval_corpus_options, threads, PY_U32),
    PY_OPTION(nigh_eval_corpus_options, limit, PY_U64),
    PY_OPTION(nigh_eval_corpus_options, memory_bytes, PY_U64),
    PY_OPTIONS_END,
};

struct evaluating {
    struct py_call call;
    struct py_input input;
    struct py_signer signer;
    nigh_eval_corpus_options options;
    int keep_weights;
    nigh_eval_corpus *corpus;
};

/* What all begin with: source or paths, reading, signer, options of the corpus. */
struct given {
    PyObject *input, *reading, *signer, *corpus, *report;
};

static int begin(struct evaluating *evaluating, PyObject *module, const struct given *given) {
    py_call_begin(&evaluating->call, py_state_of(module), given->report);
    nigh_eval_corpus_options_init(&evaluating->options);
    evaluating->options.progress = &evaluating->call.progress;
    evaluating->options.keep_weights = evaluating->keep_weights;
    if (py_options_fill(given->corpus, corpus_table, &evaluating->options) != 0) return -1;
    if (py_signer_options_fill(evaluating->call.state, given->signer, &evaluating->signer.options) != 0) return -1;
    return py_input_init(&evaluating->input, &evaluating->call, given->input, given->reading);
}

static nigh_status read_corpus(void *user, nigh_text_reader *reader) {
    struct evaluating *evaluating = user;
    return nigh_eval_corpus_new(evaluating->signer.handle, reader, &evaluating->options, &evaluating->corpus,
                                &evaluating->call.error);
}

static nigh_status sign_corpus(struct evaluating *evaluating) {
    const nigh_status status = py_signer_make(&evaluating->signer, &evaluating->input, evaluating->options.threads);
    return status == NIGH_OK ? py_input_read(&evaluating->input, read_corpus, evaluating) : status;
}

/*
 * The arguments of eval_signatures and eval_psm, and all until there is something to tell: `measure` takes a struct
 * that begins with `evaluating`.  Returns: 0; -1 and an exception is set.
 */
static int evaluate(struct evaluating *evaluating, PyObject *module, PyObject *arguments, const struct py_option *table,
                    void *options, nigh_status (*measure)(void *user)) {
    struct given given;
    PyObject *measuring;
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &given.input, &given.reading, &given.signer, &given.corpus, &measuring,
                          &given.report))
        return -1;
    if (begin(evaluating, module, &given) != 0 || py_options_fill(measuring, table, options) != 0) return -1;
    py_call_release(&evaluating->call);
    const nigh_status status = sign_corpus(evaluating);
    return py_call_end(&evaluating->call, status == NIGH_OK ? measure(evaluating) : status);
}

static void end(struct evaluating *evaluating) {
    nigh_eval_corpus_free(evaluating->corpus);
    py_signer_release(&evaluating->signer);
    py_input_release(&evaluating->input);
    py_call_clear(&evaluating->call);
}

/* ------------------------------------------------------------ signatures -- */

static const struct py_option pairs_table[] = {
    PY_OPTION(nigh_eval_pairs_options, alike, PY_DOUBLE), PY_OPTION(nigh_eval_pairs_options, labels, PY_TEXT),
    PY_OPTION(nigh_eval_pairs_options, sample, PY_U32),   PY_OPTION(nigh_eval_pairs_options, seed, PY_U64),
    PY_OPTION(nigh_eval_pairs_options, threads, PY_U32),  PY_OPTIONS_END,
};

static const struct py_field pairs_info[] = {
    PY_FIELD(nigh_eval_pairs_info, documents, PY_U64),      PY_FIELD(nigh_eval_pairs_info, pairs, PY_U64),
    PY_FIELD(nigh_eval_pairs_info, alike, PY_U64),          PY_FIELD(nigh_eval_pairs_info, width_bits, PY_U32),
    PY_FIELD(nigh_eval_pairs_info, labels_missing, PY_U64), {NULL, PY_FLAG, 0},
};

static const struct py_field pairs_fields[] = {
    PY_FIELD(nigh_eval_pairs_row, distance, PY_U32),
    PY_FIELD(nigh_eval_pairs_row, pairs, PY_U64),
    PY_FIELD(nigh_eval_pairs_row, alike, PY_U64),
    PY_FIELD(nigh_eval_pairs_row, pairs_within, PY_U64),
    PY_FIELD(nigh_eval_pairs_row, alike_within, PY_U64),
    PY_FIELD(nigh_eval_pairs_row, precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_pairs_row, recall, PY_DOUBLE),
    PY_FIELD(nigh_eval_pairs_row, f1, PY_DOUBLE),
    PY_FIELD(nigh_eval_pairs_row, cosine, PY_DOUBLE),
    PY_FIELD(nigh_eval_pairs_row, cosine_error, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

/* A row for each distance that some pair has, by lengths of texts. */
static PyObject *pairs_rows(const nigh_eval_pairs *pairs) {
    PyObject *list = PyList_New(0);
    nigh_eval_pairs_row row = {.size = sizeof row};
    for (int length = 0; list != NULL && length <= (int)NIGH_EVAL_LENGTH_512_UP; length++) {
        const nigh_eval_length_class class = (nigh_eval_length_class)length;
        for (uint32_t i = 0; list != NULL && nigh_eval_pairs_at(pairs, class, i, &row) == NIGH_OK; i++)
            if (row.pairs > 0)
                (void)py_rows_add(&list, pairs_fields, &row, "length", nigh_eval_length_class_name(class));
    }
    return list;
}

struct comparing {
    struct evaluating evaluating;
    nigh_eval_pairs_options options;
    nigh_eval_pairs *pairs;
};

static nigh_status compare(void *user) {
    struct comparing *comparing = user;
    struct evaluating *evaluating = &comparing->evaluating;
    comparing->options.progress = &evaluating->call.progress;
    return nigh_eval_pairs_measure(evaluating->corpus, &comparing->options, &comparing->pairs, &evaluating->call.error);
}

static PyObject *eval_signatures(PyObject *module, PyObject *arguments) {
    struct comparing comparing = {0};
    nigh_eval_pairs_info info = {.size = sizeof info};
    PyObject *told = NULL;
    nigh_eval_pairs_options_init(&comparing.options);
    if (evaluate(&comparing.evaluating, module, arguments, pairs_table, &comparing.options, compare) == 0) {
        nigh_eval_pairs_describe(comparing.pairs, NIGH_EVAL_LENGTH_ALL, &info);
        told = Py_BuildValue("NN", pairs_rows(comparing.pairs), py_fields(pairs_info, &info));
    }
    nigh_eval_pairs_free(comparing.pairs);
    end(&comparing.evaluating);
    return told;
}

/* ---------------------------------------------------------------- ranked -- */

static const struct py_field ranking_fields[] = {
    PY_FIELD(nigh_eval_ranking, topics, PY_U64),
    PY_FIELD(nigh_eval_ranking, rankings, PY_U64),
    PY_FIELD(nigh_eval_ranking, missing, PY_U64),
    PY_FIELD(nigh_eval_ranking, map, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, touched_map, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, touched_precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, weighted_map, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, weighted_precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, vector_map, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, vector_precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, unrounded_map, PY_DOUBLE),
    PY_FIELD(nigh_eval_ranking, unrounded_precision, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

struct ranking {
    struct evaluating evaluating;
    struct py_input queries;
    int asked; /* there are queries */
    nigh_eval_corpus *asking;
    nigh_eval_ranking_options options;
    nigh_eval_ranking result;
};

static nigh_status read_queries(void *user, nigh_text_reader *reader) {
    struct ranking *ranking = user;
    struct evaluating *evaluating = &ranking->evaluating;
    return nigh_eval_corpus_new(evaluating->signer.handle, reader, &evaluating->options, &ranking->asking,
                                &evaluating->call.error);
}

static nigh_status rank(struct ranking *ranking) {
    struct evaluating *evaluating = &ranking->evaluating;
    nigh_status status = sign_corpus(evaluating);
    if (status == NIGH_OK && ranking->asked) status = py_input_read(&ranking->queries, read_queries, ranking);
    ranking->options.queries = ranking->asking;
    ranking->options.progress = &evaluating->call.progress;
    if (status != NIGH_OK) return status;
    return nigh_eval_ranking_measure(evaluating->corpus, &ranking->options, &ranking->result, &evaluating->call.error);
}

static PyObject *eval_ranked(PyObject *module, PyObject *arguments) {
    struct ranking ranking = {.evaluating.keep_weights = 1, .result.size = sizeof ranking.result};
    struct evaluating *evaluating = &ranking.evaluating;
    struct given given;
    PyObject *queries;
    nigh_eval_ranking_options_init(&ranking.options);
    if (!PyArg_ParseTuple(arguments, "OOOOyOO", &given.input, &given.reading, &given.signer, &given.corpus,
                          &ranking.options.judgements, &queries, &given.report))
        return NULL;
    int failed = begin(evaluating, module, &given);
    ranking.asked = queries != Py_None;
    if (!failed && ranking.asked) failed = py_input_init(&ranking.queries, &evaluating->call, queries, given.reading);
    if (!failed) {
        py_call_release(&evaluating->call);
        failed = py_call_end(&evaluating->call, rank(&ranking));
    }
    nigh_eval_corpus_free(ranking.asking);
    py_input_release(&ranking.queries);
    end(evaluating);
    return failed ? NULL : py_fields(ranking_fields, &ranking.result);
}

/* ------------------------------------------------------------------- psm -- */

static const char *const weak_models[] = {"gaussian", "linear", NULL};

static const struct py_option weak_table[] = {
    PY_OPTION(nigh_eval_weak_bits_options, radius, PY_U32),
    PY_OPTION(nigh_eval_weak_bits_options, queries, PY_U32),
    PY_OPTION(nigh_eval_weak_bits_options, probes, PY_U32),
    PY_OPTION(nigh_eval_weak_bits_options, threads, PY_U32),
    PY_OPTIONS_END,
};

static const struct py_field weak_info[] = {
    PY_FIELD(nigh_eval_weak_bits_info, documents, PY_U64),
    PY_FIELD(nigh_eval_weak_bits_info, distinct, PY_U64),
    PY_FIELD(nigh_eval_weak_bits_info, pairs, PY_U64),
    PY_FIELD(nigh_eval_weak_bits_info, matched, PY_U64),
    PY_FIELD(nigh_eval_weak_bits_info, queries, PY_U64),
    PY_FIELD(nigh_eval_weak_bits_info, matches, PY_U64),
    PY_FIELD(nigh_eval_weak_bits_info, radius, PY_U32),
    PY_FIELD(nigh_eval_weak_bits_info, probes, PY_U32),
    {NULL, PY_FLAG, 0},
};

struct attempts_row {
    uint32_t flips;
    nigh_eval_weak_attempts attempts;
};

#define ATTEMPTS(field) \
#field, PY_U64, offsetof(struct attempts_row, attempts) + offsetof(nigh_eval_weak_attempts, field)
static const struct py_field attempts_fields[] = {
    PY_FIELD(struct attempts_row, flips, PY_U32),
    {ATTEMPTS(matches)},
    {ATTEMPTS(combinations)},
    {"mean", PY_DOUBLE, offsetof(struct attempts_row, attempts) + offsetof(nigh_eval_weak_attempts, mean)},
    {ATTEMPTS(median)},
    {ATTEMPTS(percentile_90)},
    {ATTEMPTS(percentile_99)},
    {NULL, PY_FLAG, 0},
};

struct recall_row {
    uint32_t probes;
    nigh_eval_weak_recall recall;
};

#define RECALL(field, kind) \
    { #field, kind, offsetof(struct recall_row, recall) + offsetof(nigh_eval_weak_recall, field) }
static const struct py_field recall_fields[] = {
    RECALL(prefix_bits, PY_U32), PY_FIELD(struct recall_row, probes, PY_U32),
    RECALL(all, PY_DOUBLE),      RECALL(any, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

static PyObject *attempts_rows(const nigh_eval_weak_bits *weak) {
    PyObject *list = PyList_New(0);
    struct attempts_row row = {.attempts.size = sizeof row.attempts};
    for (int model = 0; weak_models[model] != NULL; model++)
        for (row.flips = 1; list != NULL && nigh_eval_weak_bits_attempts(weak, (nigh_weak_model)model, row.flips,
                                                                         &row.attempts) == NIGH_OK;
             row.flips++)
            (void)py_rows_add(&list, attempts_fields, &row, "weights", weak_models[model]);
    return list;
}

/* By powers of two. */
static PyObject *recall_rows(const nigh_eval_weak_bits *weak, uint32_t most) {
    PyObject *list = PyList_New(0);
    struct recall_row row = {.recall.size = sizeof row.recall};
    nigh_eval_weak_recall *recall = &row.recall;
    for (int model = 0; weak_models[model] != NULL; model++)
        for (size_t p = 0; nigh_eval_weak_bits_recall(weak, (nigh_weak_model)model, p, 1, recall) == NIGH_OK; p++)
            for (row.probes = 1; list != NULL && row.probes <= most; row.probes *= 2) {
                (void)nigh_eval_weak_bits_recall(weak, (nigh_weak_model)model, p, row.probes, recall);
                (void)py_rows_add(&list, recall_fields, &row, "weights", weak_models[model]);
            }
    return list;
}

struct weakening {
    struct evaluating evaluating;
    nigh_eval_weak_bits_options options;
    nigh_eval_weak_bits *weak;
};

static nigh_status weaken(void *user) {
    struct weakening *weakening = user;
    struct evaluating *evaluating = &weakening->evaluating;
    weakening->options.progress = &evaluating->call.progress;
    return nigh_eval_weak_bits_measure(evaluating->corpus, &weakening->options, &weakening->weak,
                                       &evaluating->call.error);
}

static PyObject *eval_psm(PyObject *module, PyObject *arguments) {
    struct weakening weakening = {.evaluating.keep_weights = 1};
    nigh_eval_weak_bits_info info = {.size = sizeof info};
    PyObject *told = NULL;
    nigh_eval_weak_bits_options_init(&weakening.options);
    if (evaluate(&weakening.evaluating, module, arguments, weak_table, &weakening.options, weaken) == 0) {
        const nigh_eval_weak_bits *weak = weakening.weak;
        nigh_eval_weak_bits_describe(weak, &info);
        told = Py_BuildValue("NNN", attempts_rows(weak), recall_rows(weak, info.probes), py_fields(weak_info, &info));
    }
    nigh_eval_weak_bits_free(weakening.weak);
    end(&weakening.evaluating);
    return told;
}

PyMethodDef py_eval_functions[] = {
    {"eval_signatures", eval_signatures, METH_VARARGS,
     "eval_signatures(source or paths, reading, signer, corpus, options, report)"},
    {"eval_ranked", eval_ranked, METH_VARARGS,
     "eval_ranked(source or paths, reading, signer, corpus, judgements, queries, report)"},
    {"eval_psm", eval_psm, METH_VARARGS, "eval_psm(source or paths, reading, signer, corpus, options, report)"},
    {NULL, NULL, 0, NULL},
};
