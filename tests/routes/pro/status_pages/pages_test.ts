import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  isDashboardHost,
  recordDashboardHost,
} from "../../../../services/access/sign_in/dashboard_hosts.ts";
import {
  newComponent,
  newPage,
  newSubscriber,
  PAGES,
  proApp,
} from "../../../helpers/status_pages.ts";
import { testApp } from "../../../helpers/test_app.ts";

Deno.test("POST /status-pages stores a page under a slug made from its name", async () => {
  using app = proApp();
  const { status, body } = await app.call("POST", PAGES, {
    name: "Acmé Status",
    description: "What runs",
    is_public: false,
    custom_domain: "Status.Acme.test",
    theme: { primary_color: "#0f766e" },
  });
  equal(status, 201);
  deepEqual(body, {
    id: body.id,
    slug: "acme-status",
    name: "Acmé Status",
    description: "What runs",
    is_public: false,
    custom_domain: "status.acme.test",
    theme: { primary_color: "#0f766e" },
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
  });
  deepEqual((await app.call("GET", `${PAGES}/${body.id}`)).body, {
    ...body,
    overall_status: "operational",
    components: [],
    active_incidents: [],
  });
  deepEqual((await app.call("GET", PAGES, undefined, { role: "viewer" })).body, {
    pages: [body],
    total: 1,
    limit: 50,
    offset: 0,
  });
});

Deno.test("a page requires only a name", async () => {
  using app = proApp();
  const { description, is_public, custom_domain, theme } = await newPage(app);
  deepEqual({ description, is_public, custom_domain, theme }, {
    description: "",
    is_public: true,
    custom_domain: null,
    theme: {},
  });
});

Deno.test("a slug is unique and stays when the name changes", async () => {
  using app = testApp({ edition: "enterprise" });
  const slugs = [];
  for (const name of ["Acme", "ACME!", "acme 2", "日本", "日本"]) {
    slugs.push((await newPage(app, { name })).slug);
  }
  deepEqual(slugs, ["acme", "acme-2", "acme-2-2", "page", "page-2"]);
  const { body: { pages } } = await app.call("GET", `${PAGES}?limit=500`);
  const acme = pages.find(({ slug }: { slug: string }) => slug === "acme");
  const { body } = await app.call("PUT", `${PAGES}/${acme.id}`, { name: "Globex" });
  deepEqual([body.name, body.slug], ["Globex", "acme"]);
  equal((await newPage(app, { name: "Globex" })).slug, "globex");
});

for (
  const { wrong, change, error } of [
    { wrong: "an empty name", change: { name: "" }, error: /^body\.name: / },
    { wrong: "a name of spaces", change: { name: " \u3000" }, error: /^body\.name: .*empty/ },
    { wrong: "a name of two lines", change: { name: "a\r\nBcc: b" }, error: /^body\.name: .*line/ },
    { wrong: "a long name", change: { name: "x".repeat(201) }, error: /^body\.name: / },
    { wrong: "a NUL", change: { description: "a\0b" }, error: /^body\.description: .*control/ },
    {
      wrong: "a long description",
      change: { description: "x".repeat(20_001) },
      error: /^body\.description: /,
    },
    { wrong: "is_public as text", change: { is_public: "yes" }, error: /^body\.is_public: / },
    { wrong: "a URL as domain", change: { custom_domain: "https://a.b" }, error: /host name/ },
    { wrong: "an address as domain", change: { custom_domain: "10.0.0.1" }, error: /host name/ },
    { wrong: "a theme that is not an object", change: { theme: "red" }, error: /^body\.theme: / },
    {
      wrong: "a color that is CSS",
      change: { theme: { primary_color: "red;}body{display:none" } },
      error: /^body\.theme\.primary_color: .*#0a7/,
    },
    {
      wrong: "a color of four digits",
      change: { theme: { primary_color: "#1234" } },
      error: /^body\.theme\.primary_color: /,
    },
  ]
) {
  Deno.test(`POST and PUT /status-pages refuse ${wrong}`, async () => {
    using app = proApp();
    const page = await newPage(app);
    for (
      const answer of [
        await app.call("POST", PAGES, { name: "B", ...change }),
        await app.call("PUT", `${PAGES}/${page.id}`, change),
      ]
    ) {
      equal(answer.status, 400);
      match(answer.body.error, error);
    }
    equal((await app.call("GET", PAGES)).body.total, 1);
  });
}

