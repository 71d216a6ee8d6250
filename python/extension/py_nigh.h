/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the extension share.  It is a thin layer: handles, bytes and numbers go in and come out, by the
 * limited API of Python 3.11; what makes them pleasant to use is Python, in python/nigh.
 *
 * A call that may take long goes like this:
 *
 *     py_call_begin(&call, state, report);        before options are filled in, which may point to call.progress
 *     py_call_release(&call);                     the GIL is given up
 *     status = nigh_...(..., &call.error);        calls back on any thread, which takes the GIL for a moment
 *     if (py_call_end(&call, status) != 0) ...    the GIL is back; a failure has become an exception
 *
 * Exceptions that come up inside (Ctrl-C, a generator that raises) end the call and come out of it.
 */
#ifndef NIGH_PY_NIGH_H
#define NIGH_PY_NIGH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <nigh.h>

struct py_state {
    nigh_context *context;
    PyObject *make_error; /* nigh._errors.make_error */
    PyTypeObject *dedup_type;
    PyTypeObject *collection_type;
    PyTypeObject *model_type;
    PyTypeObject *results_type;
    allocfunc results_alloc;
};

struct py_state *py_state_of(PyObject *module);
struct py_state *py_state_of_type(PyTypeObject *type);

/* ----------------------------------------------------------------- calls -- */

struct py_call {
    struct py_state *state;
    nigh_progress progress; /* for options to point to */
    nigh_error error;
    PyThreadState *thread;                     /* of the caller, while the GIL is released */
    PyObject *report;                          /* borrowed: NULL, or called with (stage, done, total) */
    PyObject *problems;                        /* owned: a list of texts; NULL: there was no problem */
    PyObject *kept_type, *kept_value, *trace;  /* the first exception that came up inside */
    const char *keep_keys[NIGH_MAX_KEEP_KEYS]; /* of a reader's options, or a live's */
};

void py_call_begin(struct py_call *call, struct py_state *state, PyObject *report);
void py_call_release(struct py_call *call);
/* Returns: 0; -1 and an exception is set. */
int py_call_end(struct py_call *call, nigh_status status);
/* The GIL is held and an exception is set: keeps it for py_call_end().  Returns: NIGH_ECANCELLED. */
nigh_status py_call_keep(struct py_call *call);
/* For nigh_text_reader_options.problem, with the call as its user. */
void py_call_problem(void *user, const nigh_error *problem);
/* Gives up what the call holds; the list of problems, never NULL on success, goes to the caller. */
PyObject *py_call_problems(struct py_call *call);
void py_call_clear(struct py_call *call);

/* Sets the exception for an error of the library.  Returns: NULL, for convenience. */
PyObject *py_raise(struct py_state *state, nigh_status status, const nigh_error *error);

/* --------------------------------------------------------------- options -- */

/* PY_CHARS: of fields alone, an array of them inside the struct; PY_ELSEWHERE: of options, whoever fills sees to it. */
enum py_kind { PY_FLAG, PY_U32, PY_U64, PY_DOUBLE, PY_TEXT, PY_WORD, PY_CHARS, PY_ELSEWHERE };

/* A row says which field of an option struct a keyword sets; a table ends with a row without a name. */
struct py_option {
    const char *name;
    enum py_kind kind;
    size_t offset;
    const char *const *words; /* of PY_WORD: the names of 0, 1, ..., ended by NULL; "" is none */
};

