/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a segment (analyser.c) that has bytes from 0x80 up into smaller ones, which give
 * the same terms one after the other, and come again and again where long ones do not:
 *
 *     text   abc東京都、café’s      one segment
 *     parts  abc 東京 京都 café s    each is looked up by itself
 *
 * Three things are known of the characters it looks at:
 *
 *   - Some separate whatever is around them: East Asian commas, stops, brackets and
 *     spaces, the wide forms of ASCII signs, and U+2010 to U+2027.  They are taken apart
 *     into separators, join nothing before them, and what joins them separates too.
 *   - A run of letters of Han, Hangul and Kana that are their own normal form gives the
 *     pairs of it, and each pair is what it gives alone; so does a single one.
 *   - ASCII letters and digits beside such a run are a word of their own.
 *
 * Where anything else is between two separators, all that is between them stays one part.
 */
#ifndef NIGH_TEXT_DENSE_H
#define NIGH_TEXT_DENSE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes down where the parts of text[begin..end) begin and end, by turns; returns how many edges.  That is at most
 * two more than there are bytes.  `text` is ASCII letters, digits and any bytes from 0x80 up.
 */
size_t nigh__dense_split(const uint8_t *text, size_t begin, size_t end, uint16_t *edges);

#endif
