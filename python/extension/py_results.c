/* SPDX-License-Identifier: Apache-2.0 */
/* What a search found, kept as the library has it: most who ask one query want a small part of it. */
#include "py_nigh.h"

#include <string.h>

struct py_results {
    PyObject_HEAD nigh_results *handle;
};

static const struct py_field info_fields[] = {
    PY_FIELD(nigh_results_info, queries, PY_U64),       PY_FIELD(nigh_results_info, matches, PY_U64),
    PY_FIELD(nigh_results_info, distances, PY_U64),     PY_FIELD(nigh_results_info, exact, PY_FLAG),
    PY_FIELD(nigh_results_info, exact_queries, PY_U64), PY_FIELD(nigh_results_info, scanned, PY_U64),
    PY_FIELD(nigh_results_info, steps, PY_U64),         {NULL, PY_FLAG, 0},
};

static nigh_results_info info_of(PyObject *object) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(((struct py_results *)object)->handle, &info);
    return info;
}

static PyObject *describe(PyObject *object, PyObject *arguments) {
    (void)arguments;
    const nigh_results_info info = info_of(object);
    return py_fields(info_fields, &info);
}

/* Where the matches of each query begin and end, '<Q', one more than queries. */
static PyObject *limits(PyObject *object, PyObject *arguments) {
    (void)arguments;
    const nigh_results *results = ((struct py_results *)object)->handle;
    const nigh_results_info info = info_of(object);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((info.queries + 1) * sizeof(uint64_t)));
    if (bytes == NULL) return NULL;
    uint64_t *ends = (uint64_t *)(void *)PyBytes_AsString(bytes), end = 0;
    for (size_t query = 0; query <= info.queries; query++) {
        size_t count = 0;
        ends[query] = end;
        if (query < info.queries) (void)nigh_results_matches(results, query, &count);
        end += count;
    }
    return bytes;
}

/* All matches, '<QII'. */
static PyObject *matches(PyObject *object, PyObject *arguments) {
    (void)arguments;
    const nigh_results *results = ((struct py_results *)object)->handle;
    const nigh_results_info info = info_of(object);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(info.matches * sizeof(nigh_match)));
    if (bytes == NULL) return NULL;
    char *at = PyBytes_AsString(bytes);
    for (size_t query = 0; query < info.queries; query++) {
        size_t count = 0;
        const nigh_match *found = nigh_results_matches(results, query, &count);
        if (count > 0) memcpy(at, found, count * sizeof *found);
        at += count * sizeof *found;
    }
    return bytes;
}

/* (exact, below, whole, chance) of a query; NIGH_ALL where there is no such. */
static PyObject *proof(PyObject *object, PyObject *argument) {
    const nigh_results *results = ((struct py_results *)object)->handle;
    const unsigned long long query = PyLong_AsUnsignedLongLong(argument);
    nigh_proof known = {.size = sizeof known};
    nigh_scale scale = {.size = sizeof scale};
    nigh_error error;
    if (PyErr_Occurred()) return NULL;
    if (nigh_results_proof(results, (size_t)query, &known, &error) != NIGH_OK)
        return PyErr_Format(PyExc_IndexError, "there is no query %llu", query);
    if (nigh_results_scale(results, (size_t)query, &scale, &error) != NIGH_OK) scale.whole = scale.chance = NIGH_ALL;
    return Py_BuildValue("NIII", PyBool_FromLong(known.exact), (unsigned int)known.below, (unsigned int)scale.whole,
                         (unsigned int)scale.chance);
}

static Py_ssize_t length(PyObject *object) { return (Py_ssize_t)info_of(object).queries; }

static void release(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    nigh_results_free(((struct py_results *)object)->handle);
    freefunc freed = (freefunc)PyType_GetSlot(type, Py_tp_free);
    freed(object);
    Py_DECREF(type);
}

PyObject *py_results_new(struct py_state *state, nigh_results *handle) {
    struct py_results *self = (struct py_results *)state->results_alloc(state->results_type, 0);
    if (self == NULL)
        nigh_results_free(handle);
    else
        self->handle = handle;
    return (PyObject *)self;
}

static PyMethodDef type_methods[] = {
    {"describe", describe, METH_NOARGS, "Counts, by name."},
    {"limits", limits, METH_NOARGS, "Where the matches of each query begin and end, as bytes of uint64."},
    {"matches", matches, METH_NOARGS, "All matches, as struct '<QII': document, distance, 0."},
    {"proof", proof, METH_O, "(exact, below, whole, chance) of a query."},
    {NULL, NULL, 0, NULL},
};

static char type_doc[] = "What a search found.";

static PyType_Slot slots[] = {
    {Py_tp_doc, type_doc}, {Py_tp_dealloc, release}, {Py_tp_methods, type_methods}, {Py_sq_length, length}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "nigh._core.Results",
    .basicsize = sizeof(struct py_results),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int py_results_add(PyObject *module, struct py_state *state) {
    state->results_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (state->results_type == NULL) return -1;
    state->results_alloc = (allocfunc)PyType_GetSlot(state->results_type, Py_tp_alloc);
    return PyModule_AddType(module, state->results_type);
}
