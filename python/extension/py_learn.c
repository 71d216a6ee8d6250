/* SPDX-License-Identifier: Apache-2.0 */
/* Learning signatures from labelled documents, and the models that come of it. */
#include "py_nigh.h"

#include <string.h>

static const char *const methods[] = {"codewords", "s3h", "s3h-f", "simhash", "chi", "ssh", "klsh", NULL};
static const char *const features[] = {"auto", "words", "ngrams", "chars", NULL};

const struct py_option py_learn_table[] = {
    PY_OPTION_WORD(nigh_learn_options, method, methods),    PY_OPTION(nigh_learn_options, width_bits, PY_U32),
    PY_OPTION(nigh_learn_options, max_features, PY_U32),    PY_OPTION(nigh_learn_options, min_documents, PY_U32),
    PY_OPTION(nigh_learn_options, language, PY_TEXT),       PY_OPTION_WORD(nigh_learn_options, features, features),
    PY_OPTION(nigh_learn_options, feature_length, PY_U32),  PY_OPTION(nigh_learn_options, stemming, PY_FLAG),
    PY_OPTION(nigh_learn_options, stop_words, PY_FLAG),     PY_OPTION(nigh_learn_options, seed, PY_U64),
    PY_OPTION(nigh_learn_options, iterations, PY_U32),      PY_OPTION(nigh_learn_options, attraction_pairs, PY_U32),
    PY_OPTION(nigh_learn_options, repulsion_pairs, PY_U32), PY_OPTION(nigh_learn_options, l1, PY_DOUBLE),
    PY_OPTION(nigh_learn_options, l2, PY_DOUBLE),           PY_OPTION(nigh_learn_options, as_paper, PY_FLAG),
    PY_OPTION(nigh_learn_options, anchors, PY_U32),         PY_OPTION(nigh_learn_options, anchor_sample, PY_U32),
    PY_OPTION(nigh_learn_options, threads, PY_U32),         PY_OPTION(nigh_learn_options, memory_bytes, PY_U64),
    PY_OPTION(nigh_learn_options, limit, PY_U64),           PY_OPTION(nigh_learn_options, min_word_length, PY_U32),
    PY_OPTION(nigh_learn_options, no_numbers, PY_FLAG),     PY_OPTION(nigh_learn_options, count_contribution, PY_FLAG),
    PY_OPTION(nigh_learn_options, count_values, PY_FLAG),   PY_OPTION(nigh_learn_options, paper_lambda, PY_FLAG),
    PY_OPTION(nigh_learn_options, kernel_width, PY_DOUBLE), PY_OPTIONS_END,
};

/* ---------------------------------------------------------------- models -- */

struct py_model {
    PyObject_HEAD nigh_model *handle;
};

static PyObject *model_new(PyTypeObject *type, nigh_model *handle) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct py_model *self = (struct py_model *)allocate(type, 0);
    if (self == NULL)
        nigh_model_free(handle);
    else
        self->handle = handle;
    return (PyObject *)self;
}

const nigh_model *py_model_of(struct py_state *state, PyObject *object) {
    if (Py_TYPE(object) == state->model_type) return ((struct py_model *)object)->handle;
    PyErr_Format(PyExc_TypeError, "%R is no model", (PyObject *)Py_TYPE(object));
    return NULL;
}

/* Of the bytes of one. */
static PyObject *parse_model(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    struct py_state *state = py_state_of_type(type);
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    nigh_model *handle = NULL;
    Py_buffer bytes = {0};
    if (keywords != NULL && PyDict_Size(keywords) > 0) return PyErr_Format(PyExc_TypeError, "no keywords here");
    if (!PyArg_ParseTuple(arguments, "y*", &bytes)) return NULL;
    const nigh_status status = nigh_model_parse(state->context, bytes.buf, (size_t)bytes.len, &handle, &error);
    PyBuffer_Release(&bytes);
    return status == NIGH_OK ? model_new(type, handle) : py_raise(state, status, &error);
}

static PyObject *model_bytes(PyObject *object, PyObject *arguments) {
    (void)arguments;
    size_t length = 0;
    const void *bytes = nigh_model_bytes(((struct py_model *)object)->handle, &length);
    return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length);
}

/* (method, bits, features, anchors, name, lines of key=value) */
static PyObject *describe_model(PyObject *object, PyObject *arguments) {
    (void)arguments;
    nigh_model_info info = {.size = sizeof info};
    nigh_model_describe(((struct py_model *)object)->handle, &info);
    return Py_BuildValue("sIIIKs", nigh_learn_method_name(info.method), info.width_bits, info.features, info.anchors,
                         (unsigned long long)info.name, info.lines);
}

