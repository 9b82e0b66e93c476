/** The dashboard in a real Chromium, with the real service and a real engine. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type Dashboard, DESKTOP, startDashboardBrowser } from "../helpers/dashboard.ts";
import { hasColumns } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, ownEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { eventually, until } from "../helpers/until.ts";

/** Text that would be harmful as HTML, in a terminal, or by changing the direction of text. */
const HOSTILE = `<img src=x onerror="document.title='evil'">\u202Egnp.exe\u001b[31m`;

const LONG = ["sh", "-c", `trap 'exit 0' TERM; echo ready; sleep 9999 & wait # ${"x".repeat(900)}`];

/** Each is one step of a browser's visit; all share one engine, one service and one browser. */
long(ownEngineTest)("the dashboard shows and manages the containers of a host", async (engine) => {
  const stack = ["--label", "com.docker.compose.project=shop"];
  for (
    const [name, ...options] of [
      ["web", ...stack, "--label", "com.docker.compose.service=web", "--publish", "18080:80"],
      ["db", ...stack, "--label", "com.docker.compose.service=db", "--env", "SECRET=hunter2"],
      ["ill", "--health-cmd", "exit 1", "--health-interval", "1s", "--health-retries", "1"],
      [
        "hostile",
        "--label",
        `evil=${HOSTILE}`,
        "--env",
        `EVIL=${HOSTILE}`,
        "--tty",
        "--interactive",
      ],
    ]
  ) await engine.runContainer({ name: name!, options, ...(name === "db" && { command: LONG }) });
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { TERMINAL: "admin" },
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);

  await checkOverview(tab);
  await checkList(tab, engine);
  await checkDetail(tab);
  await checkHostile(tab);
  await checkTerminal(tab, engine);
  deepEqual(tab.complaints, []);

  await engine.kill();
  await tab.alert(/Engine unreachable/);
  await engine.restart();
  await tab.gone("alert", /Engine unreachable/);
});

async function checkOverview(tab: Dashboard): Promise<void> {
  await tab.find("region", "Needs attention");
  await tab.find("link", "ill");
  await tab.find("button", "Restart");
  for (const name of ["CPU", "Memory", "Disk"]) await tab.find("meter", name);
  await tab.find("img", /^CPU, last hour: /);
  for (const name of ["Host", "Containers", "Stacks", "Recent events"]) {
    await tab.find("region", name);
  }
  await tab.checkAccessibility();
  await tab.click("link", "4 running");
  await tab.find("heading", "Containers");
  await eventually(() => match(tab.page.url(), /\/containers\?state=running$/));
}

async function checkList(tab: Dashboard, engine: RealEngine): Promise<void> {
  await tab.open("/containers");
  await tab.find("status", "4 containers");
  await hasColumns(tab, [
    "Name",
    "State",
    "Health",
    "CPU",
    "Memory",
    "Image",
    "Stack",
    "Ports",
    "Created",
  ]);
  await tab.checkAccessibility();

  await tab.type("searchbox", "Filter containers", "shop");
  await tab.find("status", "2 of 4 containers");
  await tab.type("searchbox", "Filter containers", "nothing like this");
  await tab.click("button", "Clear filters");
  await tab.click("checkbox", "Group by stack");
  await tab.find("button", "shop (2)");
  await tab.click("checkbox", "Group by stack");

  await tab.choose("web", "Stop");
  await tab.status("Stopped web");
  equal(await engine.docker("inspect", "--format", "{{.State.Status}}", "web"), "exited");
  // The list follows without being read again.
  await until("the list shows it", async () => (await rowOf(tab, "web")).includes("Exited"));
  await engine.docker("start", "web");
  await until("the list shows it", async () => (await rowOf(tab, "web")).includes("Running"));

  await tab.click("checkbox", "Select web");
  await tab.click("checkbox", "Select db");
  await tab.find("toolbar", "Selected containers");
  await tab.click("button", "Restart");
  await tab.status("Restarted 2 containers");
  await tab.gone("toolbar", "Selected containers");
}

async function checkDetail(tab: Dashboard): Promise<void> {
  await tab.open("/containers");
  await tab.click("link", "db");
  await tab.find("heading", "db");
  await tab.find("tablist", "Container");
  await tab.find("table", "Labels");
  await tab.checkAccessibility();

  const command = () => tab.page.$eval("dd code.wrap", ({ textContent }) => textContent);
  match(await command(), /^sh -c .{190,200}…$/);
  await tab.click("button", "Show more");
  await tab.gone("button", "Show more");
  ok((await command()).includes(LONG[2]!));

  await (await tab.find("tab", "Summary")).press("ArrowRight");
  await tab.find("combobox", "Time range");
  await eventually(async () =>
    equal(await tab.page.evaluate(() => document.activeElement?.textContent), "Stats")
  );

  await tab.click("tab", "Environment");
  await tab.find("table", "Environment");
  await eventually(() => match(tab.page.url(), /\/containers\/[0-9a-f]{12}\/environment$/));
  ok(!(await tab.page.content()).includes("hunter2"));
  await tab.click("button", "Reveal values");
  await until("it is shown", async () => (await tab.page.content()).includes("hunter2"));
  await tab.click("button", "Hide values");
  await until("it is hidden", async () => !(await tab.page.content()).includes("hunter2"));

  await tab.click("tab", "Exec");
  await tab.type("textbox", "Command", "rm -rf /");
  await tab.click("button", "Run");
  await tab.alert(/allow/);
  await tab.type("textbox", "Command", "id");
  await tab.click("button", "Run");
  await until("the output is shown", async () => (await tab.page.content()).includes("uid=0"));
  await tab.refused(403);

  for (
    const [name, part] of [
      ["Processes", "Processes"],
      ["Networks", "Networks"],
    ] as const
  ) {
    await tab.click("tab", name);
    await tab.find("table", part);
  }
  await tab.click("tab", "Stats");
  for (const name of [/^CPU, /, /^Memory, /, /^Network/, /^Disk I\/O/]) await tab.find("img", name);
  await tab.find("combobox", "Time range");
  await tab.checkAccessibility();
  await tab.open("/containers/db/stats?range=24h");
  await tab.find("img", /^CPU, last 24 hours: /);
  await tab.open("/containers/nothing-like-this");
  await tab.find("heading", "Container not found");
  await tab.open("/");
  tab.complaints.length = 0; // The 404, twice if the engine was known to be there only after it.
}

