/**
 * The pages Alerts, Webhooks, Registries, Schedules, Integrations and Probes, with a service that may send
 * requests to loopback.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import {
  type Dashboard,
  dashboardTest,
  DESKTOP,
  startDashboardBrowser,
} from "../helpers/dashboard.ts";
import {
  checkBothThemes,
  hasColumns,
  rowMatches,
  select,
  unfold,
} from "../helpers/dashboard_steps.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { fakeRegistry } from "../helpers/fake_registry.ts";
import { fakeReceiver } from "../helpers/fake_receiver.ts";
import { fakeSystem } from "../helpers/fake_system.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { until } from "../helpers/until.ts";

/** A name that would be harmful as HTML. */
const HOSTILE = "<img src=x onerror=document.title='evil'>";

long(dashboardTest)(
  "alerts, webhooks, schedules, integrations and probes are managed",
  async (t) => {
    await using receiver = fakeReceiver();
    await using open = await openDashboard({
      containers: [{ name: "web" }, { name: "db" }],
      env: {
        OUTBOUND_ALLOW: "127.0.0.0/8",
        ENDPOINTS: `Shop|${receiver.url}|204,Broken|${receiver.url}|200`,
        SSL_DOMAINS: "127.0.0.1:1",
      },
    });
    const { service, tab } = open;
    // It runs while the rest is tested.
    const everyMinute = await service.call("POST", "/api/schedules", {
      ...{ name: "Every minute", containerId: "db", containerName: "db" },
      ...{ action: "restart", cronExpression: "* * * * *" },
    });
    equal(everyMinute.status, 201);

    await t.step("alert rules", () => checkAlerts(tab, service));
    await t.step("webhooks", async () => {
      await checkWebhooks(tab, service, receiver.url);
      const tests = receiver.received.filter(({ body }) => body !== "");
      // A delivery can be repeated, as its receiver may be slow.
      deepEqual([...new Set(tests.map(({ body }) => JSON.parse(body).event))], ["test"]);
      equal(tests[0]?.headers["x-team"], "operations");
    });
    await t.step("registries", () => checkRegistries(tab));
    await t.step("schedules", () => checkSchedules(tab));
    await t.step("integrations", () => checkIntegrations(tab));
    await t.step("probes", () => checkProbes(tab));
    await t.step("a schedule that has run", async () => {
      await tab.go("/schedules");
      await until("its run", async () =>
        /Every minute\s+db\s+Restart\s+Succeeded/.test(
          await textOf(tab, "Schedule history"),
        ));
      match(await textOf(tab, "Schedules"), /Every minute.*Succeeded/s);
    });
    deepEqual(tab.complaints, []);
  },
);

long(dashboardTest)(
  "viewers see alerts, schedules and integrations, and can change nothing",
  async () => {
    const [email, password] = ["viewer@example.com", "correct horse battery staple"];
    await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
    await using service = await startLongshore({
      engineSocket: engine.socketPath,
      env: { AUTH_MODE: "users", ADMIN_EMAIL: "admin@example.com", ADMIN_PASSWORD: password },
    });
    const admin = await service.call("POST", "/auth/login", {
      email: "admin@example.com",
      password,
    }, { token: null });
    const create = async (path: string, body: unknown) => {
      const { status } = await service.call("POST", path, body, { token: admin.body.accessToken });
      equal(status, 201, path);
    };
    await create("/auth/users", { email, password: `${password} 2`, role: "viewer" });
    await create("/api/alerts/rules", {
      name: "High CPU",
      metric: "cpu_percent",
      operator: ">",
      threshold: 90,
      durationSeconds: 60,
    });
    await create("/api/schedules", {
      name: "Nightly",
      containerId: "web",
      containerName: "web",
      action: "restart",
      cronExpression: "0 3 * * *",
    });
    await create("/api/integrations", {
      name: "Dashboards",
      adapter: "dashboard",
      config: { url: "http://10.0.0.1", apiKey: "key" },
      enabled: false,
    });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service, DESKTOP, {
      path: "/webhooks",
      as: { email, password: `${password} 2` },
    });

    await tab.find("heading", "Access denied");
    for (
      const [path, name] of [
        ["/alerts", "High CPU"],
        ["/schedules", "Nightly"],
        ["/integrations", "Dashboards"],
      ] as const
    ) {
      await tab.go(path);
      const toggle = await tab.find("switch", `Enable ${name}`);
      await until("it is disabled", () => toggle.evaluate((input) => input.matches(":disabled")));
      await tab.gone("button", /^New /);
      await tab.gone("link", "Webhooks");
    }
    await tab.choose("Dashboards", "Data");
    await tab.find("dialog", "Data of Dashboards");
    await tab.page.keyboard.press("Escape");
    await tab.go("/containers");
    await tab.find("link", "web");
    await tab.gone("checkbox", /^Select /);
    deepEqual(tab.complaints, []);
  },
);

