/* SPDX-License-Identifier: Apache-2.0 */
/* New documents or rows against a collection: which are there already; and the others are added, where asked for. */
#include "py_nigh.h"

static const char *const finds[] = {"all", "first", "any", NULL};

static const struct py_option against_table[] = {
    PY_OPTION(nigh_against_options, radius, PY_U32),
    PY_OPTION(nigh_against_options, snippet, PY_U32),
    PY_OPTION(nigh_against_options, threads, PY_U32),
    PY_OPTION(nigh_against_options, memory_bytes, PY_U64),
    PY_OPTION(nigh_against_options, no_verify, PY_FLAG),
    PY_OPTION(nigh_against_options, most_matches, PY_U64),
    PY_OPTION(nigh_against_options, temporary, PY_TEXT),
    PY_OPTION_WORD(nigh_against_options, find, finds),
    PY_OPTIONS_END,
};

static const struct py_field info_fields[] = {
    PY_FIELD(nigh_against_info, documents, PY_U64),
    PY_FIELD(nigh_against_info, incoming, PY_U64),
    PY_FIELD(nigh_against_info, matches, PY_U64),
    PY_FIELD(nigh_against_info, there, PY_U64),
    PY_FIELD(nigh_against_info, repeated, PY_U64),
    PY_FIELD(nigh_against_info, unmatched, PY_U64),
    PY_FIELD(nigh_against_info, added, PY_U64),
    PY_FIELD(nigh_against_info, ids_taken, PY_U64),
    PY_FIELD(nigh_against_info, width_bits, PY_U32),
    PY_FIELD(nigh_against_info, radius, PY_U32),
    PY_FIELD(nigh_against_info, exact, PY_FLAG),
    PY_FIELD(nigh_against_info, copies, PY_FLAG),
    PY_FIELD(nigh_against_info, verified, PY_FLAG),
    PY_FIELD(nigh_against_info, threshold, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

struct run {
    struct py_call call;
    nigh_against_options options;
    nigh_signer_options signer;
    nigh_text_reader_options reading;
    nigh_against *handle;
    const char *path;
    struct py_source source;
    Py_buffer rows;
    Py_ssize_t row_bytes; /* 0: texts */
    struct py_blob told;
};

/* ---------------------------------------------------------------- taking -- */

static nigh_status take_rows(struct run *run) {
    nigh_document document = {.size = sizeof document};
    nigh_status status = NIGH_OK;
    nigh_against_info info = {.size = sizeof info};
    nigh_against_describe(run->handle, &info);
    if (nigh_signature_bytes(info.width_bits) != (size_t)run->row_bytes) {
        run->call.error = (nigh_error){.offset = NIGH_NO_OFFSET, .why = "the rows are of another width"};
        return NIGH_EMISMATCH;
    }
    for (Py_ssize_t at = 0; at < run->rows.len && status == NIGH_OK; at += run->row_bytes) {
        document.signature = (const uint8_t *)run->rows.buf + at;
        status = nigh_against_take(run->handle, &document, &run->call.error);
    }
    return status;
}

static nigh_status take(struct run *run) {
    if (run->row_bytes > 0) return take_rows(run);
    return nigh_against_take_source(run->handle, &run->source.source, &run->reading, &run->call.error);
}

/* The first match of each kind, as struct '<QQQdIBBxx'. */
struct told {
    uint64_t there, earlier, added_as;
    double similarity;
    uint32_t distance;
    uint8_t unmatched, id_taken, reserved[2];
};

static nigh_status tell(struct run *run) {
    nigh_against_document document = {.size = sizeof document};
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; (status = nigh_against_at(run->handle, i, &document)) == NIGH_OK; i++) {
        struct told *told = py_blob_add(&run->told, sizeof *told);
        if (told == NULL) return NIGH_ENOMEM;
        const nigh_match *there = document.there_count > 0 ? document.there : NULL;
        const nigh_match *earlier = document.earlier_count > 0 ? document.earlier : NULL;
        const nigh_match *match = there != NULL ? there : earlier;
        *told = (struct told){there != NULL ? there->document : NIGH_ALL_64,
                              earlier != NULL ? earlier->document : NIGH_ALL_64,
                              document.added_as,
                              document.similarity,
                              match != NULL ? match->distance : NIGH_ALL,
                              document.unmatched != 0,
                              document.id_taken != 0,
                              {0}};
    }
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status work(struct run *run) {
    nigh_error *error = &run->call.error;
    nigh_status status = nigh_against_open(run->call.state->context, run->path, &run->options, &run->handle, error);
    if (status == NIGH_OK) status = take(run);
    if (status == NIGH_OK) status = nigh_against_compare(run->handle, error);
    if (status == NIGH_OK && run->options.add) status = nigh_against_add(run->handle, error);
    if (status == NIGH_OK) status = tell(run);
    if (status == NIGH_OK && run->options.add) status = nigh_against_commit(run->handle, NULL, error);
    return status;
}

/* -------------------------------------------------------------- function -- */

static int fill(struct run *run, PyObject *options, PyObject *signer) {
    nigh_against_options_init(&run->options);
    if (py_options_fill(options, against_table, &run->options) != 0) return -1;
    if (py_signer_options_fill(run->call.state, signer, &run->signer) != 0) return -1;
    if (signer != Py_None) run->options.signer = &run->signer;
    run->options.progress = &run->call.progress;
    return py_reader_options_fill(Py_None, &run->call, &run->reading);
}

/* A source, or rows of so many bytes. */
static int inputs(struct run *run, PyObject *given) {
    if (run->row_bytes == 0) return py_source_init(&run->source, &run->call, given);
    if (PyObject_GetBuffer(given, &run->rows, PyBUF_C_CONTIGUOUS) != 0) return -1;
    if (run->row_bytes > 0 && run->rows.len % run->row_bytes == 0) return 0;
    return PyErr_SetString(PyExc_ValueError, "the rows are not of this width"), -1;
}

static PyObject *finish(struct run *run, int failed) {
    nigh_against_info info = {.size = sizeof info};
    if (!failed) nigh_against_describe(run->handle, &info);
    Py_BEGIN_ALLOW_THREADS; /* a thread of it may be waiting for the GIL */
    nigh_against_close(run->handle);
    Py_END_ALLOW_THREADS;
    PyObject *told = py_blob_take(&run->told);
    if (failed) Py_CLEAR(told);
    py_source_release(&run->source);
    if (run->rows.obj != NULL) PyBuffer_Release(&run->rows);
    py_call_clear(&run->call);
    return told == NULL ? NULL : Py_BuildValue("NN", told, py_fields(info_fields, &info));
}

static PyObject *against(PyObject *module, PyObject *arguments) {
    struct run run = {0};
    PyObject *given, *options, *signer, *report;
    int add = 0;
    if (!PyArg_ParseTuple(arguments, "yOnOOpO", &run.path, &given, &run.row_bytes, &options, &signer, &add, &report))
        return NULL;
    py_call_begin(&run.call, py_state_of(module), report);
    int failed = fill(&run, options, signer) || inputs(&run, given);
    run.options.add = add;
    if (!failed) {
        py_call_release(&run.call);
        failed = py_call_end(&run.call, work(&run));
    }
    return finish(&run, failed);
}

PyMethodDef py_against_functions[] = {
    {"against", against, METH_VARARGS, "against(path, source or rows, row_bytes, options, signer, add, report)"},
    {NULL, NULL, 0, NULL},
};
