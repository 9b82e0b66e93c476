/**
 * The dashboard's pages for administration in a real Chromium: users, sessions, API tokens, audit
 * log, license, settings, backup, about and the account.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import {
  type Dashboard,
  dashboardTest,
  DESKTOP,
  PHONE,
  startDashboardBrowser,
} from "../helpers/dashboard.ts";
import { checkBothThemes, deleteRow, hasColumns } from "../helpers/dashboard_steps.ts";
import { temporaryDirectory } from "../helpers/command.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { eventually, until } from "../helpers/until.ts";

const ADMIN = { email: "ada@example.com", password: "correct horse battery staple" };
const OPERATOR = { email: "grace@example.com", password: "violet tractor under moons" };

const USERS_MODE = {
  AUTH_MODE: "users",
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
};

const PAGES = [
  "/users",
  "/sessions",
  "/tokens",
  "/audit",
  "/license",
  "/settings",
  "/backups/targets",
  "/about",
  "/backups/server",
  "/account",
];

/** Answers the question before something is destroyed. @returns Its text. */
async function answer(tab: Dashboard, verb: string, name: string): Promise<string> {
  const dialog = await tab.find("alertdialog", `${verb} ${name}?`);
  const text = await dialog.evaluate((each) => each.textContent);
  await tab.click("button", verb);
  return text;
}

long(dashboardTest)(
  "users, their sessions, tokens and actions are managed in the dashboard",
  async (t) => {
    await using service = await startLongshore({ env: USERS_MODE });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service, DESKTOP, { as: ADMIN });
    const login = async (credentials: typeof ADMIN) =>
      (await service.call("POST", "/auth/login", credentials, { token: null })).body.accessToken;

    await t.step("a user is created, edited and listed", async () => {
      await tab.go("/users");
      await tab.find("table", "Users");
      await hasColumns(tab, ["Email", "Role", "Created", "Last sign-in"]);
      await tab.openDialog("New user");
      await checkBothThemes(tab);
      const sent = tab.changes().length;
      await tab.click("button", "Create");
      await tab.invalid("textbox", "Email");
      equal(tab.changes().length, sent);

      await tab.fill({ Email: ADMIN.email, Password: OPERATOR.password });
      await tab.pressRefused("Create", /ada@example\.com/, 409);
      await tab.type("textbox", "Email", OPERATOR.email);
      await tab.press("Create", `Created ${OPERATOR.email}`);

      await tab.choose(OPERATOR.email, "Edit");
      await tab.find("dialog", `Edit ${OPERATOR.email}`);
      await tab.select("dialog select", "operator");
      await tab.press("Save", `Saved ${OPERATOR.email}`);
      const { body } = await service.call("GET", "/auth/users", undefined, {
        token: await login(ADMIN),
      });
      deepEqual(
        body.users.map((user: { email: string; role: string }) => [user.email, user.role]),
        [[ADMIN.email, "admin"], [OPERATOR.email, "operator"]],
      );
    });

    await t.step("the sessions of a user are listed and revoked", async () => {
      const token = await login(OPERATOR);
      await service.call("POST", "/api/tokens", { name: "deploy", role: "operator" }, { token });
      await tab.go("/users");
      await tab.choose(OPERATOR.email, "Sessions");
      await tab.find("heading", "Sessions");
      await tab.status("1 session");
      await hasColumns(tab, ["User", "Address", "Browser", "Created", "Last used"]);
      await checkBothThemes(tab);
      await tab.click("button", new RegExp(`^Actions for ${OPERATOR.email}`));
      await tab.click("menuitem", "Revoke");
      match(await answer(tab, "Revoke", `the session of ${OPERATOR.email}`), /127\.0\.0\.1/);
      await tab.status(`Revoked the session of ${OPERATOR.email}`);
      await tab.status("0 sessions");
      equal((await service.call("GET", "/api/account", undefined, { token })).status, 401);
    });

    await t.step("a token of another account is listed, with its owner, and revoked", async () => {
      await tab.go("/tokens");
      await tab.click("checkbox", "All accounts");
      await tab.find("row", new RegExp(`deploy.*${OPERATOR.email}`));
      await tab.choose("deploy", "Revoke");
      await answer(tab, "Revoke", "deploy");
      await tab.status("Revoked deploy");
      await tab.gone("button", "Actions for deploy");
      await until(
        "the page has the focus, which was on the menu of the row",
        () => tab.page.evaluate(() => document.activeElement!.matches("main")),
      );
    });

    await t.step("a password is set, and a user is deleted with what they have", async () => {
      await tab.go("/users");
      await tab.choose(OPERATOR.email, "Set password");
      await tab.type("textbox", "Password", "another violet tractor");
      await tab.press("Save", `Saved the password of ${OPERATOR.email}`);
      await login({ ...OPERATOR, password: "another violet tractor" });
      await tab.choose(OPERATOR.email, "Delete");
      match(await answer(tab, "Delete", OPERATOR.email), /0 API tokens are deleted, and 1 session/);
      await tab.status(`Deleted ${OPERATOR.email}`);
      await tab.gone("button", `Actions for ${OPERATOR.email}`);
    });

    await t.step("the audit log finds what happened", async () => {
      await tab.go("/audit?outcome=failure");
      await tab.find("table", "Audit log");
      await hasColumns(tab, ["Time", "Actor", "Action", "Target", "Outcome", "Address"]);
      await tab.status("1 entry");
      await tab.click("button", /^Actions for POST \/auth\/users/);
      await tab.click("menuitem", "Details");
      await tab.find("dialog", "Audit entry");
      await checkBothThemes(tab);
      await tab.click("button", "Close");
      await tab.type("searchbox", "Target", "nothing has this name");
      await tab.page.keyboard.press("Enter");
      await tab.click("button", "Clear filters");
      await tab.find("row", /DELETE \/auth\/users\/:id/);
      await eventually(() => equal(new URL(tab.page.url()).search, ""));
    });

    await t.step(
      "the account's name and password are changed, and other sessions end",
      async () => {
        const other = await login(ADMIN);
        await tab.go("/account");
        await tab.type("textbox", "Name", "Ada");
        await tab.press("Save", "Saved your profile");
        await tab.type("textbox", "Current password", "wrong wrong wrong");
        await tab.type("textbox", "New password", "another horse battery");
        await tab.pressRefused("Change password", /password/i, 403);
        await tab.type("textbox", "Current password", ADMIN.password);
        await tab.press("Change password", "Changed your password");
        await tab.gone("button", "Revoke other sessions");
        equal((await service.call("GET", "/api/account", undefined, { token: other })).status, 401);
      },
    );

    await t.step("the last admin cannot become a viewer", async () => {
      await tab.go("/users");
      await tab.choose(ADMIN.email, "Edit");
      await tab.select("dialog select", "viewer");
      await tab.pressRefused("Save", /admin/, 409);
      await tab.click("button", "Cancel");
      deepEqual(tab.complaints, []);
    });
  },
);

