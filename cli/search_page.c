/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers as a page: for each query its matches, each with a bar for its similarity. A mark in the bar shows the
 * similarity that the nearest of as many unrelated documents would reach by chance.
 */
#include "search_page.h"

#include "page.h"
#include "place.h"

#define MOST_QUERIES_SHOWN 500u
#define MOST_MATCHES_SHOWN 100u

static double share_of(const struct cli_answers *answers, uint32_t distance) {
    return answers->whole == 0 ? 1.0 : 1.0 - (double)distance / (double)answers->whole;
}

static bool is_shown(const struct cli_search_page *page) { return page->more == 0; }

void cli_search_page_query(struct cli_search_page *page, const struct cli_answers *answers) {
    if (page->queries == MOST_QUERIES_SHOWN) page->more++;
    if (!is_shown(page)) return;
    page->queries++;
    cli_sink_text(page->sink, "<section><h2>query <bdi class=\"id\">");
    cli_page_text(page->sink, answers->query.text, answers->query.length);
    cli_sink_text(page->sink, "</bdi></h2>\n");
    if (answers->matches == 0)
        cli_sink_text(page->sink, "<p class=\"hint\">nothing found</p>\n");
    else
        cli_sink_text(page->sink,
                      "<table><tr><th scope=\"col\" class=\"number\">rank</th><th scope=\"col\">document</th>"
                      "<th scope=\"col\">similarity</th><th scope=\"col\" class=\"number\">distance</th></tr>\n");
}

/* Rounded down, as in the table. */
static void put_similarity(struct cli_sink *sink, const struct cli_answers *answers, uint32_t distance) {
    const double share = share_of(answers, distance);
    cli_sink_format(sink,
                    "<td>%.2f%%<svg class=\"share\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" role=\"img\" "
                    "aria-label=\"similarity\"><rect class=\"back\" width=\"100\" height=\"6\"/>"
                    "<rect class=\"part\" width=\"%.1f\" height=\"6\"/>",
                    (double)(uint64_t)(share * 10000) / 100, share * 100);
    if (answers->weighted)
        cli_sink_format(sink, "<path class=\"chance\" d=\"M%.1f 0v6\"><title>by chance %.0f%%</title></path>",
                        100 * share_of(answers, answers->chance), 100 * share_of(answers, answers->chance));
    cli_sink_text(sink, "</svg></td>");
}

void cli_search_page_match(struct cli_search_page *page, const struct cli_answers *answers,
                           const struct cli_match *match) {
    if (match->rank == 1) {
        const size_t bin = (size_t)(share_of(answers, match->distance) * CLI_SEARCH_PAGE_BINS);
        page->best[bin < CLI_SEARCH_PAGE_BINS ? bin : CLI_SEARCH_PAGE_BINS - 1]++;
    }
    if (!is_shown(page) || match->rank > MOST_MATCHES_SHOWN) return;
    cli_sink_format(page->sink, "<tr><td class=\"number\">%llu</td><td><bdi class=\"id\">",
                    (unsigned long long)match->rank);
    cli_page_text(page->sink, match->document.text, match->document.length);
    cli_sink_text(page->sink, "</bdi>");
    if (match->collection.length > 0) {
        cli_sink_text(page->sink, " <small>in ");
        cli_page_text(page->sink, match->collection.text, match->collection.length);
        cli_sink_text(page->sink, "</small>");
    }
    if (match->snippet.length > 0) {
        cli_sink_text(page->sink, "<div class=\"text\" dir=\"auto\">");
        cli_page_text(page->sink, match->snippet.text, match->snippet.length);
        cli_sink_text(page->sink, "</div>");
    }
    cli_sink_text(page->sink, "</td>");
    put_similarity(page->sink, answers, match->distance);
    cli_sink_format(page->sink, "<td class=\"number\">%s</td></tr>\n", cli_digits(match->distance).text);
}

static void put_proof(struct cli_sink *sink, const struct cli_answers *answers) {
    if (answers->exact)
        cli_sink_text(sink, "exact");
    else if (answers->below > 0)
        cli_sink_format(sink, "approximate: nothing nearer than %s was missed",
                        cli_distance(answers->below, answers->weighted).text);
    else
        cli_sink_text(sink, "approximate: nearer documents may have been missed");
    if (answers->weighted)
        cli_sink_format(sink, "; by chance the nearest of %s would agree in %.0f%%",
                        cli_counted(answers->signatures, "unrelated document", "unrelated documents").text,
                        100 * share_of(answers, answers->chance));
}

void cli_search_page_end(struct cli_search_page *page, const struct cli_answers *answers) {
    if (!is_shown(page)) return;
    if (answers->matches > 0) {
        cli_sink_text(page->sink, "</table>\n<p class=\"hint\">");
        put_proof(page->sink, answers);
        if (answers->matches > MOST_MATCHES_SHOWN)
            cli_sink_format(page->sink, "; %s more are not shown",
                            cli_digits(answers->matches - MOST_MATCHES_SHOWN).text);
        cli_sink_text(page->sink, "</p>\n");
    }
    cli_sink_text(page->sink, "</section>\n");
}

/* -------------------------------------------------------------------- page -- */

bool cli_search_page_open(struct cli_job *job, const char *path, size_t collections, struct cli_search_page *out) {
    const struct cli_place place = {"--report", path};
    if (path == NULL) return true;
    if (!cli_places_differ(job, &place, 1) || !cli_places_spare_inputs(job, &place, 1, 0) ||
        !cli_places_outside(job, &place, 1, 0) || !cli_places_writable(job, &place, 1))
        return false;
    if (cli_page_open(job, path,
                      collections > 1 ? "Nearest documents in several collections, first" : "Nearest documents in",
                      job->operands[0], &out->sink))
        return true;
    (void)cli_fail(job);
    return false;
}

static void put_end(const struct cli_search_page *page, const char *worth) {
    if (page->more > 0)
        cli_sink_format(page->sink, "<p class=\"hint\">%s not shown.</p>\n",
                        cli_counted(page->more, "more query is", "more queries are").text);
    if (page->queries > 1)
        cli_page_shares(page->sink, "How near the nearest are", "similarity of the first match of each query",
                        page->best, CLI_SEARCH_PAGE_BINS);
    cli_sink_format(page->sink, "<p class=\"hint\">%s</p>\n", worth);
}

int cli_search_page_close(struct cli_job *job, struct cli_search_page *page, const char *worth, int code) {
    if (page->sink == NULL) return code;
    const bool good = code == CLI_DONE || code == CLI_NOTHING;
    if (good) put_end(page, worth);
    const bool written = cli_page_close(job, page->sink, good);
    page->sink = NULL;
    return good && !written ? cli_fail(job) : code;
}
