/* SPDX-License-Identifier: Apache-2.0 */
#include "search_help.h"

#include <stddef.h>

const char *const cli_search_usage[] = {"[OPTION]... COLLECTION... QUERY...", "[OPTION]... COLLECTION... --id ID...",
                                        "[OPTION]... COLLECTION... --text TEXT...", NULL};

const char *const cli_search_description[] = {
    "Finds the documents whose signatures differ least from each query: the nearest first; of equally near documents "
    "the one that was added first.",
    "QUERY is documents or signatures in any format that 'nigh index' reads, or '-' for standard input. Documents, and "
    "texts given by --text, are signed like those of the collection; a collection of your own signatures takes only "
    "signatures. A query goes by its id; if a file has none, queries are numbered from 0, on through all files.",
    "Several collections are searched as if they were one, in the order given. They must have the same scheme, "
    "vocabulary and model, such as parts that several machines made. Answers and proofs are those of one collection "
    "with all their documents, and each match names its collection. With --id the first collection that has the id is "
    "taken.",
    "A topsig signature is sparse: the words of a short text touch few of its bits. Only these bits are compared if "
    "the query is a text, a document, or with --id a stored document whose weights are kept ('nigh index "
    "--keep-weights'), unless --all-bits is given. A bit that differs counts by how sure the query is of it (--rank "
    "weighted, see RANKING); with --rank bits or --radius it counts one.",
    "Slice lists ('nigh index --lists slices' makes them) tell which documents share a slice with the query. A search "
    "reads the lists of the query's own slices (breadth 0), of slices one bit away (breadth 1), and so on: each bit "
    "more reads several times as much and misses less. A document in none of these lists differs from the query in "
    "every slice. So with s slices and breadth b, every document nearer than s (b + 1) bits is seen: with 64 slices "
    "and breadth 2, all within 191 bits. The most promising documents that were seen are compared.",
    "Without slice lists and a graph ('nigh index --graph' makes one) every document is compared, and the answer is "
    "exact. With them it may be approximate, and then says so, with what is certain; --exact makes it exact. A "
    "collection that was tuned ('nigh tune') is searched by the tuning, if no option says how. The exit code is 1 if "
    "no query matched anything.",
    NULL,
};

static const char *const rank_paragraphs[] = {
    "bits: a distance is the number of bits that differ, of all bits or of those that a text touches. Used if it is "
    "not known how sure the query's bits are (signatures, minhash), for simhash and learned signatures, and with "
    "--radius, --all-bits, --probe directed or a --method other than auto, exact, columns and graph.",
    "weighted: a bit that differs adds 0 to 8, by its weight against the heaviest of the query; the similarity is the "
    "share of the query's weight that agrees. Used for texts and documents as queries on a topsig collection; it "
    "compares every document, and ranks better. With --rank weighted, --radius is a weighted distance.",
    "Unrelated documents agree in half of what counts, and the nearest of many in more. A weighted ranking shows the "
    "similarity that the nearest would reach by chance: similarities near it may mean nothing.",
    NULL,
};

static const char *const lists_paragraphs[] = {
    "Each signature is cut into slices, and for every value of every slice there is a list of the documents that have "
    "it there. Of the documents in the lists up to the breadth, the --candidates most promising, by the slices they "
    "share and the bits that differ there, are compared in full. An answer is exact if no document that was left out "
    "can be as near as the last document in it.",
    "--method auto uses lists if there are any and they take less than comparing every document. exact compares every "
    "document. slices demands lists, but compares every document if that takes less at this breadth. slices-plain "
    "works as in the papers on slice lists, and always by lists: slow, for comparison. sketch needs no lists: the "
    "first --sketch-bits bits of every document are compared, and the --candidates whose are nearest in full; "
    "documents nearer than the last candidate in these bits are never missed.",
    "A collection that was tuned ('nigh tune') is searched by the tuning if none of these options is given, there is "
    "no --radius, and -k is at most twice that of the tuning.",
    "--probe ball reads the lists of all slices up to --breadth bits from the query's. --probe directed reads the "
    "lists most likely to hold something near: near documents tend to differ in the bits of which the query is least "
    "sure, so slices with these bits flipped come first, over all slices, up to --budget entries and --probes lists. "
    "It reads far fewer lists for an answer as good, but proves nothing about it. It needs to know how sure each bit "
    "is. This is known for documents and texts as queries, and with --id if the collection keeps it ('nigh index "
    "--keep-weights'), but not for signatures from a file. auto is directed if it is known, unless --breadth, --admit, "
    "--exact or --radius asks for more.",
    "--stop breadth ends after the lists up to --breadth. certain continues until no other document can be among the "
    "answers. seen, only for slices-plain, continues until the answers have been seen in every slice.",
    "Queries that count only some of their bits, or count them by weights (texts on a topsig collection, without "
    "--all-bits), do not use lists.",
    NULL,
};

