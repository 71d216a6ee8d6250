/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters, each pair side by side:
 *
 *     kept  debian/a                  near-copy  debian/b
 *     similarity 0.93 - 5 bits apart - 2 words only in the left, 1 only in the right
 *     +---------------------------+---------------------------+
 *     | ... words of [left] that  | ... words of [right] that |     a stretch with differences
 *     +---------------------------+---------------------------+
 *     |              ... 120 words the same ...               |     can be unfolded
 *     +---------------------------+---------------------------+
 *     | and so [on here] .        | and so [forth] .          |
 *     +---------------------------+---------------------------+
 *
 * Text that both have stands in the page once, so a long pair costs little. Texts are compared
 * whole, and the numbers of words are those of the whole texts; what is shown is limited. If a
 * text is too long to be compared, its beginning is shown, without marks.
 */
#include "base/bytes.h"
#include "dedup/report_diff.h"
#include "dedup/report_parts.h"
#include "document/utf8.h"

#define CONTEXT 16u    /* words around a difference */
#define MIN_FOLD 32u   /* fewer words are not worth hiding */
#define COPY_SHOWN 60u /* words of a text that both have */
#define WRAPPED 65u    /* a line of so many bytes may have been wrapped */
#define MAX_SPACES 40u /* of an indentation */
#define MAX_WORD 200u  /* bytes of a word that are shown */

/* ------------------------------------------------------------------ words */

struct side {
    const char *text;
    const struct nigh__diff_word *words;
};

/* Whether the line that ends before `end` is so long that it was wrapped there, and means nothing by it. */
static bool is_wrapped(const char *text, size_t end) {
    for (size_t i = 1; i <= WRAPPED; i++)
        if (i > end || text[end - i] == '\n') return false;
    return true;
}

/* The space before a word, with its line breaks (two at most) and the indentation after them. */
static void put_space(struct nigh__markup *page, const struct side *side, size_t word) {
    const size_t begin = word == 0 ? 0 : side->words[word - 1].end;
    const size_t end = side->words[word].begin;
    size_t lines = 0;
    size_t spaces = 0;
    for (size_t i = begin; i < end; i++) {
        const bool line = side->text[i] == '\n';
        lines += line ? 1 : 0;
        spaces = line ? 0 : side->text[i] == '\t' ? spaces + 4 : spaces + 1;
    }
    if (lines == 1 && spaces == 0 && is_wrapped(side->text, begin)) {
        nigh__markup_bytes(page, " ", 1);
        return;
    }
    nigh__markup_bytes(page, "\n\n", nigh__smaller(lines, 2));
    nigh__markup_put(page, "%*s", (int)nigh__smaller(spaces, MAX_SPACES), "");
}

static size_t shown_of_word(const struct side *side, const struct nigh__diff_word *word) {
    const size_t length = word->end - word->begin;
    return length <= MAX_WORD ? length : nigh__utf8_cut(side->text + word->begin, MAX_WORD);
}

/* Words [first, first + count) with the space between them. */
static void put_words(struct nigh__markup *page, const struct side *side, size_t first, size_t count) {
    for (size_t i = first; i < first + count; i++) {
        if (i > first) put_space(page, side, i);
        const struct nigh__diff_word *word = &side->words[i];
        const size_t length = shown_of_word(side, word);
        nigh__page_text(page, side->text + word->begin, length, NIGH__PAGE_TEXT);
        if (length < word->end - word->begin) nigh__markup_put(page, "\u2026");
    }
}

static uint64_t count_letters(const struct nigh__diff_word *words, size_t first, size_t count) {
    uint64_t letters = 0;
    for (size_t i = first; i < first + count; i++) letters += words[i].letters ? 1 : 0;
    return letters;
}

static void put_fold(struct nigh__markup *page, const struct side *side, size_t first, size_t count, size_t shown) {
    nigh__markup_put(page, "<details class=\"fold\"><summary>\u2026 ");
    nigh__page_count(page, count_letters(side->words, first, count), "word", "words");
    nigh__markup_put(page, " the same \u2026</summary><div dir=\"auto\">");
    put_words(page, side, first, shown);
    nigh__markup_put(page, "%s</div></details>\n", shown < count ? " \u2026" : "");
}

/* -------------------------------------------------------------- stretches */

