/* SPDX-License-Identifier: Apache-2.0 */
/* How well searches, de-duplication, filters of terms and learned signatures do, as tables: lists of dicts. */
#include "py_nigh.h"

#include <string.h>

/* --------------------------------------------------------------- nearest -- */

static const struct py_field nearness_fields[] = {
    PY_FIELD(nigh_eval_nearness_info, queries, PY_U64),
    PY_FIELD(nigh_eval_nearness_info, k, PY_U32),
    PY_FIELD(nigh_eval_nearness_info, cdr, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, recall, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, recall_by_id, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, proven, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, seconds, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, median, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, percentile_90, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, percentile_99, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, distances, PY_DOUBLE),
    PY_FIELD(nigh_eval_nearness_info, scanned, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

struct nearest {
    struct py_call call;
    const nigh_collection *collection;
    const uint8_t *queries;
    size_t count;
    nigh_eval_truth_options options;
    nigh_eval_truth *truth;
};

/* One way to search; the truth is made with the first. */
static nigh_status measure_one(struct nearest *nearest, const nigh_search_options *search,
                               nigh_eval_nearness_info *out) {
    nigh_error *error = &nearest->call.error;
    nigh_eval_nearness *nearness = NULL;
    nigh_status status = NIGH_OK;
    if (nearest->truth == NULL)
        status = nigh_eval_truth_new(nearest->collection, nearest->queries, nearest->count, &nearest->options,
                                     &nearest->truth, error);
    if (status == NIGH_OK)
        status = nigh_eval_nearness_measure(nearest->collection, nearest->queries, nearest->count, nearest->truth,
                                            &nearest->options, search, &nearness, error);
    if (status == NIGH_OK) nigh_eval_nearness_describe(nearness, out);
    nigh_eval_nearness_free(nearness);
    return status;
}

static int measure_setting(struct nearest *nearest, PyObject *setting, PyObject **list) {
    nigh_search_options search;
    nigh_eval_nearness_info info = {.size = sizeof info};
    nigh_search_options_init(&search);
    if (py_options_fill(setting, py_search_table, &search) != 0) return -1;
    search.progress = &nearest->call.progress;
    py_call_release(&nearest->call);
    if (py_call_end(&nearest->call, measure_one(nearest, &search, &info)) != 0) return -1;
    return py_rows_add(list, nearness_fields, &info, NULL, NULL);
}

static PyObject *measure_settings(struct nearest *nearest, PyObject *settings) {
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(settings); i++)
        if (measure_setting(nearest, PyList_GetItem(settings, i), &list) != 0) Py_CLEAR(list);
    nigh_eval_truth_free(nearest->truth);
    return list;
}

static int check_queries(const struct py_collection *collection, const Py_buffer *rows, const Py_buffer *own) {
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection->handle, &info);
    if (py_rows_check(rows, info.width_bits) != 0) return -1;
    const size_t count = (size_t)rows->len / nigh_signature_bytes(info.width_bits);
    if (own->buf == NULL || (size_t)own->len == count * sizeof(uint64_t)) return 0;
    return PyErr_SetString(PyExc_ValueError, "there are not as many documents as queries"), -1;
}

/* eval_nearest(collection, rows, their own documents as '<Q' or None, k, threads, list of options, report) */
static PyObject *eval_nearest(PyObject *module, PyObject *arguments) {
    struct nearest nearest = {0};
    PyObject *object, *settings, *report, *told = NULL;
    Py_buffer rows = {0}, own = {0};
    struct py_state *state = py_state_of(module);
    nigh_eval_truth_options_init(&nearest.options);
    if (!PyArg_ParseTuple(arguments, "O!y*z*IIO!O", state->collection_type, &object, &rows, &own, &nearest.options.k,
                          &nearest.options.threads, &PyList_Type, &settings, &report))
        return NULL;
    struct py_collection *collection = (struct py_collection *)object;
    const int entered = py_collection_enter(collection) == 0;
    if (entered && check_queries(collection, &rows, &own) == 0) {
        nigh_collection_info info = {.size = sizeof info};
        nigh_collection_describe(collection->handle, &info);
        py_call_begin(&nearest.call, state, report);
        nearest.collection = collection->handle;
        nearest.queries = rows.buf;
        nearest.count = (size_t)rows.len / nigh_signature_bytes(info.width_bits);
        nearest.options.own = own.buf;
        nearest.options.progress = &nearest.call.progress;
        told = measure_settings(&nearest, settings);
        py_call_clear(&nearest.call);
    }
    if (entered) py_collection_leave(collection);
    PyBuffer_Release(&rows);
    if (own.obj != NULL) PyBuffer_Release(&own);
    return told;
}

