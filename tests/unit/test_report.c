/* SPDX-License-Identifier: Apache-2.0 */
/* The report: whole, safe whatever the texts hold, and with the right numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dedup/report.h"
#include "dedup/report_script.h"
#include "dedup/report_style.h"
#include "support/page_check.h"
#include "support/support.h"

static struct nigh__report_text text_of(const char *id, const char *text) {
    return (struct nigh__report_text){.id = id, .id_length = strlen(id), .text = text, .text_length = strlen(text)};
}

/* A page with a final zero, to be freed; checked. */
static char *make_page(nigh_context *context, const struct nigh__report *report) {
    struct nigh__array html = NIGH__ARRAY(char);
    nigh_error error;
    assert_ok(nigh__report_make(context, report, &html, &error), &error);
    const char *problem = page_problem(html.data, html.count);
    if (problem != NULL) fail_msg("%s", problem);
    char *page = malloc(html.count + 1);
    assert_non_null(page);
    memcpy(page, html.data, html.count);
    page[html.count] = '\0';
    nigh__array_release(context, &html);
    return page;
}

static void expect_in(const char *page, const char *part) {
    if (strstr(page, part) == NULL) fail_msg("not in the page: %s", part);
}

static void expect_not_in(const char *page, const char *part) {
    if (strstr(page, part) != NULL) fail_msg("in the page: %s", part);
}

/* The page of one pair. */
static char *page_of_pair(nigh_context *context, struct nigh__report_pair pair) {
    const struct nigh__report_cluster cluster = {.documents = 2, .pairs = &pair, .pair_count = 1};
    const struct nigh__report report = {
        .title = "t", .documents = 2, .kept = 1, .near = 1, .clusters = 1, .largest = &cluster, .largest_count = 1};
    return make_page(context, &report);
}

/* ------------------------------------------------------------------ whole */

static void test_empty(void **state) {
    char *page = make_page(*state, &(struct nigh__report){0});
    expect_in(page, "There was no document.");
    expect_not_in(page, "<svg");
    free(page);
    page = make_page(*state, &(struct nigh__report){.title = "one", .documents = 1, .kept = 1});
    expect_in(page, "the only one stays");
    free(page);
    page = make_page(*state, &(struct nigh__report){.title = "many", .documents = 1200, .kept = 1200});
    expect_in(page, "all of them stay");
    expect_in(page, "<dd>1,200 <small>100%</small></dd>");
    expect_not_in(page, "class=\"cluster\"");
    free(page);
}

/* Nothing is loaded or run, and the charset comes before anything that is not ours. */
static void test_policy(void **state) {
    char *page = make_page(*state, &(struct nigh__report){.title = "x"});
    expect_in(page,
              "<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
              "'none'; style-src 'sha256-" NIGH__REPORT_STYLE_HASH "'; script-src 'sha256-" NIGH__REPORT_SCRIPT_HASH
              "'; ");
    expect_not_in(page, "unsafe");
    expect_not_in(page, "http:");
    expect_not_in(page, "https:");
    expect_not_in(page, "url(");
    expect_not_in(page, "@import");
    const char *style = strstr(page, "<style>");
    assert_non_null(style);
    style += strlen("<style>");
    for (size_t i = 0; i < NIGH__REPORT_STYLE_PARTS; i++) {
        assert_memory_equal(style, nigh__report_style[i], strlen(nigh__report_style[i]));
        style += strlen(nigh__report_style[i]);
    }
    assert_memory_equal(style, "</style>", 8);
    free(page);
}

static void test_numbers(void **state) {
    struct nigh__report report = {
        .title = "n", .documents = 1000000, .kept = 1, .copies = 999989, .near = 10, .clusters = 1};
    char *page = make_page(*state, &report);
    expect_in(page, "999,999 of 1,000,000 documents are copies or near-copies, and can go; 1 stays.");
    expect_in(page, "<dd>1 <small>&lt;0.1%</small></dd>");
    expect_in(page, "<dd>999,989 <small>&gt;99.9%</small></dd>");
    /* The smallest share can still be seen. */
    expect_in(page, "<rect class=\"kept\" x=\"0.0\" width=\"5.0\"");
    free(page);
    report =
        (struct nigh__report){.documents = UINT64_MAX, .kept = UINT64_MAX, .copies = UINT64_MAX, .near = UINT64_MAX};
    page = make_page(*state, &report);
    expect_in(page, "18,446,744,073,709,551,615");
    free(page);
    report = (struct nigh__report){.documents = 2, .kept = 1, .copies = 1, .clusters = 1};
    page = make_page(*state, &report);
    expect_in(page, "1 of 2 documents is a copy or near-copy, and can go; 1 stays.");
    expect_in(page, "50.0%");
    free(page);
}

