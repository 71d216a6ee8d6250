/* SPDX-License-Identifier: Apache-2.0 */
/* What the making of a lesson is cut into. */
#ifndef NIGH_LEARN_LESSON_PARTS_H
#define NIGH_LEARN_LESSON_PARTS_H

#include "learn/lesson.h"

#define NIGH__NOT_CHOSEN UINT32_MAX

/* The documents to learn from, and of which the labels are kept. */
struct nigh__pupils {
    const nigh_context *context;
    const struct nigh__labelled *labelled;
    uint32_t threads;
    uint32_t count;      /* documents */
    uint32_t with_label; /* of them */
    uint32_t *documents; /* by number, ascending */
    uint8_t *has_label;  /* of each of them: its classes count */
    uint32_t *class_sizes;
    uint32_t classes_used, classes_lone;
    uint32_t largest_class;
};

/* Chosen features, and what they are worth. */
struct nigh__choice {
    uint32_t count;
    uint32_t *features; /* by number, ascending */
    double *chi;        /* 0 where there are no classes to tell apart */
    uint32_t *places;   /* of each feature there is: its index above, or NIGH__NOT_CHOSEN */
};

/* Both may be released after a failure.  NIGH_EINVAL where no feature is in min_documents; NIGH_ELIMIT; NIGH_ENOMEM. */
nigh_status nigh__choose_features(const struct nigh__pupils *pupils, const nigh_learn_options *options,
                                  struct nigh__choice *out, nigh_error *error);
void nigh__choice_release(const nigh_context *context, struct nigh__choice *choice); /* accepts zeros */

/* NIGH_ELIMIT where what is held and `more` bytes are over memory_bytes. */
nigh_status nigh__lesson_afford(const struct nigh__labelled *labelled, const nigh_learn_options *options, uint64_t more,
                                nigh_error *error);

#endif
