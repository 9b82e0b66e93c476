import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { readableAs, readableOn, visibleAs } from "../../../../routes/html/colors.ts";
import { brandBand, customStyle, logoSources } from "../../../../routes/pro/status_pages/brand.ts";
import { type Branding, createBrandCache } from "../../../../services/access/brand_cache.ts";
import type { Edition } from "../../../../services/edition.ts";
import { callPages, harborPage } from "../../../helpers/harbor_page.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const PAGE = "/status/harbor-goods";
const BRANDING = "/api/ext/service-enterprise/branding";

const NO_BRANDING: Branding = {
  app_name: "Acme",
  logo_url: null,
  logo_dark_url: null,
  email_logo_url: null,
  primary_color: null,
  secondary_color: null,
  accent_color: null,
  font_family: null,
  custom_css: null,
};

async function page(app: TestApp, headers: Record<string, string> = {}) {
  const answer = await app.call("GET", PAGE, undefined, { role: "public", headers });
  equal(answer.status, 200);
  return { ...answer, policy: answer.headers.get("content-security-policy")! };
}

async function activate(app: TestApp, brand: Partial<Branding>): Promise<string> {
  const created = await app.call("POST", BRANDING, { name: "b", ...NO_BRANDING, ...brand });
  equal(created.status, 201, JSON.stringify(created.body));
  equal((await app.call("PUT", `${BRANDING}/${created.body.id}/activate`)).status, 200);
  return created.body.id;
}

