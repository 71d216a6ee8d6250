// SPDX-License-Identifier: Apache-2.0
// The page of nigh serve.  Texts and ids of others go into the document as text nodes alone, never as markup.
"use strict";

const find = (id) => document.getElementById(id);
const numbers = new Intl.NumberFormat("en");
const state = { collections: [], name: null, asked: 0, timer: 0, samples: [], token: sessionStorage.getItem("token") || "" };

/** An element: make("p", {className: "quiet"}, "text", otherElement, ...). */
function make(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties || {})) {
        if (key.includes("-") || key === "role") element.setAttribute(key, value);
        else element[key] = value;
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

function drawn(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
}

function bytes(count) {
    const units = ["B", "KB", "MB", "GB", "TB"];
    let unit = 0;
    while (count >= 1000 && unit < units.length - 1) { count /= 1000; unit++; }
    return `${unit === 0 ? count : count.toFixed(count < 10 ? 1 : 0)} ${units[unit]}`;
}

function seconds(value) {
    if (!isFinite(value)) return "–";
    return value < 0.001 ? `${Math.round(value * 1e6)} µs` : value < 1 ? `${(value * 1e3).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}

// ------------------------------------------------------------------- asking the server

class Problem extends Error {}

async function call(path, options) {
    const headers = Object.assign({}, options && options.headers);
    if (state.token) headers.Authorization = `Bearer ${state.token}`;
    const answer = await fetch(path, Object.assign({}, options, { headers }));
    if (answer.status === 401) {
        showToken(state.token !== "");
        throw new Problem("a token is needed");
    }
    if (!answer.ok) {
        const problem = await answer.json().catch(() => ({}));
        throw new Problem(problem.detail || problem.title || `the server says ${answer.status}`);
    }
    return answer;
}

const collectionPath = () => `v1/collections/${encodeURIComponent(state.name)}`;
const current = () => state.collections.find((one) => one.name === state.name);

function showToken(wrong) {
    find("token-wrong").textContent = wrong ? "That token is not known here." : "";
    for (const id of ["ask", "clusters", "view"]) find(id).hidden = true;
    find("token").hidden = false;
    find("token-value").focus();
}

// ------------------------------------------------------------------------------ words

const wordPattern = /[\p{L}\p{N}]+/gu;
const fold = (word) => word.toLowerCase();
/** A word without its commonest endings, so that "flooded" is marked for "flood"; short words say little. */
const stem = (word) => (word.length > 4 ? fold(word).replace(/(?:ings?|ed|es|s|e)$/, "") : word.length > 3 ? fold(word) : "");
const wordsOf = (text) => new Set((text.match(wordPattern) || []).map(stem).filter((word) => word !== ""));

/** The text with the words that are in `wanted` marked. */
function marked(text, wanted) {
    const out = document.createDocumentFragment();
    let at = 0;
    for (const match of text.matchAll(wordPattern)) {
        if (!wanted.has(stem(match[0]))) continue;
        out.append(text.slice(at, match.index), make("mark", {}, match[0]));
        at = match.index + match[0].length;
    }
    out.append(text.slice(at));
    return out;
}

/** Words with what follows them, of two texts: [["same", a, b], ["gone", a], ["come", b]]; neighbours of a kind are one. */
function differences(a, b) {
    const cut = (text) => (text.match(/[^\p{L}\p{N}]*[\p{L}\p{N}]+[^\p{L}\p{N}]*|[^\p{L}\p{N}]+/gu) || []).slice(0, 1500);
    const alike = (one, two) => fold(one).replace(/[^\p{L}\p{N}]+/gu, "") === fold(two).replace(/[^\p{L}\p{N}]+/gu, "");
    const left = cut(a), right = cut(b), width = right.length + 1;
    const table = new Uint16Array((left.length + 1) * width);
    for (let i = left.length - 1; i >= 0; i--)
        for (let j = right.length - 1; j >= 0; j--)
            table[i * width + j] = alike(left[i], right[j]) ? table[(i + 1) * width + j + 1] + 1
                : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    const pieces = [];
    let i = 0, j = 0;
    while (i < left.length || j < right.length) {
        if (i < left.length && j < right.length && alike(left[i], right[j])) pieces.push(["same", left[i++], right[j++]]);
        else if (j >= right.length || (i < left.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) pieces.push(["gone", left[i++]]);
        else pieces.push(["come", right[j++]]);
    }
    return pieces;
}

/** Adds a piece behind what is there: to the last mark where that is of its kind. */
function addPiece(element, tag, text) {
    const last = element.lastChild;
    if (tag === null) element.append(text);
    else if (last && last.nodeName === tag.toUpperCase()) last.append(text);
    else element.append(make(tag, {}, text));
}

function showComparison(name, id, mine, theirs, part) {
    const a = find("side-a"), b = find("side-b");
    a.replaceChildren();
    b.replaceChildren();
    let same = 0, other = 0;
    for (const [kind, one, two] of differences(mine, theirs)) {
        const isWord = /[\p{L}\p{N}]/u.test(one);
        if (kind === "same") { addPiece(a, null, one); addPiece(b, null, two); same += isWord; }
        else { addPiece(kind === "gone" ? a : b, kind === "gone" ? "del" : "ins", one); other += isWord; }
    }
    find("side-a-name").textContent = name;
    find("side-b-name").textContent = id;
    find("compare-says").textContent = `${numbers.format(same)} ${same === 1 ? "word" : "words"} in common, ${numbers.format(other)} that ${other === 1 ? "differs" : "differ"}.`
        + (part ? " The collection keeps the beginning of its documents only." : "");
    find("compare").showModal();
}

const stored = async (id) => (await call(`${collectionPath()}/documents/${encodeURIComponent(id)}`)).json();
const textOf = (whole) => whole.text || whole.snippet || whole.metadata || "";

/** Two that are stored. */
async function compareStored(first, second) {
    const [one, two] = await Promise.all([stored(first), stored(second)]);
    showComparison(first, second, textOf(one), textOf(two), !one.text || !two.text);
}

async function compareWith(match) {
    const mine = find("query").value;
    if (kind() === "id") return compareStored(mine.trim(), match.id);
    const whole = await stored(match.id);
    return showComparison("Yours", match.id, mine, textOf(whole), !whole.text);
}

// -------------------------------------------------------------------------------- ask

const kind = () => document.querySelector("input[name=kind]:checked").value;

function note(...children) {
    find("verdict").replaceChildren(...children);
}

/** What the first match means, in words. */
function verdictOf(result) {
    const first = result.matches[0];
    if (!first) return make("span", { className: "chip" }, result.note || "Nothing found");
    if (first.distance === 0) return make("span", { className: "chip warn" }, "Yes: the same, bit for bit");
    const chance = result.whole > 0 ? 1 - result.chance / result.whole : 0;
    if (first.similarity >= 0.93) return make("span", { className: "chip warn" }, "Very likely: there is a near-copy");
    if (first.similarity <= chance + 0.03) return make("span", { className: "chip good" }, "No: nothing is nearer than by chance");
    return make("span", { className: "chip" }, "Not this one, but there are related documents");
}

/** A bar; with a line where chance would end. */
function meter(share, chance) {
    const within = (value) => `${Math.max(0, Math.min(100, value * 100))}%`;
    const bar = make("i"), line = chance > 0 ? make("u") : null;
    bar.style.width = within(share);
    if (line) line.style.left = within(chance);
    return make("div", { className: "meter", "aria-hidden": "true", title: line ? `chance alone: ${within(chance)}` : "" }, bar, line);
}

function showMatch(match, wanted, chance) {
    const text = match.snippet || match.metadata || "";
    const share = match.similarity === undefined ? 0 : match.similarity;
    const acts = make("div", { className: "acts" });
    if (kind() !== "signature" && text) {
        const button = make("button", { type: "button" }, "Side by side");
        button.addEventListener("click", () => compareWith(match).catch((problem) => note(problem.message)));
        acts.append(button);
    }
    const near = make("button", { type: "button" }, "What is like this?");
    near.addEventListener("click", () => askFor("id", match.id));
    acts.append(near);
    return make("li", { className: "hit" },
        make("div", { className: "score" }, make("b", {}, `${(share * 100).toFixed(share > 0.9995 ? 0 : 1)}%`), meter(share, chance),
            make("small", {}, `${numbers.format(match.distance)} apart`)),
        make("h2", {}, match.id), make("p", {}, marked(text, wanted)), acts);
}

function showResults(result, took, asked) {
    const proof = result.proof;
    const wanted = kind() === "text" ? wordsOf(asked) : new Set();
    note(verdictOf(result), make("span", { className: `chip ${proof.exact ? "good" : ""}` }, proof.exact ? "✓ proven" : "approximate"),
        make("span", {}, `${proof.says[0].toUpperCase()}${proof.says.slice(1)}. ${seconds(took)}.`));
    const chance = result.whole > 0 ? 1 - result.chance / result.whole : 0;
    find("results").replaceChildren(...result.matches.map((match) => showMatch(match, wanted, chance)));
}

async function ask() {
    const asked = find("query").value, number = ++state.asked;
    find("hints").hidden = asked.trim() !== "";
    if (!asked.trim()) {
        note();
        find("results").replaceChildren();
        return;
    }
    const body = { k: Number(find("k").value), exact: find("exact").checked };
    body[kind()] = kind() === "text" ? asked : asked.trim();
    const begun = performance.now();
    try {
        const answer = await (await call(`${collectionPath()}/search`, {
            method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
        })).json();
        if (number === state.asked) showResults(answer.results[0], (performance.now() - begun) / 1000, asked);
    } catch (problem) {
        if (number !== state.asked) return;
        find("results").replaceChildren();
        note(make("span", { className: "chip warn" }, problem.message));
    }
}

function askSoon() {
    clearTimeout(state.timer);
    state.timer = setTimeout(ask, 220);
}

function askFor(what, value) {
    document.querySelector(`input[name=kind][value=${what}]`).checked = true;
    find("query").value = value;
    location.hash = "#/ask";
    window.scrollTo(0, 0);
    find("query").focus();
    ask();
}

async function takeFile(file) {
    if (!file) return;
    const text = await file.slice(0, 4 << 20).text();
    if (text.includes("\u0000")) { note(make("span", { className: "chip warn" }, "That file is not text.")); return; }
    askFor("text", text);
}

// ------------------------------------------------------------------------- near-copies

/** A near-copy: what it has that the first has not is marked, and both can be seen side by side. */
function showMember(member, first) {
    const text = member.snippet || member.metadata || "", out = make("p");
    if (member === first) out.append(text);
    else for (const [kind, one, two] of differences(first.snippet || first.metadata || "", text))
        if (kind !== "gone") addPiece(out, kind === "come" ? "ins" : null, two || one);
    const head = make("div", { className: "member" }, make("b", {}, member.id));
    if (member !== first && text) {
        const button = make("button", { type: "button", "aria-label": `${first.id} and ${member.id} side by side` }, "Side by side");
        button.addEventListener("click", () => compareStored(first.id, member.id).catch((problem) => { find("clusters-lead").textContent = problem.message; }));
        head.append(button);
    }
    return make("li", {}, head, out);
}

async function showClusters() {
    const list = find("clusters-list"), lead = find("clusters-lead");
    lead.textContent = "Looking …";
    list.replaceChildren();
    try {
        const found = await (await call(`${collectionPath()}/clusters`)).json();
        lead.textContent = found.clusters === 0 ? `No two documents are within ${found.radius} bits of each other.`
            : `${numbers.format(found.near_copies)} documents are within ${found.radius} bits of an earlier one, in ${numbers.format(found.clusters)} groups. The largest:`;
        list.replaceChildren(...found.largest.map((cluster) => make("details", {},
            make("summary", {}, make("span", { className: "chip" }, `${numbers.format(cluster.size)} ×`), make("span", {}, cluster.members[0].snippet || cluster.members[0].id)),
            make("ul", {}, ...cluster.members.map((member) => showMember(member, cluster.members[0])),
                cluster.size > cluster.members.length ? make("li", {}, `and ${numbers.format(cluster.size - cluster.members.length)} more`) : null))));
    } catch (problem) {
        lead.textContent = problem.message;
    }
}

// -------------------------------------------------------------------------- collection

function tile(value, label) {
    return make("div", { className: "tile" }, make("b", {}, value), make("span", {}, label));
}

function showHistogram(data) {
    const width = 560, height = 190, left = 4, base = height - 24;
    const svg = drawn("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Histogram of distances" });
    const step = (width - 2 * left) / data.bins;
    for (const [name, style, shift] of [["pairs", "bars-a", 0], ["nearest", "bars-b", 0.5]]) {
        const most = Math.max(1, ...data[name]);
        data[name].forEach((count, i) => {
            if (count === 0) return;
            const tall = Math.max(2, (base - 8) * count / most);
            svg.append(drawn("rect", { class: style, x: left + (i + shift) * step + 0.5, y: base - tall, width: step / 2 - 0.5, height: tall, rx: 1.5 }));
        });
    }
    svg.append(drawn("line", { class: "axis", x1: left, x2: width - left, y1: base + 0.5, y2: base + 0.5 }));
    for (let i = 0; i <= 4; i++) {
        const label = drawn("text", { x: left + (width - 2 * left) * i / 4, y: height - 8, "text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle" });
        label.append(`${Math.round(data.width_bits * i / 4)}`);
        svg.append(label);
    }
    const key = make("div", { className: "key" }, make("span", {}, make("i"), "any two"), make("span", { className: "b" }, make("i"), "the nearest of each"));
    find("histogram").replaceChildren(svg, key);
    find("histogram-says").textContent = `Bits in which documents differ, of ${numbers.format(data.width_bits)}; ${numbers.format(data.sampled)} documents were looked at.`;
}

function showSizes(sizes, documents) {
    const names = { segments: "signatures, ids", lists: "slice lists", graph: "graph", columns: "columns", tables: "tables" };
    const most = Math.max(1, ...Object.keys(names).map((key) => sizes[key]));
    find("sizes").replaceChildren(...Object.keys(names).filter((key) => sizes[key] > 0).map((key) =>
        make("div", { className: "size-row" }, make("span", {}, names[key]), meter(sizes[key] / most), make("span", {}, bytes(sizes[key])))),
        make("p", { className: "quiet" }, documents > 0 ? `${bytes(Math.round(Object.keys(names).reduce((sum, key) => sum + sizes[key], 0) / documents))} a document.` : ""));
}

function showSegments(parts) {
    const head = make("tr", {}, ...["Segment", "Documents", "Distinct", "Deleted", "Bytes", "Beside it"].map((name) => make("th", { scope: "col" }, name)));
    find("segments").replaceChildren(make("thead", {}, head), make("tbody", {}, ...parts.map((part) =>
        make("tr", {}, ...[part.segment, numbers.format(part.documents), numbers.format(part.distinct), numbers.format(part.deleted), bytes(part.bytes),
            bytes(part.list_bytes + part.graph_bytes + part.column_bytes + part.table_bytes)].map((value) => make("td", {}, `${value}`))))));
}

async function showCollection() {
    try {
        const info = await (await call(collectionPath())).json();
        find("view-title").textContent = info.name;
        find("view-lead").textContent = info.threshold ? `Near-copies, verified by their texts: alike from a Jaccard index of ${info.threshold} on.`
            : info.text ? `Texts, signed by ${info.scheme} in ${numbers.format(info.width_bits)} bits.` : `Signatures of ${numbers.format(info.width_bits)} bits.`;
        find("tiles").replaceChildren(tile(numbers.format(info.documents), "documents"), tile(numbers.format(info.distinct), "different signatures"),
            tile(numbers.format(info.segments), info.segments === 1 ? "segment" : "segments"), tile(bytes(info.bytes), "on disk"), tile(numbers.format(info.deleted), "deleted"), tile(numbers.format(info.in_log), "in the log"));
        showSizes(info.sizes, info.documents);
        showSegments(info.parts);
        showHistogram(await (await call(`${collectionPath()}/histogram`)).json());
    } catch (problem) {
        find("view-lead").textContent = problem.message;
    }
}

/** Of Prometheus' lines what the plots need: answers, and their times below each bound. */
function readMetrics(text) {
    const sample = { time: performance.now() / 1000, count: 0, bounds: new Map() };
    for (const line of text.split("\n")) {
        const match = /^nigh_request_seconds_(bucket|count)\{route="(search|find-or-add|documents|against|dedup|document)",collection="((?:[^"\\]|\\.)*)"(?:,le="([^"]+)")?\} (\d+)/.exec(line);
        if (!match || match[3] !== state.name) continue;
        if (match[1] === "count") sample.count += Number(match[5]);
        else sample.bounds.set(match[4], (sample.bounds.get(match[4]) || 0) + Number(match[5]));
    }
    return sample;
}

/** The time that a share of the answers between two samples stayed below. */
function quantile(before, after, share) {
    const total = after.count - before.count;
    if (total <= 0) return NaN;
    for (const [bound, count] of after.bounds)
        if (count - (before.bounds.get(bound) || 0) >= share * total) return bound === "+Inf" ? NaN : Number(bound);
    return NaN;
}

function trace(figure, values, style, most) {
    const width = 560, height = 120;
    const svg = figure.querySelector("svg") || drawn("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The last two minutes" },
        drawn("line", { class: "axis", x1: 0, x2: width, y1: height - 5.5, y2: height - 5.5 }), drawn("line", { class: "axis", x1: 0, x2: width, y1: 8.5, y2: 8.5 }));
    const points = values.map((value, i) => `${(width * (i + 120 - values.length) / 119).toFixed(1)},${(height - 6 - (height - 14) * (isFinite(value) ? value : 0) / most).toFixed(1)}`);
    if (points.length > 1) svg.append(drawn("polyline", { class: `trace ${style}`, points: points.join(" ") }));
    if (!svg.parentNode) figure.append(svg);
}

async function pulse() {
    if (document.hidden || !state.name || !find("token").hidden) return;
    try {
        state.samples.push(readMetrics(await (await call("metrics")).text()));
    } catch {
        find("pulse").textContent = "out of reach";
        return;
    }
    if (state.samples.length > 121) state.samples.shift();
    const pairs = state.samples.slice(1).map((after, i) => [state.samples[i], after]);
    if (pairs.length === 0) return;
    const rates = pairs.map(([before, after]) => Math.max(0, (after.count - before.count) / (after.time - before.time)));
    const half = pairs.map(([before, after]) => quantile(before, after, 0.5)), most = pairs.map(([before, after]) => quantile(before, after, 0.99));
    find("pulse").textContent = `${rates[rates.length - 1].toFixed(1)} requests/s`;
    find("rate-now").textContent = `${rates[rates.length - 1].toFixed(1)} /s`;
    const last = (values) => [...values].reverse().find(isFinite);
    const any = rates.some((rate) => rate > 0);
    find("latency-now").textContent = any ? `${seconds(last(half) ?? NaN)}, ${seconds(last(most) ?? NaN)}` : "–";
    find("rate-says").textContent = `The last two minutes; at most ${Math.max(...rates).toFixed(1)} /s.`;
    find("latency-says").textContent = any ? "Half of the answers, and 99 of 100, took no longer; the last two minutes." : "Nobody searched this collection in the last two minutes.";
    find("rate").replaceChildren();
    find("latency").replaceChildren();
    trace(find("rate"), rates, "", Math.max(1, ...rates));
    const top = Math.max(1e-4, ...most.filter(isFinite));
    trace(find("latency"), half, "", top);
    trace(find("latency"), most, "trace-b", top);
}

// ------------------------------------------------------------------------------- views

function choose(name) {
    state.name = name;
    state.samples = [];
    const info = current();
    find("collection").value = name;
    find("ask-lead").textContent = `${numbers.format(info.documents)} documents in ${info.name}. Results come as you pause.`;
    for (const input of document.querySelectorAll("input[name=kind]")) input.disabled = input.value === "text" && !info.text;
    if (!info.text && kind() === "text") { // what was asked before is no signature
        document.querySelector("input[name=kind][value=signature]").checked = true;
        find("query").value = "";
    }
    const example = info.text ? '{"text": "…", "k": 5}' : '{"signature": "…", "radius": 3}';
    find("hint-curl").textContent = `curl ${location.origin}/${collectionPath()}/search \\\n  -d '${example}'`;
    find("query").placeholder = info.text ? "Paste a text, or drop a file here …" : `A signature of ${info.width_bits} bits in hex, or an id …`;
    show();
}

function show() {
    const view = (location.hash.match(/^#\/(\w+)/) || [])[1] || "ask";
    const sections = { ask: "ask", clusters: "clusters", collection: "view" };
    find("token").hidden = true;
    for (const [name, id] of Object.entries(sections)) find(id).hidden = name !== view;
    for (const link of document.querySelectorAll("nav a")) {
        if (link.dataset.view === view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    if (!state.name) return;
    document.title = `${state.name} · nigh`;
    if (view === "ask") ask();
    if (view === "clusters") showClusters();
    if (view === "collection") showCollection();
}

async function start() {
    try {
        const answer = await (await call("v1/collections")).json();
        state.collections = answer.collections;
        find("version").textContent = `nigh ${answer.version}`;
        find("collection").replaceChildren(...state.collections.map((one) => make("option", { value: one.name }, one.name)));
        if (state.collections.length === 0) { find("ask").hidden = false; note("There is no collection here."); return; }
        choose(state.collections[0].name);
        pulse();
    } catch (problem) {
        if (find("token").hidden) { find("ask").hidden = false; note(make("span", { className: "chip warn" }, problem.message)); }
    }
}

find("collection").addEventListener("change", (event) => choose(event.target.value));
find("query").addEventListener("input", askSoon);
for (const input of [...document.querySelectorAll("input[name=kind]"), find("k"), find("exact")]) input.addEventListener("change", ask);
find("clear").addEventListener("click", () => { find("query").value = ""; find("query").focus(); ask(); });
find("file").addEventListener("change", (event) => { takeFile(event.target.files[0]); event.target.value = ""; });
find("file-label").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); find("file").click(); } });
for (const name of ["dragover", "dragleave", "drop"]) find("drop").addEventListener(name, (event) => {
    event.preventDefault();
    find("drop").classList.toggle("over", name === "dragover");
    if (name === "drop") takeFile(event.dataTransfer.files[0]);
});
find("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    state.token = find("token-value").value.trim();
    sessionStorage.setItem("token", state.token);
    find("token-value").value = "";
    start();
});
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { event.preventDefault(); location.hash = "#/ask"; find("query").focus(); }
});
window.addEventListener("hashchange", show);
setInterval(pulse, 1000);
start();
