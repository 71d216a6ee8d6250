/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Labels to character sets, and the conversion of any of them to UTF-8. */
#include "document/charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <string.h>

#include "document/utf8.h"

enum charset_kind { CHARSET_UTF8, CHARSET_1252, CHARSET_ICONV };

struct nigh__charset {
    enum charset_kind kind;
    uint8_t unit;       /* bytes to leave out where a character is malformed */
    const char *iconv;  /* its name there */
    const char *labels; /* each between two spaces, in small letters */
};

static const struct nigh__charset charsets[] = {
    {CHARSET_UTF8, 1, NULL, " utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 "},
    {CHARSET_1252, 1, NULL,
     " windows-1252 cp1252 x-cp1252 latin1 latin-1 l1 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987"
     " iso-ir-100 csisolatin1 cp819 ibm819 ascii us-ascii ansi_x3.4-1968 "},
    /* The next four are found by their marks.  A label that reads in ASCII cannot be true of them. */
    {CHARSET_ICONV, 2, "UTF-16LE", " "},
    {CHARSET_ICONV, 2, "UTF-16BE", " "},
    {CHARSET_ICONV, 4, "UTF-32LE", " "},
    {CHARSET_ICONV, 4, "UTF-32BE", " "},
    {CHARSET_ICONV, 2, "UTF-16LE", " utf-16 utf-16le ucs-2 unicode iso-10646-ucs-2 csunicode unicodefeff "},
    {CHARSET_ICONV, 2, "UTF-16BE", " utf-16be unicodefffe "},
    {CHARSET_ICONV, 1, "CP1250", " windows-1250 cp1250 x-cp1250 "},
    {CHARSET_ICONV, 1, "CP1251", " windows-1251 cp1251 x-cp1251 "},
    {CHARSET_ICONV, 1, "CP1253", " windows-1253 cp1253 x-cp1253 "},
    {CHARSET_ICONV, 1, "CP1254",
     " windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso-ir-148 latin5 l5 csisolatin5 "},
    {CHARSET_ICONV, 1, "CP1255", " windows-1255 cp1255 x-cp1255 "},
    {CHARSET_ICONV, 1, "CP1256", " windows-1256 cp1256 x-cp1256 "},
    {CHARSET_ICONV, 1, "CP1257", " windows-1257 cp1257 x-cp1257 "},
    {CHARSET_ICONV, 1, "CP1258", " windows-1258 cp1258 x-cp1258 "},
    {CHARSET_ICONV, 1, "CP874", " windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 "},
    {CHARSET_ICONV, 1, "ISO-8859-2", " iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso-ir-101 latin2 l2 csisolatin2 "},
    {CHARSET_ICONV, 1, "ISO-8859-3", " iso-8859-3 iso8859-3 iso88593 iso_8859-3 iso-ir-109 latin3 l3 csisolatin3 "},
    {CHARSET_ICONV, 1, "ISO-8859-4", " iso-8859-4 iso8859-4 iso88594 iso_8859-4 iso-ir-110 latin4 l4 csisolatin4 "},
    {CHARSET_ICONV, 1, "ISO-8859-5",
     " iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso-ir-144 cyrillic csisolatincyrillic "},
    {CHARSET_ICONV, 1, "ISO-8859-6",
     " iso-8859-6 iso-8859-6-e iso-8859-6-i iso8859-6 iso88596 iso_8859-6 iso-ir-127 arabic asmo-708 ecma-114"
     " csisolatinarabic "},
    {CHARSET_ICONV, 1, "ISO-8859-7",
     " iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso-ir-126 greek greek8 elot_928 ecma-118 csisolatingreek "},
    {CHARSET_ICONV, 1, "ISO-8859-8",
     " iso-8859-8 iso-8859-8-e iso-8859-8-i iso8859-8 iso88598 iso_8859-8 iso-ir-138 hebrew visual logical"
     " csisolatinhebrew "},
    {CHARSET_ICONV, 1, "ISO-8859-10", " iso-8859-10 iso8859-10 iso885910 iso-ir-157 latin6 l6 csisolatin6 "},
    {CHARSET_ICONV, 1, "ISO-8859-13", " iso-8859-13 iso8859-13 iso885913 "},
    {CHARSET_ICONV, 1, "ISO-8859-14", " iso-8859-14 iso8859-14 iso885914 "},
    {CHARSET_ICONV, 1, "ISO-8859-15", " iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 csisolatin9 latin9 "},
    {CHARSET_ICONV, 1, "ISO-8859-16", " iso-8859-16 "},
    {CHARSET_ICONV, 1, "KOI8-R", " koi8-r koi koi8 koi8_r cskoi8r "},
    {CHARSET_ICONV, 1, "KOI8-U", " koi8-u koi8-ru "},
    {CHARSET_ICONV, 1, "IBM866", " ibm866 866 cp866 csibm866 "},
    {CHARSET_ICONV, 1, "MACINTOSH", " macintosh mac x-mac-roman csmacintosh "},
    {CHARSET_ICONV, 1, "GB18030",
     " gb18030 gbk x-gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 iso-ir-58 cp936 "},
    {CHARSET_ICONV, 1, "BIG5-HKSCS", " big5 big5-hkscs cn-big5 csbig5 x-x-big5 "},
    {CHARSET_ICONV, 1, "EUC-JP", " euc-jp x-euc-jp cseucpkdfmtjapanese "},
    {CHARSET_ICONV, 1, "ISO-2022-JP", " iso-2022-jp csiso2022jp "},
    {CHARSET_ICONV, 1, "CP932", " shift_jis shift-jis sjis x-sjis ms932 ms_kanji windows-31j csshiftjis cp932 "},
    {CHARSET_ICONV, 1, "CP949",
     " euc-kr cseuckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 iso-ir-149 csksc56011987 windows-949"
     " cp949 uhc "},
};

