/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The pipeline of pipeline.h.  Two locks: `reading` is held while a slot is
 * filled, `state` for the moments in which slots change hands.
 *
 *     sequence   0  1  2  3  4  5  6 ...        the slot of sequence s is s mod slots
 *     FREE       the consumer is done with it   -> a thread that holds `reading` fills it
 *     FILLED     is in stock, in order          -> a thread or the consumer takes it
 *     BUSY       one of them works on it        -> DONE
 *     DONE       waits for the consumer         -> FREE
 */
#include "document/pipeline.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/threads.h"
#include "document/extract.h"
#include "document/split.h"
#include "document/tolerance.h"

#define BATCH_BYTES (256u << 10)
#define BUDGET ((size_t)48 << 20)      /* bytes of records in all slots, beyond which none is filled */
#define LARGE_RECORD ((size_t)1 << 20) /* one at a time from here on */
#define HUGE_RECORD ((size_t)4 << 20)  /* whoever worked on it begins anew, without the tables it took */
#define LARGE_ARRAY ((size_t)4 << 20)  /* memory for more is given back */
#define STOCK 2u                       /* slots that are filled before one of them is worked on */
#define PATIENCE_NS 100000000L         /* the consumer asks so often whether to go on */

enum item_kind { ITEM_PRODUCT, ITEM_EMPTY, ITEM_LEFT_OUT, ITEM_MISSING, ITEM_KEYLESS, ITEM_PROBLEM, ITEM_FAILURE };

struct item {
    enum item_kind kind;
    size_t record;        /* index in the batch */
    size_t bytes, length; /* of a product: place in the slot's products */
    size_t problem;       /* of a problem, a failure, a record without a key: index in the batch's problems */
    uint64_t text_length;
    enum nigh__sieved sieved; /* of one that is left out */
};

enum slot_state { SLOT_FREE, SLOT_FILLED, SLOT_BUSY, SLOT_DONE };

struct slot {
    enum slot_state state;
    struct nigh__batch batch;
    struct nigh__array items;    /* of struct item */
    struct nigh__array products; /* of uint8_t */
    nigh_text_reader_info info;  /* of the splitter, when this was filled */
    size_t bytes;                /* of its records, as counted in `outstanding` */
    uint64_t problems;           /* malformed parts found while working on it */
    bool no_memory;              /* while working on it */
};

/* One thread's own things. */
struct hand {
    struct nigh__pipeline *pipeline;
    struct nigh__extractor *extractor;
    void *worker;
    pthread_t thread;
    bool started;
};

struct nigh__pipeline {
    const nigh_context *context;
    struct nigh__splitter *splitter;
    const nigh_text_reader_options *options;
    struct nigh__pipeline_work work;

    struct hand *hands;
    uint32_t hand_count; /* hands; with one, there is no thread */
    uint32_t threads;    /* started */
    struct slot *slots;
    size_t slot_count;

    pthread_mutex_t reading;
    uint64_t next_fill; /* under `reading` */
    bool ended;         /* under `reading`: nothing more to fill */

    pthread_mutex_t large; /* who holds it works on a large record */

    pthread_mutex_t state;
    pthread_cond_t freed; /* a slot became FREE, or `stop` */
    pthread_cond_t done;  /* a slot became DONE or FILLED */
    bool stop;            /* under `state` */
    uint64_t next_work;   /* under `state`: the first FILLED slot, */
    uint64_t stock;       /* and how many there are */
    size_t outstanding;   /* under `state`: bytes of all slots that are not FREE */

    /* The consumer's. */
    uint64_t next_take;
    struct slot *taken; /* NULL: none */
    size_t next_item;
    struct nigh__tolerance tolerance;
    struct nigh__progress progress;
    nigh_text_reader_info info;
    uint64_t empty;
    nigh_status ended_with; /* once not NIGH_OK, it stays */
    nigh_error ended_error;
};

