/**
 * The session cookie in a real browser.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { browserTest, startBrowser } from "../helpers/browser.ts";
import { TEST_API_KEY, testApp } from "../helpers/test_app.ts";

const local = { hostname: "127.0.0.1", port: 0, onListen() {} };
const view = { width: 800, height: 600, scheme: "light" } as const;

/** An expression that sends a request and results in its status, or `"refused"` by the browser. */
const send = (url: string, options: Record<string, unknown>) =>
  `fetch(${JSON.stringify(url)}, ${JSON.stringify({ credentials: "include", ...options })})
     .then((response) => response.status, () => "refused")`;

const OWN_PAGE = { "x-requested-with": "longshore" };

browserTest(
  "a browser stays signed in with a cookie that neither scripts nor other sites can use",
  async () => {
    using app = testApp();
    const seen: string[] = [];
    await using site = Deno.serve(local, (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/auth/")) {
        seen.push(`${request.method} ${pathname} ${request.headers.get("sec-fetch-site")}`);
      }
      return app.app(request, "127.0.0.1");
    });
    await using other = Deno.serve(
      local,
      () => new Response("<title>Other</title>", { headers: { "content-type": "text/html" } }),
    );
    const base = `http://127.0.0.1:${site.addr.port}`;
    const refresh = `${base}/auth/session/refresh`;
    await using browser = await startBrowser();

    await browser.visit(`${base}/docs`, view, async ({ evaluate }) => {
      const signIn = send("/auth/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ apiKey: TEST_API_KEY }),
      });
      equal(await evaluate(signIn), 200);
      equal(await evaluate("document.cookie"), "");
      equal(await evaluate(send(refresh, { method: "POST", headers: OWN_PAGE })), 200);
      equal(await evaluate(send(refresh, { method: "POST" })), 403);
      equal(await evaluate(send("/auth/me", { headers: OWN_PAGE })), 401);
    });
    deepEqual(seen.splice(0), [
      "POST /auth/session same-origin",
      "POST /auth/session/refresh same-origin",
      "POST /auth/session/refresh same-origin",
      "GET /auth/me same-origin",
    ]);

    // The same site on another port, to which browsers send the cookie.
    const neighbor = `http://127.0.0.1:${other.addr.port}/`;
    await browser.visit(neighbor, view, async ({ evaluate }) => {
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

    await browser.visit(`${base}/docs`, view, async ({ evaluate }) => {
      const own = { headers: OWN_PAGE };
      equal(await evaluate(send(refresh, { method: "POST", ...own })), 200);
      equal(await evaluate(send("/auth/session", { method: "DELETE", ...own })), 200);
      equal(await evaluate(send(refresh, { method: "POST", ...own })), 401);
    });
  },
);
