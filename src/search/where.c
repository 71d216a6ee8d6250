/* SPDX-License-Identifier: Apache-2.0 */
/* The parser, by recursive descent.  where.h has the grammar. */
#include "search/where.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/keep_keys.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/value.h"

/* A word or what is quoted. */
struct token {
    char *text;
    size_t length;
    size_t at; /* in the expression */
    bool quoted;
};

struct parser {
    struct nigh__where *where;
    char *text; /* that of `where`; what is quoted loses its backslashes as it is read */
    size_t length, at;
    uint32_t depth;
    size_t stack;
    nigh_error *error;
};

/* ------------------------------------------------------------------- failing -- */

static nigh_status fail(const struct parser *parser, size_t at, const char *why) {
    return nigh__fail(parser->error, NIGH_EINVAL, "column %zu of the condition: %s", at + 1, why);
}

/* What stands where something else should: "; here is 'and'", or the end. */
static nigh_status fail_expected(const struct parser *parser, const char *what) {
    const size_t left = parser->length - parser->at;
    if (left == 0)
        return nigh__fail(parser->error, NIGH_EINVAL, "column %zu of the condition: %s is missing at its end",
                          parser->at + 1, what);
    return nigh__fail(parser->error, NIGH_EINVAL, "column %zu of the condition: expected %s at '%s'", parser->at + 1,
                      what, nigh__shown(parser->text + parser->at, left < 24 ? left : 24).text);
}

static nigh_status no_memory(const struct parser *parser) { return nigh__no_memory(parser->error, "for a condition"); }

/* -------------------------------------------------------------------- tokens -- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool ends_word(char c) { return is_space(c) || c == '\0' || strchr("(),=!<>\"'", c) != NULL; }

static void skip_spaces(struct parser *parser) {
    while (parser->at < parser->length && is_space(parser->text[parser->at])) parser->at++;
}

/* Takes a mark where it stands here. */
static bool take_mark(struct parser *parser, const char *mark) {
    const size_t length = strlen(mark);
    skip_spaces(parser);
    if (parser->length - parser->at < length || memcmp(parser->text + parser->at, mark, length) != 0) return false;
    parser->at += length;
    return true;
}

static size_t word_length(const struct parser *parser) {
    size_t length = 0;
    while (parser->at + length < parser->length && !ends_word(parser->text[parser->at + length])) length++;
    return length;
}

static bool is_keyword(const char *text, size_t length) {
    static const char *const keywords[] = {"and", "or", "not", "in"};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (length == strlen(keywords[i]) && strncasecmp(text, keywords[i], length) == 0) return true;
    return false;
}

static bool take_keyword(struct parser *parser, const char *keyword) {
    skip_spaces(parser);
    const size_t length = word_length(parser);
    if (length != strlen(keyword) || strncasecmp(parser->text + parser->at, keyword, length) != 0) return false;
    parser->at += length;
    return true;
}

/* The bytes between quotes, moved together where backslashes go. */
static nigh_status take_quoted(struct parser *parser, struct token *out) {
    char *text = parser->text;
    const char quote = text[parser->at];
    *out = (struct token){.text = text + parser->at + 1, .at = parser->at++, .quoted = true};
    while (parser->at < parser->length && text[parser->at] != quote) {
        const bool escaped = text[parser->at] == '\\' && parser->at + 1 < parser->length &&
                             strchr("\\\"'", text[parser->at + 1]) != NULL;
        parser->at += escaped;
        out->text[out->length++] = text[parser->at++];
    }
    if (parser->at == parser->length) return fail(parser, out->at, "a quote without its end");
    parser->at++;
    return NIGH_OK;
}

/* `what` it is to be, for the message. */
static nigh_status take_token(struct parser *parser, const char *what, struct token *out) {
    skip_spaces(parser);
    if (parser->at < parser->length && (parser->text[parser->at] == '"' || parser->text[parser->at] == '\''))
        return take_quoted(parser, out);
    *out = (struct token){.text = parser->text + parser->at, .length = word_length(parser), .at = parser->at};
    if (out->length == 0 || is_keyword(out->text, out->length)) return fail_expected(parser, what);
    parser->at += out->length;
    return NIGH_OK;
}

