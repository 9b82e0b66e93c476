/**
 * The page Alerts: templates, rules for containers, active alerts and silences; and maintenance
 * windows.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { type Dashboard, dashboardTest, PHONE } from "../helpers/dashboard.ts";
import {
  checkBothThemes,
  deleteRow,
  hasColumns,
  rowMatches,
  rowOf,
  select,
} from "../helpers/dashboard_steps.ts";
import { composeLabels } from "../helpers/fake_containers.ts";
import { long } from "../helpers/long.ts";
import type { Longshore } from "../helpers/longshore.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { eventually, until } from "../helpers/until.ts";

/** A name that would be harmful as HTML. */
const HOSTILE = "<img src=x onerror=document.title='evil'>";

long(dashboardTest)(
  "alert rules are created from templates and by hand, and alerts are acknowledged and silenced",
  async (t) => {
    await using open = await openDashboard({
      containers: [{ name: "web", labels: composeLabels("shop", "web") }, { name: "db" }],
      path: "/alerts",
    });
    const { service, tab } = open;

    await t.step("an empty list offers templates", () => useTemplate(tab, service));
    await t.step("a rule for containers, with a preview", () => createRule(tab, service));
    await t.step("an active alert", () => handleAlert(tab, service));
    await t.step("silences", () => manageSilences(tab));
    await t.step("maintenance mode shows what it holds back", () => pauseRules(tab, service));
    await t.step("maintenance windows", () => manageWindows(tab, service));
    await t.step("on a phone", async () => {
      await tab.page.setViewport(PHONE);
      await tab.go("/alerts");
      await tab.loaded();
      await tab.fits(PHONE.width);
      await tab.choose(HOSTILE, "Edit");
      await tab.find("dialog", `Edit ${HOSTILE}`);
      await checkBothThemes(tab);
    });
    deepEqual(tab.complaints, []);
  },
);

async function useTemplate(tab: Dashboard, service: Longshore): Promise<void> {
  await hasColumns(tab, ["Rule", "Condition", "Action"], "Templates");
  await checkBothThemes(tab);
  await tab.press("Use", "Created Disk almost full");
  await rowMatches(tab, "Disk almost full", /Disk usage > 90 % for 5 min/);
  // The other templates stay.
  await tab.find("table", "Templates");
  await tab.click("button", "Close templates");
  await tab.gone("table", "Templates");
  const { rules } = (await service.call("GET", "/api/alerts/rules")).body;
  deepEqual([rules[0].metric, rules[0].severity], ["disk_percent", "critical"]);
  await deleteRow(tab, "Disk almost full");
}

async function createRule(tab: Dashboard, service: Longshore): Promise<void> {
  await tab.click("button", "New alert rule");
  // Only the fields that the metric needs.
  await select(tab, "Metric", "container_log_matches");
  await tab.find("textbox", "Pattern");
  await tab.find("spinbutton", "Window (seconds)");
  await select(tab, "Metric", "container_not_running");
  await tab.gone("textbox", "Pattern");
  await tab.gone("combobox", "Operator");
  await select(tab, "Metric", "container_restarts");
  await tab.gone("textbox", "Pattern");
  await select(tab, "Operator", ">=");
  await tab.type("spinbutton", "Threshold", "0");
  await tab.fill({ Labels: "no pair", Name: HOSTILE });
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Labels");
  await tab.fill({ Labels: "", Containers: "we*", Stacks: "shop" });
  await select(tab, "Severity", "critical");
  // The engine of this test reports no events, so that restarts are unknown.
  await until("the preview", () => pageShows(tab, /The present value is unknown/));
  await checkBothThemes(tab);
  await tab.press("Create", `Created ${HOSTILE}`);
  await rowMatches(tab, HOSTILE, /Restarts of a container ≥ 0 within 5 min: we\* in shop/);
  const { rules: [rule] } = (await service.call("GET", "/api/alerts/rules")).body;
  deepEqual(rule.scope, { target: { kind: "containers", containers: ["we*"], stacks: ["shop"] } });
  equal(rule.severity, "critical");

  await tab.click("button", "New alert rule");
  await select(tab, "Metric", "memory_percent");
  await select(tab, "Operator", ">=");
  await tab.type("spinbutton", "Threshold", "0");
  await tab.type("spinbutton", "Duration (seconds)", "86400");
  await until(
    "the preview",
    () => pageShows(tab, /The condition holds; it would fire in (1 d|23 h)/),
  );
  await tab.type("spinbutton", "Duration (seconds)", "0");
  await until("the preview", () => pageShows(tab, /It would fire now/));
  await tab.type("textbox", "Name", "Memory");
  await tab.press("Create", "Created Memory");
}

