/**
 * The dashboard's pages of the Pro Edition in a real Chromium: uptime, incidents, status pages, SLAs,
 * remediation and chat.
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
  checkEmptyDialog,
  deleteRow,
  fitSmallPhone,
  hasColumns,
  rowMatches,
  unfold,
} from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { eventually, until } from "../helpers/until.ts";

const PRO = "/api/ext/service-pro";

const PAGES = ["/uptime", "/incidents", "/status-pages", "/sla", "/remediation", "/chat"];

/** A site that is up at `/` and down at `/broken`. */
function startSite() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    const isBroken = new URL(url).pathname === "/broken";
    return new Response("ok", { status: isBroken ? 503 : 200 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Creates something by the API. @returns Its id. */
async function create(service: Longshore, path: string, body: unknown): Promise<string> {
  const { status, body: created } = await service.call("POST", PRO + path, body);
  equal(status, 201, JSON.stringify(created));
  return created.id;
}

long(dashboardTest)("the pages of the Pro Edition are locked without it", async (t) => {
  await using service = await startLongshore();
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);

  await t.step("each says what it is for, and sends no request that is refused", async () => {
    for (const path of [...PAGES, "/sla/1", "/uptime/1", "/incidents/1", "/status-pages/1"]) {
      await tab.go(path);
      await tab.find("button", "Start trial");
    }
    await checkBothThemes(tab);
    deepEqual(tab.requests.filter((each) => each.includes("/ext/")), []);
    deepEqual(tab.complaints, []);
  });

  await t.step("the trial opens the page", async () => {
    await tab.go("/uptime");
    await tab.click("button", "Start trial");
    await tab.find("button", "New monitor");
  });

  await t.step("what does not exist says so", async () => {
    for (
      const [path, heading] of [
        ["/uptime/1", "Monitor not found"],
        ["/incidents/1", "Incident not found"],
        ["/status-pages/1", "Status page not found"],
        ["/sla/1", "SLA not found"],
      ] as const
    ) {
      await tab.go(path);
      await tab.find("heading", heading);
    }
  });
});

long(dashboardTest)("viewers of the Pro Edition see everything and change nothing", async () => {
  const admin = { email: "admin@example.com", password: "correct horse battery staple" };
  const viewer = { email: "viewer@example.com", password: "stale battery horse correct" };
  await using service = await startLongshore({
    env: { AUTH_MODE: "users", ADMIN_EMAIL: admin.email, ADMIN_PASSWORD: admin.password },
  });
  const { body: { accessToken: token } } = await service.call("POST", "/auth/login", admin, {
    token: null,
  });
  await service.call("POST", "/api/edition/trial", undefined, { token });
  await service.call("POST", "/auth/users", { ...viewer, role: "viewer" }, { token });
  const incident = { title: "Orders fail", severity: "major" };
  const { body: { id } } = await service.call("POST", `${PRO}/incidents`, incident, { token });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, DESKTOP, { path: "/incidents", as: viewer });
  await tab.find("link", "Orders fail");

  for (const path of [...PAGES, `/incidents/${id}`]) {
    await tab.go(path);
    await tab.loaded();
    await tab.gone("button", /^(New|Add|Change|Send|Actions|More)/);
  }

  deepEqual(tab.complaints, []);
});

long(dashboardTest)("the pages of the Pro Edition show and manage everything", async (t) => {
  await using site = startSite();
  await using open = await openDashboard({
    containers: [{ name: "db" }, { name: "web" }],
    env: { OUTBOUND_ALLOW: "127.0.0.1" },
    hasTrial: true,
  });
  const { service, tab } = open;

  await t.step("each page has its empty state and its dialog", async () => {
    for (
      const [path, button, field] of [
        ["/uptime", "New monitor", "Name"],
        ["/incidents", "New incident", "Title"],
        ["/status-pages", "New status page", "Name"],
        ["/sla", "New SLA", "Name"],
        ["/remediation", "New rule", "Name"],
        ["/chat", "New channel", "Name"],
      ] as const
    ) {
      await tab.go(path);
      await checkEmptyDialog(tab, button, field);
      await tab.gone("alert");
    }
  });

  await t.step("uptime: a monitor is created, filtered, paused, changed and deleted", async () => {
    await checkUptime(tab, service, site.url);
  });
  await t.step("incidents: from the first report to the last entry", () => checkIncidents(tab));
  await t.step("status pages: components, incidents, maintenance and subscribers", async () => {
    await checkStatusPages(tab, site.url);
  });
  await t.step("SLA: a target for monitors", () => checkSla(tab, service, site.url));
  await t.step("remediation: a rule is switched off, changed and deleted", async () => {
    await checkRemediation(tab);
  });
  await t.step("chat: a channel is tested and deleted", () => checkChat(tab, site.url));

  await t.step("no page is wider than a small phone", () => fitSmallPhone(tab, PAGES));

  deepEqual(tab.complaints, []);
});

