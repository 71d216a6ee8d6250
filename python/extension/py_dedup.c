/* SPDX-License-Identifier: Apache-2.0 */
/* De-duplication: of paths, of sources, of signatures; and what it found, as bytes that NumPy or struct can read. */
#include "py_nigh.h"

#include <string.h>

struct py_dedup {
    PyObject_HEAD nigh_dedup *handle;
    struct py_state *state;
    struct py_call call;     /* lives as long as the handle, which reports to it */
    struct py_source source; /* the same: it is read again to write */
    PyObject *against;       /* the collection that it was held against */
    int busy;
};

static const char *const methods[] = {"minhash", "exact", "simhash", NULL};
static const char *const cluster_rules[] = {"kept", "components", "complete", NULL};
static const char *const keep_rules[] = {"first", "longest", "shortest", "score", NULL};

const struct py_option py_dedup_table[] = {
    PY_OPTION_WORD(nigh_dedup_options, method, methods),  PY_OPTION(nigh_dedup_options, threshold, PY_DOUBLE),
    PY_OPTION(nigh_dedup_options, distance, PY_U32),      PY_OPTION(nigh_dedup_options, no_verify, PY_FLAG),
    PY_OPTION(nigh_dedup_options, all_pairs, PY_FLAG),    PY_OPTION_WORD(nigh_dedup_options, cluster, cluster_rules),
    PY_OPTION_WORD(nigh_dedup_options, keep, keep_rules), PY_OPTION(nigh_dedup_options, score_key, PY_TEXT),
    PY_OPTION(nigh_dedup_options, memory_bytes, PY_U64),  PY_OPTION(nigh_dedup_options, temporary, PY_TEXT),
    PY_OPTION(nigh_dedup_options, bucket_budget, PY_U64), PY_OPTION(nigh_dedup_options, limit, PY_U64),
    PY_OPTION(nigh_dedup_options, threads, PY_U32),       PY_OPTION(nigh_dedup_options, will_write, PY_FLAG),
    PY_OPTION(nigh_dedup_options, pairs_limit, PY_U64),   PY_OPTIONS_END,
};

/* ------------------------------------------------------------------ runs -- */

struct settings {
    nigh_dedup_options options;
    nigh_signer_options signer;
    nigh_text_reader_options reading;
};

static int fill_settings(struct py_dedup *self, PyObject *options, PyObject *signer, PyObject *reading,
                         struct settings *out) {
    nigh_dedup_options_init(&out->options);
    out->options.progress = &self->call.progress;
    if (py_options_fill(options, py_dedup_table, &out->options) != 0) return -1;
    if (py_signer_options_fill(self->state, signer, &out->signer) != 0) return -1;
    if (signer != Py_None) out->options.signer = &out->signer;
    if (py_reader_options_fill(reading, &self->call, &out->reading) != 0) return -1;
    if (self->against == NULL) return 0;
    out->options.against = ((struct py_collection *)self->against)->handle;
    return 0;
}

static struct py_dedup *dedup_new(struct py_state *state, PyObject *report) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(state->dedup_type, Py_tp_alloc);
    struct py_dedup *self = (struct py_dedup *)allocate(state->dedup_type, 0);
    if (self == NULL) return NULL;
    self->state = state;
    py_call_begin(&self->call, state, report);
    return self;
}

/* The collection stays open while its documents are needed. */
static int hold_against(struct py_dedup *self, PyObject *against) {
    if (against == Py_None) return 0;
    if (Py_TYPE(against) != self->state->collection_type)
        return PyErr_SetString(PyExc_TypeError, "against is no collection"), -1;
    if (py_collection_enter((struct py_collection *)against) != 0) return -1;
    self->against = Py_NewRef(against);
    return 0;
}

