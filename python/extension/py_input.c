/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from wherever they are, as a reader; and what signs them, with a vocabulary counted where it takes one. */
#include "py_nigh.h"

int py_input_init(struct py_input *input, struct py_call *call, PyObject *given, PyObject *reading) {
    *input = (struct py_input){.call = call};
    if (py_reader_options_fill(reading, call, &input->reading) != 0) return -1;
    if (!PyList_Check(given)) return py_source_init(&input->source, call, given);
    return py_paths(given, &input->paths, &input->count);
}

static nigh_status open_input(struct py_input *input, nigh_text_reader **out) {
    nigh_context *context = input->call->state->context;
    nigh_error *error = &input->call->error;
    if (input->paths != NULL)
        return nigh_text_reader_open(context, input->paths, input->count, &input->reading, out, error);
    return nigh_text_reader_open_source(context, &input->source.source, &input->reading, out, error);
}

nigh_status py_input_read(struct py_input *input, nigh_status (*read)(void *user, nigh_text_reader *reader),
                          void *user) {
    nigh_text_reader *reader = NULL;
    nigh_status status = open_input(input, &reader);
    if (status == NIGH_OK) status = read(user, reader);
    nigh_text_reader_close(reader);
    return status;
}

void py_input_release(struct py_input *input) {
    py_source_release(&input->source);
    PyMem_Free((void *)input->paths);
    input->paths = NULL;
}

struct counting {
    struct py_call *call;
    struct py_signer *signer;
    nigh_vocabulary_options options;
};

static nigh_status count_words(void *user, nigh_text_reader *reader) {
    struct counting *counting = user;
    struct py_call *call = counting->call;
    return nigh_vocabulary_count(call->state->context, &counting->signer->options, reader, &counting->options,
                                 &counting->signer->vocabulary, &call->error);
}

/* One pass to count words, for schemes that weigh by them. */
static nigh_status signer_prepare(struct py_signer *signer, struct py_input *input, uint32_t threads) {
    struct counting counting = {.call = input->call, .signer = signer};
    if (!nigh_signer_needs_vocabulary(&signer->options)) return NIGH_OK;
    nigh_vocabulary_options_init(&counting.options);
    counting.options.threads = threads;
    counting.options.progress = &input->call->progress;
    const nigh_status status = py_input_read(input, count_words, &counting);
    signer->options.vocabulary = signer->vocabulary;
    return status;
}

nigh_status py_signer_make(struct py_signer *signer, struct py_input *input, uint32_t threads) {
    const nigh_status status = signer_prepare(signer, input, threads);
    if (status != NIGH_OK) return status;
    return nigh_signer_new(input->call->state->context, &signer->options, &signer->handle, &input->call->error);
}

void py_signer_release(struct py_signer *signer) {
    nigh_signer_free(signer->handle);
    nigh_vocabulary_free(signer->vocabulary);
    signer->handle = NULL;
    signer->vocabulary = NULL;
}
