/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model: what every setting of a finder takes, predicted, and which is
 * best.  The equations are those of chapter VI of the PSM paper (Sood, 2011), with
 * d = log2 of the rows, f bits, z blocks of which x lead, L = z choose x tables,
 * a prefix of p bits, k probes, h the radius:
 *
 *     (6.6)   L 2^(d - xf/z)                     rows a query is compared with, tables
 *     (6.10)  L (f c1 + (xf/z) c2 + rows c3)     time of a query, tables
 *     (6.12)  L 2^d f/8                          bytes, tables
 *     (6.16)  (p + k) log(k + h) c1 + rows c2    time of a query, PSM
 *     (6.17)  (2^d + 2^p) f/8                    bytes, PSM
 *     (6.21)  k 2^(d - p)                        rows a query is compared with, PSM
 *
 * and for a batch of m queries against n fingerprints in a file of chunks of m:
 *
 *     (6.13), (6.18)  nf/8 c0                            reading the file
 *     (6.14)  (m + n) f c1 + m log m c2 + n (xf/z) c3 + n m 2^(-xf/z) c4   a table, F -> Q
 *     (6.15)  max(L reading, L (6.14))                   tables, the whole batch
 *     (6.19)  m (p + k) log(k + h) c1 + n m k 2^(-p) c2 + m log m c3       PSM, Q -> F
 *     (6.20)  max(reading, (6.19))                       PSM, the whole batch
 *
 * They are adapted to what our code does:
 *
 * - The binary search of (6.10) is a look-up in a direct index of 2^i entries, one
 *   cache line, whatever the rows.  Of the leading bits the index takes i at most
 *   (nigh__tables_index_bits()), so that a bucket has 2^(d - i) rows.
 * - Memory decides.  A look-up is charged the line of its index entry and the lines
 *   that its bucket lies on.  They are free where all tables together are small, and
 *   cost `miss` where they are large; between the two the price grows with the
 *   logarithm of the size.  `miss` is measured with many queries under way at once,
 *   so it is a fraction of what a single miss takes.
 * - Tables hold 32 bits of a row; what passes by these is looked up once more.
 * - Bytes are those of the tables as they are laid out, and of rows where these are
 *   kept beside them; lists of the numbers of equal rows are not foreseen.
 * - Who needs one match alone (6.9) stops sooner where there is one: only the share of
 *   queries that have one saves anything.  PSM looks combinations up in waves, and
 *   leaves the listing out where the first one hits.  Of tables all buckets are asked
 *   for together, so that only what is compared, and found, becomes less.
 * - The paper has no term for what is found.  A match is charged `hit`, and a tenth of
 *   it for each table: there it is met again, or others of its crowd are, that are
 *   close enough to be looked at.  How many a query has is the caller's to say.
 *
 * And of batches (finder/chunk_match.c):
 *
 * - The disk reads ahead while chunks are searched: the longer of the two counts.  All
 *   tables look at a fingerprint while it is there, so the file is read once, not L
 *   times.  12 bytes of it are a fingerprint's, and each is charged `load`.
 * - (6.14): looking a fingerprint up among m queries takes what looking a query up
 *   among m rows does, (6.10), and so does building the tables.
 * - (6.19): of all queries the combinations are sorted, `key`, and then go beside each
 *   chunk: n k `visit`s in n / m chunks, with the query's bits from anywhere in memory.
 *   Sorting the batch itself is part of appending it.
 *
 * Recall of PSM is recall.c's.  Whether it is right: docs/lab/radius-search.md, "Cost model".
 */
#include "finder/choice.h"

#include <math.h>
#include <stdbool.h>

#include "base/limits.h"
#include "base/logarithm.h"
#include "base/status.h"
#include "finder/finder_options.h"
#include "finder/recall.h"
#include "finder/sorted.h"
#include "finder/tables.h"
#include "scan/cost_model.h"