/* ------------------------------------------------------------ duplicates -- */

static const struct py_option duplicates_table[] = {
    PY_OPTION(nigh_eval_duplicates_options, threshold, PY_DOUBLE),
    PY_OPTION(nigh_eval_duplicates_options, labels, PY_TEXT),
    PY_OPTION(nigh_eval_duplicates_options, limit, PY_U64),
    PY_OPTION(nigh_eval_duplicates_options, memory_bytes, PY_U64),
    PY_OPTION(nigh_eval_duplicates_options, temporary, PY_TEXT),
    PY_OPTION(nigh_eval_duplicates_options, threads, PY_U32),
    PY_OPTIONS_END,
};

static const struct py_field duplicates_info[] = {
    PY_FIELD(nigh_eval_duplicates_info, documents, PY_U64),
    PY_FIELD(nigh_eval_duplicates_info, copies, PY_U64),
    PY_FIELD(nigh_eval_duplicates_info, pairs, PY_U64),
    PY_FIELD(nigh_eval_duplicates_info, labels_missing, PY_U64),
    PY_FIELD(nigh_eval_duplicates_info, truth_seconds, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

static const struct py_field duplicates_fields[] = {
    PY_FIELD(nigh_eval_duplicates_row, method, PY_CHARS),
    PY_FIELD(nigh_eval_duplicates_row, width_bits, PY_U32),
    PY_FIELD(nigh_eval_duplicates_row, radius, PY_U32),
    PY_FIELD(nigh_eval_duplicates_row, candidates, PY_U64),
    PY_FIELD(nigh_eval_duplicates_row, found, PY_U64),
    PY_FIELD(nigh_eval_duplicates_row, right, PY_U64),
    PY_FIELD(nigh_eval_duplicates_row, estimated, PY_FLAG),
    PY_FIELD(nigh_eval_duplicates_row, recall, PY_DOUBLE),
    PY_FIELD(nigh_eval_duplicates_row, precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_duplicates_row, f1, PY_DOUBLE),
    PY_FIELD(nigh_eval_duplicates_row, candidate_precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_duplicates_row, sign_seconds, PY_DOUBLE),
    PY_FIELD(nigh_eval_duplicates_row, find_seconds, PY_DOUBLE),
    PY_FIELD(nigh_eval_duplicates_row, bytes, PY_U64),
    PY_FIELD(nigh_eval_duplicates_row, truncated, PY_U64),
    {NULL, PY_FLAG, 0},
};

static nigh_status duplicates_at(const void *rows, size_t number, void *row) {
    return nigh_eval_duplicates_at(rows, number, row);
}

static PyObject *duplicates_told(const nigh_eval_duplicates *duplicates) {
    nigh_eval_duplicates_row row = {.size = sizeof row};
    nigh_eval_duplicates_info info = {.size = sizeof info};
    nigh_eval_duplicates_describe(duplicates, &info);
    return Py_BuildValue("NN", py_rows(duplicates_fields, duplicates_at, duplicates, &row),
                         py_fields(duplicates_info, &info));
}

static PyObject *eval_duplicates(PyObject *module, PyObject *arguments) {
    struct py_call call;
    struct py_input input = {0};
    PyObject *paths, *reading, *features, *measuring, *report;
    nigh_signer_options signer;
    nigh_eval_duplicates_options options;
    nigh_eval_duplicates *duplicates = NULL;
    if (!PyArg_ParseTuple(arguments, "O!OOOO", &PyList_Type, &paths, &reading, &features, &measuring, &report))
        return NULL;
    py_call_begin(&call, py_state_of(module), report);
    nigh_eval_duplicates_options_init(&options);
    int failed = py_options_fill(measuring, duplicates_table, &options) ||
                 py_signer_options_fill(call.state, features, &signer) || py_input_init(&input, &call, paths, reading);
    options.progress = &call.progress;
    if (features != Py_None) options.features = &signer;
    if (!failed) {
        py_call_release(&call);
        failed = py_call_end(&call, nigh_eval_duplicates_measure(call.state->context, input.paths, input.count,
                                                                 &input.reading, &options, &duplicates, &call.error));
    }
    PyObject *told = failed ? NULL : duplicates_told(duplicates);
    nigh_eval_duplicates_free(duplicates);
    py_input_release(&input);
    py_call_clear(&call);
    return told;
}

/* --------------------------------------------------------------- learned -- */

#define MOST_NUMBERS 32

struct numbers {
    uint32_t values[MOST_NUMBERS];
    double ratios[MOST_NUMBERS];
    size_t count;
};

/* A list of a few numbers, whole ones or ratios. */
static int numbers_fill(PyObject *list, int whole, struct numbers *out) {
    out->count = (size_t)PyList_Size(list);
    if (out->count > MOST_NUMBERS) return PyErr_Format(PyExc_ValueError, "these are more than %d", MOST_NUMBERS), -1;
    for (size_t i = 0; i < out->count; i++) {
        PyObject *item = PyList_GetItem(list, (Py_ssize_t)i);
        const unsigned long value = whole ? PyLong_AsUnsignedLong(item) : 0;
        if (!whole) out->ratios[i] = PyFloat_AsDouble(item);
        if (PyErr_Occurred()) return -1;
        if (value > NIGH_ALL) return PyErr_SetString(PyExc_ValueError, "a number is too large"), -1;
        out->values[i] = (uint32_t)value;
    }
    return 0;
}

static const char *const lookups[] = {"off", "too", "only", NULL};

static const struct py_option learned_table[] = {
    PY_OPTION(nigh_eval_learned_options, seeds, PY_U32),
    PY_OPTION(nigh_eval_learned_options, radius, PY_U32),
    PY_OPTION(nigh_eval_learned_options, queries, PY_U32),
    PY_OPTION(nigh_eval_learned_options, labelled, PY_DOUBLE),
    PY_OPTION(nigh_eval_learned_options, strip_headers, PY_FLAG),
    PY_OPTION(nigh_eval_learned_options, references, PY_FLAG),
    PY_OPTION_WORD(nigh_eval_learned_options, lookup, lookups),
    PY_OPTIONS_END,
};

static const struct py_field learned_fields[] = {
    PY_FIELD(nigh_eval_learned_row, method, PY_CHARS),
    PY_FIELD(nigh_eval_learned_row, width_bits, PY_U32),
    PY_FIELD(nigh_eval_learned_row, features, PY_U32),
    PY_FIELD(nigh_eval_learned_row, seeds, PY_U32),
    PY_FIELD(nigh_eval_learned_row, map, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, map_spread, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, precision, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, precision_spread, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, returned, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, empty, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, intra, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, inter, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, seconds, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, peak_bytes, PY_U64),
    PY_FIELD(nigh_eval_learned_row, sign_rate, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, iterations, PY_U32),
    PY_FIELD(nigh_eval_learned_row, collapsed, PY_U32),
    PY_FIELD(nigh_eval_learned_row, lookup_seconds, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, scan_seconds, PY_DOUBLE),
    PY_FIELD(nigh_eval_learned_row, lookup_bytes, PY_U64),
    PY_FIELD(nigh_eval_learned_row, tables, PY_U32),
    {NULL, PY_FLAG, 0},
};

static const struct py_field learned_info[] = {
    PY_FIELD(nigh_eval_learned_info, documents, PY_U64), PY_FIELD(nigh_eval_learned_info, queries, PY_U64),
    PY_FIELD(nigh_eval_learned_info, classes, PY_U64),   PY_FIELD(nigh_eval_learned_info, features, PY_U64),
    PY_FIELD(nigh_eval_learned_info, terms, PY_U64),     PY_FIELD(nigh_eval_learned_info, unlabelled, PY_U64),
    PY_FIELD(nigh_eval_learned_info, radius, PY_U32),    {NULL, PY_FLAG, 0},
};

struct learned {
    struct py_call call;
    struct py_input input;
    nigh_learn_options learning;
    nigh_eval_learned_options options;
    struct numbers methods, widths;
    nigh_eval_learned *result;
};

static nigh_status measure_learned(void *user, nigh_text_reader *reader) {
    struct learned *learned = user;
    return nigh_eval_learned_measure(learned->call.state->context, reader, &learned->options, &learned->result,
                                     &learned->call.error);
}

static nigh_status learned_at(const void *rows, size_t number, void *row) {
    return nigh_eval_learned_at(rows, number, row);
}

static PyObject *learned_told(const nigh_eval_learned *result) {
    nigh_eval_learned_row row = {.size = sizeof row};
    nigh_eval_learned_info info = {.size = sizeof info};
    nigh_eval_learned_describe(result, &info);
    return Py_BuildValue("NN", py_rows(learned_fields, learned_at, result, &row), py_fields(learned_info, &info));
}

/* Numbers of methods as the enum has them. */
static int learned_fill(struct learned *learned, PyObject *options, PyObject *learning) {
    _Static_assert(sizeof(nigh_learn_method) == sizeof(uint32_t), "an enum is an array of numbers here");
    nigh_learn_options_init(&learned->learning);
    nigh_eval_learned_options_init(&learned->options);
    if (py_options_fill(learning, py_learn_table, &learned->learning) != 0) return -1;
    if (py_options_fill(options, learned_table, &learned->options) != 0) return -1;
    learned->learning.progress = &learned->call.progress;
    learned->options.learning = &learned->learning;
    learned->options.methods = (const nigh_learn_method *)(const void *)learned->methods.values;
    learned->options.method_count = learned->methods.count;
    learned->options.widths = learned->widths.values;
    learned->options.width_count = learned->widths.count;
    return 0;
}

static PyObject *eval_learned(PyObject *module, PyObject *arguments) {
    struct learned learned = {0};
    PyObject *given, *reading, *learning, *methods, *widths, *options, *report;
    if (!PyArg_ParseTuple(arguments, "OOOO!O!OO", &given, &reading, &learning, &PyList_Type, &methods, &PyList_Type,
                          &widths, &options, &report))
        return NULL;
    py_call_begin(&learned.call, py_state_of(module), report);
    int failed = numbers_fill(methods, 1, &learned.methods) || numbers_fill(widths, 1, &learned.widths) ||
                 learned_fill(&learned, options, learning) ||
                 py_input_init(&learned.input, &learned.call, given, reading);
    if (!failed) {
        py_call_release(&learned.call);
        failed = py_call_end(&learned.call, py_input_read(&learned.input, measure_learned, &learned));
    }
    PyObject *told = failed ? NULL : learned_told(learned.result);
    nigh_eval_learned_free(learned.result);
    py_input_release(&learned.input);
    py_call_clear(&learned.call);
    return told;
}

/* ----------------------------------------------------------------- terms -- */

static const char *const goals[] = {"uniform", "frequency", "queries", NULL};

static const struct py_option terms_table[] = {
    PY_OPTION(nigh_terms_options, block_terms, PY_U32),
    PY_OPTION_WORD(nigh_terms_options, goal, goals),
    PY_OPTION(nigh_terms_options, query_log, PY_TEXT),
    PY_OPTION(nigh_terms_options, memory_bytes, PY_U64),
    PY_OPTION(nigh_terms_options, limit, PY_U64),
    PY_OPTION(nigh_terms_options, threads, PY_U32),
    PY_OPTIONS_END,
};

static const struct py_option filters_table[] = {
    PY_OPTION(nigh_eval_filters_options, sample, PY_U32),
    PY_OPTION(nigh_eval_filters_options, queries, PY_U32),
    PY_OPTION(nigh_eval_filters_options, seed, PY_U64),
    PY_OPTIONS_END,
};

/* Of queries of 1, 2, 3 and 5 words. */
#define BY_WORDS(name, field, place) \
    { name, PY_DOUBLE, offsetof(nigh_eval_filters_row, field) + (place) * sizeof(double) }
static const struct py_field filters_fields[] = {
    PY_FIELD(nigh_eval_filters_row, ratio, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, hashes, PY_U32),
    PY_FIELD(nigh_eval_filters_row, frequent_hashes, PY_U32),
    PY_FIELD(nigh_eval_filters_row, theta, PY_U32),
    PY_FIELD(nigh_eval_filters_row, error, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, error_deviation, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, weighted, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, theory, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, bound, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, bound_words, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, bound_pairs, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_row, fill, PY_DOUBLE),
    BY_WORDS("false_blocks_1", false_blocks, 0),
    BY_WORDS("false_blocks_2", false_blocks, 1),
    BY_WORDS("false_blocks_3", false_blocks, 2),
    BY_WORDS("false_blocks_5", false_blocks, 3),
    BY_WORDS("precision_1", precision, 0),
    BY_WORDS("precision_2", precision, 1),
    BY_WORDS("precision_3", precision, 2),
    BY_WORDS("precision_5", precision, 3),
    PY_FIELD(nigh_eval_filters_row, row_bytes, PY_U64),
    PY_FIELD(nigh_eval_filters_row, dictionary_bytes, PY_U64),
    PY_FIELD(nigh_eval_filters_row, seconds, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

static const struct py_field filters_info[] = {
    PY_FIELD(nigh_eval_filters_info, documents, PY_U64),
    PY_FIELD(nigh_eval_filters_info, blocks, PY_U64),
    PY_FIELD(nigh_eval_filters_info, terms, PY_U64),
    PY_FIELD(nigh_eval_filters_info, postings, PY_U64),
    PY_FIELD(nigh_eval_filters_info, single, PY_U64),
    PY_FIELD(nigh_eval_filters_info, block_terms, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_info, text_bytes, PY_U64),
    PY_FIELD(nigh_eval_filters_info, inverted_bytes, PY_U64),
    PY_FIELD(nigh_eval_filters_info, entropy_words, PY_DOUBLE),
    PY_FIELD(nigh_eval_filters_info, entropy_pairs, PY_DOUBLE),
    {NULL, PY_FLAG, 0},
};

static PyObject *filters_told(const nigh_eval_filters *filters) {
    PyObject *list = PyList_New(0);
    nigh_eval_filters_row row = {.size = sizeof row};
    nigh_eval_filters_info info = {.size = sizeof info};
    for (size_t i = 0; list != NULL && nigh_eval_filters_at(filters, i, &row) == NIGH_OK; i++)
        (void)py_rows_add(&list, filters_fields, &row, "filter", nigh_filter_kind_name(row.kind));
    nigh_eval_filters_describe(filters, &info);
    return Py_BuildValue("NN", list, py_fields(filters_info, &info));
}

struct filtering {
    struct py_call call;
    struct py_input input;
    nigh_signer_options analysis;
    nigh_terms_options terms;
    nigh_eval_filters_options options;
    struct numbers ratios;
    nigh_eval_filters *filters;
};

static int filtering_fill(struct filtering *filtering, PyObject *analysis, PyObject *terms, PyObject *measuring) {
    nigh_terms_options_init(&filtering->terms);
    nigh_eval_filters_options_init(&filtering->options);
    if (py_signer_options_fill(filtering->call.state, analysis, &filtering->analysis) != 0) return -1;
    if (py_options_fill(terms, terms_table, &filtering->terms) != 0) return -1;
    if (analysis != Py_None) filtering->terms.analysis = &filtering->analysis;
    filtering->terms.progress = &filtering->call.progress;
    filtering->options.terms = &filtering->terms;
    if (filtering->ratios.count > 0) filtering->options.ratios = filtering->ratios.ratios;
    filtering->options.ratio_count = filtering->ratios.count;
    return py_options_fill(measuring, filters_table, &filtering->options);
}

static nigh_status measure_filters(void *user, nigh_text_reader *reader) {
    struct filtering *filtering = user;
    return nigh_eval_filters_measure(filtering->call.state->context, reader, &filtering->options, &filtering->filters,
                                     &filtering->call.error);
}

static PyObject *eval_terms(PyObject *module, PyObject *arguments) {
    struct filtering filtering = {0};
    PyObject *given, *reading, *analysis, *terms, *ratios, *measuring, *report;
    if (!PyArg_ParseTuple(arguments, "OOOOO!OO", &given, &reading, &analysis, &terms, &PyList_Type, &ratios, &measuring,
                          &report))
        return NULL;
    py_call_begin(&filtering.call, py_state_of(module), report);
    int failed = numbers_fill(ratios, 0, &filtering.ratios) || filtering_fill(&filtering, analysis, terms, measuring) ||
                 py_input_init(&filtering.input, &filtering.call, given, reading);
    if (!failed) {
        py_call_release(&filtering.call);
        failed = py_call_end(&filtering.call, py_input_read(&filtering.input, measure_filters, &filtering));
    }
    PyObject *told = failed ? NULL : filters_told(filtering.filters);
    nigh_eval_filters_free(filtering.filters);
    py_input_release(&filtering.input);
    py_call_clear(&filtering.call);
    return told;
}

PyMethodDef py_eval_search_functions[] = {
    {"eval_nearest", eval_nearest, METH_VARARGS,
     "eval_nearest(collection, rows, own documents, k, threads, settings, report)"},
    {"eval_duplicates", eval_duplicates, METH_VARARGS, "eval_duplicates(paths, reading, features, options, report)"},
    {"eval_learned", eval_learned, METH_VARARGS,
     "eval_learned(source or paths, reading, learning, methods, widths, options, report)"},
    {"eval_terms", eval_terms, METH_VARARGS,
     "eval_terms(source or paths, reading, analysis, terms, ratios, options, report)"},
    {NULL, NULL, 0, NULL},
};
