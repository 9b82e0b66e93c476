/// <reference lib="dom" />
/** The providers of the page Single sign-on, by keyboard alone. @module */

import { equal, match } from "node:assert/strict";
import { type Dashboard, dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { focused, focusOn, pressAt, rowMatches } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from "../helpers/oidc_provider.ts";
import { until } from "../helpers/until.ts";

const ADMIN = { email: "root@example.com", password: "correct horse battery staple" };
const USERS = { AUTH_MODE: "users", ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password };

long(dashboardTest)("a provider is added, tested, changed and deleted by keyboard", async (t) => {
  await using service = await startLongshore({
    env: { ...USERS, API_KEY: "", OUTBOUND_ALLOW: "127.0.0.1" },
  });
  await using idp = await startOidcProvider({
    redirectUri: `${service.baseUrl}/auth/oidc/callback`,
    users: { ada: { email: "ada@example.com", email_verified: true, groups: ["ops"] } },
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, undefined, { as: ADMIN, path: "/sso" });
  const { keyboard } = tab.page;

  await t.step("add", async () => {
    await pressAt(tab, "New provider");
    await type(tab, "Name", "Acme");
    await type(tab, "Issuer", idp.issuer);
    await type(tab, "Client ID", CLIENT_ID);
    await type(tab, "Client secret", CLIENT_SECRET);
    await type(tab, "Claim with the groups", "groups");
    await type(tab, "Roles of groups", "ops = operator");
    await focusOn(tab, "More options");
    await keyboard.press("Enter");
    await type(tab, "Scopes", "openid email groups");
    await pressAt(tab, "Create");
    await tab.find("dialog", "Setup of Acme");
    await pressAt(tab, "Done");
    await rowMatches(tab, "Acme", /Created by group/);
  });

  await t.step("test, with the claims", async () => {
    await chooseAt(tab, "Acme", "Test");
    const dialog = await tab.find("dialog", "Test of Acme");
    await focusOn(tab, "Sign in there");
    // The link opens a tab of its own, where the admin signs in.
    const opened = browser.context.waitForTarget((target) => target.url().startsWith(idp.issuer));
    await keyboard.press("Enter");
    const provider = (await (await opened).page())!;
    await provider.waitForSelector("input");
    await provider.focus("input");
    await provider.keyboard.type("ada");
    await provider.keyboard.press("Enter");
    await until(
      "it is completed",
      async () =>
        await provider.evaluate(() => document.body.textContent!.includes("Test sign-in completed"))
          .catch(() => false),
    );
    await provider.close();
    await tab.show();
    await pressAt(tab, "Show claims");
    await until(
      "the claims are shown",
      () => dialog.evaluate((each) => /Role: operator[^]*"ops"/.test(each.textContent!)),
    );
    await pressAt(tab, "Done");
    await tab.gone("dialog");
    equal(await focused(tab), "Actions for Acme");
  });

  await t.step("change the role of a group", async () => {
    await chooseAt(tab, "Acme", "Edit");
    await tab.find("dialog", "Edit Acme");
    await focusOn(tab, "Roles of groups");
    await keyboard.down("Control");
    await keyboard.press("a");
    await keyboard.up("Control");
    await keyboard.type("ops = boss");
    await pressAt(tab, "Save");
    await tab.invalid("textbox", "Roles of groups");
    await tab.refused(400);
    await keyboard.down("Control");
    await keyboard.press("a");
    await keyboard.up("Control");
    await keyboard.type("ops = admin");
    await pressAt(tab, "Save");
    await tab.status("Saved Acme");
    const { body } = await service.call("GET", "/api/identity/oidc", undefined, {
      token: (await service.call("POST", "/auth/login", ADMIN, { token: null })).body.accessToken,
    });
    equal(JSON.stringify(body[0].roleMap), '[{"value":"ops","role":"admin"}]');
  });

  await t.step("delete", async () => {
    await chooseAt(tab, "Acme", "Delete");
    const question = await tab.find("alertdialog", "Delete Acme?");
    match(await question.evaluate((each) => each.textContent!), /sessions of its users end/);
    await pressAt(tab, "Delete");
    await tab.gone("alertdialog");
    await until(
      "it is gone",
      async () => !(await tab.names("button")).includes("Actions for Acme"),
    );
  });
});

/** Types into a field that the Tab key reaches. */
async function type(tab: Dashboard, label: string, text: string): Promise<void> {
  await focusOn(tab, label);
  await tab.page.keyboard.down("Control");
  await tab.page.keyboard.press("a");
  await tab.page.keyboard.up("Control");
  await tab.page.keyboard.sendCharacter(text);
}

/** Chooses an item of a row's menu with the arrow keys. */
async function chooseAt(tab: Dashboard, row: string, item: string): Promise<void> {
  await focusOn(tab, `Actions for ${row}`);
  await tab.page.keyboard.press("Enter");
  await until(`${item} has the focus`, async () => {
    if (await focused(tab) === item) return true;
    await tab.page.keyboard.press("ArrowDown");
    return await focused(tab) === item;
  });
  await tab.page.keyboard.press("Enter");
}
