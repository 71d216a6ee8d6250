/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elements a page may have: what is seen of each, and which start tags end it.
 * Both are those of libxml2 2.9 (HTML 4), by which pages have been read from the
 * first version on, and with them the signatures of pages stay what they are.
 */
#include <string.h>

#include "document/html_parts.h"

enum {
    LINE = NIGH__ELEMENT_LINE,
    GAP = NIGH__ELEMENT_GAP,
    DROP = NIGH__ELEMENT_DROP,
    OPEN = NIGH__ELEMENT_OPEN,
    EMPTY = NIGH__ELEMENT_EMPTY,
    RAW = NIGH__ELEMENT_RAW,
    TITLE = NIGH__ELEMENT_TITLE,
    BOX = GAP | DROP /* something is seen there, but no text */
};

static const struct element {
    const char *name;
    uint8_t flags;
    uint8_t rank; /* an end tag closes what is open inside its element, unless that is of a higher rank */
} elements[] = {
    {"a", 0, 0},
    {"abbr", 0, 0},
    {"acronym", 0, 0},
    {"address", LINE, 0},
    {"area", EMPTY, 0},
    {"article", LINE, 0},
    {"aside", LINE, 0},
    {"audio", BOX, 0},
    {"b", 0, 0},
    {"base", EMPTY, 0},
    {"basefont", EMPTY, 0},
    {"bdo", 0, 0},
    {"big", 0, 0},
    {"blockquote", LINE, 0},
    {"body", LINE, 6},
    {"br", LINE | EMPTY, 0},
    {"button", GAP, 0},
    {"canvas", BOX, 0},
    {"caption", LINE, 0},
    {"center", LINE, 0},
    {"cite", 0, 0},
    {"code", 0, 0},
    {"col", EMPTY, 0},
    {"colgroup", 0, 0},
    {"datalist", DROP, 0},
    {"dd", LINE, 0},
    {"details", LINE, 0},
    {"dfn", 0, 0},
    {"dialog", LINE, 0},
    {"dir", LINE, 0},
    {"div", LINE, 1},
    {"dl", LINE, 0},
    {"dt", LINE, 0},
    {"em", 0, 0},
    {"embed", OPEN, 0},
    {"fieldset", LINE, 0},
    {"figcaption", LINE, 0},
    {"figure", LINE, 0},
    {"font", 0, 0},
    {"footer", LINE, 0},
    {"form", LINE, 0},
    {"frame", EMPTY, 0},
    {"frameset", LINE, 0},
    {"h1", LINE, 0},
    {"h2", LINE, 0},
    {"h3", LINE, 0},
    {"h4", LINE, 0},
    {"h5", LINE, 0},
    {"h6", LINE, 0},
    {"head", LINE, 6},
    {"header", LINE, 0},
    {"hgroup", LINE, 0},
    {"hr", LINE | EMPTY, 0},
    {"html", LINE, 0},
    {"i", 0, 0},
    {"iframe", BOX, 0},
    {"img", GAP | EMPTY, 0},
    {"input", GAP | EMPTY, 0},
    {"isindex", EMPTY, 0},
    {"kbd", 0, 0},
    {"keygen", OPEN, 0},
    {"label", GAP, 0},
    {"legend", LINE, 0},
    {"li", LINE, 0},
    {"link", EMPTY, 0},
    {"listing", LINE, 0},
    {"main", LINE, 0},
    {"map", 0, 0},
    {"menu", LINE, 0},
    {"meta", EMPTY, 0},
    {"nav", LINE, 0},
    {"noembed", DROP, 0},
    {"noframes", DROP, 0},
    {"noscript", DROP, 0},
    {"object", BOX, 0},
    {"ol", LINE, 0},
    {"optgroup", LINE, 0},
    {"option", LINE, 0},
    {"p", LINE, 0},
    {"param", EMPTY, 0},
    {"plaintext", LINE, 0},
    {"pre", LINE, 0},
    {"q", 0, 0},
    {"rp", GAP, 0},
    {"rt", GAP, 0},
    {"s", 0, 0},
    {"samp", 0, 0},
    {"script", DROP | RAW, 0},
    {"search", LINE, 0},
    {"section", LINE, 0},
    {"select", BOX, 0},
    {"small", 0, 0},
    {"source", OPEN, 0},
    {"span", 0, 0},
    {"strike", 0, 0},
    {"strong", 0, 0},
    {"style", DROP | RAW, 0},
    {"sub", 0, 0},
    {"summary", LINE, 0},
    {"sup", 0, 0},
    {"svg", BOX, 0},
    {"table", LINE, 5},
    {"tbody", LINE, 4},
    {"td", GAP, 2},
    {"template", DROP, 0},
    {"textarea", LINE, 0},
    {"tfoot", LINE, 4},
    {"th", GAP, 2},
    {"thead", LINE, 4},
    {"title", TITLE, 0},
    {"tr", LINE, 3},
    {"track", OPEN, 0},
    {"tt", 0, 0},
    {"u", 0, 0},
    {"ul", LINE, 0},
    {"var", 0, 0},
    {"video", BOX, 0},
    {"wbr", OPEN, 0},
    {"xmp", LINE, 0},
};

