/**
 * The dashboard adopts a stack that another program deployed and generates Compose files, in a real
 * Chromium with the real service and engine.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { join } from "node:path";
import { type Dashboard, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const COMPOSE =
  `services:\n  web:\n    image: ${BUSYBOX}\n    command: sleep 2147483647\n    stop_signal: SIGKILL\n`;

long(privateEngineTest)(
  "the dashboard adopts a stack and generates Compose files",
  async (engine) => {
    const root = await Deno.makeTempDir({ prefix: "longshore-test-" });
    await using _root = { [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
    const file = await writeProject(root);
    await using web = await runElsewhere(engine, file);
    await using service = await startLongshore({
      engineSocket: engine.socketPath,
      env: { STACK_ROOTS: root },
    });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service);

    await generate(tab, web.name);
    equal((await service.call("GET", "/api/stacks/copy")).status, 404);
    await adopt(tab, file);
    deepEqual(tab.complaints, []);
    await resolveEditOnDisk(tab, file);
    await takeDownAndDelete(tab);
    equal((await service.call("GET", "/api/stacks/harbor")).status, 404);
    equal(await Deno.readTextFile(file), `${COMPOSE}    tty: true\n`);
  },
);

/** @returns The path of the Compose file. */
async function writeProject(root: string): Promise<string> {
  await Deno.mkdir(join(root, "harbor"));
  const file = join(root, "harbor", "compose.yaml");
  await Deno.writeTextFile(file, COMPOSE);
  return file;
}

/** A container as `docker compose` labels it. */
const runElsewhere = (engine: RealEngine, file: string) =>
  engine.runContainer({
    name: "harbor-web-1",
    labels: {
      "com.docker.compose.project": "harbor",
      "com.docker.compose.service": "web",
      "com.docker.compose.container-number": "1",
      "com.docker.compose.oneoff": "False",
      "com.docker.compose.project.working_dir": join(file, ".."),
      "com.docker.compose.project.config_files": file,
    },
  });

/** Selected containers become the text of a new stack, whose plan stores nothing. */
async function generate(tab: Dashboard, container: string): Promise<void> {
  await tab.open("/containers");
  await tab.click("checkbox", `Select ${container}`);
  await tab.click("button", "Generate");
  await tab.find("dialog", "Compose file");
  await tab.find("link", "Open stack harbor");
  await checkBothThemes(tab);
  await tab.click("button", "Close");
  await tab.gone("dialog");

  await tab.open(`/stacks/new?container=${container}`);
  await tab.type("textbox", "Name", "copy");
  await tab.click("button", "Plan");
  await tab.find("row", /web.*Create/);
}

/** The files that the labels name are shown with their plan before they are adopted. */
async function adopt(tab: Dashboard, file: string): Promise<void> {
  await tab.open("/stacks/harbor");
  await tab.click("button", "More actions");
  await tab.click("menuitem", "Adopt");
  await tab.find("table", "Plan");
  await tab.find("row", /web.*Recreate/);
  await checkBothThemes(tab);
  await tab.click("radio", "Generated from the containers");
  await tab.gone("table", "Plan");
  await tab.click("button", "Plan");
  await tab.find("row", /web.*None/);
  await tab.click("radio", "Files on disk");
  await tab.find("row", /web.*Recreate/);
  await tab.click("button", "Adopt");
  await tab.status("Adopted harbor");
  await until("the directory is shown", async () => {
    return (await tab.page.content()).includes(`<code class="wrap">${join(file, "..")}</code>`);
  });
}

/** An edit of the file on disk is shown when the text is saved that was read before. */
async function resolveEditOnDisk(tab: Dashboard, file: string): Promise<void> {
  await Deno.writeTextFile(file, `${COMPOSE}    tty: true\n`);
  await tab.click("textbox", "Compose file");
  await tab.page.keyboard.type("# Mine\n");
  await tab.click("button", "Save");
  await tab.find("dialog", "harbor was edited on disk");
  await tab.find("button", "Save mine as version 3");
  await until("the difference is shown", async () => {
    return (await tab.page.content()).includes("+    tty: true");
  });
  await tab.checkAccessibility();
  await tab.click("button", "Discard mine");
  await tab.gone("dialog");
  await tab.refused(409);
  await tab.click("tab", "Versions");
  await tab.find("row", /2Current.*Edit on disk/);
}

async function takeDownAndDelete(tab: Dashboard): Promise<void> {
  for (
    const [action, done] of [["Down", "Removed harbor"], [
      "Delete",
      "Deleted harbor",
    ]] as const
  ) {
    await tab.click("button", "More actions");
    await tab.click("menuitem", action);
    await tab.find("alertdialog", `${action} harbor?`);
    await tab.checkAccessibility();
    await tab.type("textbox", "Type harbor to confirm", "harbor");
    await tab.click("button", action);
    await tab.status(done);
  }
  await tab.find("heading", "Stacks");
}
