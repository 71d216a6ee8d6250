/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How pages of the tool look: the colours of the report of nigh dedup, in light and dark, on a phone and on paper.
 * The policy of a page names the SHA-256 of these bytes; test_report_style.py computes it and says what to write here
 * after a change.
 */
#ifndef NIGH_CLI_PAGE_STYLE_H
#define NIGH_CLI_PAGE_STYLE_H

#define CLI_PAGE_STYLE_HASH "SqHVyyEEABP43vrMb8E63tq55LlhN2HB0J+mlApU+gQ="

static const char *const cli_page_style[] = {
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dde3;"
    "--kept:#1f5fb0;--near:#a8480b;--grid:#e6e9ed;--green:#26774a;--violet:#7a45a0;--teal:#0f7480}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#14171b;--card:#1d2126;--ink:#e4e7eb;--soft:#a3adb8;"
    "--line:#353b43;--kept:#7db4f5;--near:#f2a06a;--grid:#2b3037;--green:#74cf97;--violet:#cfa3ef;--teal:#62cbd6}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:1120px;padding:1.5rem 1.25rem 2rem;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",Arial,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}\n"
    "h2{font-size:1.1rem;margin:2rem 0 .25rem}\n"
    ".hint{color:var(--soft);margin:0 0 .6rem;font-size:.9rem}\n"
    "small{color:var(--soft)}\n",
    "table,figure{background:var(--card);border:1px solid var(--line);border-radius:6px;margin:.6rem 0}\n"
    "table{border-spacing:0;width:100%;padding:.3rem .9rem}\n"
    "figure{padding:.8rem}figcaption{font-weight:600}figure>svg{display:block;width:100%;max-width:34rem;height:auto}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:.75rem;margin:.9rem "
    "0}\n"
    ".charts figure{margin:0;min-width:0}.key{margin:.1rem 0 .4rem;font-size:.9rem}.key "
    "span{display:inline-block;margin-right:.9rem}"
    ".key svg{width:1.3rem;height:.65rem;margin-right:.3rem}\n"
    ".wide{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:6px;margin:.6rem 0}"
    ".wide table{border:0;margin:0;overflow-wrap:normal}.wide td{white-space:nowrap}.wide th{white-space:normal;"
    "vertical-align:bottom}.wide .share{width:6rem;max-width:none}\n"
    "th,td{border-bottom:1px solid var(--line);padding:.35rem .75rem .35rem 0;text-align:left;vertical-align:top}\n"
    "th{font-weight:400;color:var(--soft);font-size:.9rem}tr:last-child>td{border-bottom:0}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".number+:not(.number){padding-left:1rem}\n"
    ".id{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;font-size:.9em}\n"
    ".text{color:var(--soft);font-size:.9rem;max-height:5.4rem;overflow:hidden}\n"
    ".share{display:block;width:9rem;max-width:22vw;height:.55rem;margin-top:.25rem}\n"
    "rect.back{fill:var(--grid)}rect.part,path.bar,circle{fill:var(--kept)}path.chance{stroke:var(--near);"
    "stroke-width:2;fill:none;vector-effect:non-scaling-stroke}\n"
    "circle:hover,path.bar:hover{opacity:.7}path.grid{stroke:var(--grid);fill:none}text{fill:var(--soft);font-size:"
    "13px}"
    "path.line{stroke:var(--c);stroke-width:2;stroke-linejoin:round;fill:none}path.dashed{stroke-dasharray:5 4}"
    "path.mark{stroke:var(--soft);stroke-dasharray:2 3}"
    "circle.dot{fill:var(--c)}.c0{--c:var(--kept)}.c1{--c:var(--near)}.c2{--c:var(--green)}.c3{--c:var(--violet)}"
    ".c4{--c:var(--soft)}.c5{--c:var(--teal)}\n"
    ".mid{text-anchor:middle}.end{text-anchor:end}\n"
    ".chosen td{font-weight:600}\n"
    "footer{color:var(--soft);font-size:.85rem;margin-top:2rem}\n"
    "@media(max-width:640px){body{padding:1rem .75rem}text{font-size:14px}h1{font-size:1.35rem}table{padding:.3rem "
    ".5rem}"
    "th,td{padding-right:.4rem}.text{max-height:10.8rem}.share,.wide "
    ".share{width:4rem;max-width:none}th{font-size:.78rem}.number+:not(.number){padding-left:.3rem}"
    ".wide td:first-child{white-space:normal;min-width:6rem}}\n"
    "@media print{:root{--page:#fff}body{max-width:none;padding:0;font-size:10pt}*{print-color-adjust:exact}}\n"};

#define CLI_PAGE_STYLE_PARTS (sizeof cli_page_style / sizeof cli_page_style[0])

#endif