async function checkAlerts(tab: Dashboard, service: Longshore): Promise<void> {
  await tab.go("/alerts");
  await tab.openDialog("New alert rule");
  await checkBothThemes(tab);
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Name");
  equal(tab.changes().includes("POST /api/alerts/rules"), false);

  await tab.type("textbox", "Name", HOSTILE);
  await select(tab, "Metric", "memory_percent");
  await select(tab, "Operator", ">=");
  await tab.type("spinbutton", "Threshold", "0");
  await tab.type("spinbutton", "Duration (seconds)", "0");
  await tab.press("Create", `Created ${HOSTILE}`);
  await hasColumns(tab, [
    "Name",
    "Condition",
    "State",
    "Last fired",
    "Enabled",
  ], "Alert rules");
  await until(
    "its condition",
    async () => (await textOf(tab, "Alert rules")).includes("Memory ≥ 0 %"),
  );

  // The page follows the alert that fires, without a reload.
  await until("the rule fires", async () => /Firing/.test(await textOf(tab, "Alert rules")));
  await hasColumns(tab, ["Rule", "Value", "Fired", "Resolved"], "Alert history");
  await checkBothThemes(tab);

  await tab.click("switch", `Enable ${HOSTILE}`);
  await tab.status(`Disabled ${HOSTILE}`);
  await tab.choose(HOSTILE, "Edit");
  await tab.find("dialog", `Edit ${HOSTILE}`);
  await tab.type("textbox", "Name", "Memory");
  await tab.type("spinbutton", "Threshold", "97.5");
  await tab.press("Save", "Saved Memory");
  const { rules } = (await service.call("GET", "/api/alerts/rules")).body;
  deepEqual(
    [rules[0].name, rules[0].operator, rules[0].threshold, rules[0].enabled],
    ["Memory", ">=", 97.5, false],
  );

  await tab.choose("Memory", "Delete");
  await tab.find("alertdialog", "Delete Memory?");
  await tab.press("Delete", "Deleted Memory");
  await tab.gone("table", "Alert rules");
}

async function checkWebhooks(tab: Dashboard, service: Longshore, url: string): Promise<void> {
  await tab.go("/webhooks");
  await tab.click("button", "New webhook");
  await tab.fill({ Name: "On-call", URL: "http://10.0.0.1/hook" });
  await tab.find("group", "Events");
  await tab.click("button", "Create");
  await tab.invalid("checkbox", "All events");
  await checkBothThemes(tab);

  await unfold(tab, "Alerts 0 of 3 chosen");
  await tab.click("checkbox", "Fired");
  await tab.find("DisclosureTriangle", "Alerts 1 of 3 chosen");
  await tab.click("button", "Create");
  await tab.alert(/10\.0\.0\.1/);
  const field = await tab.find("textbox", "URL");
  equal(await field.evaluate((input) => (input as HTMLInputElement).value), "http://10.0.0.1/hook");
  await tab.refused();

  await tab.fill({ URL: url, Headers: "X-Team: operations" });
  await tab.click("button", "Create");
  await tab.find("dialog", "Webhook created");
  const secret = await tab.find("textbox", "Signing secret");
  // It would be lost.
  for (let press = 0; press < 2; press++) await tab.page.keyboard.press("Escape");
  match(await secret.evaluate((input) => (input as HTMLInputElement).value), /^whsec_/);
  await checkBothThemes(tab);
  await tab.click("button", "Done");
  await hasColumns(tab, [
    "Name",
    "URL",
    "Events",
    "Last delivery",
    "Enabled",
  ], "Webhooks");

  await tab.choose("On-call", "Edit");
  await tab.find("DisclosureTriangle", "Alerts 1 of 3 chosen");
  await unfold(tab, "Containers 0 of 8 chosen");
  await tab.click("button", "All");
  await tab.find("DisclosureTriangle", "Containers 8 of 8 chosen");
  await tab.click("button", "None");
  await tab.click("checkbox", "Stopped");
  await tab.press("Save", "Saved On-call");
  await rowMatches(tab, "On-call", /Alerts: fired, Containers: stopped/);
  await checkProblems(tab, service);
  await tab.choose("On-call", "Test");
  await tab.status("Sent a test event to On-call");
  await tab.choose("On-call", "Deliveries");
  await tab.find("dialog", "Deliveries of On-call");
  await until(
    "the delivery is shown as sent",
    async () => /Sent/.test(await textOf(tab, "Deliveries")),
  );
  await tab.click("button", "Refresh");
  await checkBothThemes(tab);
  await tab.press("Replay", "Sent the event to On-call again");
  await tab.click("button", "Close");
  await until("it is the last one", async () => /Delivered/.test(await textOf(tab, "Webhooks")));
  await checkBothThemes(tab);

  // Another client deletes a webhook while its menu is open.
  const other = { name: "Other", url, events: ["container.up"] };
  const { body: { id } } = await service.call("POST", "/api/webhooks", other);
  await tab.click("button", "Actions for Other");
  await tab.find("menuitem", "Test");
  await service.call("DELETE", `/api/webhooks/${id}`);
  await tab.gone("menuitem", "Test");
  equal(await tab.page.evaluate(() => document.activeElement?.localName), "main");

  await tab.choose("On-call", "Delete");
  await tab.find("alertdialog", "Delete On-call?");
  await tab.press("Delete", "Deleted On-call");
  await tab.gone("table", "Webhooks");
}

