/**
 * The dashboard's pages of images, networks, volumes and the host, in a real Chromium with the real
 * service and a real engine.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { ElementHandle } from "puppeteer-core";
import {
  type Dashboard,
  type DashboardBrowser,
  PHONE,
  startDashboardBrowser,
} from "../helpers/dashboard.ts";
import { checkBothThemes, hasColumns } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { type Registry, startRegistry } from "../helpers/registry.ts";
import { eventually, until } from "../helpers/until.ts";

const PASSWORD = "correct horse battery staple";

/** Each is one part of a browser's visit; all share one engine, one service and one browser. */
long(privateEngineTest)(
  "the dashboard manages images, networks, volumes and the host",
  async (engine) => {
    await using registry = await startRegistry(engine);
    await engine.docker("network", "create", "harbor");
    await engine.docker("volume", "create", "harbor_data");
    await using _app = await engine.runContainer({
      name: "harbor-app",
      options: ["--network", "harbor", "--volume", "harbor_data:/data"],
    });
    await using service = await startLongshore({ engineSocket: engine.socketPath });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service);

    try {
      await checkNetworks(tab, engine);
      await checkVolumes(tab, engine);
      await checkImages(tab, engine, registry);
      await checkHost(tab, engine);
      deepEqual(tab.complaints, []);
      await checkPhone(tab);
    } finally {
      await engine.docker("rm", "--force", "harbor-app");
      await engine.docker("network", "rm", "harbor");
      await engine.docker("volume", "rm", "harbor_data");
    }
  },
);

long(privateEngineTest)(
  "viewers see images, networks and volumes, and cannot change them",
  async (engine) => {
    await using service = await startLongshore({
      engineSocket: engine.socketPath,
      env: { AUTH_MODE: "users", ADMIN_EMAIL: "admin@example.com", ADMIN_PASSWORD: PASSWORD },
    });
    const { body } = await service.call(
      "POST",
      "/auth/login",
      { email: "admin@example.com", password: PASSWORD },
      { token: null },
    );
    const viewer = { email: "viewer@example.com", password: `${PASSWORD} 2`, role: "viewer" };
    const created = await service.call("POST", "/auth/users", viewer, { token: body.accessToken });
    equal(created.status, 201);
    await using browser = await startDashboardBrowser();
    const tab = await signInAs(browser, service, viewer);

    for (const [path, table] of [["/networks", "Networks"], ["/images", "Images"]] as const) {
      await tab.go(path);
      await tab.find("link", "Skip to content");
      await tab.find("table", table);
      await tab.find("button", "Search");
      await tab.gone("button", /^(New|Prune|Pull|Load)/);
    }
    await tab.click("button", `Actions for ${BUSYBOX}`);
    await tab.find("menuitem", "Details");
    await eventually(async () => deepEqual(await tab.names("menuitem"), ["Details"]));
    deepEqual(tab.complaints, []);
  },
);

async function signInAs(
  browser: DashboardBrowser,
  service: { baseUrl: string },
  { email, password }: { email: string; password: string },
): Promise<Dashboard> {
  const tab = await browser.tab(service);
  await tab.open("/");
  await tab.type("textbox", "Email", email);
  await tab.type("textbox", "Password", password);
  await tab.click("button", "Sign in");
  await tab.find("heading", "Overview");
  await tab.refused(401); // A browser without a session.
  return tab;
}

async function checkNetworks(tab: Dashboard, engine: RealEngine): Promise<void> {
  await tab.go("/networks");
  await tab.find("table", "Networks");
  await tab.find("link", "harbor-app");
  await hasColumns(tab, ["Name", "Driver", "Subnets", "Containers", "Created"]);
  await checkBothThemes(tab);

  await tab.click("button", "New network");
  await tab.find("dialog", "New network");
  await checkBothThemes(tab);
  const sent = tab.changes().length;
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Name");
  equal(tab.changes().length, sent);
  await tab.type("textbox", "Name", "backend");
  await tab.type("textbox", "Subnet", "10.9.9.1/8");
  await tab.click("button", "Create");
  await tab.alert(/subnet/i);
  await tab.refused();
  await tab.type("textbox", "Subnet", "10.91.0.0/24");
  await tab.type("textbox", "Labels", "tier=back end");
  await tab.click("checkbox", "Internal");
  await tab.click("button", "Create");
  await tab.status("Created backend");
  await tab.gone("dialog", "New network");
  equal(
    await engine.docker(
      "network",
      "inspect",
      "--format",
      "{{.Internal}} {{(index .IPAM.Config 0).Subnet}} {{.Labels.tier}}",
      "backend",
    ),
    "true 10.91.0.0/24 back end",
  );

  await tab.choose("harbor", "Remove");
  await tab.find("alertdialog", "Remove harbor?");
  await tab.click("button", "Remove");
  await tab.alert(/harbor-app/);
  await tab.refused(409);
  await tab.click("button", "Dismiss");
  await tab.choose("backend", "Remove");
  await tab.click("button", "Remove");
  await tab.status("Removed backend");
  await tab.gone("button", "Actions for backend");

  await tab.type("searchbox", "Filter networks", "nothing like this");
  await tab.click("button", "Clear filters");
  await tab.find("button", "Actions for harbor");
}

