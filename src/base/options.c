/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"

#define MAX_SIZE 4096u /* of any struct there will ever be: more is a size that was never set */

static void set_number(void *out, const struct nigh__option *option, uint64_t number, double real) {
    unsigned char *at = (unsigned char *)out + option->offset;
    const uint32_t number_32 = (uint32_t)number;
    switch ((enum nigh__option_kind)option->kind) {
    case NIGH__OPTION_U32:
    case NIGH__OPTION_INT:
        memcpy(at, &number_32, sizeof number_32);
        break;
    case NIGH__OPTION_U64:
        memcpy(at, &number, sizeof number);
        break;
    case NIGH__OPTION_DOUBLE:
        memcpy(at, &real, sizeof real);
        break;
    }
}

static bool is_default(const void *out, const struct nigh__option *option) {
    const unsigned char *at = (const unsigned char *)out + option->offset;
    uint32_t number_32;
    uint64_t number_64;
    double real;
    switch ((enum nigh__option_kind)option->kind) {
    case NIGH__OPTION_U32:
    case NIGH__OPTION_INT:
        memcpy(&number_32, at, sizeof number_32);
        return number_32 == NIGH__UNSET;
    case NIGH__OPTION_U64:
        memcpy(&number_64, at, sizeof number_64);
        return number_64 == NIGH__UNSET_64;
    case NIGH__OPTION_DOUBLE:
        break;
    }
    memcpy(&real, at, sizeof real);
    return real == NIGH_DEFAULT;
}

void nigh__options_init(const struct nigh__options *shape, void *out) {
    memset(out, 0, shape->size);
    memcpy(out, &shape->size, sizeof shape->size);
    for (size_t i = 0; i < shape->count; i++) set_number(out, &shape->options[i], NIGH__UNSET_64, NIGH_DEFAULT);
}

static void resolve(const struct nigh__options *shape, void *out) {
    for (size_t i = 0; i < shape->count; i++) {
        const struct nigh__option *option = &shape->options[i];
        if (!option->open && is_default(out, option)) set_number(out, option, option->number, option->real);
    }
}

void nigh__options_defaults(const struct nigh__options *shape, void *out) {
    nigh__options_init(shape, out);
    resolve(shape, out);
}

nigh_status nigh__struct_copy(void *out, size_t out_size, const void *given, nigh_error *error) {
    if (given == NULL) return NIGH_OK;
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > MAX_SIZE)
        return nigh__fail(error, NIGH_EINVAL, "a struct of size %zu: set it up with its _init() function", size);
    const unsigned char *bytes = given;
    for (size_t i = out_size; i < size; i++)
        if (bytes[i] != 0 && bytes[i] != UCHAR_MAX)
            return nigh__fail(error, NIGH_EVERSION, "an option is set that this version of the library does not know");
    memcpy(out, given, size < out_size ? size : out_size);
    memcpy(out, &out_size, sizeof out_size);
    return NIGH_OK;
}

nigh_status nigh__options_copy(const struct nigh__options *shape, void *out, const void *given, nigh_error *error) {
    nigh__options_init(shape, out);
    const nigh_status status = nigh__struct_copy(out, shape->size, given, error);
    resolve(shape, out);
    return status;
}

void nigh__info_copy(void *out, const void *info, size_t info_size) {
    size_t size;
    memcpy(&size, out, sizeof size);
    if (size > info_size) size = info_size;
    if (size <= sizeof size) return;
    memcpy((unsigned char *)out + sizeof size, (const unsigned char *)info + sizeof size, size - sizeof size);
}
