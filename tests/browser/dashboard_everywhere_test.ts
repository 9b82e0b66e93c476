/**
 * Rules for every page of the dashboard, also with containers whose text is written to do harm.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { temporaryDirectory } from "../helpers/command.ts";
import { type Dashboard, dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "../helpers/fake_engine.ts";
import { licenseKeyFor, writeLicenseKeys } from "../helpers/licenses.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { eventually, until } from "../helpers/until.ts";
import { PATHS } from "../../ui/paths.ts";

/** Text that would be harmful as HTML, in a terminal, or by changing the direction of text. */
const HOSTILE = `<img src=x onerror="document.title='evil'">\u202Egnp.exe\u001b[31m`;
const HOSTILE_SHOWN = `<img src=x onerror="document.title='evil'">\\u202egnp.exe\\u001b[31m`;

/** Pages that open without a parameter. */
const PAGES = PATHS.filter((path) => !path.includes(":") && !/^\/(sign-in|setup)$/.test(path));

/** Answers of the engine to the pages, besides containers. */
const EMPTY_HOST: Record<string, FakeAnswer> = {
  "GET /images/json": () => Response.json([]),
  "GET /networks": () => Response.json([]),
  "GET /volumes": () => Response.json({ Volumes: [] }),
  "GET /system/df": () =>
    Response.json({ LayersSize: 0, Images: [], Containers: [], Volumes: [], BuildCache: [] }),
  "GET /version": () => Response.json({ Version: "20.10.24", ApiVersion: "1.41" }),
  "GET /info": () =>
    Response.json({
      ...{ Name: "harbor-1", NCPU: 2, MemTotal: 4e9, Images: 0, Swarm: {} },
      ...{ Containers: 1, ContainersRunning: 1, ContainersPaused: 0, ContainersStopped: 0 },
    }),
};

/** First parts that assistive technology meets, in this order. */
const LANDMARKS = ["Skip to content", "banner", "navigation", "main", "h1"];

dashboardTest(
  "every page opens directly, in order, within 360 pixels, unlocked or not",
  async (t) => {
    await using engine = fakeEngine({ ...simulateContainers([{ name: "web" }]), ...EMPTY_HOST });
    await using service = await startLongshore({ engineSocket: engine.socketPath });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service, { width: 360, height: 740 });

    const isLocked = async () => (await tab.names("button")).includes("Start trial");
    const locked: string[] = [];
    await t.step("community", async () => {
      for (const path of PAGES) {
        await checkPage(tab, path);
        if (path !== "/license" && await isLocked()) locked.push(path);
      }
    });
    await t.step("a tablet shows the containers with their actions", async () => {
      await tab.page.setViewport({ width: 768, height: 1024 });
      await tab.open("/containers");
      await tab.find("button", "Actions for web");
      await eventually(async () =>
        equal(
          await tab.page.$eval(".table-frame", (frame) => frame.scrollWidth - frame.clientWidth),
          0,
        )
      );
      await tab.page.setViewport({ width: 360, height: 740 });
    });
    equal((await service.call("POST", "/api/edition/trial")).status, 200);
    await t.step("enterprise, where the others are the same", async () => {
      ok(locked.length > 10, locked.join(" "));
      for (const path of locked) {
        await checkPage(tab, path);
        equal(await isLocked(), false, path);
      }
    });
  },
);

long(dashboardTest)("pages follow the license while they are open", async (t) => {
  using directory = temporaryDirectory();
  await using engine = fakeEngine({ ...simulateContainers([{ name: "web" }]), ...EMPTY_HOST });
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { LICENSE_KEYS_FILE: writeLicenseKeys(directory.path) },
  });
  const key = await licenseKeyFor({ edition: "pro" });
  equal((await service.call("POST", "/api/edition/license", { key })).status, 200);
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, { width: 360, height: 740 });

  await t.step("pro, without the trial that its license excludes", async () => {
    await tab.open("/roles");
    const trial = await tab.find("button", "Start trial");
    equal(await trial.evaluate((button) => (button as HTMLButtonElement).disabled), true);
    await tab.go("/incidents");
    await tab.find("button", "New incident");
  });
  await t.step("a license that ends while a page is open", async () => {
    await service.call("DELETE", "/api/edition/license");
    await tab.go("/chat");
    await tab.find("button", "Start trial");
    await tab.refused(402);
    await tab.go("/sla");
    await tab.find("button", "Start trial");
    deepEqual(tab.complaints, []);
  });
});

async function checkPage(tab: Dashboard, path: string): Promise<void> {
  await tab.open(path);
  await tab.loaded();
  await eventually(async () => {
    const { order, heading, title } = await outlineOf(tab);
    deepEqual(order.slice(0, 5), LANDMARKS, path);
    equal(order.filter((part) => part === "h1").length, 1, path);
    ok(title.startsWith(`${heading} · `), `${path}: ${title}`);
  });
  await tab.fits(360);
  deepEqual([path, ...tab.complaints], [path]);
}