/* ------------------------------------------------------------ working -- */

static bool add_item(struct hand *hand, struct slot *slot, struct item item) {
    struct item *place = nigh__array_add(hand->pipeline->context, &slot->items, 1);
    if (place == NULL) return false;
    *place = item;
    return true;
}

static bool add_problem(struct hand *hand, struct slot *slot, size_t record, enum item_kind kind,
                        const nigh_error *problem) {
    nigh_error *place = nigh__array_add(hand->pipeline->context, &slot->batch.problems, 1);
    if (place == NULL) return false;
    *place = *problem;
    slot->problems += kind == ITEM_PROBLEM && nigh__is_malformed(problem);
    return add_item(hand, slot,
                    (struct item){.kind = kind, .record = record, .problem = slot->batch.problems.count - 1});
}

/* A document was repaired: it counts as a problem, and as a document. */
static bool add_repair(struct hand *hand, struct slot *slot, size_t index, const nigh_text *text, uint64_t repaired) {
    nigh_error problem;
    (void)nigh__fail_at(&problem, NIGH_EFORMAT, text->source, repaired, "bytes that are not UTF-8 were replaced");
    problem.reason = NIGH_REASON_REPAIRED;
    problem.line = text->line;
    return add_problem(hand, slot, index, ITEM_PROBLEM, &problem);
}

static bool work_on_text(struct hand *hand, struct slot *slot, size_t index, const nigh_text *text) {
    const struct nigh__pipeline_work *work = &hand->pipeline->work;
    nigh_error error;
    struct item item = {
        .kind = ITEM_PRODUCT, .record = index, .bytes = slot->products.count, .text_length = text->text_length};
    nigh_status status = work->work(hand->worker, text, &slot->products, &error);
    if (status == NIGH_ENOTFOUND) {
        slot->products.count = item.bytes;
        item.kind = ITEM_EMPTY;
    } else if (status != NIGH_OK) {
        return add_problem(hand, slot, index, ITEM_FAILURE, &error);
    }
    NIGH__ASSERT(slot->products.count >= item.bytes);
    item.length = slot->products.count - item.bytes;
    return add_item(hand, slot, item);
}

static bool work_on_record(struct hand *hand, struct slot *slot, size_t index) {
    const struct nigh__record *record = nigh__batch_record(&slot->batch, index);
    if (record->kind == NIGH__RECORD_PROBLEM)
        return add_item(hand, slot, (struct item){.kind = ITEM_PROBLEM, .record = index, .problem = record->problem});
    nigh_text text = {0};
    nigh_error error;
    uint64_t repaired = NIGH_NO_OFFSET;
    switch (nigh__extract(hand->extractor, &slot->batch, record, &text, &repaired, &error)) {
    case NIGH_OK:
        if (repaired != NIGH_NO_OFFSET && !add_repair(hand, slot, index, &text, repaired)) return false;
        if (nigh__extract_remark(hand->extractor, &text, &error) &&
            !add_problem(hand, slot, index, ITEM_PROBLEM, &error))
            return false;
        return work_on_text(hand, slot, index, &text);
    case NIGH_ENOTFOUND:
        if (nigh__extract_sieved(hand->extractor) != NIGH__SIEVED_NOT)
            return add_item(
                hand, slot,
                (struct item){.kind = ITEM_LEFT_OUT, .record = index, .sieved = nigh__extract_sieved(hand->extractor)});
        if (error.reason == NIGH_REASON_NO_KEY) return add_problem(hand, slot, index, ITEM_KEYLESS, &error);
        return add_item(hand, slot, (struct item){.kind = ITEM_MISSING, .record = index});
    case NIGH_ENOMEM:
        return add_problem(hand, slot, index, ITEM_FAILURE, &error);
    default:
        return add_problem(hand, slot, index, ITEM_PROBLEM, &error);
    }
}

