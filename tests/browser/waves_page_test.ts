/** The tab Waves of the page Hosts, with hosts whose links are simulated. @module */

import { deepEqual, match } from "node:assert/strict";
import type { HTTPRequest } from "puppeteer-core";
import { receiveReport } from "../../services/fleet/waves/hub.ts";
import { dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes, rowMatches } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { serveApp } from "../helpers/served_app.ts";
import { TEST_API_KEY } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";
import { smallWorld } from "../helpers/wave_world.ts";

long(dashboardTest)(
  "the page of waves shows where images are, goes back from a blocked one, lifts its block and changes the waves",
  async () => {
    using world = await smallWorld();
    const { app, members: [canary, home] } = world;
    world.publish("shop", "good");
    await world.judge(canary!, world.latest.get("shop")!);
    world.publish("db", "bad");
    const { digest } = world.latest.get("db")!;
    // Tokens of sessions expire by the clock of the browser.
    app.clock.set(new Date().toISOString());
    await world.judge(canary!, world.latest.get("db")!);
    const affected = [{ container: "db", digest, canGoBack: true }];
    const report = { platform: home!.platform, verdicts: [], affected };
    await receiveReport(app.deps, home!.id, JSON.stringify(report));

    await using served = serveApp(app);
    await using browser = await startDashboardBrowser();
    const service = { baseUrl: served.url, apiKey: TEST_API_KEY };
    const tab = await browser.signIn(service, undefined, { path: "/hosts?list=waves" });
    const { page } = tab;
    await rowMatches(tab, "registry.test/shop:1", /wave=canary 1\/1/);
    await rowMatches(tab, "registry.test/db:1", /host-0: db failure[^]*host-1\/db/);
    await checkBothThemes(tab);

    await tab.choose("the block of registry.test/db:1", "Show log");
    const log = await tab.find("dialog", "Last lines of db on host-0");
    match(await log.evaluate((dialog) => dialog.textContent ?? ""), /boom/);
    await tab.click("button", "Close");

    const sent: string[] = [];
    await page.setRequestInterception(true);
    const answer = (request: HTTPRequest) => {
      if (!request.url().endsWith("/rollback")) return void request.continue();
      sent.push(new URL(request.url()).pathname);
      void request.respond({ status: 202, contentType: "application/json", body: "{}" });
    };
    page.on("request", answer);
    await tab.choose("the block of registry.test/db:1", "Go back");
    await tab.press("Go back from", "1 rollback started");
    deepEqual(sent, ["/api/fleet/hosts/host-1/api/containers/db/rollback"]);
    page.off("request", answer);
    await page.setRequestInterception(false);

    await tab.choose("the block of registry.test/db:1", "Lift");
    await tab.press("Lift the block of", "registry.test/db:1 may be installed again");
    await tab.gone("table", "Blocked images");

    await tab.openDialog("Edit waves");
    await checkBothThemes(tab);
    await tab.fill({ "Labels of hosts": "wave=canary, WAVE" });
    await tab.pressRefused("Save", /must be a label of hosts/);
    await tab.fill({ "Labels of hosts": "wave=canary, wave=home" });
    await tab.click("button", "Save");
    await until("the new order is shown", async () => {
      const text = await page.evaluate(() => document.querySelector("main")!.textContent);
      return text.includes("wave=canary → wave=home → other hosts.");
    });
    deepEqual(tab.complaints, []);
  },
);
