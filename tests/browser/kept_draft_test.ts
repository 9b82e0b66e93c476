/**
 * Entries in the editor of a stack or in a dialog, after the session has ended. The engine is
 * simulated.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import {
  type Dashboard,
  dashboardTest,
  DESKTOP,
  startDashboardBrowser,
} from "../helpers/dashboard.ts";
import { composeLabels, simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { eventually, until } from "../helpers/until.ts";

const ADA = { email: "ada@example.com", password: "correct horse battery staple" };
const GRACE = { email: "grace@example.com", password: "violet tractor under moons" };

const STORED = "services: {web: {image: stored}}";
const TYPED = "services: {web: {image: typed}}";

dashboardTest("an unsaved draft is there again after the same user has signed in", async (t) => {
  await using engine = fakeEngine(simulateContainers([
    { name: "web" },
    { name: "pier-web-1", labels: composeLabels("pier", "web") },
  ]));
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { AUTH_MODE: "users", ADMIN_EMAIL: ADA.email, ADMIN_PASSWORD: ADA.password },
  });
  const login = await service.call("POST", "/auth/login", ADA, { token: null });
  const token = login.body.accessToken;
  const create = async (path: string, body: unknown) => {
    const { status, body: answer } = await service.call("POST", path, body, { token });
    equal(status, 201, JSON.stringify(answer));
  };
  await create("/auth/users", { ...GRACE, role: "admin" });
  await create("/api/stacks", { name: "shop", kind: "compose", compose: STORED, deploy: false });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, DESKTOP, { as: ADA, path: "/stacks/new" });

  await t.step("a new stack", async () => {
    await tab.type("textbox", "Name", "harbor");
    await replaceText(tab, TYPED);
    await endSession(tab);
    await signIn(tab, ADA);
    await hasText(tab, TYPED);
    const name = await tab.find("textbox", "Name");
    equal(await name.evaluate((field) => (field as HTMLInputElement).value), "harbor");
  });

  await t.step("changes of a stored stack", async () => {
    await openSource(tab);
    await tab.click("textbox", "Compose file");
    await tab.page.keyboard.sendCharacter("#\n".repeat(200));
    await tab.checkAccessibility(["scrollable-region-focusable"]);
    await replaceText(tab, TYPED);
    await endSession(tab);
    await signIn(tab, ADA);
    await hasText(tab, TYPED);
    await tab.click("button", "Save");
    await tab.status("Saved version 2 of shop");
  });

  await t.step("a stack that is being adopted", async () => {
    await tab.open("/stacks/pier/source?from=text");
    await replaceText(tab, TYPED);
    await endSession(tab);
    await signIn(tab, ADA);
    await hasText(tab, TYPED);
    await tab.click("radio", "Generated from the containers");
    await tab.click("radio", "Your own text");
    await hasText(tab, TYPED);
    await openSource(tab);
  });

  await t.step("a dialog, without its secrets and once", async () => {
    await tab.go("/notifications");
    await tab.openDialog("New channel");
    await tab.select("select[name=kind]", "ntfy");
    await tab.fill({ Name: "Phone", Topic: "alerts", "Access token": "tk_1" });
    await tab.clickAt("input[name=events]");
    await endSession(tab);
    await signIn(tab, ADA);
    await tab.openDialog("New channel");
    await tab.find("textbox", "Topic");
    deepEqual(await enteredIn(tab), {
      kind: "ntfy",
      name: "Phone",
      "config.topic": "alerts",
      "config.token": "",
      events: false,
    });
    await tab.click("button", "Cancel");
    await tab.openDialog("New channel");
    equal((await enteredIn(tab)).name, "");
    await tab.click("button", "Cancel");
    await openSource(tab);
  });

  await t.step("another user gets the stored text, and the draft is deleted", async () => {
    await replaceText(tab, STORED);
    await endSession(tab);
    await signIn(tab, GRACE);
    await hasText(tab, TYPED);
    await endSession(tab);
    await signIn(tab, ADA);
    await hasText(tab, TYPED);
  });

  await t.step("signing out deletes a draft", async () => {
    await replaceText(tab, STORED);
    await tab.click("button", "Account menu");
    await tab.click("menuitem", "Sign out");
    await tab.find("heading", "Sign in");
    await signIn(tab, ADA);
    await openSource(tab);
    await hasText(tab, TYPED);
  });
});

/** Leaves the page as it is, if something is unsaved. */
async function openSource(tab: Dashboard): Promise<void> {
  await tab.page.evaluate(() => {
    const link = Object.assign(document.createElement("a"), { href: "/stacks/shop/source" });
    document.body.append(link);
    link.click();
    link.remove();
  });
  await until("the source is open", async () => {
    if ((await tab.names("alertdialog")).length > 0) await tab.click("button", "Discard");
    return (await tab.names("heading")).includes("shop");
  });
}

/** The values of some fields of the open dialog, and whether its first event is checked. */
const enteredIn = (tab: Dashboard): Promise<Record<string, string | boolean>> =>
  tab.page.$eval("dialog form", (form) => {
    const fields = (form as HTMLFormElement).elements;
    const names = ["kind", "name", "config.topic", "config.token"];
    const values = names.flatMap((name) => {
      const field = fields.namedItem(name) as HTMLInputElement | null;
      return field ? [[name, field.value]] : [];
    });
    const event = form.querySelector<HTMLInputElement>("[name=events]")!;
    return { ...Object.fromEntries(values), events: event.checked };
  });

/** Ends the session as a revocation does. */
async function endSession(tab: Dashboard): Promise<void> {
  await tab.page.evaluate(async () => {
    await fetch("/auth/session", {
      method: "DELETE",
      headers: {
        "x-requested-with": "longshore",
        "x-page-secret": localStorage.getItem("longshore-page-secret")!,
      },
    });
  });
  await tab.find("heading", "Sign in");
  await tab.alert("Your session has ended");
  await eventually(() => equal(new URL(tab.page.url()).pathname, "/sign-in"));
}

async function signIn(tab: Dashboard, user: { email: string; password: string }): Promise<void> {
  await tab.type("textbox", "Email", user.email);
  await tab.type("textbox", "Password", user.password);
  await tab.click("button", "Sign in");
  await tab.gone("heading", "Sign in");
}

async function replaceText(tab: Dashboard, text: string): Promise<void> {
  const { keyboard } = tab.page;
  await tab.click("textbox", "Compose file");
  await keyboard.down("Control");
  await keyboard.press("a");
  await keyboard.up("Control");
  await keyboard.sendCharacter(text);
  await hasText(tab, text);
}

const hasText = (tab: Dashboard, text: string) =>
  until(`the text ${text}`, async () => {
    const editor = await tab.find("textbox", "Compose file");
    return await editor.evaluate((each) => each.textContent) === text;
  });