/* A run, or a part of one; of the same ones those that are folded. */
struct piece {
    struct nigh__diff_run run;
    bool folded;
    uint32_t shown; /* of its words; fewer than there are: the limit is reached */
};

static bool add_piece(struct nigh__markup *page, struct nigh__array *pieces, struct nigh__diff_run run, uint32_t skip,
                      uint32_t count, bool folded) {
    if (count == 0) return true;
    struct piece *piece = nigh__array_add(page->context, pieces, 1);
    if (piece == NULL) return false;
    *piece = (struct piece){{run.kind, run.left + skip, run.right + skip, count}, folded, count};
    return true;
}

/* Moves the end of a context, so that no word is torn off what it is joined to ("genome-wide"). */
static uint32_t fit_context(const struct nigh__diff_word *words, uint32_t at, bool forwards) {
    for (uint32_t moved = 0; moved < MIN_FOLD / 4; moved++) {
        const uint32_t edge = forwards ? at + moved : at - moved;
        if (words[edge].begin > words[edge - 1].end) return edge;
    }
    return at;
}

/* Cuts the middle out of runs that are the same; at the ends of the text all but the words next to a difference. */
static bool cut_run(struct nigh__markup *page, struct nigh__array *pieces, const struct nigh__diff_word *words,
                    struct nigh__diff_run run, bool first, bool last) {
    uint32_t head = first ? 0 : CONTEXT;
    uint32_t tail = last ? 0 : CONTEXT;
    if (first && last) head = COPY_SHOWN;
    if (run.kind != NIGH__DIFF_SAME || run.count < head + tail + MIN_FOLD)
        return add_piece(page, pieces, run, 0, run.count, false);
    if (head > 0) head = fit_context(words, run.left + head, true) - run.left;
    if (tail > 0) tail = run.left + run.count - fit_context(words, run.left + run.count - tail, false);
    const uint32_t middle = run.count - head - tail;
    return add_piece(page, pieces, run, 0, head, false) && add_piece(page, pieces, run, head, middle, true) &&
           add_piece(page, pieces, run, head + middle, tail, false);
}

static bool cut_runs(struct nigh__markup *page, const struct nigh__diff *diff, struct nigh__array *pieces) {
    const struct nigh__diff_run *runs = diff->runs.data;
    for (size_t i = 0; i < diff->runs.count; i++)
        if (!cut_run(page, pieces, diff->left.data, runs[i], i == 0, i + 1 == diff->runs.count)) return false;
    return true;
}

/* How many of the first words fit into *room bytes, which they take. */
static uint32_t fitting_words(const struct side *side, size_t first, uint32_t count, size_t *room) {
    for (uint32_t i = 0; i < count; i++) {
        const size_t length = shown_of_word(side, &side->words[first + i]) + 1;
        if (length > *room) return i;
        *room -= length;
    }
    return count;
}

/*
 * Sees to it that no side shows more than NIGH__REPORT_MAX_TEXT bytes.  Stretches with differences come
 * first, what is folded takes what they leave.  Whether all differences are shown.
 */
static bool limit_pieces(struct nigh__array *pieces, const struct side *left, const struct side *right) {
    struct piece *piece = pieces->data;
    size_t room[2] = {NIGH__REPORT_MAX_TEXT, NIGH__REPORT_MAX_TEXT};
    bool whole = true;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct nigh__diff_run *run = &piece[i].run;
        if (piece[i].folded) continue;
        uint32_t shown = run->count;
        if (run->kind != NIGH__DIFF_RIGHT) shown = fitting_words(left, run->left, shown, &room[0]);
        if (run->kind != NIGH__DIFF_LEFT) shown = fitting_words(right, run->right, shown, &room[1]);
        if (shown < run->count) room[0] = run->kind == NIGH__DIFF_RIGHT ? room[0] : 0;
        if (shown < run->count) room[1] = run->kind == NIGH__DIFF_LEFT ? room[1] : 0;
        whole = whole && shown == run->count;
        piece[i].shown = shown;
    }
    for (size_t i = 0; i < pieces->count; i++)
        if (piece[i].folded) piece[i].shown = fitting_words(left, piece[i].run.left, piece[i].run.count, &room[0]);
    return whole;
}