/* Where a document stands in the input, how long it is, and why it is kept. */
static void test_why(void **state) {
    struct nigh__report_pair pair = {.kept = text_of("a", "one two"), .other = text_of("b", "one three")};
    pair.kept.record = 1;
    pair.kept.bytes = 1;
    pair.other.record = 1200;
    pair.other.bytes = 34567;
    const struct nigh__report_cluster cluster = {.documents = 2, .pairs = &pair, .pair_count = 1};
    const struct nigh__report_bar bar = {"0.98", 7};
    const struct nigh__report report = {.documents = 2,
                                        .kept = 1,
                                        .near = 1,
                                        .clusters = 1,
                                        .why = "Kept, as it was so.",
                                        .largest = &cluster,
                                        .largest_count = 1,
                                        .similarities = &bar,
                                        .similarity_count = 1};
    char *page = make_page(*state, &report);
    expect_in(page, "</summary>\n<p class=\"why\">Kept, as it was so.</p>\n");
    expect_in(page, "a</bdi> <small>record 1, 1 byte</small>");
    expect_in(page, "b</bdi> <small>record 1,200, 34,567 bytes</small>");
    expect_in(page, "How alike pairs are");
    expect_in(page, "<title>0.98: 7</title>");
    free(page);
}

/* One script, which is ours, where nothing can follow it. */
static void test_script(void **state) {
    char *page = make_page(*state, &(struct nigh__report){.title = "x"});
    const char *script = strstr(page, "<script>");
    assert_non_null(script);
    script += strlen("<script>");
    for (size_t i = 0; i < NIGH__REPORT_SCRIPT_PARTS; i++) {
        assert_memory_equal(script, nigh__report_script[i], strlen(nigh__report_script[i]));
        script += strlen(nigh__report_script[i]);
    }
    assert_string_equal(script, "</script>\n</body>\n</html>\n");
    free(page);
}

static void test_facts_and_warning(void **state) {
    const struct nigh__report_fact facts[] = {{"<method>", "a & b"}, {"memory", "1 MB"}};
    const struct nigh__report report = {
        .title = "<t>", .warning = "look\nat \"this\"", .facts = facts, .fact_count = 2};
    char *page = make_page(*state, &report);
    expect_in(page, "<title>Near-duplicates: &lt;t&gt;</title>");
    expect_in(page, "<th scope=\"row\">&lt;method&gt;</th><td>a &amp; b</td>");
    expect_in(page, "</b> look\nat &quot;this&quot;</p>");
    free(page);
}

/* ----------------------------------------------------------------- charts */

static void test_charts(void **state) {
    const struct nigh__report_bar few[] = {{"0", 12}, {"1", 0}, {"2", 30}};
    const struct nigh__report_bar dwarfed[] = {{"2", 1000000}, {"3", 5}, {"4+", 1}};
    const struct nigh__report report = {.title = "c",
                                        .distances = few,
                                        .distance_count = 3,
                                        .distance_caption = "bits <of> 64",
                                        .sizes = dwarfed,
                                        .size_count = 3};
    char *page = make_page(*state, &report);
    expect_in(page, "bits &lt;of&gt; 64</p>");
    /* The highest bar reaches the top, one of 12 of 30 stands at 22 + 150 * 18 / 30. */
    expect_in(page, "172V22.0h");
    expect_in(page, "172V112.0h");
    expect_in(page, "<th scope=\"row\">1</th><td>0</td>");
    expect_in(page, "<title>2: 1,000,000</title>");
    const char *said = strstr(page, "logarithmic scale");
    assert_non_null(said);
    assert_true(said > strstr(page, "How large clusters are"));
    assert_null(strstr(said + 1, "logarithmic scale"));
    free(page);
}

