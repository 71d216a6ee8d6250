/* SPDX-License-Identifier: Apache-2.0 */
#include "document/keys_there.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "document/utf8.h"

#define KEY_SHOWN 60u   /* bytes of a key */
#define KEYS_SHOWN 120u /* bytes of all of them but the last */

struct keys {
    char others[KEYS_SHOWN + 2 * KEY_SHOWN]; /* "uid, title, " */
    char best[KEY_SHOWN + 1];                /* that of the longest text */
    size_t used, best_text;
    bool more; /* than are shown */
};

static void keys_add(struct keys *keys, const char *key) {
    if (key[0] == '\0') return;
    keys->more = keys->more || keys->used > KEYS_SHOWN;
    if (!keys->more)
        keys->used += (size_t)snprintf(keys->others + keys->used, sizeof keys->others - keys->used, "%s, ", key);
}

static void keys_take(void *user, const char *key, size_t length, size_t text_length) {
    struct keys *keys = user;
    char copy[KEY_SHOWN + 1] = {0};
    if (length > KEY_SHOWN) length = nigh__utf8_cut(key, KEY_SHOWN);
    memcpy(copy, key, length);
    copy[length] = '\0';
    if (text_length <= keys->best_text) {
        keys_add(keys, copy);
        return;
    }
    keys_add(keys, keys->best);
    memcpy(keys->best, copy, sizeof copy);
    keys->best_text = text_length;
}

void nigh__keys_there_tell(const struct nigh__json *json, const char *key, const char *source, uint64_t line,
                           nigh_error *error) {
    struct keys keys = {.used = 0};
    nigh__json_keys(json, keys_take, &keys);
    char why[sizeof error->why];
    const char *none = keys.used == 0 ? "no keys" : "but no text under them";
    int used = snprintf(why, sizeof why, "no record has '%.*s'; the first has %s%s%s", (int)KEY_SHOWN, key, keys.others,
                        keys.more ? "and others, " : "", keys.best_text == 0 ? none : keys.best);
    (void)nigh__fail_line(error, NIGH_EFORMAT, source, line, "%s", why);
    error->reason = NIGH_REASON_NO_KEY;
    if (keys.best_text > 0 && used > 0 && (size_t)used < sizeof why)
        error->name_at = (uint32_t)((size_t)used - strlen(keys.best));
}