/* The words of one side of pieces that follow each other, with those that the other has not marked. */
static void put_cell(struct nigh__markup *page, const struct side *side, const struct piece *pieces, size_t count,
                     bool right) {
    const enum nigh__diff_kind only = right ? NIGH__DIFF_RIGHT : NIGH__DIFF_LEFT;
    bool begun = false;
    nigh__markup_put(page, "<div dir=\"auto\">");
    for (size_t i = 0; i < count; i++) {
        const struct nigh__diff_run *run = &pieces[i].run;
        if ((run->kind != NIGH__DIFF_SAME && run->kind != only) || pieces[i].shown == 0) continue;
        const size_t first = right ? run->right : run->left;
        if (begun) put_space(page, side, first);
        if (!begun && first > 0) nigh__markup_put(page, "\u2026 ");
        begun = true;
        if (run->kind == only) nigh__markup_put(page, "<mark class=\"%s\">", right ? "r" : "l");
        put_words(page, side, first, pieces[i].shown);
        if (run->kind == only) nigh__markup_put(page, "</mark>");
        if (pieces[i].shown < run->count) nigh__markup_put(page, " \u2026");
    }
    nigh__markup_put(page, "</div>");
}

static void put_pieces(struct nigh__markup *page, const struct side *left, const struct side *right,
                       const struct nigh__array *pieces) {
    const struct piece *piece = pieces->data;
    size_t at = 0;
    while (at < pieces->count) {
        if (piece[at].folded) {
            put_fold(page, left, piece[at].run.left, piece[at].run.count, piece[at].shown);
            at++;
            continue;
        }
        size_t end = at;
        bool differs = false;
        bool any = false;
        for (; end < pieces->count && !piece[end].folded; end++) {
            differs = differs || piece[end].run.kind != NIGH__DIFF_SAME;
            any = any || piece[end].shown > 0;
        }
        if (!any) {
            at = end;
            continue;
        }
        nigh__markup_put(page, "<div class=\"%s\">", differs ? "two" : "one");
        put_cell(page, left, piece + at, end - at, false);
        if (differs) put_cell(page, right, piece + at, end - at, true);
        nigh__markup_put(page, "</div>\n");
        at = end;
    }
}

/* ------------------------------------------------------------------ pairs */

/* The whole text, or of one that is too long to be compared the beginning. */
static size_t compared_length(const struct nigh__report_text *text) {
    if (text->text_length <= NIGH__REPORT_MAX_COMPARED) return text->text_length;
    return nigh__utf8_cut(text->text, NIGH__REPORT_MAX_TEXT);
}

static bool is_cut(const struct nigh__report_text *text) {
    return text->cut || text->text_length > NIGH__REPORT_MAX_COMPARED;
}

static void put_name(struct nigh__markup *page, const char *class, const char *tag,
                     const struct nigh__report_text *text) {
    nigh__markup_put(page, "<div><span class=\"tag %s\">%s</span> <bdi class=\"id\">", class, tag);
    nigh__page_id(page, text->id, text->id_length);
    nigh__markup_put(page, "</bdi>");
    if (text->record > 0) {
        nigh__markup_put(page, " <small>record ");
        nigh__page_number(page, text->record);
        nigh__markup_put(page, ", ");
        nigh__page_count(page, text->bytes, "byte", "bytes");
        nigh__markup_put(page, "</small>");
    }
    nigh__markup_put(page, "</div>");
}

/* "0.953"; 1 is only what is 1. */
static void put_similarity(struct nigh__markup *page, double similarity) {
    if (!(similarity >= 0)) {
        nigh__markup_put(page, "<span>not verified</span>");
        return;
    }
    unsigned mille = similarity >= 1 ? 1000 : (unsigned)(similarity * 1000 + 0.5);
    if (similarity < 1 && mille == 1000) mille = 999;
    nigh__markup_put(page, "<span>similarity <b>%u.%03u</b></span>", mille / 1000, mille % 1000);
}

/* Words that only one side has. */
static uint64_t count_only(const struct nigh__diff *diff, enum nigh__diff_kind kind) {
    const struct nigh__diff_run *runs = diff->runs.data;
    const struct nigh__diff_word *words = kind == NIGH__DIFF_LEFT ? diff->left.data : diff->right.data;
    uint64_t count = 0;
    for (size_t i = 0; i < diff->runs.count; i++) {
        if (runs[i].kind == kind)
            count += count_letters(words, kind == NIGH__DIFF_LEFT ? runs[i].left : runs[i].right, runs[i].count);
    }
    return count;
}