/* --------------------------------------------------------------------- steps -- */

static nigh_status add_step(struct parser *parser, const struct nigh__where_step *step) {
    struct nigh__where *where = parser->where;
    struct nigh__where_step *place = nigh__array_add(where->context, &where->steps, 1);
    if (place == NULL) return no_memory(parser);
    *place = *step;
    if (step->kind == NIGH__WHERE_COMPARE) parser->stack++;
    if (step->kind == NIGH__WHERE_AND || step->kind == NIGH__WHERE_OR) parser->stack--;
    if (parser->stack > where->stack) where->stack = parser->stack;
    return NIGH_OK;
}

static nigh_status add_kind(struct parser *parser, enum nigh__where_kind kind) {
    const struct nigh__where_step step = {.kind = kind};
    return add_step(parser, &step);
}

/* --------------------------------------------------------------- comparisons -- */

static nigh_status take_value(struct parser *parser) {
    struct token token;
    nigh_status status = take_token(parser, "a value", &token);
    if (status != NIGH_OK) return status;
    if (token.length > NIGH_MAX_VALUE_LENGTH) return fail(parser, token.at, "a value of more than 65,535 bytes");
    nigh_value *value = nigh__array_add(parser->where->context, &parser->where->values, 1);
    if (value == NULL) return no_memory(parser);
    if (token.quoted || !nigh__number_parse(token.text, token.length, value))
        *value = (nigh_value){.type = NIGH_VALUE_TEXT, .length = (uint32_t)token.length, .text = token.text};
    return NIGH_OK;
}

static int by_order(const void *a, const void *b) { return nigh__value_order(a, b); }

static nigh_status take_list(struct parser *parser, struct nigh__where_step *step) {
    nigh_status status = NIGH_OK;
    if (!take_mark(parser, "(")) return fail_expected(parser, "'(' and the values");
    do {
        status = take_value(parser);
    } while (status == NIGH_OK && take_mark(parser, ","));
    if (status == NIGH_OK && !take_mark(parser, ")")) status = fail_expected(parser, "',' or ')'");
    if (status != NIGH_OK) return status;
    step->count = parser->where->values.count - step->first;
    qsort((nigh_value *)parser->where->values.data + step->first, step->count, sizeof(nigh_value), by_order);
    return NIGH_OK;
}