const struct nigh__charset *const nigh__charset_utf8 = &charsets[0];
const struct nigh__charset *const nigh__charset_windows_1252 = &charsets[1];

#define LONGEST_LABEL 40

const struct nigh__charset *nigh__charset_find(const char *label, size_t length) {
    while (length > 0 && nigh__is_space(label[0])) label++, length--;
    while (length > 0 && nigh__is_space(label[length - 1])) length--;
    if (length == 0 || length > LONGEST_LABEL) return NULL;
    char wanted[LONGEST_LABEL + 3] = " ";
    for (size_t i = 0; i < length; i++) {
        if (label[i] <= ' ') return NULL; /* a space inside would run over two labels */
        wanted[i + 1] = nigh__small(label[i]);
    }
    wanted[length + 1] = ' ';
    for (size_t i = 0; i < sizeof charsets / sizeof charsets[0]; i++)
        if (strstr(charsets[i].labels, wanted) != NULL) return &charsets[i];
    return NULL;
}

const struct nigh__charset *nigh__charset_of_mark(const char *bytes, size_t length, size_t *mark) {
    static const struct {
        const char *mark;
        size_t length, charset;
    } marks[] = {
        /* The mark of UTF-32LE begins with that of UTF-16LE. */
        {"\xff\xfe\0\0", 4, 4}, {"\0\0\xfe\xff", 4, 5}, {"\xef\xbb\xbf", 3, 0}, {"\xff\xfe", 2, 2}, {"\xfe\xff", 2, 3},
    };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (length < marks[i].length || memcmp(bytes, marks[i].mark, marks[i].length) != 0) continue;
        *mark = marks[i].length;
        return &charsets[marks[i].charset];
    }
    *mark = 0;
    return NULL;
}

bool nigh__charset_is_wide(const struct nigh__charset *charset) { return charset->unit > 1; }

uint32_t nigh__windows_1252_character(uint8_t byte) {
    static const uint16_t characters[32] = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
        0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
    };
    return characters[byte & 31];
}

static bool convert_1252(const nigh_context *context, const char *bytes, size_t length, struct nigh__array *out) {
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)bytes[i];
        if (byte < 0x80) continue;
        uint32_t character = byte < 0xa0 ? nigh__windows_1252_character(byte) : byte;
        if (!nigh__bytes_append(context, out, bytes + plain, i - plain)) return false;
        if (!nigh__utf8_append(context, out, character)) return false;
        plain = i + 1;
    }
    return nigh__bytes_append(context, out, bytes + plain, length - plain);
}

/* What iconv has still to read; it moves both. */
struct conversion {
    char *in;
    size_t left;
    bool ended;
};

/* One call: fills a piece of the stack, so that the array grows by what came out. */
static bool convert_piece(const nigh_context *context, iconv_t handle, struct conversion *from, struct nigh__array *out,
                          int *problem) {
    char piece[4096];
    char *to = piece;
    size_t room = sizeof piece;
    *problem = 0;
    if (from->ended)
        (void)iconv(handle, NULL, NULL, &to, &room);
    else if (iconv(handle, &from->in, &from->left, &to, &room) == (size_t)-1)
        *problem = errno;
    return nigh__bytes_append(context, out, piece, (size_t)(to - piece));
}

static bool convert_all(const nigh_context *context, const struct nigh__charset *charset, iconv_t handle,
                        struct conversion *from, struct nigh__array *out, size_t *first_bad) {
    size_t length = from->left;
    while (from->left > 0) {
        int problem;
        if (!convert_piece(context, handle, from, out, &problem)) return false;
        if (problem == 0 || problem == E2BIG) continue;
        if (*first_bad == NIGH__NONE) *first_bad = length - from->left;
        if (!nigh__utf8_append(context, out, 0xfffd)) return false;
        size_t skip = problem == EINVAL || from->left < charset->unit ? from->left : charset->unit;
        from->in += skip;
        from->left -= skip;
    }
    from->ended = true; /* some sets hold a character back until they know that nothing follows */
    int problem;
    return convert_piece(context, handle, from, out, &problem);
}

static nigh_status convert_iconv(const nigh_context *context, const struct nigh__charset *charset, const char *bytes,
                                 size_t length, struct nigh__array *out, size_t *first_bad) {
    iconv_t handle = iconv_open("UTF-8", charset->iconv);
    if ((intptr_t)handle == -1) return errno == ENOMEM ? NIGH_ENOMEM : NIGH_ENOTFOUND;
    struct conversion from = {.left = length};
    memcpy(&from.in, &bytes, sizeof from.in); /* iconv takes it without const and does not write there */
    bool done = convert_all(context, charset, handle, &from, out, first_bad);
    (void)iconv_close(handle);
    return done ? NIGH_OK : NIGH_ENOMEM;
}

nigh_status nigh__charset_convert(const nigh_context *context, const struct nigh__charset *charset, const char *bytes,
                                  size_t length, struct nigh__array *out, size_t *first_bad) {
    *first_bad = NIGH__NONE;
    bool done = false;
    if (charset->kind == CHARSET_ICONV) return convert_iconv(context, charset, bytes, length, out, first_bad);
    if (charset->kind == CHARSET_1252) done = convert_1252(context, bytes, length, out);
    if (charset->kind == CHARSET_UTF8) done = nigh__utf8_repair(context, bytes, length, out, first_bad);
    return done ? NIGH_OK : NIGH_ENOMEM;
}
