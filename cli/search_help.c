/* SPDX-License-Identifier: Apache-2.0 */
#include "search_help.h"

#include <stddef.h>

const char *const cli_search_usage[] = {"[OPTION]... COLLECTION... QUERY...", "[OPTION]... COLLECTION... --id ID...",
                                        "[OPTION]... COLLECTION... --text TEXT...", NULL};

const char *const cli_search_description[] = {
    "Finds the documents whose signatures differ least from each query: the nearest first, and of equally near ones "
    "the document that was added first.",
    "QUERY is documents or signatures in any format that 'nigh index' reads, or '-' for standard input. Documents, and "
    "texts given by --text, are signed as those of the collection were; a collection of signatures of your own takes "
    "signatures only. A query goes by its id; where a file has none, queries are numbered from 0, on through all "
    "files.",
    "Several collections are searched as one, in the order given: those of one scheme, with one vocabulary or model, "
    "such as the parts that several machines made. Answers and what is certain of them are those of one collection "
    "with all their documents, and each match says which collection it is in. With --id the first that has the id is "
    "taken.",
    "A topsig signature is sparse: the words of a short text touch few of its bits. Only these are compared where the "
    "query is a text, a document, or with --id a stored one whose weights are kept ('nigh index --keep-weights'), "
    "unless --all-bits is given. What differs counts by how sure the query is of it (--rank weighted, see RANKING), "
    "or one a bit where --rank bits or a --radius is given.",
    "Slice lists ('nigh index --lists slices' makes them) tell who shares a slice of the query. A search reads the "
    "lists of the query's own slices, which is breadth 0, of slices one bit away, breadth 1, and so on: each bit more "
    "reads several times as much and misses less. What is in none of them differs in every slice, so with s slices and "
    "breadth b whatever is nearer than s (b + 1) bits is seen: with 64 slices and breadth 2, all within 191 bits. The "
    "most promising of what was seen are compared.",
    "Without slice lists and a graph ('nigh index --graph' makes one) every document is compared, and the answer is "
    "exact. With them it may be approximate, and then says so, with what is certain; --exact asks for certainty. A "
    "collection that was tuned ('nigh tune') is searched as that found best, where no option says how. The exit code "
    "is 1 where no query matched anything.",
    NULL,
};

static const char *const rank_paragraphs[] = {
    "bits: a distance is the number of bits that differ, of all bits or of those that a text touches. Used where "
    "nothing is known of the query's bits (signatures, minhash), for simhash and learned signatures, and with "
    "--radius, --all-bits, --probe directed or a --method other than auto, exact, columns and graph.",
    "weighted: a bit that differs adds 0 to 8, by its weight against the heaviest of the query; the similarity is the "
    "share of the query's weight that agrees. Used for texts and documents that ask a topsig collection; it compares "
    "every document, and ranks better. With --rank weighted a --radius is such a distance.",
    "Unrelated documents agree in half of what counts, and the nearest of many of them in more. What the nearest would "
    "reach by chance is told with a weighted ranking: similarities about that may mean nothing.",
    NULL,
};

static const char *const lists_paragraphs[] = {
    "Each signature is cut into slices, and for every value of every slice there is a list of the documents that have "
    "it there. Of what the lists up to the breadth show, the --candidates that are most promising, by the slices they "
    "share and the bits they differ in there, are compared whole. An answer is exact if nothing that was left out can "
    "be as near as the last document in it.",
    "--method auto uses lists where there are any and they take less than comparing every document. exact compares "
    "every document. slices demands lists; where the breadth is such that comparing every document takes less, that is "
    "done. slices-plain does as the papers on slice lists say, and always by lists: slow, to compare with. sketch "
    "needs no lists: the first --sketch-bits bits of every document are compared, and the --candidates whose are "
    "nearest "
    "whole; documents nearer than these bits tell are never missed.",
    "A collection that was tuned ('nigh tune') is searched as that found best, where none of these options is given, "
    "there is no --radius, and -k is at most twice that of the tuning.",
    "--probe ball reads the lists of all slices up to --breadth bits from the query's. --probe directed reads those "
    "that are the likeliest to show something near: the bits that the query is least sure of are the ones in which "
    "others differ, so slices with these flipped come first, over all slices, up to --budget entries and --probes "
    "lists. It reads far fewer for an answer as good, but proves nothing about it. It needs to know how sure each bit "
    "is: of documents and texts that are queries, and with --id where the collection keeps it ('nigh index "
    "--keep-weights'); signatures from a file have only themselves. auto is directed where that is known, and neither "
    "--breadth, --admit, --exact nor --radius alone asks for more.",
    "--stop breadth ends after the lists up to --breadth. certain goes on until nothing else can be among the answers. "
    "seen, of slices-plain only, goes on until the answers have been seen in every slice.",
    "Queries that are compared in some of their bits only, or by weights (texts that ask a topsig collection, without "
    "--all-bits), go without lists.",
    NULL,
};

