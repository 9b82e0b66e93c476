/**
 * The dashboard in a real Chromium. Tests find its parts by role and accessible name, as assistive
 * technology does.
 *
 * @module
 */

import axe from "axe-core";
import { deepEqual, equal } from "node:assert/strict";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { hasBrowser } from "./browser.ts";
import type { Longshore } from "./longshore.ts";
import { eventually, until } from "./until.ts";

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
  /** Those of its requests that change something; the session refreshes itself. */
  changes(): string[];
  /** Opens a path of the dashboard and waits for its heading. */
  open(path: string): Promise<void>;
  /** Waits until nothing of the page is being read for the first time. */
  loaded(): Promise<void>;
  /** Waits for a part. The name must be equal; a pattern matches a part of it. */
  find(role: string, name?: string | RegExp): Promise<ElementHandle<HTMLElement>>;
  /** Waits until the part is gone. */
  gone(role: string, name?: string | RegExp): Promise<void>;
  /** Clicks a part as soon as it is enabled, has stopped moving and is not covered. */
  click(role: string, name?: string | RegExp): Promise<void>;
  /** The same by a CSS selector, for parts whose name is not unique. */
  clickAt(selector: string): Promise<void>;
  /** Replaces the text of a field. */
  type(role: string, name: string, text: string): Promise<void>;
  /** Chooses an option by its value, as soon as the field has it. */
  select(selector: string, value: string): Promise<void>;
  /** Chooses an item of a row's menu. */
  choose(row: string, item: string): Promise<void>;
  /** Names of the parts of a role, in the order of the document. */
  names(role: string): Promise<string[]>;
  /** Waits until a field is marked as invalid. */
  invalid(role: string, name: string): Promise<void>;
  /**
   * Waits for a message about a success, which may have gone meanwhile, or a text of the role
   * `status`. A message counts once, and only if it came after the last click.
   */
  status(text: string | RegExp): Promise<void>;
  /** Waits for a message about a failure; as above. */
  alert(text: string | RegExp): Promise<void>;
  /** Waits until the browser has reported the one request that was refused, and forgets it. */
  refused(status?: number): Promise<void>;
  theme(theme: "light" | "dark"): Promise<void>;
  /** Waits until the page is as wide as the window, and nothing is cut off. */
  fits(width: number): Promise<void>;
  /** Fails with what axe-core still finds (WCAG 2.2 A and AA, and its best practices). */
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
const WAIT_MS = 120_000;

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
    timeout: WAIT_MS,
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
      // A browser without a session.
      await dashboard.refused(401);
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
  page.setDefaultTimeout(WAIT_MS);
  await page.setViewport(view);
  await page.evaluateOnNewDocument(recordMessages);
  const throttling = Number(Deno.env.get("LONGSHORE_SLOW_BROWSER") ?? 1);
  if (throttling > 1) await page.emulateCPUThrottling(throttling);

  const dashboard: Dashboard = {
    page,
    show: () => page.bringToFront(),
    complaints,
    requests,
    async open(path) {
      await page.goto(new URL(path, baseUrl).href);
      await dashboard.find("heading");
    },
    loaded: async () => {
      await dashboard.find("status", "Connection");
      await until(
        "the page is loaded",
        () => page.evaluate(() => !document.querySelector("[aria-busy=true]")),
      );
    },
    changes: () =>
      requests.filter((each) => !each.startsWith("GET ") && !each.endsWith("/session/refresh")),
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
        async () => await tryToClick((await query(page, role, name))[0]),
        { deadlineMs: WAIT_MS },
      ).then(() => {}),
    clickAt: (selector) =>
      until(
        `${selector} can be clicked`,
        async () => await tryToClick(await page.$(selector)),
        { deadlineMs: WAIT_MS },
      ).then(() => {}),
    type: (role, name, text) =>
      until(`${role} ${name} has the text ${text}`, async () => {
        const [element] = await query(page, role, name);
        if (!element || await element.evaluate((each) => each.matches(":disabled"))) return false;
        const field = element as ElementHandle<HTMLInputElement>;
        await field.evaluate((each) => each.select());
        await field.press("Backspace");
        await field.type(text);
        // It may have been rendered again meanwhile.
        return await field.evaluate((each, text) => each.isConnected && each.value === text, text);
      }, { deadlineMs: WAIT_MS }).then(() => {}),
    select: (selector, value) =>
      until(`${selector} has ${value}`, async () => {
        const field = await page.$(`${selector}:enabled`);
        const hasOption = await field?.evaluate(
          (each, value) => [...(each as HTMLSelectElement).options].some((o) => o.value === value),
          value,
        );
        return hasOption === true && (await field!.select(value)).includes(value);
      }, { deadlineMs: WAIT_MS }).then(() => {}),
    choose: (row, item) =>
      until(`${item} of ${row} can be chosen`, async () => {
        const [button] = await query(page, "button", `Actions for ${row}`);
        const isOpen = await button?.evaluate((each) =>
          document.getElementById(each.getAttribute("aria-controls")!)?.matches(":popover-open")
        );
        if (isOpen) return await tryToClick((await query(page, "menuitem", item))[0]);
        await tryToClick(button);
        return false;
      }, { deadlineMs: WAIT_MS }).then(() => {}),
    async names(role) {
      return await Promise.all((await query(page, role)).map((each) => nameOf(each)));
    },
    invalid: (role, name) =>
      until(`${role} ${name} is invalid`, async () => {
        const [field] = await query(page, role, name);
        return await field?.evaluate((each) => each.getAttribute("aria-invalid") === "true");
      }, { deadlineMs: WAIT_MS }).then(() => {}),
    status: (text) => message(page, "status", text),
    alert: (text) => message(page, "alert", text),
    async refused(status = 400) {
      // The response, and the browser's own message about it.
      for (const form of [new RegExp(`^${status} `), new RegExp(`status of ${status} `)]) {
        const at = await until(`a complaint like ${form}`, () => {
          const at = complaints.findIndex((each) => form.test(each));
          return at >= 0 && { at };
        }, { deadlineMs: WAIT_MS });
        complaints.splice(at.at, 1);
      }
    },
    fits: (width) =>
      eventually(async () =>
        equal(await page.evaluate(() => document.documentElement.scrollWidth), width, page.url())
      ),
    async theme(theme) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.waitForFunction(`document.documentElement.dataset.theme === "${theme}"`);
    },
    // What is found while something fades or is loaded does not stay.
    checkAccessibility: () => eventually(async () => deepEqual(await violationsOf(page), [])),
  };
  return dashboard;
}

