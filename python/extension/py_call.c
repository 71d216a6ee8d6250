/* SPDX-License-Identifier: Apache-2.0 */
/* Long calls: without the GIL, with progress, and with exceptions that come up inside; see py_nigh.h. */
#include "py_nigh.h"

#include <string.h>

#define MOST_PROBLEMS 1000 /* that are told one by one */

/* ---------------------------------------------------------------- errors -- */

PyObject *py_raise(struct py_state *state, nigh_status status, const nigh_error *error) {
    if (status == NIGH_ENOMEM) return PyErr_NoMemory();
    char line[1024];
    (void)nigh_error_format(error, line, sizeof line);
    PyObject *file = error->file[0] == '\0' ? Py_NewRef(Py_None) : PyUnicode_DecodeFSDefault(error->file);
    if (file == NULL) return NULL;
    PyObject *offset =
        error->offset == NIGH_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(error->offset);
    PyObject *text = PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "replace");
    PyObject *exception = NULL;
    if (offset != NULL && text != NULL)
        exception = PyObject_CallFunction(state->make_error, "isOOOKi", (int)status, nigh_reason_name(error->reason),
                                          text, file, offset, (unsigned long long)error->line, error->system_errno);
    if (exception != NULL) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    Py_XDECREF(text);
    Py_XDECREF(offset);
    Py_DECREF(file);
    return NULL;
}

/* ----------------------------------------------------------------- calls -- */

nigh_status py_call_keep(struct py_call *call) {
    if (call->kept_type == NULL) PyErr_Fetch(&call->kept_type, &call->kept_value, &call->trace);
    PyErr_Clear();
    return NIGH_ECANCELLED;
}

/* Ctrl-C is heard here, whether anybody wants to know about progress or not. */
static int hear(struct py_call *call, const char *stage, uint64_t done, uint64_t total) {
    if (PyErr_CheckSignals() != 0) return -1;
    if (call->report == NULL) return 0;
    PyObject *result =
        PyObject_CallFunction(call->report, "sKK", stage, (unsigned long long)done, (unsigned long long)total);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static int report_progress(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct py_call *call = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (call->kept_type == NULL && hear(call, stage, done, total) != 0) (void)py_call_keep(call);
    const int stop = call->kept_type != NULL;
    PyGILState_Release(gil);
    return stop;
}

void py_call_problem(void *user, const nigh_error *problem) {
    struct py_call *call = user;
    char line[1024];
    (void)nigh_error_format(problem, line, sizeof line);
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (call->problems == NULL) call->problems = PyList_New(0);
    if (call->problems != NULL && PyList_Size(call->problems) < MOST_PROBLEMS) {
        PyObject *text = PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "replace");
        if (text == NULL || PyList_Append(call->problems, text) != 0) (void)py_call_keep(call);
        Py_XDECREF(text);
    }
    PyGILState_Release(gil);
}

void py_call_begin(struct py_call *call, struct py_state *state, PyObject *report) {
    *call = (struct py_call){.state = state, .report = report == Py_None ? NULL : report};
    call->progress = (nigh_progress){.report = report_progress, .user = call};
    call->error.offset = NIGH_NO_OFFSET;
}

void py_call_release(struct py_call *call) { call->thread = PyEval_SaveThread(); }

int py_call_end(struct py_call *call, nigh_status status) {
    PyEval_RestoreThread(call->thread);
    call->thread = NULL;
    if (call->kept_type != NULL) {
        PyErr_Restore(call->kept_type, call->kept_value, call->trace);
        call->kept_type = call->kept_value = call->trace = NULL;
        return -1;
    }
    if (status == NIGH_OK) return 0;
    (void)py_raise(call->state, status, &call->error);
    return -1;
}

PyObject *py_call_problems(struct py_call *call) {
    PyObject *problems = call->problems != NULL ? call->problems : PyList_New(0);
    call->problems = NULL;
    return problems;
}

void py_call_clear(struct py_call *call) {
    Py_CLEAR(call->problems);
    Py_CLEAR(call->kept_type);
    Py_CLEAR(call->kept_value);
    Py_CLEAR(call->trace);
    call->report = NULL;
}