async function checkVolumes(tab: Dashboard, engine: RealEngine): Promise<void> {
  await tab.go("/volumes?q=old");
  await tab.click("button", "Clear filters");
  await tab.find("link", "harbor-app");
  await hasColumns(tab, ["Name", "Driver", "Size", "Containers", "Created"]);
  await checkBothThemes(tab);

  await tab.click("button", "New volume");
  await tab.type("textbox", "Name", "harbor_data");
  await tab.click("button", "Create");
  await tab.alert("Volume harbor_data already exists");
  await tab.refused(409);
  for (const name of ["old_data", "older_data"]) {
    await tab.type("textbox", "Name", name);
    await tab.click("button", "Create");
    await tab.status(`Created ${name}`);
    await tab.gone("dialog", "New volume");
    if (name === "old_data") await tab.click("button", "New volume");
  }

  // A long table renders only the rows near the window.
  await tab.type("searchbox", "Filter volumes", "old_data");
  await tab.choose("old_data", "Remove");
  await tab.find("alertdialog", "Remove old_data?");
  await tab.type("textbox", "Type old_data to confirm", "old_dat");
  const remove = await tab.find("button", "Remove");
  await until("it is disabled", () => remove.evaluate((each) => each.matches(":disabled")));
  await tab.type("textbox", "Type old_data to confirm", "old_data");
  await tab.click("button", "Remove");
  await tab.status("Removed old_data");

  await tab.click("button", "Prune volumes");
  await tab.find("alertdialog", "Prune volumes?");
  await showsText(tab, "Preview", "older_data");
  await checkBothThemes(tab);
  await tab.click("button", "Prune");
  await tab.status(/^Removed \d+ volumes?, freed /);
  await tab.gone("button", "Actions for older_data");
  await tab.type("searchbox", "Filter volumes", "harbor");
  await tab.find("button", "Actions for harbor_data");
  ok(!(await engine.docker("volume", "ls", "--quiet")).includes("older_data"));
}

async function checkImages(tab: Dashboard, engine: RealEngine, registry: Registry): Promise<void> {
  const reference = await registry.push("team/app:1");
  await tab.go("/images");
  await tab.find("button", `Actions for ${BUSYBOX}`);
  await tab.find("link", "harbor-app");
  await hasColumns(tab, ["Tag", "ID", "Size", "Created", "Containers"]);
  await checkBothThemes(tab);

  await tab.click("button", "Pull image");
  await tab.find("dialog", "Pull image");
  await tab.type("textbox", "Image", "not a name");
  await tab.click("button", "Pull");
  await tab.alert(/^Image: must be a reference/);
  await tab.refused();
  await tab.type("textbox", "Image", reference);
  await tab.click("button", "Pull");
  await tab.status(`Pulled ${reference}`);
  await tab.find("button", `Actions for ${reference}`);
  await tab.click("button", "Pull image");
  await tab.type("textbox", "Image", `${registry.address}/team/unknown:1`);
  await tab.click("button", "Pull");
  await tab.alert(/team\/unknown:1 could not be pulled/);
  await tab.click("button", "Dismiss");

  await tab.choose(reference, "Details");
  await tab.find("dialog", `Details of ${reference}`);
  await tab.click("button", "Close");
  await tab.choose(reference, "Add tag");
  await tab.type("textbox", "Tag", "team/app:stable");
  await tab.click("button", "Add");
  await tab.status("Tagged team/app:stable");

  const archive = await exportArchive(tab, "team/app:stable");
  await tab.choose("team/app:stable", "Remove");
  await tab.find("alertdialog", "Remove team/app:stable?");
  await tab.click("button", "Remove");
  await tab.status("Removed team/app:stable");
  await tab.gone("button", "Actions for team/app:stable");
  await loadArchive(tab, archive);
  await Deno.remove(archive);
  await tab.find("button", "Actions for team/app:stable");

  // Images that other files have left on the engine do not count.
  await engine.docker("image", "prune", "--force");
  await engine.docker("commit", "harbor-app", "team/dangling:1");
  await engine.docker("tag", BUSYBOX, "team/dangling:1");
  await tab.click("button", "Prune images");
  await tab.find("alertdialog", "Prune images?");
  await showsText(tab, "Preview", "1 image is removed");
  await tab.click("button", "Prune");
  await tab.status(/^Removed 1 image, freed /);
  equal(await engine.docker("images", "--quiet", "--filter", "dangling=true"), "");
  for (const name of [reference, "team/app:stable", "team/dangling:1"]) {
    await engine.docker("rmi", name);
  }
}

