/* SPDX-License-Identifier: Apache-2.0 */
#include "support/learners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

int learner_watch_iteration(void *user, uint32_t iteration, double objective) {
    struct learner_watch *watch = user;
    watch->calls++;
    assert_int_equal(iteration, watch->calls);
    assert_true(objective >= watch->last);
    watch->last = objective;
    return watch->calls == watch->stop_after;
}

void learner_expect_refusal(learner *learn, const struct nigh__lesson *lesson, nigh_status expected) {
    struct nigh__learned learned = {0};
    nigh_error error;
    assert_int_equal(learn(lesson, &learned, &error), expected);
    assert_true(error.why[0] != '\0');
    nigh__learned_release(lesson->context, &learned);
}

/* --------------------------------------------------- where memory is watched -- */

/* The lesson in a context whose memory is counted. */
struct watched {
    struct faulty_memory memory;
    nigh_allocator allocator;
    nigh_context *context;
    struct nigh__lesson lesson;
};

static void watch_memory(struct watched *watched, const struct nigh__lesson *lesson) {
    watched->memory = (struct faulty_memory){.fail_at = UINT64_MAX};
    watched->allocator = faulty_memory_allocator(&watched->memory);
    watched->context = context_with(NULL, &watched->allocator, NULL);
    watched->lesson = *lesson;
    watched->lesson.context = watched->context;
}

static int refuse(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage, (void)done, (void)total;
    ++*(int *)user;
    return 1;
}

void learner_expect_cancelled(learner *learn, const struct nigh__lesson *lesson) {
    struct watched watched;
    watch_memory(&watched, lesson);
    int calls = 0;
    const nigh_progress progress = {.report = refuse, .user = &calls};
    struct nigh__progress ticking;
    nigh__progress_init(&ticking, &progress);
    watched.lesson.progress = &ticking;
    const int64_t live = watched.memory.live;
    learner_expect_refusal(learn, &watched.lesson, NIGH_ECANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(watched.memory.live, live);
    nigh_context_free(watched.context);
}

void learner_expect_faults_borne(learner *learn, const struct nigh__lesson *lesson, uint64_t least) {
    struct watched watched;
    watch_memory(&watched, lesson);
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t at = 0; status != NIGH_OK; at++) {
        struct nigh__learned learned = {0};
        nigh_error error;
        const int64_t live = watched.memory.live;
        watched.memory.fail_at = watched.memory.calls + at;
        status = learn(&watched.lesson, &learned, &error);
        watched.memory.fail_at = UINT64_MAX;
        if (status == NIGH_OK)
            assert_true(at >= least);
        else
            assert_int_equal(status, NIGH_ENOMEM);
        nigh__learned_release(watched.context, &learned);
        assert_int_equal(watched.memory.live, live);
    }
    nigh_context_free(watched.context);
}
