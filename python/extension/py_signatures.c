/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures in memory: of texts, their distances, and pairs within a radius. */
#include "py_nigh.h"

#include <string.h>

/* --------------------------------------------------------------- signing -- */

struct signing {
    struct py_call call;
    struct py_input input;
    struct py_signer signer;
    unsigned int threads;
    struct py_blob rows, numbers, weights, keys;
};

/* What is NULL or empty adds nothing. */
static void copy_to(struct py_blob *blob, const void *from, size_t length) {
    void *place = from == NULL || length == 0 ? NULL : py_blob_add(blob, length);
    if (place != NULL) memcpy(place, from, length);
}

static nigh_status take_row(struct signing *signing, const nigh_signed *row) {
    const nigh_document *document = row->document;
    const uint32_t width = nigh_signer_width(signing->signer.handle);
    copy_to(&signing->rows, document->signature, nigh_signature_bytes(width));
    copy_to(&signing->weights, document->weights, width);
    copy_to(&signing->keys, document->keys, document->key_count * sizeof *document->keys);
    copy_to(&signing->numbers, &row->number, sizeof row->number);
    const int failed =
        signing->rows.failed || signing->weights.failed || signing->keys.failed || signing->numbers.failed;
    return failed ? NIGH_ENOMEM : NIGH_OK;
}

