/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuples of str as documents.  A str lends its UTF-8, so nothing is copied; the GIL is taken once for some hundred
 * of them.
 */
#include "py_nigh.h"

#include <string.h>

#define BATCH 256 /* documents looked at with the GIL held once */

int py_text_at(PyObject *tuple, Py_ssize_t index, const char **text, size_t *length) {
    PyObject *item = PyTuple_GetItem(tuple, index);
    Py_ssize_t bytes = 0;
    *text = NULL;
    *length = 0;
    if (item == Py_None) return 0;
    if (item != NULL && !PyUnicode_Check(item)) {
        PyErr_Format(PyExc_TypeError, "document %zd is %R, which is no str", index, (PyObject *)Py_TYPE(item));
        return -1;
    }
    *text = item == NULL ? NULL : PyUnicode_AsUTF8AndSize(item, &bytes);
    *length = (size_t)bytes;
    if (*text != NULL) return 0;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "document %zd has a lone surrogate in it, which is no text", index);
    return -1;
}

/* Asking a str for its UTF-8 makes it, once; asking later needs no GIL, but only the pointer that it gave. */
struct lent {
    const char *text, *id, *label, *part;
    size_t text_length, id_length, label_length, part_length;
    uint32_t value_count;
    nigh_value values[NIGH_MAX_KEEP_KEYS]; /* so many of them */
};

/* A str lends its bytes; whole numbers beyond 64 bits are reals already (_inputs.py). */
static int lend_value(PyObject *item, nigh_value *out) {
    Py_ssize_t length = 0;
    *out = (nigh_value){.type = NIGH_VALUE_NONE};
    if (item == Py_None) return 0;
    if (PyLong_Check(item)) {
        out->type = NIGH_VALUE_INTEGER;
        out->integer = PyLong_AsLongLong(item);
    } else if (PyFloat_Check(item)) {
        out->type = NIGH_VALUE_REAL;
        out->real = PyFloat_AsDouble(item);
    } else {
        out->type = NIGH_VALUE_TEXT;
        out->text = PyUnicode_AsUTF8AndSize(item, &length);
        out->length = length > (Py_ssize_t)UINT32_MAX ? UINT32_MAX : (uint32_t)length;
    }
    return PyErr_Occurred() ? -1 : 0;
}

int py_values_at(PyObject *tuple, Py_ssize_t index, nigh_value *out, uint32_t *count) {
    PyObject *values = PyTuple_GetItem(tuple, index);
    *count = 0;
    if (values == NULL) return -1;
    if (values == Py_None) return 0;
    const Py_ssize_t length = PyTuple_Check(values) ? PyTuple_Size(values) : -1;
    if (length < 0 || length > (Py_ssize_t)NIGH_MAX_KEEP_KEYS)
        return PyErr_SetString(PyExc_TypeError, "the values of a document are no tuple, or too many"), -1;
    for (Py_ssize_t i = 0; i < length; i++)
        if (lend_value(PyTuple_GetItem(values, i), &out[i]) != 0) return -1;
    *count = (uint32_t)length;
    return 0;
}

static int lend(const struct py_source *source, Py_ssize_t i, struct lent *out) {
    memset(out, 0, offsetof(struct lent, values));
    if (py_text_at(source->texts, i, &out->text, &out->text_length) != 0) return -1;
    if (source->ids != NULL && py_text_at(source->ids, i, &out->id, &out->id_length) != 0) return -1;
    if (source->labels != NULL && py_text_at(source->labels, i, &out->label, &out->label_length) != 0) return -1;
    if (source->parts != NULL && py_text_at(source->parts, i, &out->part, &out->part_length) != 0) return -1;
    if (source->values == NULL) return 0;
    return py_values_at(source->values, i, out->values, &out->value_count);
}

static nigh_status take_batch(struct py_source *source, struct lent *batch) {
    const PyGILState_STATE gil = PyGILState_Ensure();
    const Py_ssize_t count = PyTuple_Size(source->texts);
    nigh_status status = NIGH_OK;
    source->taken = source->next;
    source->limit = count - source->next < BATCH ? count : source->next + BATCH;
    for (Py_ssize_t i = source->taken; i < source->limit && status == NIGH_OK; i++)
        if (lend(source, i, &batch[i - source->taken]) != 0) status = py_call_keep(source->call);
    PyGILState_Release(gil);
    return status;
}

struct tuple_source {
    struct py_source *source;
    struct lent batch[BATCH];
};