static bool nothing_differs(const struct nigh__diff *diff) {
    const struct nigh__diff_run *runs = diff->runs.data;
    return diff->runs.count == 0 || (diff->runs.count == 1 && runs[0].kind == NIGH__DIFF_SAME);
}

static void put_only(struct nigh__markup *page, uint64_t words, const char *class, const char *where) {
    if (words == 0) return;
    nigh__markup_put(page, " <span><mark class=\"%s\">", class);
    nigh__page_count(page, words, "word", "words");
    nigh__markup_put(page, "</mark> %s</span>", where);
}

static void put_differences(struct nigh__markup *page, const struct nigh__report_pair *pair,
                            const struct nigh__diff *diff) {
    const bool cut = is_cut(&pair->kept) || is_cut(&pair->other);
    if (pair->copy)
        nigh__markup_put(page, " <span>the same text</span>");
    else if (cut)
        nigh__markup_put(page, " <span>too long to be compared word by word</span>");
    else if (nothing_differs(diff))
        nigh__markup_put(page, " <span>no word differs</span>");
    if (pair->copy || cut) return;
    put_only(page, count_only(diff, NIGH__DIFF_LEFT), "l", "only in the kept one");
    put_only(page, count_only(diff, NIGH__DIFF_RIGHT), "r", "only in the other");
}

static void put_facts(struct nigh__markup *page, const struct nigh__report_pair *pair, const struct nigh__diff *diff) {
    nigh__markup_put(page, "<p class=\"facts\">");
    put_similarity(page, pair->similarity);
    if (pair->distance != NIGH_ALL) {
        nigh__markup_put(page, " <span><b>");
        nigh__page_number(page, pair->distance);
        nigh__markup_put(page, "</b> %s apart</span>", pair->distance == 1 ? "bit" : "bits");
    }
    if (pair->kept.text_length > 0 || pair->other.text_length > 0) put_differences(page, pair, diff);
    nigh__markup_put(page, "</p>\n");
}

static void put_limit(struct nigh__markup *page) {
    nigh__markup_put(page, "<p class=\"facts\"><span>only the beginning is shown</span></p>\n");
}

static void put_stretches(struct nigh__markup *page, const struct nigh__report_text *left,
                          const struct nigh__report_text *right, const struct nigh__diff *diff) {
    const struct side left_side = {left->text, diff->left.data};
    const struct side right_side = {right->text, diff->right.data};
    struct nigh__array pieces = NIGH__ARRAY(struct piece);
    if (cut_runs(page, diff, &pieces)) {
        const bool whole = limit_pieces(&pieces, &left_side, &right_side);
        put_pieces(page, &left_side, &right_side, &pieces);
        if (!whole) put_limit(page);
    } else {
        page->failed = true;
    }
    nigh__array_release(page->context, &pieces);
}

/* Two beginnings that cannot be compared, one beside the other. */
static void put_beginnings(struct nigh__markup *page, const struct nigh__report_pair *pair) {
    const struct nigh__report_text *texts[2] = {&pair->kept, &pair->other};
    const int sides = pair->copy ? 1 : 2;
    nigh__markup_put(page, "<div class=\"%s\">", pair->copy ? "one" : "two");
    for (int i = 0; i < sides; i++) {
        size_t length = compared_length(texts[i]);
        if (length > NIGH__REPORT_MAX_TEXT) length = nigh__utf8_cut(texts[i]->text, NIGH__REPORT_MAX_TEXT);
        nigh__markup_put(page, "<div dir=\"auto\">");
        nigh__page_text(page, texts[i]->text, length, NIGH__PAGE_TEXT);
        nigh__markup_put(page, "</div>");
    }
    nigh__markup_put(page, "</div>\n");
    put_limit(page);
}

static nigh_status put_pair(struct nigh__markup *page, const struct nigh__report_pair *pair, nigh_error *error) {
    const bool cut = is_cut(&pair->kept) || is_cut(&pair->other);
    struct nigh__diff diff;
    nigh_status status = nigh__diff_make(page->context, pair->kept.text, cut ? 0 : pair->kept.text_length,
                                         pair->other.text, cut ? 0 : pair->other.text_length, &diff, error);
    if (status == NIGH_OK) {
        nigh__markup_put(page, "<article class=\"pair\"><div class=\"two names\">");
        put_name(page, "kept", "kept", &pair->kept);
        put_name(page, pair->copy ? "copy" : "near", pair->copy ? "copy" : "near-copy", &pair->other);
        nigh__markup_put(page, "</div>\n");
        put_facts(page, pair, &diff);
        if (cut)
            put_beginnings(page, pair);
        else
            put_stretches(page, &pair->kept, &pair->other, &diff);
        nigh__markup_put(page, "</article>\n");
    }
    nigh__diff_release(page->context, &diff);
    return status;
}