Deno.test("one domain has one page", async () => {
  using app = proApp();
  const first = await newPage(app, { custom_domain: "status.acme.test" });
  const second = await newPage(app);
  for (
    const answer of [
      await app.call("POST", PAGES, { name: "C", custom_domain: "STATUS.acme.test" }),
      await app.call("PUT", `${PAGES}/${second.id}`, { custom_domain: "status.acme.test." }),
    ]
  ) {
    equal(answer.status, 409);
    match(answer.body.error, /domain status\.acme\.test/);
  }
  const path = `${PAGES}/${first.id}`;
  const same = await app.call("PUT", path, { custom_domain: "status.acme.test" });
  equal(same.status, 200);
  equal((await app.call("PUT", path, { custom_domain: null })).body.custom_domain, null);
  equal(
    (await app.call("PUT", `${PAGES}/${second.id}`, { custom_domain: "status.acme.test" })).status,
    200,
  );
});

Deno.test("the fourth page is 402 on Pro, and an invalid one is still 400", async () => {
  using app = proApp();
  for (let i = 0; i < 3; i++) await newPage(app);
  const { status, body } = await app.call("POST", PAGES, { name: "x" });
  equal(status, 402);
  deepEqual([body.current, body.max, body.currentEdition], [3, 3, "pro"]);
  match(body.error, /\(status pages\)/);
  equal((await app.call("POST", PAGES, { name: "" })).status, 400);
  equal((await app.call("POST", PAGES, { name: "x", custom_domain: "a b" })).status, 400);
  equal((await app.call("GET", "/api/edition")).body.usage.status_pages, 3);
});

Deno.test("without a license everything is 402, and stored pages are kept", async () => {
  using app = testApp();
  for (const path of [PAGES, `${PAGES}/public/acme`, `${PAGES}/x/components`]) {
    const { status, body } = await app.call("GET", path);
    deepEqual([status, body.current, body.max], [402, 0, 0]);
    equal(body.error, "Status pages need the Pro edition (status pages)");
  }
});

Deno.test("DELETE deletes a page with everything that belongs to it and nothing else", async () => {
  using app = proApp({ config: { smtpUrl: "smtp://127.0.0.1:1", outboundAllow: ["127.0.0.1"] } });
  const [page, other] = [await newPage(app), await newPage(app)];
  for (const { id } of [page, other]) {
    const component = await newComponent(app, id);
    await newSubscriber(app, id, { webhook_url: "http://127.0.0.1:1/" });
    await newSubscriber(app, id, { email: "ada@example.com" });
    await app.call("POST", `${PAGES}/${id}/incidents`, { title: "Down" });
    await app.call("PUT", `${PAGES}/${id}/components/${component.id}`, { status: "major_outage" });
  }
  deepEqual((await app.call("DELETE", `${PAGES}/${page.id}`)).body, { ok: true });
  const tables = ["components", "incidents", "subscribers", "notices"];
  for (const table of tables) {
    deepEqual(
      app.deps.db.all(`SELECT DISTINCT page_id FROM status_page_${table}`).map((row) => ({
        ...row as object,
      })),
      [{ page_id: other.id }],
      table,
    );
  }
  // Of the other page's: a mail to verify, and two notices to each of two subscribers.
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 5);
  equal((await app.call("GET", `${PAGES}/${page.id}`)).status, 404);
  equal((await app.call("GET", `${PAGES}/public/${page.slug}`)).status, 404);
  equal((await app.call("GET", `${PAGES}/public/${other.slug}`)).status, 200);
});

