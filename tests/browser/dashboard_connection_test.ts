/**
 * Transfers and requests of the dashboard, and its behaviour when the service, the engine or the
 * tab is away.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type Dashboard, dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { simulateContainers, type SimulatedContainer } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { addHostHistory } from "../helpers/host_history.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { rowMatches } from "../helpers/dashboard_steps.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { freePort } from "../helpers/free_port.ts";
import { eventually, until } from "../helpers/until.ts";

/** Limits of the first view. Addresses, ids and times make its size vary by some ten bytes. */
const FIRST_VIEW = { requests: 20, bytes: 67 * 1024 };

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; " +
  "form-action 'self'; require-trusted-types-for 'script'";

const streamsOf = async (service: Longshore): Promise<number> =>
  (await service.call("GET", "/api/overview")).body.sseClients;

/** The state of the connection, as the banner reports it. */
const connectionOf = (tab: Dashboard): Promise<string> =>
  tab.page.$eval('[aria-label="Connection"]', (status) => status.textContent.trim());

dashboardTest("the first view is small, and its policy forbids scripts of others", async (t) => {
  await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await addHostHistory(service);
  await using browser = await startDashboardBrowser();
  await (await browser.signIn(service)).page.close();
  const tab = await browser.tab(service);

  await t.step("requests and bytes", async () => {
    const client = await tab.page.createCDPSession();
    await client.send("Network.enable");
    await client.send("Network.clearBrowserCache");
    let bytes = 0;
    client.on("Network.loadingFinished", (event) => bytes += event.encodedDataLength);
    await tab.open("/");
    await tab.find("link", "1 running");
    await tab.find("img", /^CPU, last hour: /);
    await tab.page.waitForNetworkIdle({ concurrency: 1 });
    await until("it has been transferred", () => bytes > 10_000);
    ok(bytes <= FIRST_VIEW.bytes, `${bytes} bytes`);
    ok(tab.requests.length <= FIRST_VIEW.requests, tab.requests.join("\n"));
  });

  await t.step("the policy", async () => {
    const response = await fetch(service.baseUrl);
    await response.body?.cancel();
    equal(response.headers.get("content-security-policy"), POLICY);
    deepEqual(tab.complaints, []);
    const blocked = await tab.page.evaluate(() => {
      const script = document.createElement("script");
      try {
        script.text = "document.title = 'evil'";
        document.head.append(script);
      } catch { /* Trusted Types */ }
      try {
        document.body.insertAdjacentHTML("beforeend", "<b id=evil>evil</b>");
      } catch { /* Trusted Types */ }
      return document.title !== "evil" && !document.getElementById("evil");
    });
    ok(blocked);
  });
});

dashboardTest("what another client changes appears on the open page", async () => {
  await using dashboard = await openDashboard({
    containers: [{ name: "web" }],
    env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    hasTrial: true,
  });
  const { service, tab } = dashboard;
  const reads = (path: string) => tab.requests.filter((each) => each === `GET ${path}`).length;
  await tab.find("meter", "CPU");
  await tab.go("/webhooks");
  await eventually(() => equal(reads("/api/webhooks"), 1));

  const { body } = await service.call("POST", "/api/webhooks", {
    ...{ name: "ops", url: "https://hooks.example.com/x", events: ["container.up"] },
  });
  await tab.find("row", /^ops/);
  equal(reads("/api/webhooks"), 2);
  await service.call("DELETE", `/api/webhooks/${body.id}`);
  await tab.gone("row", /^ops/);

  deepEqual(tab.complaints, []);
});

long(dashboardTest)("the pages of monitors follow the checks without a request", async () => {
  await using dashboard = await openDashboard({
    containers: [],
    env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    hasTrial: true,
  });
  const { service, tab } = dashboard;
  const { body: monitor, status } = await service.call(
    "POST",
    "/api/ext/service-pro/uptime/monitors",
    {
      ...{ name: "Shop", type: "tcp", url: new URL(service.baseUrl).host, interval_seconds: 5 },
    },
  );
  equal(status, 201, JSON.stringify(monitor));
  await tab.go("/uptime");
  await rowMatches(tab, "Shop", /Up/);
  const checkedAt = () =>
    tab.page.$eval("[aria-label=Monitors] time", (time) => time.getAttribute("datetime"));
  const first = await checkedAt();
  await tab.page.waitForNetworkIdle({ concurrency: 1 });
  tab.requests.length = 0;
  await until("the list has another check", async () => await checkedAt() !== first);
  deepEqual(tab.requests, []);

  await tab.click("link", "Shop");
  await tab.find("heading", "Shop");
  await tab.loaded();
  const checks = () => tab.page.$$eval("[aria-label=Checks] tbody tr", ({ length }) => length);
  const before = await checks();
  tab.requests.length = 0;
  await until("the page has another check", async () => await checks() > before);
  deepEqual(tab.requests, []);
  deepEqual(tab.complaints, []);
});

