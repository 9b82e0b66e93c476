import { deepEqual, equal, match } from "node:assert/strict";
import {
  type Answer,
  type CallOptions,
  type TestApp,
  testApp,
  type TestAppOptions,
} from "../../helpers/test_app.ts";

const BASE = "/api/ext/service-enterprise/branding";

const enterprise = (options: TestAppOptions = {}) => testApp({ edition: "enterprise", ...options });

async function add(app: TestApp, brand: object): Promise<Answer["body"]> {
  const answer = await app.call("POST", BASE, { name: "Harbor", ...brand });
  equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

const active = async (app: TestApp, options: CallOptions = { role: "public" }) =>
  (await app.call("GET", `${BASE}/active`, undefined, options)).body;

const FULL = {
  name: "Harbor",
  app_name: "Harbor Operations",
  logo_url: "https://cdn.example.com/logo.svg?v=2",
  logo_dark_url: "https://cdn.example.com/dark.svg",
  email_logo_url: "https://cdn.example.com/mail.png",
  primary_color: "#0f5c6e",
  secondary_color: "#FA0",
  accent_color: "#b5482a",
  font_family: "Source Sans 3",
  custom_css: ".top { letter-spacing: 0.02em }\r\n/* \\201C */",
};

Deno.test("a brand is stored as it is given, and listed without its style sheet", async () => {
  using app = enterprise({ now: "2026-01-01T12:00:00Z" });
  deepEqual((await app.call("GET", BASE)).body, { brands: [] });
  const plain = await add(app, {});
  deepEqual(plain, {
    id: plain.id,
    name: "Harbor",
    app_name: "Harbor",
    logo_url: null,
    logo_dark_url: null,
    email_logo_url: null,
    primary_color: null,
    secondary_color: null,
    accent_color: null,
    font_family: null,
    custom_css: null,
    is_active: false,
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
  });
  app.clock.advance({ minutes: 1 });
  const full = await add(app, FULL);
  deepEqual({ ...plain, ...full, ...FULL }, full);
  deepEqual((await app.call("GET", `${BASE}/${full.id}`)).body, full);
  const { custom_css: _, ...listed } = full;
  const { custom_css: __, ...listedPlain } = plain;
  for (const path of [BASE, `${BASE}/`]) {
    deepEqual((await app.call("GET", path)).body, { brands: [listed, listedPlain] });
  }

  app.clock.advance({ minutes: 1 });
  const change = { app_name: "Quay", custom_css: null, font_family: null };
  const changed = await app.call("PUT", `${BASE}/${full.id}`, change);
  deepEqual([changed.status, changed.body], [200, {
    ...full,
    ...change,
    updated_at: "2026-01-01T12:02:00.000Z",
  }]);
  deepEqual((await app.call("DELETE", `${BASE}/${full.id}`)).body, { ok: true });
  for (
    const [method, path, body] of [
      ["GET", "", undefined],
      ["PUT", "", {}],
      ["DELETE", "", undefined],
      ["PUT", "/activate", undefined],
    ] as const
  ) {
    const gone = await app.call(method, `${BASE}/${full.id}${path}`, body);
    deepEqual([gone.status, gone.body], [404, { error: `Brand ${full.id} does not exist` }]);
  }
});

Deno.test("exactly one brand is active, and it is public", async () => {
  using app = enterprise();
  deepEqual(await active(app), { brand: null });
  const first = await add(app, FULL);
  const second = await add(app, { name: "Quay" });
  deepEqual(await active(app), { brand: null });
  for (const { id } of [first, second, first, first]) {
    const { status, body } = await app.call("PUT", `${BASE}/${id}/activate`);
    deepEqual([status, body.id, body.is_active], [200, id, true]);
    const { brands } = (await app.call("GET", BASE)).body;
    deepEqual(
      brands.filter((brand: { is_active: boolean }) => brand.is_active).map((
        brand: { id: string },
      ) => brand.id),
      [id],
    );
    equal((await active(app)).brand.id, id);
  }
  deepEqual(await active(app), { brand: { ...first, is_active: true } });
  // The failed activation has no effect.
  equal((await app.call("PUT", `${BASE}/unknown/activate`)).status, 404);
  equal((await active(app)).brand.id, first.id);

  await app.call("PUT", `${BASE}/${first.id}`, { app_name: "Changed" });
  equal((await active(app)).brand.app_name, "Changed");
  equal((await app.call("DELETE", `${BASE}/${second.id}`)).status, 200);
  equal((await active(app)).brand.id, first.id);
  equal((await app.call("DELETE", `${BASE}/${first.id}`)).status, 200);
  deepEqual(await active(app), { brand: null });
});

Deno.test("a client with the current brand gets 304 until it changes", async () => {
  using app = enterprise();
  const { id } = await add(app, FULL);
  await app.call("PUT", `${BASE}/${id}/activate`);
  const read = (headers = {}) =>
    app.call("GET", `${BASE}/active`, undefined, { role: "public", headers });
  const etag = (await read()).headers.get("etag")!;
  equal((await read({ "if-none-match": etag })).status, 304);
  await app.call("PUT", `${BASE}/${id}`, { primary_color: "#000" });
  equal((await read({ "if-none-match": etag })).status, 200);
});

Deno.test("viewers read brands, admins write them, and without the license it is 402", async () => {
  using app = enterprise();
  const { id } = await add(app, {});
  const status = async (method: string, path: string, role: CallOptions["role"]) =>
    (await app.call(method, BASE + path, method === "GET" ? undefined : { name: "x" }, {
      role: role!,
    }))
      .status;
  for (
    const [method, path] of [
      ["POST", ""],
      ["PUT", `/${id}`],
      ["PUT", `/${id}/activate`],
      ["DELETE", `/${id}`],
    ] as const
  ) {
    for (const role of ["viewer", "operator"] as const) {
      equal(await status(method, path, role), 403, `${method} ${path} ${role}`);
    }
    equal(await status(method, path, "public"), 401);
  }
  equal(await status("GET", "", "viewer"), 200);
  equal(await status("GET", `/${id}`, "viewer"), 200);
  equal(await status("GET", "", "public"), 401);
  equal(await status("GET", "/active", "public"), 200);
  app.deps.license.use(undefined);
  const answer = await app.call("GET", `${BASE}/active`, undefined, { role: "public" });
  deepEqual([answer.status, answer.body.error], [
    402,
    "Branding needs the Enterprise edition (branding)",
  ]);
});

const HTTPS = /^body\.\w+: must be an https:\/\/ URL$/;

for (
  const [change, error] of [
    [{ name: "" }, /^body\.name/],
    [{ name: " \t" }, /^body\.name/],
    [{ name: "a\nb" }, /^body\.name: must be one line/],
    [{ name: "a".repeat(101) }, /^body\.name/],
    [{ name: null }, /^body\.name/],
    [{ app_name: "" }, /^body\.app_name/],
    [{ app_name: 1 }, /^body\.app_name/],
    [{ app_name: "a\u2028b" }, /^body\.app_name/],
    [{ logo_url: "http://cdn.example.com/logo.svg" }, HTTPS],
    [{ logo_url: "//cdn.example.com/logo.svg" }, HTTPS],
    [{ logo_url: "/logo.svg" }, HTTPS],
    [{ logo_url: "logo.svg" }, HTTPS],
    [{ logo_url: "javascript:alert(1)" }, HTTPS],
    [{ logo_url: "data:image/svg+xml,x" }, HTTPS],
    [{ logo_url: "https:cdn.example.com" }, HTTPS],
    [{ logo_url: "https://" }, HTTPS],
    [{ logo_url: "https://*/logo.svg" }, HTTPS],
    [{ logo_dark_url: "https://*.example.com/logo.svg" }, HTTPS],
    [{ logo_url: " https://cdn.example.com/" }, HTTPS],
    [{ logo_url: "https://cdn.example.com/a b" }, HTTPS],
    [{ logo_url: "https://cdn.example\n.com/" }, HTTPS],
    [{ logo_url: "https://cdn.example\t.com/" }, HTTPS],
    [{ logo_url: 'https://cdn.example.com/"onerror="x' }, HTTPS],
    [{ logo_url: "https://cdn.example.com/'x" }, HTTPS],
    [{ logo_url: "https://cdn.example.com/<x>" }, HTTPS],
    [{ logo_url: "https://cdn.example.com\\@evil.example/" }, HTTPS],
    [{ logo_url: "https://cdn.example.com:99999/" }, HTTPS],
    [{ logo_url: "https://user@cdn.example.com/" }, /must not have a user or password$/],
    [{ logo_url: "https://user:secret@cdn.example.com/" }, /must not have a user or password$/],
    [{ logo_url: "https://:secret@cdn.example.com/" }, /must not have a user or password$/],
    [{ logo_url: `https://cdn.example.com/${"a".repeat(2_048)}` }, /^body\.logo_url/],
    [{ logo_url: "" }, /^body\.logo_url/],
    [{ logo_dark_url: "http://cdn.example.com/" }, HTTPS],
    [{ email_logo_url: "ftp://cdn.example.com/" }, HTTPS],
    [{ primary_color: "red" }, /^body\.primary_color: must be a color such as/],
    [{ primary_color: "#12" }, /^body\.primary_color/],
    [{ primary_color: "#1234" }, /^body\.primary_color/],
    [{ primary_color: "#12345678" }, /^body\.primary_color/],
    [{ primary_color: "#ggg" }, /^body\.primary_color/],
    [{ primary_color: "#123\n" }, /^body\.primary_color/],
    [{ secondary_color: "#123}body{" }, /^body\.secondary_color/],
    [{ accent_color: "rgb(0,0,0)" }, /^body\.accent_color/],
    [{ font_family: "" }, /^body\.font_family/],
    [{ font_family: " - " }, /^body\.font_family/],
    [{ font_family: 'Inter", serif' }, /^body\.font_family: must contain only letters, digits/],
    [{ font_family: "Inter;" }, /^body\.font_family/],
    [{ font_family: "Inter_1" }, /^body\.font_family/],
    [{ font_family: "Inter\n" }, /^body\.font_family/],
    [{ font_family: "Ubuntu\u00a0Mono" }, /^body\.font_family/],
    [{ font_family: "a".repeat(101) }, /^body\.font_family/],
    [{ custom_css: "a".repeat(50_001) }, /^body\.custom_css/],
    [{ custom_css: 7 }, /^body\.custom_css/],
    [{ custom_css: "a\0b" }, /^body\.custom_css: contains a NUL/],
    [{ custom_css: "@im/**/port 'x';" }, /^body\.custom_css: must not contain @import$/],
    [{ custom_css: String.raw`a{b:\65xpression(1)}` }, /must not contain expression\(\)$/],
    [{ custom_css: "a{b:url(javascript:x)}" }, /must not contain javascript:$/],
    [{ custom_css: "</STYLE ><script>" }, /must not contain <\/style$/],
    [{ custom_css: "a{b:url(//evil.example)}" }, /must not contain url\(\) other than/],
  ] as [Record<string, unknown>, RegExp][]
) {
  Deno.test(`a brand with ${JSON.stringify(change).slice(0, 60)} is refused, new or changed`, async () => {
    using app = enterprise();
    const brand = await add(app, FULL);
    const created = await app.call("POST", BASE, { name: "x", ...change });
    const changed = await app.call("PUT", `${BASE}/${brand.id}`, change);
    for (const { status, body } of [created, changed]) {
      equal(status, 400, JSON.stringify(body));
      match(body.error, error);
    }
    deepEqual((await app.call("GET", `${BASE}/${brand.id}`)).body, brand);
    equal((await app.call("GET", BASE)).body.brands.length, 1);
  });
}

for (
  const logo_url of [
    "https://cdn.example.com",
    "https://cdn.example.com:8443/a/b.png?v=1&w=2#x",
    "https://192.0.2.1/logo.svg",
    "https://[2001:db8::1]/logo.svg",
    "https://bücher.example/zeichen.svg",
    "HTTPS://CDN.example.com/Logo.SVG",
  ]
) {
  Deno.test(`the logo ${logo_url} is stored as it is`, async () => {
    using app = enterprise();
    equal((await add(app, { logo_url })).logo_url, logo_url);
  });
}

Deno.test("the 101st brand is refused with 409", async () => {
  using app = enterprise();
  for (let i = 0; i < 100; i++) await add(app, { name: `Brand ${i}` });
  const { status, body } = await app.call("POST", BASE, { name: "more" });
  deepEqual([status, body.error], [
    409,
    "Limit of 100 brands reached; delete one first",
  ]);
  equal((await app.call("POST", BASE, { name: "" })).status, 400);
});
