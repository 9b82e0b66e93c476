/**
 * The dashboard in a real Chromium. Tests find its parts by role and accessible name, as assistive
 * technology does.
 *
 * @module
 */

import axe from "axe-core";
import { deepEqual } from "node:assert/strict";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { hasBrowser } from "./browser.ts";
import type { Longshore } from "./longshore.ts";
import { until } from "./until.ts";

export interface View {
  width: number;
  height: number;
}

export const DESKTOP: View = { width: 1280, height: 900 };
export const PHONE: View = { width: 390, height: 844 };

/** A tab with the dashboard. */
export interface Dashboard {
  page: Page;
  /** Brings it to the front; the others are then hidden. */
  show(): Promise<void>;
  /** Console messages, exceptions, failed requests and responses with a status from 400. */
  complaints: string[];
  /** Every request of the tab, e.g. `GET /api/stream`. */
  requests: string[];
  /** Opens a path of the dashboard and waits for its heading. */
  open(path: string): Promise<void>;
  /** Waits for a part. The name must be equal; a pattern matches a part of it. */
  find(role: string, name?: string | RegExp): Promise<ElementHandle<HTMLElement>>;
  /** Waits until there is no such part. */
  gone(role: string, name?: string | RegExp): Promise<void>;
  /** Clicks a part as soon as it is enabled, has stopped moving and is not covered. */
  click(role: string, name?: string | RegExp): Promise<void>;
  /** Replaces the text of a field. */
  type(role: string, name: string, text: string): Promise<void>;
  /** Chooses an item of a row's menu. */
  choose(row: string, item: string): Promise<void>;
  /** Names of the parts of a role, in the order of the document. */
  names(role: string): Promise<string[]>;
  /** Waits for a message about a success, which may have gone meanwhile. Each counts once. */
  status(text: string | RegExp): Promise<void>;
  /** Waits for a message about a failure; as above. */
  alert(text: string | RegExp): Promise<void>;
  theme(theme: "light" | "dark"): Promise<void>;
  /** Fails with what axe-core finds (WCAG 2.2 A and AA, and its best practices). */
  checkAccessibility(): Promise<void>;
}

export interface DashboardBrowser extends AsyncDisposable {
  browser: Browser;
  /** Opens a tab. Tabs of a browser share the session. */
  tab(service: Pick<Longshore, "baseUrl">, view?: View): Promise<Dashboard>;
  /** Opens a tab and signs in with the API key. */
  signIn(service: Pick<Longshore, "baseUrl" | "apiKey">, view?: View): Promise<Dashboard>;
}

/** Limit for each step, in milliseconds; reached only on failure. */
const WAIT_MS = 60_000;

/** Ignored where there is no browser, unless it is required. */
export function dashboardTest(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  const ignore = !hasBrowser() && Deno.env.get("LONGSHORE_REQUIRE_ENGINE") !== "1";
  Deno.test({ name, ignore, fn });
}

/**
 * Starts a browser without a window.
 *
 * @param flags More flags of the browser, e.g. to resolve the name of a host.
 */
