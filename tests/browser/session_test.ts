/** The session cookie in a real browser, next to another service on the same host. @module */

import { deepEqual, equal } from "node:assert/strict";
import { browserTest, startBrowser } from "../helpers/browser.ts";
import { pageSecret } from "../helpers/browser_session.ts";
import { TEST_API_KEY, testApp } from "../helpers/test_app.ts";

const local = { hostname: "127.0.0.1", port: 0, onListen() {} };
const view = { width: 800, height: 600, scheme: "light" } as const;

/** An expression that sends a request and results in its status, or `"refused"` by the browser. */
const send = (url: string, options: Record<string, unknown>) =>
  `fetch(${JSON.stringify(url)}, ${JSON.stringify({ credentials: "include", ...options })})
     .then((response) => response.status, () => "refused")`;

const SECRET = pageSecret();
const OWN_PAGE = { "x-requested-with": "longshore", "x-page-secret": SECRET };

browserTest(
  "a browser stays signed in with a cookie that neither scripts nor other sites can use",
  async () => {
    using app = testApp();
    const seen: string[] = [];
    await using site = Deno.serve(local, (request) => {
      const { pathname } = new URL(request.url);
      // A page of the dashboard would take seconds of the processor, and send requests of its own.
      if (pathname === "/empty") {
        return new Response("<title>Empty</title>", { headers: [["content-type", "text/html"]] });
      }
      if (pathname.startsWith("/auth/")) {
        seen.push(`${request.method} ${pathname} ${request.headers.get("sec-fetch-site")}`);
      }
      return app.app(request, "127.0.0.1");
    });
    const received: string[] = [];
    let planted: string[] = [];
    await using other = Deno.serve(local, ({ url, headers }) => {
      const cookie = headers.get("cookie");
      if (cookie !== null) received.push(`${new URL(url).pathname} ${cookie}`);
      return new Response("<title>Other</title>", {
        headers: [
          ["content-type", "text/html"],
          ...planted.map((cookie): [string, string] => ["set-cookie", cookie]),
        ],
      });
    });
    const base = `http://127.0.0.1:${site.addr.port}`;
    const refresh = `${base}/auth/session/refresh`;
    await using browser = await startBrowser();

    await browser.visit(`${base}/empty`, view, async ({ evaluate }) => {
      const signIn = send("/auth/session", {
        method: "POST",
        headers: { "content-type": "application/json", "x-page-secret": SECRET },
        body: JSON.stringify({ apiKey: TEST_API_KEY }),
      });
      equal(await evaluate(signIn), 200);
      equal(await evaluate("document.cookie"), "");
      equal(await evaluate(send(refresh, { method: "POST", headers: OWN_PAGE })), 200);
      equal(await evaluate(send(refresh, { method: "POST" })), 403);
      const foreignSecret = { ...OWN_PAGE, "x-page-secret": pageSecret() };
      equal(await evaluate(send(refresh, { method: "POST", headers: foreignSecret })), 401);
      equal(await evaluate(send("/auth/me", { headers: OWN_PAGE })), 401);
    });
    deepEqual(seen.splice(0), [
      "POST /auth/session same-origin",
      ...Array(3).fill("POST /auth/session/refresh same-origin"),
      "GET /auth/me same-origin",
    ]);

    // The same host on another port, to which browsers send the cookie for its path.
    const neighbor = `http://127.0.0.1:${other.addr.port}`;
    await browser.visit(`${neighbor}/`, view, async ({ evaluate }) => {
      equal(await evaluate("fetch('/auth/sessions').then(({ status }) => status)"), 200);
      equal(received.length, 0);
      equal(await evaluate("fetch('/auth/session/x').then(({ status }) => status)"), 200);
    });
    const [name, stolen] = /^\/auth\/session\/x (longshore-[\w-]{16})=([\w-]{43})$/
      .exec(received.at(-1)!)!.slice(1) as [string, string];
    for (const secret of [undefined, pageSecret()]) {
      const headers = {
        "x-requested-with": "longshore",
        ...(secret !== undefined && { "x-page-secret": secret }),
        cookie: `${name}=${stolen}`,
      };
      equal((await post(refresh, headers)).status, 401);
    }
    const body = JSON.stringify({ refreshToken: stolen });
    const json = { "content-type": "application/json" };
    equal((await post(`${base}/auth/refresh`, json, body)).status, 401);

    // It can plant cookies of this name, of which browsers send those with a longer path first.
    planted = ["/auth/session/refresh", "/auth"].map((path) =>
      `${name}=planted; Path=${path}; HttpOnly; SameSite=Strict`
    );
    seen.splice(0);
    await browser.visit(`${neighbor}/`, view, async ({ evaluate }) => {
      await evaluate(send(refresh, { method: "POST", mode: "no-cors" }));
      equal(await evaluate(send(refresh, { method: "POST", headers: OWN_PAGE })), "refused");
      const signOut = send(`${base}/auth/session`, { method: "DELETE", headers: OWN_PAGE });
      equal(await evaluate(signOut), "refused");
    });
    deepEqual(seen.splice(0), [
      "POST /auth/session/refresh same-site",
      "OPTIONS /auth/session/refresh same-site",
      "OPTIONS /auth/session same-site",
    ]);
    planted = [];

    await browser.visit(`${base}/empty`, view, async ({ evaluate }) => {
      const own = { headers: OWN_PAGE };
      equal(await evaluate(send(refresh, { method: "POST", ...own })), 200);
      equal(await evaluate(send("/auth/session", { method: "DELETE", ...own })), 200);
      equal(await evaluate(send(refresh, { method: "POST", ...own })), 401);
    });
  },
);

/** Sends a request without a browser. */
async function post(url: string, headers: Record<string, string>, body?: string) {
  const response = await fetch(url, { method: "POST", headers, ...(body && { body }) });
  await response.body?.cancel();
  return response;
}
