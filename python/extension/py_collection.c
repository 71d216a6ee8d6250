/* SPDX-License-Identifier: Apache-2.0 */
/* An open collection: what it holds.  Closing one waits for nobody: the last search that uses it closes it. */
#include "py_nigh.h"

#include <string.h>

int py_collection_enter(struct py_collection *collection) {
    if (collection->handle == NULL || collection->closing)
        return PyErr_SetString(PyExc_ValueError, "the collection is closed"), -1;
    collection->users++;
    return 0;
}

void py_collection_leave(struct py_collection *collection) {
    collection->users--;
    if (!collection->closing || collection->users > 0) return;
    nigh_collection_close(collection->handle);
    collection->handle = NULL;
}

static PyObject *close_collection(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_collection *self = (struct py_collection *)object;
    if (self->handle != NULL && !self->closing) {
        self->users++;
        self->closing = 1;
        py_collection_leave(self);
    }
    Py_RETURN_NONE;
}

static PyObject *is_closed(PyObject *object, void *unused) {
    (void)unused;
    const struct py_collection *self = (struct py_collection *)object;
    return PyBool_FromLong(self->handle == NULL || self->closing);
}

/* ------------------------------------------------------------ what it is -- */

static const struct py_field info_fields[] = {
    PY_FIELD(nigh_collection_info, documents, PY_U64),       PY_FIELD(nigh_collection_info, signatures, PY_U64),
    PY_FIELD(nigh_collection_info, bytes, PY_U64),           PY_FIELD(nigh_collection_info, sequence, PY_U64),
    PY_FIELD(nigh_collection_info, segments, PY_U32),        PY_FIELD(nigh_collection_info, width_bits, PY_U32),
    PY_FIELD(nigh_collection_info, has_ids, PY_FLAG),        PY_FIELD(nigh_collection_info, has_metadata, PY_FLAG),
    PY_FIELD(nigh_collection_info, has_weights, PY_FLAG),    PY_FIELD(nigh_collection_info, has_texts, PY_FLAG),
    PY_FIELD(nigh_collection_info, sliced_segments, PY_U32), PY_FIELD(nigh_collection_info, graph_segments, PY_U32),
    PY_FIELD(nigh_collection_info, column_segments, PY_U32), PY_FIELD(nigh_collection_info, list_bytes, PY_U64),
    PY_FIELD(nigh_collection_info, graph_bytes, PY_U64),     PY_FIELD(nigh_collection_info, graph_recall, PY_DOUBLE),
    PY_FIELD(nigh_collection_info, column_bytes, PY_U64),    PY_FIELD(nigh_collection_info, text_bytes, PY_U64),
    PY_FIELD(nigh_collection_info, deleted, PY_U64),         PY_FIELD(nigh_collection_info, table_segments, PY_U32),
    PY_FIELD(nigh_collection_info, table_bytes, PY_U64),     PY_FIELD(nigh_collection_info, has_masks, PY_FLAG),
    PY_FIELD(nigh_collection_info, keep_keys, PY_U32),       {NULL, PY_FLAG, 0},
};

static PyObject *describe(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_collection *self = (struct py_collection *)object;
    nigh_collection_info info = {.size = sizeof info};
    if (py_collection_enter(self) != 0) return NULL;
    nigh_collection_describe(self->handle, &info);
    py_collection_leave(self);
    return py_fields(info_fields, &info);
}

static PyObject *scheme(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_collection *self = (struct py_collection *)object;
    if (py_collection_enter(self) != 0) return NULL;
    PyObject *text = PyUnicode_FromString(nigh_collection_scheme(self->handle));
    py_collection_leave(self);
    return text;
}

/* ------------------------------------------------------------- documents -- */

static PyObject *find(PyObject *object, PyObject *arguments) {
    struct py_collection *self = (struct py_collection *)object;
    const char *id = NULL;
    Py_ssize_t length = 0;
    uint64_t document = 0;
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    if (!PyArg_ParseTuple(arguments, "y#", &id, &length) || py_collection_enter(self) != 0) return NULL;
    const nigh_status status = nigh_collection_find(self->handle, id, (size_t)length, &document, &error);
    py_collection_leave(self);
    if (status == NIGH_ENOTFOUND) Py_RETURN_NONE;
    if (status != NIGH_OK) return py_raise(self->state, status, &error);
    return PyLong_FromUnsignedLongLong(document);
}

