/** Files in the dashboard, in a real Chromium with the real service and a real engine. @module */

import { deepEqual, equal } from "node:assert/strict";
import type { ElementHandle } from "puppeteer-core";
import { type Dashboard, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { privateEngineTest } from "../helpers/real_engine.ts";

long(privateEngineTest)("the dashboard edits, uploads and deletes files", async (engine) => {
  await engine.docker("volume", "create", "harbor_files");
  try {
    await using user = await engine.runContainer({
      name: "harbor-files",
      options: ["--volume=harbor_files:/data"],
    });
    const sh = (command: string) =>
      engine.docker("exec", user.name, "sh", "-c", `cd /data; ${command}`);
    await sh("mkdir conf; echo one > conf/app.conf; ln -s conf link");
    await using service = await startLongshore({ engineSocket: engine.socketPath });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service);
    await checkEditing(tab, sh);
    await checkChanges(tab, sh);
    await tab.go(`/containers/${user.id}/files?path=/data`);
    await tab.find("link", "conf");
    deepEqual(tab.complaints, []);
    await checkPhone(tab);
  } finally {
    await engine.docker("volume", "rm", "harbor_files");
  }
});

type Sh = (command: string) => Promise<string>;

async function checkEditing(tab: Dashboard, sh: Sh): Promise<void> {
  await tab.go("/volumes");
  await tab.click("link", "harbor_files");
  await tab.find("table", "Files");
  await checkBothThemes(tab);
  await tab.click("link", "conf");
  await tab.choose("app.conf", "Edit");
  const field = await tab.find("textbox", "/conf/app.conf");
  await field.press("End");
  await tab.page.keyboard.type(" and two");
  await checkBothThemes(tab);
  await tab.press("Save", "Saved /conf/app.conf");
  equal(await sh("cat conf/app.conf"), "one and two");

  await sh("echo other > conf/app.conf");
  await (await tab.find("textbox", "/conf/app.conf")).press("End");
  await tab.page.keyboard.type("!");
  await tab.click("button", "Save");
  await tab.find("dialog", "/conf/app.conf was changed meanwhile");
  await tab.refused(412);
  await tab.press("Save mine", "Saved /conf/app.conf");
  equal(await sh("cat conf/app.conf"), "one and two!");
  await tab.click("button", "Close");
}

async function checkChanges(tab: Dashboard, sh: Sh): Promise<void> {
  await tab.find("table", "Files");
  const input = await tab.page.waitForSelector("input[type=file]");
  const file = await Deno.makeTempFile({ prefix: "longshore-test-", suffix: ".bin" });
  try {
    await Deno.writeTextFile(file, "uploaded\n");
    await (input as ElementHandle<HTMLInputElement>).uploadFile(file);
    await tab.status("Uploaded 1 file");
  } finally {
    await Deno.remove(file);
  }
  equal(await sh("cat conf/*.bin"), "uploaded");

  await tab.click("button", "New folder");
  await tab.type("textbox", "Name", "100% sure");
  await tab.click("button", "Create");
  await tab.status("Created 100% sure");
  await tab.find("link", "100% sure");
  await tab.choose("app.conf", "Rename");
  await tab.type("textbox", "New path", "/conf/100%25 sure/old.conf");
  await tab.click("button", "Rename");
  await tab.status("Renamed app.conf");
  equal(await sh("cat 'conf/100% sure/old.conf'"), "one and two!");
  await tab.choose("100% sure", "Delete");
  await tab.type("textbox", "Type 100% sure to confirm", "100% sure");
  await tab.press("Delete", "Deleted 100% sure");
  await tab.gone("link", "100% sure");
}

async function checkPhone(tab: Dashboard): Promise<void> {
  await tab.page.setViewport(PHONE);
  await tab.open("/volumes/harbor_files?path=/conf");
  await tab.find("button", "Upload");
  await tab.fits(PHONE.width);
}
