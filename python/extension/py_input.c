/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from wherever they are, as a reader; and what signs them, with a vocabulary counted where it takes one. */
#include "py_nigh.h"

int py_input_init(struct py_input *input, struct py_call *call, PyObject *given, PyObject *reading) {
    *input = (struct py_input){.call = call};
    if (py_reader_options_fill(reading, call, &input->reading) != 0) return -1;
    if (!PyList_Check(given)) return py_source_init(&input->source, call, given);
    return py_paths(given, &input->paths, &input->count);
}

nigh_status py_input_open(struct py_input *input, nigh_text_reader **out) {
    nigh_context *context = input->call->state->context;
    nigh_error *error = &input->call->error;
    if (input->paths != NULL)
        return nigh_text_reader_open(context, input->paths, input->count, &input->reading, out, error);
    return nigh_text_reader_open_source(context, &input->source.source, &input->reading, out, error);
}

void py_input_release(struct py_input *input) {
    py_source_release(&input->source);
    PyMem_Free((void *)input->paths);
    input->paths = NULL;
}

/* One pass to count words, for schemes that weigh by them. */
static nigh_status count_words(struct py_signer *signer, struct py_input *input, uint32_t threads) {
    if (!nigh_signer_needs_vocabulary(&signer->options)) return NIGH_OK;
    struct py_call *call = input->call;
    nigh_vocabulary_options counting;
    nigh_text_reader *reader = NULL;
    nigh_vocabulary_options_init(&counting);
    counting.threads = threads;
    counting.progress = &call->progress;
    nigh_status status = py_input_open(input, &reader);
    if (status == NIGH_OK)
        status = nigh_vocabulary_count(call->state->context, &signer->options, reader, &counting, &signer->vocabulary,
                                       &call->error);
    nigh_text_reader_close(reader);
    signer->options.vocabulary = signer->vocabulary;
    return status;
}

nigh_status py_signer_make(struct py_signer *signer, struct py_input *input, uint32_t threads) {
    const nigh_status status = count_words(signer, input, threads);
    if (status != NIGH_OK) return status;
    return nigh_signer_new(input->call->state->context, &signer->options, &signer->handle, &input->call->error);
}

void py_signer_release(struct py_signer *signer) {
    nigh_signer_free(signer->handle);
    nigh_vocabulary_free(signer->vocabulary);
    signer->handle = NULL;
    signer->vocabulary = NULL;
}