/* Ids, metadata and texts are copied alike: how long is it, then all of it. */
typedef nigh_status copier(const nigh_collection *, uint64_t, char *, size_t, size_t *, nigh_error *);

static nigh_status copy_metadata(const nigh_collection *collection, uint64_t document, char *buffer, size_t capacity,
                                 size_t *length, nigh_error *error) {
    return nigh_collection_metadata(collection, document, buffer, capacity, length, error);
}

static nigh_status copy_signature(const nigh_collection *collection, uint64_t document, char *buffer, size_t capacity,
                                  size_t *length, nigh_error *error) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    *length = nigh_signature_bytes(info.width_bits);
    if (capacity < *length) return NIGH_OK;
    return nigh_collection_signature(collection, document, (uint8_t *)buffer, error);
}

static PyObject *copy_one(struct py_collection *self, uint64_t document, copier *copy) {
    char room[1024];
    size_t length = 0;
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    nigh_status status = copy(self->handle, document, room, sizeof room, &length, &error);
    if (status == NIGH_ENOTFOUND) Py_RETURN_NONE;
    if (status == NIGH_EINVAL)
        return PyErr_Format(PyExc_IndexError, "there is no document %llu", (unsigned long long)document);
    if (status != NIGH_OK) return py_raise(self->state, status, &error);
    if (length < sizeof room) return PyBytes_FromStringAndSize(room, (Py_ssize_t)length);
    char *larger = PyMem_Malloc(length + 1);
    if (larger == NULL) return PyErr_NoMemory();
    status = copy(self->handle, document, larger, length + 1, &length, &error);
    PyObject *bytes = status == NIGH_OK ? PyBytes_FromStringAndSize(larger, (Py_ssize_t)length)
                                        : py_raise(self->state, status, &error);
    PyMem_Free(larger);
    return bytes;
}

static PyObject *copy_by(PyObject *object, PyObject *number, copier *copy) {
    struct py_collection *self = (struct py_collection *)object;
    const uint64_t document = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() || py_collection_enter(self) != 0) return NULL;
    PyObject *bytes = copy_one(self, document, copy);
    py_collection_leave(self);
    return bytes;
}

static PyObject *identity(PyObject *self, PyObject *number) { return copy_by(self, number, nigh_collection_id); }
static PyObject *metadata(PyObject *self, PyObject *number) { return copy_by(self, number, copy_metadata); }
static PyObject *text(PyObject *self, PyObject *number) { return copy_by(self, number, nigh_collection_text); }
static PyObject *signature(PyObject *self, PyObject *number) { return copy_by(self, number, copy_signature); }

/* Ids of many documents, given as bytes of uint64: a list of bytes. */
static PyObject *identities(PyObject *object, PyObject *arguments) {
    struct py_collection *self = (struct py_collection *)object;
    Py_buffer numbers = {0};
    if (py_collection_enter(self) != 0) return NULL;
    PyObject *list = PyArg_ParseTuple(arguments, "y*", &numbers) ? PyList_New(0) : NULL;
    const uint64_t *documents = numbers.buf;
    for (size_t i = 0; list != NULL && i < (size_t)numbers.len / sizeof *documents; i++) {
        PyObject *id = copy_one(self, documents[i], nigh_collection_id);
        if (id == NULL || PyList_Append(list, id) != 0) Py_CLEAR(list);
        Py_XDECREF(id);
    }
    py_collection_leave(self);
    if (numbers.obj != NULL) PyBuffer_Release(&numbers);
    return list;
}

/* Of the numbers from `first` up to `end`, those of documents that live, as '<Q'. */
static PyObject *living(PyObject *object, PyObject *arguments) {
    struct py_collection *self = (struct py_collection *)object;
    unsigned long long first = 0, end = 0;
    struct py_blob blob = {0};
    if (!PyArg_ParseTuple(arguments, "KK", &first, &end) || py_collection_enter(self) != 0) return NULL;
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(self->handle, &info);
    PyThreadState *thread = PyEval_SaveThread();
    for (uint64_t i = first; i < end && i < info.documents && !blob.failed; i++) {
        uint64_t *number = nigh_collection_lives(self->handle, i) ? py_blob_add(&blob, sizeof *number) : NULL;
        if (number != NULL) *number = i;
    }
    PyEval_RestoreThread(thread);
    py_collection_leave(self);
    return py_blob_take(&blob);
}