#define LINE 64.0
#define NEXT_LINE (1.0 / 3) /* what the line after one costs: it is asked for before it is needed */
#define NEAR_BYTES 4e6      /* tables up to this size are in the cache, */
#define FAR_BYTES 512e6     /* from this size on in memory */
#define LONE_NEAR_BYTES 2e6 /* the same for places that are asked for one at a time, */
#define LONE_STEPS 4.0      /* after so many doublings in memory, */
#define LONE_MISSES 4.0     /* where they cost so many of those that are under way together */
#define MET_AGAIN 0.1       /* what a match costs more for each table; measured */
#define KEY_BITS 32u        /* of a row, that tables compare first */
#define KEY_BYTES 4.0
#define FEW_TABLES 32.0   /* of more, a query's lines are gone from the cache again before they are read: */
#define TABLES_TWICE 60.0 /* so many more cost twice as much each; measured */
#define MAX_CHUNKED (UINT64_C(1) << 48)
#define CHUNK_ROW_BYTES 12.0     /* of a fingerprint in a file of chunks */
#define SORTED_MISS 0.6          /* fingerprints come in order, so that some tables have the place at hand; measured */
#define BATCH_QUERY_BYTES 33.0   /* a query, its answer and whether it has one; for sorting what was found */
#define BATCH_BLOCK_BYTES 6.3e6  /* of the file: one searched, one read */
#define KEY_AND_PLACE_BYTES 16.0 /* a weak combination, and where it is sorted to */

const char *nigh_finder_method_name(nigh_finder_method method) {
    static const char *const names[] = {"auto", "scan", "tables", "psm"};
    return method >= NIGH_FINDER_AUTO && method <= NIGH_FINDER_PSM ? names[method] : NULL;
}

void nigh_costs_default(nigh_costs *out) {
    const nigh_costs costs = {
        .size = sizeof costs,
        .compare = nigh__cost_seconds(NIGH__COST_KEY_COMPARE),
        .miss = nigh__cost_seconds(NIGH__COST_MISS),
        .permute = nigh__cost_seconds(NIGH__COST_PERMUTE),
        .enumerate = nigh__cost_seconds(NIGH__COST_ENUMERATE),
        .sort = nigh__cost_seconds(NIGH__COST_SORT),
        .fill = nigh__cost_seconds(NIGH__COST_FILL),
        .scan_byte = nigh__cost_seconds(NIGH__COST_LONE_BYTE),
        .read_bytes = NIGH__DISK_BYTES_PER_SECOND,
        .query = nigh__cost_seconds(NIGH__COST_QUERY),
        .take = nigh__cost_seconds(NIGH__COST_TAKE),
        .whole = nigh__cost_seconds(NIGH__COST_WHOLE_COMPARE),
        .key = nigh__cost_seconds(NIGH__COST_BATCH_KEY),
        .visit = nigh__cost_seconds(NIGH__COST_BATCH_VISIT),
        .load = nigh__cost_seconds(NIGH__COST_BATCH_LOAD),
        .hit = nigh__cost_seconds(NIGH__COST_HIT),
    };
    nigh__info_copy(out, &costs, sizeof costs);
}

/* ------------------------------------------------------------ predicting -- */

struct model {
    const nigh_plan_options *options;
    nigh_costs costs;
    double rows;
    double row_bytes; /* as they are kept: whole words */
    double matched;   /* of the queries: those that stop at a match */
};

/* The same on every machine, as what is chosen must be. */
static double power_of_two(uint32_t bits) { return (double)(UINT64_C(1) << (bits & 63)); }
static double log2_of(double x) { return nigh__ln(x) / 0.6931471805599453; }

/* How far away tables of this size are, all together: 0 in the cache, 1 in memory. */
static double distance_of(double bytes) {
    if (bytes <= NEAR_BYTES) return 0;
    if (bytes >= FAR_BYTES) return 1;
    return log2_of(bytes / NEAR_BYTES) / log2_of(FAR_BYTES / NEAR_BYTES);
}

/* A place anywhere in so many bytes, waited for: nothing else is under way, and a larger table goes by meanwhile. */
static double lone_seconds(const struct model *model, double bytes) {
    double steps = bytes <= LONE_NEAR_BYTES ? 0 : log2_of(bytes / LONE_NEAR_BYTES) / LONE_STEPS;
    return LONE_MISSES * model->costs.miss * (steps < 1 ? steps : 1);
}

