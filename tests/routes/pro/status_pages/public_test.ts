import { deepEqual, equal, notEqual } from "node:assert/strict";
import { pageByDomain } from "../../../../services/pro/status_pages/public.ts";
import {
  newComponent,
  newMonitor,
  newPage,
  newSubscriber,
  PAGES,
  proApp,
} from "../../../helpers/status_pages.ts";
import type { TestApp } from "../../../helpers/test_app.ts";

const anyone = { role: "public" } as const;
const read = (app: TestApp, slug = "acme") =>
  app.call("GET", `${PAGES}/public/${slug}`, undefined, anyone);

Deno.test("a public page needs no token and shows nothing private", async () => {
  using app = proApp({ config: { smtpUrl: "smtp://127.0.0.1:1", outboundAllow: ["127.0.0.1"] } });
  newMonitor(app, "the-monitor", "down");
  const theme = { primary_color: "#abc" };
  const page = await newPage(app, { description: "Ours", theme, custom_domain: "s.acme.test" });
  const other = await newPage(app, { name: "Hidden", is_public: false });
  const component = await newComponent(app, page.id, { monitor_id: "the-monitor" });
  await newComponent(app, other.id, { name: "Secret part" });
  await newSubscriber(app, page.id, { email: "ada@example.com" });
  await newSubscriber(app, page.id, { webhook_url: "http://127.0.0.1:1/hook" });
  const { body: incident } = await app.call("POST", `${PAGES}/${page.id}/incidents`, {
    title: "Down",
  });

  const { status, body } = await read(app);
  equal(status, 200);
  deepEqual(body, {
    name: "Acme",
    slug: "acme",
    description: "Ours",
    theme,
    overall_status: "major_outage",
    components: [{
      id: component.id,
      name: "API",
      description: "",
      status: "major_outage",
      display_order: 0,
      group_name: null,
      uptime: body.components[0].uptime,
    }],
    maintenances: [],
    active_incidents: [{
      id: incident.id,
      title: "Down",
      message: "",
      severity: "minor",
      status: "investigating",
      created_at: "2026-01-01T12:00:00.000Z",
      updated_at: "2026-01-01T12:00:00.000Z",
      resolved_at: null,
      updates: incident.updates,
    }],
    recent_incidents: [],
    updated_at: "2026-01-01T12:00:00.000Z",
  });
  const text = JSON.stringify(body);
  for (const secret of ["the-monitor", "10.0.0.5", "ada@", "hook", "Secret", page.id, "internal"]) {
    equal(text.includes(secret), false, secret);
  }
});

Deno.test("a private page is answered like one that does not exist", async () => {
  using app = proApp();
  const page = await newPage(app, { custom_domain: "s.acme.test" });
  equal((await read(app)).status, 200);
  equal(pageByDomain(app.deps, "s.acme.test")?.slug, "acme");
  await app.call("PUT", `${PAGES}/${page.id}`, { is_public: false });
  const hidden = await read(app);
  const missing = await read(app, "nope");
  deepEqual([hidden.status, missing.status], [404, 404]);
  equal(hidden.body.error.replace("acme", "nope"), missing.body.error);
  equal(pageByDomain(app.deps, "s.acme.test"), undefined);
  for (const slug of ["__proto__", "constructor", "%00", "..", page.id]) {
    equal((await read(app, slug)).status === 200, false, slug);
  }
});