static bool take_relation(struct parser *parser, enum nigh__where_relation *out) {
    static const struct {
        const char *mark;
        enum nigh__where_relation relation;
    } marks[] = {{"!=", NIGH__WHERE_UNEQUAL}, {"<=", NIGH__WHERE_AT_MOST}, {">=", NIGH__WHERE_AT_LEAST},
                 {"=", NIGH__WHERE_EQUAL},    {"<", NIGH__WHERE_LESS},     {">", NIGH__WHERE_MORE}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (take_mark(parser, marks[i].mark)) {
            *out = marks[i].relation;
            return true;
        }
    *out = NIGH__WHERE_IN;
    return take_keyword(parser, "in");
}

static nigh_status take_comparison(struct parser *parser) {
    struct token key;
    nigh_status status = take_token(parser, "a key", &key);
    if (status != NIGH_OK) return status;
    struct nigh__where_step step = {.kind = NIGH__WHERE_COMPARE,
                                    .column = (uint32_t)key.at + 1,
                                    .name = key.text,
                                    .name_length = key.length,
                                    .first = parser->where->values.count,
                                    .count = 1};
    if (!take_relation(parser, &step.relation)) return fail_expected(parser, "one of = != < <= > >= in");
    status = step.relation == NIGH__WHERE_IN ? take_list(parser, &step) : take_value(parser);
    return status == NIGH_OK ? add_step(parser, &step) : status;
}

/* --------------------------------------------------------------- expressions -- */

static nigh_status take_expression(struct parser *parser);

static nigh_status take_condition(struct parser *parser) {
    nigh_status status;
    if (parser->depth == NIGH__WHERE_DEPTH) return fail(parser, parser->at, "too many conditions inside one another");
    parser->depth++;
    if (take_keyword(parser, "not")) {
        status = take_condition(parser);
        if (status == NIGH_OK) status = add_kind(parser, NIGH__WHERE_NOT);
    } else if (take_mark(parser, "(")) {
        status = take_expression(parser);
        if (status == NIGH_OK && !take_mark(parser, ")")) status = fail_expected(parser, "'and', 'or' or ')'");
    } else {
        status = take_comparison(parser);
    }
    parser->depth--;
    return status;
}

static nigh_status take_conjunction(struct parser *parser) {
    nigh_status status = take_condition(parser);
    while (status == NIGH_OK && take_keyword(parser, "and")) {
        status = take_condition(parser);
        if (status == NIGH_OK) status = add_kind(parser, NIGH__WHERE_AND);
    }
    return status;
}

static nigh_status take_expression(struct parser *parser) {
    nigh_status status = take_conjunction(parser);
    while (status == NIGH_OK && take_keyword(parser, "or")) {
        status = take_conjunction(parser);
        if (status == NIGH_OK) status = add_kind(parser, NIGH__WHERE_OR);
    }
    return status;
}

nigh_status nigh__where_parse(const nigh_context *context, const char *expression, struct nigh__where *out,
                              nigh_error *error) {
    *out = (struct nigh__where){
        .context = context, .steps = NIGH__ARRAY(struct nigh__where_step), .values = NIGH__ARRAY(nigh_value)};
    struct parser parser = {.where = out, .length = strlen(expression), .error = error};
    if (parser.length > NIGH__WHERE_LENGTH)
        return nigh__fail(error, NIGH_ELIMIT, "a condition of %zu bytes; %u are allowed", parser.length,
                          NIGH__WHERE_LENGTH);
    out->text = parser.text = nigh__string_copy(context, expression);
    if (out->text == NULL) return no_memory(&parser);
    const nigh_status status = take_expression(&parser);
    if (status != NIGH_OK) return status;
    skip_spaces(&parser);
    return parser.at == parser.length ? NIGH_OK : fail_expected(&parser, "'and' or 'or'");
}

void nigh__where_release(struct nigh__where *where) {
    if (where->context == NULL) return;
    nigh__free(where->context, where->text);
    nigh__array_release(where->context, &where->steps);
    nigh__array_release(where->context, &where->values);
    where->text = NULL;
}

/* ------------------------------------------------------------------- meaning -- */

nigh_status nigh__where_bind(struct nigh__where *where, const char *scheme, nigh_error *error) {
    struct nigh__where_step *steps = where->steps.data;
    const uint32_t keys = nigh__keep_keys_count(scheme);
    for (size_t i = 0; i < where->steps.count; i++) {
        if (steps[i].kind != NIGH__WHERE_COMPARE) continue;
        steps[i].key = nigh__keep_keys_find(scheme, steps[i].name, steps[i].name_length);
        if (steps[i].key == keys)
            return nigh__fail(error, NIGH_EINVAL, "column %u of the condition: no key '%s' is kept; these are: %s",
                              steps[i].column, nigh__shown(steps[i].name, steps[i].name_length).text,
                              nigh__keep_keys_shown(scheme).text);
    }
    return NIGH_OK;
}

static bool holds_in_order(enum nigh__where_relation relation, int order) {
    switch (relation) {
    case NIGH__WHERE_LESS:
        return order < 0;
    case NIGH__WHERE_AT_MOST:
        return order <= 0;
    case NIGH__WHERE_MORE:
        return order > 0;
    case NIGH__WHERE_AT_LEAST:
        return order >= 0;
    case NIGH__WHERE_UNEQUAL:
        return order != 0;
    case NIGH__WHERE_EQUAL:
    case NIGH__WHERE_IN:
        break;
    }
    return order == 0;
}

bool nigh__where_holds(const struct nigh__where *where, const struct nigh__where_step *step, const nigh_value *value) {
    const nigh_value *values = (const nigh_value *)where->values.data + step->first;
    if (step->relation == NIGH__WHERE_IN) return bsearch(value, values, step->count, sizeof *values, by_order) != NULL;
    const bool text = value->type == NIGH_VALUE_TEXT;
    if (text != (values->type == NIGH_VALUE_TEXT)) return step->relation == NIGH__WHERE_UNEQUAL;
    const int order = text ? nigh__value_order(value, values) : nigh__number_order(value, values);
    return holds_in_order(step->relation, order);
}