async function checkHostile(tab: Dashboard): Promise<void> {
  for (const path of ["", "/environment"]) {
    await tab.open(`/containers/hostile${path}`);
    await tab.find("tabpanel");
    if (path !== "") await tab.click("button", "Reveal values");
    const text = await until("it is shown as text", async () => {
      const shown = await tab.page.$eval("main", (main) => main.textContent);
      return shown.includes("<img src=x") && shown;
    });
    ok(text.includes("\\u202egnp.exe\\u001b[31m"));
    equal(await tab.page.$("main img"), null);
    await eventually(async () => match(await tab.page.title(), /^hostile · /));
  }
}

async function checkTerminal(tab: Dashboard, engine: RealEngine): Promise<void> {
  const { page } = tab;
  const isShown = async (text: string | RegExp) => {
    const shown = await page.$eval(".terminal-screen", (screen) => screen.textContent);
    return typeof text === "string" ? shown.includes(text) : text.test(shown);
  };
  const shows = (text: string | RegExp) => until(`the terminal shows ${text}`, () => isShown(text));
  // It then takes the focus from the button.
  const isConnected = () =>
    until(
      "the terminal has connected",
      () => page.evaluate(() => document.activeElement?.closest(".terminal-screen") !== null),
    );
  await tab.open("/containers/db");
  await tab.click("tab", "Terminal");
  const input = await tab.find("textbox", "Terminal input");
  await shows("#");
  await page.setViewport({ width: 1000, height: 900 });
  await input.type("stty size; echo $((40 + 2))\n");
  await shows(/\b3\d \d\d/);
  await shows("42");
  await tab.checkAccessibility();

  const title = await page.title();
  await input.type(`printf '\\033]0;evil\\007\\033[38;2;200;0;0m<img src=x>\\033[m\\n'; exit 3\n`);
  await tab.status("The program has ended with exit code 3");
  await shows("<img src=x>");
  equal(await page.title(), title);
  equal(await page.$(".terminal-screen img"), null);
  await eventually(async () => {
    const color = await page.$$eval(".terminal-screen span", (spans) => {
      const span = spans.find((each) => each.textContent.startsWith("<img"))!;
      return getComputedStyle(span).color;
    });
    match(color, /^rgb\(2\d\d, /);
  });

  await tab.type("textbox", "Command", "no-such-program");
  await tab.type("textbox", "User", "4242");
  await tab.click("button", "Connect");
  await isConnected();
  await page.keyboard.type("id -u\n");
  await shows(/(?<!@)4242/);
  await page.keyboard.down("Shift");
  await page.keyboard.press("Tab");
  await page.keyboard.up("Shift");
  await eventually(async () =>
    equal(await page.evaluate(() => document.activeElement?.textContent), "Connect")
  );

  await tab.open("/containers/hostile/terminal");
  await shows("#");
  await tab.select("select[name=kind]", "watch");
  await tab.click("button", "Connect");
  await isConnected();
  // The engine shows what is written after it has connected, too.
  const write = ["exec", "hostile", "sh", "-c", "echo from another terminal > /proc/1/fd/1"];
  await until("output of another terminal", async () => {
    await engine.docker(...write);
    return await isShown("from another terminal");
  });
  await page.setViewport(DESKTOP);
  await tab.click("tab", "Processes");
  await tab.find("table", "Processes");
  await until("each column has its value", async () => {
    const cells = await page.$$eval(
      "main tbody tr:first-child td",
      (cells) => cells.map(({ textContent }) => textContent),
    );
    return cells.length > 2 && cells.every((text) => text !== "");
  });
  await until("the terminal has gone", async () => await page.$(".terminal-screen") === null);
}

const rowOf = (tab: Dashboard, name: string): Promise<string> =>
  tab.page.$$eval("tbody tr", (rows, name) => {
    const row = rows.find((each) => each.querySelector("a")?.textContent === name);
    return row?.textContent ?? "";
  }, name);

long(ownEngineTest)(
  "tabs share one stream, and an idle page requests nothing else",
  async (engine) => {
    await engine.docker("create", "--name", "idle", BUSYBOX);
    await using service = await startLongshore({ engineSocket: engine.socketPath });
    await using browser = await startDashboardBrowser();
    const first = await browser.signIn(service);
    await first.find("link", "Containers");
    const streams = async () =>
      (await service.call("GET", "/api/overview")).body.sseClients as number;
    await until("one stream", async () => await streams() === 1);

    const second = await browser.tab(service);
    await second.open("/containers");
    await second.find("status", "1 container");
    await eventually(async () => equal(await streams(), 1));

    await until("the updates are read", () => second.requests.includes("GET /api/updates"));
    second.requests.length = 0;
    await engine.docker("start", "idle");
    await until(
      "the change arrives",
      async () => !(await rowOf(second, "idle")).includes("Created"),
    );
    deepEqual(second.requests, []);

    await second.page.close();
    await first.page.close();
    await until("no stream", async () => await streams() === 0);
  },
);
