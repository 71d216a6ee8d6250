/* SPDX-License-Identifier: Apache-2.0 */
/* Keywords to option structs, info structs to dicts, by tables; and bytes that grow. */
#include "py_nigh.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- keywords -- */

static int set_word(const struct py_option *option, PyObject *value, int *out) {
    const char *word = PyUnicode_AsUTF8AndSize(value, NULL);
    if (word == NULL) return -1;
    for (int number = 0; option->words[number] != NULL; number++)
        if (word[0] != '\0' && strcmp(option->words[number], word) == 0) return *out = number, 0;
    PyObject *known = PyUnicode_FromString("");
    for (int number = 0; option->words[number] != NULL && known != NULL; number++) {
        if (option->words[number][0] == '\0') continue;
        PyObject *longer = PyUnicode_FromFormat("%U%s%s", known, number == 0 ? "" : ", ", option->words[number]);
        Py_DECREF(known);
        known = longer;
    }
    if (known != NULL) PyErr_Format(PyExc_ValueError, "%s cannot be %R; there are: %U", option->name, value, known);
    Py_XDECREF(known);
    return -1;
}

static int set_number(const struct py_option *option, PyObject *value, uint64_t most, uint64_t *out) {
    PyObject *number = PyNumber_Index(value);
    if (number == NULL) return -1;
    *out = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (!PyErr_Occurred() && *out <= most) return 0;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s is %R, which is not from 0 to %llu", option->name, value,
                 (unsigned long long)most);
    return -1;
}

static int set_text(PyObject *value, const char **out) {
    Py_ssize_t length = 0;
    *out = PyUnicode_AsUTF8AndSize(value, &length);
    if (*out == NULL || strlen(*out) == (size_t)length) return *out == NULL ? -1 : 0;
    PyErr_SetString(PyExc_ValueError, "a name has a zero character in it");
    return -1;
}

static int set_double(PyObject *value, double *out) {
    *out = PyFloat_AsDouble(value);
    return *out == -1.0 && PyErr_Occurred() ? -1 : 0;
}

static int set_option(const struct py_option *option, PyObject *value, void *out) {
    void *field = (char *)out + option->offset;
    uint64_t number = 0;
    int flag = 0;
    switch (option->kind) {
    case PY_FLAG:
        flag = PyObject_IsTrue(value);
        memcpy(field, &flag, sizeof flag);
        return flag < 0 ? -1 : 0;
    case PY_U32:
        if (set_number(option, value, NIGH_ALL, &number) != 0) return -1;
        *(uint32_t *)field = (uint32_t)number;
        return 0;
    case PY_U64:
        return set_number(option, value, NIGH_ALL_64, field);
    case PY_DOUBLE:
        return set_double(value, field);
    case PY_TEXT:
        return set_text(value, field);
    case PY_CHARS:
    case PY_ELSEWHERE:
        return 0;
    case PY_WORD:
        if (set_word(option, value, &flag) != 0) return -1;
        memcpy(field, &flag, sizeof flag);
        return 0;
    }
    return 0;
}

static const struct py_option *find_option(const struct py_option *table, PyObject *name) {
    if (!PyUnicode_Check(name)) return PyErr_SetString(PyExc_TypeError, "the name of an option is a str"), NULL;
    for (; table->name != NULL; table++)
        if (PyUnicode_CompareWithASCIIString(name, table->name) == 0) return table;
    PyErr_Format(PyExc_TypeError, "there is no option '%S' here", name);
    return NULL;
}

int py_options_fill(PyObject *dict, const struct py_option *table, void *out) {
    if (dict == NULL || dict == Py_None) return 0;
    PyObject *name = NULL, *value = NULL;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict, &position, &name, &value)) {
        const struct py_option *option = find_option(table, name);
        if (option == NULL) return -1;
        if (value != Py_None && set_option(option, value, out) != 0) return -1;
    }
    return 0;
}

/* ------------------------------------------- options of several functions -- */

static const char *const schemes[] = {"topsig", "simhash", "minhash", "learned", NULL};
static const char *const features[] = {"auto", "words", "ngrams", "chars", NULL};
static const char *const weights[] = {"auto", "tf", "log", "tf-idf", "likelihood", NULL};

