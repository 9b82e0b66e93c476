/// <reference lib="dom" />
/** Second factors and passkeys in the dashboard, by keyboard, with a virtual authenticator. @module */

import { equal } from "node:assert/strict";
import { openStateDatabase } from "../../db/database.ts";
import { stepAt, totpCode } from "../../services/access/factors/totp.ts";
import {
  type Dashboard,
  dashboardTest,
  DESKTOP,
  PHONE,
  startDashboardBrowser,
} from "../helpers/dashboard.ts";
import { endSession, enter, focused, pressAt } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { decodeBase32 } from "../helpers/second_factor.ts";
import { until } from "../helpers/until.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "violet tractor under nine moons";
const USERS = { AUTH_MODE: "users", ADMIN_EMAIL: EMAIL, ADMIN_PASSWORD: PASSWORD, API_KEY: "" };

/**
 * A flag for a browser of its own: passkeys wait for the focus, which windows of other tests take, and
 * without which a page can do all the rest.
 */
const OWN_BROWSER = ["--no-first-run"];

async function signOut(dashboard: Dashboard): Promise<void> {
  // The cookie stays for nothing: the service has forgotten the session.
  await dashboard.page.evaluate(() => localStorage.clear());
  await dashboard.page.goto(new URL("/sign-in", dashboard.page.url()).href);
  await dashboard.find("heading", "Sign in");
}

async function proveFirst(dashboard: Dashboard): Promise<void> {
  await until("the focus is at Email", async () => await focused(dashboard) === "Email");
  await dashboard.page.keyboard.type(EMAIL);
  await dashboard.page.keyboard.press("Tab");
  await enter(dashboard, "Password", PASSWORD);
}

long(dashboardTest)("second factors and passkeys are set up and used by keyboard", async () => {
  await using service = await startLongshore({ env: USERS });
  await using browser = await startDashboardBrowser({ flags: OWN_BROWSER });
  const baseUrl = service.baseUrl.replace("127.0.0.1", "localhost");
  const as = { email: EMAIL, password: PASSWORD };
  const dashboard = await browser.signIn({ ...service, baseUrl }, DESKTOP, {
    path: "/account",
    as,
  });
  const { page } = dashboard;

  // An authenticator app. Each code is of a later step than the one before.
  await pressAt(dashboard, "Set up");
  const dialog = await dashboard.find("dialog", "Set up an authenticator app");
  await dashboard.find("image", "QR code of the secret");
  const text = await dialog.$eval("code", (element) => element.textContent!.replaceAll(" ", ""));
  const code = (later: number) => totpCode(decodeBase32(text), stepAt(new Date()) + later);
  await dashboard.checkAccessibility();
  await enter(dashboard, "Code", code(-1));
  const codes = await (await dashboard.find("dialog", "Recovery codes"))
    .$eval("pre", (element) => element.textContent!.split("\n"));
  equal(codes.length, 10);
  await pressAt(dashboard, "Done");

  await signOut(dashboard);
  await proveFirst(dashboard);
  await dashboard.find("button", "Verify");
  await dashboard.checkAccessibility();
  await enter(dashboard, "Code", code(0));
  await dashboard.find("heading", "Overview");

  await signOut(dashboard);
  await proveFirst(dashboard);
  await pressAt(dashboard, "Use a recovery code");
  await enter(dashboard, "Recovery code", codes[0]!);
  await dashboard.find("heading", "Overview");

  // A passkey, which signs in alone.
  const session = await page.createCDPSession();
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await dashboard.open("/account");
  await pressAt(dashboard, "Add passkey");
  await dashboard.status("Added Passkey 1");
  await page.setViewport(PHONE);
  await dashboard.fits(PHONE.width);
  for (const theme of ["light", "dark"] as const) {
    await dashboard.theme(theme);
    await dashboard.checkAccessibility();
  }
  await signOut(dashboard);
  await pressAt(dashboard, "Use a passkey");
  await dashboard.find("heading", "Overview");

  // Over a page whose session has ended.
  await dashboard.open("/account");
  await endSession(dashboard);
  await pressAt(dashboard, "Use a passkey");
  await dashboard.gone("dialog");
  await endSession(dashboard);
  await proveFirst(dashboard);
  await pressAt(dashboard, "Use a recovery code");
  await enter(dashboard, "Recovery code", codes[1]!);
  await dashboard.gone("dialog");
  await dashboard.find("heading", "Account");

  // And as the second factor.
  await signOut(dashboard);
  await proveFirst(dashboard);
  await dashboard.find("button", "Verify");
  await pressAt(dashboard, "Use a passkey");
  await dashboard.find("heading", "Overview");

  // After a while, the password is asked for.
  const db = openStateDatabase(`${service.dataDir}/state.sqlite`);
  db.run("UPDATE sessions SET created_at = '2026-01-01T00:00:00.000Z'");
  db.close();
  await dashboard.open("/account");
  await pressAt(dashboard, "Delete");
  await dashboard.find("dialog", "Delete Passkey 1");
  await dashboard.checkAccessibility();
  await enter(dashboard, "Password", PASSWORD);
  await dashboard.status("Deleted Passkey 1");
});

long(dashboardTest)(
  "with MFA_REQUIRED, a user sets up a second factor before anything else",
  async () => {
    await using service = await startLongshore({ env: { ...USERS, MFA_REQUIRED: "all" } });
    await using browser = await startDashboardBrowser();
    const dashboard = await browser.tab(service, PHONE);
    await dashboard.page.goto(service.baseUrl);
    await proveFirst(dashboard);
    await dashboard.find("heading", "Set up a second factor");
    await dashboard.fits(PHONE.width);
    await dashboard.checkAccessibility();
    await dashboard.click("button", "Continue");
    await dashboard.alert("Set up an authenticator app or a passkey first");
    await dashboard.click("button", "Set up");
    const dialog = await dashboard.find("dialog", "Set up an authenticator app");
    await dashboard.find("image", "QR code of the secret");
    const text = await dialog.$eval("code", (element) => element.textContent!.replaceAll(" ", ""));
    await enter(dashboard, "Code", totpCode(decodeBase32(text), stepAt(new Date())));
    await dashboard.click("button", "Done");
    await dashboard.click("button", "Continue");
    await dashboard.find("heading", "Overview");
  },
);