/* A look-up of so many rows of `bytes` each, one after the other: the lines of the index and of the rows. */
static double bucket_seconds(const struct model *model, double all_bytes, double rows, double bytes, double tables) {
    double lines = 2 + NEXT_LINE * rows * bytes / LINE;
    if (tables > FEW_TABLES) lines *= 1 + (tables - FEW_TABLES) / TABLES_TWICE;
    double compare = bytes > KEY_BYTES ? model->costs.whole : model->costs.compare;
    return lines * model->costs.miss * distance_of(all_bytes) + rows * compare;
}

/* A row put at a random place: a quarter of it is work, the rest the way to memory. */
static double place_seconds(double seconds, double all_bytes) {
    return seconds * (0.25 + 0.75 * distance_of(all_bytes));
}

/* The share of other rows whose 32 bits are within the radius all the same. */
static double pass_share(uint32_t radius) {
    double term = 1.0 / 4294967296.0;
    double share = 0;
    for (uint32_t i = 0; i <= radius && i <= KEY_BITS; i++) {
        share += term;
        term = term * (KEY_BITS - i) / (i + 1);
    }
    return share;
}

static bool stops(const struct model *model) { return model->options->mode == NIGH_FIND_ANY; }

/* What a query finds, on average; one that stops meets nothing again. */
static double hits_seconds(const struct model *model, double tables, double all_bytes) {
    const double again = stops(model) ? 0 : MET_AGAIN * tables;
    const double matches = stops(model) ? model->matched : model->options->matches;
    return matches * model->costs.hit * (1 + again) * (0.5 + 0.5 * distance_of(all_bytes));
}

/*
 * (6.9), of a query that has a match: which table is the first to have it.  The match
 * differs in 1 to h blocks, each as likely, and is in the tables that lead with x of
 * the others; T of L tables that come in any order begin at (L + 1) / (T + 1).
 */
static double tables_until_match(uint32_t radius, uint32_t blocks, uint32_t leading) {
    const double all = nigh__tables_count(blocks, leading);
    const uint32_t most = radius < blocks - leading ? radius : blocks - leading;
    double sum = 0;
    for (uint32_t differ = 1; differ <= most; differ++)
        sum += (all + 1) / (nigh__tables_count(blocks - differ, leading) + 1.0);
    return most == 0 ? 1 : sum / most;
}

/* Which share of a query's tables is compared. */
static double tables_compared(const struct model *model, uint32_t blocks, uint32_t leading) {
    if (!stops(model)) return 1;
    const double until = tables_until_match(model->options->radius, blocks, leading);
    return 1 - model->matched * (1 - until / nigh__tables_count(blocks, leading));
}

static void predict_scan(const struct model *model, nigh_plan_row *out) {
    *out = (nigh_plan_row){.method = NIGH_FINDER_SCAN, .recall = 1, .compared = model->rows};
    double bytes = model->rows * model->row_bytes;
    out->bytes = (uint64_t)bytes;
    out->build_seconds = model->rows * place_seconds(model->costs.take, 3 * bytes);
    out->query_seconds = model->costs.query + bytes * model->costs.scan_byte + hits_seconds(model, 0, bytes);
}

static void predict_tables(const struct model *model, uint32_t blocks, uint32_t leading, nigh_plan_row *out) {
    const nigh_plan_options *options = model->options;
    const nigh_costs *costs = &model->costs;
    *out = (nigh_plan_row){.method = NIGH_FINDER_TABLES, .blocks = blocks, .leading = leading, .recall = 1};
    uint64_t bytes = nigh__tables_bytes(options->rows, options->width_bits, blocks, leading);
    uint32_t index_bits = nigh__tables_index_bits(options->rows, options->width_bits, blocks, leading);
    out->tables = nigh__tables_count(blocks, leading);
    double bucket = model->rows / power_of_two(index_bits);
    double rows_bytes = model->rows * model->row_bytes;
    out->compared = out->tables * bucket;      /* (6.6) */
    out->bytes = bytes + (uint64_t)rows_bytes; /* (6.12) */
    double table_bytes = (double)bytes / out->tables;
    out->build_seconds = model->rows * (place_seconds(costs->take, 3 * rows_bytes) +
                                        out->tables * place_seconds(costs->fill, 4 * table_bytes));
    const double share = tables_compared(model, blocks, leading);
    out->compared *= share;
    double passed = bucket * pass_share(options->radius);
    double again = passed * (costs->permute + 2 * costs->miss * distance_of((double)out->bytes));
    /* (6.10), (6.11) */
    out->query_seconds =
        costs->query + hits_seconds(model, out->tables, (double)out->bytes) +
        out->tables *
            (costs->permute + bucket_seconds(model, (double)bytes, bucket, KEY_BYTES, out->tables) + share * again);
}