static const char *const graph_paragraphs[] = {
    "In a graph of near neighbours ('nigh index --graph' makes it) each signature knows some that are near it, in "
    "different directions. A search begins at those that share a slice with the query, and goes again and again from "
    "the nearest so far to its neighbours, until the --effort nearest have all been left behind, or --patience steps "
    "brought nothing new among the answers.",
    "It is the fastest way to the nearest documents of a large collection, and nothing of its answer is certain. "
    "--method auto takes it where there is a graph, some -k nearest are wanted and not all within a radius, and the "
    "collection is large enough; graph demands it. Segments without a graph are searched in another way.",
    "Texts that ask in some of the bits only go by a graph of masks ('nigh index --graph') where it is "
    "large enough; of another graph only with --method graph, which then finds less.",
    NULL,
};

static const char *const columns_paragraphs[] = {
    "Columns ('nigh index --columns' makes them; large topsig collections get them unasked) are the signatures on "
    "their side: bit 1 of 512 documents lies together, then bit 2, and so on. A text that touches some of the bits "
    "has only these read, the heaviest first, and no more of them than it takes to see that none of the 512 is among "
    "the nearest. The answer is that of comparing every document.",
    "--slack X can make it faster still: documents are left out that seem too far, by X standard deviations of what "
    "the bits not yet read may bring. The smaller X, the more is missed, and nothing of such an answer is certain; "
    "'nigh tune --queries' finds out whether it pays, and which. --method auto uses columns where there are any and "
    "only some of the bits count, or some more than others; columns demands them, for any query. Segments without "
    "columns are searched in another way.",
    NULL,
};

static const char *const tables_paragraphs[] = {
    "Tables find near-copies, all documents within --radius bits, by a few look-ups ('nigh index --lists tables' makes "
    "them; large collections of 64 to 128 bits get them unasked). The bits are cut into blocks: what differs from a "
    "query in at most so many bits agrees with it in a whole block, and stands in the table of that block where the "
    "query looks. So nothing within the radius they were made for is missed, and --method auto uses them up to it, "
    "with or without -k; 'nigh info' tells how far that is. Beyond it every document is compared, and how to have "
    "tables that reach is told. tables demands them.",
    "Sorted tables ('nigh index --lists sorted') are smaller. They are looked up with the bits flipped that the query "
    "is least sure of, --probes times each, and find 95 of 100 near-copies; nothing is certain of such an answer, so "
    "only --method tables uses them, for queries that are texts or documents, or --id of a collection that keeps "
    "weights.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "table: for people. The similarity is the share of what counts that agrees, rounded down. Under a document stand "
    "the first words of its text, where the collection keeps them. Under a weighted answer stands what chance would "
    "reach, under an approximate one what is certain.",
    "jsonl: an object for each match, {\"query\", \"document\", \"distance\", \"rank\", \"similarity\", \"bits\"}, the "
    "last how many were compared, \"collection\" where several are searched, and \"text\" where the collection keeps "
    "the first words of it. Of a weighted ranking "
    "also \"whole\", the distance of what differs in all that counts, and \"chance\", the similarity that the nearest "
    "of as many unrelated documents would reach. Where the answer came from slice lists also \"exact\", true or false, "
    "and if false \"below\": of documents nearer than that none was missed. Bytes of an id that are not UTF-8 become "
    "U+FFFD.",
    "tsv: query, document, distance, rank, similarity (the share of what counts that agrees) and how many bits were "
    "compared, and of several collections which one it is in, with tabs between; ids are escaped (\\t, \\n, \\r, \\\\ "
    "and \\xNN).",
    "trec: query, Q0, document, rank, score and nigh, with blanks between; the score is the similarity. Blanks "
    "inside an id are written _. Of several collections a document is COLLECTION:ID.",
    NULL,
};

static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section rank_section = {"RANKING", rank_paragraphs};
static const struct cli_section lists_section = {"SLICE LISTS", lists_paragraphs};
static const struct cli_section graph_section = {"GRAPH", graph_paragraphs};
static const struct cli_section columns_section = {"COLUMNS", columns_paragraphs};
static const struct cli_section tables_section = {"TABLES", tables_paragraphs};
const struct cli_section *const cli_search_details[] = {
    &rank_section, &columns_section, &tables_section, &lists_section, &graph_section, &output_section, NULL};

const struct cli_example cli_search_examples[] = {
    {"nigh search corpus.nigh --text \"how to bake bread\"", "the ten documents nearest to a text"},
    {"nigh search corpus.nigh page.html", "to a document"},
    {"nigh search shards/*.nigh --text \"how to bake bread\"",
     "the nearest of several collections, as if they were one"},
    {"nigh search corpus.nigh page.html --rank bits", "the same, every bit that its words touch counting one"},
    {"nigh search corpus.nigh queries.npy", "to every one of a file of signatures"},
    {"nigh search corpus.nigh --id page-17 --radius 40", "everything within 40 bits of a stored document"},
    {"nigh search pages.nigh new.npy --radius 3 --output tsv",
     "all near-copies of each, by tables where there are any"},
    {"nigh search corpus.nigh queries.npy --exact", "the same, with nothing missed where there are slice lists"},
    {"nigh search corpus.nigh queries.npy --method slices --breadth 3", "wider than usual: slower, and misses less"},
    {"nigh search corpus.nigh queries.npy --method graph --effort 2000 --patience 1000",
     "by the graph, missing less than usual"},
    {"nigh search corpus.nigh questions.jsonl --method columns --slack 1",
     "many texts, by columns; a few of the nearest may be missed"},
    {"nigh search -k 100 --output trec corpus.nigh - < queries.hex > run.txt", "a run file for trec_eval"},
    {NULL, NULL},
};