long(dashboardTest)("hidden tabs close the stream and continue where they were", async () => {
  const containers: SimulatedContainer[] = [{ name: "web" }];
  await using engine = fakeEngine(simulateContainers(containers));
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await using browser = await startDashboardBrowser({ hasWindow: true });
  const tab = await browser.signIn(service);
  await tab.find("link", "1 running");
  await until("it reads the stream", async () => await streamsOf(service) === 1);

  const other = await browser.context.newPage();
  await other.bringToFront();
  await until("the hidden tab reads nothing", async () => await streamsOf(service) === 0);
  tab.requests.length = 0;
  await service.call("POST", "/api/containers/web/stop");
  deepEqual(tab.requests, []);
  await tab.page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 60_000;
  });

  await tab.show();
  await tab.find("link", "1 stopped");
  await until("it has read again", () => tab.requests.includes("GET /api/updates"));
  await eventually(async () => equal(await streamsOf(service), 1));
  deepEqual(tab.complaints, []);
});

dashboardTest("a lost service and a lost engine are reported, and come back alone", async (t) => {
  const containers: SimulatedContainer[] = [{ name: "web" }];
  await using engine = fakeEngine({
    ...simulateContainers(containers),
    "GET /events": () => new Response(new ReadableStream()),
  });
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  const options = {
    dataDir,
    engineSocket: engine.socketPath,
    env: { PORT: String(freePort()), API_KEY: crypto.randomUUID() + crypto.randomUUID() },
  };
  {
    await using browser = await startDashboardBrowser();
    await using first = await startLongshore(options);
    const tab = await browser.signIn(first);
    const updates = tab.page.waitForResponse((response) =>
      new URL(response.url()).pathname === "/api/updates"
    );
    await tab.open("/containers?q=web");
    await tab.find("status", "1 of 1 container");
    // Otherwise the engine could be lost while it is read.
    await updates;

    await t.step("the engine", async () => {
      await engine.down();
      await tab.alert(/Engine unreachable/);
      await tab.find("link", "web");
      engine.up();
      await tab.gone("alert", /Engine unreachable/);
      deepEqual(tab.complaints, []);
    });

    await t.step("the network", async () => {
      await tab.page.setOfflineMode(true);
      await first.kill9();
      await until(
        "the loss is shown",
        async () => await connectionOf(tab) === "Reconnecting",
      );
      await tab.find("link", "web");
      await tab.page.setOfflineMode(false);
    });

    await t.step("the service, which is started again", async () => {
      tab.requests.length = 0;
      containers.push({ name: "db" });
      await using _second = await startLongshore(options);
      await until("the connection is back", async () => await connectionOf(tab) === "Live");
      await tab.find("status", "1 of 2 containers");
      await eventually(() => match(tab.page.url(), /\/containers\?q=web$/));
      // More than once if the connection was lost again.
      const isOwn = (each: string) => !/\/(api\/stream|auth\/session\/refresh)$/.test(each);
      await eventually(() =>
        deepEqual([...new Set(tab.requests.filter(isOwn))], ["GET /api/updates"])
      );
    });

    await t.step("a page that is opened meanwhile", async () => {
      await until("the loss is shown", async () => await connectionOf(tab) === "Reconnecting");
      await tab.click("link", "Images");
      await tab.alert("Longshore cannot be reached");
      await using _third = await startLongshore(options);
      await tab.find("heading", "Images");
    });
  }
  await Deno.remove(dataDir, { recursive: true });
});

long(dashboardTest)("plain HTTP under a host name works in several tabs", async () => {
  await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await using browser = await startDashboardBrowser({
    flags: ["--host-resolver-rules=MAP harbor.example 127.0.0.1"],
  });
  const baseUrl = service.baseUrl.replace("127.0.0.1", "harbor.example");
  const tab = await browser.tab({ baseUrl });
  await tab.open("/sign-in");
  await tab.type("textbox", "API key", service.apiKey);
  await tab.click("button", "Sign in");
  await tab.find("heading", "Overview");
  await tab.refused(401); // A browser without a session.
  equal(await tab.page.evaluate(() => isSecureContext), false);
  await tab.open("/containers");
  await tab.find("status", "1 container");
  await tab.choose("web", "Stop");
  await tab.status("Stopped web");

  const second = await browser.tab({ baseUrl });
  await second.open("/containers");
  await second.find("status", "1 container");
  await until("it is live", async () => await connectionOf(second) === "Live");
  deepEqual([...tab.complaints, ...second.complaints], []);
});
