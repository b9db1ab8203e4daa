// Screenshots of all reports: light, dark, and on a phone.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launch, open } from "./browser.mjs";

const [pages, target] = process.argv.slice(2).map((path) => resolve(path));
const looks = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, isMobile: true },
};
const browser = await launch();
for (const name of readdirSync(pages).filter((name) => name.endsWith(".html"))) {
  for (const [look, options] of Object.entries(looks)) {
    const { page, close } = await open(browser, join(pages, name), options);
    await page.screenshot({ path: join(target, `${name.replace(".html", "")}-${look}.png`), fullPage: true });
    await close();
  }
}
await browser.close();
