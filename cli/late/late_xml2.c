/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libxml2 that the library calls; see late.h.  The linker names one that is missing here. */
#include <libxml/HTMLparser.h>
#include <libxml/dict.h>
#include <libxml/parser.h>

#include "late.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): headers abbreviate */

#define XML LATE_LIBXML2

LATE_VOID(XML, xmlInitParser, (void), ())
LATE_VOID(XML, xmlStopParser, (xmlParserCtxtPtr parser), (parser))
LATE(XML, int, xmlDictSize, (xmlDictPtr words), (words))
LATE(XML, htmlParserCtxtPtr, htmlCreatePushParserCtxt,
     (htmlSAXHandlerPtr calls, void *user, const char *chunk, int size, const char *name, xmlCharEncoding encoding),
     (calls, user, chunk, size, name, encoding))
LATE(XML, int, htmlCtxtUseOptions, (htmlParserCtxtPtr parser, int options), (parser, options))
LATE(XML, int, htmlParseChunk, (htmlParserCtxtPtr parser, const char *chunk, int size, int terminate),
     (parser, chunk, size, terminate))
LATE_VOID(XML, htmlFreeParserCtxt, (htmlParserCtxtPtr parser), (parser))
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
