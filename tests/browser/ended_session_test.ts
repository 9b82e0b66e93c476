/// <reference lib="dom" />
/** A session that ends under an open page: its text stays, and everything goes on. @module */

import { deepEqual, equal } from "node:assert/strict";
import {
  type Dashboard,
  dashboardTest,
  DESKTOP,
  PHONE,
  startDashboardBrowser,
} from "../helpers/dashboard.ts";
import { endSession } from "../helpers/dashboard_steps.ts";
import { composeLabels, simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { eventually, until } from "../helpers/until.ts";

const ADA = { email: "ada@example.com", password: "correct horse battery staple" };
const GRACE = { email: "grace@example.com", password: "violet tractor under moons" };

const STORED = "services: {web: {image: stored}}";
const TYPED = "services: {web: {image: typed}}";

long(dashboardTest)(
  "a page goes on after its session has ended and its user signs in again",
  async (t) => {
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
    const tab = await browser.signIn(service, DESKTOP, { as: ADA, path: "/stacks/shop/source" });
    const { page } = tab;

    await t.step("by keyboard alone, with the text and the focus where they were", async () => {
      await replaceText(tab, TYPED);
      await endSession(tab);
      await tab.find("dialog", "Sign in again");
      await tab.checkAccessibility();
      await page.keyboard.press("Escape");
      const seen = new Set<string>();
      for (let presses = 0; presses < 8; presses++) {
        await page.keyboard.press("Tab");
        seen.add(
          await page.evaluate(() =>
            document.activeElement!.closest("dialog")?.getAttribute("aria-labelledby") ??
              document.activeElement!.tagName
          ),
        );
      }
      // Between the last part and the first one, browsers offer their own.
      deepEqual([...seen].filter((each) => each !== "BODY").length, 1, [...seen].join());
      await signInByKeyboard(tab, ADA);
      await hasText(tab, TYPED);
      equal(new URL(page.url()).pathname, "/stacks/shop/source");
      const editor = await tab.find("textbox", "Compose file");
      await until(
        "it has the focus",
        () => editor.evaluate((each) => (each.getRootNode() as ShadowRoot).activeElement === each),
      );
    });

    await t.step("what was typed is saved with a second press", async () => {
      await endSession(tab);
      await signInByKeyboard(tab, ADA);
      await tab.press("Save", "Saved version 2 of shop");
    });

    await t.step("a request that changes something is not sent again, a read is", async () => {
      await replaceText(tab, STORED);
      await endSession(tab);
      await page.evaluate(() =>
        [...document.querySelectorAll("button")].find((each) => each.textContent === "Save")!
          .click()
      );
      await tab.alert("Your session had ended, so nothing was changed; try again");
      await signInByKeyboard(tab, ADA);
      await hasText(tab, STORED);
      await tab.press("Save", "Saved version 3 of shop");
      await tab.go("/account");
      await endSession(tab);
      await followLink(tab, "/networks");
      tab.requests.length = 0;
      await signInByKeyboard(tab, ADA);
      await tab.find("heading", "Networks");
      await until("they are read", () => tab.requests.includes("GET /api/networks"));
      await tab.loaded();
    });

    await t.step("a dialog keeps its secrets, and the stream goes on", async () => {
      await tab.go("/notifications");
      await tab.openDialog("New channel");
      await tab.select("select[name=kind]", "ntfy");
      await tab.fill({ Name: "Phone", Topic: "alerts", "Access token": "tk_1" });
      await endSession(tab);
      await page.setViewport(PHONE);
      await tab.fits(PHONE.width);
      for (const theme of ["light", "dark"] as const) {
        await tab.theme(theme);
        await tab.checkAccessibility(["color-contrast"]);
      }
      await page.setViewport(DESKTOP);
      await signInByKeyboard(tab, ADA);
      await tab.find("dialog", "New channel");
      const values = await page.$$eval(
        "dialog input",
        (inputs) => inputs.map(({ value }) => value),
      );
      deepEqual(values.filter((each) => ["Phone", "alerts", "tk_1"].includes(each)).length, 3);
      await tab.click("button", "Cancel");
      await eventually(async () =>
        equal(
          await page.$eval('[aria-label="Connection"]', (each) => each.textContent!.trim()),
          "Live",
        )
      );
    });

    await t.step("another tab that signs in is enough", async () => {
      const other = await browser.tab(service);
      await other.open("/account");
      await endSession(other);
      await tab.show();
      await followLink(tab, "/volumes");
      await tab.find("dialog", "Sign in again");
      await other.show();
      await signInByKeyboard(other, ADA);
      await tab.show();
      await tab.gone("dialog");
      await tab.find("heading", "Volumes");
      await other.page.close();
    });

    await t.step("another user gets the page from the start", async () => {
      await openSource(tab);
      await replaceText(tab, TYPED);
      await endSession(tab);
      await signInByKeyboard(tab, GRACE);
      await hasText(tab, STORED);
    });

    await t.step("leaving the page drops the text", async () => {
      await replaceText(tab, TYPED);
      await endSession(tab);
      await tab.click("button", "Leave this page");
      await tab.find("heading", "Sign in");
      await tab.type("textbox", "Email", GRACE.email);
      await tab.type("textbox", "Password", GRACE.password);
      await tab.click("button", "Sign in");
      await hasText(tab, STORED);
    });
  },
);

/** Signs in with the keys alone; the focus is in the field of the address. */
async function signInByKeyboard(
  { page, find, gone }: Dashboard,
  { email, password }: typeof ADA,
): Promise<void> {
  await find("dialog", "Sign in again");
  const label = () =>
    page.evaluate(() =>
      (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent
    );
  await until("the focus is in the address", async () => {
    if (await label() === "Email") return true;
    await page.keyboard.press("Tab");
    return await label() === "Email";
  });
  await page.keyboard.type(email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await gone("dialog", "Sign in again");
}

async function followLink(tab: Dashboard, path: string): Promise<void> {
  await tab.page.evaluate((path) => {
    const link = Object.assign(document.createElement("a"), { href: path });
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
}

async function openSource(tab: Dashboard): Promise<void> {
  await followLink(tab, "/stacks/shop/source");
  await tab.find("textbox", "Compose file");
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