/** What axe-core finds, by rule. */
async function violationsOf(page: Page): Promise<string[][]> {
  if (!await page.evaluate("typeof axe === 'object'")) await page.evaluate(axe.source);
  return await page.evaluate(async () => {
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
}

/** The messages of a tab since its last click that no test has asked for. */
interface ShownMessage {
  role: string;
  text: string;
}

/** Runs in the page: messages of a success go after some seconds, which a busy test can miss. */
function recordMessages(): void {
  const shown: ShownMessage[] = [];
  const seen = new Set<string>();
  Object.assign(globalThis, { shownMessages: shown });
  new MutationObserver(() => {
    // A dialog that opens or closes shows the same messages again.
    for (const each of document.querySelectorAll<HTMLElement>(".toast [role]")) {
      const id = each.dataset.message!;
      if (seen.has(id)) continue;
      seen.add(id);
      shown.push({ role: each.getAttribute("role")!, text: each.getAttribute("aria-label")! });
    }
  }).observe(document, { childList: true, subtree: true });
}

async function message(page: Page, role: string, text: string | RegExp): Promise<void> {
  const isWanted = (each: string) => typeof text === "string" ? each === text : text.test(each);
  await until(`${role} ${text}`, async () => {
    const shown = await page.evaluate(
      // deno-lint-ignore no-explicit-any
      () => (globalThis as any).shownMessages as ShownMessage[],
    );
    const at = shown.findIndex((each) => each.role === role && isWanted(each.text));
    if (at >= 0) {
      // deno-lint-ignore no-explicit-any
      await page.evaluate((at) => (globalThis as any).shownMessages.splice(at, 1), at);
      return true;
    }
    const found = await query(page, role, text);
    const isPart = await Promise.all(
      found.map((each) => each.evaluate((element) => !element.matches(".toast *"))),
    );
    return isPart.includes(true);
  }, { deadlineMs: WAIT_MS });
}

/** Clicks an element if it can be clicked now. @returns Whether the click has reached it. */
async function tryToClick(element: ElementHandle | null | undefined): Promise<boolean> {
  if (!element || !await element.evaluate(canBeClicked)) return false;
  const guard = await element.evaluateHandle(guardClick);
  let isDone = false;
  try {
    await element.click();
    isDone = true;
    return await guard.evaluate((each) => each.end());
  } catch (error) {
    if (!isDone) await guard.evaluate((each) => each.end());
    // The click has left the document.
    if (isDone) return true;
    throw error;
  }
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
  return before.x === after.x && before.y === after.y && after.width > 0;
}

/** Runs in the page: keeps a click from whatever else is in its place by the time it arrives. */
function guardClick(element: Element): { end(): boolean } {
  // deno-lint-ignore no-explicit-any
  (globalThis as any).shownMessages.length = 0;
  const types = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
  let isHit = false;
  const guard = (event: Event) => {
    const path = event.composedPath();
    if (path.includes(element)) {
      isHit ||= event.type === "click";
      return;
    }
    const label = (path[0] as Element).closest?.("label");
    if (label?.control === element) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const type of types) addEventListener(type, guard, true);
  return {
    end() {
      for (const type of types) removeEventListener(type, guard, true);
      return isHit;
    },
  };
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