/* What an extractor needed for a large record is not kept. */
static bool renew_extractor(struct hand *hand) {
    nigh__extractor_free(hand->extractor);
    hand->extractor = NULL;
    return nigh__extractor_new(hand->pipeline->context, hand->pipeline->options, &hand->extractor, NULL) == NIGH_OK;
}

/* Nor are the tables of whoever works, which grow with the words of a document and would stand idle in every thread. */
static bool renew_worker(struct hand *hand, const struct nigh__record *record) {
    const struct nigh__pipeline_work *work = &hand->pipeline->work;
    if (record->length <= HUGE_RECORD) return true;
    work->worker_free(work->user, hand->worker);
    hand->worker = NULL;
    if (work->worker_new(work->user, &hand->worker, NULL) == NIGH_OK) return true;
    work->worker_free(work->user, hand->worker);
    hand->worker = NULL;
    return false;
}

static bool work_on_large_record(struct hand *hand, struct slot *slot, size_t index) {
    pthread_mutex_lock(&hand->pipeline->large);
    bool done = work_on_record(hand, slot, index) && renew_extractor(hand) &&
                renew_worker(hand, nigh__batch_record(&slot->batch, index));
    pthread_mutex_unlock(&hand->pipeline->large);
    return done;
}

/* Whether the consumer will have given up before it is through with this slot. */
static bool is_hopeless(const struct hand *hand, const struct slot *slot) {
    const nigh_text_reader_options *options = hand->pipeline->options;
    return slot->problems > (options->strict ? 0 : options->max_errors);
}

static void work_on_slot(struct hand *hand, struct slot *slot) {
    if (hand->extractor == NULL || hand->worker == NULL) slot->no_memory = true; /* they could not be renewed */
    for (size_t i = 0; i < slot->batch.records.count && !slot->no_memory && !is_hopeless(hand, slot); i++) {
        const struct nigh__record *record = nigh__batch_record(&slot->batch, i);
        const bool large = record->length > LARGE_RECORD;
        if (!(large ? work_on_large_record : work_on_record)(hand, slot, i)) slot->no_memory = true;
    }
}

static void empty_array(const nigh_context *context, struct nigh__array *array) {
    if (array->capacity * array->item_size > LARGE_ARRAY) nigh__array_release(context, array);
    array->count = 0;
}

static void fill_slot(struct nigh__pipeline *pipeline, struct slot *slot) {
    empty_array(pipeline->context, &slot->items);
    empty_array(pipeline->context, &slot->products);
    empty_array(pipeline->context, &slot->batch.problems);
    slot->problems = 0;
    slot->no_memory = false;
    nigh__splitter_fill(pipeline->splitter, &slot->batch, BATCH_BYTES);
    nigh__splitter_describe(pipeline->splitter, &slot->info);
}

/* ------------------------------------------------------------ threads -- */

/*
 * Whether the slot is to be filled: it is free and there is memory for it.  Waits for that where nothing is in stock;
 * false also where all is to stop.
 */
static bool claim_slot(struct nigh__pipeline *pipeline, const struct slot *slot) {
    pthread_mutex_lock(&pipeline->state);
    while (pipeline->stock == 0 && (slot->state != SLOT_FREE || pipeline->outstanding > BUDGET) && !pipeline->stop)
        pthread_cond_wait(&pipeline->freed, &pipeline->state);
    const bool claimed =
        slot->state == SLOT_FREE && pipeline->outstanding <= BUDGET && pipeline->stock < STOCK && !pipeline->stop;
    pthread_mutex_unlock(&pipeline->state);
    return claimed;
}

/* The consumer is told, for he may be waiting for this very slot, which nobody else may come to. */
static void stock_slot(struct nigh__pipeline *pipeline, struct slot *slot) {
    slot->bytes = slot->batch.bytes.count;
    pthread_mutex_lock(&pipeline->state);
    pipeline->outstanding += slot->bytes;
    slot->state = SLOT_FILLED;
    pipeline->stock++;
    pthread_cond_signal(&pipeline->done);
    pthread_mutex_unlock(&pipeline->state);
}