/* The first term of (6.16) and (6.19). */
static double listing_seconds(const struct model *model, uint32_t prefix_bits, uint32_t probes) {
    return (prefix_bits + probes) * log2_of(probes + model->options->radius + 1.0) * model->costs.enumerate;
}

/* What a query that may stop looks up, of all tables: combinations, and shares of listings. */
struct tried {
    double probes, listings;
};

/* The curve is of probes of each table; tables that come later are as likely to have the match, and seldom needed. */
static struct tried probes_tried(const struct model *model, const struct nigh__recall_curve *curve, uint32_t probes,
                                 uint32_t rotations) {
    const struct tried all = {(double)probes * rotations, rotations};
    if (!stops(model)) return all;
    struct tried found = {0, 1 - nigh__recall_at(curve, 1)};
    uint32_t hits = 0; /* of the probes before */
    for (uint32_t probe = 0; probe < probes; probe++) {
        found.probes += rotations * (1 - (double)hits / curve->samples);
        hits += curve->found[probe];
    }
    return (struct tried){all.probes + model->matched * (found.probes - all.probes),
                          all.listings + model->matched * (found.listings - all.listings)};
}

static void predict_psm(const struct model *model, const struct nigh__recall_curve *curve, uint32_t prefix_bits,
                        uint32_t probes, uint32_t rotations, nigh_plan_row *out) {
    const nigh_plan_options *options = model->options;
    const nigh_costs *costs = &model->costs;
    struct nigh__sorted_plan plan = {.prefix_bits = prefix_bits, .probes = probes, .rotations = rotations};
    *out = (nigh_plan_row){
        .method = NIGH_FINDER_PSM, .prefix_bits = prefix_bits, .probes = probes, .rotations = rotations};
    uint64_t bytes = nigh__sorted_bytes(options->rows, options->width_bits, &plan);
    double bucket = model->rows / power_of_two(prefix_bits);
    double rows_bytes = model->rows * model->row_bytes;
    bool inside = options->width_bits == 64;
    out->tables = rotations;
    const struct tried tried = probes_tried(model, curve, probes, rotations);
    out->compared = tried.probes * bucket;                    /* (6.21) */
    out->bytes = bytes + (inside ? 0 : (uint64_t)rows_bytes); /* (6.17) */
    out->build_seconds = model->rows * (place_seconds(costs->take, 3 * rows_bytes) +
                                        rotations * place_seconds(costs->sort, 4 * (double)bytes / rotations));
    double listing = listing_seconds(model, prefix_bits, probes);
    double far_rows = bucket * (costs->miss * distance_of((double)out->bytes) * (1 + model->row_bytes / LINE) +
                                costs->whole * model->row_bytes / 8);
    if (inside) far_rows = 0;
    /* (6.16) */
    out->query_seconds = costs->query + hits_seconds(model, rotations, rotations * rows_bytes) +
                         tried.listings * listing +
                         tried.probes * (bucket_seconds(model, (double)bytes, bucket, inside ? 8 : 4, 1) + far_rows);
}

/* --------------------------------------------------------------- batches -- */

/* Puts the time of the whole batch into a row, (6.15) and (6.20), and what is the same for all methods. */
static void batch_finish(const struct model *model, double search_seconds, double bytes, nigh_plan_row *out) {
    const nigh_costs *costs = &model->costs;
    double queries = (double)model->options->batch;
    double reading = model->rows * CHUNK_ROW_BYTES / costs->read_bytes; /* (6.13), (6.18) */
    double working = search_seconds + model->rows * costs->load + queries * costs->query;
    out->query_seconds = (working > reading ? working : reading) / queries;
    out->build_seconds = queries * place_seconds(costs->sort, 4 * queries * CHUNK_ROW_BYTES);
    bytes += queries * BATCH_QUERY_BYTES + BATCH_BLOCK_BYTES;
    out->bytes = bytes < 1e18 ? (uint64_t)bytes : UINT64_C(1000000000000000000);
}

