/** The overview of a host on which much is wrong. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { dashboardTest, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { composeLabels, simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { eventually } from "../helpers/until.ts";

const STACKS = 11;

/** A red dot. */
const ICON =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

long(dashboardTest)(
  "the overview names a few of what is wrong, and counts the others",
  async () => {
    await using dashboard = await openDashboard({
      containers: [
        ...Array.from({ length: 20 }, (_, at) => ({
          name: `job-${at}`,
          health: "unhealthy" as const,
        })),
        ...Array.from({ length: STACKS }, (_, at) => ({
          name: `app-${at}`,
          labels: composeLabels(`app-${String(at).padStart(2, "0")}`, "web"),
          ...(at === STACKS - 1 && { state: "restarting" as const }),
        })),
        {
          name: "prepared",
          state: "created" as const,
          labels: {
            "longshore.url": "https://prepared.example.com",
            "longshore.icon": ICON,
            "longshore.group": "Monitoring",
            "com.docker.stack.namespace": "tasks",
            "homepage.description": "Dashboards <b>of all</b> servers",
          },
        },
        { name: "finished", state: "exited" as const },
      ],
    });
    const { tab } = dashboard;
    await tab.find("status", "Connection");
    const texts = (selector: string) =>
      tab.page.$$eval(selector, (all) => all.map((element) => (element as HTMLElement).innerText));

    await eventually(async () =>
      deepEqual(await texts(".concerns p"), [
        "app-10 exits and is restarted again and again",
        ...["job-0", "job-1", "job-10", "job-11", "job-12"].map((name) => `${name} is unhealthy`),
        "15 more are unhealthy",
      ])
    );
    await eventually(async () =>
      deepEqual(await texts(".stack-list a"), [
        "app-10",
        ...Array.from({ length: 7 }, (_, at) => `app-0${at}`),
      ])
    );
    deepEqual(await texts(".stack-list + p"), ["and 3 more"]);
    await tab.checkAccessibility();

    await tab.page.click(".concerns li:last-child a");
    await tab.find("status", "20 of 33 containers");
    equal(new URL(tab.page.url()).search, "?health=unhealthy");

    // Each container is in one of the tiles of states: the one that restarts has not stopped.
    const streams: string[] = [];
    tab.page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === "/api/stream") streams.push(searchParams.get("types")!);
    });
    await tab.open("/");
    await tab.find("link", "2 stopped");
    await tab.find("link", "30 running");
    await tab.find("link", "1 restarting");
    deepEqual(streams, ["metrics,overview,alerts,monitors,event,job"]);
    await tab.click("link", "2 stopped");
    await tab.find("status", "2 of 33 containers");
    deepEqual(streams.slice(1), ["metrics,overview,alerts,monitors,event,job,containers"]);

    const menuOf = async (name: string) => {
      await tab.click("button", `Actions for ${name}`);
      const items = await tab.names("menuitem");
      await tab.page.keyboard.press("Escape");
      return items;
    };
    deepEqual(await menuOf("finished"), ["Logs", "Update", "Start", "Remove"]);
    await tab.choose("finished", "Remove");
    await tab.find("alertdialog", "Remove finished?");
    await tab.press("Remove", "Removed finished");
    await tab.find("status", "1 of 32 containers");
    await tab.open("/containers?q=job-1");
    deepEqual(
      await menuOf("job-1"),
      ["Logs", "Terminal", "Update", "Restart", "Stop", "Remove"],
    );

    await tab.open("/containers?q=prepared");
    await tab.find("row", /prepared.*tasks/);
    const link = await tab.find("link", "Open prepared at https://prepared.example.com");
    deepEqual(
      await link.evaluate((each) => [each.getAttribute("href"), each.getAttribute("rel")]),
      [
        "https://prepared.example.com/",
        "noopener noreferrer",
      ],
    );
    const iconOf = (row: string) =>
      tab.page.waitForSelector(`${row} .app-icon`).then((image) =>
        image!.evaluate((each) => (each as HTMLImageElement).decode().then(() => "decoded"))
      );
    equal(await iconOf("main tbody tr"), "decoded");
    await tab.click("button", "Columns");
    await tab.click("menuitemcheckbox", "Group");
    await tab.find("cell", "Monitoring");
    await tab.page.keyboard.press("Escape");
    await tab.checkAccessibility();
    await tab.click("link", "prepared");
    await tab.find("tabpanel", "Summary");
    deepEqual(
      (await texts("main section:first-of-type .facts-list dd")).slice(-2),
      ["Dashboards <b>of all</b> servers", "Monitoring"],
    );
    await tab.click("button", "Search");
    await tab.type("combobox", "Search", "open prepared");
    equal(await iconOf('[role="option"]'), "decoded");
    await tab.page.keyboard.press("Escape");
    await tab.open("/containers?q=job-1");
    await tab.find("link", "job-1");

    // On a phone: the name, and below it how it is doing.
    await tab.page.setViewport(PHONE);
    await tab.fits(PHONE.width);
    const [name, state, health, cpu] = await tab.page.$$eval(
      "main tbody tr:first-child :is(.w-name, .second-line)",
      (cells) =>
        cells.map((cell) => ({ top: cell.getBoundingClientRect().top, text: cell.textContent })),
    );
    deepEqual([name!.text, state!.text, health!.text], ["job-1", "Running", "Unhealthy"]);
    equal(new Set([state!.top, health!.top, cpu!.top]).size, 1);
    equal(name!.top < state!.top, true);
    await tab.checkAccessibility();
  },
);

long(dashboardTest)("the first steps follow the engine and other clients", async () => {
  await using engine = fakeEngine({
    ...simulateContainers([{ name: "web", labels: composeLabels("shop", "web") }]),
    "GET /events": () => new Response(new ReadableStream()),
  });
  await engine.down();
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);
  const says = (step: number, text: RegExp) =>
    eventually(async () =>
      match(await tab.page.$eval(`.steps-to-do li:nth-child(${step})`, textOf), text)
    );
  const textOf = (element: Element) => element.textContent;

  await says(1, /The stacks are unknown until the engine can be reached/);
  engine.up();
  await says(1, /1 stack runs whose Compose file Longshore does not have yet/);

  await says(5, /An account for each person/);
  const token = { name: "CI", role: "viewer" };
  equal((await service.call("POST", "/api/tokens", token)).status, 201);
  await says(5, /Accounts or tokens, done/);

  await tab.press("Hide", "Hidden; the account menu has it");
  await tab.gone("region", "Get started");
  await using other = await browser.separate();
  const elsewhere = await other.signIn(service);
  await elsewhere.find("link", "1 running");
  await elsewhere.loaded();
  await elsewhere.gone("region", "Get started");
  await elsewhere.click("button", "Account menu");
  await elsewhere.click("menuitem", "Get started");
  await elsewhere.find("region", "Get started");
  // Other open pages follow.
  await tab.show();
  await tab.find("region", "Get started");
});