export async function startDashboardBrowser(
  flags: readonly string[] = [],
): Promise<DashboardBrowser> {
  const browser = await puppeteer.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
      ...flags,
    ],
  });
  const tab: DashboardBrowser["tab"] = async ({ baseUrl }, view = DESKTOP) =>
    await openTab(await browser.newPage(), baseUrl, view);
  return {
    browser,
    tab,
    async signIn(service, view) {
      const dashboard = await tab(service, view);
      await dashboard.open("/sign-in");
      await dashboard.type("textbox", "API key", service.apiKey);
      await dashboard.click("button", "Sign in");
      await dashboard.find("heading", "Overview");
      // The one request that fails for a browser without a session.
      dashboard.complaints.length = 0;
      return dashboard;
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function openTab(page: Page, baseUrl: string, view: View): Promise<Dashboard> {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    requests.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.setViewport(view);
  await page.evaluateOnNewDocument(recordMessages);

  const dashboard: Dashboard = {
    page,
    show: () => page.bringToFront(),
    complaints,
    requests,
    async open(path) {
      await page.goto(new URL(path, baseUrl).href);
      await dashboard.find("heading");
    },
    find: (role, name) =>
      until(
        `${role} ${name ?? ""}`,
        async () => (await query(page, role, name))[0],
        { deadlineMs: WAIT_MS },
      ) as Promise<ElementHandle<HTMLElement>>,
    gone: (role, name) =>
      until(
        `no ${role} ${name ?? ""}`,
        async () => (await query(page, role, name)).length === 0,
        { deadlineMs: WAIT_MS },
      ).then(() => {}),
    click: (role, name) =>
      until(
        `${role} ${name ?? ""} can be clicked`,
        async () => {
          const [element] = await query(page, role, name);
          if (!element || !await element.evaluate(canBeClicked)) return false;
          await element.click();
          return true;
        },
        { deadlineMs: WAIT_MS },
      ).then(() => {}),
    async type(role, name, text) {
      const field = await dashboard.find(role, name);
      await field.evaluate((element) => (element as HTMLInputElement).select());
      await field.press("Backspace");
      await field.type(text);
    },
    async choose(row, item) {
      await dashboard.click("button", `Actions for ${row}`);
      await dashboard.click("menuitem", item);
    },
    async names(role) {
      return await Promise.all((await query(page, role)).map((each) => nameOf(each)));
    },
    status: (text) => message(page, "status", text),
    alert: (text) => message(page, "alert", text),
    async theme(theme) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.waitForFunction(`document.documentElement.dataset.theme === "${theme}"`);
    },
    async checkAccessibility() {
      const isLoaded = await page.evaluate("typeof axe === 'object'");
      if (!isLoaded) await page.evaluate(axe.source);
      const found = await page.evaluate(async () => {
        // A message that fades has less contrast.
        const animations = document.getAnimations()
          .filter(({ effect }) => Number.isFinite(effect!.getComputedTiming().endTime));
        await Promise.allSettled(animations.map(({ finished }) => finished));
        // deno-lint-ignore no-explicit-any
        const { violations } = await (globalThis as any).axe.run({
          preload: false,
          resultTypes: ["violations"],
        });
        // deno-lint-ignore no-explicit-any
        return violations.map(({ id, nodes }: any) => [
          id,
          // deno-lint-ignore no-explicit-any
          ...nodes.map((node: any) => `${node.html} ${node.failureSummary}`),
        ]);
      });
      deepEqual(found, []);
    },
  };
  return dashboard;
}

/** Runs in the page: messages of a success go after some seconds, which a busy test can miss. */
function recordMessages(): void {
  const shown: { role: string; text: string }[] = [];
  Object.assign(globalThis, { shownMessages: shown });
  new MutationObserver((records) => {
    for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(node instanceof Element)) continue;
      const parts = [node, ...node.querySelectorAll(".toast [role]")]
        .filter((each) => each.matches(".toast [role]"));
      for (const part of parts) {
        const role = part.getAttribute("role")!;
        shown.push({ role, text: part.getAttribute("aria-label") ?? "" });
      }
    }
  }).observe(document, { childList: true, subtree: true });
}

async function message(page: Page, role: string, text: string | RegExp): Promise<void> {
  const isWanted = (each: string) => typeof text === "string" ? each === text : text.test(each);
  await until(`${role} ${text}`, async () => {
    const shown = await page.evaluate(
      // deno-lint-ignore no-explicit-any
      () => (globalThis as any).shownMessages as { role: string; text: string }[],
    );
    const at = shown.findIndex((each) => each.role === role && isWanted(each.text));
    if (at >= 0) {
      // deno-lint-ignore no-explicit-any
      await page.evaluate((at) => (globalThis as any).shownMessages.splice(at, 1), at);
      return true;
    }
    return (await query(page, role, text)).length > 0;
  }, { deadlineMs: WAIT_MS });
}

/** Runs in the page. */
async function canBeClicked(element: Element): Promise<boolean> {
  if (element.matches(":disabled, [aria-disabled=true]")) return false;
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const place = () => element.getBoundingClientRect();
  const before = place();
  // A tab in the background has no frames.
  await new Promise((resolve) => {
    requestAnimationFrame(resolve);
    setTimeout(resolve, 100);
  });
  const after = place();
  if (before.x !== after.x || before.y !== after.y || after.width === 0) return false;
  const hit = document.elementFromPoint(
    after.x + after.width / 2,
    after.y + after.height / 2,
  );
  return hit !== null && (element.contains(hit) || hit.contains(element));
}

/** Chromium's own names of some roles. */
const CHROMIUM_ROLES: Record<string, string> = { img: "image" };

/** Roles whose text is not their accessible name. */
const NAMELESS = ["alert", "status"];

async function query(
  page: Page,
  role: string,
  name?: string | RegExp,
): Promise<ElementHandle[]> {
  const shown = CHROMIUM_ROLES[role] ?? role;
  const isNamed = typeof name === "string" && !NAMELESS.includes(role);
  const exact = isNamed ? `[name="${name.replaceAll('"', '\\"')}"]` : "";
  const found = await page.$$(`::-p-aria(${exact}[role="${shown}"])`);
  if (name === undefined || isNamed) return found;
  const names = await Promise.all(found.map((each) => nameOf(each)));
  return found.filter((_, at) =>
    typeof name === "string" ? name === names[at] : name.test(names[at]!)
  );
}

/** The name from its label, or else its text. Exact names are compared by the browser itself. */
const nameOf = (element: ElementHandle): Promise<string> =>
  element.evaluate((each) => {
    const labelId = each.getAttribute("aria-labelledby");
    const label = labelId !== null && document.getElementById(labelId);
    const name = each.getAttribute("aria-label") ??
      (label || each.querySelector(":scope > legend") || each).textContent;
    return name.trim();
  });
