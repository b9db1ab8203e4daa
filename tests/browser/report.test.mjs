// The report in a browser: nothing fails, nothing is loaded, nothing of the input runs; it can be used with mouse and keys.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FileSystemConfigLoader, HtmlValidate } from "html-validate";
import { launch, open } from "./browser.mjs";
import { STRINGS } from "./hostile.mjs";

const PAGES = ["whole", "log", "stacks", "hostile"];
const file = (name) => join(process.env.PAGES, `${name}.html`);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

// Opens a page, does something with it, and asserts that nothing happened that must not.
async function quietly(name, options, use) {
  const { page, told, close } = await open(browser, file(name), options);
  await use(page);
  assert.deepEqual(told, []);
  await close();
}

const column = (page, at) =>
  page.$$eval("#digest tbody tr:not([hidden])", (rows, at) => rows.map((row) => row.cells[at].textContent), at);

for (const name of PAGES) {
  test(`${name}: valid HTML`, async () => {
    const validate = new HtmlValidate({ extends: ["html-validate:recommended"] });
    const report = await validate.validateString(readFileSync(file(name), "utf8"), `${name}.html`);
    const found = report.results.flatMap((result) => result.messages.map((m) => `${m.line}: ${m.ruleId}: ${m.message}`));
    assert.deepEqual(found.slice(0, 10), []);
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`${name}, ${colorScheme}: axe finds nothing`, async () => {
      const { page, told, close } = await open(browser, file(name), { colorScheme });
      assert.deepEqual(told, []);
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await window.axe.run({ iframes: false })).violations);
      assert.deepEqual(found.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`), []);
      await close();
    });
  }
}

test("a press on a heading sorts, a second one turns it round", () =>
  quietly("log", {}, async (page) => {
    await page.getByRole("button", { name: "Show all kinds" }).click();
    const ranks = await column(page, 0);
    assert.equal(ranks.length, 80);
    await page.getByRole("button", { name: "Count" }).click();
    let counts = (await column(page, 3)).map(Number);
    assert.deepEqual(counts, counts.toSorted((a, b) => b - a));
    assert.equal(await page.locator("th[aria-sort=descending]").count(), 1);
    await page.getByRole("button", { name: "Count" }).click();
    counts = (await column(page, 3)).map(Number);
    assert.deepEqual(counts, counts.toSorted((a, b) => a - b));
    await page.getByRole("button", { name: "#" }).click();
    assert.deepEqual(await column(page, 0), ranks);
  }));

test("typing into the search field keeps what fits", () =>
  quietly("log", {}, async (page) => {
    assert.equal((await column(page, 0)).length, 25);
    await page.getByLabel("Search").fill("SBTEST1 update");
    const left = await column(page, 1);
    assert.ok(left.length > 0 && left.every((text) => text.includes("update sbtest1")), left.join("\n"));
    assert.match(await page.getByRole("status").textContent(), /^\d+ of 80 kinds$/);
    await page.getByLabel("Search").fill("no such thing");
    assert.equal((await column(page, 0)).length, 0);
    await page.getByLabel("Search").fill("");
    assert.equal((await column(page, 0)).length, 25);
  }));

test("with the keyboard alone: search, sort, open a statement", () =>
  quietly("log", {}, async (page) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the statements");
    await page.getByLabel("Search").focus();
    await page.keyboard.type("sleep");
    assert.equal((await column(page, 0)).length, 1);
    for (let at = 0; at < 14; at++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.tagName === "SUMMARY")) { break; }
    }
    await page.keyboard.press("Enter");
    assert.ok(await page.locator("details[open] .id").isVisible());
    assert.match(await page.locator("details[open]").textContent(), /59A74D08D407B5EDF9A57DD5A41825CA/);
  }));

test("a flame graph zooms and searches inside its frame", () =>
  quietly("whole", { answer: "vio_" }, async (page) => {
    await page.locator("iframe").first().scrollIntoViewIfNeeded();
    await page.waitForTimeout(300);
    const frame = page.frameLocator("iframe").first();
    const box = frame.locator("#frames g", { hasText: "one_connection" }).first();
    const width = async () => parseFloat(await box.locator("rect").getAttribute("width"));
    const earlier = await width();
    await box.locator("rect").click();
    await page.waitForTimeout(200);
    assert.equal(await width(), 100);
    await frame.locator("#unzoom").click();
    await page.waitForTimeout(200);
    assert.equal(await width(), earlier);
    await frame.locator("#search").click();
    await page.waitForTimeout(200);
    assert.match(await frame.locator("#matched").textContent(), /^Matched: [1-9]/);
  }));

test("a phone shows it without moving the page sideways", () =>
  quietly("whole", { viewport: { width: 390, height: 844 }, isMobile: true }, async (page) => {
    const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(content <= screen, `${content} > ${screen}`);
  }));

test("nothing of a hostile input runs, and all of it can be read", () =>
  quietly("hostile", {}, async (page) => {
    await page.getByLabel("Search").fill("select");
    for (const details of await page.locator("details summary").all()) { await details.click(); }
    await page.mouse.move(200, 200);
    const hacked = await Promise.all(page.frames().map((frame) => frame.evaluate(() => window.hacked)));
    assert.deepEqual(hacked.filter((value) => value !== undefined), []);
    assert.equal(await page.locator("script").count(), 1);
    assert.equal(await page.locator("img, link, object, embed, form").count(), 0);
    const text = await page.locator("#digest").textContent();
    assert.ok(text.includes("<script>window.hacked=1</script>"), "shown as text");
    assert.ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text), "no control characters");
    assert.ok(STRINGS.length > 10);
  }));

test("it prints: tools are gone, all statements are there", () =>
  quietly("log", {}, async (page) => {
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.getByLabel("Search").isVisible(), false);
    const shown = await page.$$eval("#digest tbody tr", (rows) => rows.filter((row) => row.offsetHeight > 0).length);
    assert.equal(shown, 80);
  }));