async function checkUptime(tab: Dashboard, service: Longshore, url: string): Promise<void> {
  await tab.go("/uptime");
  await tab.click("button", "New monitor");
  await tab.fill({ Name: "Shop", URL: "http://169.254.169.254/" });
  await tab.pressRefused("Create", /^URL: /);
  await tab.type("textbox", "URL", url);
  await tab.type("spinbutton", "Interval (seconds)", "3600");
  await tab.press("Create", "Created Shop");
  await tab.find("table", "Monitors");
  await rowMatches(tab, "Shop", /Up/);
  await hasColumns(
    tab,
    ["Name", "Target", "Status", "Response time", "Uptime", "Checked"],
    "Monitors",
  );

  await create(service, "/uptime/monitors", {
    name: "Checkout",
    type: "http",
    url: `${url}/broken`,
    retries: 0,
    interval_seconds: 3600,
  });
  // The outage arrives as an event; nothing is pressed.
  await rowMatches(tab, "Checkout", /Down/);
  await checkBothThemes(tab);

  await tab.type("searchbox", "Filter monitors", "nothing like this");
  await tab.click("button", "Clear filters");
  await tab.select("select[aria-label=Status]", "down");
  await tab.gone("link", "Shop");
  await eventually(() => match(tab.page.url(), /\?status=down$/));
  await tab.open("/uptime");

  await tab.choose("Shop", "Pause");
  await tab.status("Paused Shop");
  await rowMatches(tab, "Shop", /Paused/);
  await tab.choose("Shop", "Edit");
  await tab.find("dialog", "Edit Shop");
  await tab.type("textbox", "Name", "Web shop");
  await tab.press("Save", "Saved Web shop");

  await tab.click("link", "Web shop");
  await tab.find("heading", "Web shop");
  await tab.find("img", /^Response time, /);
  for (const name of ["Statistics", "Outages", "Checks"]) await tab.find("region", name);
  await checkBothThemes(tab);
  await tab.press("Resume", "Resumed Web shop");
  await tab.press("Check now", /^Checked Web shop: up in /);

  await tab.go("/uptime");
  match(await deleteRow(tab, "Web shop"), /The monitor Web shop and its checks are deleted/);
}

async function checkIncidents(tab: Dashboard): Promise<void> {
  await tab.go("/incidents");
  await tab.click("button", "New incident");
  await tab.fill({ Title: "Orders fail", Description: "Every tenth order fails." });
  await tab.click("button", "Create");
  await tab.find("heading", "Orders fail");
  await eventually(() => match(tab.page.url(), /\/incidents\/[\w-]+$/));

  await tab.type("textbox", "Message", "Rolled back.\u202e");
  await tab.press("Add entry", "Added the entry");
  const list = await tab.find("list", "Timeline");
  await until(
    "the entry is listed",
    async () => (await list.evaluate((each) => each.textContent)).includes("Rolled back.\\u202e"),
  );
  await tab.openDialog("Change status");
  await checkBothThemes(tab);
  await tab.select("dialog select", "resolved");
  await tab.press("Save", "Saved Orders fail");
  await until(
    "the change is listed",
    async () => (await list.evaluate((each) => each.textContent)).includes("resolved"),
  );
  await checkBothThemes(tab);

  await tab.open("/incidents?status=open");
  await tab.click("button", "Clear filters");
  await tab.find("table", "Incidents");
  await hasColumns(tab, ["Title", "Severity", "Status", "Opened by", "Commander", "Created"]);
  await checkBothThemes(tab);
  await tab.choose("Orders fail", "Edit");
  await tab.type("textbox", "Commander", "Ada");
  await tab.press("Save", "Saved Orders fail");
  match(await deleteRow(tab, "Orders fail"), /its 3 timeline entries are deleted/);
}

async function checkStatusPages(tab: Dashboard, url: string): Promise<void> {
  await tab.go("/status-pages");
  await tab.click("button", "New status page");
  await tab.fill({ Name: "Acme", Domain: "not a domain" });
  await tab.pressRefused("Create", /^Domain: /);
  await tab.type("textbox", "Domain", "");
  await tab.press("Create", "Created Acme");
  await tab.find("table");
  await hasColumns(tab, ["Name", "Address", "Status", "Incidents"]);
  await tab.find("link", "/status/acme");
  await rowMatches(tab, "Acme", /Operational/);
  await checkBothThemes(tab);

  await tab.click("link", "Acme");
  await tab.click("button", "New component");
  await tab.type("textbox", "Name", "Shop");
  await tab.press("Create", "Created Shop");
  await tab.find("button", "Actions for Shop");
  await checkBothThemes(tab);

  await tab.click("tab", "Incidents");
  await tab.click("button", "New incident");
  await tab.type("textbox", "Title", "Slow pages");
  await tab.press("Create", "Created Slow pages");
  await tab.choose("Slow pages", "Add update");
  await tab.select("dialog select", "resolved");
  await tab.type("textbox", "Message", "Fast again.");
  await tab.click("button", "Save");
  await rowMatches(tab, "Slow pages", /Resolved/);

  await tab.click("tab", "Maintenance");
  await checkEmptyDialog(tab, "New maintenance", "Title");

  await tab.click("tab", "Subscribers");
  await tab.click("button", "New subscriber");
  await eventually(() => match(tab.page.url(), /\/subscribers$/));
  await tab.select("dialog select", "webhook_url");
  await tab.type("textbox", "URL", `${url}/hook`);
  await tab.click("button", "Create");
  await tab.find("dialog", "Subscriber created");
  const secret = await tab.find("textbox", "Signing secret");
  match(await secret.evaluate((each) => (each as HTMLInputElement).value), /^whsec_/);
  await tab.click("button", "Done");
  await checkBothThemes(tab);

  await tab.go("/status-pages");
  match(
    await deleteRow(tab, "Acme"),
    /The status page Acme with its 1 component, 1 incident and 1 subscriber is deleted/,
  );
}

