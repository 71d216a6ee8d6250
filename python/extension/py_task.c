/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task of a deduplication whose records an engine moves.  Texts and records go in; what comes out is kept until it
 * is asked for, as (kind, shard, bytes).  A task has one user at a time.
 */
#include "py_nigh.h"

#include <math.h>
#include <string.h>

struct given {
    int kind;
    uint32_t shard;
    size_t begin, length;
};

struct py_task {
    PyObject_HEAD nigh_task *handle;
    struct py_state *state;
    struct py_blob bytes; /* of all that was given since it was last asked for */
    struct py_blob list;  /* of struct given */
    PyObject *put;        /* borrowed: while it finishes, what takes what it gives; NULL: it is kept */
    struct py_call *call; /* of that */
    int busy;
};

/* Called with (kind, shard, bytes); may wait until there is room. */
static nigh_status put(const struct py_task *self, const struct given *given, const void *records) {
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *answer = PyObject_CallFunction(self->put, "iIy#", given->kind, given->shard, (const char *)records,
                                             (Py_ssize_t)given->length);
    const nigh_status status = answer == NULL ? py_call_keep(self->call) : NIGH_OK;
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    return status;
}

static nigh_status take(void *user, nigh_records kind, uint32_t shard, const void *records, size_t length,
                        nigh_error *error) {
    struct py_task *self = user;
    const struct given given = {.kind = (int)kind, .shard = shard, .begin = self->bytes.length, .length = length};
    if (self->put != NULL) return put(self, &given, records);
    void *place = py_blob_add(&self->bytes, length);
    struct given *entry = place == NULL ? NULL : py_blob_add(&self->list, sizeof *entry);
    (void)error;
    if (entry == NULL) return NIGH_ENOMEM;
    memcpy(place, records, length);
    *entry = given;
    return NIGH_OK;
}

/* ------------------------------------------------------------------ calls -- */

static int enter(struct py_task *self) {
    if (self->busy) return PyErr_SetString(PyExc_ValueError, "the task is in use by another thread"), -1;
    self->busy = 1;
    return 0;
}

/* What goes with each text: for SIGN its number, for FEATURES its set and shard. */
struct texts {
    struct py_source source;
    Py_buffer numbers, shards;
    Py_ssize_t count;
    uint64_t missing; /* documents without a text */
};

static int texts_init(struct texts *texts, struct py_call *call, PyObject *source, PyObject *numbers,
                      PyObject *shards) {
    if (PyObject_GetBuffer(numbers, &texts->numbers, PyBUF_C_CONTIGUOUS) != 0) return -1;
    if (shards != Py_None && PyObject_GetBuffer(shards, &texts->shards, PyBUF_C_CONTIGUOUS) != 0) return -1;
    texts->count = texts->numbers.len / (Py_ssize_t)sizeof(int64_t);
    if (texts->shards.obj != NULL && texts->shards.len != texts->count * (Py_ssize_t)sizeof(int64_t))
        return PyErr_SetString(PyExc_ValueError, "there are not as many shards as numbers"), -1;
    return py_source_init(&texts->source, call, source);
}

static void texts_release(struct texts *texts) {
    if (texts->numbers.obj != NULL) PyBuffer_Release(&texts->numbers);
    if (texts->shards.obj != NULL) PyBuffer_Release(&texts->shards);
}

static nigh_status give_text(nigh_task *task, const struct texts *texts, Py_ssize_t i, const nigh_text *text,
                             nigh_error *error) {
    const int64_t number = ((const int64_t *)texts->numbers.buf)[i];
    if (texts->shards.obj == NULL)
        return nigh_task_sign(task, number, text->text, text->text_length, text->score, error);
    return nigh_task_features(task, (uint64_t)number, (uint32_t)((const int64_t *)texts->shards.buf)[i], text->text,
                              text->text_length, error);
}

static nigh_status give_texts(nigh_task *task, struct texts *texts, nigh_error *error) {
    const nigh_source *source = &texts->source.source;
    nigh_status status = source->rewind(source->user, error);
    for (Py_ssize_t i = 0; status == NIGH_OK && i < texts->count; i++) {
        nigh_text text = {.size = sizeof text, .score = -(double)INFINITY};
        status = source->next(source->user, &text, error);
        if (status == NIGH_OK && text.text == NULL)
            texts->missing++;
        else if (status == NIGH_OK)
            status = give_text(task, texts, i, &text, error);
    }
    return status == NIGH_END ? NIGH_EINVAL : status;
}

/* texts(source, numbers or sets, shards or None): how many have no text. */
static PyObject *give(PyObject *object, PyObject *arguments) {
    struct py_task *self = (struct py_task *)object;
    PyObject *source, *numbers, *shards;
    struct texts texts = {.count = 0};
    struct py_call call;
    if (!PyArg_ParseTuple(arguments, "OOO", &source, &numbers, &shards) || enter(self) != 0) return NULL;
    py_call_begin(&call, self->state, Py_None);
    int failed = texts_init(&texts, &call, source, numbers, shards);
    if (!failed) {
        py_call_release(&call);
        failed = py_call_end(&call, give_texts(self->handle, &texts, &call.error));
    }
    py_source_release(&texts.source);
    texts_release(&texts);
    py_call_clear(&call);
    self->busy = 0;
    return failed ? NULL : PyLong_FromUnsignedLongLong(texts.missing);
}