/* Fills slots, in the order of the input, until STOCK are in stock, or no slot is free, or there is no more. */
static void read_slots(struct nigh__pipeline *pipeline) {
    pthread_mutex_lock(&pipeline->reading);
    while (!pipeline->ended) {
        struct slot *slot = &pipeline->slots[pipeline->next_fill % pipeline->slot_count];
        if (!claim_slot(pipeline, slot)) break;
        fill_slot(pipeline, slot);
        pipeline->next_fill++;
        pipeline->ended = slot->batch.status != NIGH_OK;
        stock_slot(pipeline, slot);
    }
    pthread_mutex_unlock(&pipeline->reading);
}

/* The first slot in stock, now BUSY; NULL where there is none.  Under `state`. */
static struct slot *slot_from_stock(struct nigh__pipeline *pipeline) {
    if (pipeline->stock == 0 || pipeline->stop) return NULL;
    struct slot *slot = &pipeline->slots[pipeline->next_work % pipeline->slot_count];
    NIGH__ASSERT(slot->state == SLOT_FILLED);
    slot->state = SLOT_BUSY;
    pipeline->next_work++;
    pipeline->stock--;
    return slot;
}

/* Works on a slot from the stock, if there is one; under `state`, which is given back meanwhile. */
static bool work_from_stock(struct hand *hand) {
    struct nigh__pipeline *pipeline = hand->pipeline;
    struct slot *slot = slot_from_stock(pipeline);
    if (slot == NULL) return false;
    pthread_mutex_unlock(&pipeline->state);
    work_on_slot(hand, slot);
    pthread_mutex_lock(&pipeline->state);
    NIGH__ASSERT(slot->state == SLOT_BUSY);
    slot->state = SLOT_DONE;
    pthread_cond_signal(&pipeline->done);
    return true;
}

static void *hand_main(void *user) {
    struct hand *hand = user;
    struct nigh__pipeline *pipeline = hand->pipeline;
    bool is_over = false;
    while (!is_over) {
        read_slots(pipeline);
        pthread_mutex_lock(&pipeline->reading);
        const bool ended = pipeline->ended;
        pthread_mutex_unlock(&pipeline->reading);
        pthread_mutex_lock(&pipeline->state);
        const bool worked = work_from_stock(hand);
        is_over = pipeline->stop || (ended && !worked);
        pthread_mutex_unlock(&pipeline->state);
    }
    return NULL;
}

/* One hand is the consumer's.  Where a thread cannot be started there is one fewer; where none can, he does it all. */
static void start_threads(struct nigh__pipeline *pipeline) {
    for (uint32_t i = 1; i < pipeline->hand_count; i++) {
        struct hand *hand = &pipeline->hands[i];
        hand->started = pthread_create(&hand->thread, NULL, hand_main, hand) == 0;
        pipeline->threads += hand->started;
    }
}

static void stop_threads(struct nigh__pipeline *pipeline) {
    pthread_mutex_lock(&pipeline->state);
    pipeline->stop = true;
    pthread_cond_broadcast(&pipeline->freed);
    pthread_mutex_unlock(&pipeline->state);
    for (uint32_t i = 0; i < pipeline->hand_count; i++)
        if (pipeline->hands[i].started) pthread_join(pipeline->hands[i].thread, NULL);
}

/* ----------------------------------------------------------- consuming -- */

/* Tells how far it is, and asks whether to go on. */
static bool is_cancelled(struct nigh__pipeline *pipeline) {
    return nigh__reading_tick(&pipeline->progress, "reading", &pipeline->info);
}

/* Until a slot changes hands, but not for long: the consumer is to ask whether to go on.  Under `state`. */
static void wait_a_while(struct nigh__pipeline *pipeline) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_NS;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&pipeline->done, &pipeline->state, &until);
}