static void test_chart_extremes(void **state) {
    struct nigh__report_bar many[257];
    char labels[257][8];
    for (unsigned i = 0; i < 257; i++) {
        (void)snprintf(labels[i], sizeof labels[i], "%u", i);
        many[i] = (struct nigh__report_bar){labels[i], i == 0 ? UINT64_MAX : i};
    }
    const struct nigh__report_bar odd[] = {
        {NULL, 1}, {"", UINT64_MAX}, {"\xff\"<long long long long long long long>", 3}};
    const struct nigh__report_bar none[] = {{"0", 0}, {"1", 0}};
    struct nigh__report report = {.distances = many, .distance_count = 257, .sizes = odd, .size_count = 3};
    char *page = make_page(*state, &report);
    expect_in(page, "<th scope=\"row\">252 \u2013 256</th>");
    free(page);
    report = (struct nigh__report){.distances = none, .distance_count = 2};
    page = make_page(*state, &report);
    expect_not_in(page, "<figure>");
    free(page);
}

/* ------------------------------------------------------------------ pairs */

static void test_pair(void **state) {
    struct nigh__report_pair pair = {.kept = text_of("left/1", "one two three four"),
                                     .other = text_of("right/2", "one 2 three four five"),
                                     .similarity = 0.9996,
                                     .distance = 1};
    char *page = page_of_pair(*state, pair);
    expect_in(page, "<bdi class=\"id\">left/1</bdi>");
    expect_in(page, "near-copy</span> <bdi class=\"id\">right/2</bdi>");
    expect_in(page, "one <mark class=\"l\">two</mark> three four</div>");
    expect_in(page, "one <mark class=\"r\">2</mark> three four <mark class=\"r\">five</mark></div>");
    expect_in(page, "similarity <b>0.999</b>");
    expect_in(page, "<b>1</b> bit apart");
    expect_in(page, ">1 word</mark> only in the kept one");
    expect_in(page, ">2 words</mark> only in the other");
    free(page);
    pair.similarity = -1;
    pair.distance = NIGH_ALL;
    page = page_of_pair(*state, pair);
    expect_in(page, "not verified");
    expect_not_in(page, "apart");
    free(page);
}

static void test_same(void **state) {
    struct nigh__report_pair pair = {
        .kept = text_of("a", "all  the same"), .other = text_of("b", "all the\nsame"), .similarity = 1, .distance = 0};
    char *page = page_of_pair(*state, pair);
    expect_in(page, "no word differs</span>");
    expect_in(page, "similarity <b>1.000</b>");
    expect_in(page, "all  the same</div>");
    expect_not_in(page, "all the\nsame");
    free(page);
    pair.other.cut = true;
    page = page_of_pair(*state, pair);
    expect_in(page, "too long to be compared word by word</span>");
    expect_in(page, "only the beginning is shown");
    expect_not_in(page, "no word differs");
    free(page);
    pair.copy = true;
    page = page_of_pair(*state, pair);
    expect_in(page, "<span class=\"tag copy\">copy</span>");
    expect_in(page, "the same text");
    free(page);
    pair.kept.text_length = pair.other.text_length = 0; /* of signatures */
    page = page_of_pair(*state, pair);
    expect_not_in(page, "the same text");
    free(page);
}

/* Long stretches that are the same are there once, and folded. */
static void test_fold(void **state) {
    char left[1200];
    char right[1200];
    size_t used = 0;
    for (int i = 0; i < 152; i++) used += (size_t)snprintf(left + used, sizeof left - used, "w%d ", i);
    memcpy(right, left, used + 1);
    memcpy(left + used, "old", 4);
    memcpy(right + used, "new", 4);
    char *page =
        page_of_pair(*state, (struct nigh__report_pair){.kept = text_of("a", left), .other = text_of("b", right)});
    expect_in(page, "\u2026 136 words the same \u2026</summary><div dir=\"auto\">w0 w1 ");
    expect_in(page, "<div dir=\"auto\">\u2026 w136 w137 ");
    expect_in(page, " w151 <mark class=\"l\">old</mark></div>");
    expect_in(page, " w151 <mark class=\"r\">new</mark></div>");
    const char *folded = strstr(page, " w70 ");
    assert_non_null(folded);
    assert_null(strstr(folded + 1, " w70 "));
    free(page);
}

static void test_space(void **state) {
    static const char code[] =
        "if (a)\n\tb();\n\n\n\n\nend\r\nwrapped wrapped wrapped wrapped wrapped wrapped wrapped wrapped wrapped "
        "line\ngoes on";
    char *page =
        page_of_pair(*state, (struct nigh__report_pair){.kept = text_of("a", code), .other = text_of("b", code)});
    expect_in(page, "if (a)\n    b();\n\nend\nwrapped ");
    expect_in(page, " line goes on</div>");
    free(page);
}

