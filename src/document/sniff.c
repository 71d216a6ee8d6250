/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers go by their magic numbers, a tar by the checksum of its first
 * header.  Formats are tried in this order:
 *
 *   1. WARC:  "WARC/" begins it.
 *   2. JSONL: '{' and then, on the same line, '"' or '}'.
 *   3. HTML:  a doctype, <html>, <head> or <body>, behind any white space,
 *             comments and processing instructions.
 *   4. TREC:  a line among the first that begins with <DOC>.
 *   5. HTML:  any tag, where the name ends in .html, .htm or .xhtml.
 *   6. JSON:  '[' and then '{' and '"' or '}', and any '[' or '{' where the name ends
 *             in .json (but JSONL where the first line is whole).
 *   7. CSV, TSV: where the name ends in .csv or .tsv, and the first line names columns.
 *   8. Plain text, unless there is a NUL among the first bytes and no byte order
 *      mark that explains it.
 */
#include "document/sniff.h"

#include <string.h>

#define TAR_BLOCK 512
#define NARROW 1024    /* so much of a text of two bytes a character is looked at */
#define TREC_LOOK 4096 /* <DOC> is sought so far */

static unsigned char lower(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); }

bool nigh__same_letters(const char *a, const char *b, size_t length) {
    size_t i = 0;
    while (i < length && lower(a[i]) == lower(b[i])) i++;
    return i == length;
}

static bool begins(const uint8_t *bytes, size_t length, const char *magic, size_t magic_length) {
    return length >= magic_length && memcmp(bytes, magic, magic_length) == 0;
}

/* An octal number between spaces, as tar keeps its checksum; -1: it is none. */
static long octal(const uint8_t *field, size_t length) {
    size_t i = 0;
    long value = 0;
    while (i < length && field[i] == ' ') i++;
    size_t first = i;
    for (; i < length && field[i] >= '0' && field[i] <= '7'; i++) value = value * 8 + (field[i] - '0');
    return i == first || (i < length && field[i] != ' ' && field[i] != 0) ? -1 : value;
}

/* The sum of the header's bytes, with the eight of the sum itself taken for spaces; some took bytes for signed. */
static bool is_tar(const uint8_t *bytes, size_t length) {
    if (length < TAR_BLOCK || bytes[0] == 0) return false;
    long expected = octal(bytes + 148, 8);
    long sum = 0;
    long signed_sum = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        bool inside = i >= 148 && i < 156;
        sum += inside ? ' ' : bytes[i];
        signed_sum += inside ? ' ' : (signed char)bytes[i];
    }
    return expected == sum || expected == signed_sum;
}

