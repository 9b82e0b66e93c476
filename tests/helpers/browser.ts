/**
 * A real browser (Debian's Chromium) without a window, driven over its DevTools protocol.
 *
 * @module
 */

import { until } from "./until.ts";

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

const PROGRAM = "/usr/bin/chromium";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  "--hide-scrollbars",
  "--remote-debugging-port=0",
];

/** Limit for each step of the browser, in milliseconds. */
const WAIT_MS = 120_000;

/** A test that is ignored where there is no browser, unless it is required. */
export function browserTest(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  const ignore = !hasBrowser() && Deno.env.get("LONGSHORE_REQUIRE_ENGINE") !== "1";
  Deno.test({ name, ignore, fn });
}

function hasBrowser(): boolean {
  try {
    return Deno.statSync(PROGRAM).isFile;
  } catch {
    return false;
  }
}

/** @param flags More flags of the browser, e.g. to trust a server of the test. */
export async function startBrowser(flags: readonly string[] = []): Promise<Browser> {
  const profile = await Deno.makeTempDir({ prefix: "longshore-browser-" });
  const child = new Deno.Command(PROGRAM, {
    args: [...FLAGS, ...flags, `--user-data-dir=${profile}`, "about:blank"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const stop = async () => {
    try {
      child.kill("SIGTERM");
    } catch { /* already ended */ }
    await child.status;
    // Its children may still write for a moment.
    await until("the browser's profile can be removed", async () => {
      await Deno.remove(profile, { recursive: true });
      return true;
    });
  };
  try {
    const connection = await connect(await debuggerUrl(profile));
    return {
      visit: (url, view, inspect) => visit(connection, url, view, inspect),
      async [Symbol.asyncDispose]() {
        await connection.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function debuggerUrl(profile: string): Promise<string> {
  const [port, path] = await until("the browser listens", async () => {
    const lines = (await Deno.readTextFile(`${profile}/DevToolsActivePort`)).split("\n");
    return lines.length >= 2 && lines;
  }, { deadlineMs: WAIT_MS });
  return `ws://127.0.0.1:${port}${path}`;
}

// deno-lint-ignore no-explicit-any
type Json = any;

interface Connection {
  send(method: string, params?: object, sessionId?: string): Promise<Json>;
  /** Event listeners by session. */
  listeners: Map<string, (method: string, params: Json) => void>;
  close(): Promise<void>;
}

async function connect(url: string): Promise<Connection> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map<number, { resolve(value: Json): void; reject(error: Error): void }>();
  const listeners: Connection["listeners"] = new Map();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error, method, params, sessionId } = JSON.parse(data);
    if (id === undefined) return listeners.get(sessionId)?.(method, params);
    const { resolve, reject } = waiting.get(id)!;
    waiting.delete(id);
    if (error) reject(new Error(`${error.message} ${error.data ?? ""}`));
    else resolve(result);
  };
  return {
    listeners,
    send: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params, sessionId }));
      }),
    close: () =>
      new Promise((resolve) => {
        socket.onclose = () => resolve();
        socket.close();
      }),
  };
}

async function visit<T>(
  { send, listeners }: Connection,
  url: string,
  { width, height, scheme }: View,
  inspect: (visit: Visit) => Promise<T>,
): Promise<T> {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const call = (method: string, params = {}) => send(method, params, sessionId);
  const complaints: string[] = [];
  const requests: string[] = [];
  let loaded = false;
  listeners.set(sessionId, (method, params) => {
    if (method === "Page.loadEventFired") loaded = true;
    if (method === "Log.entryAdded") complaints.push(params.entry.text);
    if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled") complaints.push(JSON.stringify(params.args));
    if (method === "Network.requestWillBeSent" && !params.request.url.startsWith("data:")) {
      requests.push(params.request.url);
    }
  });
  try {
    for (const domain of ["Page", "Log", "Runtime", "Network"]) await call(`${domain}.enable`);
    await call("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 500,
    });
    await call("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
    await call("Page.navigate", { url });
    await until("the page is loaded", () => loaded, { deadlineMs: WAIT_MS });
    return await inspect({
      complaints,
      requests,
      async evaluate(expression) {
        const { result, exceptionDetails } = await call("Runtime.evaluate", {
          expression,
          returnByValue: true,
          awaitPromise: true,
        });
        if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
        return result.value;
      },
      async picture({ whole } = { whole: true }) {
        const { data } = await call("Page.captureScreenshot", { captureBeyondViewport: whole });
        return Uint8Array.fromBase64(data);
      },
    });
  } finally {
    listeners.delete(sessionId);
    await send("Target.closeTarget", { targetId });
  }
}