/** The checkbox for all problems checks and shows what the boxes of kinds do. */
async function checkProblems(tab: Dashboard, service: Longshore): Promise<void> {
  const { body: { kinds } } = await service.call("GET", "/api/events/kinds");
  const problems = (kinds as { id: string; severity: string; phase: string }[])
    .filter(({ severity, phase }) => severity !== "info" || phase === "end")
    .map(({ id }) => id);
  const isChecked = async (name: string) =>
    await (await tab.find("checkbox", name)).evaluate((box) => (box as HTMLInputElement).checked);
  const all = "Everything that is a problem";

  await tab.choose("On-call", "Edit");
  await unfold(tab, "Containers 1 of 8 chosen");
  equal(await isChecked(all), false);
  await tab.click("checkbox", all);
  equal(await isChecked("Crash loop"), true);
  // Its end is one as well.
  await tab.find("DisclosureTriangle", "Containers 8 of 8 chosen");
  await tab.click("checkbox", "Crash loop");
  equal(await isChecked(all), false);
  await tab.click("checkbox", "Crash loop");
  equal(await isChecked(all), true);
  const box = await tab.find("checkbox", "Crash loop");
  match(
    await box.evaluate((input) => input.closest("label")!.title),
    /^container\.crash_looping: A container exited/,
  );
  await checkBothThemes(tab);
  await tab.press("Save", "Saved On-call");
  await rowMatches(tab, "On-call", /Everything that is a problem/);
  const { body: { webhooks: [webhook] } } = await service.call("GET", "/api/webhooks");
  deepEqual([...webhook.events].sort(), problems.sort());
}

async function checkRegistries(tab: Dashboard): Promise<void> {
  await using registry = fakeRegistry();
  registry.auth = { kind: "basic", user: "ann:s3cret" };
  await tab.go("/registries");
  await tab.click("button", "New registry");
  await tab.type("textbox", "Host", registry.address);
  await tab.type("textbox", "User name", "ann");
  await tab.fill({ Password: "wrong", "Certificate authority": "nothing" });
  await checkBothThemes(tab);
  await tab.pressRefused("Create", /must be certificates in PEM/);
  await tab.type("textbox", "Certificate authority", "");
  await tab.press("Create", `Created ${registry.address}`);
  await hasColumns(tab, ["Host", "User name", "Source"]);
  await tab.choose(registry.address, "Test");
  await tab.alert(/refused access/);

  await tab.choose(registry.address, "Edit");
  const password = await tab.find("textbox", "Password");
  equal(await password.evaluate((input) => (input as HTMLInputElement).value), "");
  await tab.type("textbox", "Password", "s3cret");
  await tab.press("Save", `Saved ${registry.address}`);
  await tab.choose(registry.address, "Test");
  await tab.status(`${registry.address} accepts the credentials`);
  await checkBothThemes(tab);
  await tab.choose(registry.address, "Delete");
  await tab.find("alertdialog", `Delete ${registry.address}?`);
  await tab.press("Delete", `Deleted ${registry.address}`);
  await tab.gone("table", "Registries");
}