static const struct py_option signer_table[] = {
    PY_OPTION_WORD(nigh_signer_options, scheme, schemes),
    PY_OPTION(nigh_signer_options, width_bits, PY_U32),
    PY_OPTION_WORD(nigh_signer_options, features, features),
    PY_OPTION(nigh_signer_options, feature_length, PY_U32),
    PY_OPTION_WORD(nigh_signer_options, weights, weights),
    PY_OPTION(nigh_signer_options, language, PY_TEXT),
    PY_OPTION(nigh_signer_options, stemming, PY_FLAG),
    PY_OPTION(nigh_signer_options, stop_words, PY_FLAG),
    PY_OPTION(nigh_signer_options, seed, PY_U64),
    PY_OPTION(nigh_signer_options, density, PY_U32),
    PY_OPTION(nigh_signer_options, threshold, PY_DOUBLE),
    PY_OPTION(nigh_signer_options, min_word_length, PY_U32),
    PY_OPTION(nigh_signer_options, no_numbers, PY_FLAG),
    {"model", PY_ELSEWHERE, 0, NULL},
    PY_OPTIONS_END,
};

int py_signer_options_fill(struct py_state *state, PyObject *dict, nigh_signer_options *out) {
    nigh_signer_options_init(out);
    if (py_options_fill(dict, signer_table, out) != 0) return -1;
    PyObject *model = dict == NULL || dict == Py_None ? NULL : PyDict_GetItemString(dict, "model");
    if (model == NULL || model == Py_None) return 0;
    out->model = py_model_of(state, model);
    return out->model == NULL ? -1 : 0;
}

static const char *const formats[] = {"auto", "plain", "lines", "jsonl", "html", "warc",
                                      "trec", "json",  "csv",   "tsv",   NULL};

static const struct py_option reader_table[] = {
    PY_OPTION_WORD(nigh_text_reader_options, format, formats),
    PY_OPTION(nigh_text_reader_options, text_key, PY_TEXT),
    PY_OPTION(nigh_text_reader_options, id_key, PY_TEXT),
    PY_OPTION(nigh_text_reader_options, score_key, PY_TEXT),
    PY_OPTION(nigh_text_reader_options, label_key, PY_TEXT),
    PY_OPTION(nigh_text_reader_options, part_key, PY_TEXT),
    PY_OPTION(nigh_text_reader_options, max_document_bytes, PY_U64),
    PY_OPTION(nigh_text_reader_options, max_errors, PY_U64),
    PY_OPTION(nigh_text_reader_options, strict, PY_FLAG),
    PY_OPTION(nigh_text_reader_options, allow_loss, PY_FLAG),
    PY_OPTION(nigh_text_reader_options, min_bytes, PY_U64),
    PY_OPTION(nigh_text_reader_options, min_words, PY_U64),
    PY_OPTION(nigh_text_reader_options, only_language, PY_TEXT),
    PY_OPTION(nigh_text_reader_options, keep_keys, PY_ELSEWHERE),
    PY_OPTIONS_END,
};

int py_keep_keys(PyObject *dict, struct py_call *call, const char *const **out, size_t *out_count) {
    PyObject *keys = dict == NULL || dict == Py_None ? NULL : PyDict_GetItemString(dict, "keep_keys");
    if (keys == NULL || keys == Py_None) return 0;
    if (!PyTuple_Check(keys)) return PyErr_SetString(PyExc_TypeError, "keep_keys are no tuple"), -1;
    const Py_ssize_t count = PyTuple_Size(keys);
    if (count > (Py_ssize_t)NIGH_MAX_KEEP_KEYS)
        return PyErr_Format(PyExc_ValueError, "%zd keys to keep; %u are allowed", count, NIGH_MAX_KEEP_KEYS), -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (set_text(PyTuple_GetItem(keys, i), &call->keep_keys[i]) != 0) return -1;
    *out = call->keep_keys;
    *out_count = (size_t)count;
    return 0;
}

int py_reader_options_fill(PyObject *dict, struct py_call *call, nigh_text_reader_options *out) {
    nigh_text_reader_options_init(out);
    out->problem = py_call_problem;
    out->user = call;
    if (py_options_fill(dict, reader_table, out) != 0) return -1;
    return py_keep_keys(dict, call, &out->keep_keys, &out->keep_key_count);
}

