/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents from wherever they are: a database, a table, a network.  A source gives one after the other and can begin
 * again; this one makes them up.  Near-copies among them are found by comparing their texts.
 */
#include <nigh.h>
#include <stdio.h>
#include <string.h>

struct verses {
    unsigned next;
    char id[32], text[200];
};

static nigh_status next(void *user, nigh_text *out, nigh_error *error) {
    static const char *const animals[] = {"cows", "ducks", "pigs", "sheep"};
    struct verses *verses = user;
    (void)error;
    if (verses->next == 12) return NIGH_END;
    const unsigned verse = verses->next++;
    snprintf(verses->id, sizeof verses->id, "verse-%u", verse);
    snprintf(verses->text, sizeof verses->text,
             "Old MacDonald had a farm, and on that farm he had some %s, as we all have known for years and years",
             animals[verse % 4]);
    out->id = verses->id;
    out->id_length = strlen(verses->id);
    out->text = verses->text;
    out->text_length = strlen(verses->text);
    return NIGH_OK;
}

static nigh_status begin_again(void *user, nigh_error *error) {
    (void)error;
    ((struct verses *)user)->next = 0;
    return NIGH_OK;
}

int main(void) {
    struct verses verses = {0};
    nigh_context *context = NULL;
    nigh_dedup *dedup = NULL;
    nigh_dedup_info info = {.size = sizeof info};
    nigh_source source;
    nigh_error error;
    nigh_source_init(&source);
    source.user = &verses;
    source.next = next;
    source.rewind = begin_again;
    const int done = nigh_context_new(NULL, &context, &error) == NIGH_OK &&
                     nigh_dedup_source(context, &source, NULL, NULL, &dedup, &error) == NIGH_OK;
    if (done) {
        nigh_dedup_describe(dedup, &info);
        printf("%llu documents, %llu stay, %llu are exact copies\n", (unsigned long long)info.documents,
               (unsigned long long)info.kept, (unsigned long long)info.copies);
    } else {
        fprintf(stderr, "%s\n", error.why);
    }
    nigh_dedup_free(dedup);
    nigh_context_free(context);
    return done ? 0 : 2;
}
