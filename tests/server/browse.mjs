// SPDX-License-Identifier: Apache-2.0
// Usage: node browse.mjs ADDRESS FOLDER, with playwright-core and axe-core in node_modules of the working folder.
//
// Clicks through the page in a real Chromium, at three sizes, light and dark, with hostile texts and ids in the
// collection; pictures go to FOLDER.  Fails on anything that the page should not do.
import { createRequire } from "node:module";
import { join } from "node:path";
import { strict as assert } from "node:assert";

const require = createRequire(join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const [address, folder] = process.argv.slice(2);
const sizes = { desktop: [1280, 900], tablet: [820, 1100], phone: [390, 844] };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** Until something holds on the page; Playwright's own way would need eval, which the page does not allow. */
async function until(page, holds) {
    for (let i = 0; i < 600; i++) {
        if (await page.evaluate(holds)) return;
        await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`never came true: ${holds}`);
}

/** A page that notes whatever goes wrong on it. */
async function open(options) {
    const context = await browser.newContext({ bypassCSP: false, ...options });
    const page = await context.newPage();
    const wrong = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("dialog", (dialog) => { wrong.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (!request.url().startsWith(address)) wrong.push(`asks elsewhere: ${request.url()}`); });
    await page.goto(address);
    await until(page, () => document.getElementById("collection").options.length > 0);
    return { page, wrong, context };
}

async function audit(page, where) {
    // axe is a tool of the test; the policy of the page does not let it in as a script, so it comes through the debugger.
    const source = (await import("node:fs")).readFileSync(axe, "utf8");
    await page.evaluate(source);
    const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
        .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`));
    assert.deepEqual(found, [], `axe on ${where}`);
}

const hits = (page) => page.locator(".hit");
async function ask(page, text) {
    await page.fill("#query", text);
    await until(page, () => document.querySelectorAll(".hit").length > 0);
}

for (const [name, [width, height]] of Object.entries(sizes)) {
    for (const colorScheme of ["light", "dark"]) {
        const { page, wrong, context } = await open({ viewport: { width, height }, colorScheme });
        await ask(page, "flood in the valley river bridge");
        assert.ok(await page.locator(".hit mark").count() > 0, "words in common are marked");
        assert.match(await page.locator("#verdict").innerText(), /exact: each of/i);
        await page.screenshot({ path: join(folder, `ask-${name}-${colorScheme}.png`) });
        await audit(page, `ask, ${name}, ${colorScheme}`);
        await page.click('nav a[data-view="clusters"]');
        await page.waitForSelector("#clusters-list details");
        await page.click("#clusters-list summary >> nth=0");
        await page.screenshot({ path: join(folder, `clusters-${name}-${colorScheme}.png`) });
        await audit(page, `clusters, ${name}, ${colorScheme}`);
        await page.click('nav a[data-view="collection"]');
        await page.waitForSelector("#histogram rect");
        await page.waitForSelector("#rate polyline", { timeout: 20000 });
        await page.screenshot({ path: join(folder, `collection-${name}-${colorScheme}.png`), fullPage: true });
        await audit(page, `collection, ${name}, ${colorScheme}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
        assert.deepEqual(wrong, []);
        await context.close();
    }
}

// Each thing that can be done, once.
const { page, wrong, context } = await open({ viewport: { width: 1280, height: 900 } });
await ask(page, "flood in the valley river bridge");
await page.locator(".hit button", { hasText: "Side by side" }).first().click();
await page.waitForSelector("#compare[open]");
await page.screenshot({ path: join(folder, "compare.png") });
await audit(page, "side by side");
await page.keyboard.press("Escape");
await page.waitForSelector("#compare:not([open])", { state: "attached" });
await page.locator(".hit button", { hasText: "What is like this?" }).first().click();
await until(page, () => document.querySelector("input[name=kind][value=id]").checked);
await until(page, () => /bit for bit/.test(document.getElementById("verdict").innerText));
await page.selectOption("#k", "5");
await until(page, () => document.querySelectorAll(".hit").length === 5);
await page.check("#exact");
await page.click("#clear");
await until(page, () => document.querySelectorAll(".hit").length === 0);
await page.setInputFiles("#file", { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("storm by the harbour") });
await until(page, () => document.querySelectorAll(".hit").length > 0);
await page.setInputFiles("#file", { name: "x.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) });
await until(page, () => /not text/.test(document.getElementById("verdict").innerText));
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press("/");
assert.equal(await page.evaluate(() => document.activeElement.id), "query");

// Hostile ids and texts are shown, and do nothing.
await page.check("input[name=kind][value=text]", { force: true });
await ask(page, "hostile script alert image onerror");
await until(page, () => document.querySelector(".hit").innerText.includes("<script>"));
assert.match(await hits(page).first().innerText(), /<script>|<img/);
assert.equal(await page.evaluate(() => window.hacked), undefined);
assert.equal(await page.locator(".hit img, .hit script").count(), 0);

// Another collection, of signatures: texts cannot be asked there.
await page.selectOption("#collection", "hashes");
await until(page, () => document.querySelector("input[name=kind][value=text]").disabled);
await page.check("input[name=kind][value=id]", { force: true });
await page.fill("#query", "3");
await until(page, () => document.querySelectorAll(".hit").length > 0);
assert.deepEqual(wrong, []);
await context.close();
await browser.close();
console.log("the page does what it should");