/** Saves an image by the dashboard. @returns The file's path. */
async function exportArchive(tab: Dashboard, name: string): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "longshore-export-" });
  await tab.downloadTo(folder);
  await tab.choose(name, "Export");
  const file = `${folder}/${name.replace(/[^\w.-]+/g, "_")}.tar`;
  const path = await until("the file is saved", async () => {
    return (await Deno.stat(file)).size > 0 && await Deno.makeTempFile({ suffix: ".tar" });
  });
  await Deno.copyFile(file, path);
  await Deno.remove(folder, { recursive: true });
  return path;
}

async function loadArchive(tab: Dashboard, archive: string): Promise<void> {
  const garbage = await Deno.makeTempFile({ suffix: ".tar" });
  await Deno.writeTextFile(garbage, "not an archive");
  await tab.click("button", "Load image");
  await tab.find("dialog", "Load image");
  await checkBothThemes(tab);
  let field = await fileField(tab);
  await field.uploadFile(garbage);
  await tab.click("button", "Load");
  await tab.alert(/The archive cannot be loaded/);
  await tab.refused();
  await cancelUpload(tab, field, archive);
  await tab.click("button", "Load image");
  field = await fileField(tab);
  await field.uploadFile(archive);
  await tab.click("button", "Load");
  await tab.status("Loaded team/app:stable");
  await tab.gone("dialog", "Load image");
  await Deno.remove(garbage);
}

/** Begins an upload over a slow network and closes its dialog. */
async function cancelUpload(
  tab: Dashboard,
  field: ElementHandle<HTMLInputElement>,
  archive: string,
): Promise<void> {
  const slow = { offline: false, latency: 0, download: -1, upload: 10_000 };
  await tab.page.emulateNetworkConditions(slow);
  await field.uploadFile(archive);
  await tab.click("button", "Load");
  await tab.find("progressbar", "Upload");
  await tab.click("button", "Cancel");
  await tab.page.emulateNetworkConditions(null);
  await tab.gone("progressbar");
  tab.complaints.length = 0; // The request that was cancelled.
}

const fileField = async (tab: Dashboard) =>
  await tab.page.waitForSelector("input[type=file]") as ElementHandle<HTMLInputElement>;

async function checkHost(tab: Dashboard, engine: RealEngine): Promise<void> {
  await engine.docker("create", "--name", "harbor-old", BUSYBOX);
  await tab.go("/host?range=24h");
  for (const name of ["CPU", "Memory", "Disk", "Load"]) {
    await tab.find("img", new RegExp(`^${name}, last 24 hours: `));
  }
  await tab.find("table", "Disk use");
  await tab.find("region", "Engine");
  await tab.find("link", "Volumes");
  await hasColumns(tab, ["Kind", "Count", "Size"]);
  await showsText(tab, "Engine", "Storage driver");
  await checkBothThemes(tab);

  await tab.click("button", "Prune");
  await tab.find("alertdialog", "Prune unused objects?");
  for (const name of ["Unused networks", "Images without a tag", "Build cache"]) {
    await tab.click("checkbox", name);
  }
  await showsText(tab, "Preview", "harbor-old");
  await checkBothThemes(tab);
  await tab.clickAt("dialog .button.danger"); // The page has a button of this name.
  await tab.status(/^Removed \d+ containers?, freed /);
  equal(await engine.docker("ps", "--all", "--quiet", "--filter", "name=harbor-old"), "");
}

async function checkPhone(tab: Dashboard): Promise<void> {
  await tab.page.setViewport({ ...PHONE, width: 360 });
  for (const path of ["/images", "/networks", "/volumes", "/host"]) {
    await tab.go(path);
    await tab.find("table");
    await tab.fits(360);
    await tab.checkAccessibility();
  }
}

/** Waits until a region contains a text. */
const showsText = (tab: Dashboard, region: string, text: string): Promise<unknown> =>
  until(`${region} shows ${text}`, async () => {
    const found = await tab.find("region", region);
    return await found.evaluate((each, text) => each.textContent.includes(text), text);
  });
