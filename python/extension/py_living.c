/* SPDX-License-Identifier: Apache-2.0 */
/* A collection that changes: documents are deleted, segments merged, those of other collections taken over. */
#include "py_nigh.h"

/* -------------------------------------------------------------- deleting -- */

struct deleting {
    struct py_call call;
    const char *path;
    PyObject *ids; /* a tuple of bytes */
    int missing_ok;
    nigh_commit commit;
    struct py_blob missing; /* the places of those that are not there, '<Q' */
};

/* What the ids are is read under the GIL; only then is there a writer. */
static int ids_borrow(PyObject *ids, const char ***out, size_t **lengths) {
    const size_t count = (size_t)PyTuple_Size(ids);
    const char **texts = PyMem_Calloc(count + 1, sizeof *texts + sizeof **lengths);
    if (texts == NULL) return PyErr_NoMemory(), -1;
    *lengths = (size_t *)(void *)(texts + count + 1);
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        Py_ssize_t length = 0;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(ids, (Py_ssize_t)i), &text, &length) != 0)
            return PyMem_Free((void *)texts), -1;
        texts[i] = text;
        (*lengths)[i] = (size_t)length;
    }
    *out = texts;
    return 0;
}

static nigh_status note_missing(struct deleting *deleting, uint64_t place) {
    uint64_t *missing = py_blob_add(&deleting->missing, sizeof *missing);
    if (missing == NULL) return NIGH_ENOMEM;
    *missing = place;
    return NIGH_OK;
}

static nigh_status delete_each(struct deleting *deleting, nigh_writer *writer, const char **ids,
                               const size_t *lengths) {
    const size_t count = (size_t)PyTuple_Size(deleting->ids);
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        status = nigh_writer_delete(writer, ids[i], lengths[i], &deleting->call.error);
        if (status == NIGH_ENOTFOUND && deleting->missing_ok) status = note_missing(deleting, i);
    }
    return status;
}

/* A width of 0: whatever the collection's, to delete alone. */
static nigh_status delete_all(struct deleting *deleting, const char **ids, const size_t *lengths) {
    struct py_call *call = &deleting->call;
    nigh_writer *writer = NULL;
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 0;
    options.progress = &call->progress;
    nigh_status status = nigh_writer_open(call->state->context, deleting->path, &options, &writer, &call->error);
    if (status == NIGH_OK) status = delete_each(deleting, writer, ids, lengths);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, &deleting->commit, &call->error);
    nigh_writer_close(writer);
    return status;
}

static const struct py_field commit_fields[] = {
    PY_FIELD(nigh_commit, deleted, PY_U64),
    PY_FIELD(nigh_commit, deleted_now, PY_U64),
    PY_FIELD(nigh_commit, documents, PY_U64),
    PY_FIELD(nigh_commit, merged, PY_U32),
    {NULL, PY_FLAG, 0},
};

static PyObject *delete_ids(PyObject *module, PyObject *arguments) {
    struct deleting deleting = {.commit.size = sizeof deleting.commit};
    PyObject *report;
    const char **ids = NULL;
    size_t *lengths = NULL;
    if (!PyArg_ParseTuple(arguments, "yO!pO", &deleting.path, &PyTuple_Type, &deleting.ids, &deleting.missing_ok,
                          &report) ||
        ids_borrow(deleting.ids, &ids, &lengths) != 0)
        return NULL;
    py_call_begin(&deleting.call, py_state_of(module), report);
    py_call_release(&deleting.call);
    const int failed = py_call_end(&deleting.call, delete_all(&deleting, ids, lengths));
    py_call_clear(&deleting.call);
    PyMem_Free((void *)ids);
    PyObject *missing = py_blob_take(&deleting.missing);
    if (!failed && missing != NULL) return Py_BuildValue("NN", py_fields(commit_fields, &deleting.commit), missing);
    Py_XDECREF(missing);
    return NULL;
}

/* --------------------------------------------------------------- merging -- */

static const struct py_option merge_table[] = {
    PY_OPTION(nigh_merge_options, tiered, PY_FLAG),
    PY_OPTION(nigh_merge_options, threads, PY_U32),
    PY_OPTIONS_END,
};

static const struct py_field merge_fields[] = {
    PY_FIELD(nigh_merge_result, before, PY_U32),    PY_FIELD(nigh_merge_result, after, PY_U32),
    PY_FIELD(nigh_merge_result, written, PY_U64),   PY_FIELD(nigh_merge_result, dropped, PY_U64),
    PY_FIELD(nigh_merge_result, deleted, PY_U64),   PY_FIELD(nigh_merge_result, bytes, PY_U64),
    PY_FIELD(nigh_merge_result, documents, PY_U64), {NULL, PY_FLAG, 0},
};

static PyObject *merge(PyObject *module, PyObject *arguments) {
    const char *path = NULL;
    PyObject *given, *report;
    struct py_call call;
    nigh_merge_options options;
    nigh_merge_result result = {.size = sizeof result};
    if (!PyArg_ParseTuple(arguments, "yOO", &path, &given, &report)) return NULL;
    nigh_merge_options_init(&options);
    if (py_options_fill(given, merge_table, &options) != 0) return NULL;
    py_call_begin(&call, py_state_of(module), report);
    options.progress = &call.progress;
    py_call_release(&call);
    const int failed = py_call_end(&call, nigh_merge(call.state->context, path, &options, &result, &call.error));
    py_call_clear(&call);
    return failed ? NULL : py_fields(merge_fields, &result);
}

/* -------------------------------------------------------------- adopting -- */

static const struct py_field adopt_fields[] = {
    PY_FIELD(nigh_adopt_result, segments, PY_U32),
    PY_FIELD(nigh_adopt_result, adopted, PY_U64),
    PY_FIELD(nigh_adopt_result, bytes, PY_U64),
    PY_FIELD(nigh_adopt_result, documents, PY_U64),
    {NULL, PY_FLAG, 0},
};

static PyObject *adopt(PyObject *module, PyObject *arguments) {
    const char *path = NULL;
    PyObject *given, *report;
    const char **others = NULL;
    size_t count = 0;
    struct py_call call;
    nigh_adopt_options options;
    nigh_adopt_result result = {.size = sizeof result};
    if (!PyArg_ParseTuple(arguments, "yOO", &path, &given, &report) || py_paths(given, &others, &count) != 0)
        return NULL;
    py_call_begin(&call, py_state_of(module), report);
    nigh_adopt_options_init(&options);
    options.progress = &call.progress;
    py_call_release(&call);
    const nigh_status status = nigh_adopt(call.state->context, path, others, count, &options, &result, &call.error);
    const int failed = py_call_end(&call, status);
    py_call_clear(&call);
    PyMem_Free((void *)others);
    return failed ? NULL : py_fields(adopt_fields, &result);
}

PyMethodDef py_living_functions[] = {
    {"delete_ids", delete_ids, METH_VARARGS, "delete_ids(path, ids, missing_ok, report)"},
    {"merge", merge, METH_VARARGS, "merge(path, options, report)"},
    {"adopt", adopt, METH_VARARGS, "adopt(path, paths of others, report)"},
    {NULL, NULL, 0, NULL},
};