/*
 * Waits for a slot to be DONE, and works on what is in stock instead of waiting; false where the caller does not want
 * to.  He never reads, for then he could wait for input while what comes next is done.
 */
static bool await_slot(struct nigh__pipeline *pipeline, const struct slot *slot) {
    bool cancelled = false;
    pthread_mutex_lock(&pipeline->state);
    while (slot->state != SLOT_DONE && !cancelled) {
        if (!work_from_stock(&pipeline->hands[0])) wait_a_while(pipeline);
        if (slot->state == SLOT_DONE) break;
        pthread_mutex_unlock(&pipeline->state); /* the caller's function may take its time */
        cancelled = is_cancelled(pipeline);
        pthread_mutex_lock(&pipeline->state);
    }
    pthread_mutex_unlock(&pipeline->state);
    return !cancelled;
}

/* The next slot in order, worked on; NULL where the caller wants no more. */
static struct slot *take_slot(struct nigh__pipeline *pipeline) {
    struct slot *slot = &pipeline->slots[pipeline->next_take % pipeline->slot_count];
    if (is_cancelled(pipeline)) return NULL;
    if (pipeline->threads == 0) {
        fill_slot(pipeline, slot);
        work_on_slot(&pipeline->hands[0], slot);
    } else if (!await_slot(pipeline, slot)) {
        return NULL;
    }
    pipeline->next_take++;
    return slot;
}

static void give_slot_back(struct nigh__pipeline *pipeline) {
    pthread_mutex_lock(&pipeline->state);
    NIGH__ASSERT(pipeline->threads == 0 || pipeline->taken->state == SLOT_DONE);
    NIGH__ASSERT(pipeline->outstanding >= pipeline->taken->bytes);
    pipeline->taken->state = SLOT_FREE;
    pipeline->outstanding -= pipeline->taken->bytes;
    pthread_cond_signal(&pipeline->freed);
    pthread_mutex_unlock(&pipeline->state);
    pipeline->taken = NULL;
}

static void end_with(struct nigh__pipeline *pipeline, nigh_status status, const nigh_error *error) {
    pipeline->ended_with = status;
    if (error != NULL) pipeline->ended_error = *error;
}

/* Takes what the splitter counts; the rest is the consumer's own. */
static void note_info(struct nigh__pipeline *pipeline, const nigh_text_reader_info *info) {
    pipeline->info.files = info->files;
    pipeline->info.records = info->records;
    pipeline->info.bytes_read = info->bytes_read;
    pipeline->info.bytes_total = info->bytes_total;
    pipeline->info.records_total = info->records_total;
    pipeline->info.skipped = info->skipped;
}

/* The slot has no more items: on to the next, or the end. */
static void next_slot(struct nigh__pipeline *pipeline) {
    struct slot *slot = pipeline->taken;
    nigh_error error;
    if (slot == NULL) {
        pipeline->taken = take_slot(pipeline);
        pipeline->next_item = 0;
        if (pipeline->taken == NULL)
            end_with(pipeline, nigh__progress_cancelled(&error), &error);
        else
            note_info(pipeline, &pipeline->taken->info);
    } else if (slot->no_memory) {
        end_with(pipeline, nigh__no_memory(&error, "for a batch of documents"), &error);
    } else if (slot->batch.status != NIGH_OK) {
        if (slot->batch.status == NIGH_END) nigh__tolerance_end(&pipeline->tolerance);
        end_with(pipeline, slot->batch.status, slot->batch.status == NIGH_END ? NULL : &slot->batch.error);
    } else {
        give_slot_back(pipeline);
    }
}

