/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as documents, by the Arrow C data interface: three structs that whoever makes tables and whoever reads them
 * agree on, so that texts are read where they lie.  Each pass asks the factory for a stream; a table in memory gives
 * the same arrays again, a file is read again.
 *
 * The layout of strings, of which row i is:
 *     u, U    int32 or int64 offsets: bytes[offset[i]] up to bytes[offset[i + 1]]
 *     vu      16 bytes a row: an int32 length; of up to 12 bytes these follow, else 4 bytes of prefix, the number
 *             of a buffer, and where in it they begin
 */
#include "py_nigh.h"

#include <string.h>

/* ------------------------------------------------------- the three structs -- */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum layout { ABSENT, SMALL, LARGE, VIEWS, DOUBLES };

struct column {
    int64_t child;
    enum layout layout;
};

struct py_arrow {
    PyObject *factory;
    struct py_call *call;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t row;
    struct column text, id, score, label, part;
};

static void arrow_end(struct py_arrow *arrow) {
    if (arrow->batch.release != NULL) arrow->batch.release(&arrow->batch);
    if (arrow->stream.release != NULL) arrow->stream.release(&arrow->stream);
    memset(&arrow->batch, 0, sizeof arrow->batch);
    memset(&arrow->stream, 0, sizeof arrow->stream);
    arrow->row = 0;
}

/* --------------------------------------------------------------- reading -- */

static int valid(const struct ArrowArray *array, int64_t row) {
    const uint8_t *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
    return bits == NULL || array->null_count == 0 || (bits[row / 8] >> (row % 8) & 1) != 0;
}

static const char *view_at(const struct ArrowArray *array, int64_t row, size_t *length) {
    const char *view = (const char *)array->buffers[1] + row * 16;
    int32_t words[4];
    memcpy(words, view, sizeof words);
    *length = (size_t)words[0];
    return words[0] <= 12 ? view + 4 : (const char *)array->buffers[2 + words[2]] + words[3];
}

/* NULL: there is none. */
static const char *string_at(const struct py_arrow *arrow, struct column column, size_t *length) {
    *length = 0;
    if (column.layout == ABSENT) return NULL;
    const struct ArrowArray *array = arrow->batch.children[column.child];
    const int64_t row = array->offset + arrow->batch.offset + arrow->row;
    if (!valid(array, row)) return NULL;
    if (column.layout == VIEWS) return view_at(array, row, length);
    int64_t from, to;
    if (column.layout == SMALL) {
        from = ((const int32_t *)array->buffers[1])[row];
        to = ((const int32_t *)array->buffers[1])[row + 1];
    } else {
        from = ((const int64_t *)array->buffers[1])[row];
        to = ((const int64_t *)array->buffers[1])[row + 1];
    }
    *length = (size_t)(to - from);
    return *length == 0 ? "" : (const char *)array->buffers[2] + from;
}

static void score_at(const struct py_arrow *arrow, double *out) {
    if (arrow->score.layout == ABSENT) return;
    const struct ArrowArray *array = arrow->batch.children[arrow->score.child];
    const int64_t row = array->offset + arrow->batch.offset + arrow->row;
    if (valid(array, row)) *out = ((const double *)array->buffers[1])[row];
}

/* The exception that the factory keeps, where reading raised one; true where it is set again. */
static int raise_again(PyObject *factory) {
    PyObject *failure = PyObject_GetAttrString(factory, "failure");
    PyErr_Clear();
    const int is_one = failure != NULL && PyExceptionInstance_Check(failure);
    if (is_one) PyErr_SetObject((PyObject *)Py_TYPE(failure), failure);
    Py_XDECREF(failure);
    return is_one;
}

/* A stream has the words of what went wrong. */
static nigh_status stream_failed(struct py_arrow *arrow) {
    const char *why = arrow->stream.get_last_error != NULL ? arrow->stream.get_last_error(&arrow->stream) : NULL;
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (!raise_again(arrow->factory))
        PyErr_Format(PyExc_OSError, "the table cannot be read: %s", why ? why : "no reason");
    (void)py_call_keep(arrow->call);
    PyGILState_Release(gil);
    return NIGH_ECANCELLED;
}

/* The next batch that has rows. */
static nigh_status batch_next(struct py_arrow *arrow) {
    while (arrow->row == arrow->batch.length) {
        if (arrow->batch.release != NULL) arrow->batch.release(&arrow->batch);
        memset(&arrow->batch, 0, sizeof arrow->batch);
        arrow->row = 0;
        if (arrow->stream.get_next(&arrow->stream, &arrow->batch) != 0) return stream_failed(arrow);
        if (arrow->batch.release == NULL) return NIGH_END;
    }
    return NIGH_OK;
}

