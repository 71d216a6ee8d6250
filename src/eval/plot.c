/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plots of this folder share: images that stand by themselves, whose colours
 * follow the light or dark of the page.
 *
 *     t h           title, heading of a panel
 *     a g m         axis, line of the grid, mark at some place
 *     k             ground under a key, so that nothing shines through
 *     l d p         line, dashed line, point
 *     c0 .. c4      colours
 */
#include "eval/plot.h"

#include <string.h>

#include "text/unicode.h"

static const char style[] =
    "<style>\n"
    "svg{background:#fff;font:13px system-ui,sans-serif}text{fill:#333}.t{font-size:15px;font-weight:600}\n"
    ".h{font-weight:600}path{fill:none}.k{fill:#fff}.g{stroke:#e3e3e3}.a{stroke:#777}\n"
    ".m{stroke:#888;stroke-dasharray:2 3}.l{stroke-width:2;stroke-linejoin:round}\n"
    ".d{stroke-width:1.5;stroke-dasharray:5 4}.p{stroke-width:9;stroke-linecap:round}\n"
    ".c0{stroke:#1f6fc4}.c1{stroke:#c2571a}.c2{stroke:#2d8a4e}.c3{stroke:#8a4fb0}.c4{stroke:#777}\n"
    "@media(prefers-color-scheme:dark){svg{background:#16181c}.k{fill:#16181c}text{fill:#d6d6d6}\n"
    ".g{stroke:#2e3238}.a{stroke:#999}\n"
    ".c0{stroke:#5aa2ec}.c1{stroke:#ee8a4c}.c2{stroke:#62c485}.c3{stroke:#c08ae4}.c4{stroke:#a9a9a9}}\n"
    "</style>\n";

void nigh__plot_begin(struct nigh__markup *drawing, int width, int height, int left, const char *title) {
    nigh__markup_put(drawing, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n", width,
                     height);
    nigh__markup_bytes(drawing, style, sizeof style - 1);
    nigh__markup_put(drawing, "<text class=\"t\" x=\"%d\" y=\"26\">", left);
    nigh__plot_text(drawing, title);
    nigh__markup_put(drawing, "</text>\n");
}

void nigh__plot_end(struct nigh__markup *drawing) { nigh__markup_put(drawing, "</svg>\n"); }

/* XML has no control characters, and none of the two last of the first plane. */
static bool is_writable(int32_t code) {
    return code >= 32 && (code < 127 || code >= 160) && code != 0xfffe && code != 0xffff;
}

void nigh__plot_text(struct nigh__markup *drawing, const char *text) {
    const size_t length = strlen(text);
    size_t bytes = 0;
    for (size_t at = 0; at < length; at += bytes) {
        char character[NIGH__UTF8_MAX];
        const int32_t code = nigh__utf8_read(text + at, length - at, &bytes);
        if (code == '<' || code == '>' || code == '&' || code == '"')
            nigh__markup_put(drawing, "&#%d;", (int)code);
        else
            nigh__markup_bytes(drawing, character, nigh__utf8_write(is_writable(code) ? code : ' ', character));
    }
}
