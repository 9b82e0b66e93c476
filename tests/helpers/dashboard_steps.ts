/// <reference lib="dom" />

/** Common steps of tests of the dashboard's pages: dialogs, rows and refusals. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { type Dashboard, PHONE } from "./dashboard.ts";
import { eventually, until } from "./until.ts";

/** Rules that depend on colors. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** Axe-core on the page as it is, and on its colors in the other theme. */
export async function checkBothThemes(tab: Dashboard): Promise<void> {
  await tab.checkAccessibility();
  const isDark = await tab.page.evaluate(() => document.documentElement.dataset.theme === "dark");
  await tab.theme(isDark ? "light" : "dark");
  await tab.checkAccessibility(COLOR_RULES);
}

/** Checks that pages are not wider than a small phone, whose size the tab has from then on. */
export async function fitSmallPhone(tab: Dashboard, paths: readonly string[]): Promise<void> {
  await tab.page.setViewport({ ...PHONE, width: 360 });
  for (const path of paths) {
    await tab.go(path);
    await tab.loaded();
    await tab.fits(360);
  }
}

/** Opens a dialog, checks it, that it sends nothing while it is empty, and cancels it. */
export async function checkEmptyDialog(tab: Dashboard, name: string, field: string): Promise<void> {
  await tab.openDialog(name);
  await checkBothThemes(tab);
  const sent = tab.changes().length;
  await tab.click("button", "Create");
  await tab.invalid("textbox", field);
  const input = await tab.find("textbox", field);
  await until("it has the focus", () => input.evaluate((each) => each === document.activeElement));
  equal(tab.changes().length, sent);
  await tab.click("button", "Cancel");
  await tab.gone("dialog");
}

/** Ends the session as a revocation does, and waits until the page asks for a new one. */
export async function endSession(tab: Dashboard): Promise<void> {
  await tab.page.evaluate(async () => {
    const root = document.querySelector<HTMLScriptElement>("script[src]")!.src;
    await fetch(new URL("../auth/session", root), {
      method: "DELETE",
      headers: {
        "x-requested-with": "longshore",
        "x-page-secret": localStorage.getItem("longshore-page-secret")!,
      },
    });
  });
  await tab.find("dialog", "Sign in again");
}

/** Label or text of the part that has the focus. */
export const focused = ({ page }: Dashboard): Promise<string> =>
  page.evaluate(() => {
    const part = document.activeElement as HTMLInputElement | null;
    return part?.labels?.[0]?.textContent ?? part?.ariaLabel ?? part?.textContent ?? "";
  });

/** Moves the focus to a part with the Tab key. */
export async function focusOn(dashboard: Dashboard, name: string): Promise<void> {
  await until(`the focus is at ${name}`, async () => {
    if (await focused(dashboard) === name) return true;
    await dashboard.page.keyboard.press("Tab");
    return await focused(dashboard) === name;
  });
}

/** Moves the focus to a button, and presses Enter there. */
export async function pressAt(dashboard: Dashboard, name: string): Promise<void> {
  await dashboard.find("button", name);
  await focusOn(dashboard, name);
  await dashboard.page.keyboard.press("Enter");
}

/** Types into the part that has the focus, which must be this one, and sends the form. */
export async function enter(dashboard: Dashboard, name: string, text: string): Promise<void> {
  await until(`the focus is at ${name}`, async () => await focused(dashboard) === name);
  await dashboard.page.keyboard.type(text);
  await dashboard.page.keyboard.press("Enter");
}

/** Chooses an option of a combobox by its value. */
export async function select(tab: Dashboard, name: string, value: string): Promise<void> {
  const id = await (await tab.find("combobox", name)).evaluate((field) => field.id);
  await tab.select(`[id="${id}"]`, value);
}

/** Opens or closes a part that is folded, by its summary. */
export const unfold = (tab: Dashboard, summary: string): Promise<void> =>
  tab.click("DisclosureTriangle", summary);

/** Waits until a table has these columns; the page's only table without a name. */
export const hasColumns = (tab: Dashboard, columns: string[], table?: string): Promise<void> =>
  eventually(async () =>
    deepEqual(
      await tab.page.$$eval(
        `table${table === undefined ? "" : `[aria-label="${table}"]`} th[scope=col]`,
        (headers) => headers.map(({ textContent }) => textContent),
      ),
      columns,
    )
  );

/** Deletes a row with its confirmation. @returns The confirmation's text. */
export async function deleteRow(tab: Dashboard, name: string): Promise<string> {
  await tab.choose(name, "Delete");
  const dialog = await tab.find("alertdialog", `Delete ${name}?`);
  const text = await dialog.evaluate((each) => each.textContent);
  await tab.press("Delete", `Deleted ${name}`);
  await tab.gone("button", `Actions for ${name}`);
  return text;
}

/** Waits until a row has a text, by its first cell. */
export const rowMatches = (tab: Dashboard, name: string, text: RegExp): Promise<void> =>
  eventually(async () => match(await rowOf(tab, name), text));

/** The text of a row, by its first cell; empty if there is none. */
export const rowOf = (tab: Dashboard, name: string): Promise<string> =>
  tab.page.evaluate((wanted) => {
    const rows = [...document.querySelectorAll("tbody tr")] as HTMLElement[];
    return rows.find(({ innerText }) => innerText.split("\n")[0]!.startsWith(wanted))?.innerText ??
      "";
  }, name);
