/* SPDX-License-Identifier: Apache-2.0 */
/* What every method of learning has to bear, whatever its lesson was made of. */
#ifndef NIGH_TESTS_LEARNERS_H
#define NIGH_TESTS_LEARNERS_H

#include "learn/lesson.h"

/* One of nigh__learn_codewords(), nigh__learn_s3h() and so on. */
typedef nigh_status learner(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error);

/* For options.iteration: counts calls, checks that the objective never falls, and stops after some (0: never). */
struct learner_watch {
    uint32_t calls, stop_after;
    double last; /* -DBL_MAX before */
};
int learner_watch_iteration(void *user, uint32_t iteration, double objective);

/* It fails in this way and says why. */
void learner_expect_refusal(learner *learn, const struct nigh__lesson *lesson, nigh_status expected);

/* Cancelled, it says so at once and leaves nothing that its caller cannot release. */
void learner_expect_cancelled(learner *learn, const struct nigh__lesson *lesson);

/* Each allocation fails in turn, `least` of them or more, until it learns; all that it took is given back. */
void learner_expect_faults_borne(learner *learn, const struct nigh__lesson *lesson, uint64_t least);

#endif
