/**
 * The dashboard's pages of the Enterprise Edition in a real Chromium: single sign-on, roles, IP
 * allowlist, mTLS, branding, encryption and compliance.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { ANY, PERMISSIONS } from "../../services/access/permissions.ts";
import { createAuthority } from "../helpers/certificates.ts";
import { type Dashboard, dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import {
  checkBothThemes,
  checkEmptyDialog,
  deleteRow,
  fitSmallPhone,
  hasColumns,
  rowMatches,
  rowOf,
} from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { eventually, until } from "../helpers/until.ts";

const PAGES = [
  "/roles",
  "/ip-allowlist",
  "/mtls",
  "/branding",
  "/encryption",
  "/compliance",
];

/** High enough that messages cover no row. */
const WINDOW = { width: 1280, height: 1400 };

const ADMIN = { email: "admin@example.com", password: "correct horse battery staple" };
const VIEWER = { email: "viewer@example.com", password: "another horse battery staple" };

long(dashboardTest)("the pages of the Enterprise Edition", async (t) => {
  await using service = await startLongshore({
    env: { AUTH_MODE: "users", ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password },
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, WINDOW, { as: ADMIN });

  await t.step("are locked without it, and send no request that is refused", async () => {
    for (const path of PAGES) {
      await tab.go(path);
      await tab.find("button", "Start trial");
    }
    await checkBothThemes(tab);
    deepEqual(tab.requests.filter((each) => each.includes("/ext/")), []);
    await tab.click("button", "Start trial");
    await tab.find("table", "Compliance log");
  });

  await t.step("have their empty state and their dialog", async () => {
    for (
      const [path, button, field] of [
        ["/sso", "New provider", "Name"],
        ["/roles", "New role", "Name"],
        ["/ip-allowlist", "New rule", "Range"],
        ["/mtls", "New authority", "Name"],
        ["/mtls", "New agent", "Host name"],
        ["/branding", "New brand", "Name"],
      ] as const
    ) {
      await tab.go(path);
      await checkEmptyDialog(tab, button, field);
    }
  });

  const { body: login } = await service.call("POST", "/auth/login", ADMIN, { token: null });
  const asAdmin = { token: login.accessToken };
  const viewer = await service.call("POST", "/auth/users", { ...VIEWER, role: "viewer" }, asAdmin);
  equal(viewer.status, 201);

  await t.step("IP allowlist: enforcement that would lock out its user is refused", async () => {
    await checkIpAllowlist(tab);
  });
  await t.step("roles: permissions and users", () => checkRoles(tab));
  await t.step("SSO: a provider and its setup values", () => checkSso(tab));
  await t.step("mTLS: authorities and agents", () => checkMtls(tab));
  await t.step("branding: the active brand", () => checkBranding(tab));
  await t.step("encryption: a rotation and its result", () => checkEncryption(tab));
  await t.step("compliance: search, verification and export", () => checkCompliance(tab));

  await t.step("no page is wider than a small phone", async () => {
    await fitSmallPhone(tab, PAGES);
    await tab.page.setViewport(WINDOW);
  });

  deepEqual(tab.complaints, []);

  await t.step("a viewer sees brands only, and cannot change them", async () => {
    await tab.click("button", "Account menu");
    await tab.click("menuitem", "Sign out");
    await tab.find("heading", "Sign in");
    await signIn(tab, VIEWER);
    await tab.go("/branding");
    await tab.find("table", "Brands");
    await tab.gone("button", /brand|Actions/);
    for (const path of PAGES.filter((each) => each !== "/branding")) {
      await tab.open(path);
      await tab.find("heading", "Access denied");
    }
  });

  await t.step("a custom role opens its page, without the buttons of what it lacks", async () => {
    const roles = "/api/ext/service-enterprise/roles";
    const permissions = [{ resource: "sso", actions: ["read"] }];
    const role = await service.call("POST", roles, { name: "Reader", permissions }, asAdmin);
    const user = { user_id: viewer.body.id };
    await service.call("POST", `${roles}/${role.body.id}/users`, user, asAdmin);
    await tab.open("/sso");
    await tab.find("region", "Sessions");
    await tab.gone("button", /provider|inactive/);
  });

  deepEqual(tab.complaints, []);
});

async function signIn(tab: Dashboard, { email, password }: typeof ADMIN): Promise<void> {
  await tab.fill({ Email: email, Password: password });
  await tab.click("button", "Sign in");
  await tab.find("navigation", "Main");
}

async function checkIpAllowlist(tab: Dashboard): Promise<void> {
  await tab.go("/ip-allowlist");
  await tab.find("button", "Admit my address");
  await tab.click("switch", "Enforce");
  await tab.alert(/^This would lock you out/);
  await tab.refused(409);
  await until("the switch is off again", async () => {
    const enforce = await tab.find("switch", "Enforce");
    return await enforce.evaluate((input) => !(input as HTMLInputElement).checked);
  });

  await tab.click("button", "Admit my address");
  await tab.find("dialog", "New rule");
  await tab.type("textbox", "Label", "My desk");
  await tab.press("Create", "Created My desk");
  await tab.find("table");
  await hasColumns(tab, ["Range", "Label", "Scope", "Expires", "Status"]);
  await tab.gone("button", "Admit my address");
  await tab.click("switch", "Enforce");
  await tab.status("Enforced the allowlist");
  await checkBothThemes(tab);

  await tab.choose("My desk", "Delete");
  await tab.pressRefused("Delete", /lock you out/, 409);
  await tab.click("switch", "Enforce");
  await tab.status("Stopped enforcing");

  await tab.choose("My desk", "Edit");
  await tab.select("dialog select", "user");
  await tab.find("combobox", "User");
  await tab.type("textbox", "Range", "10.0.0.1/8");
  await tab.pressRefused("Save", /^Range: /);
  await tab.invalid("textbox", "Range");
  await tab.type("textbox", "Range", "10.0.0.0/8");
  await tab.press("Save", "Saved My desk");
  await rowMatches(tab, "10.0.0.0/8", new RegExp(ADMIN.email));

  await tab.click("button", "Check address");
  await tab.type("textbox", "Address", "192.0.2.1");
  await tab.press("Check", /192\.0\.2\.1: Not enforced; no rule would admit it/);
  await checkBothThemes(tab);
  await tab.click("button", "Cancel");
  match(await deleteRow(tab, "My desk"), /addresses in 10\.0\.0\.0\/8 are refused/);
}

async function checkRoles(tab: Dashboard): Promise<void> {
  await tab.go("/roles");
  await tab.openDialog("New role");
  await eventually(async () => {
    const offered = await tab.page.$$eval(
      "dialog input[type=checkbox]",
      (boxes) => boxes.map(({ name, value }) => ({ resource: name, action: value })),
    );
    deepEqual(
      offered.filter(({ resource, action }) => resource !== ANY && action !== ANY),
      PERMISSIONS,
    );
  });
  await tab.type("textbox", "Name", "Night shift");
  await tab.clickAt("input[name=containers][value=restart]");
  await tab.clickAt("input[name=containers][value=logs]");
  await tab.press("Create", "Created Night shift");
  await tab.find("table");
  await hasColumns(tab, ["Name", "Description", "Priority", "Permissions", "Users"]);
  await checkBothThemes(tab);

  await tab.choose("Night shift", "Edit");
  await tab.find("dialog", "Edit Night shift");
  await tab.clickAt("input[name=containers][value=logs]");
  await tab.clickAt("input[name=stacks][value='*']");
  await tab.type("textbox", "Description", "Restarts");
  await tab.press("Save", "Saved Night shift");
  await rowMatches(tab, "Night", /Restarts\s+0\s+2\s+0/);

  await tab.choose("Night shift", "Users");
  await tab.find("dialog", "Users of Night shift");
  await tab.select("dialog select", await optionOf(tab, VIEWER.email));
  await tab.press("Assign role", `Assigned Night shift to ${VIEWER.email}`);
  await tab.find("button", `Actions for ${VIEWER.email}`);
  await checkBothThemes(tab);
  await tab.choose(VIEWER.email, "Remove");
  await tab.find("alertdialog", `Remove ${VIEWER.email}?`);
  await tab.page.keyboard.press("Escape");
  await tab.gone("alertdialog");
  await tab.page.keyboard.press("Escape");
  await tab.gone("dialog");

  await tab.click("button", "Check permissions");
  await tab.select("dialog select", await optionOf(tab, VIEWER.email));
  await tab.select("dialog select[name=action]", "restart");
  await tab.press("Check", "The user has this permission");
  await checkBothThemes(tab);
  await tab.click("button", "Cancel");
  await rowMatches(tab, "Night", /Restarts\s+0\s+2\s+1/);
  match(await deleteRow(tab, "Night shift"), /1 user loses its permissions/);
}

/** The value of an option in the open dialog. */
const optionOf = (tab: Dashboard, name: string): Promise<string> =>
  until(`the option ${name}`, () =>
    tab.page.$$eval(
      "dialog option",
      (options, name) => options.find(({ textContent }) => textContent === name)?.value,
      name,
    )) as Promise<string>;

async function checkSso(tab: Dashboard): Promise<void> {
  const { cert } = await (await createAuthority("Acme")).issue({ name: "idp.example.com" });
  await tab.go("/sso");
  await tab.click("button", "New SAML provider");
  await tab.type("textbox", "Name", "Acme");
  await tab.type("textbox", "Entity ID", "https://idp.example.com/metadata");
  await tab.type("textbox", "Login URL", "https://idp.example.com/sso");
  await paste(tab, "Certificates", "no certificate");
  await tab.pressRefused("Create", /certificate/);
  const { cert: next } = await (await createAuthority("Acme")).issue({ name: "idp.example.com" });
  const both = `${cert.trim()}\n${next.trim()}\n`;
  await paste(tab, "Certificates", both);
  await tab.press("Create", "Created Acme");
  const setup = await tab.find("dialog", "Setup of Acme");
  match(
    await setup.evaluate((each) => each.textContent),
    /\/api\/ext\/service-enterprise\/sso\/acs/,
  );
  await checkBothThemes(tab);
  await tab.click("button", "Done");
  await hasColumns(tab, ["Name", "Issuer", "Kind", "New users", "Status"]);
  await tab.find("region", "Sessions");
  await checkBothThemes(tab);

  await tab.click("switch", "Enable Acme");
  await tab.status("Disabled Acme");
  await tab.choose("Acme", "Edit");
  await tab.click("checkbox", "Create users that do not exist");
  await tab.press("Save", "Saved Acme");
  await rowMatches(tab, "Acme", /Created as viewer.*Disabled/s);
  await tab.press("Delete inactive sessions", "Deleted 0 inactive sessions");
  match(await deleteRow(tab, "Acme"), /the sessions of its users end/);
}

/** Sets the text of a field at once, which is faster than to type it. */
async function paste(tab: Dashboard, name: string, text: string): Promise<void> {
  const field = await tab.find("textbox", name);
  await field.evaluate((each, text) => (each as HTMLTextAreaElement).value = text, text);
}

async function checkMtls(tab: Dashboard): Promise<void> {
  const authority = await createAuthority("Agents 2026");
  const agent = await authority.issue({ name: "web-1", extendedKeyUsage: "clientAuth" });
  await tab.go("/mtls");
  await tab.click("button", "New authority");
  await tab.type("textbox", "Name", "Agents 2026");
  await paste(tab, "Certificate", authority.cert);
  await tab.press("Create", "Created Agents 2026");
  await tab.find("table", "Certificate authorities");

  await tab.click("button", "New agent");
  await tab.fill({ "Host name": "web-1", Tags: "web, rack-7" });
  await paste(tab, "Certificate", agent.key);
  await tab.pressRefused("Create", /certificate/);
  await paste(tab, "Certificate", agent.cert);
  await tab.select("dialog select", await optionOf(tab, "Agents 2026"));
  await tab.press("Create", "Created web-1");
  await rowMatches(tab, "web-1", /web, rack-7\s+Agents 2026/);
  await eventually(async () => {
    const region = await tab.find("region", "Enforcement");
    const text = await region.evaluate((each) => each.textContent);
    match(text, /1 agent would be accepted now.*locks you out/);
  });
  await checkBothThemes(tab);

  await tab.click("switch", "Enforce");
  await tab.status("Enforced mTLS");
  await tab.choose("Agents 2026", "Delete");
  await tab.pressRefused("Delete", /Agents 2026|agent/, 409);

  await tab.choose("web-1", "Details");
  const details = await tab.find("dialog", "web-1");
  match(await details.evaluate((each) => each.textContent), /Fingerprintsha256:[0-9a-f]{64}/);
  await checkBothThemes(tab);
  await tab.click("button", "Done");
  await tab.choose("web-1", "Revoke");
  await tab.find("alertdialog", "Revoke web-1?");
  await tab.press("Revoke", "Revoked web-1");
  await tab.gone("button", "Actions for web-1");
  await tab.select("select[aria-label=Show]", "revoked");
  await rowMatches(tab, "web-1", /Revoked/);
  await eventually(() => match(tab.page.url(), /\?agents=revoked$/));
  match(await deleteRow(tab, "Agents 2026"), /refused while an agent uses it/);
}

async function checkBranding(tab: Dashboard): Promise<void> {
  await tab.go("/branding");
  await tab.click("button", "New brand");
  await tab.fill({ Name: "Harbor", "Primary color": "teal" });
  await tab.pressRefused("Create", /^Primary color: /);
  await tab.type("textbox", "Primary color", "#0f5c6e");
  await tab.press("Create", "Created Harbor");
  await tab.find("table");
  await hasColumns(tab, ["Name", "Status", "Service name", "Colors", "Changed"]);
  await checkBothThemes(tab);

  await tab.choose("Harbor", "Activate");
  await tab.status(/^Activated Harbor/);
  await tab.choose("Harbor", "Edit");
  await tab.type("textbox", "Service name", "Harbor Operations");
  await tab.press("Save", "Saved Harbor");
  await rowMatches(tab, "Harbor", /Active\s+Harbor Operations/);
  match(await deleteRow(tab, "Harbor"), /get the built-in design again/);
  await tab.click("button", "New brand");
  await tab.type("textbox", "Name", "Winter");
  await tab.press("Create", "Created Winter");
}

async function checkEncryption(tab: Dashboard): Promise<void> {
  await tab.go("/encryption");
  await tab.openDialog("Rotate key");
  await checkBothThemes(tab);
  await tab.type("textbox", "Notes", "Yearly rotation");
  await tab.press("Record start", "Recorded the start of the rotation");
  await tab.find("table", "Key rotations");
  await until("it is pending", async () => (await rowOf(tab, "Pending")) !== "");
  await tab.click("button", "Rotate key");
  await tab.pressRefused("Record start", /pending/, 409);
  await tab.click("button", "Cancel");
  await tab.click("button", /^Actions for rotation of /);
  await tab.click("menuitem", "Complete rotation");
  await tab.press("Save", "Saved the rotation as completed");
  await rowMatches(tab, "Completed", /Yearly rotation/);

  await tab.click("button", "Edit settings");
  await tab.click("checkbox", "Encryption is on");
  await tab.pressRefused("Save", /^Cannot enable encryption/, 409);
  await tab.click("checkbox", "Encryption is on");
  await tab.select("dialog select", "aes-256-gcm");
  await tab.press("Save", "Saved the encryption settings");
  await checkBothThemes(tab);
}

async function checkCompliance(tab: Dashboard): Promise<void> {
  await tab.go("/compliance");
  await tab.find("table", "Compliance log");
  await hasColumns(tab, ["Time", "Actor", "Action", "Target", "Outcome"]);
  await checkBothThemes(tab);

  await tab.click("button", "More actions");
  await tab.click("menuitem", "New entry");
  await checkBothThemes(tab);
  await tab.fill({ Action: "backup.restored", Metadata: "no JSON" });
  await tab.click("button", "Create");
  await tab.alert("Metadata: must be a JSON object");
  await tab.type("textbox", "Metadata", '{"ticket":"OPS-4711"}');
  await tab.press("Create", "Created the entry backup.restored");

  await tab.type("searchbox", "Search log", "nothing like this");
  await tab.click("button", "Clear filters");
  await tab.type("searchbox", "Search log", "BACKUP.rest");
  await until("one entry is left", async () => (await rowCount(tab)) === 1);
  await eventually(() => match(tab.page.url(), /\?q=BACKUP\.rest$/));
  await tab.click("button", /^Actions for backup\.restored /);
  await tab.click("menuitem", "Details");
  await tab.find("dialog", "Entry");
  await until("it is shown", async () => {
    const dialog = await tab.find("dialog", "Entry");
    return /HashesValid.*OPS-4711/s.test(await dialog.evaluate((each) => each.textContent));
  });
  await checkBothThemes(tab);
  await tab.click("button", "Done");

  await tab.press("Verify chain", /^The chain is intact: \d+ entries verified/);
  await tab.openDialog("Export");
  await checkBothThemes(tab);
  const directory = await Deno.makeTempDir({ prefix: "longshore-export-" });
  try {
    await tab.downloadTo(directory);
    await tab.select("dialog select", "csv");
    await tab.clickAt("dialog button[type=submit]");
    await tab.status("Exported the compliance log");
    const [file] = await until("the file is there", () => {
      const files = [...Deno.readDirSync(directory)].filter(({ name }) =>
        /^compl.*\.csv$/.test(name)
      );
      return files.length > 0 && files;
    });
    const saved = `${directory}/${file!.name}`;
    await until("it is whole", () => Deno.readTextFileSync(saved).includes("backup.restored"));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }

  await tab.click("button", "More actions");
  await tab.click("menuitem", "Delete old entries");
  const question = await tab.find("alertdialog", "Delete old entries?");
  match(await question.evaluate((each) => each.textContent), /0 entries older than 365 days/);
  await tab.click("button", "Cancel");
}

const rowCount = (tab: Dashboard): Promise<number> =>
  tab.page.$$eval("tbody tr", (rows) => rows.length);
