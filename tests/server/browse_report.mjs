// SPDX-License-Identifier: Apache-2.0
// Usage: node browse_report.mjs REPORT.html FOLDER PAGE.html..., with playwright-core and axe-core in node_modules of the working folder.
//
// The report of nigh dedup in a real Chromium: at the sizes of a phone and of a desk, light and dark, with scripts and
// without; what its script adds is used. Pictures go to FOLDER. Each PAGE, which search and tune write, is looked at too.
import { createRequire } from "node:module";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";

const require = createRequire(join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [report, folder, ...pages] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** A page, with a list of whatever goes wrong on it. */
async function open(options, file = report) {
    const address = `file://${file}`;
    const context = await browser.newContext({ acceptDownloads: true, ...options });
    const page = await context.newPage();
    const wrong = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("dialog", (dialog) => { wrong.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (request.url() !== address && !request.url().startsWith("blob:")) wrong.push(`asks for ${request.url()}`); });
    await page.goto(address);
    return { page, wrong, context };
}

const shown = (page) => page.locator(".cluster:not([hidden])").count();

async function search(page) {
    const all = await shown(page);
    await page.fill(".tools input", "harbour STORM");
    assert.equal(await shown(page), 1);
    assert.equal(await page.textContent(".tools output"), `1 of ${all} clusters`);
    await page.fill(".tools input", "harbour no-such-word");
    assert.equal(await shown(page), 0);
    await page.fill(".tools input", "");
    assert.equal(await shown(page), all);
}

/** What stands side by side stands in one text then, each word that differs once. */
async function inline(page) {
    await page.click("text=Differences inline");
    assert.equal(await page.locator(".two:not(.names):visible").count(), 0);
    const merged = await page.locator(".one:visible", { hasText: "million pounds" }).first().textContent();
    assert.match(merged, /cost about twothree million pounds|cost about two three million pounds/);
    await page.click("text=Side by side");
    assert.equal(await page.locator(".one:visible", { hasText: "million pounds" }).count(), 0);
}

async function download(page) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download this list")]);
    const lines = readFileSync(await file.path(), "utf8").trim().split("\n").map((line) => line.split("\t"));
    assert.equal(file.suggestedFilename(), "clusters.tsv");
    assert.deepEqual(lines[0], ["cluster", "id", "role", "similarity"]);
    assert.ok(lines.some((line) => line[0] === "bridge" && line[1] === "bridge-update" && line[2] === "near-copy" && Number(line[3]) > 0.8));
    assert.ok(lines.some((line) => line[1] === "bridge" && line[2] === "kept"));
    assert.ok(lines.every((line) => line.length === 4));
}

/** What axe says of it, and a picture. */
async function audit(page, name) {
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
        .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`));
    assert.deepEqual(found, [], `axe on ${name}`);
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

for (const [name, width] of [["phone", 360], ["desk", 1400]]) {
    for (const colorScheme of ["light", "dark"]) {
        for (const [number, file] of pages.entries()) {
            const { page, wrong, context } = await open({ viewport: { width, height: 900 }, colorScheme }, file);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `${file}: nothing is wider than the window`);
            await audit(page, `page-${number}-${name}-${colorScheme}`);
            assert.deepEqual(wrong, []);
            await context.close();
        }
        const { page, wrong, context } = await open({ viewport: { width, height: 900 }, colorScheme });
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `${name}: nothing is wider than the window`);
        await search(page);
        await inline(page);
        await download(page);
        await audit(page, `report-${name}-${colorScheme}`);
        assert.deepEqual(wrong, []);
        await context.close();
    }
}

const { page, wrong, context } = await open({ javaScriptEnabled: false });
assert.equal(await page.locator(".tools").count(), 0);
assert.ok(await page.locator("text=Kept, as it comes first in the input.").first().isVisible());
assert.deepEqual(wrong, []);
await context.close();
await browser.close();
console.log("the report searches, merges and gives its list, at two sizes, light and dark; and reads without scripts");
