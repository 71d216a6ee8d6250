/* SPDX-License-Identifier: Apache-2.0 */
/* The module nigh._core: its state, its functions and its types. */
#include "py_nigh.h"

static struct PyModuleDef definition;

struct py_state *py_state_of(PyObject *module) {
    return PyModule_GetState(module);
}

/* Types are made with the module, and nobody can inherit from them. */
struct py_state *py_state_of_type(PyTypeObject *type) {
    return PyType_GetModuleState(type);
}

static PyObject *kernel(PyObject *module, PyObject *arguments) {
    (void)arguments;
    return PyUnicode_FromString(nigh_context_kernel(py_state_of(module)->context));
}

static PyMethodDef functions[] = {
    {"kernel", kernel, METH_NOARGS, "The name of the kernel that distances are computed by."},
    {NULL, NULL, 0, NULL},
};

#define THEMES 10
static int add_functions(PyObject *module) {
    PyMethodDef *const themes[THEMES] = {functions,
                                         py_dedup_functions,
                                         py_writing_functions,
                                         py_signature_functions,
                                         py_against_functions,
                                         py_living_functions,
                                         py_learn_functions,
                                         py_eval_functions,
                                         py_eval_search_functions,
                                         py_vocabulary_functions};
    for (size_t i = 0; i < THEMES; i++)
        if (PyModule_AddFunctions(module, themes[i]) != 0) return -1;
    return 0;
}

/* Exceptions are classes of Python. */
static int find_errors(struct py_state *state) {
    PyObject *errors = PyImport_ImportModule("nigh._errors");
    if (errors == NULL) return -1;
    state->make_error = PyObject_GetAttrString(errors, "make_error");
    Py_DECREF(errors);
    return state->make_error == NULL ? -1 : 0;
}

static int execute(PyObject *module) {
    struct py_state *state = py_state_of(module);
    nigh_error error = {.offset = NIGH_NO_OFFSET};
    if (find_errors(state) != 0) return -1;
    nigh_status status = nigh_context_new(NULL, &state->context, &error);
    if (status == NIGH_OK) status = nigh_fault_guard_install(&error);
    if (status != NIGH_OK) return (void)py_raise(state, status, &error), -1;
    if (PyModule_AddStringConstant(module, "version", nigh_version()) != 0) return -1;
    if (add_functions(module) != 0 || py_dedup_add(module, state) != 0) return -1;
    if (py_collection_add(module, state) != 0 || py_model_add(module, state) != 0 || py_results_add(module, state) != 0)
        return -1;
    return py_live_add(module) != 0 ? -1 : py_task_add(module);
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    struct py_state *state = py_state_of(module);
    Py_VISIT(state->make_error);
    Py_VISIT(state->dedup_type);
    Py_VISIT(state->collection_type);
    Py_VISIT(state->model_type);
    Py_VISIT(state->results_type);
    return 0;
}

static int clear(PyObject *module) {
    struct py_state *state = py_state_of(module);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->dedup_type);
    Py_CLEAR(state->collection_type);
    Py_CLEAR(state->model_type);
    Py_CLEAR(state->results_type);
    return 0;
}

/* Handles hold their type, which holds the module, so that the context goes last. */
static void release(void *module) {
    struct py_state *state = py_state_of(module);
    (void)clear(module);
    nigh_context_free(state->context);
    state->context = NULL;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "nigh._core",
    .m_doc = "The thin layer between Python and libnigh; use the package nigh.",
    .m_size = sizeof(struct py_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
