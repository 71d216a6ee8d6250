/* SPDX-License-Identifier: Apache-2.0 */
/* Searching a collection by rows or by texts, and tuning it. */
#include "py_nigh.h"

#include <string.h>

static const char *const methods[] = {"auto", "scan", "slices", "", "sketch", "graph", "columns", NULL};
static const char *const stops[] = {"breadth", "certain", NULL};
static const char *const ranks[] = {"auto", "bits", "weighted", NULL};

const struct py_option py_search_table[] = {
    PY_OPTION(nigh_search_options, k, PY_U32),
    PY_OPTION(nigh_search_options, radius, PY_U32),
    PY_OPTION(nigh_search_options, threads, PY_U32),
    PY_OPTION_WORD(nigh_search_options, method, methods),
    PY_OPTION_WORD(nigh_search_options, stop, stops),
    PY_OPTION(nigh_search_options, breadth, PY_U32),
    PY_OPTION(nigh_search_options, candidates, PY_U32),
    PY_OPTION(nigh_search_options, sketch_bits, PY_U32),
    PY_OPTION(nigh_search_options, effort, PY_U32),
    PY_OPTION(nigh_search_options, patience, PY_U32),
    PY_OPTION(nigh_search_options, all_bits, PY_FLAG),
    PY_OPTION_WORD(nigh_search_options, rank, ranks),
    PY_OPTION(nigh_search_options, slack, PY_DOUBLE),
    PY_OPTION(nigh_search_options, where, PY_TEXT),
    PY_OPTIONS_END,
};

/* -------------------------------------------------------------- searches -- */

static int fill(PyObject *given, struct py_call *call, struct py_state *state, PyObject *report,
                nigh_search_options *options) {
    py_call_begin(call, state, report);
    nigh_search_options_init(options);
    options->progress = &call->progress;
    return py_options_fill(given, py_search_table, options);
}

static PyObject *finish(struct py_collection *self, struct py_call *call, nigh_results *results, int failed) {
    PyObject *found = failed ? NULL : py_results_new(self->state, results);
    if (failed) nigh_results_free(results);
    py_call_clear(call);
    py_collection_leave(self);
    return found;
}

/* How many rows of this width the buffer is, of one dimension or two; -1: it is nothing of the kind. */
static Py_ssize_t count_rows(const Py_buffer *view, uint32_t width_bits) {
    const Py_ssize_t bytes = (Py_ssize_t)nigh_signature_bytes(width_bits);
    const int of_bytes = view->format == NULL || strcmp(view->format, "B") == 0;
    if (!of_bytes || view->ndim < 1 || view->ndim > 2 || view->shape[view->ndim - 1] != bytes) return -1;
    return view->ndim == 1 ? 1 : view->shape[0];
}

static PyObject *search_view(struct py_collection *self, const Py_buffer *view, PyObject *given, PyObject *report) {
    struct py_call call;
    nigh_search_options options;
    nigh_results *results = NULL;
    nigh_collection_info info = {.size = sizeof info};
    if (py_collection_enter(self) != 0) return NULL;
    nigh_collection_describe(self->handle, &info);
    const Py_ssize_t count = count_rows(view, info.width_bits);
    int failed = fill(given, &call, self->state, report, &options) || count < 0;
    if (!failed) {
        py_call_release(&call);
        failed =
            py_call_end(&call, nigh_search(self->handle, view->buf, (size_t)count, &options, &results, &call.error));
    }
    PyObject *found = finish(self, &call, results, failed);
    return found != NULL || PyErr_Occurred() ? found : Py_NewRef(Py_None);
}

/*
 * search_rows(rows, options, report): None where the rows are no contiguous bytes of the width of the collection, so
 * that whoever asks can say why, or copy them.
 */
PyObject *py_search_rows(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    Py_buffer view = {0};
    if (count != 3) return PyErr_Format(PyExc_TypeError, "search_rows takes 3 arguments, not %zd", count);
    if (!PyObject_CheckBuffer(arguments[0])) Py_RETURN_NONE;
    if (PyObject_GetBuffer(arguments[0], &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    PyObject *found = search_view((struct py_collection *)object, &view, arguments[1], arguments[2]);
    PyBuffer_Release(&view);
    return found;
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