static nigh_status signature_or_zeros(const nigh_collection *collection, uint64_t document, uint8_t *row, size_t bytes,
                                      nigh_error *error) {
    if (nigh_collection_lives(collection, document)) return nigh_collection_signature(collection, document, row, error);
    memset(row, 0, bytes);
    return NIGH_OK;
}

/* Signatures of `count` documents from `first` on, one after the other; of those that are deleted zeros. */
static PyObject *signatures(PyObject *object, PyObject *arguments) {
    struct py_collection *self = (struct py_collection *)object;
    unsigned long long first = 0, count = 0;
    if (!PyArg_ParseTuple(arguments, "KK", &first, &count) || py_collection_enter(self) != 0) return NULL;
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(self->handle, &info);
    const size_t bytes = nigh_signature_bytes(info.width_bits);
    struct py_blob blob = {0};
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    nigh_status status = NIGH_OK;
    PyThreadState *thread = PyEval_SaveThread();
    for (uint64_t i = 0; i < count && first + i < info.documents && status == NIGH_OK; i++) {
        uint8_t *row = py_blob_add(&blob, bytes);
        status = row == NULL ? NIGH_ENOMEM : signature_or_zeros(self->handle, first + i, row, bytes, &error);
    }
    PyEval_RestoreThread(thread);
    py_collection_leave(self);
    PyObject *rows = py_blob_take(&blob);
    if (status == NIGH_OK) return rows;
    Py_XDECREF(rows);
    return py_raise(self->state, status, &error);
}

/* ------------------------------------------------------------------ type -- */

static PyObject *open_collection(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *path = NULL;
    PyObject *report;
    nigh_open_options options;
    struct py_state *state = py_state_of_type(type);
    struct py_call call;
    nigh_open_options_init(&options);
    if (keywords != NULL && PyDict_Size(keywords) > 0) return PyErr_Format(PyExc_TypeError, "no keywords here");
    if (!PyArg_ParseTuple(arguments, "yppO", &path, &options.verify, &options.load, &report)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct py_collection *self = (struct py_collection *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->state = state;
    py_call_begin(&call, state, report);
    options.progress = &call.progress;
    py_call_release(&call);
    const nigh_status status = nigh_collection_open(state->context, path, &options, &self->handle, &call.error);
    if (py_call_end(&call, status) != 0) Py_CLEAR(self);
    py_call_clear(&call);
    return (PyObject *)self;
}

static void release(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    nigh_collection_close(((struct py_collection *)object)->handle);
    freefunc freed = (freefunc)PyType_GetSlot(type, Py_tp_free);
    freed(object);
    Py_DECREF(type);
}

static PyMethodDef type_methods[] = {
    {"close", close_collection, METH_NOARGS, "Closes it, once nobody searches it."},
    {"describe", describe, METH_NOARGS, "Counts and sizes, by name."},
    {"scheme", scheme, METH_NOARGS, "How its signatures were made: lines key=value."},
    {"find", find, METH_VARARGS, "The number of the document of an id, or None."},
    {"id", identity, METH_O, "The id of a document."},
    {"ids", identities, METH_VARARGS, "The ids of documents, given as bytes of uint64."},
    {"metadata", metadata, METH_O, "The metadata of a document."},
    {"text", text, METH_O, "The text of a document, or None."},
    {"signature", signature, METH_O, "The signature of a document."},
    {"living", living, METH_VARARGS, "living(first, end): the numbers of documents that live, as bytes of uint64."},
    {"signatures", signatures, METH_VARARGS, "signatures(first, count): one after the other."},
    {"search_rows", (PyCFunction)(void (*)(void))py_search_rows, METH_FASTCALL, "search_rows(rows, options, report)"},
    {"search_texts", py_search_texts, METH_VARARGS, "search_texts(texts, options, report)"},
    {"tune", py_tune, METH_VARARGS, "tune(options, path or None, report)"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", is_closed, NULL, "Whether it is closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char type_doc[] = "An open collection.";

static PyType_Slot slots[] = {
    {Py_tp_doc, type_doc},         {Py_tp_new, open_collection}, {Py_tp_dealloc, release},
    {Py_tp_methods, type_methods}, {Py_tp_getset, properties},   {0, NULL},
};

static PyType_Spec spec = {
    .name = "nigh._core.Collection",
    .basicsize = sizeof(struct py_collection),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int py_collection_add(PyObject *module, struct py_state *state) {
    state->collection_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->collection_type == NULL ? -1 : PyModule_AddType(module, state->collection_type);
}