static nigh_status next(void *user, nigh_text *out, nigh_error *error) {
    struct py_arrow *arrow = user;
    (void)error;
    if (arrow->stream.release == NULL) return NIGH_END;
    const nigh_status status = batch_next(arrow);
    if (status != NIGH_OK) return status;
    out->text = string_at(arrow, arrow->text, &out->text_length);
    out->id = string_at(arrow, arrow->id, &out->id_length);
    out->label = string_at(arrow, arrow->label, &out->label_length);
    out->part = string_at(arrow, arrow->part, &out->part_length);
    score_at(arrow, &out->score);
    arrow->row++;
    return NIGH_OK;
}

/* --------------------------------------------------------------- opening -- */

static int layout_of(const struct ArrowSchema *field, enum layout *out) {
    *out = ABSENT;
    if (field->dictionary != NULL) return -1;
    if (strcmp(field->format, "u") == 0) *out = SMALL;
    if (strcmp(field->format, "U") == 0) *out = LARGE;
    if (strcmp(field->format, "vu") == 0) *out = VIEWS;
    if (strcmp(field->format, "g") == 0) *out = DOUBLES;
    return *out == ABSENT ? -1 : 0;
}

/* Which child is called so; -1 and an exception where its type will not do. */
static int find_column(const struct ArrowSchema *schema, const char *name, int strings, struct column *out) {
    *out = (struct column){0};
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *field = schema->children[i];
        if (field->name == NULL || strcmp(field->name, name) != 0) continue;
        out->child = i;
        if (layout_of(field, &out->layout) == 0 && (out->layout != DOUBLES) == strings) return 0;
        PyErr_Format(PyExc_TypeError, "the %s column is of the Arrow type '%s'%s; it has to be %s", name, field->format,
                     field->dictionary != NULL ? ", a dictionary" : "", strings ? "a string" : "a double");
        return -1;
    }
    return 0;
}

static int find_columns(struct py_arrow *arrow) {
    struct ArrowSchema schema = {0};
    if (arrow->stream.get_schema(&arrow->stream, &schema) != 0)
        return PyErr_SetString(PyExc_OSError, "the table does not tell its columns"), -1;
    int failed = find_column(&schema, "text", 1, &arrow->text) != 0 || find_column(&schema, "id", 1, &arrow->id) != 0 ||
                 find_column(&schema, "score", 0, &arrow->score) != 0 ||
                 find_column(&schema, "label", 1, &arrow->label) != 0 ||
                 find_column(&schema, "part", 1, &arrow->part) != 0;
    if (!failed && arrow->text.layout == ABSENT)
        failed = (PyErr_SetString(PyExc_KeyError, "the table has no text column"), 1);
    if (schema.release != NULL) schema.release(&schema);
    return failed ? -1 : 0;
}

/* The capsule gives up its stream, which is ours from here on. */
static int stream_open(struct py_arrow *arrow) {
    PyObject *table = PyObject_CallNoArgs(arrow->factory);
    PyObject *capsule = table == NULL ? NULL : PyObject_CallMethod(table, "__arrow_c_stream__", NULL);
    struct ArrowArrayStream *stream = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream != NULL) {
        arrow->stream = *stream;
        stream->release = NULL;
    }
    Py_XDECREF(capsule);
    Py_XDECREF(table);
    return stream == NULL ? -1 : find_columns(arrow);
}

static nigh_status begin_again(void *user, nigh_error *error) {
    struct py_arrow *arrow = user;
    (void)error;
    arrow_end(arrow);
    const PyGILState_STATE gil = PyGILState_Ensure();
    const nigh_status status = stream_open(arrow) == 0 ? NIGH_OK : py_call_keep(arrow->call);
    PyGILState_Release(gil);
    return status;
}

int py_arrow_open(struct py_source *source, PyObject *factory) {
    struct py_arrow *arrow = PyMem_Calloc(1, sizeof *arrow);
    if (arrow == NULL) return PyErr_NoMemory(), -1;
    arrow->factory = Py_NewRef(factory);
    arrow->call = source->call;
    source->arrow = arrow;
    source->source.user = arrow;
    source->source.next = next;
    source->source.rewind = begin_again;
    return 0;
}

void py_arrow_close(struct py_arrow *arrow) {
    if (arrow == NULL) return;
    Py_BEGIN_ALLOW_THREADS;
    arrow_end(arrow);
    Py_END_ALLOW_THREADS;
    Py_DECREF(arrow->factory);
    PyMem_Free(arrow);
}
