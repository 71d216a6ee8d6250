/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live handle: documents are held against all that is there, and added where they match nothing.  Several threads may
 * use one; closing it waits for nobody, the last call that uses it closes it.  It belongs to the process that opened
 * it: a child shares its files, so that what both wrote would be lost, and has none of its threads.
 */
#include "py_nigh.h"

#include <unistd.h>

struct py_live {
    PyObject_HEAD nigh_live *handle; /* NULL: closed */
    struct py_state *state;
    struct py_call opening; /* its progress outlives the handle */
    Py_ssize_t users;
    int closing;
    pid_t process;
    nigh_live_info info; /* as it was opened: how wide rows are, or that it is of texts */
};

static const char *const syncs[] = {"group", "each", "never", NULL};

static const struct py_option live_table[] = {
    PY_OPTION(nigh_live_options, radius, PY_U32),
    PY_OPTION_WORD(nigh_live_options, sync, syncs),
    PY_OPTION(nigh_live_options, group_size, PY_U32),
    PY_OPTION(nigh_live_options, group_us, PY_U32),
    PY_OPTION(nigh_live_options, log_bytes, PY_U64),
    PY_OPTION(nigh_live_options, snippet, PY_U32),
    PY_OPTION(nigh_live_options, threads, PY_U32),
    PY_OPTION(nigh_live_options, create, PY_FLAG),
    PY_OPTION(nigh_live_options, width_bits, PY_U32),
    PY_OPTION(nigh_live_options, keep_keys, PY_ELSEWHERE),
    PY_OPTIONS_END,
};

static const struct py_field info_fields[] = {
    PY_FIELD(nigh_live_info, documents, PY_U64),
    PY_FIELD(nigh_live_info, in_log, PY_U64),
    PY_FIELD(nigh_live_info, log_bytes, PY_U64),
    PY_FIELD(nigh_live_info, taken, PY_U64),
    PY_FIELD(nigh_live_info, added, PY_U64),
    PY_FIELD(nigh_live_info, syncs, PY_U64),
    PY_FIELD(nigh_live_info, segments, PY_U64),
    PY_FIELD(nigh_live_info, recovered, PY_U64),
    PY_FIELD(nigh_live_info, compared, PY_U64),
    PY_FIELD(nigh_live_info, truncated, PY_U64),
    PY_FIELD(nigh_live_info, width_bits, PY_U32),
    PY_FIELD(nigh_live_info, radius, PY_U32),
    PY_FIELD(nigh_live_info, threshold, PY_DOUBLE),
    PY_FIELD(nigh_live_info, texts, PY_FLAG),
    {NULL, PY_FLAG, 0},
};

/* ------------------------------------------------------------------- use -- */

static int enter(struct py_live *self) {
    if (self->process != getpid())
        return PyErr_SetString(PyExc_RuntimeError,
                               "the live handle was opened before a fork; open one in this process"),
               -1;
    if (self->handle == NULL || self->closing)
        return PyErr_SetString(PyExc_ValueError, "the live handle is closed"), -1;
    self->users++;
    return 0;
}

static void leave(struct py_live *self) {
    self->users--;
    if (!self->closing || self->users > 0) return;
    nigh_live *handle = self->handle;
    self->handle = NULL;
    Py_BEGIN_ALLOW_THREADS;
    nigh_live_close(handle);
    Py_END_ALLOW_THREADS;
}

static PyObject *close_live(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_live *self = (struct py_live *)object;
    if (self->handle != NULL && !self->closing && self->process == getpid()) {
        self->users++;
        self->closing = 1;
        leave(self);
    }
    Py_RETURN_NONE;
}

static PyObject *is_closed(PyObject *object, void *unused) {
    (void)unused;
    const struct py_live *self = (struct py_live *)object;
    return PyBool_FromLong(self->handle == NULL || self->closing);
}

static PyObject *describe(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_live *self = (struct py_live *)object;
    nigh_live_info info = {.size = sizeof info};
    if (enter(self) != 0) return NULL;
    Py_BEGIN_ALLOW_THREADS; /* it may wait for a thread that adds */
    nigh_live_describe(self->handle, &info);
    Py_END_ALLOW_THREADS;
    leave(self);
    return py_fields(info_fields, &info);
}

/* ------------------------------------------------------------- documents -- */

struct taking {
    nigh_document *documents;
    nigh_value *values; /* NIGH_MAX_KEEP_KEYS a document; NULL: none has any */
    Py_ssize_t count;
    Py_buffer rows;
    struct py_blob answers;
};

static int take_texts(struct taking *taking, PyObject *texts) {
    for (Py_ssize_t i = 0; i < taking->count; i++) {
        nigh_document *document = &taking->documents[i];
        if (py_text_at(texts, i, &document->text, &document->text_length) != 0) return -1;
        if (document->text == NULL)
            return PyErr_Format(PyExc_TypeError, "document %zd is None, and has no text", i), -1;
    }
    return 0;
}

