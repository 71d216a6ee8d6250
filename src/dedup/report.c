/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page as a whole: the result, the histograms, the facts, and clusters to look at.
 *
 * Safety.  Texts and ids are written by nigh__page_text() alone, which leaves no
 * character that could begin or end markup; none of them goes into an attribute.
 * Behind that stands the policy in the head: no image, no font, no address is loaded, whatever
 * a text may hold, and the only style and the only script are those whose hashes are
 * given (so there are no style attributes either).  Folding is <details>; what the
 * script adds is in report_script.h, and the page reads the same without.
 */
#include "dedup/report.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dedup/report_parts.h"
#include "dedup/report_script.h"
#include "dedup/report_style.h"

#define BAR_WIDTH 1000 /* of the drawing of shares, which is stretched to the page */
#define BAR_MIN 5
#define MAX_TITLE 400u

static void put_literal(struct nigh__markup *page, const char *text) { nigh__markup_bytes(page, text, strlen(text)); }

static void put_head(struct nigh__markup *page, const struct nigh__report *report) {
    const char *title = report->title == NULL ? "" : report->title;
    put_literal(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                      "'sha256-" NIGH__REPORT_STYLE_HASH "'; script-src 'sha256-" NIGH__REPORT_SCRIPT_HASH
                      "'; base-uri 'none'; form-action 'none'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n"
                      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>Near-duplicates: ");
    nigh__page_text(page, title, nigh__smaller(strlen(title), MAX_TITLE), NIGH__PAGE_PLAIN);
    put_literal(page, "</title>\n<style>");
    for (size_t i = 0; i < NIGH__REPORT_STYLE_PARTS; i++) put_literal(page, nigh__report_style[i]);
    put_literal(page, "</style>\n</head>\n<body>\n");
}

/* ---------------------------------------------------------------- summary */

static void put_sentence(struct nigh__markup *page, const struct nigh__report *report) {
    const uint64_t gone = report->documents > report->kept ? report->documents - report->kept : 0;
    put_literal(page, "<p class=\"lead\">");
    if (report->documents == 0) {
        put_literal(page, "There was no document.");
    } else if (gone == 0) {
        put_literal(page, "No two documents are nearly the same: ");
        nigh__markup_put(page, report->documents == 1 ? "the only one stays." : "all of them stay.");
    } else {
        nigh__page_number(page, gone);
        put_literal(page, " of ");
        nigh__page_count(page, report->documents, "document", "documents");
        put_literal(page,
                    gone == 1 ? " is a copy or near-copy, and can go; " : " are copies or near-copies, and can go; ");
        nigh__page_number(page, report->kept);
        put_literal(page, report->kept == 1 ? " stays." : " stay.");
    }
    put_literal(page, "</p>\n");
}

struct share {
    const char *class, *name;
    uint64_t count;
};

/* Each as wide as its part; what is there at all can be seen. */
static void draw_shares(struct nigh__markup *page, const struct share *shares, size_t count) {
    double all = 0;
    double room = BAR_WIDTH;
    for (size_t i = 0; i < count; i++) {
        all += (double)shares[i].count;
        if (shares[i].count > 0) room -= BAR_MIN;
    }
    if (!(all > 0)) return;
    nigh__markup_put(page,
                     "<svg class=\"shares\" viewBox=\"0 0 %d 10\" preserveAspectRatio=\"none\" role=\"img\" "
                     "aria-label=\"shares of documents; the numbers follow\">",
                     BAR_WIDTH);
    double at = 0;
    for (size_t i = 0; i < count; i++) {
        if (shares[i].count == 0) continue;
        const double width = BAR_MIN + (double)shares[i].count / all * room;
        const struct nigh__tenths x = nigh__tenths(at);
        const struct nigh__tenths wide = nigh__tenths(width);
        nigh__markup_put(page, "<rect class=\"%s\" x=\"%d.%d\" width=\"%d.%d\" height=\"10\"><title>%s</title></rect>",
                         shares[i].class, x.whole, x.rest, wide.whole, wide.rest, shares[i].name);
        at += width;
    }
    nigh__markup_put(page, "</svg>\n");
}

static void put_card(struct nigh__markup *page, const struct share *share, uint64_t documents, bool with_share) {
    nigh__markup_put(page, "<div class=\"%s\"><dt>%s</dt><dd>", share->class, share->name);
    nigh__page_number(page, share->count);
    if (with_share) {
        nigh__markup_put(page, " <small>");
        nigh__page_share(page, share->count, documents);
        nigh__markup_put(page, "</small>");
    }
    nigh__markup_put(page, "</dd></div>\n");
}

static void put_summary(struct nigh__markup *page, const struct nigh__report *report) {
    const char *title = report->title == NULL ? "" : report->title;
    const struct share shares[] = {
        {"kept", "kept", report->kept}, {"near", "near-copies", report->near}, {"copy", "copies", report->copies}};
    const size_t count = sizeof shares / sizeof shares[0];
    put_literal(page, "<header><p class=\"hint\">Near-duplicates in</p>\n<h1><bdi>");
    nigh__page_id(page, title, strlen(title));
    put_literal(page, "</bdi></h1>\n");
    put_sentence(page, report);
    draw_shares(page, shares, count);
    put_literal(page, "<dl class=\"cards\">\n");
    put_card(page, &(struct share){"all", "documents", report->documents}, 0, false);
    for (size_t i = 0; i < count; i++) put_card(page, &shares[i], report->documents, true);
    put_card(page, &(struct share){"all", "clusters", report->clusters}, 0, false);
    put_literal(page, "</dl>\n");
    if (report->warning != NULL && report->warning[0] != '\0') {
        put_literal(page, "<p class=\"warning\" role=\"note\"><b>Careful:</b> ");
        nigh__page_text(page, report->warning, strlen(report->warning), NIGH__PAGE_TEXT);
        put_literal(page, "</p>\n");
    }
    put_literal(page, "</header>\n");
}

/* ------------------------------------------------------------------- page */

static void put_charts(struct nigh__markup *page, const struct nigh__report *report) {
    if (report->distance_count == 0 && report->similarity_count == 0 && report->size_count == 0) return;
    const char *smallest = report->size_count > 0 ? report->sizes[0].label : NULL;
    const bool alone = smallest != NULL && strcmp(smallest, "1") == 0;
    put_literal(page, "<section class=\"charts\">\n");
    nigh__page_chart(page, "How far pairs are apart", report->distance_caption, report->distances,
                     report->distance_count);
    nigh__page_chart(page, "How alike pairs are", "Jaccard index of a pair (exact copies left out)",
                     report->similarities, report->similarity_count);
    nigh__page_chart(page, "How large clusters are",
                     alone ? "documents in a cluster (1: like no other document)" : "documents in a cluster",
                     report->sizes, report->size_count);
    put_literal(page, "</section>\n");
}

static void put_fact_table(struct nigh__markup *page, const struct nigh__report *report) {
    if (report->fact_count == 0) return;
    put_literal(page, "<section><h2>How it was done</h2>\n<table class=\"done\">\n");
    for (size_t i = 0; i < report->fact_count; i++) {
        put_literal(page, "<tr><th scope=\"row\">");
        nigh__page_string(page, report->facts[i].name);
        put_literal(page, "</th><td>");
        nigh__page_string(page, report->facts[i].value);
        put_literal(page, "</td></tr>\n");
    }
    put_literal(page, "</table></section>\n");
}

nigh_status nigh__report_make(const nigh_context *context, const struct nigh__report *report, struct nigh__array *html,
                              nigh_error *error) {
    struct nigh__markup page = {.context = context, .out = html};
    put_head(&page, report);
    put_summary(&page, report);
    put_literal(&page, "<main>\n");
    put_charts(&page, report);
    nigh_status status =
        nigh__page_clusters(&page, "The largest clusters",
                            "Words that only one of the two has are marked on its side; long stretches that are the "
                            "same can be unfolded.",
                            report->why, report->largest, report->largest_count, error);
    if (status == NIGH_OK)
        status = nigh__page_clusters(&page, "Typical clusters", "What most of the others look like.", report->why,
                                     report->typical, report->typical_count, error);
    if (status != NIGH_OK) return status;
    put_fact_table(&page, report);
    put_literal(&page, "</main>\n<footer>Made by nigh. This page holds all it needs, and loads nothing."
                       "</footer>\n<script>");
    for (size_t i = 0; i < NIGH__REPORT_SCRIPT_PARTS; i++) put_literal(&page, nigh__report_script[i]);
    put_literal(&page, "</script>\n</body>\n</html>\n");
    if (!page.failed) return NIGH_OK;
    return nigh__no_memory(error, "for the report");
}
