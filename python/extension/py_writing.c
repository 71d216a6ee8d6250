/* SPDX-License-Identifier: Apache-2.0 */
/* Making collections and adding to them: documents of a source or of paths, and rows; and what speeds up searches. */
#include "py_nigh.h"

/* ------------------------------------------------------------- documents -- */

static const struct py_option index_table[] = {
    PY_OPTION(nigh_index_options, snippet, PY_U32),     PY_OPTION(nigh_index_options, keep_weights, PY_FLAG),
    PY_OPTION(nigh_index_options, limit, PY_U64),       PY_OPTION(nigh_index_options, threads, PY_U32),
    PY_OPTION(nigh_index_options, strict, PY_FLAG),     PY_OPTION(nigh_index_options, vocabulary_bytes, PY_U64),
    PY_OPTION(nigh_index_options, replace, PY_FLAG),    PY_OPTION(nigh_index_options, merge, PY_FLAG),
    PY_OPTION(nigh_index_options, keep_masks, PY_FLAG), PY_OPTIONS_END,
};

#define COMMIT(field) offsetof(nigh_index_result, commit) + offsetof(nigh_commit, field)
static const struct py_field result_fields[] = {
    PY_FIELD(nigh_index_result, repeated, PY_U64),
    PY_FIELD(nigh_index_result, changed, PY_U64),
    PY_FIELD(nigh_index_result, width_bits, PY_U32),
    {"added", PY_U64, COMMIT(added)},
    {"distinct", PY_U64, COMMIT(distinct)},
    {"first_document", PY_U64, COMMIT(first_document)},
    {"documents", PY_U64, COMMIT(documents)},
    {"deleted", PY_U64, COMMIT(deleted)},
    {"merged", PY_U32, COMMIT(merged)},
    {"empty", PY_U64, offsetof(nigh_index_result, signing) + offsetof(nigh_signing_info, empty)},
    {NULL, PY_FLAG, 0},
};

struct indexing {
    struct py_call call;
    nigh_index_options options;
    nigh_signer_options signer;
    nigh_text_reader_options reading;
    nigh_index_result result;
    const char *path;
    PyObject *inputs;
    nigh_vocabulary *vocabulary; /* NULL: it is counted where one is needed */
};

static int vocabulary_given(struct indexing *indexing, const char *bytes, Py_ssize_t length) {
    if (bytes == NULL) return 0;
    struct py_call *call = &indexing->call;
    const nigh_status status =
        nigh_vocabulary_parse(call->state->context, bytes, (size_t)length, &indexing->vocabulary, &call->error);
    indexing->signer.vocabulary = indexing->vocabulary;
    return status == NIGH_OK ? 0 : ((void)py_raise(call->state, status, &call->error), -1);
}

/* (path, inputs, reading, signer, options, report[, vocabulary]), of which inputs are left to the caller. */
static int indexing_begin(struct indexing *indexing, PyObject *module, PyObject *arguments) {
    PyObject *reading, *signer, *options, *report;
    const char *vocabulary = NULL;
    Py_ssize_t length = 0;
    *indexing = (struct indexing){.result.size = sizeof indexing->result};
    if (!PyArg_ParseTuple(arguments, "yOOOOO|z#", &indexing->path, &indexing->inputs, &reading, &signer, &options,
                          &report, &vocabulary, &length))
        return -1;
    py_call_begin(&indexing->call, py_state_of(module), report);
    nigh_index_options_init(&indexing->options);
    indexing->options.progress = &indexing->call.progress;
    if (signer != Py_None) indexing->options.signer = &indexing->signer;
    if (py_signer_options_fill(indexing->call.state, signer, &indexing->signer) != 0) return -1;
    if (py_reader_options_fill(reading, &indexing->call, &indexing->reading) != 0) return -1;
    if (py_options_fill(options, index_table, &indexing->options) != 0) return -1;
    return vocabulary_given(indexing, vocabulary, length);
}

static PyObject *indexing_end(struct indexing *indexing, int failed) {
    PyObject *told = failed ? NULL : py_fields(result_fields, &indexing->result);
    if (told != NULL) told = Py_BuildValue("NN", told, py_call_problems(&indexing->call));
    py_call_clear(&indexing->call);
    nigh_vocabulary_free(indexing->vocabulary);
    return told;
}