static int take_rows(struct taking *taking, PyObject *rows, uint32_t width_bits) {
    const Py_ssize_t bytes = (Py_ssize_t)nigh_signature_bytes(width_bits);
    if (PyObject_GetBuffer(rows, &taking->rows, PyBUF_C_CONTIGUOUS) != 0) return -1;
    if (taking->rows.len != taking->count * bytes)
        return PyErr_SetString(PyExc_ValueError, "the rows are not of the width of the collection"), -1;
    for (Py_ssize_t i = 0; i < taking->count; i++)
        taking->documents[i].signature = (const uint8_t *)taking->rows.buf + i * bytes;
    return 0;
}

static int take_ids(struct taking *taking, PyObject *ids) {
    if (ids == Py_None) return 0;
    if (!PyTuple_Check(ids) || PyTuple_Size(ids) != taking->count)
        return PyErr_SetString(PyExc_ValueError, "there are not as many ids as documents"), -1;
    for (Py_ssize_t i = 0; i < taking->count; i++)
        if (py_text_at(ids, i, &taking->documents[i].id, &taking->documents[i].id_length) != 0) return -1;
    return 0;
}

static int take_values(struct taking *taking, PyObject *values) {
    if (values == Py_None) return 0;
    if (!PyTuple_Check(values) || PyTuple_Size(values) != taking->count)
        return PyErr_SetString(PyExc_ValueError, "there are not values of as many documents"), -1;
    taking->values = PyMem_Calloc((size_t)taking->count + 1, NIGH_MAX_KEEP_KEYS * sizeof *taking->values);
    if (taking->values == NULL) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < taking->count; i++) {
        nigh_document *document = &taking->documents[i];
        nigh_value *room = taking->values + i * (Py_ssize_t)NIGH_MAX_KEEP_KEYS;
        if (py_values_at(values, i, room, &document->value_count) != 0) return -1;
        if (document->value_count > 0) document->values = room;
    }
    return 0;
}

/* A tuple of texts, or the bytes of so many rows. */
static int taking_fill(struct taking *taking, struct py_live *self, PyObject *given) {
    const nigh_live_info *info = &self->info;
    if (PyTuple_Check(given)) taking->count = PyTuple_Size(given);
    if (taking->count < 0 || taking->count > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof *taking->documents)
        return PyErr_SetString(PyExc_ValueError, "there cannot be so many documents"), -1;
    if (PyTuple_Check(given) != (info->texts != 0)) {
        PyErr_SetString(PyExc_TypeError, info->texts ? "the collection is of texts" : "the collection is of rows");
        return -1;
    }
    taking->documents = PyMem_Calloc((size_t)taking->count + 1, sizeof *taking->documents);
    if (taking->documents == NULL) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < taking->count; i++) taking->documents[i].size = sizeof *taking->documents;
    return info->texts ? take_texts(taking, given) : take_rows(taking, given, info->width_bits);
}

static nigh_status ask(struct py_live *self, struct taking *taking, int add, nigh_error *error) {
    const size_t count = (size_t)taking->count;
    if (count == 0) return NIGH_OK;
    nigh_live_answer *answers = py_blob_add(&taking->answers, count * sizeof *answers);
    if (answers == NULL) return NIGH_ENOMEM;
    return add ? nigh_live_find_or_add(self->handle, taking->documents, count, answers, error)
               : nigh_live_find(self->handle, taking->documents, count, answers, error);
}

/* What a segment that is made meanwhile raised stands in the call of opening, which has the progress. */
static int end(struct py_live *self, struct py_call *call, nigh_status status) {
    if (call->kept_type == NULL && self->opening.kept_type != NULL) {
        call->kept_type = self->opening.kept_type;
        call->kept_value = self->opening.kept_value;
        call->trace = self->opening.trace;
        self->opening.kept_type = self->opening.kept_value = self->opening.trace = NULL;
    }
    return py_call_end(call, status);
}

/* take(texts or rows, count of rows, ids, values or None, add): a record a document, as struct '<QQQdII16x'. */
static PyObject *take(PyObject *object, PyObject *arguments) {
    struct py_live *self = (struct py_live *)object;
    PyObject *given, *ids, *values;
    struct taking taking = {0};
    struct py_call call;
    int add = 0;
    if (!PyArg_ParseTuple(arguments, "OnOOp", &given, &taking.count, &ids, &values, &add) || enter(self) != 0)
        return NULL;
    py_call_begin(&call, self->state, Py_None);
    int failed = taking_fill(&taking, self, given) || take_ids(&taking, ids) || take_values(&taking, values);
    if (!failed) {
        py_call_release(&call);
        failed = end(self, &call, ask(self, &taking, add, &call.error));
    }
    py_call_clear(&call);
    if (taking.rows.obj != NULL) PyBuffer_Release(&taking.rows);
    PyMem_Free(taking.documents);
    PyMem_Free(taking.values);
    leave(self);
    PyObject *answers = py_blob_take(&taking.answers);
    if (failed) Py_CLEAR(answers);
    return answers;
}