#define PY_OPTION(type, field, kind) \
    { #field, kind, offsetof(type, field), NULL }
#define PY_OPTION_WORD(type, field, words) \
    { #field, PY_WORD, offsetof(type, field), words }
#define PY_OPTIONS_END \
    { NULL, PY_FLAG, 0, NULL }

/* Fills in what a dict (or None) has.  Texts live as long as the dict.  Returns: 0; -1 and an exception is set. */
int py_options_fill(PyObject *dict, const struct py_option *table, void *out);
int py_signer_options_fill(struct py_state *state, PyObject *dict, nigh_signer_options *out);
int py_reader_options_fill(PyObject *dict, struct py_call *call, nigh_text_reader_options *out);
/* Its "keep_keys", a tuple of str; *out lies in the call. */
int py_keep_keys(PyObject *dict, struct py_call *call, const char *const **out, size_t *out_count);

/* Paths as bytes objects in a list or tuple; *out is freed with PyMem_Free(), and lives as long as they. */
int py_paths(PyObject *sequence, const char ***out, size_t *count);

/* ---------------------------------------------------------------- values -- */

/* Bytes that grow; `failed` says that memory ran out, and then nothing more is taken. */
struct py_blob {
    char *bytes;
    size_t length, capacity;
    int failed;
};

void *py_blob_add(struct py_blob *blob, size_t length); /* NULL: failed */
PyObject *py_blob_take(struct py_blob *blob);           /* a bytes object, or NULL; the blob is empty again */

/* Whether bytes are whole rows of a width there is.  Returns: 0; -1 and an exception is set. */
int py_rows_check(const Py_buffer *rows, uint32_t width_bits);

/* Fields of an info struct as a dict. */
struct py_field {
    const char *name;
    enum py_kind kind;
    size_t offset;
};
#define PY_FIELD(type, field, kind) \
    { #field, kind, offsetof(type, field) }
PyObject *py_fields(const struct py_field *table, const void *from);
/* A list of them, one for each row that `at` gives, from 0 until it fails; `row` has the room for one. */
PyObject *py_rows(const struct py_field *table, nigh_status (*at)(const void *rows, size_t number, void *row),
                  const void *rows, void *row);
/* One more added to a list, maybe with one text more; where it fails *list is given up and NULL. */
int py_rows_add(PyObject **list, const struct py_field *table, const void *from, const char *name, const char *word);

/* --------------------------------------------------------------- sources -- */

struct py_arrow; /* py_arrow.c */

/*
 * Documents of Python's.  Made from a tuple:
 *     (texts, ids, scores, labels, parts, values)
 *                                            texts: a tuple of str or None; ids, labels and parts: the same, or None;
 *                                            scores: a buffer of doubles, or None; values: a tuple of tuples of None,
 *                                            int, float or str, or None; the last three may be left out
 *     (factory,)                             called for each pass; gives an object with __arrow_c_stream__, whose
 *                                            columns are called text, and maybe id, score, label and part
 */
struct py_source {
    nigh_source source;
    struct py_call *call;
    PyObject *texts, *ids, *labels, *parts, *values; /* owned tuples */
    Py_buffer scores;
    Py_ssize_t next, taken, limit; /* the next document; that of the batch below; where the batch ends */
    struct py_arrow *arrow;
};

int py_source_init(struct py_source *source, struct py_call *call, PyObject *given);
void py_source_release(struct py_source *source);
int py_arrow_open(struct py_source *source, PyObject *factory);
void py_arrow_close(struct py_arrow *arrow); /* accepts NULL */

/* A source, or in a list paths of files, folders and archives; what is read of them is told to the call. */
struct py_input {
    struct py_call *call;
    struct py_source source;
    const char **paths; /* NULL: the source */
    size_t count;
    nigh_text_reader_options reading;
};

int py_input_init(struct py_input *input, struct py_call *call, PyObject *given, PyObject *reading);
void py_input_release(struct py_input *input);
/* Has `read` read the documents, once; without the GIL. */
nigh_status py_input_read(struct py_input *input, nigh_status (*read)(void *user, nigh_text_reader *reader),
                          void *user);

/* What signs the documents of an input, once its options are filled in; without the GIL. */
struct py_signer {
    nigh_signer_options options;
    nigh_vocabulary *vocabulary;
    nigh_signer *handle;
};

nigh_status py_signer_make(struct py_signer *signer, struct py_input *input, uint32_t threads);
void py_signer_release(struct py_signer *signer);

/* A document's text from a tuple, for messages by its number.  Returns: 0; -1 and an exception is set. */
int py_text_at(PyObject *tuple, Py_ssize_t index, const char **text, size_t *length);
/* The same of its values, a tuple or None, for which `out` has room: NIGH_MAX_KEEP_KEYS. */
int py_values_at(PyObject *tuple, Py_ssize_t index, nigh_value *out, uint32_t *count);

/* ----------------------------------------------------------- the themes -- */

int py_dedup_add(PyObject *module, struct py_state *state);
int py_collection_add(PyObject *module, struct py_state *state);
int py_live_add(PyObject *module);
int py_task_add(PyObject *module);
int py_results_add(PyObject *module, struct py_state *state);
/* Owns the results, also where it fails. */
PyObject *py_results_new(struct py_state *state, nigh_results *handle);
int py_model_add(PyObject *module, struct py_state *state);
extern PyMethodDef py_dedup_functions[];
extern PyMethodDef py_vocabulary_functions[];
extern PyMethodDef py_writing_functions[];
extern PyMethodDef py_signature_functions[];
extern PyMethodDef py_against_functions[];
extern PyMethodDef py_living_functions[];
extern PyMethodDef py_learn_functions[];
extern PyMethodDef py_eval_functions[];
extern PyMethodDef py_eval_search_functions[];

/* The model that an object of the type Model holds; NULL and an exception is set. */
const nigh_model *py_model_of(struct py_state *state, PyObject *object);

/* As nigh_learn_options, but for what is a pointer. */
extern const struct py_option py_learn_table[];
extern const struct py_option py_search_table[];
extern const struct py_option py_dedup_table[];

/* An open collection, kept open until the last search of it has ended. */
struct py_collection {
    PyObject_HEAD nigh_collection *handle; /* NULL: closed */
    struct py_state *state;
    Py_ssize_t users;
    int closing;
};

/* Returns: 0; -1 and an exception is set where it is closed.  Each is followed by a leave. */
int py_collection_enter(struct py_collection *collection);
void py_collection_leave(struct py_collection *collection);
PyObject *py_search_rows(PyObject *object, PyObject *const *arguments, Py_ssize_t count);
PyObject *py_search_texts(PyObject *object, PyObject *arguments);
PyObject *py_tune(PyObject *object, PyObject *arguments);

#endif