long(dashboardTest)("a viewer gets the pages of administration that are theirs", async () => {
  await using service = await startLongshore({ env: USERS_MODE });
  const { body } = await service.call("POST", "/auth/login", ADMIN, { token: null });
  await service.call("POST", "/auth/users", { ...OPERATOR, role: "viewer" }, {
    token: body.accessToken,
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, DESKTOP, { as: OPERATOR });

  for (const path of ["/users", "/sessions", "/audit", "/settings"]) {
    await tab.open(path);
    await tab.find("heading", "Access denied");
  }
  await tab.open("/backups/targets");
  await tab.find("tab", "Snapshots");
  deepEqual(await tab.names("tab"), ["Stacks", "Snapshots", "Targets"]);
  await tab.go("/tokens");
  await tab.click("button", "New token");
  await tab.type("textbox", "Name", "mine");
  await eventually(async () =>
    deepEqual(await tab.names("option"), [
      "Viewer",
      "In 30 days",
      "In 90 days",
      "In a year",
      "Never",
    ])
  );
  await tab.click("button", "Create");
  await tab.find("dialog", "Token created");
  await tab.click("button", "Done");
  await tab.go("/license");
  await tab.find("region", "Edition");
  await tab.gone("button", "Install license");
  deepEqual(tab.complaints, []);
});

long(dashboardTest)("tokens, license and maintenance are managed in key mode", async (t) => {
  await using service = await startLongshore();
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);

  await t.step("users mode is off, and its pages send nothing that is refused", async () => {
    await tab.go("/users");
    await tab.find("button", "Change to accounts");
    await tab.go("/account");
    await tab.find("table", "Sessions");
    await eventually(async () => deepEqual(await tab.names("radiogroup"), ["Theme", "Density"]));
    await tab.gone("button", "Change password");
  });

  await t.step("a token is created, shown once, rotated and revoked", async () => {
    await tab.go("/tokens");
    await tab.openDialog("New token");
    await tab.page.evaluate(() => {
      for (const each of document.querySelectorAll("details")) each.open = true;
    });
    await checkBothThemes(tab);
    await tab.type("textbox", "Name", "CI");
    await tab.select("dialog select", "operator");
    await tab.type("textbox", "Stacks", "shop, blog*");
    await tab.click("checkbox", "restart");
    await tab.click("button", "Create");
    await tab.find("dialog", "Token created");
    await checkBothThemes(tab);
    const field = await tab.find("textbox", "Token");
    const secret = await field.evaluate((each) => (each as HTMLInputElement).value);
    await tab.click("button", "Done");
    await tab.gone("dialog", "Token created");
    await hasColumns(tab, ["Name", "Role", "Created", "Expires", "Last used"]);
    await until("it is gone", async () => !(await tab.page.content()).includes(secret));

    const { body: { tokens: [token] } } = await service.call("GET", "/api/tokens");
    deepEqual(
      [token.name, token.role, token.stacks, token.containers, token.permissions],
      ["CI", "operator", ["shop", "blog*"], null, ["containers:restart"]],
    );

    await tab.choose("CI", "Details");
    await tab.find("dialog", "CI");
    await tab.checkAccessibility();
    await tab.click("button", "Close");
    await tab.choose("CI", "Rotate");
    await answer(tab, "Rotate", "CI");
    await tab.find("dialog", "Token rotated");
    await tab.click("button", "Done");
    await tab.choose("CI", "Revoke");
    await answer(tab, "Revoke", "CI");
    await tab.status("Revoked CI");
    await tab.gone("table", "API tokens");
  });

  await t.step("other sessions are revoked, and this one stays", async () => {
    const token = await service.token();
    await tab.go("/sessions");
    await tab.find("button", /^Actions for API key, Chrome \d+ on Linux/);
    await tab.click("button", "Revoke other sessions");
    await answer(tab, "Revoke", "1 other session");
    await tab.status("Revoked 1 other session");
    await tab.gone("button", "Revoke other sessions");
    equal((await service.call("GET", "/api/account", undefined, { token })).status, 401);
  });

  await t.step("an icon is uploaded from a large picture, shown and deleted", async () => {
    using folder = temporaryDirectory();
    const file = `${folder.path}/Grafana.png`;
    await tab.go("/settings");
    await tab.find("heading", "Icons");
    await Deno.writeFile(file, await tab.page.screenshot());
    await tab.openDialog("New icon");
    await checkBothThemes(tab);
    await (await tab.page.waitForSelector("input[type=file]"))!.uploadFile(file);
    await tab.press("Upload", "Uploaded grafana");
    const width = () =>
      tab.page.$eval("td img.app-icon", (image) => (image as HTMLImageElement).naturalWidth);
    await eventually(async () => equal(await width(), 64));
    match(await deleteRow(tab, "grafana"), /without an icon/);
  });

  await t.step("maintenance mode is turned on, explained and turned off", async () => {
    await tab.go("/settings");
    await tab.click("switch", "Maintenance mode");
    await tab.status("Enabled maintenance mode");
    await tab.type("textbox", "Reason", "New disks");
    await tab.press("Save", "Saved maintenance mode");
    await tab.page.reload();
    await eventually(async () => {
      const reason = await tab.find("textbox", "Reason");
      equal(await reason.evaluate((each) => (each as HTMLInputElement).value), "New disks");
    });
    await tab.click("switch", "Maintenance mode");
    await tab.status("Disabled maintenance mode");
    await tab.gone("textbox", "Reason");
  });

  await t.step("the overview says that maintenance mode is on, and ends it", async () => {
    await tab.click("switch", "Maintenance mode");
    await tab.status("Enabled maintenance mode");
    await tab.go("/");
    await tab.find("button", "End maintenance");
    const text = await tab.page.$eval(".concerns", ({ textContent }) => textContent);
    match(text, /^Maintenance mode: no messages are sent started/);
    await tab.press("End maintenance", "Disabled maintenance mode");
    await tab.gone("button", "End maintenance");
  });

  await t.step("a wrong license is refused, and the trial starts", async () => {
    await tab.go("/license");
    await tab.find("region", "Edition");
    await tab.type("textbox", "License key", "not.a.license");
    await tab.pressRefused("Install license", /license/i);
    await tab.press("Start trial", "Started the trial");
    await tab.gone("button", "Start trial");
    await until(
      "the edition is shown",
      () => tab.page.$eval("main", (main) => main.textContent.includes("Enterprise")),
    );
  });

  await t.step("about shows the version and the license text", async () => {
    await tab.go("/about");
    await tab.find("region", "Service");
    const { body } = await service.call("GET", "/health", undefined, { token: null });
    await until("both are shown", async () => {
      const text = await tab.page.$eval("main", (main) => main.textContent);
      return text.includes(body.version) && text.includes("Permission is hereby granted");
    });
  });

  await t.step("every page is accessible in both themes, and fits on a phone", async () => {
    for (const path of PAGES) {
      await tab.page.setViewport({ width: 1280, height: 900 });
      await tab.go(path);
      await tab.loaded();
      await checkBothThemes(tab);
      await tab.page.setViewport({ ...PHONE, width: 360 });
      await tab.fits(360);
    }
    deepEqual(tab.complaints, []);
  });
});