async function checkSla(tab: Dashboard, service: Longshore, url: string): Promise<void> {
  await create(service, "/uptime/monitors", { name: "Orders", type: "http", url });
  await tab.go("/sla");
  await tab.click("button", "New SLA");
  await tab.type("textbox", "Name", "Shop");
  await tab.find("checkbox", "Orders");
  await tab.click("button", "Create");
  await tab.invalid("checkbox", "Checkout");
  await tab.click("checkbox", "Orders");
  await tab.type("spinbutton", "Target (percent)", "99.5");
  await tab.press("Create", "Created Shop");
  await tab.find("meter", "Budget left");
  await hasColumns(tab, ["Name", "Monitors", "Target", "Uptime", "Budget left"], "SLAs");
  await checkBothThemes(tab);

  await tab.click("link", "Shop");
  await tab.find("img", /^Burn rate, current period/);
  await checkBothThemes(tab);

  await tab.go("/sla");
  await tab.choose("Shop", "Edit");
  await tab.type("spinbutton", "Target (percent)", "99.9");
  await tab.press("Save", "Saved Shop");
  await rowMatches(tab, "Shop", /99\.9 %/);
  match(await deleteRow(tab, "Shop"), /its 1 period and 0 breaches are deleted/);
}

async function checkRemediation(tab: Dashboard): Promise<void> {
  await tab.go("/remediation");
  await tab.gone("alert");
  await tab.click("button", "New rule");
  await tab.type("textbox", "Name", "Keep web up");
  await tab.select("dialog select[name=action_target]", "web");
  await tab.type("spinbutton", "Duration (seconds)", "60");
  await tab.press("Create", "Created Keep web up");
  await tab.find("table", "Remediation rules");
  await hasColumns(tab, ["Name", "Condition", "Action", "Last triggered", "Enabled"]);
  await rowMatches(tab, "Keep web up", /Container is down for 1 min\s+Restart web/);
  await tab.click("switch", "Enable Keep web up");
  await tab.status("Disabled Keep web up");
  await checkBothThemes(tab);

  await tab.choose("Keep web up", "Edit");
  await tab.find("dialog", "Edit Keep web up");
  await checkBothThemes(tab);
  await tab.type("spinbutton", "Threshold", "2");
  await tab.press("Save", "Saved Keep web up");
  await rowMatches(tab, "Keep web up", /= 2/);
  match(await deleteRow(tab, "Keep web up"), /Its history is kept/);
}

async function checkChat(tab: Dashboard, url: string): Promise<void> {
  await tab.go("/chat");
  await tab.click("button", "New channel");
  await tab.type("textbox", "Name", "On-call");
  await tab.select("dialog select", "team-chat");
  await tab.type("textbox", "Webhook URL", "http://169.254.169.254/");
  await unfold(tab, "Alerts 0 of 3 chosen");
  await tab.click("checkbox", "Fired");
  await tab.pressRefused("Create", /^Webhook URL: /);
  await tab.type("textbox", "Webhook URL", `${url}/hook`);
  await tab.press("Create", "Created On-call");
  await tab.find("table");
  await hasColumns(tab, ["Name", "Platform", "Events", "Created", "Enabled"]);
  await checkBothThemes(tab);

  await tab.choose("On-call", "Test");
  await tab.find("dialog", "Messages of On-call");
  await tab.find("table", "Messages");
  await checkBothThemes(tab);
  await tab.click("button", "Close");
  await tab.click("switch", "Enable On-call");
  await tab.status("Disabled On-call");

  await tab.choose("On-call", "Edit");
  const address = await tab.find("textbox", "Webhook URL");
  equal(await address.evaluate((each) => (each as HTMLInputElement).value), "********");
  await tab.type("textbox", "Name", "Night shift");
  await tab.press("Save", "Saved Night shift");
  match(await deleteRow(tab, "Night shift"), /and its 1 message are deleted/);
}
