/**
 * The dashboard's page of updates, in a real Chromium with the real service, engine and registry.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { type Dashboard, DESKTOP, startDashboardBrowser } from "../helpers/dashboard.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { startRegistry } from "../helpers/registry.ts";
import { until } from "../helpers/until.ts";

const GOOD = "echo ready; trap 'exit 0' TERM; sleep 2147483647 & wait";
const BAD = "echo cannot read the settings; exit 3";

/** An update pulls, stops, starts and watches. */
const LONG = { deadlineMs: 300_000 };

long(privateEngineTest)("the dashboard finds, applies and explains updates", async (engine) => {
  await using registry = await startRegistry(engine);
  const reference = await publish(engine, registry.push, GOOD);
  await engine.docker("run", "--detach", "--name=site", reference);
  try {
    await using service = await startLongshore({
      engineSocket: engine.socketPath,
      env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service, DESKTOP, { path: "/updates" });
    await tab.find("switch", "Check for updates");
    await tab.click("button", "Settings");
    await tab.find("dialog", "Update settings");
    await tab.checkAccessibility();
    await tab.click("button", "Add window");
    await tab.type("textbox", "Opens (cron)", "0 3 * *");
    await tab.click("button", "Save");
    await until(
      "the window is refused",
      async () => (await tab.page.content()).includes("Must have five fields"),
    );
    await tab.checkAccessibility();
    await tab.type("textbox", "Opens (cron)", "0 3 * * sat");
    await tab.type("spinbutton", "Stable after (seconds)", "5");
    await tab.click("button", "Save");
    await tab.status("Saved the update settings");
    const { body: { windows } } = await service.call("GET", "/api/updates/settings");
    deepEqual(windows.map(({ cron, durationMinutes }: Window) => [cron, durationMinutes]), [
      ["0 3 * * sat", 120],
    ]);
    await tab.click("switch", "Check for updates");
    await tab.status("Images are checked from now on");

    await publish(engine, registry.push, BAD);
    await tab.click("button", "Check now");
    await tab.find("row", /site:1.*Update available/);
    await tab.checkAccessibility();
    await tab.choose(reference, "Update site");
    await planIsShown(tab);
    await tab.click("checkbox", "Bring the data back if it fails");
    const says = async () =>
      (await tab.page.content()).includes("Nothing that is replaced writes to a volume");
    await until("the plan says what is kept", says);
    await tab.checkAccessibility();
    await tab.click("button", "Cancel");
    await tab.gone("dialog");
    await tab.find("table", "Updates");
    deepEqual((await tab.names("columnheader")).slice(0, 6), [
      ...["Image", "Status", "Current", "Available", "Containers", "Checked"],
    ]);
    await tab.click("button", "Update all");
    await tab.find("alertdialog", "Update 1 container?");
    await tab.checkAccessibility();
    await tab.click("button", "Update");
    await tab.status("Started 1 update");
    await until("it is rolled back", () => tab.find("row", /site.*Rolled back/), LONG);
    await until("the image is blocked", () => tab.find("row", /site:1.*Blocked/), LONG);
    await tab.find("row", /site.*exit/);
    const before = (await engine.docker("inspect", "--format={{.Image}}", "site")).trim();
    await tab.loaded();
    deepEqual(await isEnabled(tab, "Update all"), false);
    await tab.go("/");
    await tab.find("listitem", /image is blocked: site/);
    await tab.go("/updates");
    await tab.choose("the block of site", "Allow again");
    await tab.status("The image may be installed in site again");
    await tab.choose("the update of site", "Details");
    await tab.find("dialog", "Update of site");
    await until(
      "its log is shown",
      async () => (await tab.page.content()).includes("cannot read the settings"),
    );
    await tab.checkAccessibility();
    await tab.click("button", "Close");

    await publish(engine, registry.push, `${GOOD} # newer`);
    const checkedAt = async () =>
      (await service.call("GET", "/api/updates")).body.updates[0].checkedAt;
    const last = await checkedAt();
    await tab.click("button", "Check now");
    // The row still shows the update that failed.
    await until("it is checked again", async () => await checkedAt() !== last);
    await tab.find("row", /site:1.*Update available/);
    await tab.go("/");
    await tab.find("link", "Show updates");
    await tab.go("/containers");
    await tab.find("row", /site.*Update/);
    await tab.go("/containers/site");
    await tab.click("button", "Details");
    await tab.find("dialog", "Update of site");
    await tab.click("button", "Close");
    await tab.click("button", "More actions");
    await tab.click("menuitem", "Update");
    await planIsShown(tab);
    await tab.type("textbox", "Tag", "missing");
    await tab.page.keyboard.press("Tab");
    const asksFor = async (tag: string) => (await tab.page.content()).includes(`/site:${tag}`);
    await until("the other tag is asked for", () => asksFor("missing"));
    await tab.type("textbox", "Tag", "1");
    await tab.page.keyboard.press("Tab");
    await planIsShown(tab);
    await tab.click("button", "Update");
    await tab.status("The update of site has begun");
    await until("the update has ended", async () => {
      const { body } = await service.call("GET", "/api/jobs?kind=container.update&limit=1");
      return body.jobs[0].status === "succeeded";
    }, LONG);
    await tab.gone("button", "Details");
    await tab.go("/updates");
    await until("the update has succeeded", () => tab.find("row", /site.*Succeeded/), LONG);
    const image = async () =>
      (await engine.docker("inspect", "--format={{.Image}}", "site")).trim();
    equal(before === await image(), false);

    await tab.choose("the update of site", "Roll back");
    await tab.click("button", "Roll back");
    await tab.status("The rollback of site has begun");
    await until("it is listed", () => tab.find("row", /site.*Rollback.*Succeeded/), LONG);
    equal(before, await image());
    await tab.checkAccessibility();
    deepEqual(tab.complaints, []);
  } finally {
    await engine.docker("rm", "--force", "site");
  }
});

/** The state that the container is in, once the update's dialog knows it. */
const planIsShown = (tab: Dashboard) =>
  until("the plan is shown", async () => {
    const dialog = await tab.find("dialog", "Update site");
    return await dialog.evaluate((each) => each.textContent.includes("Running"));
  });

async function isEnabled(tab: Dashboard, name: string): Promise<boolean> {
  const button = await tab.find("button", name);
  return await button.evaluate((each) => !(each as HTMLButtonElement).disabled);
}

interface Window {
  cron: string;
  durationMinutes: number;
}

/** Puts an image that runs `script` into the registry, with the engine's copy under its name gone. */
async function publish(
  engine: RealEngine,
  push: (repository: string, image: string) => Promise<string>,
  script: string,
): Promise<string> {
  const container = (await engine.docker("create", BUSYBOX, "true")).trim();
  const change = `CMD ${JSON.stringify(["sh", "-c", script])}`;
  const image = (await engine.docker("commit", "--change", change, container)).trim();
  await engine.docker("rm", container);
  return await push("site:1", image);
}
