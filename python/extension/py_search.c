/* SPDX-License-Identifier: Apache-2.0 */
/* Searching a collection by rows or by texts, and tuning it. */
#include "py_nigh.h"

#include <string.h>

static const char *const methods[] = {"auto", "scan", "slices", "", "sketch", "graph", "columns", NULL};
static const char *const stops[] = {"breadth", "certain", NULL};
static const char *const ranks[] = {"auto", "bits", "weighted", NULL};

const struct py_option py_search_table[] = {
    PY_OPTION(nigh_search_options, k, PY_U32),          PY_OPTION(nigh_search_options, radius, PY_U32),
    PY_OPTION(nigh_search_options, threads, PY_U32),    PY_OPTION_WORD(nigh_search_options, method, methods),
    PY_OPTION_WORD(nigh_search_options, stop, stops),   PY_OPTION(nigh_search_options, breadth, PY_U32),
    PY_OPTION(nigh_search_options, candidates, PY_U32), PY_OPTION(nigh_search_options, sketch_bits, PY_U32),
    PY_OPTION(nigh_search_options, effort, PY_U32),     PY_OPTION(nigh_search_options, patience, PY_U32),
    PY_OPTION(nigh_search_options, all_bits, PY_FLAG),  PY_OPTION_WORD(nigh_search_options, rank, ranks),
    PY_OPTION(nigh_search_options, slack, PY_DOUBLE),   PY_OPTIONS_END,
};

/* --------------------------------------------------------------- answers -- */

static const struct py_field info_fields[] = {
    PY_FIELD(nigh_results_info, queries, PY_U64),       PY_FIELD(nigh_results_info, matches, PY_U64),
    PY_FIELD(nigh_results_info, distances, PY_U64),     PY_FIELD(nigh_results_info, exact, PY_FLAG),
    PY_FIELD(nigh_results_info, exact_queries, PY_U64), PY_FIELD(nigh_results_info, scanned, PY_U64),
    PY_FIELD(nigh_results_info, steps, PY_U64),         {NULL, PY_FLAG, 0},
};

/* What is known of the answer to a query, as struct '<IIIII'. */
struct told {
    uint32_t exact, below, breadth, whole, chance;
};

static void tell(const nigh_results *results, size_t query, struct told *out) {
    nigh_proof proof = {.size = sizeof proof};
    nigh_scale scale = {.size = sizeof scale};
    nigh_error error;
    (void)nigh_results_proof(results, query, &proof, &error);
    if (nigh_results_scale(results, query, &scale, &error) != NIGH_OK) scale.whole = scale.chance = NIGH_ALL;
    *out = (struct told){proof.exact != 0, proof.below, proof.breadth, scale.whole, scale.chance};
}

/* Where the matches of each query begin and end, '<Q', one more than queries; the matches, '<QII'; what is told. */
static PyObject *answers(const nigh_results *results) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    struct py_blob ends = {0}, matches = {0}, proofs = {0};
    uint64_t end = 0, *place = py_blob_add(&ends, sizeof end);
    if (place != NULL) *place = 0;
    for (size_t query = 0; query < info.queries; query++) {
        size_t count = 0;
        const nigh_match *found = nigh_results_matches(results, query, &count);
        end += count;
        void *copy = count == 0 ? NULL : py_blob_add(&matches, count * sizeof *found);
        struct told *told = py_blob_add(&proofs, sizeof *told);
        place = py_blob_add(&ends, sizeof end);
        if (copy != NULL) memcpy(copy, found, count * sizeof *found);
        if (told != NULL) tell(results, query, told);
        if (place != NULL) *place = end;
    }
    return Py_BuildValue("NNNN", py_blob_take(&ends), py_blob_take(&matches), py_blob_take(&proofs),
                         py_fields(info_fields, &info));
}

/* -------------------------------------------------------------- searches -- */

static int fill(PyObject *given, struct py_call *call, struct py_state *state, PyObject *report,
                nigh_search_options *options) {
    py_call_begin(call, state, report);
    nigh_search_options_init(options);
    options->progress = &call->progress;
    return py_options_fill(given, py_search_table, options);
}

static PyObject *finish(struct py_collection *self, struct py_call *call, nigh_results *results, int failed) {
    PyObject *told = failed ? NULL : answers(results);
    nigh_results_free(results);
    py_call_clear(call);
    py_collection_leave(self);
    return told;
}

static int check_rows(struct py_collection *self, const Py_buffer *rows, Py_ssize_t count) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(self->handle, &info);
    const Py_ssize_t bytes = (Py_ssize_t)nigh_signature_bytes(info.width_bits);
    if (count >= 0 && count <= PY_SSIZE_T_MAX / bytes && rows->len == count * bytes) return 0;
    PyErr_Format(PyExc_ValueError,
                 "the collection has signatures of %u bits, %zd bytes, and %zd queries have %zd bytes", info.width_bits,
                 bytes, count, rows->len);
    return -1;
}