static nigh_status next(void *user, nigh_text *out, nigh_error *error) {
    struct tuple_source *tuple = user;
    struct py_source *source = tuple->source;
    (void)error;
    if (source->next == (Py_ssize_t)source->source.documents) return NIGH_END;
    if (source->next == source->limit && take_batch(source, tuple->batch) != NIGH_OK) return NIGH_ECANCELLED;
    const struct lent *lent = &tuple->batch[source->next - source->taken];
    out->text = lent->text;
    out->text_length = lent->text_length;
    out->id = lent->id;
    out->id_length = lent->id_length;
    out->label = lent->label;
    out->label_length = lent->label_length;
    out->part = lent->part;
    out->part_length = lent->part_length;
    out->values = lent->value_count == 0 ? NULL : lent->values;
    out->value_count = lent->value_count;
    if (source->scores.buf != NULL) out->score = ((const double *)source->scores.buf)[source->next];
    source->next++;
    return NIGH_OK;
}

static nigh_status begin_again(void *user, nigh_error *error) {
    struct tuple_source *tuple = user;
    (void)error;
    tuple->source->next = tuple->source->taken = tuple->source->limit = 0;
    return NIGH_OK;
}

/* A tuple of as many, or None. */
static int tuple_take(PyObject *given, Py_ssize_t count, const char *name, PyObject **out) {
    if (given == Py_None) return 0;
    if (!PyTuple_Check(given)) return PyErr_Format(PyExc_TypeError, "%s are no tuple", name), -1;
    if (PyTuple_Size(given) != count)
        return PyErr_Format(PyExc_ValueError, "there are not as many %s as texts", name), -1;
    *out = Py_NewRef(given);
    return 0;
}

static int check_scores(struct py_source *source, PyObject *scores) {
    const Py_ssize_t count = PyTuple_Size(source->texts);
    if (scores == Py_None) return 0;
    if (PyObject_GetBuffer(scores, &source->scores, PyBUF_C_CONTIGUOUS) != 0) return -1;
    if (source->scores.len == count * (Py_ssize_t)sizeof(double)) return 0;
    return PyErr_SetString(PyExc_ValueError, "there are not as many scores as texts"), -1;
}

static int tuple_open(struct py_source *source, PyObject *given) {
    PyObject *texts = NULL, *ids = NULL, *scores = NULL;
    PyObject *labels = Py_None, *parts = Py_None, *values = Py_None;
    if (!PyArg_ParseTuple(given, "O!OO|OOO", &PyTuple_Type, &texts, &ids, &scores, &labels, &parts, &values)) return -1;
    source->texts = Py_NewRef(texts);
    if (tuple_take(ids, PyTuple_Size(texts), "ids", &source->ids) != 0 ||
        tuple_take(labels, PyTuple_Size(texts), "labels", &source->labels) != 0 ||
        tuple_take(parts, PyTuple_Size(texts), "parts", &source->parts) != 0 ||
        tuple_take(values, PyTuple_Size(texts), "values", &source->values) != 0)
        return -1;
    if (check_scores(source, scores) != 0) return -1;
    struct tuple_source *tuple = PyMem_Calloc(1, sizeof *tuple);
    if (tuple == NULL) return PyErr_NoMemory(), -1;
    tuple->source = source;
    source->source.user = tuple;
    source->source.next = next;
    source->source.rewind = begin_again;
    source->source.documents = (uint64_t)PyTuple_Size(texts);
    return 0;
}

int py_source_init(struct py_source *source, struct py_call *call, PyObject *given) {
    *source = (struct py_source){.call = call};
    nigh_source_init(&source->source);
    if (!PyTuple_Check(given)) return PyErr_SetString(PyExc_TypeError, "a source is a tuple"), -1;
    const int failed =
        PyTuple_Size(given) == 1 ? py_arrow_open(source, PyTuple_GetItem(given, 0)) : tuple_open(source, given);
    if (failed) py_source_release(source);
    return failed;
}

void py_source_release(struct py_source *source) {
    if (source->arrow == NULL) PyMem_Free(source->source.user);
    py_arrow_close(source->arrow);
    if (source->scores.obj != NULL) PyBuffer_Release(&source->scores);
    Py_CLEAR(source->texts);
    Py_CLEAR(source->ids);
    Py_CLEAR(source->labels);
    Py_CLEAR(source->parts);
    Py_CLEAR(source->values);
    source->arrow = NULL;
    source->source.user = NULL;
}
