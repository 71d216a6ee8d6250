/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: make_hashes ROWS REAL|- OUT.npy QUERIES COUNT
 *
 * Hashes of images as PDQ makes them, 256 bits with 128 ones, for the benchmark of nigh serve.  Of real ones that were
 * looked at (861 images no two of which are alike) two differ in 127.8 bits with a deviation of 8.6, and 16 bits that
 * lie together agree 2.5 times as often as by chance: each bit is as the one before it a little more often than not.
 * A chain with three of eight bits turned has a deviation of 8.5, and 16 bits of it agree 2.5 times as often.
 *
 * REAL is a file of hex, one hash a line, which come first; then ROWS are filled up, one of 50 with near-copies of
 * earlier ones.  QUERIES gets COUNT lines of hex: the first rows at even steps, with 0 to 31 bits changed.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS ((size_t)4)
#define BYTES ((size_t)32)
#define ONES 128u
#define COPIES_EVERY 50u
#define MOST_CHANGED 31u

static uint64_t state = 88172645463325252u;

/* splitmix64 */
static uint64_t chance(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t ones_of(const uint64_t *row) {
    uint32_t ones = 0;
    for (size_t w = 0; w < WORDS; w++) ones += (uint32_t)__builtin_popcountll(row[w]);
    return ones;
}

static void turn(uint64_t *row, uint32_t bit) { row[bit / 64] ^= UINT64_C(1) << bit % 64; }
static bool has(const uint64_t *row, uint32_t bit) { return row[bit / 64] >> bit % 64 & 1; }

/* Each bit is the exclusive or of all turns up to it. */
static void make_chain(uint64_t *row) {
    uint64_t before = chance() & 1 ? UINT64_MAX : 0;
    for (size_t w = 0; w < WORDS; w++) {
        const uint64_t first = chance(), second = chance();
        uint64_t word = chance() & (first | second);
        for (unsigned shift = 1; shift < 64; shift *= 2) word ^= word << shift;
        row[w] = word ^ before;
        before = row[w] >> 63 ? UINT64_MAX : 0;
    }
    for (uint32_t ones = ones_of(row); ones != ONES;) {
        const uint32_t bit = chance() % 256;
        if (has(row, bit) != (ones > ONES)) continue;
        turn(row, bit);
        ones += ones > ONES ? UINT32_MAX : 1;
    }
}

/* So many different bits. */
static void change(uint64_t *row, uint32_t bits) {
    uint64_t changed[WORDS] = {0};
    while (bits > 0) {
        const uint32_t bit = chance() % 256;
        if (has(changed, bit)) continue;
        turn(changed, bit);
        turn(row, bit);
        bits--;
    }
}

static void print_hex(FILE *out, const uint64_t *row) {
    const uint8_t *bytes = (const uint8_t *)row;
    for (size_t i = 0; i < BYTES; i++) (void)fprintf(out, "%02x", bytes[i]);
    (void)fputc('\n', out);
}

static size_t read_real(const char *path, uint64_t (*rows)[WORDS], size_t most) {
    char line[256];
    size_t count = 0;
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
    while (file != NULL && count < most && fgets(line, sizeof line, file) != NULL) {
        uint8_t *bytes = (uint8_t *)rows[count];
        size_t read = 0;
        for (; read < BYTES && isxdigit((unsigned char)line[2 * read]); read++) {
            const char digits[3] = {line[2 * read], line[2 * read + 1]};
            bytes[read] = (uint8_t)strtoul(digits, NULL, 16);
        }
        count += read == BYTES;
    }
    if (file != NULL) (void)fclose(file);
    return count;
}

/* Format 1.0 of NumPy, of bytes. */
static bool write_npy(const char *path, uint64_t (*rows)[WORDS], size_t count) {
    char header[128];
    FILE *out = fopen(path, "wb");
    if (out == NULL) return false;
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    const int length =
        snprintf(header + 10, 100, "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu, 32), }", count);
    header[10 + length] = ' ';
    header[127] = '\n';
    const bool good = fwrite(header, sizeof header, 1, out) == 1 && fwrite(rows, BYTES, count, out) == count;
    return fclose(out) == 0 && good;
}

static bool write_queries(const char *path, uint64_t (*rows)[WORDS], size_t among, size_t count) {
    FILE *out = fopen(path, "w");
    if (out == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t row[WORDS];
        memcpy(row, rows[i * among / count], sizeof row);
        change(row, (uint32_t)(chance() % (MOST_CHANGED + 1)));
        print_hex(out, row);
    }
    return fclose(out) == 0;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        (void)fprintf(stderr, "usage: make_hashes ROWS REAL|- OUT.npy QUERIES COUNT\n");
        return 2;
    }
    const size_t count = strtoul(argv[1], NULL, 10), asked = strtoul(argv[5], NULL, 10);
    uint64_t(*rows)[WORDS] = count == 0 ? NULL : calloc(count + 1, sizeof *rows);
    if (rows == NULL) return 2;
    const size_t real = read_real(argv[2], rows, count);
    for (size_t i = real; i < count; i++) {
        if (i > 0 && i % COPIES_EVERY == 0) {
            memcpy(rows[i], rows[chance() % i], sizeof rows[i]);
            change(rows[i], (uint32_t)(chance() % (UINT64_C(2) * MOST_CHANGED)));
        } else {
            make_chain(rows[i]);
        }
    }
    const bool good = write_npy(argv[3], rows, count) && write_queries(argv[4], rows, real > 0 ? real : count, asked);
    free(rows);
    if (!good) perror("make_hashes");
    return good ? 0 : 2;
}
