/**
 * The dashboard backs up a stack, shows what was stored and restores it, in a real Chromium with the
 * real service and engine.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { join } from "node:path";
import { type Dashboard, DESKTOP, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes, rowMatches, select } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const DATA = "harbor_data";

const labels = {
  "com.docker.compose.project": "harbor",
  "com.docker.compose.service": "db",
  "com.docker.compose.container-number": "1",
  "com.docker.compose.oneoff": "False",
};

/** Jobs stop containers and watch them for ten seconds. */
const LONG = { deadlineMs: 300_000 };

long(privateEngineTest)("the dashboard backs up a stack and restores it", async (engine) => {
  const options = ["--volume", `${DATA}:/data`];
  await using db = await engine.runContainer({ name: "harbor-db-1", labels, options });
  const sh = (command: string) => engine.docker("exec", db.name, "sh", "-c", command);
  try {
    await sh("mkdir /data/conf; echo old > /data/conf/app.ini");
    await using service = await startLongshore({ engineSocket: engine.socketPath });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service, DESKTOP, { path: "/backups" });
    await backUp(tab);
    await sh("echo new > /data/conf/app.ini; echo more > /data/more");
    await browse(tab);
    await restoreAsNew(tab, engine);
    await replace(tab);
    equal(await sh("cd /data; cat conf/app.ini; ls"), "old\nconf");
    await showKept(tab);
    await engine.docker("stop", db.name);
    await putBack(tab);
    await engine.docker("start", db.name);
    equal(await sh("cat /data/conf/app.ini"), "new");
    await replaceStack(tab);
    equal(await sh("cat /data/conf/app.ini"), "old");
    await remove(tab);
    deepEqual(tab.complaints, []);
  } finally {
    await engine.docker("rm", "--force", db.name);
    await engine.docker("volume", "rm", "--force", DATA, `${DATA}-copy`);
  }
});

/** By keyboard. */
async function backUp(tab: Dashboard): Promise<void> {
  await rowMatches(tab, "harbor", /1 volume.*Never backed up/s);
  await tab.checkAccessibility();
  await (await tab.find("button", "Back up harbor")).focus();
  await tab.page.keyboard.press("Enter");
  await tab.find("dialog", "Back up harbor");
  await select(tab, "Mode", "live");
  await tab.type("textbox", "Note", "before the move");
  await checkBothThemes(tab);
  await tab.page.keyboard.press("Enter");
  await tab.status("Backed up harbor");
  await rowMatches(tab, "harbor", /now|ago/);
  await rowMatches(tab, "harbor", /Never drilled/);
  await drill(tab);
  await checkBothThemes(tab);
  await tab.click("link", "harbor");
  await tab.find("heading", "harbor");
  await tab.find("paragraph", /^Last backup (now|\d+ \w+ ago), .* at This host$/);
  await tab.find("button", "Back up");
  await checkBothThemes(tab);
  await tab.go("/backups");
}

async function drill(tab: Dashboard): Promise<void> {
  await tab.click("button", "Drill harbor");
  await tab.status("The drill of harbor has succeeded");
  await rowMatches(tab, "harbor", /Restored and healthy.*(now|ago)/s);
}

