/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libarchive that the library calls; see late.h.  The linker names one that is missing here. */
#include <archive.h>
#include <archive_entry.h>
#include <stdarg.h>
#include <stdio.h>

#include "late.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): headers abbreviate */

#define ARCHIVE LATE_LIBARCHIVE

LATE(ARCHIVE, int, archive_errno, (struct archive * a), (a))
LATE(ARCHIVE, const char *, archive_error_string, (struct archive * a), (a))
LATE(ARCHIVE, la_int64_t, archive_filter_bytes, (struct archive * a, int filter), (a, filter))
LATE(ARCHIVE, int, archive_format, (struct archive * a), (a))
LATE(ARCHIVE, const char *, archive_format_name, (struct archive * a), (a))

/* Arguments after a format cannot be passed on: the text is made here. */
void archive_set_error(struct archive *a, int number, const char *format, ...) {
    static _Atomic(void *) known;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    typedef void set_error(struct archive *, int, const char *, ...);
    ((set_error *)late_function(ARCHIVE, "archive_set_error", &known))(a, number, "%s", text);
}

LATE(ARCHIVE, struct archive_entry *, archive_entry_new, (void), ())
LATE_VOID(ARCHIVE, archive_entry_free, (struct archive_entry * entry), (entry))
LATE(ARCHIVE, __LA_MODE_T, archive_entry_filetype, (struct archive_entry * entry), (entry))
LATE_VOID(ARCHIVE, archive_entry_set_filetype, (struct archive_entry * entry, unsigned int type), (entry, type))
LATE(ARCHIVE, const char *, archive_entry_hardlink, (struct archive_entry * entry), (entry))
LATE(ARCHIVE, int, archive_entry_is_data_encrypted, (struct archive_entry * entry), (entry))
LATE(ARCHIVE, const char *, archive_entry_pathname, (struct archive_entry * entry), (entry))
LATE_VOID(ARCHIVE, archive_entry_set_pathname, (struct archive_entry * entry, const char *path), (entry, path))

LATE(ARCHIVE, struct archive *, archive_read_new, (void), ())
LATE(ARCHIVE, int, archive_read_free, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_read_append_filter, (struct archive * a, int filter), (a, filter))
LATE(ARCHIVE, int, archive_read_set_format, (struct archive * a, int format), (a, format))
LATE(ARCHIVE, int, archive_read_support_format_tar, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_read_support_format_zip_streamable, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_read_open,
     (struct archive * a, void *data, archive_open_callback *open, archive_read_callback *read,
      archive_close_callback *close),
     (a, data, open, read, close))
LATE(ARCHIVE, int, archive_read_next_header, (struct archive * a, struct archive_entry **entry), (a, entry))
LATE(ARCHIVE, la_int64_t, archive_read_header_position, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_read_data_block, (struct archive * a, const void **block, size_t *size, la_int64_t *offset),
     (a, block, size, offset))

LATE(ARCHIVE, struct archive *, archive_write_new, (void), ())
LATE(ARCHIVE, int, archive_write_free, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_write_close, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_write_add_filter_bzip2, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_write_add_filter_gzip, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_write_add_filter_xz, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_write_add_filter_zstd, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_write_set_bytes_in_last_block, (struct archive * a, int bytes), (a, bytes))
LATE(ARCHIVE, int, archive_write_set_filter_option,
     (struct archive * a, const char *module, const char *option, const char *value), (a, module, option, value))
LATE(ARCHIVE, int, archive_write_set_format_raw, (struct archive * a), (a))
LATE(ARCHIVE, int, archive_write_open,
     (struct archive * a, void *data, archive_open_callback *open, archive_write_callback *write,
      archive_close_callback *close),
     (a, data, open, write, close))
LATE(ARCHIVE, int, archive_write_header, (struct archive * a, struct archive_entry *entry), (a, entry))
LATE(ARCHIVE, la_ssize_t, archive_write_data, (struct archive * a, const void *data, size_t size), (a, data, size))
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