static void test_long(void **state) {
    enum { ID = 65536, TEXT = 100000 };
    char *id = malloc(ID);
    char *text = malloc(TEXT);
    assert_non_null(id);
    assert_non_null(text);
    memset(id, 'i', ID);
    memcpy(id, "begin/", 6);
    memcpy(id + ID - 4, "/end", 4);
    for (size_t i = 0; i + 1 < TEXT; i += 2) memcpy(text + i, "\xc3\xa9", 2); /* one word, cut between letters */
    const struct nigh__report_text long_text = {.id = id, .id_length = ID, .text = text, .text_length = TEXT};
    char *page = page_of_pair(*state, (struct nigh__report_pair){.kept = long_text, .other = text_of("b", "c")});
    expect_in(page, "<bdi class=\"id\">begin/iii");
    expect_in(page, "i <i>\u2026 65,392 bytes \u2026</i> i");
    expect_in(page, "ii/end</bdi>");
    expect_in(page, "\xc3\xa9\u2026</mark>");
    expect_not_in(page, "\xef\xbf\xbd");
    assert_true(strlen(page) < 20000);
    free(page);
    free(id);
    free(text);
}

/* Texts are compared whole, however little of them is shown: words that were put in make nothing else differ. */
static void test_long_difference(void **state) {
    enum { WORDS = 20000, ROOM = WORDS * 8 };
    char *left = malloc(ROOM);
    char *right = malloc(ROOM);
    assert_non_null(left);
    assert_non_null(right);
    size_t used = 0;
    size_t put = (size_t)snprintf(right, ROOM, "some words more at the beginning ");
    for (int i = 0; i < WORDS; i++) {
        used += (size_t)snprintf(left + used, ROOM - used, "w%d ", i);
        put += (size_t)snprintf(right + put, ROOM - put, "w%d ", i);
    }
    assert_true(used < NIGH__REPORT_MAX_COMPARED);
    (void)snprintf(right + put, ROOM - put, "last");
    char *page =
        page_of_pair(*state, (struct nigh__report_pair){.kept = text_of("a", left), .other = text_of("b", right)});
    expect_not_in(page, "only in the kept one");
    expect_not_in(page, "<mark class=\"l\">");
    expect_in(page, "7 words</mark> only in the other");
    expect_in(page, "<mark class=\"r\">some words more at the beginning</mark> w0 ");
    expect_in(page, " w19999 <mark class=\"r\">last</mark>");
    expect_in(page, " words the same ");
    assert_true(strlen(page) < 30000);
    free(page);
    /* Two that have nothing in common: the numbers are right, and what is shown has an end. */
    for (size_t i = 0; i < used; i++) right[i] = left[i] == 'w' ? 'v' : left[i];
    right[used] = '\0';
    page = page_of_pair(*state, (struct nigh__report_pair){.kept = text_of("a", left), .other = text_of("b", right)});
    expect_in(page, "20,000 words</mark> only in the kept one");
    expect_in(page, "20,000 words</mark> only in the other");
    expect_in(page, "<mark class=\"l\">w0 w1");
    expect_in(page, "<mark class=\"r\">v0 v1");
    expect_in(page, "only the beginning is shown");
    assert_true(strlen(page) < 30000);
    free(page);
    free(left);
    free(right);
}

/* What cannot be compared is not: better no difference than a wrong one. */
static void test_too_long(void **state) {
    enum { ROOM = NIGH__REPORT_MAX_COMPARED + 100 };
    char *text = malloc(ROOM);
    assert_non_null(text);
    for (size_t i = 0; i < ROOM; i++) text[i] = i % 5 == 4 ? ' ' : 'x';
    const struct nigh__report_text long_text = {.id = "a", .id_length = 1, .text = text, .text_length = ROOM};
    struct nigh__report_pair pair = {.kept = long_text, .other = text_of("b", "xxxx xxxx yyyy")};
    char *page = page_of_pair(*state, pair);
    expect_in(page, "too long to be compared word by word");
    expect_in(page, "only the beginning is shown");
    expect_in(page, "<div dir=\"auto\">xxxx xxxx yyyy</div>");
    expect_not_in(page, "<mark");
    assert_true(strlen(page) < 20000);
    free(page);
    pair.other = long_text;
    pair.copy = true;
    page = page_of_pair(*state, pair);
    expect_in(page, "the same text");
    expect_not_in(page, "too long");
    free(page);
    free(text);
}