static void show_product(const struct nigh__pipeline *pipeline, const struct item *item, struct nigh__product *out) {
    const struct slot *slot = pipeline->taken;
    const struct nigh__record *record = nigh__batch_record(&slot->batch, item->record);
    *out = (struct nigh__product){
        .bytes = (const uint8_t *)slot->products.data + item->bytes,
        .length = item->length,
        .text = {.number = record->number,
                 .source = nigh__batch_bytes(&slot->batch, record->source),
                 .offset = record->offset,
                 .line = record->line,
                 .text_length = item->text_length},
    };
}

/* Of an item that has one. */
static const nigh_error *problem_of(const struct nigh__pipeline *pipeline, const struct item *item) {
    NIGH__ASSERT(item->problem < pipeline->taken->batch.problems.count);
    return (const nigh_error *)pipeline->taken->batch.problems.data + item->problem;
}

/* True where the item is a product, shown in *out. */
static bool take_item(struct nigh__pipeline *pipeline, const struct item *item, struct nigh__product *out) {
    nigh_error error;
    if (item->kind == ITEM_PRODUCT || item->kind == ITEM_EMPTY || item->kind == ITEM_LEFT_OUT)
        pipeline->tolerance.has_keyed |=
            nigh__batch_record(&pipeline->taken->batch, item->record)->kind == NIGH__RECORD_JSON;
    switch (item->kind) {
    case ITEM_PRODUCT:
        pipeline->info.documents++;
        pipeline->info.bytes_text += item->text_length;
        show_product(pipeline, item, out);
        return true;
    case ITEM_EMPTY:
        pipeline->empty++;
        return false;
    case ITEM_LEFT_OUT:
        nigh__sieve_count(item->sieved, &pipeline->info);
        return false;
    case ITEM_KEYLESS:
        nigh__tolerance_miss(&pipeline->tolerance, problem_of(pipeline, item));
        pipeline->info.missing++;
        return false;
    case ITEM_MISSING:
        pipeline->info.missing++;
        return false;
    case ITEM_PROBLEM: {
        nigh_status status = nigh__tolerate(&pipeline->tolerance, problem_of(pipeline, item), &error);
        nigh__tolerance_describe(&pipeline->tolerance, &pipeline->info);
        if (status != NIGH_OK) end_with(pipeline, status, &error);
        return false;
    }
    case ITEM_FAILURE:
        end_with(pipeline, problem_of(pipeline, item)->status, problem_of(pipeline, item));
        return false;
    }
    return false;
}

nigh_status nigh__pipeline_next(struct nigh__pipeline *pipeline, struct nigh__product *out, nigh_error *error) {
    while (pipeline->ended_with == NIGH_OK) {
        struct slot *slot = pipeline->taken;
        if (slot == NULL || pipeline->next_item == slot->items.count) {
            next_slot(pipeline);
        } else {
            const struct item *item = (const struct item *)slot->items.data + pipeline->next_item++;
            if (take_item(pipeline, item, out)) return NIGH_OK;
        }
    }
    if (pipeline->ended_with != NIGH_END && error != NULL) *error = pipeline->ended_error;
    return pipeline->ended_with;
}

const uint8_t *nigh__pipeline_ahead(const struct nigh__pipeline *pipeline, size_t count) {
    const struct slot *slot = pipeline->taken;
    if (slot == NULL || slot->items.count - pipeline->next_item <= count) return NULL;
    const struct item *item = (const struct item *)slot->items.data + pipeline->next_item + count;
    return item->kind == ITEM_PRODUCT ? (const uint8_t *)slot->products.data + item->bytes : NULL;
}

void nigh__pipeline_describe(const struct nigh__pipeline *pipeline, nigh_text_reader_info *info, uint64_t *empty) {
    size_t size = info->size;
    *info = pipeline->info;
    info->size = size;
    *empty = pipeline->empty;
}

/* ------------------------------------------------------ making, ending -- */