/* --------------------------------------------------------------- clusters */

static void put_others(struct nigh__markup *page, const struct nigh__report_cluster *cluster) {
    const uint64_t told = (uint64_t)cluster->pair_count + 1;
    const uint64_t left = cluster->documents > told ? cluster->documents - told : 0;
    const size_t listed = nigh__smaller(cluster->other_count, NIGH__REPORT_MAX_IDS);
    if (listed == 0 && left == 0) return;
    nigh__markup_put(page, "<details class=\"ids\"><summary>");
    nigh__page_count(page, left > listed ? left : listed, "more document", "more documents");
    nigh__markup_put(page, " of this cluster</summary>\n<ul>\n");
    for (size_t i = 0; i < listed; i++) {
        nigh__markup_put(page, "<li><bdi class=\"id\">");
        nigh__page_id(page, cluster->others[i].id, cluster->others[i].id_length);
        nigh__markup_put(page, "</bdi></li>\n");
    }
    if (left > listed) {
        nigh__markup_put(page, "<li>%s", listed == 0 ? "" : "and ");
        nigh__page_number(page, left - listed);
        nigh__markup_put(page, " that are not listed</li>\n");
    }
    nigh__markup_put(page, "</ul></details>\n");
}

/* Where no pair is known, the document that is kept. */
static nigh_status put_kept(struct nigh__markup *page, const struct nigh__report_text *kept, nigh_error *error) {
    const size_t length = compared_length(kept);
    struct nigh__diff itself;
    nigh_status status = nigh__diff_make(page->context, kept->text, length, kept->text, length, &itself, error);
    if (status == NIGH_OK) {
        nigh__markup_put(page, "<article class=\"pair\"><div class=\"names\">");
        put_name(page, "kept", "kept", kept);
        nigh__markup_put(page, "</div>\n");
        put_stretches(page, kept, kept, &itself);
        if (is_cut(kept)) put_limit(page);
        nigh__markup_put(page, "</article>\n");
    }
    nigh__diff_release(page->context, &itself);
    return status;
}

static nigh_status put_cluster(struct nigh__markup *page, const struct nigh__report_cluster *cluster, const char *why,
                               bool open, nigh_error *error) {
    const struct nigh__report_text *kept = cluster->pair_count > 0 ? &cluster->pairs[0].kept : &cluster->kept;
    nigh__markup_put(page, "<details class=\"cluster\"%s><summary><b>", open ? " open" : "");
    nigh__page_count(page, cluster->documents, "document", "documents");
    nigh__markup_put(page, "</b> <bdi class=\"id\">");
    nigh__page_id(page, kept->id, kept->id_length);
    nigh__markup_put(page, "</bdi></summary>\n");
    if (why != NULL) nigh__markup_put(page, "<p class=\"why\">%s</p>\n", why);
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < cluster->pair_count && status == NIGH_OK; i++)
        status = put_pair(page, &cluster->pairs[i], error);
    if (cluster->pair_count == 0 && kept->text_length > 0) status = put_kept(page, kept, error);
    put_others(page, cluster);
    nigh__markup_put(page, "</details>\n");
    return status;
}

nigh_status nigh__page_clusters(struct nigh__markup *page, const char *heading, const char *explanation,
                                const char *why, const struct nigh__report_cluster *clusters, size_t count,
                                nigh_error *error) {
    if (count == 0) return NIGH_OK;
    nigh_status status = NIGH_OK;
    nigh__markup_put(page, "<section><h2>%s</h2>\n<p class=\"hint\">%s</p>\n", heading, explanation);
    for (size_t i = 0; i < count && status == NIGH_OK; i++)
        status = put_cluster(page, &clusters[i], why, i == 0 || clusters[i].pair_count == 1, error);
    nigh__markup_put(page, "</section>\n");
    return status;
}
