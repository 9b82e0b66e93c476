/**
 * The dashboard without a container engine: sign-in, session, navigation, keyboard and appearance.
 * `tests/real_engine/dashboard_test.ts` has what needs containers.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { pageSecret } from "../helpers/browser_session.ts";
import { dashboardTest, DESKTOP, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes, endSession } from "../helpers/dashboard_steps.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { eventually, until } from "../helpers/until.ts";
import { freePort } from "../helpers/free_port.ts";
import { startNginx } from "../helpers/nginx.ts";

dashboardTest("the dashboard signs in, keeps the session and ends it", async (t) => {
  await using service = await startLongshore({ env: { SERVER_NAME: "harbor-1" } });
  await using browser = await startDashboardBrowser();
  const tab = await browser.tab(service);
  const { page } = tab;
  const pathOf = () => new URL(page.url()).pathname + new URL(page.url()).search;

  await t.step("a page without a session leads to the sign-in and back", async () => {
    await tab.open("/containers?q=web&sort=-cpu");
    await tab.find("heading", "Sign in");
    await eventually(async () => equal(await page.title(), "Sign in · Longshore"));
    const next = encodeURIComponent("/containers?q=web&sort=-cpu");
    await eventually(() => equal(pathOf(), `/sign-in?next=${next}`));
    ok(!(await page.content()).includes("harbor-1"));
    deepEqual(tab.requests.filter((each) => each.includes("/auth/")), [
      "POST /auth/session/refresh",
    ]);
    await tab.checkAccessibility();
  });

  await t.step("nothing is sent without a key", async () => {
    const sent = tab.changes().length;
    await tab.click("button", "Sign in");
    await tab.invalid("textbox", "API key");
    equal(tab.changes().length, sent);
  });

  await t.step("a wrong key is refused with the service's sentence", async () => {
    await tab.type("textbox", "API key", "lsk_wrong");
    await tab.click("button", "Sign in");
    const refused = await service.call("POST", "/auth/session", { apiKey: "lsk_wrong" }, {
      token: null,
      headers: { "x-page-secret": pageSecret() },
    });
    await tab.alert(refused.body.error);
    for (let n = 0; n < 2; n++) await tab.refused(401); // Without a session, and this one.
  });

  await t.step("the right key opens the page that was asked for", async () => {
    await tab.type("textbox", "API key", service.apiKey);
    await tab.click("button", "Sign in");
    await tab.find("heading", "Containers");
    await eventually(() => equal(pathOf(), "/containers?q=web&sort=-cpu"));
    await eventually(async () => equal(await page.title(), "Containers · harbor-1 · Longshore"));
  });

  await t.step(
    "a reload keeps the session, and a link to another site is not followed",
    async () => {
      await tab.open("/sign-in?next=//evil.example/");
      await tab.find("heading", "Overview");
      await eventually(() => equal(pathOf(), "/"));
      deepEqual(tab.complaints, []);
    },
  );

  await t.step("signing out ends every tab, and every tab follows a sign-in", async () => {
    const other = await browser.tab(service);
    await other.open("/");
    await other.find("heading", "Overview");
    await tab.show();
    await tab.click("button", "Account menu");
    await tab.click("menuitem", "Sign out");
    await tab.find("heading", "Sign in");
    await other.show();
    await other.find("heading", "Sign in");
    await tab.show();
    await tab.open("/containers");
    await tab.find("heading", "Sign in");
    await tab.type("textbox", "API key", service.apiKey);
    await tab.click("button", "Sign in");
    await tab.find("heading", "Containers");
    await other.show();
    await other.gone("heading", "Sign in");
    await other.find("heading", "Overview");
    await other.page.close();
    await tab.show();
  });

  await t.step("a session that was revoked elsewhere says that it has ended", async () => {
    await endSession(tab);
  });
});

dashboardTest("the dashboard is usable by keyboard, on a phone and in both themes", async (t) => {
  await using service = await startLongshore();
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);
  const { page } = tab;
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");

  await t.step("an unreachable engine is reported on every page", async () => {
    for (
      const path of ["/", "/containers", "/images", "/networks", "/volumes", "/host", "/account"]
    ) {
      await tab.go(path);
      await tab.alert(/Engine unreachable/);
    }
    for (
      const [path, sentence] of [
        ["/", "The container engine does not answer"],
        ["/containers", "Not known while the engine is unreachable"],
        ["/logs", "Not known while the engine is unreachable"],
      ] as const
    ) {
      await tab.go(path);
      await until(
        `${path} says so`,
        () => page.evaluate((text) => document.body.innerText.includes(text), sentence),
      );
    }
    equal(await page.$("[aria-busy=true]"), null);
  });

  await t.step("the first tab stop skips to the content", async () => {
    await tab.open("/");
    await tab.find("navigation", "Main");
    await page.keyboard.press("Tab");
    await eventually(async () => equal(await focused(), "Skip to content"));
    await eventually(async () => {
      deepEqual(await tab.names("navigation"), ["Main"]);
      equal((await tab.names("main")).length, 1);
      equal((await tab.names("banner")).length, 1);
    });
  });

  await t.step("the command palette opens pages", async () => {
    await page.keyboard.down("Control");
    await page.keyboard.press("k");
    await page.keyboard.up("Control");
    await tab.find("dialog", "Command palette");
    await tab.type("combobox", "Search", "cont");
    await tab.find("option", /^Containers/);
    await tab.checkAccessibility();
    // A slow browser takes long from one frame to the next.
    await page.emulateCPUThrottling(10);
    await page.keyboard.press("Enter");
    await tab.find("searchbox", "Filter containers");
    await tab.gone("dialog", "Command palette");
    await page.evaluate(() =>
      new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    );
    await page.emulateCPUThrottling(null);
    await until(
      "it has the focus",
      () => page.evaluate(() => document.activeElement?.id === "main"),
    );
  });

  await t.step("a question mark lists the shortcuts, and Escape closes them", async () => {
    await page.keyboard.type("?");
    await tab.find("dialog", "Keyboard shortcuts");
    await page.keyboard.press("Escape");
    await tab.gone("dialog", "Keyboard shortcuts");
    // The second key has to follow soon, so that a busy machine can be late.
    for (const [keys, heading] of [["ga", "Alerts"], ["gl", "Logs"], ["go", "Overview"]] as const) {
      await until(`${heading} is open`, async () => {
        await page.keyboard.type(keys);
        return (await tab.names("heading")).includes(heading);
      });
    }
  });

  await t.step("theme and density are chosen and kept", async () => {
    await tab.theme("light");
    await tab.go("/account");
    await tab.click("radio", "Dark");
    await tab.click("radio", "Compact");
    await page.reload();
    await tab.find("heading", "Account");
    await eventually(async () => {
      const shown = await page.evaluate(() => ({ ...document.documentElement.dataset }));
      deepEqual([shown.theme, shown.density], ["dark", "compact"]);
      deepEqual(await tab.names("radiogroup"), ["Theme", "Density"]);
    });
    await tab.click("radio", "System");
    await tab.click("radio", "Comfortable");
  });

  await t.step("every page has no accessibility violation in both themes and widths", async () => {
    for (const path of ["/", "/containers", "/account"]) {
      await tab.go(path);
      await tab.find("status", "Connection");
      for (const view of [DESKTOP, PHONE]) {
        await page.setViewport(view);
        await checkBothThemes(tab);
      }
    }
  });

  await t.step("on a phone the menu opens the navigation, and nothing is cut off", async () => {
    await page.setViewport({ width: 360, height: 740 });
    await tab.open("/");
    await tab.gone("link", "Containers");
    await tab.click("button", "Menu");
    await tab.click("link", "Containers");
    await tab.find("heading", "Containers");
    await tab.gone("link", "Overview");
    for (const path of ["/", "/containers", "/account"]) {
      await tab.go(path);
      await tab.fits(360);
    }
  });
});

long(dashboardTest)("the dashboard works in users mode", async () => {
  await using service = await startLongshore({
    env: {
      AUTH_MODE: "users",
      ADMIN_EMAIL: "admin@example.com",
      ADMIN_PASSWORD: "correct horse battery staple",
    },
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.tab(service);

  await tab.open("/");
  await tab.type("textbox", "Email", "admin@example.com");
  await tab.type("textbox", "Password", "correct horse battery staple");
  await tab.click("button", "Sign in");

  await tab.find("heading", "Overview");
});

long(dashboardTest)("the dashboard works below a path of a proxy", async () => {
  const directory = await Deno.makeTempDir({ prefix: "longshore-nginx-" });
  const port = freePort();
  const baseUrl = `http://127.0.0.1:${port}/longshore`;
  await using engine = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "POST /containers/*/exec": () => Response.json({ Id: "exec1" }, { status: 201 }),
    "POST /exec/*/start": () => new Response(new Blob(["hello"]).stream()),
    "GET /exec/*/json": () => Response.json({ Running: false, Pid: 0, ExitCode: 0 }),
    "POST /exec/*/resize": () => new Response(null),
  });
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { SERVICE_BASE_URL: baseUrl, TERMINAL: "admin" },
  });
  {
    await using _nginx = await startNginx({
      directory,
      port,
      servers: `map $http_upgrade $hop { default upgrade; "" ""; }
      server {
        listen 127.0.0.1:${port};
        location /longshore { return 404; }
        location /longshore/ {
          proxy_pass ${service.baseUrl}/;
          proxy_buffering off;
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $hop;
        }
      }`,
    });
    await using browser = await startDashboardBrowser();
    const tab = await browser.tab({ baseUrl });

    await tab.open("/longshore/containers");
    await tab.type("textbox", "API key", service.apiKey);
    await tab.click("button", "Sign in");
    await tab.find("heading", "Containers");
    await tab.refused(401); // A browser without a session.
    await tab.click("link", "Overview");
    await tab.find("heading", "Overview");

    await eventually(() => equal(tab.page.url(), `${baseUrl}/`));
    await tab.open("/longshore/containers/web");
    await tab.click("tab", "Terminal");
    await tab.status("The program has ended with exit code 0");
    await eventually(async () =>
      equal(await tab.page.$eval(".xterm-rows", (rows) => rows.textContent.trim()), "hello")
    );
    await tab.click("tab", "Inspect");
    await tab.find("button", "Copy");
    await eventually(() => match(tab.page.url(), /\/inspect$/));
    await tab.open("/longshore/docs#getCurrentUser");
    await tab.click("button", "Send");
    const answer = await tab.find("region", "Response body");
    match(await answer.evaluate((each) => each.textContent), /"role": "admin"/);
    ok(tab.requests.includes("GET /longshore/openapi.json"));
    deepEqual(tab.complaints, []);
  }
  await Deno.remove(directory, { recursive: true });
});
