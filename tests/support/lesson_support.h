/* SPDX-License-Identifier: Apache-2.0 */
/* Lessons made up by a seed, without any documents: classes with words of their own, and words that all use. */
#ifndef NIGH_TESTS_LESSON_SUPPORT_H
#define NIGH_TESTS_LESSON_SUPPORT_H

#include "learn/lesson.h"

struct lesson_recipe {
    uint64_t seed;
    uint32_t rows, features, classes;
    uint32_t length;       /* features of a row, about */
    uint32_t own_percent;  /* of them from the words of its class */
    uint32_t bare_percent; /* rows without a label */
    uint32_t two_percent;  /* rows of two classes */
};

struct made_lesson {
    struct nigh__lesson lesson; /* options, threads and progress are to be set, or point to these: */
    nigh_learn_options options; /* with defaults, of few pairs */
    struct nigh__progress progress;
    uint32_t *true_classes; /* the first class of each row, also where the lesson does not tell */
};

/* Uses malloc, whatever the context. */
struct made_lesson *lesson_made(const nigh_context *context, const struct lesson_recipe *recipe);
void lesson_unmade(struct made_lesson *made);

/* The mean distance of rows of two classes less that of rows of one, in bits, signed with these weights. */
double lesson_margin(const struct made_lesson *made, const double *weights);

#endif