#define ELEMENTS (sizeof elements / sizeof elements[0])

/* Which open elements the start tags on the right end. */
static const struct rule {
    const char *open, *ended_by;
} rules[] = {
    {"a", "a fieldset table td th"},
    {"address", "dd dl dt form li ul"},
    {"b i", "center p td th"},
    {"big s small strike tt", "p"},
    {"caption col", "col colgroup tbody tfoot thead tr"},
    {"colgroup", "colgroup tbody tfoot thead tr"},
    {"dd", "dt"},
    {"dir menu", "dd dl dt form ul"},
    {"dl", "form li"},
    {"dt", "dd dl"},
    {"font", "center td th"},
    {"form hr", "form"},
    {"h1 h2 h3 h4 h5 h6", "fieldset form li p table"},
    {"head", "a abbr acronym address b bdo big blockquote body br center cite code dd dfn dir div dl dt em fieldset "
             "font form frameset h1 h2 h3 h4 h5 h6 hr i iframe img kbd li listing map menu ol p pre q s samp small "
             "span strike strong sub sup table tt u ul var xmp"},
    {"legend", "fieldset"},
    {"li", "li"},
    {"link style title", "body frameset"},
    {"listing pre xmp", "dd dl dt fieldset form li table ul"},
    {"ol", "form ul"},
    {"option", "optgroup option"},
    {"p", "address blockquote body caption center col colgroup dd dir div dl dt fieldset form frameset h1 h2 h3 h4 "
          "h5 h6 head hr li listing menu ol p pre table tbody td tfoot th title tr ul xmp"},
    {"script", "noscript"},
    {"span", "td th"},
    {"tbody thead", "tbody tfoot"},
    {"td th", "tbody td tfoot th tr"},
    {"tfoot", "tbody"},
    {"tr", "tbody tfoot tr"},
    {"u", "p td th"},
    {"ul", "address form menu ol pre"},
};

/* The first eight letters; what is longer differs in these or in its length. */
static uint64_t key_of(const char *name, size_t length) {
    uint64_t key = 0;
    memcpy(&key, name, length < sizeof key ? length : sizeof key);
    return key;
}

static size_t slot_of(uint64_t key) {
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NIGH__ELEMENT_BITS));
}

static unsigned id_of(const struct nigh__html_elements *known, uint64_t key, const char *name, size_t length) {
    for (size_t slot = slot_of(key); known->slots[slot] != 0; slot = (slot + 1) % NIGH__ELEMENT_SLOTS) {
        const unsigned id = known->slots[slot];
        if (known->keys[id] != key) continue;
        const char *other = elements[id - 1].name;
        if ((length <= sizeof key || strncmp(other, name, length) == 0) && other[length] == '\0') return id;
    }
    return 0;
}

static unsigned id_of_name(const struct nigh__html_elements *known, const char *name) {
    const size_t length = strcspn(name, " ");
    return id_of(known, key_of(name, length), name, length);
}

/* The next name of a list, and behind it. */
static unsigned next_of(const struct nigh__html_elements *known, const char **list) {
    const size_t length = strcspn(*list, " ");
    const unsigned id = id_of_name(known, *list);
    *list += length + ((*list)[length] == ' ');
    return id;
}

static void rule_add(struct nigh__html_elements *known, const struct rule *rule) {
    for (const char *open = rule->open; *open != '\0';) {
        uint64_t *set = known->ended_by[next_of(known, &open)];
        for (const char *by = rule->ended_by; *by != '\0';) {
            const unsigned id = next_of(known, &by);
            set[id / 64] |= UINT64_C(1) << id % 64;
        }
    }
}

void nigh__html_elements_init(struct nigh__html_elements *known) {
    NIGH__ASSERT(ELEMENTS < NIGH__ELEMENT_OTHERS);
    memset(known, 0, sizeof *known);
    for (unsigned id = 1; id <= ELEMENTS; id++) {
        const struct element *element = elements + id - 1;
        known->keys[id] = key_of(element->name, strlen(element->name));
        known->flags[id] = element->flags;
        known->ranks[id] = element->rank;
        size_t slot = slot_of(known->keys[id]);
        while (known->slots[slot] != 0) slot = (slot + 1) % NIGH__ELEMENT_SLOTS;
        known->slots[slot] = (uint8_t)id;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) rule_add(known, rules + i);
    known->head = id_of_name(known, "head");
    known->body = id_of_name(known, "body");
    known->html = id_of_name(known, "html");
    known->paragraph = id_of_name(known, "p");
}

/* A name that is not known gets a number by its letters, which others may have too. */
static unsigned other_id(const char *name, size_t length) {
    uint64_t mixed = length;
    for (size_t i = 0; i < length; i++) mixed = (mixed ^ (uint8_t)name[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return NIGH__ELEMENT_OTHERS + (unsigned)(mixed >> 57);
}

unsigned nigh__html_element(const struct nigh__html_elements *known, const char *name, size_t length) {
    uint64_t key;
    memcpy(&key, name, sizeof key);
    const unsigned id = id_of(known, key, name, length);
    return id != 0 ? id : other_id(name, length);
}
