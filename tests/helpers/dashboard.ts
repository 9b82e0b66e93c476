/// <reference lib="dom" />

/**
 * The dashboard in a real Chromium. Tests find its parts by role and accessible name, as assistive
 * technology does.
 *
 * @module
 */

// Neither the whole text nor the module: a page reads it, and this process need not run it.
import axe from "axe-core/axe.min.js" with { type: "text" };
import { deepEqual, equal } from "node:assert/strict";
import type { BrowserContext, CDPSession, CookieData, ElementHandle, Page } from "puppeteer-core";
import { buildDashboard } from "../../deploy/build/ui.ts";
import { type BrowserNeeds, browserTest, openContext, WAIT_MS } from "./browser.ts";
import { OWN_PAGE, pageSecret } from "./browser_session.ts";
import type { Longshore } from "./longshore.ts";
import { EXECUTABLE } from "./program.ts";
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
  /** Brings it to the front; the others are then hidden, if the browser has a window. */
  show(): Promise<void>;
  /** Console messages, exceptions, failed requests and responses with a status from 400. */
  complaints: string[];
  /** Every request of the tab, e.g. `GET /api/stream`. */
  requests: string[];
  /** Those of its requests that change something; the session refreshes itself. */
  changes(): string[];
  /** Loads a path of the dashboard and waits for its heading. */
  open(path: string): Promise<void>;
  /** Follows a link to another page, which is much faster, and waits for its other heading. */
  go(path: string): Promise<void>;
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
  /** Waits for a message about a failure, as above, or at a field: `Name of the field: message`. */
  alert(text: string | RegExp): Promise<void>;
  /** Waits until the browser has reported the one request that was refused, and forgets it. */
  refused(status?: number): Promise<void>;
  /** Clicks a button, and waits for the message about its success. */
  press(button: string, status: string | RegExp): Promise<void>;
  /** Clicks a button whose request is refused with a message. */
  pressRefused(button: string, alert: string | RegExp, status?: number): Promise<void>;
  /** Clicks a button that opens the dialog of the same name. */
  openDialog(name: string): Promise<void>;
  /** Types into text boxes, by their names. */
  fill(texts: Record<string, string>): Promise<void>;
  theme(theme: "light" | "dark"): Promise<void>;
  /** Saves what the page downloads in this folder. */
  downloadTo(folder: string): Promise<void>;
  /** Waits until the page is as wide as the window, and nothing is cut off. */
  fits(width: number): Promise<void>;
  /**
   * Fails with what axe-core still finds (WCAG 2.2 A and AA, and its best practices).
   *
   * @param rules Default: all.
   */
  checkAccessibility(rules?: readonly string[]): Promise<void>;
}

export interface DashboardBrowser extends AsyncDisposable {
  context: BrowserContext;
  /** Opens a tab. Tabs of a browser share the session. */
  tab(service: Pick<Longshore, "baseUrl">, view?: View): Promise<Dashboard>;
  /**
   * Opens a tab that has a session, without the page for it.
   *
   * @param options.path The page to open; default: the overview.
   * @param options.as Default: with the API key.
   */
  signIn(
    service: Pick<Longshore, "baseUrl" | "apiKey">,
    view?: View,
    options?: { path?: string; as?: { email: string; password: string } },
  ): Promise<Dashboard>;
  /** The same browser without what the others store: cookies, session and settings. */
  separate(): Promise<DashboardBrowser>;
}

export { browserTest as dashboardTest };

/**
 * Opens a browser without a window. What a test changes in it (cookies, session, settings) no other
 * test sees; steps of one test get a part of their own by `separate()`.
 */
export async function startDashboardBrowser(needs?: BrowserNeeds): Promise<DashboardBrowser> {
  // `deno task test` has built it; other ways to run a test have not.
  if (EXECUTABLE === undefined) await buildDashboard();
  const { context, close } = await openContext(needs);
  return dashboardsOf(context, close);
}