const outlineOf = (tab: Dashboard) =>
  tab.page.evaluate(() => {
    const parts = document.querySelectorAll("a.skip, header.banner, nav, main, main h1");
    return {
      order: [...parts].map((part) =>
        part.matches("h1, a")
          ? part.matches("h1") ? "h1" : part.textContent
          : part.matches("header")
          ? "banner"
          : part.matches("nav")
          ? "navigation"
          : "main"
      ),
      heading: document.querySelector("main h1")?.textContent,
      title: document.title,
    };
  });

long(dashboardTest)("the dashboard is used by keyboard alone", async (t) => {
  await using engine = fakeEngine(simulateContainers([{ name: "web" }, { name: "db" }]));
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await using browser = await startDashboardBrowser();
  const tab = await browser.tab(service);
  const { keyboard } = tab.page;
  const focused = () =>
    tab.page.evaluate(() => {
      const at = document.activeElement!;
      const { outlineStyle, boxShadow } = getComputedStyle(at);
      return {
        name: at.getAttribute("aria-label") ?? at.textContent!.trim(),
        isMarked: outlineStyle !== "none" || boxShadow !== "none",
      };
    });
  /** Presses Tab until the focus is on the part; every stop on the way has to be visible. */
  const tabTo = async (name: string) => {
    const stops: string[] = [];
    while (stops.length < 80) {
      await keyboard.press("Tab");
      const stop = await focused();
      stops.push(stop.name);
      await until(`the focus is visible on ${stop.name}`, async () => (await focused()).isMarked);
      if (stop.name === name) return;
    }
    throw new Error(`${name} is not among ${stops.join(", ")}`);
  };

  await t.step("signs in: the field has the focus", async () => {
    await tab.open("/");
    const field = await tab.find("textbox", "API key");
    await until(
      "it has the focus",
      () => field.evaluate((each) => each === document.activeElement),
    );
    await keyboard.type(service.apiKey);
    await keyboard.press("Enter");
    await tab.find("heading", "Overview");
  });
  await t.step("opens a page by its link", async () => {
    await tab.find("link", "2 running");
    await tab.open("/");
    await tab.find("link", "2 running");
    await tabTo("Containers");
    await keyboard.press("Enter");
    await tab.find("status", "2 containers");
  });
  await t.step("stops a container by the menu of its row", async () => {
    await tabTo("Actions for web");
    await keyboard.press("Enter");
    await tab.find("menuitem", "Stop");
    for (let at = 0; at < 10 && (await focused()).name !== "Stop"; at++) {
      await keyboard.press("ArrowDown");
    }
    await keyboard.press("Enter");
    await tab.status("Stopped web");
  });
  await t.step("a confirmation starts on Cancel, and Escape gives the focus back", async () => {
    const schedule = { containerId: "db", containerName: "db", action: "restart" };
    const { status } = await service.call("POST", "/api/schedules", {
      ...schedule,
      name: "Nightly",
      cronExpression: "0 3 * * *",
    });
    equal(status, 201);
    await tab.open("/schedules");
    await tab.find("button", "Actions for Nightly");
    await tabTo("Actions for Nightly");
    await keyboard.press("Enter");
    await tab.find("menuitem", "Delete");
    for (let at = 0; at < 10 && (await focused()).name !== "Delete"; at++) {
      await keyboard.press("ArrowDown");
    }
    await keyboard.press("Enter");
    await tab.find("alertdialog", "Delete Nightly?");
    await until("Cancel has the focus", async () => (await focused()).name === "Cancel");
    await keyboard.press("Escape");
    await tab.gone("alertdialog");
    await until("it is back", async () => (await focused()).name === "Actions for Nightly");
  });
});

/** Adds labels, environment and one very long line to what the engine reports. */
function withHostileText(answers: Record<string, FakeAnswer>): Record<string, FakeAnswer> {
  const path = "GET /containers/*/json";
  const inspect = answers[path]!;
  answers[path] = async (request) => {
    const container = await (await inspect(request)).json();
    container.Config.Labels = { evil: HOSTILE, [HOSTILE]: "value", long: "x".repeat(1_000_000) };
    container.Config.Env = [`EVIL=${HOSTILE}`];
    container.Config.Image = HOSTILE;
    container.Args = [HOSTILE];
    return Response.json(container);
  };
  return answers;
}

dashboardTest("text from a hostile container is shown as text", async () => {
  await using engine = fakeEngine(withHostileText(simulateContainers([{ name: "hostile" }])));
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, { width: 360, height: 740 });

  for (const path of ["/containers", "/containers/hostile", "/containers/hostile/environment"]) {
    await tab.open(path);
    if (path.endsWith("environment")) await tab.click("button", "Reveal values");
    await until(`${path} shows it`, () =>
      tab.page.evaluate(
        (text) => document.querySelector("main")!.textContent.includes(text),
        HOSTILE_SHOWN,
      ));
    equal(await tab.page.$("img"), null, path);
    ok(!/\p{Bidi_Control}/u.test(await tab.page.$eval("body", (body) => body.innerText)), path);
    await tab.fits(360);
    await eventually(async () => match(await tab.page.title(), /^(Containers|hostile) · /));
  }
  deepEqual(tab.complaints, []);
});