async function handleAlert(tab: Dashboard, service: Longshore): Promise<void> {
  await tab.find("table", "Active alerts");
  await checkBothThemes(tab);
  await tab.choose("alert Memory", "Acknowledge");
  await tab.type("textbox", "Comment", "Looking at it");
  await checkBothThemes(tab);
  await tab.press("Acknowledge", "Acknowledged Memory");
  await until("the comment", () => pageShows(tab, /Looking at it/));
  const { alerts } = (await service.call("GET", "/api/alerts/active")).body;
  deepEqual(alerts.map(({ ruleName, comment }: Record<string, unknown>) => [ruleName, comment]), [
    ["Memory", "Looking at it"],
  ]);
}

async function manageSilences(tab: Dashboard): Promise<void> {
  await tab.choose("alert Memory", "Silence");
  await tab.find("dialog", "New silence");
  await until(
    "the kinds of events are proposed by their words",
    () =>
      tab.page.$$eval(
        "dialog datalist option",
        (options) =>
          options.some((each) =>
            (each as HTMLOptionElement).value === "container.crash_looping" &&
            each.textContent === "Containers: crash loop"
          ),
      ),
  );
  const rule = await tab.find("textbox", "Rule");
  equal(await rule.evaluate((input) => (input as HTMLInputElement).value), "Memory");
  await checkBothThemes(tab);
  await tab.press("Create", "Created the silence");
  await rowMatches(tab, "rule Memory", /Active/);

  await tab.click("button", "New silence");
  await tab.pressRefused("Create", /must have at least one of event, container/);
  await tab.type("textbox", "Container", "batch*");
  await tab.press("Create", "Created the silence");
  await tab.choose("container batch*", "Edit");
  await tab.type("textbox", "Comment", "Import");
  await checkBothThemes(tab);
  await tab.press("Save", "Saved the silence");
  await rowMatches(tab, "container batch*", /Import/);
  await deleteRow(tab, "container batch*");
  await checkBothThemes(tab);
}

async function pauseRules(tab: Dashboard, service: Longshore): Promise<void> {
  await service.call("POST", "/api/maintenance", { enabled: true });
  const memory = { name: "Memory low", metric: "memory_percent", operator: ">=", threshold: 0 };
  const { status } = await service.call("POST", "/api/alerts/rules", {
    ...memory,
    durationSeconds: 0,
  });
  equal(status, 201);
  await eventually(async () => {
    await tab.open("/alerts");
    match(await rowOf(tab, "Memory low"), /Pending\s+No messages: maintenance/);
  });
  await checkBothThemes(tab);
  await service.call("POST", "/api/maintenance", { enabled: false });
  await deleteRow(tab, "Memory low");
}

async function manageWindows(tab: Dashboard, service: Longshore): Promise<void> {
  await tab.go("/settings");
  await tab.click("button", "New window");
  await tab.type("textbox", "Opens (cron)", "every night");
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Opens (cron)");
  await tab.type("textbox", "Opens (cron)", "0 3 * * sat");
  await select(tab, "Time zone", "Europe/Berlin");
  await select(tab, "Applies to", "containers");
  await tab.fill({ Containers: "batch*", Comment: "Import" });
  await checkBothThemes(tab);
  await tab.press("Create", "Created 0 3 * * sat (Import)");
  await checkBothThemes(tab);
  await tab.choose("0 3 * * sat (Import)", "Edit");
  await tab.type("spinbutton", "Minutes", "90");
  await tab.press("Save", "Saved 0 3 * * sat (Import)");
  await eventually(async () => {
    const { windows: [window] } = (await service.call("GET", "/api/maintenance/windows")).body;
    deepEqual([window.durationMinutes, window.scope, window.timeZone], [
      90,
      { target: { kind: "containers", containers: ["batch*"] } },
      "Europe/Berlin",
    ]);
  });
  await deleteRow(tab, "0 3 * * sat (Import)");
}

const pageShows = async (tab: Dashboard, text: RegExp): Promise<boolean> =>
  text.test(await tab.page.evaluate(() => document.body.innerText));
