/** The page of a stack and the containers table, with containers in all kinds of states. @module */

import { deepEqual, equal } from "node:assert/strict";
import { dashboardTest, DESKTOP, PHONE } from "../helpers/dashboard.ts";
import { checkBothThemes } from "../helpers/dashboard_steps.ts";
import { simulateContainers, type SimulatedContainer } from "../helpers/fake_containers.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { eventually } from "../helpers/until.ts";

/** Ports as the engine describes them, by the name of the container. */
const PORTS: Record<string, object> = {
  "/shop-web-1": { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "8080" }] },
  "/shop-web-2": { "80/tcp": [{ HostIp: "192.0.2.1", HostPort: "8081" }] },
  "/shop-db-1": {
    "5432/tcp": [{ HostIp: "0.0.0.0", HostPort: "5432" }, { HostIp: "::", HostPort: "5432" }],
  },
};

/** Three lines on a phone. */
const LONG_NAME = "a-".repeat(40) + "z";

const container = (
  name: string,
  fields: Omit<SimulatedContainer, "name"> = {},
): SimulatedContainer => ({
  name: `shop-${name}`,
  labels: {
    "com.docker.compose.project": "shop",
    "com.docker.compose.service": name.split("-")[0]!,
    "com.docker.compose.container-number": name.split("-")[1]!,
    ...(name.startsWith("web") && {
      "com.docker.compose.depends_on": "db:service_healthy:false,cache:service_started:true",
    }),
  },
  ...fields,
});

dashboardTest(
  "a stack shows health and exit codes of its services, and ports show who reaches them",
  async (t) => {
    const containers = [
      container("web-1", { health: "healthy" }),
      container("web-2", { health: "unhealthy" }),
      container("db-1", { health: "healthy" }),
      container("job-1", { state: "exited", exitCode: 137 }),
      container("task-1", { state: "exited", exitCode: 0 }),
      container("cache-1", { state: "restarting", exitCode: 1 }),
      container("plain-1"),
      { name: LONG_NAME },
    ];
    const inspect = simulateContainers(containers)["GET /containers/*/json"]!;
    await using open = await openDashboard({
      containers,
      answers: {
        "GET /info": () => Response.json({}),
        "GET /networks": () => Response.json([]),
        "GET /volumes": () => Response.json({ Volumes: [] }),
        "GET /containers/*/json": async (request) => {
          const body = await (await inspect(request)).json();
          const { NetworkSettings } = body;
          const Ports = PORTS[body.Name] ?? {};
          return Response.json({ ...body, NetworkSettings: { ...NetworkSettings, Ports } });
        },
      },
      path: "/stacks/shop",
    });
    const { tab } = open;
    /** The texts of a column by the name of the row. */
    const column = (at: number) =>
      tab.page.$$eval(
        "table tbody tr",
        (rows, at) =>
          Object.fromEntries(rows.map((row) => {
            const cells = [...row.querySelectorAll<HTMLElement>("th, td")];
            const name = cells.find(({ textContent }) => textContent !== "");
            return [name?.textContent, cells[at]?.innerText.trim()];
          })),
        at,
      );

    await t.step("the services of the stack", async () => {
      await tab.find("table", "Services");
      await eventually(async () =>
        deepEqual(await column(1), {
          cache: "Restarting (1)",
          db: "Running, healthy",
          job: "Exited (137)",
          plain: "Running",
          task: "Exited",
          web: "1 running, healthy\n1 running, unhealthy",
        })
      );
      equal((await column(5)).web, "db, cache");
      equal(await tab.page.$$eval("thead th", (all) => all[5]?.textContent), "Depends on");
      await checkBothThemes(tab);
      await tab.page.setViewport(PHONE);
      await tab.fits(PHONE.width);
      await tab.page.setViewport(DESKTOP);
    });
    await t.step("the plan of its sources", async () => {
      const compose = "services:\n  plain:\n    image: app:1\n";
      const sources = { name: "shop", deploy: false, compose };
      equal((await open.service.call("POST", "/api/stacks", sources)).status, 201);
      await tab.open("/stacks/shop");
      await tab.click("button", "Plan");
      await tab.find("region", "Plan of a deploy");
      await tab.find("table", "Plan");
    });
    await t.step("the ports of the containers", async () => {
      await tab.page.setViewport({ width: 1440, height: 900 });
      await tab.open("/containers");
      await tab.find("link", "shop-web-1");
      const headers = await tab.page.$$eval(
        "table th[scope=col], table thead td",
        (cells) => cells.map(({ textContent }) => textContent?.replace(/ .*/, "")),
      );
      const ports = await column(headers.indexOf("Ports"));
      equal(ports["shop-web-1"], "local:8080→80");
      equal(ports["shop-web-2"], "192.0.2.1:8081→80");
      equal(ports["shop-db-1"], "5432→5432");
    });
    await t.step(
      "a long name on a phone, which covers neither its state nor the header",
      async () => {
        await tab.page.setViewport(PHONE);
        const name = await tab.find("link", LONG_NAME);
        await eventually(async () =>
          deepEqual(
            await name.evaluate((link) => {
              const { top, bottom } = link.getBoundingClientRect();
              const row = link.closest("tr")!;
              const state = row.querySelector("td.state")!;
              return [
                top >= row.getBoundingClientRect().top,
                bottom <= state.getBoundingClientRect().top,
              ];
            }),
            [true, true],
          )
        );
      },
    );
    deepEqual(tab.complaints, []);
  },
);