/* Gives the run, or NULL where it failed. */
static PyObject *finish(struct py_dedup *self, int failed) {
    self->call.report = NULL; /* it was borrowed */
    if (!failed) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static PyObject *dedup_paths(PyObject *module, PyObject *arguments) {
    PyObject *paths, *options, *signer, *reading, *against, *report;
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &paths, &options, &signer, &reading, &against, &report)) return NULL;
    struct py_dedup *self = dedup_new(py_state_of(module), report);
    if (self == NULL) return NULL;
    struct settings settings;
    const char **names = NULL;
    size_t count = 0;
    int failed = hold_against(self, against) || fill_settings(self, options, signer, reading, &settings) ||
                 py_paths(paths, &names, &count);
    if (!failed) {
        py_call_release(&self->call);
        failed = py_call_end(&self->call, nigh_dedup_run(self->state->context, names, count, &settings.reading,
                                                         &settings.options, &self->handle, &self->call.error));
    }
    PyMem_Free((void *)names);
    return finish(self, failed);
}

static PyObject *dedup_source(PyObject *module, PyObject *arguments) {
    PyObject *source, *options, *signer, *reading, *against, *report;
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &source, &options, &signer, &reading, &against, &report)) return NULL;
    struct py_dedup *self = dedup_new(py_state_of(module), report);
    if (self == NULL) return NULL;
    struct settings settings;
    int failed = hold_against(self, against) || fill_settings(self, options, signer, reading, &settings) ||
                 py_source_init(&self->source, &self->call, source);
    if (!failed) {
        py_call_release(&self->call);
        failed =
            py_call_end(&self->call, nigh_dedup_source(self->state->context, &self->source.source, &settings.reading,
                                                       &settings.options, &self->handle, &self->call.error));
    }
    return finish(self, failed);
}

static PyObject *dedup_rows(PyObject *module, PyObject *arguments) {
    Py_buffer rows = {0};
    unsigned int width = 0;
    PyObject *options, *report;
    if (!PyArg_ParseTuple(arguments, "y*IOO", &rows, &width, &options, &report)) return NULL;
    struct py_dedup *self = dedup_new(py_state_of(module), report);
    struct settings settings;
    int failed =
        self == NULL || py_rows_check(&rows, width) || fill_settings(self, options, Py_None, Py_None, &settings);
    if (!failed) {
        const uint64_t count = (uint64_t)rows.len / nigh_signature_bytes(width);
        py_call_release(&self->call);
        failed = py_call_end(&self->call, nigh_dedup_rows(self->state->context, rows.buf, count, width,
                                                          &settings.options, &self->handle, &self->call.error));
    }
    PyBuffer_Release(&rows);
    return self == NULL ? NULL : finish(self, failed);
}

PyMethodDef py_dedup_functions[] = {
    {"dedup_paths", dedup_paths, METH_VARARGS, "dedup_paths(paths, options, signer, reading, against, report)"},
    {"dedup_source", dedup_source, METH_VARARGS, "dedup_source(source, options, signer, reading, against, report)"},
    {"dedup_rows", dedup_rows, METH_VARARGS, "dedup_rows(rows, width_bits, options, report)"},
    {NULL, NULL, 0, NULL},
};

/* ---------------------------------------------------------- what it found -- */

static const struct py_field info_fields[] = {
    PY_FIELD(nigh_dedup_info, documents, PY_U64),
    PY_FIELD(nigh_dedup_info, copies, PY_U64),
    PY_FIELD(nigh_dedup_info, kept, PY_U64),
    PY_FIELD(nigh_dedup_info, clusters, PY_U64),
    PY_FIELD(nigh_dedup_info, largest, PY_U64),
    PY_FIELD(nigh_dedup_info, candidates, PY_U64),
    PY_FIELD(nigh_dedup_info, verified, PY_U64),
    PY_FIELD(nigh_dedup_info, alike, PY_U64),
    PY_FIELD(nigh_dedup_info, truncated, PY_U64),
    PY_FIELD(nigh_dedup_info, empty, PY_U64),
    PY_FIELD(nigh_dedup_info, unread, PY_U64),
    PY_FIELD(nigh_dedup_info, lost, PY_U64),
    PY_FIELD(nigh_dedup_info, disk_bytes, PY_U64),
    PY_FIELD(nigh_dedup_info, scored, PY_U64),
    PY_FIELD(nigh_dedup_info, pairs_cut, PY_U64),
    PY_FIELD(nigh_dedup_info, there, PY_U64),
    PY_FIELD(nigh_dedup_info, repeated_ids, PY_U64),
    {"reading_seconds", PY_DOUBLE, offsetof(nigh_dedup_info, seconds)},
    {"finding_seconds", PY_DOUBLE, offsetof(nigh_dedup_info, seconds) + sizeof(double)},
    {"verifying_seconds", PY_DOUBLE, offsetof(nigh_dedup_info, seconds) + 2 * sizeof(double)},
    {"clustering_seconds", PY_DOUBLE, offsetof(nigh_dedup_info, seconds) + 3 * sizeof(double)},
    {"records", PY_U64, offsetof(nigh_dedup_info, reader) + offsetof(nigh_text_reader_info, records)},
    {"missing", PY_U64, offsetof(nigh_dedup_info, reader) + offsetof(nigh_text_reader_info, missing)},
    {"problems", PY_U64, offsetof(nigh_dedup_info, reader) + offsetof(nigh_text_reader_info, problems)},
    {"bytes_text", PY_U64, offsetof(nigh_dedup_info, reader) + offsetof(nigh_text_reader_info, bytes_text)},
    {NULL, PY_FLAG, 0},
};

