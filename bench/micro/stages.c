/* SPDX-License-Identifier: Apache-2.0 */
#include "stages.h"

#include "document/extract.h"
#include "document/split.h"
#include "measure.h"
#include "signature/signer.h"
#include "text/weight.h"

#define BATCH_BYTES ((size_t)256 << 10) /* as the pipeline has it */

struct line_up {
    enum stage last;
    nigh_text_reader *reader;
    struct nigh__extractor *extractor;
    struct nigh__analyser *analyser;
    struct nigh__featurer *featurer;
    struct nigh__weigher *weigher;
    struct nigh__projector *projector;
    uint8_t signature[NIGH_MAX_WIDTH_BITS / 8];
};

const char *stage_name(enum stage stage) {
    static const char *const names[STAGES] = {"reading",  "extracting", "analysing",
                                              "counting", "weighing",   "accumulating"};
    return names[stage];
}

static void must(nigh_status status, const nigh_error *error) {
    char text[1024];
    if (status == NIGH_OK) return;
    (void)nigh_error_format(error, text, sizeof text);
    measure_fail("a stage", text);
}

static void open_all(nigh_context *context, const nigh_signer *signer, const char *path, nigh_text_format format,
                     struct line_up *line) {
    const struct nigh__signer_plan *plan = nigh__signer_plan(signer);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    nigh_error error;
    reading.format = format;
    must(nigh_text_reader_open(context, &path, 1, &reading, &line->reader, &error), &error);
    must(nigh__extractor_new(context, nigh__text_reader_options(line->reader), &line->extractor, &error), &error);
    must(nigh__analyser_new(context, &plan->features.analysis, &line->analyser, &error), &error);
    must(nigh__featurer_new(context, &plan->features, &line->featurer, &error), &error);
    if (plan->weights != NIGH_WEIGHTS_AUTO)
        must(nigh__weigher_new(context, plan->weights, plan->vocabulary, &line->weigher, &error), &error);
    must(nigh__projector_new(context, plan->scheme, plan->width_bits, plan->density, plan->features.analysis.seed,
                             &line->projector, &error),
         &error);
}

static void close_all(struct line_up *line) {
    nigh__projector_free(line->projector);
    nigh__weigher_free(line->weigher);
    nigh__featurer_free(line->featurer);
    nigh__analyser_free(line->analyser);
    nigh__extractor_free(line->extractor);
    nigh_text_reader_close(line->reader);
}

static void sign_text(struct line_up *line, const nigh_text *text) {
    nigh_error error;
    struct nigh__features features;
    struct nigh__bag bag = {0};
    const uint32_t *numbers;
    size_t count;
    if (line->last == STAGE_ANALYSE)
        must(nigh__analyse(line->analyser, text->text, text->text_length, &numbers, &count, &error), &error);
    if (line->last <= STAGE_ANALYSE) return;
    must(nigh__featurer_find(line->featurer, text->text, text->text_length, &features, &error), &error);
    if (line->last == STAGE_COUNT || features.count == 0) return;
    if (line->weigher != NULL) must(nigh__weigh(line->weigher, &features, &bag.weights, &error), &error);
    if (line->last == STAGE_WEIGH) return;
    bag.hashes = features.hashes;
    bag.numbers = features.numbers;
    bag.count = features.count;
    bag.generation = features.generation;
    must(nigh__project(line->projector, &bag, &error), &error);
    nigh__project_bits(line->projector, line->signature);
}

static void sign_batch(struct line_up *line, const struct nigh__batch *batch) {
    nigh_error error;
    nigh_text text = {.size = sizeof text};
    uint64_t repaired;
    for (size_t i = 0; i < batch->records.count && line->last > STAGE_READ; i++) {
        const struct nigh__record *record = nigh__batch_record(batch, i);
        if (record->kind == NIGH__RECORD_PROBLEM) continue;
        if (nigh__extract(line->extractor, batch, record, &text, &repaired, &error) == NIGH_OK) sign_text(line, &text);
    }
}

double stages_run(nigh_context *context, const nigh_signer *signer, const char *path, nigh_text_format format,
                  enum stage last) {
    static struct line_up line;
    struct nigh__batch batch;
    line = (struct line_up){.last = last};
    open_all(context, signer, path, format, &line);
    nigh__batch_init(&batch);
    double start = measure_now();
    do {
        nigh__splitter_fill(nigh__text_reader_splitter(line.reader), &batch, BATCH_BYTES);
        sign_batch(&line, &batch);
    } while (batch.status == NIGH_OK);
    double seconds = measure_now() - start;
    if (batch.status != NIGH_END) must(batch.status, &batch.error);
    nigh__batch_release(context, &batch);
    close_all(&line);
    return seconds;
}