Deno.test("an unknown page is 404 everywhere", async () => {
  using app = proApp();
  for (
    const [method, path, body] of [
      ["GET", "", undefined],
      ["PUT", "", { name: "x" }],
      ["DELETE", "", undefined],
      ["GET", "/components", undefined],
      ["POST", "/components", { name: "x" }],
      ["PUT", "/components/c", { name: "x" }],
      ["DELETE", "/components/c", undefined],
      ["GET", "/incidents", undefined],
      ["POST", "/incidents", { title: "x" }],
      ["PUT", "/incidents/i", { title: "x" }],
      ["DELETE", "/incidents/i", undefined],
      ["GET", "/subscribers", undefined],
      ["POST", "/subscribers", { webhook_url: "http://198.100.1.1/" }],
      ["DELETE", "/subscribers/s", undefined],
    ] as const
  ) {
    const answer = await app.call(method, `${PAGES}/nope${path}`, body);
    deepEqual([method, path, answer.status], [method, path, 404]);
    equal(answer.body.error, "Status page nope does not exist");
  }
});

Deno.test("pages are read by everyone and written by admins", async () => {
  using app = proApp();
  const { id } = await newPage(app);
  for (const role of ["viewer", "operator"] as const) {
    equal((await app.call("GET", `${PAGES}/${id}`, undefined, { role })).status, 200);
    equal((await app.call("POST", PAGES, { name: "x" }, { role })).status, 403);
    equal(
      (await app.call("POST", `${PAGES}/${id}/incidents`, { title: "x" }, { role })).status,
      403,
    );
  }
});

Deno.test("a page cannot take the dashboard's own domain", async () => {
  using app = proApp({ config: { serviceBaseUrl: "https://longshore.test" } });
  const refused = [409, "The dashboard uses the domain longshore.test; use another one"];
  const created = await app.call("POST", PAGES, { name: "A", custom_domain: "LONGSHORE.test." });
  deepEqual([created.status, created.body.error], refused);
  const page = await newPage(app, { custom_domain: "status.longshore.test" });
  const change = { custom_domain: "longshore.test" };
  const changed = await app.call("PUT", `${PAGES}/${page.id}`, change);
  deepEqual([changed.status, changed.body.error], refused);
  equal((await app.call("PUT", `${PAGES}/${page.id}`, { name: "B" })).status, 200);
});

Deno.test("a page cannot take a host name under which an admin uses the dashboard", async () => {
  const apiKey = "dashboard-hosts-key-0123456789abcdef";
  using app = proApp({ config: { apiKey } });
  const at = (url: string, body?: unknown) =>
    app.app(
      new Request(url, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...{ host: new URL(url).host, "x-page-secret": "s".repeat(43) },
          "content-type": "application/json",
        },
        body: body === undefined ? null : JSON.stringify(body),
      }),
      "192.0.2.1",
    );
  const signIn = async (host: string) =>
    (await at(`http://${host}/auth/session`, { apiKey })).status;
  const create = async (custom_domain: string) =>
    (await app.call("POST", PAGES, { name: "A", custom_domain })).status;
  const isDashboard = async (host: string) =>
    (await (await at(`http://${host}/`)).text()).includes("dashboard needs JavaScript");

  equal(await signIn("Dash.test.:3000"), 200);
  equal(await create("dash.test"), 409);
  equal(await create("status.test"), 201);
  equal(await create("later.test"), 201);
  ok(!await isDashboard("status.test") && !await isDashboard("later.test"));
  // The dashboard has precedence over a page that came first.
  equal(await signIn("later.test"), 200);
  ok(await isDashboard("later.test") && await isDashboard("LATER.test.:8443"));
  ok(!await isDashboard("status.test"));
});

Deno.test("only admins' sessions make a host name the dashboard's, the last 20, without SERVICE_BASE_URL", () => {
  using app = proApp();
  const { deps } = app;
  recordDashboardHost(deps, "viewer", "http://status.test");
  for (let at = 0; at <= 20; at++) {
    recordDashboardHost(deps, "admin", `http://host${at}.test.:3000`);
  }
  deepEqual(
    ["status.test", "host0.test", "host1.test", "host20.test"].map((host) =>
      isDashboardHost(deps, host)
    ),
    [false, false, true, true],
  );
  const set = {
    ...deps,
    config: { ...deps.config, serviceBaseUrl: "https://longshore.test/base" },
  };
  recordDashboardHost(set, "admin", "http://status.test");
  deepEqual(
    [isDashboardHost(set, "longshore.test"), isDashboardHost(set, "host20.test")],
    [true, false],
  );
});
