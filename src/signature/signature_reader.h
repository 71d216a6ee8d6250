/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a signature reader.  Each format is two functions: `begin`
 * reads the header and says what the file holds, `next` gives a row.  All of
 * them read forwards through struct nigh__input, so a pipe is as good as a file
 * and memory is one buffer whatever a header claims:
 *
 *     open -> detect -> begin -> next, next, ..., NIGH_END
 *                                 + a line of the ids file for each row
 */
#ifndef NIGH_SIGNATURE_SIGNATURE_READER_H
#define NIGH_SIGNATURE_SIGNATURE_READER_H

#include <stdbool.h>

#include "base/file.h"
#include "signature/floats.h"
#include "signature/formats.h"
#include "signature/lines.h"

#define NIGH__UNKNOWN_ROWS UINT64_MAX

struct nigh__format_reader {
    nigh_signature_format format;
    nigh_status (*begin)(nigh_signature_reader *reader, nigh_error *error);
    /* Points `out` at the row; NIGH_END after the last.  reader->row is how many rows came before. */
    nigh_status (*next)(nigh_signature_reader *reader, nigh_document *out, nigh_error *error);
};

enum nigh__reader_state { NIGH__READER_GOING, NIGH__READER_FINISHED, NIGH__READER_FAILED };

struct nigh_signature_reader {
    const nigh_context *context;
    struct nigh__input input;
    const struct nigh__format_reader *format;
    nigh_signature_info info;
    enum nigh__reader_state state;
    uint32_t asked_bits; /* 0: any width */
    size_t row_bytes;    /* nigh__row_bytes(info.width_bits) */
    uint64_t row;        /* rows given so far */
    size_t stride;       /* matrix: bytes of a row in the file; row_bytes unless these are floats */

    struct nigh__floats floats; /* npy */
    bool one_row;               /* npy: an array of one dimension is a row */

    uint64_t end_offset; /* matrix: where the last row ends */
    size_t name_bytes;   /* topsig: room of a name, its NUL included */

    struct nigh__lines lines; /* hex */
    bool lines_have_ids;      /* hex: also where an ids file takes their place */
    uint8_t *decoded;         /* hex: the row, owned */
    nigh_document first;      /* hex: the row that begin read */
    bool first_waits;         /* hex: and next has not given */

    char *id; /* room for one that was escaped; owned, made where one is met */

    struct nigh__input ids_input; /* released where there is no ids file */
    struct nigh__lines ids;
    bool has_ids_file;
};

/*
 * An id of a line, which is escaped (base/escape.h), as it is.  *problem: NULL, or what is wrong with it.
 *
 * Lives:   *id as long as `text`, or until the next call.
 * Returns: NIGH_OK; NIGH_ENOMEM.
 */
nigh_status nigh__reader_id(nigh_signature_reader *reader, const char *text, size_t length, const char **id,
                            size_t *id_length, const char **problem, nigh_error *error);

extern const struct nigh__format_reader nigh__reader_npy;
extern const struct nigh__format_reader nigh__reader_u8bin;
extern const struct nigh__format_reader nigh__reader_raw;
extern const struct nigh__format_reader nigh__reader_hex;
extern const struct nigh__format_reader nigh__reader_topsig;

/* As nigh_signature_reader_open(); with `one_row` an .npy of one dimension is one row. */
nigh_status nigh__signature_reader_open(nigh_context *context, const char *path,
                                        const nigh_signature_reader_options *options, bool one_row,
                                        nigh_signature_reader **out, nigh_error *error);

/* Finds the format of an input by what it begins with, then by its name.  Takes nothing from the input. */
nigh_status nigh__detect(struct nigh__input *input, nigh_signature_format *out, nigh_error *error);

/* Whether a header's first two numbers are those of a TopSig file. */
bool nigh__topsig_begins(const uint8_t *bytes, size_t available);

/*
 * Notes the bytes of a row; NIGH_EFORMAT where no signature has so many, NIGH_EMISMATCH where others were asked for.
 * Bytes do not tell how many bits of the last one count: where a width of so many bytes was asked for it is that one,
 * else all of them.
 */
nigh_status nigh__reader_set_row(nigh_signature_reader *reader, uint64_t row_bytes, nigh_error *error);
/* The same of a file that says how many bits there are, which is valid. */
nigh_status nigh__reader_set_width(nigh_signature_reader *reader, uint32_t width_bits, nigh_error *error);

/*
 * Rows one after the other from where the input stands to its end, as in npy
 * and u8bin, each `stride` bytes.  Compares with the length of the file at once, where it has one.
 */
nigh_status nigh__matrix_begin(nigh_signature_reader *reader, uint64_t rows, nigh_error *error);
nigh_status nigh__matrix_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error);

/* The file ends at `end`, before what its header needs. */
nigh_status nigh__fail_header_cut(nigh_signature_reader *reader, uint64_t end, nigh_error *error);

#endif