int py_paths(PyObject *sequence, const char ***out, size_t *count) {
    const Py_ssize_t length = PySequence_Size(sequence);
    if (length < 0) return -1;
    const char **paths = PyMem_Calloc((size_t)length + 1, sizeof *paths);
    if (paths == NULL) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        char *path = NULL;
        const int failed = item == NULL || PyBytes_AsStringAndSize(item, &path, NULL) != 0;
        Py_XDECREF(item); /* the sequence keeps it */
        if (failed) return PyMem_Free((void *)paths), -1;
        paths[i] = path;
    }
    *out = paths;
    *count = (size_t)length;
    return 0;
}

int py_rows_check(const Py_buffer *rows, uint32_t width_bits) {
    const int width = width_bits > 0 && width_bits <= NIGH_MAX_WIDTH_BITS;
    if (width && (size_t)rows->len % nigh_signature_bytes(width_bits) == 0) return 0;
    PyErr_Format(PyExc_ValueError, "%zd bytes are not rows of %u bits", rows->len, width_bits);
    return -1;
}

/* ----------------------------------------------------------------- dicts -- */

static PyObject *field_value(const struct py_field *field, const void *from) {
    const char *at = (const char *)from + field->offset;
    switch (field->kind) {
    case PY_FLAG:
        return PyBool_FromLong(*(const int *)(const void *)at);
    case PY_U32:
        return PyLong_FromUnsignedLong(*(const uint32_t *)(const void *)at);
    case PY_U64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)at);
    case PY_DOUBLE:
        return PyFloat_FromDouble(*(const double *)(const void *)at);
    case PY_CHARS:
        return PyUnicode_FromString(at);
    case PY_TEXT:
    case PY_WORD:
    case PY_ELSEWHERE:
        break;
    }
    return Py_NewRef(Py_None);
}

/*
 * Takes the value, which may be NULL.  PyDict_SetItemString() would intern the name, and as these come and go the table
 * of all interned names grows to several times its size.
 */
static int set_item(PyObject *dict, const char *name, PyObject *value) {
    PyObject *key = value == NULL ? NULL : PyUnicode_FromString(name);
    const int failed = key == NULL || PyDict_SetItem(dict, key, value) != 0;
    Py_XDECREF(key);
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

PyObject *py_fields(const struct py_field *table, const void *from) {
    PyObject *dict = PyDict_New();
    for (; dict != NULL && table->name != NULL; table++)
        if (set_item(dict, table->name, field_value(table, from)) != 0) Py_CLEAR(dict);
    return dict;
}

int py_rows_add(PyObject **list, const struct py_field *table, const void *from, const char *name, const char *word) {
    PyObject *row = *list == NULL ? NULL : py_fields(table, from);
    int failed = row == NULL || (name != NULL && set_item(row, name, PyUnicode_FromString(word)) != 0);
    failed = failed || PyList_Append(*list, row) != 0;
    Py_XDECREF(row);
    if (failed) Py_CLEAR(*list);
    return failed ? -1 : 0;
}

PyObject *py_rows(const struct py_field *table, nigh_status (*at)(const void *rows, size_t number, void *row),
                  const void *rows, void *row) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && at(rows, i, row) == NIGH_OK; i++)
        (void)py_rows_add(&list, table, row, NULL, NULL);
    return list;
}

/* ----------------------------------------------------------------- blobs -- */

/* Without the GIL, so by an allocator that needs none. */
void *py_blob_add(struct py_blob *blob, size_t length) {
    if (blob->failed) return NULL;
    if (length > blob->capacity - blob->length) {
        const size_t capacity = blob->capacity * 2 > blob->length + length ? blob->capacity * 2 : blob->length + length;
        char *larger = realloc(blob->bytes, capacity);
        if (larger == NULL) return blob->failed = 1, NULL;
        blob->bytes = larger;
        blob->capacity = capacity;
    }
    void *place = blob->bytes + blob->length;
    blob->length += length;
    return place;
}

PyObject *py_blob_take(struct py_blob *blob) {
    PyObject *bytes =
        blob->failed ? PyErr_NoMemory() : PyBytes_FromStringAndSize(blob->bytes, (Py_ssize_t)blob->length);
    free(blob->bytes);
    *blob = (struct py_blob){0};
    return bytes;
}