static PyObject *identity(PyObject *object, PyObject *argument) {
    struct py_live *self = (struct py_live *)object;
    const uint64_t number = PyLong_AsUnsignedLongLong(argument);
    char room[4096];
    size_t length = 0;
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    if (PyErr_Occurred() || enter(self) != 0) return NULL;
    nigh_status status = NIGH_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = nigh_live_id(self->handle, number, room, sizeof room, &length, &error);
    Py_END_ALLOW_THREADS;
    leave(self);
    if (status == NIGH_EINVAL)
        return PyErr_Format(PyExc_IndexError, "there is no document %llu", (unsigned long long)number);
    if (status != NIGH_OK) return py_raise(self->state, status, &error);
    return PyBytes_FromStringAndSize(room, (Py_ssize_t)(length < sizeof room ? length : sizeof room));
}

static PyObject *commit(PyObject *object, PyObject *arguments) {
    (void)arguments;
    struct py_live *self = (struct py_live *)object;
    struct py_call call;
    nigh_commit made = {.size = sizeof made};
    if (enter(self) != 0) return NULL;
    py_call_begin(&call, self->state, Py_None);
    py_call_release(&call);
    const int failed = end(self, &call, nigh_live_commit(self->handle, &made, &call.error));
    py_call_clear(&call);
    leave(self);
    return failed ? NULL : PyLong_FromUnsignedLongLong(made.added);
}

/* ------------------------------------------------------------------ type -- */

static nigh_status open_handle(struct py_live *self, const char *path, const nigh_live_options *options) {
    struct py_call *call = &self->opening;
    const nigh_status status = nigh_live_open(self->state->context, path, options, &self->handle, &call->error);
    self->info.size = sizeof self->info;
    if (status == NIGH_OK) nigh_live_describe(self->handle, &self->info);
    return status;
}

static PyObject *open_live(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *path = NULL;
    PyObject *given, *signer, *report;
    nigh_live_options options;
    nigh_signer_options signing;
    nigh_live_options_init(&options);
    if (keywords != NULL && PyDict_Size(keywords) > 0) return PyErr_Format(PyExc_TypeError, "no keywords here");
    if (!PyArg_ParseTuple(arguments, "yOOO", &path, &given, &signer, &report)) return NULL;
    if (py_options_fill(given, live_table, &options) != 0 ||
        py_signer_options_fill(py_state_of_type(type), signer, &signing) != 0)
        return NULL;
    if (signer != Py_None) options.signer = &signing;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct py_live *self = (struct py_live *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->state = py_state_of_type(type);
    self->process = getpid();
    py_call_begin(&self->opening, self->state, report);
    options.progress = &self->opening.progress;
    int failed = py_keep_keys(given, &self->opening, &options.keep_keys, &options.keep_key_count);
    if (!failed) {
        py_call_release(&self->opening);
        failed = py_call_end(&self->opening, open_handle(self, path, &options));
    }
    py_call_clear(&self->opening);
    if (failed) Py_CLEAR(self);
    return (PyObject *)self;
}

static void release(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    struct py_live *self = (struct py_live *)object;
    if (self->process == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        nigh_live_close(self->handle);
        Py_END_ALLOW_THREADS;
    }
    py_call_clear(&self->opening);
    freefunc freed = (freefunc)PyType_GetSlot(type, Py_tp_free);
    freed(object);
    Py_DECREF(type);
}

static PyMethodDef type_methods[] = {
    {"close", close_live, METH_NOARGS, "Closes it, once nobody uses it; what was acknowledged stays."},
    {"describe", describe, METH_NOARGS, "Counts and sizes, by name."},
    {"take", take, METH_VARARGS, "take(texts or rows, count, ids, values, add): answers as struct '<QQQdII16x'."},
    {"id", identity, METH_O, "The id of a document."},
    {"commit", commit, METH_NOARGS, "Makes a segment of the log; gives how many documents that were."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", is_closed, NULL, "Whether it is closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char type_doc[] = "A collection that answers and grows.";

static PyType_Slot slots[] = {
    {Py_tp_doc, type_doc},         {Py_tp_new, open_live},     {Py_tp_dealloc, release},
    {Py_tp_methods, type_methods}, {Py_tp_getset, properties}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "nigh._core.Live",
    .basicsize = sizeof(struct py_live),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int py_live_add(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    const int failed = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return failed;
}
