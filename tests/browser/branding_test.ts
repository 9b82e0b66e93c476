/**
 * A status page with branding in a real browser. Leaves pictures in `longshore-pictures` in the
 * directory for temporary files.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { tmpdir } from "node:os";
import { insertBrand, updateActiveBrand } from "../../db/enterprise/brands.ts";
import { showActiveBrand } from "../../services/enterprise/branding/brands.ts";
import { browserTest, startBrowser, type View } from "../helpers/browser.ts";
import { selfSigned } from "../helpers/certificates.ts";
import { callPages, harborPage } from "../helpers/harbor_page.ts";
import { long } from "../helpers/long.ts";
import { LOWEST_CONTRAST, OVERFLOWING } from "../helpers/page_checks.ts";
import { serveApp } from "../helpers/served_app.ts";
import { testApp } from "../helpers/test_app.ts";

const PICTURES = `${tmpdir()}/longshore-pictures`;

const VIEWS: Record<string, View> = {
  light: { width: 1100, height: 800, scheme: "light" },
  dark: { width: 1100, height: 800, scheme: "dark" },
  "phone-light": { width: 390, height: 844, scheme: "light" },
  "narrow-dark": { width: 320, height: 600, scheme: "dark" },
};

/** The logo server has a certificate that no browser trusts. */
const FLAGS = ["--ignore-certificate-errors"];

/** Serves a wide picture under every path by HTTPS. */
async function logoServer() {
  const { cert, key } = await selfSigned({ name: "127.0.0.1", altNames: "IP:127.0.0.1" });
  const asked: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} },
    ({ url, headers }) => {
      asked.push(`${new URL(url).pathname} ${headers.get("referer") ?? "no referrer"}`);
      const fill = url.includes("dark") ? "#fff" : "#123";
      return new Response(
        `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="80">` +
          `<rect width="640" height="80" rx="40" fill="${fill}"/></svg>`,
        { headers: { "content-type": "image/svg+xml" } },
      );
    },
  );
  return {
    origin: `https://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

long(browserTest)(
  "a page under a brand shows its logo, colors and styles, and stays readable",
  async () => {
    using app = testApp({ edition: "enterprise" });
    const { id } = await harborPage(app);
    await callPages(app, `/${id}`, { theme: {} }, "PUT");
    await using logos = await logoServer();
    const base = "/api/ext/service-enterprise/branding";
    const { body } = await app.call("POST", base, {
      name: "Harbor",
      app_name: "Harbor Operations",
      logo_url: `${logos.origin}/a;b,c/logo.svg`,
      logo_dark_url: `${logos.origin}/dark.svg`,
      primary_color: "#ffe100",
      secondary_color: "#b5482a",
      accent_color: "#ffb000",
      font_family: "DejaVu Serif",
      custom_css: ".top {\r\n  letter-spacing: 2px;\r\n}\r\n.top h1::after { content: '\\201C' }",
    });
    equal((await app.call("PUT", `${base}/${body.id}/activate`)).status, 200);

    await using site = serveApp(app);
    const page = `${site.url}/status/harbor-goods`;
    await using browser = await startBrowser({ flags: FLAGS });
    await Deno.mkdir(PICTURES, { recursive: true });
    for (const [name, view] of Object.entries(VIEWS)) {
      await browser.visit(page, view, async ({ complaints, requests, evaluate, picture }) => {
        await Deno.writeFile(`${PICTURES}/status-page-brand-${name}.png`, await picture());
        deepEqual(complaints, [], name);
        const logo = view.scheme === "dark" ? "/dark.svg" : "/a;b,c/logo.svg";
        deepEqual(requests, [page, logos.origin + logo], name);
        deepEqual(
          await evaluate(`[document.images.length, document.images[0].complete,
          document.images[0].naturalWidth, document.images[0].alt]`),
          [1, true, 640, "Harbor Operations"],
        );
        deepEqual(await evaluate(OVERFLOWING), [], name);
        equal(await evaluate("document.documentElement.scrollWidth"), view.width, name);
        const { ratio, text } = await evaluate(LOWEST_CONTRAST);
        ok(ratio >= 4.5, `${name}: ${ratio} of ${text}`);
        const style = (selector: string, property: string) =>
          evaluate(`getComputedStyle(document.querySelector("${selector}")).${property}`);
        equal(await style(".top", "backgroundColor"), "rgb(255, 225, 0)");
        equal(await style(".top", "borderBottomColor"), "rgb(181, 72, 42)");
        equal(await style(".top", "letterSpacing"), "2px");
        ok((await style("body", "fontFamily")).startsWith('"DejaVu Serif", system-ui'));
        equal(
          await evaluate(`getComputedStyle(document.querySelector("h1"), "::after").content`),
          '"\u201C"',
        );
      });
    }
    equal(logos.asked.every((each) => each.endsWith(" no referrer")), true, logos.asked.join());
  },
);

long(browserTest)(
  "a style sheet that got past the check loads and runs nothing, for the page's policy is there",
  async () => {
    using app = testApp({ edition: "enterprise" });
    await harborPage(app);
    await using elsewhere = await logoServer();
    const at = "2026-01-01T00:00:00.000Z";
    insertBrand(app.deps.db, {
      id: "b",
      name: "b",
      app_name: `<img src=x onerror="document.title='run'">`,
      logo_url: `${elsewhere.origin}/logo.svg`,
      logo_dark_url: null,
      email_logo_url: null,
      primary_color: "red}body{display:none",
      secondary_color: null,
      accent_color: null,
      font_family: `x";}body{display:none}`,
      custom_css: `@import "${elsewhere.origin}/import.css";
      @font-face { font-family: x; src: url(${elsewhere.origin}/font.woff2) }
      body { font-family: x; background: url(${elsewhere.origin}/steal) }
      h1 { background: image-set("${elsewhere.origin}/logo.svg/steal" 1x); color: rgb(1, 2, 3) }`,
      is_active: false,
      created_at: at,
      updated_at: at,
    });
    updateActiveBrand(app.deps.db, "b");
    showActiveBrand(app.deps);
    await using site = serveApp(app);
    const page = `${site.url}/status/harbor-goods`;
    await using browser = await startBrowser({ flags: FLAGS });
    await browser.visit(page, VIEWS.light!, async ({ complaints, evaluate }) => {
      deepEqual(elsewhere.asked, ["/logo.svg no referrer"]);
      // The style sheet applies; the policy refuses what it would load.
      equal(await evaluate(`getComputedStyle(document.querySelector("h1")).color`), "rgb(1, 2, 3)");
      equal(await evaluate(`getComputedStyle(document.body).display`), "block");
      ok(complaints.length >= 3, complaints.join("\n"));
      ok(complaints.every((each) => /Content Security Policy/.test(each)), complaints.join("\n"));
      equal(await evaluate("document.images.length"), 1);
      // The page's own script, which shows local times.
      equal(await evaluate("document.scripts.length"), 1);
      ok((await evaluate("document.title")).includes("onerror"));
    });
    deepEqual(elsewhere.asked, ["/logo.svg no referrer"]);
  },
);