async function browse(tab: Dashboard): Promise<void> {
  await tab.click("tab", "Snapshots");
  await rowMatches(tab, "harbor", /before the move.*By hand/s);
  await checkBothThemes(tab);
  await tab.click("link", "harbor");
  await tab.find("heading", /^Snapshot [0-9a-f]{8}$/);
  await openDirectories(tab, "volumes", DATA, "conf");
  await rowMatches(tab, "app.ini", /4 B/);
  await checkBothThemes(tab);
  const folder = await Deno.makeTempDir({ prefix: "longshore-test-" });
  await using _folder = { [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  await tab.downloadTo(folder);
  await tab.choose("app.ini", "Download");
  const file = join(folder, "app.ini");
  await until("it is downloaded", () => Deno.readTextFile(file).catch(() => false));
  equal(await Deno.readTextFile(file), "old\n");
}

async function openDirectories(tab: Dashboard, ...names: string[]): Promise<void> {
  for (const name of names) await tab.click("link", name);
}

/** On a phone. */
async function restoreAsNew(tab: Dashboard, engine: RealEngine): Promise<void> {
  await tab.page.setViewport(PHONE);
  await tab.fits(PHONE.width);
  await tab.click("button", "Restore");
  await tab.find("dialog", /^Restore harbor, /);
  await tab.type("textbox", "Name of the new volume", `${DATA}-copy`);
  await checkBothThemes(tab);
  await tab.click("button", "Restore");
  await tab.status(`Restored ${DATA}`);
  const mount = `${DATA}-copy:/copy`;
  equal(
    await engine.docker("run", "--rm", "-v", mount, BUSYBOX, "cat", "/copy/conf/app.ini"),
    "old",
  );
  await tab.page.setViewport(DESKTOP);
}

async function replace(tab: Dashboard): Promise<void> {
  await tab.click("button", "Restore");
  await tab.find("dialog", /^Restore harbor, /);
  await select(tab, "Restore to", "replace");
  await checkBothThemes(tab);
  await tab.click("button", "Restore");
  const question = await tab.find("alertdialog", `Replace ${DATA}?`);
  match(await question.evaluate((each) => each.textContent), /harbor-db-1 is stopped/);
  await checkBothThemes(tab);
  const { length } = tab.changes();
  await tab.type("textbox", `Type ${DATA} to confirm`, "harbor");
  equal(await isDisabled(tab, "Replace"), true);
  await tab.type("textbox", `Type ${DATA} to confirm`, DATA);
  equal(tab.changes().length, length, "nothing is sent before the name was typed");
  await tab.click("button", "Replace");
  await tab.find("progressbar", "Restoring harbor");
  await checkBothThemes(tab);
  await until("it has ended", () => tab.status(`Restored ${DATA}`).then(() => true), LONG);
}

const isDisabled = async (tab: Dashboard, name: string): Promise<boolean> =>
  await (await tab.find("button", name)).evaluate((each) => (each as HTMLButtonElement).disabled);

/** From the result in words to the snapshot of what was replaced. */
async function showKept(tab: Dashboard): Promise<void> {
  await tab.go("/backups");
  await tab.choose("Restore of harbor", "Details");
  const dialog = await tab.find("dialog", "Restore of harbor");
  match(
    await dialog.evaluate((each) => each.innerText),
    /into harbor_data.*harbor-db-1.*Downtime/s,
  );
  await checkBothThemes(tab);
  await tab.click("link", /^Snapshot [0-9a-f]{8}$/);
  await tab.find("heading", /^Snapshot [0-9a-f]{8}$/);
  const others = await tab.find("combobox", "Compare with");
  const [, value] = await others.evaluate((each) =>
    [...(each as HTMLSelectElement).options].map((option) => option.value)
  );
  await tab.select("[aria-label='Compare with']", value!);
  await rowMatches(tab, `/volumes/${DATA}/conf/app.ini`, /Content/);
  await rowMatches(tab, `/volumes/${DATA}/more`, /Added/);
  await checkBothThemes(tab);
}

async function putBack(tab: Dashboard): Promise<void> {
  await openDirectories(tab, "volumes", DATA, "conf");
  await tab.choose("app.ini", "Put back");
  await tab.find("alertdialog", "Put back app.ini?");
  await tab.type("textbox", "Type app.ini to confirm", "app.ini");
  await tab.click("button", "Put back");
  await until("it has ended", () => tab.status("Restored app.ini").then(() => true), LONG);
}

/** The stack has no sources: they are written from its container. */
async function replaceStack(tab: Dashboard): Promise<void> {
  await tab.go("/backups/snapshots?stack=harbor");
  await tab.click("link", "harbor");
  await tab.click("button", "Restore");
  await tab.find("dialog", /^Restore harbor, /);
  await tab.click("radio", "Whole stack");
  await tab.click("button", "Show plan");
  await tab.alert(/Stack harbor already exists/);
  await tab.refused(409);
  await select(tab, "Restore as", "replace");
  await checkBothThemes(tab);
  await tab.click("button", "Show plan");
  await tab.find("heading", "Plan for harbor");
  const dialog = await tab.find("dialog", /^Restore harbor, /);
  match(
    await dialog.evaluate((each) => each.innerText),
    /Stops meanwhile: harbor-db-1.*Replaced\s+harbor_data.*Written from the containers/s,
  );
  await checkBothThemes(tab);
  await tab.click("button", "Restore");
  await tab.type("textbox", "Type harbor to confirm", "harbor");
  await tab.click("button", "Replace");
  await until("it has ended", () => tab.status("Restored harbor").then(() => true), LONG);
}

async function remove(tab: Dashboard): Promise<void> {
  await tab.click("button", "More actions");
  await tab.click("menuitem", "Delete");
  await tab.find("alertdialog", /^Delete snapshot [0-9a-f]{8}\?$/);
  await tab.press("Delete", /^Deleted snapshot [0-9a-f]{8}$/);
  await tab.find("tab", "Snapshots");
}