static PyObject *index_source(PyObject *module, PyObject *arguments) {
    struct indexing indexing;
    struct py_source source;
    if (indexing_begin(&indexing, module, arguments) != 0) return NULL;
    if (py_source_init(&source, &indexing.call, indexing.inputs) != 0) return NULL;
    py_call_release(&indexing.call);
    const nigh_status status =
        nigh_index_source(indexing.call.state->context, indexing.path, &source.source, &indexing.reading,
                          &indexing.options, &indexing.result, &indexing.call.error);
    const int failed = py_call_end(&indexing.call, status);
    py_source_release(&source);
    return indexing_end(&indexing, failed);
}

static PyObject *index_paths(PyObject *module, PyObject *arguments) {
    struct indexing indexing;
    const char **names = NULL;
    size_t count = 0;
    if (indexing_begin(&indexing, module, arguments) != 0) return NULL;
    if (py_paths(indexing.inputs, &names, &count) != 0) return NULL;
    py_call_release(&indexing.call);
    const nigh_status status =
        nigh_index_documents(indexing.call.state->context, indexing.path, names, count, &indexing.reading,
                             &indexing.options, &indexing.result, &indexing.call.error);
    const int failed = py_call_end(&indexing.call, status);
    PyMem_Free((void *)names);
    return indexing_end(&indexing, failed);
}

/* ------------------------------------------------------------------ rows -- */

struct rows {
    Py_buffer bytes;
    Py_ssize_t count;
    const char **ids; /* NULL: by number */
    size_t *lengths;
    unsigned int width;
};

static int ids_borrow(struct rows *rows, PyObject *ids) {
    if (ids == Py_None) return 0;
    if (!PyTuple_Check(ids) || PyTuple_Size(ids) != rows->count)
        return PyErr_SetString(PyExc_ValueError, "there are not as many ids as rows"), -1;
    rows->ids = PyMem_Calloc((size_t)rows->count + 1, sizeof *rows->ids);
    rows->lengths = PyMem_Calloc((size_t)rows->count + 1, sizeof *rows->lengths);
    if (rows->ids == NULL || rows->lengths == NULL) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < rows->count; i++)
        if (py_text_at(ids, i, &rows->ids[i], &rows->lengths[i]) != 0) return -1;
    return 0;
}

static void rows_release(struct rows *rows) {
    PyMem_Free((void *)rows->ids);
    PyMem_Free(rows->lengths);
    PyBuffer_Release(&rows->bytes);
}

static nigh_status rows_add(const struct rows *rows, nigh_writer *writer, nigh_error *error) {
    const size_t bytes = nigh_signature_bytes(rows->width);
    nigh_document document = {.size = sizeof document};
    nigh_status status = NIGH_OK;
    for (Py_ssize_t i = 0; i < rows->count && status == NIGH_OK; i++) {
        document.signature = (const uint8_t *)rows->bytes.buf + (size_t)i * bytes;
        document.id = rows->ids == NULL ? NULL : rows->ids[i];
        document.id_length = rows->ids == NULL ? 0 : rows->lengths[i];
        status = nigh_writer_add(writer, &document, error);
    }
    return status;
}

static const struct py_option writer_table[] = {
    PY_OPTION(nigh_writer_options, replace, PY_FLAG),
    PY_OPTION(nigh_writer_options, merge, PY_FLAG),
    PY_OPTIONS_END,
};

static const struct py_field commit_fields[] = {
    PY_FIELD(nigh_commit, added, PY_U64),
    PY_FIELD(nigh_commit, distinct, PY_U64),
    PY_FIELD(nigh_commit, first_document, PY_U64),
    PY_FIELD(nigh_commit, documents, PY_U64),
    PY_FIELD(nigh_commit, deleted, PY_U64),
    PY_FIELD(nigh_commit, merged, PY_U32),
    {NULL, PY_FLAG, 0},
};

static nigh_status rows_write(const struct rows *rows, struct py_call *call, const char *path,
                              nigh_writer_options *options, nigh_commit *commit) {
    nigh_writer *writer = NULL;
    options->width_bits = rows->width;
    options->progress = &call->progress;
    nigh_status status = nigh_writer_open(call->state->context, path, options, &writer, &call->error);
    if (status == NIGH_OK) status = rows_add(rows, writer, &call->error);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, commit, &call->error);
    nigh_writer_close(writer);
    return status;
}