static nigh_status sign_all(void *user, nigh_text_reader *reader) {
    struct signing *signing = user;
    nigh_signing_options options;
    nigh_signing *handle = NULL;
    nigh_signed row = {.size = sizeof row};
    nigh_error *error = &signing->call.error;
    nigh_signing_options_init(&options);
    options.threads = signing->threads;
    options.keep_texts = signing->signer.options.threshold > 0; /* then there are keys, and no weights */
    options.keep_weights = !options.keep_texts;
    options.progress = &signing->call.progress;
    nigh_status status = nigh_signing_open(signing->signer.handle, reader, &options, &handle, error);
    while (status == NIGH_OK) {
        status = nigh_signing_next(handle, &row, error);
        if (status == NIGH_OK) status = take_row(signing, &row);
    }
    nigh_signing_close(handle);
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status sign_source(struct signing *signing) {
    const nigh_status status = py_signer_make(&signing->signer, &signing->input, signing->threads);
    return status == NIGH_OK ? py_input_read(&signing->input, sign_all, signing) : status;
}

/*
 * Rows, the numbers of the documents that have one as '<Q', how sure each bit is, the keys of which near-copies share
 * one as '<I' (where the signer has a threshold), and the width.
 */
static PyObject *signed_rows(struct signing *signing, int failed) {
    struct py_blob *const blobs[] = {&signing->rows, &signing->numbers, &signing->weights, &signing->keys};
    PyObject *taken[4];
    for (size_t i = 0; i < 4; i++) {
        taken[i] = py_blob_take(blobs[i]);
        failed |= taken[i] == NULL;
    }
    if (!failed)
        return Py_BuildValue("NNNNI", taken[0], taken[1], taken[2], taken[3],
                             nigh_signer_width(signing->signer.handle));
    for (size_t i = 0; i < 4; i++) Py_XDECREF(taken[i]);
    return NULL;
}

static PyObject *sign(PyObject *module, PyObject *arguments) {
    PyObject *source, *options, *report;
    struct signing signing = {0};
    if (!PyArg_ParseTuple(arguments, "OOIO", &source, &options, &signing.threads, &report)) return NULL;
    py_call_begin(&signing.call, py_state_of(module), report);
    if (py_signer_options_fill(signing.call.state, options, &signing.signer.options) != 0) return NULL;
    if (py_input_init(&signing.input, &signing.call, source, Py_None) != 0) return NULL;
    py_call_release(&signing.call);
    const int failed = py_call_end(&signing.call, sign_source(&signing));
    py_input_release(&signing.input);
    py_call_clear(&signing.call);
    PyObject *told = signed_rows(&signing, failed);
    py_signer_release(&signing.signer);
    return told;
}

/* ------------------------------------------------------------- distances -- */

/* Of each row of a to the row of b in its place, or to the only one: bytes of uint32. */
static PyObject *distances(PyObject *module, PyObject *arguments) {
    Py_buffer a = {0}, b = {0};
    Py_ssize_t bytes = 0;
    const nigh_context *context = py_state_of(module)->context;
    if (!PyArg_ParseTuple(arguments, "y*y*n", &a, &b, &bytes)) return NULL;
    struct py_blob blob = {0};
    const int fit = bytes > 0 && bytes <= 8192 && a.len % bytes == 0 && (b.len == a.len || b.len == bytes);
    if (fit) {
        PyThreadState *thread = PyEval_SaveThread();
        for (Py_ssize_t at = 0; at < a.len && !blob.failed; at += bytes) {
            uint32_t *place = py_blob_add(&blob, sizeof *place);
            const uint8_t *other = (const uint8_t *)b.buf + (b.len == bytes ? 0 : at);
            if (place != NULL) *place = nigh_distance(context, (const uint8_t *)a.buf + at, other, (size_t)bytes);
        }
        PyEval_RestoreThread(thread);
    }
    PyBuffer_Release(&a);
    PyBuffer_Release(&b);
    if (!fit) return PyErr_Format(PyExc_ValueError, "these rows cannot be compared: they differ in size or number");
    return py_blob_take(&blob);
}

/* ----------------------------------------------------------------- pairs -- */

static int take_pair(void *user, const nigh_pair *pair) {
    nigh_pair *copy = py_blob_add(user, sizeof *copy);
    if (copy == NULL) return -1;
    *copy = *pair;
    return 0;
}

static nigh_status join(struct py_call *call, const Py_buffer *rows, const Py_buffer *others,
                        nigh_join_options *options, struct py_blob *blob, nigh_join_result *result) {
    const size_t bytes = nigh_signature_bytes(options->width_bits);
    options->pair = take_pair;
    options->user = blob;
    options->progress = &call->progress;
    const nigh_status status = nigh_join(call->state->context, rows->buf, (uint64_t)rows->len / bytes, others->buf,
                                         (uint64_t)others->len / bytes, options, result, &call->error);
    return blob->failed ? NIGH_ENOMEM : status;
}

/* Pairs as '<QQII', and the buckets that were too large to be compared whole. */
static PyObject *pairs(PyObject *module, PyObject *arguments) {
    Py_buffer rows = {0}, others = {0};
    nigh_join_options options;
    nigh_join_result result = {.size = sizeof result};
    struct py_call call;
    struct py_blob blob = {0};
    PyObject *report;
    nigh_join_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "y*z*IIIO", &rows, &others, &options.width_bits, &options.radius, &options.threads,
                          &report))
        return NULL;
    py_call_begin(&call, py_state_of(module), report);
    int failed = py_rows_check(&rows, options.width_bits) || py_rows_check(&others, options.width_bits);
    if (!failed) {
        py_call_release(&call);
        failed = py_call_end(&call, join(&call, &rows, &others, &options, &blob, &result));
    }
    py_call_clear(&call);
    PyBuffer_Release(&rows);
    if (others.obj != NULL) PyBuffer_Release(&others);
    PyObject *found = py_blob_take(&blob);
    if (failed) Py_CLEAR(found);
    return found == NULL ? NULL
                         : Py_BuildValue("NKK", found, (unsigned long long)result.copies_untold,
                                         (unsigned long long)result.truncated);
}

PyMethodDef py_signature_functions[] = {
    {"sign", sign, METH_VARARGS, "sign(source, signer, threads, report): rows, numbers, weights, keys, width_bits"},
    {"distances", distances, METH_VARARGS, "distances(a, b, bytes): bytes of uint32"},
    {"pairs", pairs, METH_VARARGS, "pairs(rows, others or None, width_bits, radius, threads, report)"},
    {NULL, NULL, 0, NULL},
};