static void batch_scan(const struct model *model, nigh_plan_row *out) {
    *out = (nigh_plan_row){.method = NIGH_FINDER_SCAN, .recall = 1, .compared = model->rows};
    double queries = (double)model->options->batch;
    double each = model->rows * model->row_bytes * model->costs.scan_byte + hits_seconds(model, 0, FAR_BYTES);
    batch_finish(model, queries * each, 0, out);
}

/* A finder of the queries, which the fingerprints are asked of. */
static void batch_tables(const struct model *model, uint32_t blocks, uint32_t leading, nigh_plan_row *out) {
    nigh_plan_options options = *model->options;
    options.rows = options.batch;
    options.matches *= (double)options.batch / model->rows; /* of a fingerprint */
    struct model turned = {
        .options = &options, .costs = model->costs, .rows = (double)options.rows, .row_bytes = model->row_bytes};
    turned.costs.miss *= SORTED_MISS;
    predict_tables(&turned, blocks, leading, out);
    out->compared *= model->rows / turned.rows;
    double each = out->query_seconds - model->costs.query; /* that is charged with `load` */
    batch_finish(model, out->build_seconds + model->rows * each, (double)out->bytes, out);
}

static void batch_psm(const struct model *model, uint32_t prefix_bits, uint32_t probes, nigh_plan_row *out) {
    const nigh_costs *costs = &model->costs;
    double queries = (double)model->options->batch;
    *out = (nigh_plan_row){
        .method = NIGH_FINDER_PSM, .tables = 1, .prefix_bits = prefix_bits, .probes = probes, .rotations = 1};
    out->compared = probes * model->rows / power_of_two(prefix_bits);
    double chunks = model->rows > queries ? model->rows / queries : 1;
    double preparing = queries * (listing_seconds(model, prefix_bits, probes) + probes * costs->key);
    double visit = costs->visit + lone_seconds(model, 9 * queries);
    /* Who has a match meets it after half of the file, and is not asked again. */
    double asked = stops(model) ? 1 - model->matched * (1 - 1 / chunks) / 2 : 1;
    double search = queries * (asked * (chunks * probes * visit + out->compared * costs->whole) +
                               hits_seconds(model, 1, 9 * queries));
    batch_finish(model, preparing + search, queries * probes * KEY_AND_PLACE_BYTES, out); /* (6.19) */
}

/* --------------------------------------------------------- every setting -- */

static void model_scan(const struct model *model, nigh_plan_row *out) {
    if (model->options->batch == 0)
        predict_scan(model, out);
    else
        batch_scan(model, out);
}

static void model_tables(const struct model *model, uint32_t blocks, uint32_t leading, nigh_plan_row *out) {
    if (model->options->batch == 0)
        predict_tables(model, blocks, leading, out);
    else
        batch_tables(model, blocks, leading, out);
}

static void model_psm(const struct model *model, const struct nigh__recall_curve *curve, uint32_t prefix_bits,
                      uint32_t probes, uint32_t rotations, nigh_plan_row *out) {
    if (model->options->batch == 0)
        predict_psm(model, curve, prefix_bits, probes, rotations, out);
    else
        batch_psm(model, prefix_bits, probes, out);
}

/* Rows as they come, counted also where there is no room for them. */
struct listing {
    nigh_plan_row *rows;
    size_t capacity;
    size_t count;
    const nigh_plan_options *options;
    nigh_plan_row best;
    size_t best_at; /* SIZE_MAX: none fits */
    double best_seconds;
};

static void list(struct listing *listing, nigh_plan_row row) {
    const nigh_plan_options *options = listing->options;
    row.fits = row.recall >= options->recall && (options->memory_bytes == 0 || row.bytes <= options->memory_bytes);
    double seconds = row.query_seconds;
    if (options->queries > 0 && options->batch == 0) seconds += row.build_seconds / (double)options->queries;
    if (row.fits && (listing->best_at == SIZE_MAX || seconds < listing->best_seconds)) {
        listing->best = row;
        listing->best_at = listing->count;
        listing->best_seconds = seconds;
    }
    if (listing->count < listing->capacity) listing->rows[listing->count] = row;
    listing->count++;
}

