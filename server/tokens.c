/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_TOKENS 1024u
#define TOKEN_SIZE 256u
#define SHORTEST_TOKEN 16u
#define SCHEME "Bearer "

struct token {
    unsigned char bytes[TOKEN_SIZE]; /* zeros behind it */
    bool read_only;
    char *collections; /* owned; names between commas, with one before and behind; NULL: all */
};

struct serve_tokens {
    struct token *items;
    size_t count;
};

static nigh_status bad_line(nigh_error *error, const char *path, uint64_t line, const char *why) {
    *error = (nigh_error){.status = NIGH_EINVAL, .offset = NIGH_NO_OFFSET, .line = line};
    (void)snprintf(error->file, sizeof error->file, "%s", path);
    (void)snprintf(error->why, sizeof error->why, "%s", why);
    return NIGH_EINVAL;
}

static const char *limit_token(struct token *token, const char *word) {
    static const char key[] = "collections=";
    if (strcmp(word, "read") == 0) {
        token->read_only = true;
        return NULL;
    }
    if (strncmp(word, key, sizeof key - 1) != 0) return "a token is followed by 'read' or 'collections=NAME,NAME'";
    const size_t size = strlen(word) + 3;
    free(token->collections);
    token->collections = malloc(size);
    if (token->collections == NULL) return "out of memory";
    (void)snprintf(token->collections, size, ",%s,", word + sizeof key - 1);
    return NULL;
}

/* NULL, or what is wrong with the line. */
static const char *read_token(struct serve_tokens *tokens, char *line) {
    char *rest = NULL;
    const char *word = strtok_r(line, " \t\r\n", &rest);
    if (word == NULL || *word == '#') return NULL;
    if (strlen(word) < SHORTEST_TOKEN) return "a token has at least 16 characters";
    if (strlen(word) >= TOKEN_SIZE) return "a token has at most 255 characters";
    if (tokens->count == MOST_TOKENS) return "there are too many tokens";
    struct token *token = &tokens->items[tokens->count++];
    memcpy(token->bytes, word, strlen(word));
    const char *why = NULL;
    while (why == NULL && (word = strtok_r(NULL, " \t\r\n", &rest)) != NULL) why = limit_token(token, word);
    return why;
}

static nigh_status read_lines(FILE *file, const char *path, struct serve_tokens *tokens, nigh_error *error) {
    char *line = NULL;
    size_t capacity = 0;
    const char *why = NULL;
    uint64_t number = 0;
    while (why == NULL && getline(&line, &capacity, file) >= 0) {
        number++;
        why = read_token(tokens, line);
    }
    free(line);
    if (why == NULL && tokens->count == 0) why = "has no token";
    return why == NULL ? NIGH_OK : bad_line(error, path, number, why);
}

nigh_status serve_tokens_read(const char *path, struct serve_tokens **out, nigh_error *error) {
    struct serve_tokens *tokens = calloc(1, sizeof *tokens);
    if (tokens != NULL) tokens->items = calloc(MOST_TOKENS, sizeof *tokens->items);
    *out = NULL;
    if (tokens == NULL || tokens->items == NULL) {
        serve_tokens_free(tokens);
        return bad_line(error, path, 0, "out of memory");
    }
    FILE *file = fopen(path, "r");
    nigh_status status =
        file == NULL ? bad_line(error, path, 0, strerror(errno)) : read_lines(file, path, tokens, error);
    if (file != NULL) (void)fclose(file);
    if (status != NIGH_OK) {
        serve_tokens_free(tokens);
        return status;
    }
    *out = tokens;
    return NIGH_OK;
}

void serve_tokens_free(struct serve_tokens *tokens) {
    if (tokens == NULL) return;
    for (size_t i = 0; i < tokens->count; i++) free(tokens->items[i].collections);
    free(tokens->items);
    free(tokens);
}

/* Looks at every byte whatever the first ones are. */
static bool same_bytes(const unsigned char *a, const unsigned char *b) {
    volatile unsigned char differ = 0;
    for (size_t i = 0; i < TOKEN_SIZE; i++) differ = (unsigned char)(differ | (a[i] ^ b[i]));
    return differ == 0;
}

static bool names_collection(const struct token *token, const char *collection) {
    char wanted[300];
    if (token->collections == NULL || collection == NULL) return true;
    (void)snprintf(wanted, sizeof wanted, ",%s,", collection);
    return strstr(token->collections, wanted) != NULL;
}

enum serve_permission serve_tokens_allow(const struct serve_tokens *tokens, const char *authorization,
                                         const char *collection, bool write) {
    unsigned char given[TOKEN_SIZE] = {0};
    const struct token *found = NULL;
    if (authorization == NULL || strncasecmp(authorization, SCHEME, sizeof SCHEME - 1) != 0) return SERVE_UNKNOWN;
    const char *token = authorization + sizeof SCHEME - 1;
    const size_t length = strlen(token);
    if (length == 0 || length >= TOKEN_SIZE) return SERVE_UNKNOWN;
    memcpy(given, token, length);
    for (size_t i = 0; i < tokens->count; i++)
        if (same_bytes(given, tokens->items[i].bytes)) found = &tokens->items[i];
    if (found == NULL) return SERVE_UNKNOWN;
    if ((write && found->read_only) || !names_collection(found, collection)) return SERVE_FORBIDDEN;
    return SERVE_ALLOWED;
}