function dashboardsOf(context: BrowserContext, close: () => Promise<void>): DashboardBrowser {
  const tab: DashboardBrowser["tab"] = async ({ baseUrl }, view = DESKTOP) =>
    await openTab(await context.newPage(), baseUrl, view);
  return {
    context,
    tab,
    async signIn(service, view, { path = "/", as: body = { apiKey: service.apiKey } } = {}) {
      const dashboard = await tab(service, view);
      const { page } = dashboard;
      const secret = pageSecret();
      const userAgent = await context.browser().userAgent();
      await context.setCookie(await startSession(service, body, userAgent, secret));
      const script = await page.evaluateOnNewDocument(
        (secret) => localStorage.setItem("longshore-page-secret", secret),
        secret,
      );
      await dashboard.open(path);
      await page.removeScriptToEvaluateOnNewDocument(script.identifier);
      return dashboard;
    },
    async separate() {
      const own = await context.browser().createBrowserContext();
      return dashboardsOf(own, () => own.close());
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Signs in. @returns The session's cookie. */
async function startSession(
  { baseUrl }: Pick<Longshore, "baseUrl">,
  body: unknown,
  userAgent: string,
  secret: string,
): Promise<CookieData> {
  const response = await fetch(new URL("/auth/session", baseUrl), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": userAgent,
      ...OWN_PAGE,
      "x-page-secret": secret,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  equal(response.status, 200, text);
  const cookie = response.headers.getSetCookie()[0]!;
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
  return {
    ...{ name: name!, value: value!, domain: new URL(baseUrl).hostname },
    ...{ path: /path=([^;]*)/i.exec(cookie)![1]!, httpOnly: true, sameSite: "Strict" },
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
  await page.evaluateOnNewDocument(countChanges);
  const throttling = Number(Deno.env.get("LONGSHORE_SLOW_BROWSER") ?? 1);
  if (throttling > 1) await page.emulateCPUThrottling(throttling);
  const session = await page.createCDPSession();
  const query = patientQuery(page, (role, name) => findParts(page, session, role, name));

  const dashboard: Dashboard = {
    page,
    show: () => page.bringToFront(),
    complaints,
    requests,
    async open(path) {
      await page.goto(new URL(path, baseUrl).href);
      await dashboard.find("heading");
    },
    async go(path) {
      const { href } = new URL(path, baseUrl);
      if (page.url() === href) return;
      const before = await page.evaluateHandle(followLink, href);
      await until(
        `${path} is open`,
        () =>
          before.evaluate(({ heading, text }) => {
            const now = document.querySelector("main h1");
            return now !== null && (now !== heading || now.textContent !== text);
          }),
      );
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
        async () => (await query(role, name))[0],
      ) as Promise<ElementHandle<HTMLElement>>,
    gone: (role, name) =>
      until(
        `no ${role} ${name ?? ""}`,
        async () => (await query(role, name)).length === 0,
      ).then(() => {}),
    click: (role, name) =>
      until(
        `${role} ${name ?? ""} can be clicked`,
        async () => await tryToClick(page, (await query(role, name))[0]),
      ).then(() => {}),
    clickAt: (selector) =>
      until(
        `${selector} can be clicked`,
        async () => await tryToClick(page, await page.$(selector)),
      ).then(() => {}),
    type: (role, name, text) =>
      until(`${role} ${name} has the text ${text}`, async () => {
        const [field] = await query(role, name) as ElementHandle<HTMLInputElement>[];
        if (!await field?.evaluate(selectText)) return false;
        if (text === "") await page.keyboard.press("Backspace");
        else await page.keyboard.sendCharacter(text);
        // It may have been rendered again meanwhile.
        return await field!.evaluate((each, text) => each.isConnected && each.value === text, text);
      }).then(() => {}),
    select: (selector, value) =>
      until(`${selector} has ${value}`, async () => {
        const field = await page.$(`${selector}:enabled`);
        const hasOption = await field?.evaluate(
          (each, value) => [...(each as HTMLSelectElement).options].some((o) => o.value === value),
          value,
        );
        return hasOption === true && (await field!.select(value)).includes(value);
      }).then(() => {}),
    choose: (row, item) =>
      until(`${item} of ${row} can be chosen`, async () => {
        const [button] = await query("button", `Actions for ${row}`);
        const isOpen = await button?.evaluate((each) =>
          document.getElementById(each.getAttribute("aria-controls")!)?.matches(":popover-open")
        );
        if (isOpen) return await tryToClick(page, (await query("menuitem", item))[0]);
        await tryToClick(page, button);
        return false;
      }).then(() => {}),
    names: async (role) => await namesOf(page, await query(role)),
    invalid: (role, name) =>
      until(`${role} ${name} is invalid`, async () => {
        const [field] = await query(role, name);
        return await field?.evaluate((each) => each.getAttribute("aria-invalid") === "true");
      }).then(() => {}),
    status: (text) => message(page, query, "status", text),
    alert: (text) => message(page, query, "alert", text),
    async refused(status = 400) {
      // The response, and the browser's own message about it.
      for (const form of [new RegExp(`^${status} `), new RegExp(`status of ${status} `)]) {
        const at = await until(`a complaint like ${form}`, () => {
          const at = complaints.findIndex((each) => form.test(each));
          return at >= 0 && { at };
        });
        complaints.splice(at.at, 1);
      }
    },
    async press(button, status) {
      await dashboard.click("button", button);
      await dashboard.status(status);
    },
    async pressRefused(button, alert, status) {
      await dashboard.click("button", button);
      await dashboard.alert(alert);
      await dashboard.refused(status);
    },
    async openDialog(name) {
      await dashboard.click("button", name);
      await dashboard.find("dialog", name);
    },
    async fill(texts) {
      for (const [name, text] of Object.entries(texts)) await dashboard.type("textbox", name, text);
    },
    fits: (width) =>
      eventually(async () =>
        equal(await page.evaluate(() => document.documentElement.scrollWidth), width, page.url())
      ),
    async downloadTo(folder) {
      const { id } = page.browserContext();
      await session.send("Browser.setDownloadBehavior", {
        behavior: "allow",
        downloadPath: folder,
        ...(id !== undefined && { browserContextId: id }),
      });
    },
    async theme(theme) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.waitForFunction(`document.documentElement.dataset.theme === "${theme}"`);
    },
    // Findings while something fades or is loaded do not stay.
    checkAccessibility: (rules) =>
      eventually(async () => deepEqual(await violationsOf(page, rules), [])),
  };
  return dashboard;
}

/** Findings of axe-core, by rule. */
async function violationsOf(page: Page, rules?: readonly string[]): Promise<string[][]> {
  if (!await page.evaluate("typeof axe === 'object'")) await page.evaluate(axe);
  return await page.evaluate(async (rules) => {
    // A message that fades has less contrast.
    const animations = document.getAnimations()
      .filter(({ effect }) => Number.isFinite(effect!.getComputedTiming().endTime));
    await Promise.allSettled(animations.map(({ finished }) => finished));
    // The page behind a modal dialog is inert, and has been checked without it.
    const part = document.querySelector("dialog:modal") ?? document;
    // deno-lint-ignore no-explicit-any
    const { violations } = await (globalThis as any).axe.run(part, {
      preload: false,
      resultTypes: ["violations"],
      ...(rules && { runOnly: rules }),
    });
    // deno-lint-ignore no-explicit-any
    return violations.map(({ id, nodes }: any) => [
      id,
      // deno-lint-ignore no-explicit-any
      ...nodes.map((node: any) => `${node.html} ${node.failureSummary}`),
    ]);
  }, rules);
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

/**
 * Runs in the page: counts what may add a part to it or take one from it, apart from the inside of
 * shadow roots.
 */
function countChanges(): void {
  let count = 0;
  const increase = () => void count++;
  new MutationObserver(increase).observe(document, {
    ...{ attributes: true, characterData: true, childList: true, subtree: true },
  });
  for (const type of ["toggle", "load", "animationend", "transitionend"]) {
    addEventListener(type, increase, true);
  }
  addEventListener("resize", increase);
  Object.assign(globalThis, { pageState: () => `${performance.timeOrigin} ${count}` });
}

/** After this time a part is searched for again, though the page seems to be the same. */
const SAME_MAX_MS = 1_000;

/** A query that does not repeat a search without result while the page is the same. */
function patientQuery(page: Page, query: Query): Query {
  let missed: { wanted: string; state: unknown; at: number } | undefined;
  return async (role, name) => {
    const wanted = `${role} ${name}`;
    // deno-lint-ignore no-explicit-any
    const state = await page.evaluate(() => (globalThis as any).pageState?.());
    const isSame = missed?.wanted === wanted && missed.state === state &&
      performance.now() - missed.at < SAME_MAX_MS;
    if (isSame) return [];
    const at = performance.now();
    const found = await query(role, name);
    missed = found.length === 0 ? { wanted, state, at } : undefined;
    return found;
  };
}

/** The problems at the fields of forms, with their names. */
const problemsOf = (page: Page): Promise<string[]> =>
  page.$$eval(
    ".field > .problem",
    (problems) =>
      problems.map((problem) =>
        `${problem.parentElement!.firstElementChild!.textContent}: ${problem.textContent}`
      ),
  );

async function message(
  page: Page,
  query: Query,
  role: string,
  text: string | RegExp,
): Promise<void> {
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
    if (role === "alert" && (await problemsOf(page)).some(isWanted)) return true;
    const found = await query(role, text);
    const isPart = await Promise.all(
      found.map((each) => each.evaluate((element) => !element.matches(".toast *"))),
    );
    return isPart.includes(true);
  });
}

/** Clicks an element if it can be clicked now. @returns Whether the click has reached it. */
async function tryToClick(page: Page, element: ElementHandle | null | undefined): Promise<boolean> {
  const place = await element?.evaluate(prepareClick);
  if (!place) return false;
  await page.mouse.click(place.x, place.y);
  try {
    // deno-lint-ignore no-explicit-any
    return await page.evaluate(() => (globalThis as any).endClick?.() ?? true);
  } catch {
    // The click has left the document.
    return true;
  }
}

/**
 * Runs in the page: finds the place of a click, and keeps the click from whatever else is in this
 * place by the time it arrives.
 */
async function prepareClick(element: Element): Promise<{ x: number; y: number } | undefined> {
  // deno-lint-ignore no-explicit-any
  const scope = globalThis as any;
  scope.endClick?.();
  if (element.matches(":disabled, [aria-disabled=true]")) return;
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const place = () => [...element.getClientRects()].find(({ width }) => width > 0);
  const before = place();
  // A tab in the background has no frames.
  await new Promise((resolve) => {
    requestAnimationFrame(resolve);
    setTimeout(resolve, 100);
  });
  const after = place();
  if (!before || !after || before.x !== after.x || before.y !== after.y) return;

  scope.shownMessages.length = 0;
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
  scope.endClick = () => {
    for (const type of types) removeEventListener(type, guard, true);
    delete scope.endClick;
    return isHit;
  };
  const center = (from: number, to: number, end: number) =>
    (Math.max(0, from) + Math.min(to, end)) / 2;
  return {
    x: center(after.left, after.right, innerWidth),
    y: center(after.top, after.bottom, innerHeight),
  };
}

/** Runs in the page: selects the text of a field. @returns Whether it can be replaced. */
function selectText(field: HTMLInputElement): boolean {
  if (field.matches(":disabled")) return false;
  field.focus();
  field.select();
  return true;
}

/** Runs in the page. @returns Its heading before. */
function followLink(href: string): { heading: Element | null; text: string | undefined } {
  const heading = document.querySelector("main h1");
  const before = { heading, text: heading?.textContent };
  const link = Object.assign(document.createElement("a"), { href });
  document.body.append(link);
  link.click();
  link.remove();
  return before;
}

/** Chromium's own names of some roles. */
const CHROMIUM_ROLES: Record<string, string> = { img: "image" };

/** Roles whose text is not their accessible name. */
const NAMELESS = ["alert", "status"];

type Query = (role: string, name?: string | RegExp) => Promise<ElementHandle[]>;

/**
 * The parts of a role, in the order of the document. Puppeteer's own selector for this takes five times
 * as long.
 */
async function findParts(
  page: Page,
  session: CDPSession,
  role: string,
  name?: string | RegExp,
): Promise<ElementHandle[]> {
  const { root } = await session.send("DOM.getDocument", { depth: 0 });
  const isNamed = typeof name === "string" && !NAMELESS.includes(role);
  const { nodes } = await session.send("Accessibility.queryAXTree", {
    nodeId: root.nodeId,
    role: CHROMIUM_ROLES[role] ?? role,
    ...(isNamed && { accessibleName: name }),
  });
  const shown = nodes.filter(({ ignored }) => !ignored);
  const found = await Promise.all(shown.map((node) => handleOf(page, node.backendDOMNodeId!)));
  if (name === undefined || isNamed || found.length === 0) return found;
  const names = await namesOf(page, found);
  return found.filter((_, at) =>
    typeof name === "string" ? name === names[at] : name.test(names[at]!)
  );
}

/** Not public in Puppeteer, whose version is fixed. */
const handleOf = (page: Page, backendNodeId: number): Promise<ElementHandle> =>
  // deno-lint-ignore no-explicit-any
  (page.mainFrame() as any).mainRealm().adoptBackendNode(backendNodeId);

/** The names from labels, or else the texts. Exact names are compared by the browser itself. */
const namesOf = (page: Page, elements: ElementHandle[]): Promise<string[]> =>
  page.evaluate((...elements) =>
    elements.map((each) => {
      const labelId = each.getAttribute("aria-labelledby");
      const label = labelId !== null && document.getElementById(labelId);
      const name = each.getAttribute("aria-label") ??
        (label || each.querySelector(":scope > legend") || each).textContent;
      return name.trim();
    }), ...elements);