static PyObject *add(PyObject *object, PyObject *arguments) {
    struct py_task *self = (struct py_task *)object;
    Py_buffer records = {0};
    struct py_call call;
    int kind = 0;
    if (!PyArg_ParseTuple(arguments, "iy*", &kind, &records)) return NULL;
    int failed = enter(self);
    if (!failed) {
        py_call_begin(&call, self->state, Py_None);
        py_call_release(&call);
        failed = py_call_end(
            &call, nigh_task_add(self->handle, (nigh_records)kind, records.buf, (size_t)records.len, &call.error));
        py_call_clear(&call);
        self->busy = 0;
    }
    PyBuffer_Release(&records);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *finish(PyObject *object, PyObject *taker) {
    struct py_task *self = (struct py_task *)object;
    struct py_call call;
    if (enter(self) != 0) return NULL;
    py_call_begin(&call, self->state, Py_None);
    self->call = &call;
    self->put = taker == Py_None ? NULL : taker;
    py_call_release(&call);
    const int failed = py_call_end(&call, nigh_task_finish(self->handle, &call.error));
    py_call_clear(&call);
    self->put = NULL;
    self->call = NULL;
    self->busy = 0;
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *length_of(PyObject *object, PyObject *arguments) {
    (void)arguments;
    return PyLong_FromSize_t(((struct py_task *)object)->bytes.length);
}

static PyObject *taken(PyObject *object, PyObject *arguments) {
    struct py_task *self = (struct py_task *)object;
    (void)arguments;
    const size_t count = self->list.length / sizeof(struct given);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        struct given given;
        memcpy(&given, self->list.bytes + i * sizeof given, sizeof given);
        PyObject *entry =
            Py_BuildValue("(iIy#)", given.kind, given.shard, self->bytes.bytes + given.begin, (Py_ssize_t)given.length);
        if (entry == NULL || PyList_SetItem(list, (Py_ssize_t)i, entry) != 0) Py_CLEAR(list);
    }
    if (list == NULL) return NULL;
    self->bytes.length = self->list.length = 0;
    return list;
}

/* ------------------------------------------------------------------- type -- */

static nigh_status make(struct py_task *self, int kind, const nigh_dedup_options *options, const nigh_task_options *own,
                        nigh_error *error) {
    return nigh_task_new(self->state->context, (nigh_task_kind)kind, options, own, &self->handle, error);
}

/* Task(kind, options, signer, shards, shard, secret, check_numbers) */
static PyObject *new_task(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *given, *signer;
    unsigned long long secret = 0;
    int kind = 0;
    nigh_dedup_options options;
    nigh_signer_options signing;
    nigh_task_options own;
    struct py_call call;
    nigh_dedup_options_init(&options);
    nigh_task_options_init(&own);
    if (keywords != NULL && PyDict_Size(keywords) > 0) return PyErr_Format(PyExc_TypeError, "no keywords here");
    if (!PyArg_ParseTuple(arguments, "iOOIIKp", &kind, &given, &signer, &own.shards, &own.shard, &secret,
                          &own.check_numbers))
        return NULL;
    if (py_options_fill(given, py_dedup_table, &options) != 0 ||
        py_signer_options_fill(py_state_of_type(type), signer, &signing) != 0)
        return NULL;
    if (signer != Py_None) options.signer = &signing;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct py_task *self = (struct py_task *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->state = py_state_of_type(type);
    own.secret = secret;
    own.take = take;
    own.user = self;
    py_call_begin(&call, self->state, Py_None);
    py_call_release(&call);
    const int failed = py_call_end(&call, make(self, kind, &options, &own, &call.error));
    py_call_clear(&call);
    if (failed) Py_CLEAR(self);
    return (PyObject *)self;
}

static void release(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    struct py_task *self = (struct py_task *)object;
    nigh_task_free(self->handle);
    Py_XDECREF(py_blob_take(&self->bytes));
    Py_XDECREF(py_blob_take(&self->list));
    freefunc freed = (freefunc)PyType_GetSlot(type, Py_tp_free);
    freed(object);
    Py_DECREF(type);
}

static PyMethodDef type_methods[] = {
    {"texts", give, METH_VARARGS, "texts(source, numbers or sets, shards or None): how many have no text."},
    {"add", add, METH_VARARGS, "add(kind, records)"},
    {"finish", finish, METH_O, "finish(put or None): all has been given; put is called with (kind, shard, bytes)."},
    {"length", length_of, METH_NOARGS, "How many bytes take() would give."},
    {"take", taken, METH_NOARGS, "What it has given since, as (kind, shard, bytes)."},
    {NULL, NULL, 0, NULL},
};

static char type_doc[] = "A task of a deduplication whose records an engine moves.";

static PyType_Slot slots[] = {
    {Py_tp_doc, type_doc}, {Py_tp_new, new_task}, {Py_tp_dealloc, release}, {Py_tp_methods, type_methods}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "nigh._core.Task",
    .basicsize = sizeof(struct py_task),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int py_task_add(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    const int failed = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return failed;
}