static PyObject *describe(PyObject *object, PyObject *arguments) {
    (void)arguments;
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_describe(((struct py_dedup *)object)->handle, &info);
    return py_fields(info_fields, &info);
}

/* A document in the bytes of documents(): "<QQQdIBBxx". */
struct told {
    uint64_t number, cluster, there;
    double similarity;
    uint32_t distance;
    uint8_t keep, copy, reserved[2];
};

static PyObject *documents(PyObject *object, PyObject *arguments) {
    (void)arguments;
    const nigh_dedup *handle = ((struct py_dedup *)object)->handle;
    struct py_blob blob = {0};
    nigh_dedup_document document = {.size = sizeof document};
    PyThreadState *thread = PyEval_SaveThread();
    for (uint64_t i = 0; nigh_dedup_at(handle, i, &document) == NIGH_OK && !blob.failed; i++) {
        struct told *told = py_blob_add(&blob, sizeof *told);
        if (told == NULL) break;
        *told = (struct told){document.number,   document.cluster,   document.there,     document.similarity,
                              document.distance, document.keep != 0, document.copy != 0, {0}};
    }
    PyEval_RestoreThread(thread);
    return py_blob_take(&blob);
}

/* A byte a record of the input: 1 where it stays, as also does what has no text. */
static PyObject *mask(PyObject *object, PyObject *arguments) {
    (void)arguments;
    const nigh_dedup *handle = ((struct py_dedup *)object)->handle;
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_describe(handle, &info);
    const uint64_t records = info.reader.records > info.documents ? info.reader.records : info.documents;
    struct py_blob blob = {0};
    uint8_t *stays = py_blob_add(&blob, (size_t)records + 1); /* room for something, where there is nothing */
    nigh_dedup_document document = {.size = sizeof document};
    if (stays != NULL) memset(stays, 1, (size_t)records);
    for (uint64_t i = 0; stays != NULL && nigh_dedup_at(handle, i, &document) == NIGH_OK; i++)
        if (!document.keep && document.number < records) stays[document.number] = 0;
    if (stays != NULL) blob.length = (size_t)records;
    return py_blob_take(&blob);
}

static PyObject *identity(PyObject *object, PyObject *argument) {
    const uint64_t number = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred()) return NULL;
    nigh_dedup_document document = {.size = sizeof document};
    if (nigh_dedup_at(((struct py_dedup *)object)->handle, number, &document) != NIGH_OK)
        return PyErr_Format(PyExc_IndexError, "there is no document %llu", (unsigned long long)number);
    if (document.id == NULL) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(document.id, (Py_ssize_t)document.id_length, "surrogateescape");
}

/* One at a time: pairs, writing and the report read what the others would. */
static int begin(struct py_dedup *self, PyObject *report) {
    if (self->busy) return PyErr_SetString(PyExc_RuntimeError, "another thread works with this"), -1;
    self->busy = 1;
    py_call_clear(&self->call);
    self->call.error = (nigh_error){.offset = NIGH_NO_OFFSET};
    self->call.report = report == Py_None ? NULL : report;
    py_call_release(&self->call);
    return 0;
}