/* The features that count most, as a list of (text, weight). */
static PyObject *model_features(PyObject *object, PyObject *arguments) {
    const struct py_model *self = (struct py_model *)object;
    unsigned int count = 0;
    nigh_model_feature feature = {.size = sizeof feature};
    if (!PyArg_ParseTuple(arguments, "I", &count)) return NULL;
    PyObject *list = PyList_New(0);
    for (unsigned int i = 0; list != NULL && i < count; i++) {
        if (nigh_model_feature_at(self->handle, i, &feature) != NIGH_OK) break;
        PyObject *text = PyUnicode_DecodeUTF8(feature.text, (Py_ssize_t)feature.text_length, "replace");
        PyObject *row = text == NULL ? NULL : Py_BuildValue("Nd", text, feature.weight);
        if (row == NULL || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* What a feature adds to each bit, as '<d'. */
static PyObject *model_coefficients(PyObject *object, PyObject *argument) {
    const struct py_model *self = (struct py_model *)object;
    const unsigned long long number = PyLong_AsUnsignedLongLong(argument);
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    nigh_model_info info = {.size = sizeof info};
    struct py_blob blob = {0};
    if (PyErr_Occurred()) return NULL;
    nigh_model_describe(self->handle, &info);
    if (number >= info.features) return PyErr_Format(PyExc_IndexError, "there is no feature %llu", number);
    double *out = py_blob_add(&blob, info.width_bits * sizeof *out);
    const nigh_status status =
        out == NULL ? NIGH_ENOMEM : nigh_model_coefficients(self->handle, (uint32_t)number, out, &error);
    PyObject *bytes = py_blob_take(&blob);
    if (status == NIGH_OK) return bytes;
    Py_XDECREF(bytes);
    return py_raise(py_state_of_type(Py_TYPE(object)), status, &error);
}

static void model_release(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    nigh_model_free(((struct py_model *)object)->handle);
    freefunc freed = (freefunc)PyType_GetSlot(type, Py_tp_free);
    freed(object);
    Py_DECREF(type);
}

static PyMethodDef type_methods[] = {
    {"bytes", model_bytes, METH_NOARGS, "The model as bytes."},
    {"describe", describe_model, METH_NOARGS, "(method, bits, features, anchors, name, lines)"},
    {"features", model_features, METH_VARARGS, "features(count): those that count most, as (text, weight)."},
    {"coefficients", model_coefficients, METH_O, "What a feature adds to each bit, as bytes of doubles."},
    {NULL, NULL, 0, NULL},
};

static char type_doc[] = "What was learned from labelled documents.";

static PyType_Slot slots[] = {
    {Py_tp_doc, type_doc},
    {Py_tp_new, parse_model},
    {Py_tp_dealloc, model_release},
    {Py_tp_methods, type_methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "nigh._core.Model",
    .basicsize = sizeof(struct py_model),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int py_model_add(PyObject *module, struct py_state *state) {
    state->model_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->model_type == NULL ? -1 : PyModule_AddType(module, state->model_type);
}

/* -------------------------------------------------------------- learning -- */

static const struct py_field result_fields[] = {
    PY_FIELD(nigh_learn_result, documents, PY_U64),         PY_FIELD(nigh_learn_result, labelled, PY_U64),
    PY_FIELD(nigh_learn_result, classes, PY_U64),           PY_FIELD(nigh_learn_result, terms, PY_U64),
    PY_FIELD(nigh_learn_result, features, PY_U64),          PY_FIELD(nigh_learn_result, iterations, PY_U32),
    PY_FIELD(nigh_learn_result, objective, PY_DOUBLE),      PY_FIELD(nigh_learn_result, objective_start, PY_DOUBLE),
    PY_FIELD(nigh_learn_result, largest_weight, PY_DOUBLE), PY_FIELD(nigh_learn_result, collapsed, PY_FLAG),
    PY_FIELD(nigh_learn_result, stopped, PY_FLAG),          PY_FIELD(nigh_learn_result, seconds_read, PY_DOUBLE),
    PY_FIELD(nigh_learn_result, seconds_learn, PY_DOUBLE),  {NULL, PY_FLAG, 0},
};

struct learning {
    struct py_call call;
    struct py_input input;
    nigh_learn_options options;
    nigh_learn_result result;
    nigh_model *model;
    PyObject *iteration; /* borrowed: called with (iteration, objective); true: that is enough */
};

static int take_iteration(void *user, uint32_t iteration, double objective) {
    struct learning *learning = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *enough = PyErr_CheckSignals() != 0
                           ? NULL
                           : PyObject_CallFunction(learning->iteration, "Id", (unsigned int)iteration, objective);
    const int stop = enough == NULL ? -1 : PyObject_IsTrue(enough);
    if (stop < 0) (void)py_call_keep(&learning->call);
    Py_XDECREF(enough);
    PyGILState_Release(gil);
    return stop != 0;
}

static nigh_status learn(void *user, nigh_text_reader *reader) {
    struct learning *learning = user;
    return nigh_learn(learning->call.state->context, reader, &learning->options, &learning->model, &learning->result,
                      &learning->call.error);
}

static int learning_begin(struct learning *learning, PyObject *given, PyObject *reading, PyObject *options) {
    nigh_learn_options_init(&learning->options);
    learning->options.progress = &learning->call.progress;
    if (learning->iteration != Py_None) {
        learning->options.iteration = take_iteration;
        learning->options.user = learning;
    }
    if (py_options_fill(options, py_learn_table, &learning->options) != 0) return -1;
    return py_input_init(&learning->input, &learning->call, given, reading);
}

static PyObject *train(PyObject *module, PyObject *arguments) {
    struct learning learning = {.result.size = sizeof learning.result};
    PyObject *given, *reading, *options, *report;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &given, &reading, &options, &learning.iteration, &report)) return NULL;
    py_call_begin(&learning.call, py_state_of(module), report);
    if (learning_begin(&learning, given, reading, options) != 0) return NULL;
    py_call_release(&learning.call);
    int failed = py_call_end(&learning.call, py_input_read(&learning.input, learn, &learning));
    py_input_release(&learning.input);
    PyObject *told = NULL;
    if (failed)
        nigh_model_free(learning.model);
    else
        told = Py_BuildValue("NNN", model_new(py_state_of(module)->model_type, learning.model),
                             py_fields(result_fields, &learning.result), py_call_problems(&learning.call));
    py_call_clear(&learning.call);
    return told;
}

PyMethodDef py_learn_functions[] = {
    {"train", train, METH_VARARGS, "train(source or paths, reading, options, iteration or None, report)"},
    {NULL, NULL, 0, NULL},
};