async function checkSchedules(tab: Dashboard): Promise<void> {
  await tab.go("/schedules");
  await tab.find("status", "Connection");
  await until("the containers are known", async () => {
    await tab.click("button", "New schedule");
    const options = await tab.names("option");
    if (options.includes("web")) return true;
    await tab.click("button", "Cancel");
    return false;
  });
  await tab.fill({ Name: "Nightly", "Cron expression": "every night" });
  await select(tab, "Container", "web");
  await select(tab, "Action", "stop");
  await select(tab, "Time zone", "Europe/Berlin");
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Cron expression");
  await tab.type("textbox", "Cron expression", "99 3 * * *");
  await tab.pressRefused("Create", /cron/i);
  await checkBothThemes(tab);
  await tab.type("textbox", "Cron expression", "0 3 * * *");
  await tab.press("Create", "Created Nightly");
  await hasColumns(tab, [
    "Name",
    "Acts on",
    "Action",
    "Cron",
    "Next run",
    "Last run",
    "Enabled",
  ], "Schedules");
  await tab.find("region", "Schedule history");
  await checkBothThemes(tab);

  await tab.choose("Nightly", "Edit");
  await select(tab, "Container", "db");
  await tab.press("Save", "Saved Nightly");
  await tab.find("link", "db");
  await tab.click("switch", "Enable Nightly");
  await tab.status("Disabled Nightly");
  await tab.choose("Nightly", "Delete");
  await tab.find("alertdialog", "Delete Nightly?");
  await tab.press("Delete", "Deleted Nightly");
  await tab.gone("button", "Actions for Nightly");

  await tab.openDialog("New schedule");
  await select(tab, "Kind", "prune");
  await tab.gone("combobox", "Container");
  await tab.fill({ Name: "Tidy", "Cron expression": "0 4 * * sun" });
  await tab.click("checkbox", "Stopped containers");
  await checkBothThemes(tab);
  await tab.press("Create", "Created Tidy");
  await rowMatches(tab, "Tidy", /This host.*Prune/s);
  await tab.choose("Tidy", "Edit");
  await select(tab, "Kind", "backup");
  await tab.type("spinbutton", "Daily", "7");
  await checkBothThemes(tab);
  await tab.pressRefused("Save", /needs either stack or volumes/);
  await tab.click("button", "Cancel");
}

async function checkIntegrations(tab: Dashboard): Promise<void> {
  await using system = fakeSystem({ "/status": () => ({ disks: [{ used: 42 }] }) });
  await tab.go("/integrations");
  await tab.click("button", "New integration");
  await tab.type("textbox", "Name", "NAS");
  await select(tab, "Adapter", "http-json");
  await tab.type("textbox", "URL", "http://169.254.169.254/status");
  await tab.fill({ Headers: "X-Key: secret", "Field mappings": "disks.0.used" });
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Field mappings");
  await tab.type("textbox", "Field mappings", '[{"name": "Used", "path": "disks.0.used"}]');
  await tab.pressRefused("Create", /169\.254\.169\.254/);
  await checkBothThemes(tab);
  await tab.type("textbox", "URL", `${system.url}/status`);
  await tab.press("Create", "Created NAS");
  await hasColumns(tab, [
    "Name",
    "Adapter",
    "Status",
    "Last poll",
    "Enabled",
  ], "Integrations");

  await tab.choose("NAS", "Test");
  await tab.status(/^Tested NAS: it answered in /);
  await tab.choose("NAS", "Poll");
  await tab.status("Polled NAS: 1 record");
  await tab.choose("NAS", "Data");
  await until("the value", async () => /Used.*42/s.test(await textOf(tab, "Data")));
  await checkBothThemes(tab);
  await tab.click("button", "Close");
  await tab.choose("NAS", "Edit");
  await tab.type("spinbutton", "Poll interval (seconds)", "120");
  await tab.press("Save", "Saved NAS");
  await checkBothThemes(tab);
  await tab.choose("NAS", "Poll");
  await tab.status("Polled NAS: 1 record");
  equal(system.asked.at(-1)?.headers.get("x-key"), "secret");

  await tab.choose("NAS", "Delete");
  await tab.find("alertdialog", "Delete NAS?");
  await tab.press("Delete", "Deleted NAS");
  await tab.gone("table", "Integrations");
}

async function checkProbes(tab: Dashboard): Promise<void> {
  await tab.go("/probes");
  await until("the checks", async () => {
    return /Up\s+204.*Down\s+204, not 200/s.test(await textOf(tab, "Endpoints"));
  });
  await hasColumns(tab, ["Name", "URL", "Status", "Response time"], "Endpoints");
  await until("the certificate", async () => /Unknown/.test(await textOf(tab, "Certificates")));
  await hasColumns(tab, ["Domain", "Expires", "Issuer"], "Certificates");
  await checkBothThemes(tab);
}

const textOf = (tab: Dashboard, table: string): Promise<string> =>
  tab.page.$eval(`table[aria-label="${table}"]`, (element) => (element as HTMLElement).innerText)
    .catch(() => "");
