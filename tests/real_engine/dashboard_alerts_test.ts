/**
 * An alert of a container in the dashboard, from its rule to its end, and the messages about it.
 *
 * @module
 */

import { deepEqual } from "node:assert/strict";
import { startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes, rowMatches, select } from "../helpers/dashboard_steps.ts";
import { fakeReceiver } from "../helpers/fake_receiver.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { privateEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

long(privateEngineTest)(
  "an alert of a container fires, is solved and resolves in the dashboard",
  async (engine) => {
    await using _web = await engine.runContainer({ name: "web" });
    await using _db = await engine.runContainer({ name: "db" });
    await using receiver = fakeReceiver();
    await using service = await startLongshore({
      engineSocket: engine.socketPath,
      env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    });
    await service.call("POST", "/api/notifications/channels", {
      name: "On-call",
      kind: "webhook",
      config: { url: receiver.url },
      events: ["alert.fired", "alert.resolved"],
    });
    const isSent = (title: string) => receiver.received.some(({ body }) => body.includes(title));
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service, undefined, { path: "/alerts" });

    await tab.click("button", "New alert rule");
    await select(tab, "Metric", "container_not_running");
    await tab.type("spinbutton", "Duration (seconds)", "0");
    await tab.type("textbox", "Containers", "web*");
    await tab.type("textbox", "Name", "Web is down");
    await until(
      "the preview",
      () => tab.page.evaluate(() => document.body.innerText.includes("It would not fire now")),
    );
    await tab.click("button", "Create");
    await tab.status("Created Web is down");
    await rowMatches(tab, "Web is down", /Container is not running: web\*\s+OK/);

    // A stop ends it with the status 0, as a task that has finished.
    await engine.docker("kill", "web", "db");
    // It is in front of the rules.
    await tab.find("table", "Active alerts");
    await rowMatches(tab, "Web is down", /Web is down[^]*web is not running/);
    await checkBothThemes(tab);
    // It has the same cause as the event of the container, which is the message.
    await until("it is sent", () => isSent("Container down: web"));
    await tab.go("/notifications");
    await rowMatches(tab, "On-call", /Delivered/);

    await tab.go("/");
    await tab.find("link", "Web is down: web is not running");
    await tab.click("button", "Start");
    await tab.status("Started web");
    await tab.gone("link", "Web is down: web is not running");

    await tab.go("/alerts");
    await tab.find("table", "Alert history");
    await tab.gone("table", "Active alerts");
    await until("the alert has an end", async () => {
      const rows = await tab.page.$$eval(
        "table[aria-label='Alert history'] tbody tr",
        (rows) => rows.map((row) => row.querySelectorAll("time").length),
      );
      return rows.length === 1 && rows[0] === 2;
    });
    await until("its end is sent", () => isSent("Alert resolved: Web is down (web)"));
    deepEqual(tab.complaints, []);
  },
);