/* --------------------------------------------------------------- clusters */

static void test_clusters(void **state) {
    const struct nigh__report_text others[] = {text_of("third", ""), text_of("", ""), text_of("<4>", "")};
    const struct nigh__report_pair pair = {.kept = text_of("first", "a"), .other = text_of("second", "b")};
    const struct nigh__report_cluster clusters[] = {
        {.documents = 1000000, .pairs = &pair, .pair_count = 1, .others = others, .other_count = 3},
        {.documents = 7, .kept = text_of("alone", "its own text")},
        {.documents = 2, .pairs = &pair, .pair_count = 1}};
    const struct nigh__report report = {
        .largest = clusters, .largest_count = 2, .typical = clusters + 2, .typical_count = 1};
    char *page = make_page(*state, &report);
    expect_in(page, "<b>1,000,000 documents</b> <bdi class=\"id\">first</bdi>");
    expect_in(page, "999,998 more documents of this cluster");
    expect_in(page, "<li><bdi class=\"id\">third</bdi></li>\n<li><bdi class=\"id\"><i>no id</i></bdi></li>\n"
                    "<li><bdi class=\"id\">&lt;4&gt;</bdi></li>\n<li>and 999,995 that are not listed</li>");
    expect_in(page, "its own text</div>");
    expect_in(page, "<li>6 that are not listed</li>");
    const char *typical = strstr(page, "Typical clusters");
    assert_non_null(typical);
    expect_not_in(typical, "more document");
    free(page);
}

static void test_many_ids(void **state) {
    enum { COUNT = 2000 };
    struct nigh__report_text *others = calloc(COUNT, sizeof *others);
    assert_non_null(others);
    for (size_t i = 0; i < COUNT; i++) others[i] = text_of("x", "");
    const struct nigh__report_cluster cluster = {
        .documents = COUNT + 1, .kept = text_of("k", ""), .others = others, .other_count = COUNT};
    char *page = make_page(*state, &(struct nigh__report){.largest = &cluster, .largest_count = 1});
    expect_in(page, "2,000 more documents of this cluster");
    expect_in(page, "<li>and 1,500 that are not listed</li>");
    free(page);
    free(others);
}

/* ---------------------------------------------------------------- hostile */

static const char *const hostile[] = {
    "<script>alert(1)</script>",
    "</title></style></head><body onload=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "</details></article></section></main>",
    "<!-- <![CDATA[ ]]> -->",
    "&lt;b&gt; &#60;script&#62; &copy",
    "gpj.\u202eexe\u202c \u2066x\u2069 \u200e\u200f\u061c\ufeff\u200b\u2028\u2029",
    "\x01\x02\x1b[31m\x7f\r\n\t\v\f",
    "\xc2\x80\xc2\x9f\xc2\xad",
    "\xff\xfe\xc3(\xed\xa0\x80\xf4\x90\x80\x80\xf0\x9f",
    "\xef\xbf\xbe\xef\xbf\xbf\xf3\xa0\x80\x81",
    "\u4eba\u4eba\u751f\u800c\u81ea\u7531 \u05e9\u05dc\u05d5\u05dd \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
    "javascript:alert(1)",
    "%s%n%99999999d",
    "",
};

#define HOSTILE (sizeof hostile / sizeof hostile[0])

static void expect_safe(nigh_context *context, const char *a, const char *b) {
    const struct nigh__report_text others[] = {text_of(b, ""), text_of(a, "")};
    const struct nigh__report_pair pair = {.kept = text_of(a, b), .other = text_of(b, a), .distance = NIGH_ALL};
    const struct nigh__report_cluster clusters[] = {
        {.documents = 3, .pairs = &pair, .pair_count = 1, .others = others, .other_count = 2},
        {.documents = 2, .kept = text_of(b, a)}};
    const struct nigh__report_fact fact = {a, b};
    const struct nigh__report_bar bars[] = {{a, 1}, {b, 2}};
    const struct nigh__report report = {.title = a,
                                        .documents = 3,
                                        .kept = 1,
                                        .near = 2,
                                        .warning = b,
                                        .facts = &fact,
                                        .fact_count = 1,
                                        .distances = bars,
                                        .distance_count = 2,
                                        .distance_caption = a,
                                        .sizes = bars,
                                        .size_count = 2,
                                        .largest = clusters,
                                        .largest_count = 2};
    free(make_page(context, &report));
}

