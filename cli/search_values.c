/* SPDX-License-Identifier: Apache-2.0 */
#include "search_values.h"

#include <string.h>

#include "among.h"
#include "amount.h"
#include "output.h"

/* In the order of nigh_search_method, nigh_search_stop, nigh_search_probe and nigh_search_rank. */
static const char *const method_names[] = {"auto",    "exact",  "slices", "slices-plain", "sketch", "graph",
                                           "columns", "tables", NULL};
static const char *const stop_names[] = {"breadth", "certain", "seen", NULL};
static const char *const probe_names[] = {"auto", "ball", "directed", NULL};
static const char *const rank_names[] = {"auto", "bits", "weighted", NULL};

#define PLACE(field) offsetof(struct cli_search_values, field)

const struct cli_option cli_search_options[] = {
    CLI_NUMBER('k', NULL, PLACE(k), "N", 1, NIGH_ALL - 1, "10", "the N nearest documents of each query"),
    CLI_NUMBER('r', "radius", PLACE(radius), "BITS", 0, NIGH_MAX_WIDTH_BITS, NULL,
               "find documents at most BITS bits away, or with --rank weighted at a distance of at most BITS: all of "
               "them, or with -k the N nearest"),
    CLI_LIST(0, "id", PLACE(ids), "ID",
             "use the stored document ID as a query; may be given more than once. It finds itself too"),
    CLI_AMONG_OPTIONS(PLACE(among), PLACE(where)),
    CLI_LIST(0, "text", PLACE(texts), "TEXT", "use TEXT itself as a query; may be given more than once"),
    CLI_FLAG(0, "exact", PLACE(exact),
             "miss nothing: continue the search, in slice lists or by comparing every document, whichever takes less; "
             "short for --stop certain"),
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", method_names, "auto", "how to search"),
    CLI_NUMBER(0, "breadth", PLACE(breadth), "BITS", 0, NIGH_MAX_SLICE_WIDTH, NULL,
               "read the lists of slices up to BITS bits from the query's, see above (default 1 or 2, by the width of "
               "the slices)"),
    CLI_NUMBER(0, "admit", PLACE(admit), "BITS", 0, NIGH_MAX_SLICE_WIDTH, NULL,
               "in lists beyond BITS bits, count only documents seen before"),
    CLI_NUMBER(0, "candidates", PLACE(candidates), "N", 1, NIGH_ALL, NULL,
               "compare the N most promising documents, by lists or sketches; at least as many as -k"),
    CLI_NUMBER(0, "sketch-bits", PLACE(sketch_bits), "BITS", 64, 256, NULL,
               "with --method sketch: compare the first BITS bits of every document, 64, 128, 192 or 256"),
    CLI_NUMBER(0, "effort", PLACE(effort), "N", 1, NIGH_ALL, NULL,
               "with a graph: remember the N nearest during the walk (ef); more is slower and misses less; at least as "
               "many as -k (default 600, or twice -k)"),
    CLI_NUMBER(0, "patience", PLACE(patience), "N", 0, NIGH_ALL, NULL,
               "with a graph: end after N steps without a gain; 0: only when no step is left (default 300)"),
    CLI_TEXT(0, "slack", PLACE(slack), "X",
             "with columns: drop documents early that seem too far by X standard deviations, such as 1; faster, and "
             "may miss some. Without it nothing is missed"),
    CLI_NUMBER(0, "slices", PLACE(slices), "N", 1, NIGH_MAX_WIDTH_BITS, NULL, "use the first N slices only"),
    CLI_CHOICE(0, "stop", PLACE(stop), "RULE", stop_names, "breadth",
               "when a search of slice lists ends: at --breadth, once the answer is certain, or once it was seen in "
               "every slice"),
    CLI_CHOICE(0, "probe", PLACE(probe), "WAY", probe_names, "auto",
               "which lists to read: all up to --breadth (ball), or the most likely ones, by how sure each bit of the "
               "query is (directed)"),
    CLI_TEXT(0, "budget", PLACE(budget), "N",
             "read about N entries of lists for each query and segment; leave out the least likely lists, or very long "
             "ones and then the longer ones of the outermost breadth (50K, 2M, or 'all': no limit, and use lists even "
             "if comparing every document takes less)"),
    CLI_NUMBER(0, "probes", PLACE(probes), "N", 1, UINT32_MAX, NULL,
               "with directed probes: look up at most N lists for each query and segment"),
    CLI_NUMBER(0, "batch", PLACE(batch), "N", 1, 65536, "64",
               "search N queries together: more is faster, fewer answers sooner; if not given, 8 if the answers to 64 "
               "could be more than 4 million documents"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", cli_output_names, "table", "the form of the answer"),
    CLI_TEXT(0, "report", PLACE(report), "FILE", "also write the answers to FILE as a page for a browser"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_input_formats, "auto", "the format of the query files"),
    CLI_NUMBER(0, "bits", PLACE(bits), "N", 1, NIGH_MAX_WIDTH_BITS, NULL,
               "the width of the queries, which must be that of the collection"),
    CLI_SCHEME_OPTION(PLACE(scheme), PLACE(model)),
    CLI_CHOICE(
        0, "rank", PLACE(rank), "HOW", rank_names, "auto",
        "what a bit that differs adds to a distance: one (bits), or more the surer the query is of it (weighted). auto "
        "is weighted for texts and documents on a topsig collection, without --radius and --all-bits; see RANKING"),
    CLI_FLAG(0, "all-bits", PLACE(all_bits),
             "for texts and topsig: also compare the bits that the text does not touch; see above"),
    CLI_FLAG(0, "verify", PLACE(verify), "verify all checksums of the collection first"),
    CLI_FLAG(0, "load", PLACE(load),
             "read the whole collection into memory first, instead of mapping its files: pays for very many queries on "
             "ten million documents or more, and takes as much memory as the files have bytes"),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static uint32_t or_default(const struct cli_number *number) {
    return number->given ? (uint32_t)number->value : (uint32_t)NIGH_DEFAULT;
}

static bool set_lists(struct cli_job *job, const struct cli_search_values *values, nigh_search_options *out) {
    out->method = (nigh_search_method)values->method;
    out->stop = values->exact ? NIGH_STOP_CERTAIN : (nigh_search_stop)values->stop;
    out->breadth = or_default(&values->breadth);
    out->admit = or_default(&values->admit);
    out->candidates = or_default(&values->candidates);
    out->slices = or_default(&values->slices);
    out->sketch_bits = or_default(&values->sketch_bits);
    out->effort = or_default(&values->effort);
    out->patience = or_default(&values->patience);
    if (values->sketch_bits.given && values->sketch_bits.value % 64 != 0) {
        (void)cli_usage(job->command, "--sketch-bits takes 64, 128, 192 or 256, not %llu",
                        (unsigned long long)values->sketch_bits.value);
        return false;
    }
    if (out->stop == NIGH_STOP_SEEN && out->method != NIGH_SEARCH_SLICES_PLAIN) {
        (void)cli_usage(job->command, "--stop seen is for --method slices-plain only");
        return false;
    }
    if (values->budget != NULL && strcmp(values->budget, "all") == 0)
        out->postings = NIGH_ALL_64;
    else if (!cli_amount_count(job, "--budget", values->budget, &out->postings))
        return false;
    out->probe = (nigh_search_probe)values->probe;
    out->probes = values->probes.given ? values->probes.value : 0;
    if (out->probe == NIGH_PROBE_DIRECTED && out->stop != NIGH_STOP_BREADTH) {
        (void)cli_usage(job->command, "--probe directed proves nothing: leave out %s",
                        values->exact ? "--exact" : "--stop");
        return false;
    }
    return true;
}

bool cli_search_ranks(nigh_search_method method) {
    return method == NIGH_SEARCH_AUTO || method == NIGH_SEARCH_SCAN || method == NIGH_SEARCH_COLUMNS ||
           method == NIGH_SEARCH_GRAPH;
}

/* With a slack nothing is certain, and nothing but columns has one. */
static bool set_slack(const struct cli_job *job, const struct cli_search_values *values, nigh_search_options *out) {
    if (values->slack == NULL) return true;
    if (!cli_amount_number(job, "--slack", values->slack, &out->slack)) return false;
    if (out->method != NIGH_SEARCH_AUTO && out->method != NIGH_SEARCH_COLUMNS) {
        (void)cli_usage(job->command, "--slack goes with --method columns, or auto");
        return false;
    }
    if (out->stop == NIGH_STOP_BREADTH && (!values->radius.given || values->k.given)) return true;
    (void)cli_usage(job->command, "--slack may miss some: leave out %s",
                    values->exact                    ? "--exact"
                    : out->stop != NIGH_STOP_BREADTH ? "--stop"
                                                     : "--radius, or give -k too");
    return false;
}

/* Weights rank by themselves: untouched bits, and methods that count bits, have no part in it. */
static bool set_rank(const struct cli_job *job, const struct cli_search_values *values, nigh_search_options *out) {
    out->rank = (nigh_search_rank)values->rank;
    if (out->rank != NIGH_RANK_WEIGHTED) return true;
    if (values->all_bits) {
        (void)cli_usage(job->command, "--rank weighted counts the bits that a text touches: leave out --all-bits");
        return false;
    }
    if (!cli_search_ranks(out->method) || out->probe == NIGH_PROBE_DIRECTED) {
        (void)cli_usage(job->command, "--rank weighted does not go with this: leave out %s",
                        out->probe == NIGH_PROBE_DIRECTED ? "--probe directed"
                                                          : "--method, or give --method exact, columns or graph");
        return false;
    }
    return true;
}

bool cli_search_values_set(struct cli_job *job, const struct cli_search_values *values, nigh_search_options *out) {
    return set_lists(job, values, out) && set_slack(job, values, out) && set_rank(job, values, out);
}
