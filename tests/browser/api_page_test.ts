/**
 * The page of the API in a real browser, with and without a session, and where it is the only page.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  type Dashboard,
  dashboardTest,
  DESKTOP,
  PHONE,
  startDashboardBrowser,
} from "../helpers/dashboard.ts";
import { checkBothThemes } from "../helpers/dashboard_steps.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { eventually, until } from "../helpers/until.ts";

const SEARCH = "Filter operations";

const listed = (tab: Dashboard) => tab.find("status", /^\d+ operations$/);

/** Types into the search. @returns The ids of the matching operations. */
async function search(tab: Dashboard, words: string): Promise<string[]> {
  await tab.type("searchbox", SEARCH, words);
  await tab.find("status", /^\d+ of \d+ operations$/);
  return await tab.page.$$eval(
    ".operation",
    (rows) => rows.filter((row) => row.checkVisibility()).map(({ id }) => id),
  );
}

/**
 * Opens an operation by its address, alone. Others are hidden by default: a search for a part among
 * all of them takes ten times as long.
 */
async function openOperation(
  tab: Dashboard,
  id: string,
  others: "hidden" | "shown" = "hidden",
): Promise<void> {
  await tab.page.evaluate(
    (id, others) => {
      for (const row of document.querySelectorAll<HTMLDetailsElement>(".operation")) {
        row.open = false;
        row.style.display = others === "hidden" && row.id !== id ? "none" : "";
      }
      location.hash = id;
    },
    id,
    others,
  );
  await until(
    `${id} is open`,
    () => tab.page.evaluate((id) => !!document.querySelector(`#${id}[open] form`), id),
  );
}

const textOf = (tab: Dashboard, selector: string): Promise<string> =>
  tab.page.$eval(selector, (each) => each.textContent);

/** Sends the request of the open operation. @returns What is shown of the response. */
async function send(tab: Dashboard): Promise<string> {
  await tab.click("button", "Send");
  return await answer(tab);
}

async function answer(tab: Dashboard): Promise<string> {
  const body = await tab.find("region", "Response body");
  return await body.evaluate((each) => each.parentElement!.textContent);
}

long(dashboardTest)("the API is read and tried", async (t) => {
  await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await t.step("by a visitor without a session", (t) => asVisitor(t, service));
  await t.step("with a session, as a page like the others", (t) => withSession(t, service));
});

async function asVisitor(t: Deno.TestContext, service: Longshore): Promise<void> {
  await using browser = await startDashboardBrowser();
  const tab = await browser.tab(service);

  await t.step("it needs no session, and reads the API document only", async () => {
    await tab.open("/docs");
    await listed(tab);
    await tab.refused(401); // The browser has no session.
    deepEqual(
      tab.requests.filter((each) => !each.startsWith("GET /assets/")),
      ["GET /docs", "POST /auth/session/refresh", "GET /openapi.json"],
    );
    deepEqual(await tab.names("navigation"), ["Groups"]);
    match(await tab.page.title(), /^API · Longshore$/);
  });

  await t.step("containers come first, and the editions apart", async () => {
    const groups = await tab.page.$$eval(
      "nav > *",
      (parts) => parts.map((each) => each.firstChild!.textContent),
    );
    equal(groups[0], "Containers");
    ok(groups.indexOf("Pro") < groups.indexOf("Incidents"));
    ok(groups.indexOf("Enterprise") < groups.indexOf("Branding"));
    equal(groups.filter((each) => each === "Pro" || each === "Enterprise").length, 2);
  });

  await t.step("the search finds parameters, fields and descriptions", async () => {
    await tab.page.keyboard.press("/");
    await until(
      "the search has the focus",
      () => tab.page.evaluate(() => document.activeElement!.matches("input[type=search]")),
    );
    ok((await search(tab, "lastEventId")).includes("streamEvents"));
    ok((await search(tab, "before it is killed")).includes("stopContainer"));
    deepEqual(await search(tab, "refreshToken"), ["refreshTokens"]);
    deepEqual(await search(tab, "post STANDARD webhooks 410"), ["createWebhook"]);
    deepEqual(await search(tab, "no such words"), []);
    await eventually(() => equal(new URL(tab.page.url()).search, "?q=no+such+words"));
    await tab.click("button", "Clear filters");
    await listed(tab);
  });

  await t.step("an address opens an operation, with what its parameters mean", async () => {
    await tab.page.goto(`${service.baseUrl}/docs#stopContainer`);
    await tab.page.reload();
    await tab.find("button", "Send");
    await tab.refused(401);
    const text = await textOf(tab, "#stopContainer");
    match(text, /Seconds before it is killed/);
    match(text, /path, required/);
    match(text, /503 The container engine cannot/);
    match(text, /Permission: containers:stop/);
    ok(!(await textOf(tab, "#stopContainer .commands")).includes(" -N "));
    await openOperation(tab, "streamEvents");
    match(await textOf(tab, "#streamEvents .commands"), /^curl -N -H /);
    equal(new URL(tab.page.url()).hash, "#streamEvents");
  });

  await t.step("a missing parameter is not sent, and the curl command follows", async () => {
    await openOperation(tab, "getContainer");
    tab.requests.splice(0);
    await tab.click("button", "Send");
    await tab.invalid("textbox", "id");
    deepEqual(tab.requests, []);
    await tab.type("textbox", "id", "a b/c's");
    equal(
      await textOf(tab, "#getContainer .commands"),
      `curl -H "Authorization: Bearer $TOKEN" '${service.baseUrl}/api/containers/a%20b%2Fc'\\''s'`,
    );
  });

  await t.step("without an account a request is refused as for any client", async () => {
    await openOperation(tab, "getCurrentUser");
    match(await send(tab), /^401 /);
    await tab.refused(401);
  });

  await t.step("signs in with the API key, and out", async () => {
    await tab.openDialog("Sign in");
    await tab.type("textbox", "API key", "not the key");
    await tab.page.keyboard.press("Enter");
    await tab.alert("The API key is wrong");
    await tab.refused(401);
    await tab.type("textbox", "API key", service.apiKey);
    await tab.page.keyboard.press("Enter");
    await tab.gone("dialog");
    match(await send(tab), /^200 .*"role": "admin"/s);
    await tab.click("button", "Sign out (admin)");
    await tab.find("button", "Sign in");
    await eventually(async () => {
      const { body: { sessions } } = await service.call("GET", "/api/account/sessions");
      equal(sessions.length, 1, "that of this test");
    });
  });

  await t.step("sends with a pasted token, which signing out leaves valid", async () => {
    await tab.openDialog("Sign in");
    await tab.click("radio", "Token");
    await tab.type("textbox", "Access token or API token", await service.token());
    await tab.page.keyboard.press("Enter");
    await tab.find("button", "Sign out (admin)");
    match(await send(tab), /^200 /);
  });

  await t.step("asks before it sends what interrupts or deletes", async () => {
    for (const id of ["deleteImage", "pruneSystem", "rebuildContainer", "stopContainer"]) {
      await openOperation(tab, id);
      if (id !== "pruneSystem") await tab.type("textbox", "id", "web");
      tab.requests.splice(0);
      await tab.click("button", "Send");
      const question = await tab.find("alertdialog");
      if (id === "stopContainer") {
        match(
          await question.evaluate((each) => each.textContent),
          /^Stop a container\?POST \/api\/containers\/web\/stop/,
        );
      }
      await tab.click("button", "Cancel");
      await tab.gone("alertdialog");
      deepEqual(tab.requests, []);
    }
    await tab.click("button", "Send");
    await tab.click("button", "Stop");
    match(await answer(tab), /^200 /);
    deepEqual(tab.requests, ["POST /api/containers/web/stop"]);
  });

  await t.step("sends a body, and shows the problems that the service names", async () => {
    await openOperation(tab, "createWebhook");
    await tab.type("textbox", "JSON", '{"name": ""}');
    match(await textOf(tab, "#createWebhook .commands"), / -X POST .* -d '\{"name":""\}' /);
    tab.requests.splice(0);
    match(await send(tab), /^400 .*body\.name/s);
    deepEqual(tab.requests, ["POST /api/webhooks"]);
    await tab.refused(400);
  });

  await t.step("follows a stream until it is stopped", async () => {
    await openOperation(tab, "streamEvents");
    tab.requests.splice(0);
    await tab.click("button", "Send");
    await until("frames arrive", async () => (await answer(tab)).includes("event: metrics"));
    await tab.click("button", "Stop the request");
    await tab.gone("button", "Stop the request");
    deepEqual(tab.requests, ["GET /api/stream"]);
  });
  deepEqual(tab.complaints, []);
}