static int end(struct py_dedup *self, nigh_status status) {
    const int failed = py_call_end(&self->call, status);
    self->call.report = NULL;
    self->busy = 0;
    return failed;
}

static int take_pair(void *user, const nigh_dedup_pair *pair) {
    nigh_dedup_pair *copy = py_blob_add(user, sizeof *copy);
    if (copy == NULL) return -1;
    *copy = *pair;
    return 0;
}

/* Pairs as "<QQdIi", and how many are untold. */
static PyObject *pairs(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_dedup *self = (struct py_dedup *)object;
    struct py_blob blob = {0};
    uint64_t untold = 0;
    if (begin(self, Py_None) != 0) return NULL;
    nigh_status status = nigh_dedup_pairs(self->handle, take_pair, &blob, &untold, &self->call.error);
    if (blob.failed) status = NIGH_ENOMEM;
    if (end(self, status) != 0) {
        Py_XDECREF(py_blob_take(&blob));
        return NULL;
    }
    return Py_BuildValue("NK", py_blob_take(&blob), (unsigned long long)untold);
}

static PyObject *write_kept(PyObject *object, PyObject *arguments) {
    struct py_dedup *self = (struct py_dedup *)object;
    const char *path = NULL;
    nigh_dedup_write_options options;
    nigh_dedup_written written = {.size = sizeof written};
    PyObject *report;
    nigh_dedup_write_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "ypO", &path, &options.annotate, &report)) return NULL;
    if (begin(self, report) != 0) return NULL;
    const nigh_status status = nigh_dedup_write(self->handle, path, &options, &written, &self->call.error);
    if (end(self, status) != 0) return NULL;
    return Py_BuildValue("KK", (unsigned long long)written.records, (unsigned long long)written.bytes);
}

static PyObject *write_report(PyObject *object, PyObject *arguments) {
    struct py_dedup *self = (struct py_dedup *)object;
    const char *path = NULL;
    if (!PyArg_ParseTuple(arguments, "y", &path)) return NULL;
    if (begin(self, Py_None) != 0) return NULL;
    if (end(self, nigh_dedup_report(self->handle, path, &self->call.error)) != 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *problems(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_call *call = &((struct py_dedup *)object)->call;
    return call->problems == NULL ? PyList_New(0) : PyList_GetSlice(call->problems, 0, PyList_Size(call->problems));
}

/* ------------------------------------------------------------------ type -- */

static void release(PyObject *object) {
    struct py_dedup *self = (struct py_dedup *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_BEGIN_ALLOW_THREADS; /* a thread of it may be waiting for the GIL */
    nigh_dedup_free(self->handle);
    Py_END_ALLOW_THREADS;
    py_source_release(&self->source);
    py_call_clear(&self->call);
    if (self->against != NULL) py_collection_leave((struct py_collection *)self->against);
    Py_XDECREF(self->against);
    freefunc freed = (freefunc)PyType_GetSlot(type, Py_tp_free);
    freed(object);
    Py_DECREF(type);
}

static PyMethodDef type_methods[] = {
    {"describe", describe, METH_NOARGS, "Counts and seconds, by name."},
    {"documents", documents, METH_NOARGS, "A record a document, as struct '<QQQdIBBxx'."},
    {"mask", mask, METH_NOARGS, "A byte a record: 1 where it stays."},
    {"id", identity, METH_O, "The id of a document, by number."},
    {"pairs", pairs, METH_NOARGS, "Pairs as struct '<QQdIi', and how many are untold."},
    {"write", write_kept, METH_VARARGS, "write(path, annotate, report)"},
    {"report", write_report, METH_VARARGS, "report(path)"},
    {"problems", problems, METH_NOARGS, "What could not be read, a line each."},
    {NULL, NULL, 0, NULL},
};

static char type_doc[] = "What a de-duplication found.";

static PyType_Slot slots[] = {
    {Py_tp_doc, type_doc},
    {Py_tp_dealloc, release},
    {Py_tp_methods, type_methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "nigh._core.Dedup",
    .basicsize = sizeof(struct py_dedup),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int py_dedup_add(PyObject *module, struct py_state *state) {
    state->dedup_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->dedup_type == NULL ? -1 : PyModule_AddType(module, state->dedup_type);
}