Deno.test("every change is visible immediately, and nothing else changes the response", async () => {
  using app = proApp();
  const page = await newPage(app);
  const etag = async () => (await read(app)).headers.get("etag");
  const first = await etag();
  await app.call("POST", "/api/webhooks", {
    name: "x",
    url: "http://127.0.0.1:1/",
    events: ["*"],
  });
  equal(await etag(), first);
  const headers = { "if-none-match": first! };
  const options = { ...anyone, headers };
  equal((await app.call("GET", `${PAGES}/public/acme`, undefined, options)).status, 304);

  let last = first;
  const path = `${PAGES}/${page.id}`;
  const add = async (what: string, body: object) =>
    (await app.call("POST", `${path}/${what}`, body)).body.id;
  const steps = [
    () => app.call("PUT", path, { name: "Globex" }),
    () => add("components", { name: "Web" }),
    async () => {
      const id = await add("components", { name: "API" });
      await app.call("PUT", `${path}/components/${id}`, { status: "partial_outage" });
    },
    () => add("incidents", { title: "Slow" }),
    async () => {
      const { body } = await app.call("GET", `${path}/incidents`);
      await app.call("PUT", `${path}/incidents/${body.incidents[0].id}`, { status: "resolved" });
    },
    async () => {
      const { body } = await app.call("GET", `${path}/incidents`);
      await app.call("DELETE", `${path}/incidents/${body.incidents[0].id}`);
    },
    async () => {
      const { body } = await app.call("GET", `${path}/components`);
      await app.call("DELETE", `${path}/components/${body.components[1].id}`);
    },
  ];
  for (const step of steps) {
    await step();
    const next = await etag();
    notEqual(next, last, step.toString());
    last = next;
  }
});

Deno.test("a resolved incident stays on the page for 14 days", async () => {
  using app = proApp();
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/incidents`;
  for (const title of ["first", "second"]) {
    await app.call("POST", path, { title, status: "resolved" });
    app.clock.advance({ days: 1 });
  }
  const titles = async () =>
    (await read(app)).body.recent_incidents.map(({ title }: { title: string }) => title);
  deepEqual(await titles(), ["second", "first"]);
  app.clock.set("2026-01-15T11:59:59.999Z");
  deepEqual(await titles(), ["second", "first"]);
  app.clock.set("2026-01-15T12:00:00Z");
  deepEqual(await titles(), ["second"]);
  app.clock.set("2026-01-17T12:00:00Z");
  deepEqual(await titles(), []);
  equal((await app.call("GET", path)).body.total, 2);
});

Deno.test("a page is found by its domain, with port, case and dot", async () => {
  using app = proApp();
  await newPage(app, { custom_domain: "münchen.example" });
  for (
    const host of [
      "xn--mnchen-3ya.example",
      "XN--MNCHEN-3YA.EXAMPLE:8443",
      "xn--mnchen-3ya.example.",
      "xn--mnchen-3ya.example.:80",
    ]
  ) equal(pageByDomain(app.deps, host)?.name, "Acme", host);
  for (const host of ["example", "", "x.xn--mnchen-3ya.example", "[::1]:80"]) {
    equal(pageByDomain(app.deps, host), undefined, host);
  }
});

Deno.test("text of any script is returned unchanged", async () => {
  using app = proApp();
  const name = `<script>alert("1")</script> & 'x' \u202e\u05e9\u05dc\u05d5\u05dd 🔥 ${
    "\u00e9".repeat(100)
  }`;
  const message = `line 1\r\nline 2\t</script>]]>${"🔥".repeat(9_000)}`;
  const page = await newPage(app, { name, description: message });
  await newComponent(app, page.id, { name, description: message, group_name: name });
  await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: name, message });
  const { body } = await read(app, page.slug);
  deepEqual(
    [
      body.name,
      body.description,
      body.components[0].name,
      body.components[0].group_name,
      body.active_incidents[0].title,
      body.active_incidents[0].message,
    ],
    [name, message, name, name, name, message],
  );
});

Deno.test("reading a page does not touch the database", async () => {
  using app = proApp();
  await newPage(app);
  await read(app);
  const { db } = app.deps;
  const forbidden = () => {
    throw new Error("the database was asked");
  };
  const [all, get] = [db.all, db.get];
  Object.assign(db, { all: forbidden, get: forbidden });
  try {
    equal((await read(app)).status, 200);
    equal((await read(app, "nope")).status, 404);
  } finally {
    Object.assign(db, { all, get });
  }
});
