/**
 * What tests of the dashboard's pages have in common: dialogs, rows and refusals.
 *
 * @module
 */

import { equal, match } from "node:assert/strict";
import type { Dashboard } from "./dashboard.ts";

/** Axe-core on the page as it is, in both themes. */
export async function checkBothThemes(tab: Dashboard): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await tab.theme(theme);
    await tab.checkAccessibility();
  }
}

/** Opens a dialog, checks it, that it sends nothing while it is empty, and cancels it. */
export async function checkEmptyDialog(tab: Dashboard, name: string, field: string): Promise<void> {
  await tab.click("button", name);
  await tab.find("dialog", name);
  await checkBothThemes(tab);
  const sent = tab.requests.length;
  await tab.click("button", "Create");
  const input = await tab.find("textbox", field);
  equal(await input.evaluate((each) => each.getAttribute("aria-invalid")), "true");
  equal(await input.evaluate((each) => each === document.activeElement), true);
  equal(tab.requests.length, sent);
  await tab.click("button", "Cancel");
  await tab.gone("dialog");
}

/** Deletes a row with its confirmation. @returns The confirmation's text. */
export async function deleteRow(tab: Dashboard, name: string): Promise<string> {
  await tab.choose(name, "Delete");
  const dialog = await tab.find("alertdialog", `Delete ${name}?`);
  const text = await dialog.evaluate((each) => each.textContent);
  await tab.click("button", "Delete");
  await tab.status(`Deleted ${name}`);
  await tab.gone("button", `Actions for ${name}`);
  return text;
}

/** The browser reports the refusal of the step before; nothing else may be reported. */
export function takeRefusal(tab: Dashboard, status = 400): void {
  const refused = new RegExp(`^${status} |status of ${status}`);
  for (const each of tab.complaints.splice(0)) match(each, refused);
}

/** The text of a row, by its first cell; empty if there is none. */
export const rowOf = (tab: Dashboard, name: string): Promise<string> =>
  tab.page.evaluate((wanted) => {
    const rows = [...document.querySelectorAll("tbody tr")] as HTMLElement[];
    return rows.find(({ innerText }) => innerText.split("\n")[0]!.startsWith(wanted))?.innerText ??
      "";
  }, name);