static void test_hostile(void **state) {
    for (size_t i = 0; i < HOSTILE; i++)
        for (size_t j = 0; j < HOSTILE; j++) expect_safe(*state, hostile[i], hostile[j]);
}

static void test_shown_by_name(void **state) {
    char *page = page_of_pair(
        *state,
        (struct nigh__report_pair){.kept = text_of("a\u202e\u202c\nb", "x\u202e\u2066y\u2069\u202c \x1b[1m \xff"),
                                   .other = text_of("b", "x")});
    expect_in(page, "<bdi class=\"id\">a<i>U+202EU+202C\u240a</i>b</bdi>");
    expect_in(page, "x<mark class=\"l\"><i>U+202E</i><i>U+2066</i>y<i>U+2069</i><i>U+202C</i> <i>\u241b</i>[1m "
                    "\xef\xbf\xbd</mark>");
    free(page);
}

/* The worst that 4,000 bytes can do to the size of the page. */
static void test_size(void **state) {
    static const char *const units[] = {"<", "\x01", "\"a", "a!b ", "\n", "\xff", "\u202e\u202c", "\u202ea\u202c"};
    char left[NIGH__REPORT_MAX_TEXT + 1];
    char right[NIGH__REPORT_MAX_TEXT + 1];
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t length = strlen(units[i]);
        size_t used = 0;
        for (; used + length < sizeof left; used += length) memcpy(left + used, units[i], length);
        left[used] = '\0';
        memcpy(right, left, used + 1);
        for (size_t j = 0; j < used; j += 7) right[j] = '?';
        char *page =
            page_of_pair(*state, (struct nigh__report_pair){.kept = text_of("a", left), .other = text_of("b", right)});
        assert_true(strlen(page) < 200000);
        free(page);
    }
}

/* ----------------------------------------------------------------- faults */

static void test_same_bytes(void **state) {
    const struct nigh__report_pair pair = {.kept = text_of("a", "b c d"), .other = text_of("e", "b x d")};
    char *first = page_of_pair(*state, pair);
    char *second = page_of_pair(*state, pair);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void test_no_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t before = memory.live;
    const struct nigh__report_pair pair = {.kept = text_of("a", "b c d"), .other = text_of("e", "b x d")};
    const struct nigh__report_cluster clusters[] = {{.documents = 3, .pairs = &pair, .pair_count = 1},
                                                    {.documents = 2, .kept = text_of("x", "y z")}};
    const struct nigh__report report = {.title = "t", .documents = 3, .largest = clusters, .largest_count = 2};
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t fail = 0; status != NIGH_OK; fail++) {
        struct nigh__array html = NIGH__ARRAY(char);
        nigh_error error;
        assert_true(fail < 200);
        memory.fail_at = memory.calls + fail;
        status = nigh__report_make(context, &report, &html, &error);
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        nigh__array_release(context, &html);
        assert_int_equal(memory.live, before);
    }
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
}

/* The reader of pages that all these tests lean on does see what is wrong. */
static void test_reader_of_pages(void **state) {
    (void)state;
    static const char *const bad[] = {
        "<p></p>",
        "<!DOCTYPE html>\n<iframe></iframe>",
        "<!DOCTYPE html>\n<p onclick=\"x\"></p>",
        "<!DOCTYPE html>\n<p class=\"<\"></p>",
        "<!DOCTYPE html>\n<p>",
        "<!DOCTYPE html>\n<p><b></p></b>",
        "<!DOCTYPE html>\n<p>&copy;</p>",
        "<!DOCTYPE html>\n<p>\xff</p>",
        "<!DOCTYPE html>\n<p>\u202e\u202c</p>",
        "<!DOCTYPE html>\n<p>\x01</p>",
        "<!DOCTYPE html>\n<p>\"</p>",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_non_null(page_problem(bad[i], strlen(bad[i])));
    static const char good[] = "<!DOCTYPE html>\n<p class=\"x\">&lt;</p>";
    assert_null(page_problem(good, sizeof good - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_facts_and_warning),
        cmocka_unit_test(test_charts),
        cmocka_unit_test(test_chart_extremes),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_long_difference),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_many_ids),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_shown_by_name),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_reader_of_pages),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
