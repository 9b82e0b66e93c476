/**
 * Containers and stacks in the dashboard: what can be changed, and what the engine knows about them.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { type Dashboard, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes, hasColumns } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { eventually, until } from "../helpers/until.ts";

/** Each is one step of a browser's visit; all share one engine, one service and one browser. */
long(privateEngineTest)("the dashboard changes containers and stacks", async (engine) => {
  await using containers = new AsyncDisposableStack();
  for (const service of ["web", "db"]) {
    containers.use(
      await engine.runContainer({
        name: `shop-${service}-1`,
        labels: {
          "com.docker.compose.project": "shop",
          "com.docker.compose.service": service,
          "com.docker.compose.config-hash": "0",
          "com.docker.compose.container-number": "1",
        },
      }),
    );
  }
  await using _tool = await engine.runContainer({ name: "tool", options: ["--volume", "/data"] });
  await engine.docker("exec", "tool", "sh", "-c", "echo hello > /note; touch /data/kept");
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);

  await checkDescription(tab);
  await checkRename(tab);
  await checkLimits(tab, engine);
  await checkStates(tab, engine);
  await checkStacks(tab, engine);
  deepEqual(tab.complaints, []);

  await tab.go("/stacks/missing");
  await tab.find("heading", "Stack not found");
});

async function checkDescription(tab: Dashboard): Promise<void> {
  await tab.go("/containers/tool/changes");
  await tab.find("table", "File changes");
  await until("the file is listed", async () => (await tab.page.content()).includes("/note"));
  await hasColumns(tab, ["Path", "Kind"]);
  await tab.checkAccessibility();

  await tab.click("tab", "Inspect");
  await tab.find("button", "Copy");
  await eventually(async () => {
    const text = await tab.page.$eval("[data-testid=inspect]", ({ textContent }) => textContent);
    equal(JSON.parse(text).Name, "/tool");
  });
  await tab.checkAccessibility();
}

async function act(tab: Dashboard, item: string): Promise<void> {
  await tab.click("button", "More actions");
  await tab.click("menuitem", item);
}

async function checkRename(tab: Dashboard): Promise<void> {
  await tab.open("/containers/tool");
  await act(tab, "Rename");
  await tab.find("dialog", "Rename tool");
  await tab.checkAccessibility();
  await tab.type("textbox", "Name", "not valid");
  await tab.click("button", "Save");
  await tab.invalid("textbox", "Name");
  await tab.type("textbox", "Name", "shop-web-1");
  await tab.click("button", "Save");
  await tab.alert(/shop-web-1/);
  await tab.refused(409);
  await tab.type("textbox", "Name", "box");
  await tab.click("button", "Save");
  await tab.status("Renamed tool");
  await tab.find("heading", "box");
}

async function checkLimits(tab: Dashboard, engine: RealEngine): Promise<void> {
  await act(tab, "Limits");
  await tab.find("dialog", "Limits of box");
  await tab.checkAccessibility();
  await tab.type("spinbutton", "Memory (MiB)", "64");
  await tab.select("dialog select", "unless-stopped");
  await tab.click("button", "Save");
  await tab.status("Saved the limits of box");
  const limits = await engine.docker(
    ...["inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.RestartPolicy.Name}}", "box"],
  );
  equal(limits, `${64 * 1024 * 1024} unless-stopped`);
}

async function checkStates(tab: Dashboard, engine: RealEngine): Promise<void> {
  await tab.open("/containers/box");
  const state = () => engine.docker("inspect", "--format", "{{.State.Status}}", "box");
  await act(tab, "Pause");
  await tab.status("Paused box");
  equal(await state(), "paused");
  await act(tab, "Resume");
  await tab.status("Resumed box");
  equal(await state(), "running");

  await act(tab, "Kill");
  await tab.find("alertdialog", "Kill box?");
  await tab.checkAccessibility();
  await tab.click("button", "Cancel");
  await tab.gone("alertdialog", "Kill box?");

  await act(tab, "Remove");
  const question = await tab.find("alertdialog", "Remove box?");
  match(await question.evaluate(({ textContent }) => textContent), /running.*1 volume/);
  await tab.click("button", "Remove");
  await tab.status("Removed box");
  await tab.find("heading", "Containers");
  equal(await engine.docker("ps", "--all", "--quiet", "--filter", "name=box"), "");
}

async function checkStacks(tab: Dashboard, engine: RealEngine): Promise<void> {
  await tab.go("/stacks");
  await tab.find("link", "shop");
  await tab.find("table", "Stacks");
  await hasColumns(tab, ["Name", "Status", "Services", "Running", "Stopped"]);
  await checkBothThemes(tab);
  await tab.type("searchbox", "Filter stacks", "nothing like this");
  await tab.click("button", "Clear filters");

  await tab.click("link", "shop");
  await tab.find("heading", "shop");
  await tab.find("table", "Services");
  await hasColumns(tab, ["Name", "State", "CPU", "Memory", "Image", "Containers"]);
  await tab.find("link", "shop-db-1");
  await tab.checkAccessibility();

  await tab.click("button", "Stop");
  await tab.status("Stopped shop");
  equal(await engine.docker("ps", "--quiet"), "");
  await tab.click("button", "Start");
  await tab.status("Started shop");
  equal((await engine.docker("ps", "--quiet")).split("\n").length, 2);

  await tab.click("tab", "Logs");
  await tab.find("log", "Logs");
  const lines = () =>
    tab.page.$$eval(
      "[data-testid=log-line]",
      (all) => all.map((line) => (line as HTMLElement).dataset.container),
    );
  await until("both services write", async () => new Set(await lines()).size === 2);
  await tab.page.setViewport(PHONE);
  await tab.checkAccessibility();
  await tab.page.setViewport({ width: 1280, height: 900 });
}