static bool is_bzip2(const uint8_t *bytes, size_t length) {
    if (length < 10 || memcmp(bytes, "BZh", 3) != 0 || bytes[3] < '1' || bytes[3] > '9') return false;
    return memcmp(bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
           memcmp(bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0;
}

/* A frame, or one to be skipped, as some tools put before it. */
static bool is_zstd(const uint8_t *bytes, size_t length) {
    if (begins(bytes, length, "\x28\xb5\x2f\xfd", 4)) return true;
    return length >= 4 && (bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0;
}

static const char xz_magic[6] = {'\xfd', '7', 'z', 'X', 'Z', '\0'};

enum nigh__container nigh__sniff_container(const uint8_t *bytes, size_t length) {
    if (begins(bytes, length, "\x1f\x8b\x08", 3)) return NIGH__CONTAINER_GZIP;
    if (is_zstd(bytes, length)) return NIGH__CONTAINER_ZSTD;
    if (begins(bytes, length, xz_magic, sizeof xz_magic)) return NIGH__CONTAINER_XZ;
    if (is_bzip2(bytes, length)) return NIGH__CONTAINER_BZIP2;
    if (begins(bytes, length, "PK\3\4", 4) || begins(bytes, length, "PK\5\6", 4)) return NIGH__CONTAINER_ZIP;
    return is_tar(bytes, length) ? NIGH__CONTAINER_TAR : NIGH__CONTAINER_NONE;
}

/* ---------------------------------------------------------------- formats */

bool nigh__sniff_wide(const uint8_t *bytes, size_t length) {
    return begins(bytes, length, "\xff\xfe", 2) || begins(bytes, length, "\xfe\xff", 2) ||
           begins(bytes, length, "\0\0\xfe\xff", 4);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

static bool begins_folded(const char *text, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - text) >= length && nigh__same_letters(text, word, length);
}

/* Behind the first `mark`, or at the end. */
static const char *behind(const char *text, const char *end, const char *mark) {
    size_t length = strlen(mark);
    for (; (size_t)(end - text) >= length; text++)
        if (memcmp(text, mark, length) == 0) return text + length;
    return end;
}

/* The first thing that is content: no white space, comment or instruction. */
static const char *content_of(const char *text, const char *end) {
    for (;;) {
        while (text < end && is_space(*text)) text++;
        if (begins_folded(text, end, "<!--"))
            text = behind(text, end, "-->");
        else if (begins_folded(text, end, "<?"))
            text = behind(text, end, ">");
        else
            return text;
    }
}

static bool is_html(const char *text, const char *end) {
    static const char *const starts[] = {"<!doctype html", "<html", "<head", "<body"};
    text = content_of(text, end);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (!begins_folded(text, end, starts[i])) continue;
        const char *after = text + strlen(starts[i]);
        if (after == end || is_space(*after) || *after == '>' || *after == '/') return true; /* and not <header> */
    }
    return false;
}

static bool ends_in(const char *name, size_t length, const char *ending) {
    size_t part = strlen(ending);
    return length >= part && nigh__same_letters(name + length - part, ending, part);
}

static bool is_html_name(const char *name) {
    size_t length = strlen(name);
    return ends_in(name, length, ".html") || ends_in(name, length, ".htm") || ends_in(name, length, ".xhtml");
}

/* Behind which there may be that of a compression. */
static bool is_named(const char *name, const char *ending) {
    static const char *const packed[] = {"", ".gz", ".zst", ".xz", ".bz2"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        if (ends_in(name, length, packed[i]) && ends_in(name, length - strlen(packed[i]), ending)) return true;
    return false;
}

static bool is_jsonl(const char *text, const char *end) {
    while (text < end && is_space(*text)) text++;
    if (text == end || *text != '{') return false;
    do text++;
    while (text < end && (*text == ' ' || *text == '\t'));
    return text < end && (*text == '"' || *text == '}');
}

/* Whether the first line could be all of an object; where it has no end at hand, it could. */
static bool is_whole_line(const char *text, const char *end) {
    while (text < end && is_space(*text)) text++;
    const char *last = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
    if (last == NULL) return true;
    while (last > text && is_space(last[-1])) last--;
    return last > text && last[-1] == '}';
}

/* An array of objects; by its name also one of other things, or an object of many lines. */
static bool is_json(const char *text, const char *end, const char *name) {
    while (text < end && is_space(*text)) text++;
    if (text == end || (*text != '[' && *text != '{')) return false;
    if (is_named(name, ".json")) return true;
    if (*text == '{') return false;
    do text++;
    while (text < end && is_space(*text));
    return is_jsonl(text, end);
}

/* There is a row below the first line, and that is of several columns, or of one name. */
static bool is_table(const char *text, const char *end, const char *delimiters) {
    bool columns = false;
    bool spaces = false;
    for (; text < end && *text != '\n' && *text != '\r'; text++) {
        columns = columns || (*text != '\0' && strchr(delimiters, *text) != NULL);
        spaces = spaces || *text == ' ';
    }
    while (text < end && is_space(*text)) text++;
    return text < end && (columns || !spaces);
}

static bool is_trec(const char *text, const char *end) {
    if (end - text > TREC_LOOK) end = text + TREC_LOOK;
    while (text < end) {
        while (text < end && is_space(*text)) text++;
        if (begins_folded(text, end, "<DOC>")) return true;
        text = behind(text, end, "\n");
    }
    return false;
}

static nigh_text_format format_of(const char *text, const char *end, const char *name) {
    if (begins_folded(text, end, "WARC/")) return NIGH_TEXT_WARC;
    if (is_jsonl(text, end) && (!is_named(name, ".json") || is_whole_line(text, end))) return NIGH_TEXT_JSONL;
    if (is_html(text, end)) return NIGH_TEXT_HTML;
    if (is_trec(text, end)) return NIGH_TEXT_TREC;
    if (is_json(text, end, name)) return NIGH_TEXT_JSON;
    if (is_named(name, ".csv") && is_table(text, end, ",;\t")) return NIGH_TEXT_CSV;
    if (is_named(name, ".tsv") && is_table(text, end, "\t")) return NIGH_TEXT_TSV;
    const char *content = content_of(text, end);
    return content < end && *content == '<' && is_html_name(name) ? NIGH_TEXT_HTML : NIGH_TEXT_PLAIN;
}

/* Of two and four bytes a character only HTML is told apart: the rest must be ASCII in its frame. */
static nigh_text_format wide_format(const uint8_t *bytes, size_t length, const char *name) {
    char narrow[NARROW];
    size_t count = 0;
    for (size_t i = 2; i < length && count < NARROW; i++)
        if (bytes[i] != 0 && bytes[i] < 0x80) narrow[count++] = (char)bytes[i];
    nigh_text_format format = format_of(narrow, narrow + count, name);
    return format == NIGH_TEXT_HTML ? NIGH_TEXT_HTML : NIGH_TEXT_PLAIN;
}

nigh_text_format nigh__sniff_format(const uint8_t *bytes, size_t length, const char *name) {
    if (nigh__sniff_wide(bytes, length)) return wide_format(bytes, length, name);
    const char *text = (const char *)bytes;
    const char *end = text + length;
    if (begins(bytes, length, "\xef\xbb\xbf", 3)) text += 3;
    nigh_text_format format = format_of(text, end, name); /* a WARC may hold anything */
    const bool by_name = format == NIGH_TEXT_CSV || format == NIGH_TEXT_TSV;
    if ((format == NIGH_TEXT_PLAIN || by_name) && memchr(bytes, 0, length) != NULL) return NIGH_TEXT_AUTO;
    return format;
}