static nigh_status make_hands(struct nigh__pipeline *pipeline, uint32_t count, nigh_error *error) {
    pipeline->hands = nigh__alloc_zero(pipeline->context, count, sizeof *pipeline->hands);
    pipeline->slot_count = count == 1 ? 1 : (size_t)count * 2 + 2;
    pipeline->slots = nigh__alloc_zero(pipeline->context, pipeline->slot_count, sizeof *pipeline->slots);
    if (pipeline->hands == NULL || pipeline->slots == NULL) return nigh__no_memory(error, "for a pipeline");
    for (size_t i = 0; i < pipeline->slot_count; i++) {
        struct slot *slot = &pipeline->slots[i];
        nigh__batch_init(&slot->batch);
        slot->items = (struct nigh__array)NIGH__ARRAY(struct item);
        slot->products = (struct nigh__array)NIGH__ARRAY(uint8_t);
    }
    nigh_status status = NIGH_OK;
    for (; status == NIGH_OK && pipeline->hand_count < count; pipeline->hand_count++) {
        struct hand *hand = &pipeline->hands[pipeline->hand_count];
        hand->pipeline = pipeline;
        status = nigh__extractor_new(pipeline->context, pipeline->options, &hand->extractor, error);
        if (status == NIGH_OK) status = pipeline->work.worker_new(pipeline->work.user, &hand->worker, error);
    }
    return status;
}

nigh_status nigh__pipeline_open(nigh_text_reader *reader, const struct nigh__pipeline_work *work, uint32_t threads,
                                const nigh_progress *progress, struct nigh__pipeline **out, nigh_error *error) {
    *out = NULL;
    const nigh_context *context = nigh__text_reader_context(reader);
    struct nigh__pipeline *pipeline = nigh__alloc_zero(context, 1, sizeof *pipeline);
    if (pipeline == NULL) return nigh__no_memory(error, "for a pipeline");
    pipeline->context = context;
    pipeline->splitter = nigh__text_reader_splitter(reader);
    pipeline->options = nigh__text_reader_options(reader);
    pipeline->work = *work;
    if (work->wanted != NULL) nigh__splitter_choose(pipeline->splitter, work->wanted, work->user);
    pipeline->tolerance.options = pipeline->options;
    nigh__progress_init(&pipeline->progress, progress);
    pthread_mutex_init(&pipeline->reading, NULL);
    pthread_mutex_init(&pipeline->large, NULL);
    pthread_mutex_init(&pipeline->state, NULL);
    pthread_cond_init(&pipeline->freed, NULL);
    pthread_cond_init(&pipeline->done, NULL);
    nigh_status status = make_hands(pipeline, nigh__threads_resolve(threads), error);
    if (status != NIGH_OK) {
        nigh__pipeline_close(pipeline);
        return status;
    }
    start_threads(pipeline);
    *out = pipeline;
    return NIGH_OK;
}

void nigh__pipeline_close(struct nigh__pipeline *pipeline) {
    if (pipeline == NULL) return;
    const nigh_context *context = pipeline->context;
    stop_threads(pipeline);
    for (uint32_t i = 0; i < pipeline->hand_count; i++) {
        nigh__extractor_free(pipeline->hands[i].extractor);
        pipeline->work.worker_free(pipeline->work.user, pipeline->hands[i].worker);
    }
    for (size_t i = 0; pipeline->slots != NULL && i < pipeline->slot_count; i++) {
        nigh__batch_release(context, &pipeline->slots[i].batch);
        nigh__array_release(context, &pipeline->slots[i].items);
        nigh__array_release(context, &pipeline->slots[i].products);
    }
    pthread_cond_destroy(&pipeline->done);
    pthread_cond_destroy(&pipeline->freed);
    pthread_mutex_destroy(&pipeline->state);
    pthread_mutex_destroy(&pipeline->large);
    pthread_mutex_destroy(&pipeline->reading);
    nigh__free(context, pipeline->slots);
    nigh__free(context, pipeline->hands);
    nigh__free(context, pipeline);
}
