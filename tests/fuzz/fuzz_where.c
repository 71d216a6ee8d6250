/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of any bytes.  What can be read is judged for some values: each comparison has one answer, = and != are
 * opposites of a value that is there, and so are < and >= of two of a kind.
 */
#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "fuzz/fuzz.h"
#include "search/where.h"

static const nigh_value values[] = {
    {.type = NIGH_VALUE_INTEGER, .integer = 2024},
    {.type = NIGH_VALUE_INTEGER, .integer = INT64_MIN},
    {.type = NIGH_VALUE_REAL, .real = 0.5},
    {.type = NIGH_VALUE_REAL, .real = 1e300},
    {.type = NIGH_VALUE_TEXT, .text = "", .length = 0},
    {.type = NIGH_VALUE_TEXT, .text = "en", .length = 2},
};

static bool holds_as(const struct nigh__where *where, struct nigh__where_step step, enum nigh__where_relation relation,
                     const nigh_value *value) {
    step.relation = relation;
    return nigh__where_holds(where, &step, value);
}

static void judge(const struct nigh__where *where, const struct nigh__where_step *step) {
    const nigh_value *other = (const nigh_value *)where->values.data + step->first;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const nigh_value *value = &values[i];
        const bool alike = (value->type == NIGH_VALUE_TEXT) == (other->type == NIGH_VALUE_TEXT);
        (void)nigh__where_holds(where, step, value);
        if (step->count != 1) continue;
        if (holds_as(where, *step, NIGH__WHERE_EQUAL, value) == holds_as(where, *step, NIGH__WHERE_UNEQUAL, value))
            abort();
        if (holds_as(where, *step, NIGH__WHERE_EQUAL, value) != holds_as(where, *step, NIGH__WHERE_IN, value)) abort();
        const bool less = holds_as(where, *step, NIGH__WHERE_LESS, value);
        if (alike ? less == holds_as(where, *step, NIGH__WHERE_AT_LEAST, value) : less) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    if (size > 2 * (size_t)NIGH__WHERE_LENGTH) return 0;
    char *text = malloc(size + 1);
    if (text == NULL) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    struct nigh__where where;
    nigh_error error = {.status = NIGH_OK};
    if (nigh__where_parse(context, text, &where, &error) == NIGH_OK) {
        const struct nigh__where_step *steps = where.steps.data;
        if (where.steps.count == 0 || where.stack == 0) abort();
        for (size_t i = 0; i < where.steps.count; i++)
            if (steps[i].kind == NIGH__WHERE_COMPARE) judge(&where, &steps[i]);
        (void)nigh__where_bind(&where, "bits=64\nkeep-key=lang\nkeep-key.2=year\n", &error);
    } else if (error.status != NIGH_EINVAL && error.status != NIGH_ELIMIT) {
        abort();
    }
    nigh__where_release(&where);
    free(text);
    return 0;
}