static PyObject *write_rows(PyObject *module, PyObject *arguments) {
    const char *path = NULL;
    struct rows rows = {0};
    PyObject *ids, *given, *report;
    struct py_call call;
    nigh_writer_options options;
    nigh_commit commit = {.size = sizeof commit};
    if (!PyArg_ParseTuple(arguments, "yy*nIOOO", &path, &rows.bytes, &rows.count, &rows.width, &ids, &given, &report))
        return NULL;
    py_call_begin(&call, py_state_of(module), report);
    nigh_writer_options_init(&options);
    int failed = py_options_fill(given, writer_table, &options) || ids_borrow(&rows, ids);
    if (!failed && rows.bytes.len != rows.count * (Py_ssize_t)nigh_signature_bytes(rows.width))
        failed = (PyErr_SetString(PyExc_ValueError, "the rows are not of this width"), -1);
    if (!failed) {
        py_call_release(&call);
        failed = py_call_end(&call, rows_write(&rows, &call, path, &options, &commit));
    }
    py_call_clear(&call);
    rows_release(&rows);
    return failed ? NULL : py_fields(commit_fields, &commit);
}

/* ------------------------------------------------- what searches go faster by -- */

struct building {
    unsigned int threads;
    long long min_rows; /* negative: as usual */
};

static nigh_status build_graph(struct py_call *call, const char *path, struct building how) {
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    options.threads = how.threads;
    if (how.min_rows >= 0) options.min_rows = (uint64_t)how.min_rows;
    options.progress = &call->progress;
    return nigh_graph_build(call->state->context, path, &options, NULL, &call->error);
}

static nigh_status build_lists(struct py_call *call, const char *path, struct building how) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.threads = how.threads;
    if (how.min_rows >= 0) options.min_rows = (uint64_t)how.min_rows;
    options.progress = &call->progress;
    return nigh_lists_build(call->state->context, path, &options, NULL, &call->error);
}

static nigh_status build_columns(struct py_call *call, const char *path, struct building how) {
    nigh_columns_options options;
    nigh_columns_options_init(&options);
    options.threads = how.threads;
    if (how.min_rows >= 0) options.min_rows = (uint64_t)how.min_rows;
    options.progress = &call->progress;
    return nigh_columns_build(call->state->context, path, &options, NULL, &call->error);
}

static nigh_status build_tables(struct py_call *call, const char *path, struct building how) {
    nigh_tables_options options;
    nigh_tables_options_init(&options);
    options.threads = how.threads;
    if (how.min_rows >= 0) options.min_rows = (uint64_t)how.min_rows;
    options.progress = &call->progress;
    return nigh_tables_build(call->state->context, path, &options, NULL, &call->error);
}

static PyObject *build(PyObject *module, PyObject *arguments) {
    static nigh_status (*const builders[])(struct py_call *, const char *,
                                           struct building) = {build_graph, build_lists, build_columns, build_tables};
    const char *path = NULL;
    unsigned int kind = 0;
    struct building how = {0};
    PyObject *report;
    struct py_call call;
    if (!PyArg_ParseTuple(arguments, "yIILO", &path, &kind, &how.threads, &how.min_rows, &report)) return NULL;
    if (kind >= sizeof builders / sizeof *builders) return PyErr_Format(PyExc_ValueError, "there is no kind %u", kind);
    py_call_begin(&call, py_state_of(module), report);
    py_call_release(&call);
    const int failed = py_call_end(&call, builders[kind](&call, path, how));
    py_call_clear(&call);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

PyMethodDef py_writing_functions[] = {
    {"index_source", index_source, METH_VARARGS, "index_source(path, source, reading, signer, options, report)"},
    {"index_paths", index_paths, METH_VARARGS, "index_paths(path, paths, reading, signer, options, report)"},
    {"write_rows", write_rows, METH_VARARGS, "write_rows(path, rows, count, width_bits, ids, options, report)"},
    {"build", build, METH_VARARGS,
     "build(path, 0: graph | 1: slice lists | 2: columns | 3: tables, threads, min_rows, report)"},
    {NULL, NULL, 0, NULL},
};
