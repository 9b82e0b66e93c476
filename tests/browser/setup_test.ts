/** The setup of a new server in the browser, and its change from the API key to accounts. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { dashboardTest, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const NEW = { env: { API_KEY: "" } };

const ADA = { email: "ada@example.com", password: "violet tractor under nine moons" };

const COMMON = "professional";

/** The address that the service printed. */
const linkOf = (service: Longshore) =>
  until("the address of the setup", () => /^Set up: open (\S+)$/m.exec(service.stdout())?.[1]);

/** Runs in the page. */
const textsOf = (all: Element[]) => all.map(({ textContent }) => textContent);

dashboardTest("a new server is set up in the browser", async (t) => {
  await using browser = await startDashboardBrowser();

  await t.step("with an account, which is signed in at once", async () => {
    await using service = await startLongshore(NEW);
    await using own = await browser.separate();
    const dashboard = await own.tab(service, PHONE);
    await dashboard.page.goto(await linkOf(service));
    await dashboard.find("heading", "Set up Longshore");
    await dashboard.fits(PHONE.width);
    for (const theme of ["light", "dark"] as const) {
      await dashboard.theme(theme);
      await dashboard.checkAccessibility();
    }
    await dashboard.fill({ Name: "Ada", Email: ADA.email, Password: "short" });
    await dashboard.click("button", "Create account");
    await dashboard.invalid("textbox", "Password");
    await dashboard.click("checkbox", "Show the password");
    await dashboard.fill({ Password: COMMON });
    await dashboard.click("button", "Create account");
    await dashboard.invalid("textbox", "Password");
    deepEqual(await dashboard.page.$$eval(".problem, .note.danger", textsOf), [
      "must not be one of the most common passwords",
    ]);
    await dashboard.click("radio", "One API key");
    await dashboard.click("radio", "Accounts");
    deepEqual(await dashboard.page.$$eval(".problem, .note.danger", textsOf), []);
    await dashboard.fill({ Name: "Ada", Email: ADA.email });
    await dashboard.fill({ Password: ADA.password });
    await dashboard.click("button", "Create account");
    await dashboard.find("heading", "Overview");

    const login = await service.call("POST", "/auth/login", ADA, { token: null });
    equal(login.status, 200);
    // The session of the setup is the only one besides that of the test.
    const sessions = await service.call("GET", "/api/account/sessions", undefined, {
      token: login.body.accessToken,
    });
    equal(sessions.body.total, 2);
  });

  await t.step("with a key, from any address and with a typed code", async (t) => {
    await using service = await startLongshore(NEW);
    await using own = await browser.separate();
    const dashboard = await own.tab(service);
    await dashboard.page.goto(`${service.baseUrl}/containers`);
    await dashboard.find("heading", "Set up Longshore");
    const code = (await linkOf(service)).split("#")[1]!;
    await dashboard.fill({ "Setup code": "2222-2222-2222" });
    await dashboard.click("radio", "One API key");
    await dashboard.click("button", "Create key");
    await dashboard.alert("The setup code is wrong");
    await dashboard.fill({ "Setup code": code.toLowerCase() });
    await dashboard.click("button", "Create key");
    const field = await dashboard.find("textbox", "API key");
    const apiKey = await field.evaluate((input) => (input as HTMLInputElement).value);
    match(apiKey, /^lsk_[\w-]{43}$/);
    await dashboard.click("button", "Open the dashboard");
    await dashboard.find("heading", "Overview");

    await t.step("which gives way to accounts later", async () => {
      await dashboard.open("/users");
      await dashboard.openDialog("Change to accounts");
      await dashboard.fill({ Email: ADA.email, Password: ADA.password });
      await dashboard.click("button", "Change to accounts");
      await dashboard.find("row", /ada@example\.com/);
      const login = await service.call("POST", "/auth/token", { apiKey }, { token: null });
      deepEqual([login.status, login.body.error], [
        404,
        "Key mode is off (AUTH_MODE=users); use POST /auth/login",
      ]);
    });

    await t.step("and the page of the setup leads to the sign-in", async () => {
      await using visitor = await browser.separate();
      const tab = await visitor.tab(service);
      await tab.page.goto(`${service.baseUrl}/setup`);
      await tab.click("button", "Open the dashboard");
      await tab.find("heading", "Sign in");
    });
  });
});