static const char *const graph_paragraphs[] = {
    "In a graph of near neighbours ('nigh index --graph' makes it) each signature has edges to some that are near it, "
    "in different directions. A search begins at signatures that share a slice with the query, and goes again and "
    "again from the nearest so far to its neighbours, until it has visited the --effort nearest, or --patience steps "
    "brought nothing new among the answers.",
    "It is the fastest way to the nearest documents of a large collection, but proves nothing about its answer. "
    "--method auto uses a graph if there is one, the -k nearest are wanted and not all within a radius, and the "
    "collection is large enough; graph demands it. Segments without a graph are searched in another way.",
    "Texts that count only some of the bits use a graph of masks ('nigh index --graph') if it is large enough; they "
    "use other graphs only with --method graph, which then finds less.",
    NULL,
};

static const char *const columns_paragraphs[] = {
    "Columns ('nigh index --columns' makes them; large topsig collections get them by default) are the signatures "
    "stored by column: bit 1 of 512 documents lies together, then bit 2, and so on. For a text, only the bits that it "
    "touches are read, the heaviest first, and only until it is clear that none of the 512 is among the nearest. The "
    "answer is the same as comparing every document.",
    "--slack X can make it faster still: it leaves out documents that seem too far, by X standard deviations of what "
    "the bits not yet read may add. The smaller X, the more is missed, and such an answer proves nothing; 'nigh tune "
    "--queries' finds out whether slack pays, and which X. --method auto uses columns if there are any, and if only "
    "some bits count, or some more than others; columns demands them, for any query. Segments without columns are "
    "searched in another way.",
    NULL,
};

static const char *const tables_paragraphs[] = {
    "Tables find near-copies, all documents within --radius bits, by a few look-ups ('nigh index --lists tables' makes "
    "them; large collections of 64 to 128 bits get them by default). The bits are cut into blocks: a signature that "
    "differs from the query in few enough bits agrees with it in a whole block, and is found in the table of that "
    "block. So nothing within the radius of the tables is missed, and --method auto uses them up to that radius, with "
    "or without -k; 'nigh info' shows the radius. Beyond it every document is compared, and a message says how to make "
    "tables that reach. tables demands them.",
    "Sorted tables ('nigh index --lists sorted') are smaller. A look-up flips the bits of which the query is least "
    "sure, --probes times for each table, and finds 95 of 100 near-copies. This proves nothing, so only --method "
    "tables uses them, for queries that are texts or documents, or --id of a collection that keeps weights.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "table: for people. The similarity is the share of what counts that agrees, rounded down. Below a document are the "
    "first words of its text, if the collection keeps them. Below a weighted answer is the similarity by chance, below "
    "an approximate one what is certain.",
    "jsonl: an object for each match, {\"query\", \"document\", \"distance\", \"rank\", \"similarity\", \"bits\"}, the "
    "last how many were compared; \"collection\" if several are searched, and \"text\" if the collection keeps the "
    "first words. For a weighted ranking also \"whole\", the distance of a document that differs in all that counts, "
    "and \"chance\", the similarity that the nearest of as many unrelated documents would reach. If the answer came "
    "from slice lists also \"exact\", true or false, and if false \"below\": no document nearer than that was missed. "
    "Bytes of an id that are not UTF-8 become U+FFFD.",
    "tsv: query, document, distance, rank, similarity (the share of what counts that agrees), how many bits were "
    "compared, and with several collections the one it is in, with tabs between; ids are escaped (\\t, \\n, \\r, \\\\ "
    "and \\xNN).",
    "trec: query, Q0, document, rank, score and nigh, with blanks between; the score is the similarity. Blanks inside "
    "an id are written _. With several collections a document is COLLECTION:ID.",
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
    {"nigh search corpus.nigh page.html --rank bits", "the same, but each bit that its words touch counts one"},
    {"nigh search corpus.nigh queries.npy", "to each signature of a file"},
    {"nigh search corpus.nigh --id page-17 --radius 40", "everything within 40 bits of a stored document"},
    {"nigh search pages.nigh new.npy --radius 3 --output tsv", "all near-copies of each, by tables if there are any"},
    {"nigh search corpus.nigh queries.npy --exact", "the nearest to each, exactly"},
    {"nigh search corpus.nigh queries.npy --method slices --breadth 3", "wider than usual: slower, and misses less"},
    {"nigh search corpus.nigh queries.npy --method graph --effort 2000 --patience 1000",
     "by the graph, missing less than usual"},
    {"nigh search corpus.nigh questions.jsonl --method columns --slack 1",
     "many texts, by columns; a few of the nearest may be missed"},
    {"nigh search -k 100 --output trec corpus.nigh - < queries.hex > run.txt", "a run file for trec_eval"},
    {NULL, NULL},
};