PyObject *py_search_rows(PyObject *object, PyObject *arguments) {
    struct py_collection *self = (struct py_collection *)object;
    Py_buffer rows = {0};
    Py_ssize_t count = 0;
    PyObject *given, *report;
    struct py_call call;
    nigh_search_options options;
    nigh_results *results = NULL;
    if (!PyArg_ParseTuple(arguments, "y*nOO", &rows, &count, &given, &report)) return NULL;
    if (py_collection_enter(self) != 0) return PyBuffer_Release(&rows), NULL;
    int failed = fill(given, &call, self->state, report, &options) || check_rows(self, &rows, count);
    if (!failed) {
        py_call_release(&call);
        failed =
            py_call_end(&call, nigh_search(self->handle, rows.buf, (size_t)count, &options, &results, &call.error));
    }
    PyBuffer_Release(&rows);
    return finish(self, &call, results, failed);
}

/* Pointers to the texts of a tuple and their lengths, one array behind the other. */
static const char **borrow_texts(PyObject *tuple, size_t **lengths) {
    const size_t count = (size_t)PyTuple_Size(tuple);
    const char **texts = PyMem_Malloc((count + 1) * (sizeof *texts + sizeof **lengths));
    if (texts == NULL) return (const char **)PyErr_NoMemory();
    *lengths = (size_t *)(void *)(texts + count);
    for (size_t i = 0; i < count; i++) {
        if (py_text_at(tuple, (Py_ssize_t)i, &texts[i], &(*lengths)[i]) != 0) return PyMem_Free((void *)texts), NULL;
        if (texts[i] == NULL) texts[i] = "";
    }
    return texts;
}

PyObject *py_search_texts(PyObject *object, PyObject *arguments) {
    struct py_collection *self = (struct py_collection *)object;
    PyObject *tuple, *given, *report;
    struct py_call call;
    nigh_search_options options;
    nigh_results *results = NULL;
    size_t *lengths = NULL;
    if (!PyArg_ParseTuple(arguments, "O!OO", &PyTuple_Type, &tuple, &given, &report)) return NULL;
    if (py_collection_enter(self) != 0) return NULL;
    int failed = fill(given, &call, self->state, report, &options);
    const char **texts = failed ? NULL : borrow_texts(tuple, &lengths);
    failed = texts == NULL;
    if (!failed) {
        py_call_release(&call);
        failed = py_call_end(&call, nigh_search_texts(self->handle, texts, lengths, (size_t)PyTuple_Size(tuple),
                                                      &options, &results, &call.error));
    }
    PyMem_Free((void *)texts);
    return finish(self, &call, results, failed);
}

/* ---------------------------------------------------------------- tuning -- */

static const struct py_option tune_table[] = {
    PY_OPTION(nigh_tune_options, k, PY_U32),
    PY_OPTION(nigh_tune_options, recall, PY_DOUBLE),
    PY_OPTION(nigh_tune_options, cdr, PY_DOUBLE),
    PY_OPTION(nigh_tune_options, seconds, PY_DOUBLE),
    PY_OPTION(nigh_tune_options, sample, PY_U32),
    PY_OPTION(nigh_tune_options, seed, PY_U64),
    PY_OPTION(nigh_tune_options, threads, PY_U32),
    PY_OPTION(nigh_tune_options, memory_bytes, PY_U64),
    PY_OPTIONS_END,
};

static const struct py_field tuning_fields[] = {
    PY_FIELD(nigh_tuning, k, PY_U32),
    PY_FIELD(nigh_tuning, queries, PY_U64),
    PY_FIELD(nigh_tuning, recall, PY_DOUBLE),
    PY_FIELD(nigh_tuning, recall_low, PY_DOUBLE),
    PY_FIELD(nigh_tuning, cdr, PY_DOUBLE),
    PY_FIELD(nigh_tuning, cdr_low, PY_DOUBLE),
    PY_FIELD(nigh_tuning, median, PY_DOUBLE),
    PY_FIELD(nigh_tuning, percentile_99, PY_DOUBLE),
    PY_FIELD(nigh_tuning, memory_bytes, PY_U64),
    {NULL, PY_FLAG, 0},
};

static nigh_status tune_and_store(struct py_collection *self, const char *path, const nigh_tune_options *options,
                                  nigh_tuning *tuning, nigh_tune_result *result, nigh_error *error) {
    const nigh_status status = nigh_tune(self->handle, options, tuning, result, error);
    if (status != NIGH_OK || path == NULL) return status;
    return nigh_tuning_store(self->state->context, path, tuning, error);
}

PyObject *py_tune(PyObject *object, PyObject *arguments) {
    struct py_collection *self = (struct py_collection *)object;
    PyObject *given, *place, *report;
    struct py_call call;
    nigh_tune_options options;
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tune_result result = {.size = sizeof result};
    if (!PyArg_ParseTuple(arguments, "OOO", &given, &place, &report)) return NULL;
    const char *path = place == Py_None ? NULL : PyBytes_AsString(place);
    if (PyErr_Occurred() || py_collection_enter(self) != 0) return NULL;
    py_call_begin(&call, self->state, report);
    nigh_tune_options_init(&options);
    options.progress = &call.progress;
    int failed = py_options_fill(given, tune_table, &options);
    if (!failed) {
        py_call_release(&call);
        failed = py_call_end(&call, tune_and_store(self, path, &options, &tuning, &result, &call.error));
    }
    py_call_clear(&call);
    py_collection_leave(self);
    if (failed) return NULL;
    return Py_BuildValue("Nsi", py_fields(tuning_fields, &tuning), methods[tuning.method], result.met);
}