static void list_tables(const struct model *model, struct listing *out) {
    const nigh_plan_options *options = model->options;
    nigh_plan_row row;
    uint32_t radius = options->radius > 0 ? options->radius : 1; /* a table that leads with all bits is none */
    for (uint32_t leading = 1; leading + radius <= NIGH__MAX_BLOCKS; leading++) {
        uint32_t blocks = leading + radius;
        if (blocks > options->width_bits) break;
        if (nigh__tables_count(blocks, leading) > NIGH__MAX_TABLES) break;
        model_tables(model, blocks, leading, &row);
        list(out, row);
    }
}

static uint64_t chunk_rows(const nigh_plan_options *options) {
    return options->batch < options->rows ? options->batch : options->rows;
}

/* Of a wanted recall the prefix with which a query is the fastest: (6.21) halves with each bit, k grows. */
static void list_psm(const struct model *model, struct listing *out) {
    static const double usual[] = {0.90, 0.95, 0.97, 0.99};
    enum { RECALLS = sizeof usual / sizeof usual[0], PREFIXES = 3 };
    const nigh_plan_options *options = model->options;
    const double *recalls = options->recall < 1 ? &options->recall : usual;
    uint32_t recall_count = options->recall < 1 ? 1 : RECALLS;
    uint64_t rows = options->batch == 0 ? options->rows : chunk_rows(options);
    uint32_t most = nigh__sorted_prefix_bits(rows);
    uint32_t most_rotations = options->batch == 0 ? 3 : 1;
    if (most > options->width_bits) most = options->width_bits;
    for (uint32_t rotations = 1; rotations <= most_rotations; rotations++) {
        nigh_plan_row best[RECALLS] = {{0}};
        for (uint32_t i = 0; i < PREFIXES && most > 2 * i; i++) {
            struct nigh__recall_curve curve;
            nigh__recall_draw(options->width_bits, options->radius, most - 2 * i, rotations, NIGH_WEAK_GAUSSIAN,
                              &curve);
            for (uint32_t j = 0; j < recall_count; j++) {
                nigh_plan_row row;
                uint32_t probes = nigh__recall_reach(&curve, recalls[j]);
                if (probes == 0) continue;
                model_psm(model, &curve, most - 2 * i, probes, rotations, &row);
                row.recall = nigh__recall_at(&curve, probes);
                if (best[j].probes == 0 || row.query_seconds < best[j].query_seconds) best[j] = row;
            }
        }
        for (uint32_t j = 0; j < recall_count; j++) {
            bool again =
                j > 0 && best[j].probes == best[j - 1].probes && best[j].prefix_bits == best[j - 1].prefix_bits;
            if (best[j].probes > 0 && !again) list(out, best[j]);
        }
    }
}

/* ----------------------------------------------------------------- public -- */

static nigh_status check(const nigh_plan_options *options, nigh_error *error) {
    if (options->rows == 0) return nigh__fail(error, NIGH_EINVAL, "a plan needs the number of rows");
    if (options->batch == 0 && options->rows >= UINT32_MAX)
        return nigh__fail(error, NIGH_EINVAL, "a finder holds at most %lu rows", (unsigned long)UINT32_MAX - 1);
    const nigh_status status = nigh__width_allowed(options->width_bits, error);
    if (status != NIGH_OK) return status;
    if (options->radius > options->width_bits)
        return nigh__fail(error, NIGH_EINVAL, "a radius of %u in %u bits", (unsigned)options->radius,
                          (unsigned)options->width_bits);
    if (!(options->recall > 0) || options->recall > 1)
        return nigh__fail(error, NIGH_EINVAL, "a recall is above 0 and at most 1");
    if (options->batch >= UINT32_MAX || (options->batch > 0 && options->rows > MAX_CHUNKED))
        return nigh__fail(error, NIGH_EINVAL, "a batch of %llu queries against %llu rows is too much",
                          (unsigned long long)options->batch, (unsigned long long)options->rows);
    if (options->batch > 0 && options->width_bits != 64)
        return nigh__fail(error, NIGH_EINVAL, "chunks hold rows of 64 bits, not %u", (unsigned)options->width_bits);
    if (!(options->matches >= 0) || options->matches > (double)options->rows)
        return nigh__fail(error, NIGH_EINVAL, "%g matches for a query, of %llu rows", options->matches,
                          (unsigned long long)options->rows);
    if (options->matched > 1)
        return nigh__fail(error, NIGH_EINVAL, "a share of %g of the queries has a match", options->matched);
    if (options->mode < NIGH_FIND_ALL || options->mode > NIGH_FIND_ANY)
        return nigh__fail(error, NIGH_EINVAL, "no such way to find: %d", (int)options->mode);
    return NIGH_OK;
}

