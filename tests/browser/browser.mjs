// A headless Chromium that tells every request and every message of the console.
import { chromium } from "playwright-core";
import { existsSync } from "node:fs";

const FOUND = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? FOUND, args: ["--no-sandbox", "--disable-gpu"] });

// Opens a file; `told` collects what must not happen. `options.answer` is typed into a dialog that is expected.
export async function open(browser, file, options = {}) {
  const { answer, ...looks } = options;
  const context = await browser.newContext(looks);
  const page = await context.newPage();
  const told = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) { told.push(`console: ${message.text()}`); }
  });
  page.on("pageerror", (error) => told.push(`error: ${error}`));
  page.on("dialog", (dialog) => {
    if (answer) { return dialog.accept(answer); }
    told.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`file://${file}`)) { told.push(`request: ${request.url().slice(0, 200)}`); }
  });
  await page.goto(`file://${file}`);
  await page.waitForTimeout(300);
  return { page, told, close: () => context.close() };
}
