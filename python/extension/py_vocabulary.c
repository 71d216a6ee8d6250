/* SPDX-License-Identifier: Apache-2.0 */
/* Vocabularies as bytes: counted of some documents, and one made of those of several parts. */
#include "py_nigh.h"

struct counting {
    struct py_call *call;
    nigh_signer_options signer;
    nigh_vocabulary *vocabulary;
};

static nigh_status count(void *user, nigh_text_reader *reader) {
    struct counting *counting = user;
    struct py_call *call = counting->call;
    nigh_vocabulary_options options;
    nigh_vocabulary_options_init(&options);
    options.threads = 1;
    return nigh_vocabulary_count(call->state->context, &counting->signer, reader, &options, &counting->vocabulary,
                                 &call->error);
}

static PyObject *bytes_of(nigh_vocabulary *vocabulary) {
    size_t length = 0;
    const void *bytes = nigh_vocabulary_bytes(vocabulary, &length);
    PyObject *made = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length);
    nigh_vocabulary_free(vocabulary);
    return made;
}

/* (source, signer): None where nothing has to be counted. */
static PyObject *vocabulary_count(PyObject *module, PyObject *arguments) {
    PyObject *given, *signer;
    struct py_call call;
    struct py_input input;
    struct counting counting = {.call = &call};
    if (!PyArg_ParseTuple(arguments, "OO", &given, &signer)) return NULL;
    if (py_signer_options_fill(py_state_of(module), signer, &counting.signer) != 0) return NULL;
    if (!nigh_signer_needs_vocabulary(&counting.signer)) Py_RETURN_NONE;
    py_call_begin(&call, py_state_of(module), Py_None);
    int failed = py_input_init(&input, &call, given, Py_None);
    if (!failed) {
        py_call_release(&call);
        failed = py_call_end(&call, py_input_read(&input, count, &counting));
    }
    py_input_release(&input);
    py_call_clear(&call);
    return failed ? NULL : bytes_of(counting.vocabulary);
}

static nigh_status parse_all(struct py_state *state, PyObject *list, nigh_vocabulary **parts, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (Py_ssize_t i = 0; status == NIGH_OK && i < PyList_Size(list); i++) {
        char *bytes = NULL;
        Py_ssize_t length = 0;
        if (PyBytes_AsStringAndSize(PyList_GetItem(list, i), &bytes, &length) != 0) return NIGH_ECANCELLED;
        status = nigh_vocabulary_parse(state->context, bytes, (size_t)length, &parts[i], error);
    }
    return status;
}

static PyObject *vocabulary_merge(PyObject *module, PyObject *list) {
    struct py_state *state = py_state_of(module);
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    nigh_vocabulary *merged = NULL;
    if (!PyList_Check(list)) return PyErr_SetString(PyExc_TypeError, "vocabularies come in a list"), NULL;
    const size_t many = (size_t)PyList_Size(list);
    nigh_vocabulary **parts = PyMem_Calloc(many + 1, sizeof(nigh_vocabulary *));
    if (parts == NULL) return PyErr_NoMemory();
    nigh_status status = parse_all(state, list, parts, &error);
    if (status == NIGH_OK)
        status =
            nigh_vocabulary_merge(state->context, (const nigh_vocabulary *const *)parts, many, NULL, &merged, &error);
    for (size_t i = 0; i < many; i++) nigh_vocabulary_free(parts[i]);
    PyMem_Free(parts);
    if (status == NIGH_OK) return bytes_of(merged);
    return PyErr_Occurred() ? NULL : py_raise(state, status, &error);
}

PyMethodDef py_vocabulary_functions[] = {
    {"vocabulary_count", vocabulary_count, METH_VARARGS, "vocabulary_count(source, signer): bytes, or None"},
    {"vocabulary_merge", vocabulary_merge, METH_O, "vocabulary_merge(list of bytes): bytes"},
    {NULL, NULL, 0, NULL},
};
