/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a page of ours as strictly as can be. */
#ifndef NIGH_TESTS_PAGE_CHECK_H
#define NIGH_TESTS_PAGE_CHECK_H

#include <stddef.h>

/*
 * NULL, or what is wrong: bytes that are not UTF-8; characters that nobody sees but
 * that move others about; a `<` or `&` that begins nothing known; an element or an
 * attribute that the report has no use for; elements that are not closed in order.
 */
const char *page_problem(const char *html, size_t length);

#endif
