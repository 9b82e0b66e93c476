/**
 * A real browser (Debian's Chromium) without a window. All tests of a run share one process; each test
 * has a context of its own: its cookies, storage and cache.
 *
 * @module
 */

import puppeteer, {
  type Browser as Chromium,
  type BrowserContext,
  type ConnectionTransport,
  type Page,
} from "puppeteer-core";

export interface View {
  width: number;
  height: number;
  scheme: "light" | "dark";
}

export interface Visit {
  /** Console messages, exceptions, policy violations and failed loads. */
  complaints: string[];
  /** Every requested URL, including the page's own, without `data:` URLs. */
  requests: string[];
  /** Evaluates an expression in the page. */
  // deno-lint-ignore no-explicit-any
  evaluate(expression: string): Promise<any>;
  /** A PNG screenshot of the whole page or of the visible part. */
  picture(options?: { whole: boolean }): Promise<Uint8Array<ArrayBuffer>>;
}

export interface Browser extends AsyncDisposable {
  visit<T>(url: string, view: View, inspect: (visit: Visit) => Promise<T>): Promise<T>;
}

/** Without the parts of a window it takes a seventh less processor time, and its tabs are never hidden. */
const SHELL = "/usr/bin/chromium-headless-shell";
const CHROMIUM = "/usr/bin/chromium";

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
  "--disable-quic",
  // A process less to wait for on a busy machine.
  "--in-process-gpu",
  // Scripts of a page run too briefly to be worth optimizing, which takes a fifth of the processor time.
  "--js-flags=--no-opt",
  // Frames of animations take processor time, too.
  "--force-prefers-reduced-motion",
];

/** Set by `tests/run.ts`: address of the browser that the tests of a run share. */
export const BROWSER_VARIABLE = "LONGSHORE_TEST_BROWSER";

/** Limit for each step of the browser, in milliseconds; reached only on failure. */
export const WAIT_MS = 120_000;

/** A test that is ignored where there is no browser, unless it is required. */
export function browserTest(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  const ignore = !hasBrowser() && Deno.env.get("LONGSHORE_REQUIRE_ENGINE") !== "1";
  Deno.test({ name, ignore, fn });
}

/** Whether Chromium is installed. */
export const hasBrowser = (): boolean => [SHELL, CHROMIUM].some(isFile);

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** What a test needs of its browser; anything starts a new one. */
export interface BrowserNeeds {
  /** More flags, e.g. to trust a server of the test. */
  flags?: readonly string[];
  /** A tab in front hides the others, as in a window. */
  hasWindow?: boolean;
}

/** Starts Chromium, which takes about a second of the processor. */
export function launchBrowser(
  { flags = [], hasWindow = !isFile(SHELL) }: BrowserNeeds = {},
): Promise<Chromium> {
  return puppeteer.launch({
    executablePath: hasWindow ? CHROMIUM : SHELL,
    timeout: WAIT_MS,
    args: [...FLAGS, ...flags],
    // The run ends it in order.
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });
}

/** Opens a context in the browser of the run, or in a new one where there is none. */
export async function openContext(
  needs: BrowserNeeds = {},
): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  const shared = Object.keys(needs).length === 0 ? Deno.env.get(BROWSER_VARIABLE) : undefined;
  if (!shared) {
    const browser = await launchBrowser(needs);
    return { context: browser.defaultBrowserContext(), close: () => browser.close() };
  }
  const { transport, closed } = await openTransport(shared);
  const browser = await puppeteer.connect({ transport });
  const context = await browser.createBrowserContext();
  return {
    context,
    async close() {
      await context.close();
      await browser.disconnect();
      await closed;
    },
  };
}

/** Connects to a browser. Puppeteer's own connection cannot be waited for when it is closed. */
async function openTransport(
  url: string,
): Promise<{ transport: ConnectionTransport; closed: Promise<void> }> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const transport: ConnectionTransport = {
    send: (message) => socket.send(message),
    close: () => socket.close(),
  };
  socket.onmessage = ({ data }) => transport.onmessage?.(data);
  const closed = new Promise<void>((resolve) => {
    socket.onclose = () => {
      transport.onclose?.();
      resolve();
    };
  });
  return { transport, closed };
}

export async function startBrowser(needs?: BrowserNeeds): Promise<Browser> {
  const { context, close } = await openContext(needs);
  return {
    async visit(url, view, inspect) {
      const page = await context.newPage();
      try {
        return await visit(page, url, view, inspect);
      } finally {
        await page.close();
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

async function visit<T>(
  page: Page,
  url: string,
  { width, height, scheme }: View,
  inspect: (visit: Visit) => Promise<T>,
): Promise<T> {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) requests.push(request.url());
  });
  page.setDefaultTimeout(WAIT_MS);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const session = await page.createCDPSession();
  // `page.setViewport` reloads the page of a phone.
  await session.send("Emulation.setDeviceMetricsOverride", {
    ...{ width, height, deviceScaleFactor: 1, mobile: width < 500 },
  });
  await page.goto(url);
  return await inspect({
    complaints,
    requests,
    evaluate: (expression) => page.evaluate(expression),
    async picture({ whole } = { whole: true }) {
      const { data } = await session.send("Page.captureScreenshot", {
        captureBeyondViewport: whole,
      });
      return Uint8Array.fromBase64(data);
    },
  });
}
