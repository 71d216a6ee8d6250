/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the report looks: in light and dark, on a phone and on paper.  Blue is what is
 * kept and words that only the kept text has; orange is what goes.  The two are also
 * told apart by their underline, for those who see no colours.
 *
 * The policy of the page names the SHA-256 of these bytes; test_report.c computes it
 * and says what to write here after a change.
 */
#ifndef NIGH_DEDUP_REPORT_STYLE_H
#define NIGH_DEDUP_REPORT_STYLE_H

#define NIGH__REPORT_STYLE_HASH "msgLAFnRYD9RpLCsWT3VY9ARPSbjpuenvUyuFhQ6pRo="

/* One after the other; in parts, as C has limits for the length of a string. */
static const char *const nigh__report_style[] = {
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dde3;"
    "--kept:#1f5fb0;--kept-back:#dbe9fb;--near:#a8480b;--near-back:#fde4d0;--copy:#6b5b95;--copy-back:#e9e4f4;"
    "--grid:#e6e9ed;--warn:#7a5200;--warn-back:#fff4d6;--focus:#0a58ca}\n"
    "@media screen and "
    "(prefers-color-scheme:dark){:root{--page:#14171b;--card:#1d2126;--ink:#e4e7eb;--soft:#a3adb8;--line:#353b43;"
    "--kept:#7db4f5;--kept-back:#1d3a5f;--near:#f2a06a;--near-back:#54301a;--copy:#b9a8e6;--copy-back:#3a3256;"
    "--grid:#2b3037;--warn:#f2cf7c;--warn-back:#3b2f10;--focus:#8cc0ff}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:1120px;padding:1.5rem 1.25rem 2rem;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\"Noto Sans\",Arial,sans-serif;"
    "overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}\n"
    "h2{font-size:1.2rem;margin:2.25rem 0 .25rem}\n"
    ".hint{color:var(--soft);margin:0 0 .6rem;font-size:.9rem}\n"
    "header .hint{margin:0}\n"
    ".lead{font-size:1.1rem;margin:0 0 1rem}\n"
    "small{font-weight:400;color:var(--soft)}\n"
    "i{font-style:normal;font-size:.8em;color:var(--soft);border:1px solid var(--line);border-radius:3px;"
    "padding:0 .2em;unicode-bidi:isolate}\n"
    ":focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:4px}\n",
    /* headline */
    ".shares{display:block;width:100%;height:1.4rem;border-radius:6px}\n"
    "rect{stroke:var(--page);stroke-width:2;vector-effect:non-scaling-stroke}\n"
    "rect.kept{fill:var(--kept)}rect.near{fill:var(--near)}rect.copy{fill:var(--copy)}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0 0}\n"
    ".cards div{background:var(--card);border:1px solid var(--line);border-top:4px solid var(--line);border-radius:6px;"
    "padding:.5rem .8rem}\n"
    ".cards .kept{border-top-color:var(--kept)}.cards .near{border-top-color:var(--near)}"
    ".cards .copy{border-top-color:var(--copy)}\n"
    "dt{color:var(--soft);font-size:.9rem}\n"
    "dd{margin:0;font-size:1.45rem;font-weight:600;font-variant-numeric:tabular-nums}\n"
    "dd small{font-size:.9rem;white-space:nowrap}\n"
    ".warning{background:var(--warn-back);color:var(--warn);border:1px solid;border-radius:6px;padding:.6rem .9rem;"
    "margin:1rem 0 0;white-space:pre-wrap}\n",
    /* histograms and tables */
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:.75rem;"
    "margin-top:1.25rem}\n"
    "figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.8rem}\n"
    "figcaption{font-weight:600;margin-bottom:.4rem}\n"
    "figcaption small{display:block}\n"
    "figure svg{display:block;width:100%;height:auto}\n"
    "text{fill:var(--soft);font-size:13px}.value{fill:var(--ink);font-weight:600}"
    ".mid,.value{text-anchor:middle}.end{text-anchor:end}\n"
    ".below{color:var(--soft);font-size:.88rem;text-align:center;margin:.1rem 0 .3rem}\n"
    "path{fill:none}.grid{stroke:var(--grid)}.axis{stroke:var(--soft)}.bar{fill:var(--kept)}.bar:hover{opacity:.75}\n"
    "summary{cursor:pointer}\n"
    ".numbers summary,.ids summary{color:var(--soft);font-size:.9rem;padding:.25rem 0}\n"
    "table{border-collapse:collapse;font-size:.9rem}\n"
    "th,td{border-bottom:1px solid var(--line);padding:.25rem .75rem .25rem 0;text-align:left;vertical-align:top}\n"
    "th{font-weight:400;color:var(--soft)}\n"
    ".numbers td{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".done{background:var(--card);border:1px solid var(--line);border-radius:6px;border-collapse:separate;"
    "border-spacing:0;width:100%;padding:.3rem .9rem}\n"
    ".done tr:last-child>*{border-bottom:0}.done th{width:16rem;max-width:45%}\n",
    /* what the script adds */
    ".tools{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:center;margin:2rem 0 0}\n"
    ".tools label{flex:1 1 16rem}.tools input{font:inherit;width:100%;max-width:30rem;padding:.3rem .6rem;"
    "color:inherit;background:var(--card);border:1px solid var(--line);border-radius:6px}\n"
    ".tools button{font:inherit;padding:.3rem .8rem;color:inherit;background:var(--card);border:1px solid var(--line);"
    "border-radius:6px;cursor:pointer}.tools button:hover{border-color:var(--focus)}\n"
    ".tools output{color:var(--soft);font-size:.9rem}[hidden]{display:none!important}\n",
    /* clusters */
    ".cluster{background:var(--card);border:1px solid var(--line);border-radius:6px;margin:.6rem 0;padding:0 .9rem}\n"
    ".cluster>summary{padding:.6rem 0}\n"
    ".cluster>summary b{margin-right:.6rem}\n"
    ".cluster[open]{padding-bottom:.6rem}\n"
    ".id{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;font-size:.88em}\n"
    ".pair{border-top:1px solid var(--line);padding:.8rem 0}\n"
    ".two{display:grid;grid-template-columns:1fr 1fr;gap:0 .75rem}\n"
    ".two>div,.one>div,.fold>div{min-width:0;overflow:hidden}\n"
    ".two:not(.names)>div,.one>div,.fold>div{white-space:pre-wrap;font-size:.92rem;padding:.5rem .7rem;"
    "border:1px solid var(--line);border-radius:6px;margin:.3rem 0;max-height:30rem;overflow:hidden auto}\n"
    ".two:not(.names)>div:first-child{border-left:3px solid var(--kept)}"
    ".two:not(.names)>div:last-child{border-left:3px solid var(--near)}\n"
    ".tag{display:inline-block;font-size:.78rem;font-weight:600;border-radius:4px;padding:.05rem .45rem;"
    "margin-right:.3rem}\n"
    ".tag.kept{color:var(--kept);background:var(--kept-back)}.tag.near{color:var(--near);background:var(--near-back)}"
    ".tag.copy{color:var(--copy);background:var(--copy-back)}\n"
    ".facts{color:var(--soft);font-size:.88rem;margin:.3rem 0}\n"
    ".facts span:not(:last-child)::after{content:\"\\B7\";margin:0 .25em 0 .5em}\n"
    ".facts b{color:var(--ink)}\n"
    ".why{color:var(--soft);font-size:.88rem;margin:0 0 .5rem}.names small{white-space:nowrap}\n"
    "mark{color:inherit;border-radius:3px;padding:0 "
    ".12em;-webkit-box-decoration-break:clone;box-decoration-break:clone}\n"
    "mark.l{background:var(--kept-back);border-bottom:2px solid var(--kept)}\n"
    "mark.r{background:var(--near-back);border-bottom:2px dashed var(--near)}\n"
    ".fold>summary{color:var(--soft);font-size:.88rem;text-align:center;list-style:none;padding:.15rem}\n"
    ".fold>summary::-webkit-details-marker{display:none}\n"
    ".fold>summary:hover{color:var(--ink);text-decoration:underline}\n"
    ".ids ul{margin:.2rem 0 .4rem;padding-left:1.2rem;columns:22rem;font-size:.9rem}\n"
    "footer{color:var(--soft);font-size:.85rem;margin-top:2rem}\n",
    /* phones and paper */
    "@media(max-width:640px){body{padding:1rem .75rem}.two{grid-template-columns:1fr;gap:.1rem 0}h1{font-size:1.35rem}"
    ".cards{grid-template-columns:1fr 1fr;gap:.5rem}.cards div{padding:.4rem .6rem}.cards "
    "div:first-child{grid-column:1/-1}text{font-size:13.5px}dd{font-size:1.2rem}"
    ".cluster{padding:0 .6rem}.done{table-layout:fixed}.done th{width:45%}.names small{white-space:normal}}\n"
    "@media print{:root{--page:#fff}.pair div{max-height:none!important}body{max-width:none;padding:0;font-size:10pt}"
    ".tools{display:none}.charts{grid-template-columns:1fr 1fr}.cards{grid-template-columns:repeat(5,1fr)}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}figure,.cards div,.two{break-inside:avoid}"
    "h2,.names,.facts{break-after:avoid}.cluster::details-content{content-visibility:visible;block-size:auto}}\n"};

#define NIGH__REPORT_STYLE_PARTS (sizeof nigh__report_style / sizeof nigh__report_style[0])

#endif
