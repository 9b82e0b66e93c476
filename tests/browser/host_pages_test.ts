/// <reference lib="dom" />

/** The pages of a host of the fleet, with a hub and a host as real programs. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import type { HTTPRequest } from "puppeteer-core";
import { dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes, hasColumns, rowMatches } from "../helpers/dashboard_steps.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { joinFleet } from "../helpers/joined_host.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const INSECURE = { FLEET_INSECURE: "on" };

long(dashboardTest)(
  "a host has pages of its own, which the banner leads to and back from",
  async (t) => {
    await using hubEngine = fakeEngine(simulateContainers([{ name: "hub-web" }]));
    await using engine = fakeEngine(simulateContainers([{ name: "shop" }]));
    await using hub = await startLongshore({
      engineSocket: hubEngine.socketPath,
      env: { ...INSECURE, SERVER_NAME: "hub" },
    });
    await using member = await startLongshore({ engineSocket: engine.socketPath, env: INSECURE });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(hub, undefined, { path: "/containers" });
    const { page } = tab;
    const path = () => page.url().slice(hub.baseUrl.length);

    await t.step("a server without a fleet asks for no hosts", async () => {
      await tab.find("row", /hub-web.*Running/);
      deepEqual(tab.requests.filter((each) => each.includes("/fleet")), []);
      deepEqual((await tab.names("button")).filter((name) => name.startsWith("Switch")), []);
    });

    await joinFleet(hub, member);
    await tab.open("/containers");

    await t.step(
      "the switcher opens the same page of the host, which it stops a container on",
      async () => {
        await tab.click("button", "Switch host: hub");
        await checkBothThemes(tab);
        tab.requests.length = 0;
        await tab.click("menuitem", "edge-7");
        await tab.find("row", /shop.*Running/);
        equal(path(), "/hosts/edge-7/containers");
        await tab.choose("shop", "Stop");
        await tab.status("Stopped shop");
        await tab.find("row", /shop.*Exited/);
        await checkBothThemes(tab);
        const { state } = (await member.call("GET", "/api/containers/shop")).body;
        equal(state, "exited");
        deepEqual(
          tab.requests.map((each) => each.split(" ")[1]!)
            .filter((path) => path.startsWith("/api/") && !path.startsWith("/api/fleet/hosts")),
          [],
        );
      },
    );

    await t.step("links stay at the host, whose pages are not about the hub", async () => {
      await tab.click("link", "shop");
      await tab.find("heading", "shop");
      match(path(), /^\/hosts\/edge-7\/containers\/\w{12}$/);
      match(await page.title(), /^shop · edge-7 · /);
      const places = await page.$$eval("nav a", (links) => links.map(({ pathname }) => pathname));
      deepEqual(places.filter((place) => !place.startsWith("/hosts/edge-7/")), []);
      deepEqual(
        places.filter((place) => /users|license|settings|hosts\/edge-7\/hosts/.test(place)),
        [],
      );
      await page.goBack();
      await tab.find("heading", "Containers");
      equal(path(), "/hosts/edge-7/containers");
      deepEqual(tab.complaints, []);
    });

    await t.step("a page says what a host of an older version lacks", async () => {
      const answers: Record<string, [status: number, body: unknown]> = {
        "/volumes": [404, { error: "No such path: /api/volumes" }],
        "/networks": [200, { networks: [{ name: 1 }] }],
      };
      await page.setRequestInterception(true);
      const answer = (request: HTTPRequest) => {
        const [, at = ""] = request.url().split("/api/fleet/hosts/edge-7/api");
        const [status, body] = answers[at] ?? [];
        if (!status) return void request.continue();
        void request.respond({
          status,
          contentType: "application/json",
          body: JSON.stringify(body),
        });
      };
      page.on("request", answer);
      const { version } = (await hub.call("GET", "/api/fleet/hosts")).body.hosts[0];
      const says = (text: string) =>
        until(
          text,
          () => page.$eval("main", (main, text) => main.textContent.includes(text), text),
        );
      await tab.go("/hosts/edge-7/volumes");
      await says(
        `This page needs /api/volumes, which host edge-7 does not have; it runs version ${version}`,
      );
      await tab.refused(404);
      await tab.go("/hosts/edge-7/networks");
      await says(`host edge-7 runs version ${version}`);
      page.off("request", answer);
      await page.setRequestInterception(false);
      tab.complaints.length = 0;
    });

    await t.step("it leads back to the hub", async () => {
      await tab.go("/hosts/edge-7/containers");
      await tab.click("button", "Switch host: edge-7");
      await tab.click("menuitem", "hub (this server)");
      await tab.find("row", /hub-web.*Running/);
      equal(path(), "/containers");
    });

    await t.step(
      "the lists over all hosts name the host of each row, which an action runs on",
      async () => {
        await tab.go("/hosts?list=containers");
        await tab.find("tab", "Containers");
        await hasColumns(tab, ["Name", "State", "Health", "Image", "Stack", "Host"]);
        await rowMatches(tab, "shop", /Exited[^]*edge-7/);
        await tab.choose("shop", "Start");
        await tab.status("Started shop");
        await rowMatches(tab, "shop", /Running[^]*edge-7/);
        await checkBothThemes(tab);
        await tab.type("searchbox", "Filter containers", "nothing");
        await tab.click("button", "Clear filters");
        await tab.choose("shop", "Stop");
        await rowMatches(tab, "shop", /Exited[^]*edge-7/);
        for (const list of ["Stacks", "Updates", "Alerts"]) {
          await tab.click("tab", list);
          await tab.find("searchbox", `Filter ${list.toLowerCase()}`);
        }
      },
    );

    await t.step(
      "the hub's overview has the events of its hosts, with the host's name",
      async () => {
        const event = {
          ...{ event: "update.failed", eventId: "e1", timestamp: new Date().toISOString() },
          ...{ host: "edge-7", data: {}, title: "Update failed: shop", tone: "problem", lines: [] },
        };
        const body = `id: 2\nevent: event\ndata: ${JSON.stringify(event)}\n\n`;
        await page.setRequestInterception(true);
        const answer = (request: HTTPRequest) => {
          if (!request.url().includes("/api/stream?hosts=*")) return void request.continue();
          void request.respond({ contentType: "text/event-stream", body });
        };
        page.on("request", answer);
        await tab.go("/");
        const isShown = (main: Element) => main.textContent.includes("edge-7: Update failed: shop");
        await until("the event", () => page.$eval("main", isShown));
        page.off("request", answer);
        await page.setRequestInterception(false);
        tab.complaints.length = 0;
      },
    );

    await t.step("logs of hosts are on the hub's page of logs, beside its own", async () => {
      await tab.go("/logs");
      await tab.select("[aria-label=Host]", "edge-7");
      await tab.click("link", "shop");
      equal(path(), "/logs?container=edge-7%2Fshop");
      await tab.select("[aria-label=Host]", "");
      await tab.select("[aria-label='Add container']", "hub-web");
      await until(
        "both streams",
        () =>
          ["GET /api/logs/stream", "GET /api/fleet/logs/stream"].every((each) =>
            tab.requests.includes(each)
          ),
      );
      await tab.find("log", "Logs");
      await checkBothThemes(tab);
      deepEqual(tab.complaints, []);
    });

    await t.step("a host that is away says so", async () => {
      await tab.open("/hosts/edge-7/containers");
      await tab.find("row", /shop.*Exited/);
      await member.kill9();
      const note = await tab.find("alert", /^Host edge-7 is away, last seen /);
      match(await note.evaluate((each) => each.querySelector("time")?.dateTime ?? ""), /^\d{4}-/);
      await checkBothThemes(tab);
    });

    await t.step(
      "containers of a host that was away before lead to what the hub knows",
      async () => {
        await tab.open("/hosts/edge-7/containers");
        await tab.find("alert", /^Host edge-7 is away/);
        const unknown = await tab.find("region", "Containers");
        match(
          await unknown.evaluate((each) => each.textContent),
          /while host edge-7 cannot be reached/,
        );
        await tab.click("link", "Show the last known ones");
        await rowMatches(tab, "shop", /Exited[^]*edge-7[^]*as of/);
      },
    );
  },
);