async function withSession(t: Deno.TestContext, service: Longshore): Promise<void> {
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);

  await t.step("the navigation leads there, and requests are sent with the session", async () => {
    await tab.go("/docs");
    await listed(tab);
    const link = await tab.find("link", "API");
    equal(await link.evaluate((each) => each.getAttribute("aria-current")), "page");
    await tab.page.setViewport(PHONE);
    await tab.fits(PHONE.width);
    await tab.page.setViewport(DESKTOP);
    await openOperation(tab, "listContainers");
    match(await send(tab), /^200 .*"name": "web"/s);
    await tab.find("button", "Use another account");
  });

  await t.step("it is accessible in both themes, on a desktop and on a phone", async () => {
    await tab.page.setViewport(PHONE);
    // Of all rows, which are the same, the check takes seconds.
    await search(tab, "stop container");
    await openOperation(tab, "stopContainer", "shown");
    await tab.checkAccessibility();
    await tab.page.setViewport(DESKTOP);
    await search(tab, "post STANDARD webhooks 410");
    await openOperation(tab, "createWebhook", "shown");
    await checkBothThemes(tab);
    await tab.type("searchbox", SEARCH, "");
  });

  await t.step("a user who signs out stays as a visitor", async () => {
    await tab.click("button", "Account menu");
    await tab.click("menuitem", "Sign out");
    await tab.find("button", "Sign in");
    await listed(tab);
  });
  deepEqual(tab.complaints, []);
}

long(dashboardTest)("UI=off leaves the page of the API, with nothing else", async () => {
  await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { UI: "off" },
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.tab(service);

  await tab.open("/");
  await listed(tab);
  equal(new URL(tab.page.url()).pathname, "/docs");
  await tab.openDialog("Sign in");
  await tab.type("textbox", "API key", service.apiKey);
  await tab.page.keyboard.press("Enter");
  await tab.find("button", "Sign out (admin)");
  await openOperation(tab, "getCurrentUser");
  match(await send(tab), /^200 .*"role": "admin"/s);

  deepEqual(
    await tab.page.$$eval("a", (links) =>
      links.map((link) => link.href.split("#")[0])
        .filter((href, at, all) => all.indexOf(href) === at)),
    [
      `${service.baseUrl}/docs`,
      `${service.baseUrl}/openapi.json`,
    ],
  );
  deepEqual(tab.complaints, []);
});