/** The policy names every style sheet of the page by its hash, as the parser sees it. */
async function assertStylesAllowed(body: string, policy: string, count: number): Promise<void> {
  const styles = [...body.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style]) => style!);
  equal(styles.length, count);
  for (const style of styles) {
    const bytes = new TextEncoder().encode(style);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toBase64();
    ok(policy.includes(`'sha256-${hash}'`), style.slice(0, 80));
  }
  equal(policy.match(/'sha256-/g)!.length, count + 1, "and the script");
}

Deno.test("the page shows the active brand, and its policy allows just that", async () => {
  using app = testApp({ edition: "enterprise" });
  const { id } = await harborPage(app);
  await callPages(app, `/${id}`, { theme: {} }, "PUT");
  const plain = await page(app);
  await assertStylesAllowed(plain.body, plain.policy, 1);
  equal(/brand(ed)?"/.test(plain.body), false);

  await activate(app, {
    app_name: "Acme & Sons",
    logo_url: "https://cdn.acme.test/a;b,c/logo.svg?v=1",
    logo_dark_url: "https://cdn.acme.test/dark.svg",
    primary_color: "#ffe100",
    secondary_color: "#0a7",
    accent_color: "#ff0",
    font_family: "Source Sans 3",
    custom_css: ".top { letter-spacing: .02em }\r\n.top h1 { color: inherit }",
  });
  const { body, policy } = await page(app);
  await assertStylesAllowed(body, policy, 2);
  match(body, /<title>[\w ,]+ - Harbor Goods - Acme &amp; Sons<\/title>/);
  match(body, /<meta name="theme-color" content="#ffe100">/);
  match(body, /--brand:#ffe100;--on-brand:#000}/);
  match(body, /--second:#0a7}/);
  match(body, /body{font-family:"Source Sans 3",system-ui/);
  match(
    body,
    /<picture><source media="\(prefers-color-scheme: dark\)" srcset="https:\/\/cdn\.acme\.test\/dark\.svg"><img src="https:\/\/cdn\.acme\.test\/a;b,c\/logo\.svg\?v=1" alt="Acme &amp; Sons"><\/picture>/,
  );
  match(body, /<style>\.top { letter-spacing: \.02em }\n\.top h1 { color: inherit }<\/style>/);
  ok(policy.startsWith("default-src 'none'; style-src 'sha256-"));
  ok(
    policy.includes(
      "; img-src data: https://cdn.acme.test/a%3Bb%2Cc/logo.svg https://cdn.acme.test/dark.svg; base",
    ),
    policy,
  );
  equal(/<script[^>]|\son\w+=|\sstyle=/i.test(body), false);
});

Deno.test("a page's own color comes before the brand's", async () => {
  using app = testApp({ edition: "enterprise" });
  await harborPage(app);
  await activate(app, { primary_color: "#ffe100" });
  match((await page(app)).body, /--brand:#0f5c6e;--on-brand:#fff}/);
});

Deno.test("changes of the brand are visible immediately, and end with the license", async () => {
  using app = testApp({ edition: "enterprise" });
  await harborPage(app);
  const plain = await page(app);
  const first = await activate(app, { app_name: "First" });
  const seen = async () =>
    /<p dir="auto">(First|Second|Third)<\/p>/.exec((await page(app)).body)?.[1];
  equal(await seen(), "First");
  notEqual((await page(app)).headers.get("etag"), plain.headers.get("etag"));
  const etag = (await page(app)).headers.get("etag")!;
  const again = await app.call("GET", PAGE, undefined, {
    role: "public",
    headers: { "if-none-match": etag },
  });
  equal(again.status, 304);

  const second = await activate(app, { app_name: "Second" });
  equal(await seen(), "Second");
  await app.call("PUT", `${BRANDING}/${first}`, { app_name: "Third" });
  equal(await seen(), "Second");
  await app.call("PUT", `${BRANDING}/${first}/activate`);
  equal(await seen(), "Third");
  await app.call("DELETE", `${BRANDING}/${second}`);
  equal(await seen(), "Third");

  const { grant } = app.deps.license;
  app.deps.license.use({ ...grant!, edition: "pro" });
  equal((await page(app)).body, plain.body);
  app.deps.license.use(grant);
  equal(await seen(), "Third");
  await app.call("DELETE", `${BRANDING}/${first}`);
  deepEqual([(await page(app)).body, (await page(app)).policy], [plain.body, plain.policy]);
});

Deno.test("after a restart the first page has the brand", async () => {
  using before = testApp({ edition: "enterprise" });
  await harborPage(before);
  await activate(before, { app_name: "Kept" });
  using after = testApp({ edition: "enterprise", db: before.deps.db });
  after.clock.set("2026-03-10T14:20:00Z");
  match((await page(after)).body, /<p dir="auto">Kept<\/p>/);
  using pro = testApp({ edition: "pro", db: before.deps.db });
  pro.clock.set("2026-03-10T14:20:00Z");
  equal((await page(pro)).body.includes("Kept"), false);
});

Deno.test("feed and badge do not change with the brand", async () => {
  using app = testApp({ edition: "enterprise" });
  await harborPage(app);
  const read = async () => {
    const parts = ["/feed.atom", "/badge.svg"].map((part) =>
      app.call("GET", PAGE + part, undefined, { role: "public" })
    );
    return (await Promise.all(parts)).map(({ status, body }) => ({ status, body }));
  };
  const plain = await read();
  await activate(app, { app_name: "Acme" });
  deepEqual(await read(), plain);
});

Deno.test("stored values cannot break out of their place in the page", () => {
  for (
    const custom_css of ["</style><script>x</script>", "a{}</STYLE>", "<!-- a{} -->", "a\0{}", ""]
  ) equal(customStyle({ ...NO_BRANDING, custom_css }), undefined, custom_css);
  const branding = {
    ...NO_BRANDING,
    app_name: `"><script>alert(1)</script>`,
    logo_url: `https://cdn.acme.test/"onload="x.png`,
    logo_dark_url: "https://cdn.acme.test/a,b.png?x=1,,",
  };
  const { text } = brandBand(branding);
  equal(/<script|"onload/.test(text), false, text);
  match(text, /srcset="https:\/\/cdn\.acme\.test\/a,b\.png\?x=1%2C%2C"/);
  const hostile = {
    ...NO_BRANDING,
    logo_url: "javascript:alert(1)",
    logo_dark_url: "http://x.test/",
  };
  deepEqual(logoSources(hostile), []);
  equal(brandBand(hostile).text.includes("<img"), false);
});

Deno.test("a single dark logo is used for both modes", () => {
  const branding = { ...NO_BRANDING, logo_dark_url: "https://cdn.acme.test/dark.svg" };
  match(
    brandBand(branding).text,
    /<picture><img src="https:\/\/cdn\.acme\.test\/dark\.svg" alt="Acme">/,
  );
  deepEqual(logoSources(branding), ["https://cdn.acme.test/dark.svg"]);
});

Deno.test("the branding is shown only with a license that includes it", () => {
  const license: { edition: Edition } = { edition: "ce" };
  const cache = createBrandCache(license);
  cache.put(NO_BRANDING);
  for (
    const [edition, branding] of [["ce", undefined], ["pro", undefined], [
      "enterprise",
      NO_BRANDING,
    ]]
  ) {
    license.edition = edition as Edition;
    equal(cache.current, branding);
  }
  cache.put(undefined);
  equal(cache.current, undefined);
});

Deno.test("every color of a link is readable and every area visible, and unchanged if possible", () => {
  const channels = ["00", "33", "66", "99", "cc", "ff"];
  const backgrounds = ["#f7f8fa", "#fff", "#16191f", "#0f1115"];
  for (const red of channels) {
    for (const green of channels) {
      for (const blue of channels) {
        const color = `#${red}${green}${blue}`;
        for (const background of backgrounds) {
          const shown = readableAs(color, background);
          ok(contrast(shown, background) >= 4.5, `${color} on ${background}: ${shown}`);
          if (contrast(color, background) >= 4.5) equal(shown, color);
          const area = visibleAs(color, background);
          ok(contrast(area, background) >= 3, `${color} on ${background}: ${area}`);
        }
        ok(contrast(readableOn(color), color) >= 4.5, color);
      }
    }
  }
  equal(readableAs("#00f", "#fff"), "#0000ff");
});

/** Contrast ratio of two colors (WCAG 2.2), implemented independently. */
function contrast(a: string, b: string): number {
  const [low, high] = [a, b].map((color) => {
    const full = color.length === 4 ? color.replace(/[^#]/g, "$&$&") : color;
    const linear = [1, 3, 5].map((at) => Number(`0x${full.slice(at, at + 2)}`) / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
    return linear[0]! * 0.2126 + linear[1]! * 0.7152 + linear[2]! * 0.0722 + 0.05;
  }).sort((x, y) => x - y) as [number, number];
  return high / low;
}
