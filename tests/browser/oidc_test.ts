/** Sign-in through a real OpenID Connect provider in the dashboard, below a path of a proxy. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { runCommand } from "../helpers/command.ts";
import { type Dashboard, dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { endSession, pressAt, rowMatches } from "../helpers/dashboard_steps.ts";
import { freePort } from "../helpers/free_port.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { startNginx } from "../helpers/nginx.ts";
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from "../helpers/oidc_provider.ts";
import { eventually, until } from "../helpers/until.ts";

const ROOT = { email: "root@example.com", password: "correct horse battery staple" };
const ADA = { email: "ada@example.com", email_verified: true, groups: ["ops"] };

long(dashboardTest)(
  "a user of an OpenID Connect provider signs in, below a path and without passwords",
  async (t) => {
    const directory = await Deno.makeTempDir({ prefix: "longshore-nginx-" });
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const baseUrl = `${origin}/longshore`;
    await using idp = await startOidcProvider({
      redirectUri: `${baseUrl}/auth/oidc/callback`,
      postLogoutRedirectUri: `${baseUrl}/sign-in`,
      users: { ada: ADA },
    });
    const env = {
      ...{
        AUTH_MODE: "users",
        ADMIN_EMAIL: ROOT.email,
        ADMIN_PASSWORD: ROOT.password,
        API_KEY: "",
      },
      ...{ PASSWORD_LOGIN: "off", OUTBOUND_ALLOW: "127.0.0.1", SERVICE_BASE_URL: baseUrl },
    };
    await using service = await startLongshore({ env });
    await using _nginx = await startNginx({
      directory,
      port,
      servers: `server {
      listen 127.0.0.1:${port};
      location /longshore/ {
        proxy_pass ${service.baseUrl}/;
        proxy_buffering off;
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
      }
    }`,
    });
    // One of its own: a window takes the focus of all others, and passkeys need it.
    await using browser = await startDashboardBrowser({ flags: ["--disable-popup-blocking"] });
    const tab = await browser.tab({ baseUrl });

    await t.step("an admin gets in by a link of the host, and adds the provider", async () => {
      const command = ["user", "login-link", ROOT.email];
      const link = await runCommand(command, { env: { ...env, DATA_DIR: service.dataDir } });
      match(link.stdout, /^http:\/\/127\.0\.0\.1:\d+\/longshore\/sign-in#link=[\w-]{43}\n$/);
      await tab.page.goto(link.stdout.trim());
      await tab.find("heading", "Overview");
      await tab.refused(401); // A browser without a session.
      await tab.go("/longshore/sso");
      await tab.click("button", "New provider");
      await tab.fill({
        ...{ Name: "Acme", Issuer: idp.issuer, "Client ID": CLIENT_ID },
        "Claim with the groups": "groups",
        "Roles of groups": "ops = operator",
      });
      const secret = await tab.find("dialog", "New provider");
      await secret.$eval("[name=clientSecret]", (field, text) => {
        (field as HTMLInputElement).value = text;
      }, CLIENT_SECRET);
      await tab.clickAt("summary");
      await tab.fill({ Scopes: "openid email groups" });
      await tab.checkAccessibility();
      await tab.press("Create", "Created Acme");
      const setup = await tab.find("dialog", "Setup of Acme");
      match(await setup.evaluate((each) => each.textContent), /\/longshore\/auth\/oidc\/callback/);
      await tab.click("button", "Done");
      await rowMatches(tab, "Acme", /OIDC.*Created by group/s);
      // A link is for one sign-in.
      const second = await (await browser.separate()).tab({ baseUrl });
      await second.page.goto(link.stdout.trim());
      await second.alert(/was used or has expired/);
    });

    await t.step("a test shows the claims, and starts no session", async () => {
      await tab.choose("Acme", "Test");
      await tab.find("dialog", "Test of Acme");
      await using other = await browser.separate();
      const visitor = await other.tab({ baseUrl });
      const link = await tab.find("link", "Sign in there");
      await visitor.page.goto(await link.evaluate((each) => (each as HTMLAnchorElement).href));
      await signInAtProvider(visitor, "ada");
      await visitor.find("heading", "Test sign-in completed");
      deepEqual((await visitor.page.cookies()).map(({ name }) => name).filter(isOwn), []);
      await tab.click("button", "Show claims");
      await eventually(async () => {
        const dialog = await tab.find("dialog", "Test of Acme");
        const text = await dialog.evaluate((each) => each.textContent);
        match(text, /Role: operator[^]*"groups": \[\s*"ops"/);
      });
      await tab.checkAccessibility();
      await tab.click("button", "Done");
      deepEqual(tab.complaints, []);
    });

    await using own = await browser.separate();
    const user = await own.tab({ baseUrl });

    await t.step(
      "the button of the sign-in page leads to the page that was asked for",
      async () => {
        await user.open("/longshore/containers?state=running");
        await user.find("button", "Sign in with Acme");
        await user.gone("textbox", "Password");
        await user.checkAccessibility();
        await user.refused(401);
        await user.click("button", "Sign in with Acme");
        await signInAtProvider(user, "ada");
        await user.find("heading", "Containers");
        match(user.page.url(), /\/longshore\/containers\?state=running$/);
        await user.refused(401);
        deepEqual(user.complaints, []);
      },
    );

    await t.step("a session that ended is renewed at the provider, in a window", async () => {
      await user.go("/longshore/account");
      const name = await user.find("textbox", "Name");
      await user.type("textbox", "Name", "Countess");
      await endSession(user);
      await user.checkAccessibility();
      const opened = new Promise<Page | null>((resolve) =>
        user.page.once("popup", (page) => resolve(page))
      );
      // No field can take what is being typed, and no button is pressed by it.
      await user.page.keyboard.press("Enter");
      await pressAt(user, "Sign in with Acme");
      // The provider still knows the user, and the window closes itself.
      const window = (await opened)!;
      await until("the window is closed", () => window.isClosed());
      await user.gone("dialog");
      equal(await name.evaluate((field) => (field as HTMLInputElement).value), "Countess");
      await user.press("Save", /^Saved/);
      await user.refused(401); // The stream of the session that had ended, and its refresh.
      await user.refused(401);
      deepEqual(user.complaints, []);
    });

    await t.step("signing out leads past the provider to the sign-in page", async () => {
      await user.click("button", "Account menu");
      await user.click("menuitem", "Sign out");
      await eventually(() => equal(new URL(user.page.url()).origin, idp.issuer));
      await user.clickAt("button[value=yes], button[type=submit]");
      await user.find("button", "Sign in with Acme");
      equal(new URL(user.page.url()).pathname, "/longshore/sign-in");
    });

    await t.step("a user without a role gets a page that says so", async () => {
      idp.users.set("eve", { email: "eve@example.com", groups: ["guests"] });
      await user.click("button", "Sign in with Acme");
      await signInAtProvider(user, "eve");
      await user.find("heading", "Sign-in refused");
      match(await user.page.$eval("body", (body) => body.textContent), /no group that has a role/);
      await user.click("link", "Back to the sign-in");
      await user.find("button", "Sign in with Acme");
    });

    await t.step("an admin unlinks the only way in of a user, and is told so", async () => {
      await tab.go("/longshore/users");
      await tab.choose(ADA.email, "Identity providers");
      const dialog = await tab.find("dialog", `Identity providers of ${ADA.email}`);
      await eventually(async () =>
        match(await dialog.evaluate((each) => each.textContent), /Acme.*OpenID Connect, as ada/)
      );
      await tab.checkAccessibility();
      await tab.click("button", "Unlink");
      const question = await tab.find("alertdialog", "Unlink Acme?");
      match(await question.evaluate((each) => each.textContent), /until you set a password/);
      await tab.press("Unlink", /^Unlinked Acme/);
      await eventually(async () =>
        match(await dialog.evaluate((each) => each.textContent), /No identity provider signs in/)
      );
    });
    await Deno.remove(directory, { recursive: true });
  },
);

const isOwn = (name: string) => name.includes("longshore");

async function signInAtProvider(tab: Dashboard, name: string): Promise<void> {
  await tab.type("textbox", "User", name);
  await tab.click("button", "Continue");
}