static nigh_status model_init(const nigh_plan_options *options, struct model *out, nigh_error *error) {
    *out = (struct model){.options = options, .costs = {.size = sizeof(nigh_costs)}, .rows = (double)options->rows};
    const uint32_t words = (options->width_bits + 63) / 64;
    out->row_bytes = 8.0 * words;
    out->matched = options->matched >= 0 ? options->matched : options->matches < 1 ? options->matches : 1;
    nigh_costs_default(&out->costs);
    return nigh__struct_copy(&out->costs, sizeof out->costs, options->costs, error);
}

static nigh_status list_all(const nigh_plan_options *options, bool probabilistic, struct listing *out,
                            nigh_error *error) {
    struct model model;
    nigh_status status = check(options, error);
    if (status == NIGH_OK) status = model_init(options, &model, error);
    if (status != NIGH_OK) return status;
    nigh_plan_row scan;
    out->options = options;
    out->best_at = SIZE_MAX;
    model_scan(&model, &scan);
    list(out, scan);
    list_tables(&model, out);
    if (probabilistic) list_psm(&model, out);
    return NIGH_OK;
}

nigh_status nigh_plan_finder(const nigh_plan_options *options, nigh_plan_row *rows, size_t capacity, size_t *count,
                             nigh_error *error) {
    nigh_plan_options known;
    struct listing listing = {.rows = rows, .capacity = capacity};
    nigh_status status = nigh__options_copy(&nigh__plan_options_shape, &known, options, error);
    if (status == NIGH_OK) status = list_all(&known, true, &listing, error);
    if (status != NIGH_OK) return status;
    if (listing.best_at < capacity) rows[listing.best_at].recommended = 1;
    *count = listing.count;
    return NIGH_OK;
}

nigh_status nigh__choose(const nigh_plan_options *options, nigh_plan_row *out, nigh_error *error) {
    struct listing listing = {.rows = NULL};
    nigh_status status = list_all(options, options->recall < 1, &listing, error);
    if (status != NIGH_OK) return status;
    if (listing.best_at == SIZE_MAX)
        return nigh__fail(error, NIGH_ELIMIT, "no method fits into %llu bytes",
                          (unsigned long long)options->memory_bytes);
    *out = listing.best;
    out->recommended = 1;
    return NIGH_OK;
}

static void predict_one_psm(const struct model *model, nigh_plan_row *row) {
    const nigh_plan_options *options = model->options;
    struct nigh__recall_curve curve = {.samples = 1};
    if (stops(model) && options->batch == 0)
        nigh__recall_draw(options->width_bits, options->radius, row->prefix_bits, row->rotations, NIGH_WEAK_GAUSSIAN,
                          &curve);
    model_psm(model, &curve, row->prefix_bits, row->probes, row->rotations, row);
}

nigh_status nigh__predict(const nigh_plan_options *options, nigh_plan_row *row, nigh_error *error) {
    struct model model;
    nigh_status status = check(options, error);
    if (status == NIGH_OK) status = model_init(options, &model, error);
    if (status != NIGH_OK) return status;
    if (row->method == NIGH_FINDER_TABLES)
        model_tables(&model, row->blocks, row->leading, row);
    else if (row->method == NIGH_FINDER_PSM)
        predict_one_psm(&model, row);
    else
        model_scan(&model, row);
    return NIGH_OK;
}
