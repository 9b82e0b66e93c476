import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { openDataDirectory } from "../../commands/data_directory.ts";
import { createApp } from "../../routes/app.ts";
import { accessPolicySource } from "../../services/editions.ts";
import { silentLog } from "../../services/log.ts";
import { containerOf, setContainers } from "../helpers/fake_containers.ts";
import { durationOf, mostlyWithin } from "../helpers/in_time.ts";
import { TEST_API_KEY, testApp, type TestAppOptions } from "../helpers/test_app.ts";

/** An application with `count` containers in its snapshot. */
function appWithContainers(count: number, options: TestAppOptions = {}) {
  const app = testApp(options);
  const containers = Array.from({ length: count }, (_, n) => containerOf({ name: `web-${n}` }));
  setContainers(app, ...containers);
  return app;
}

Deno.test("every response has the security headers, a request id and no caching", async () => {
  using app = appWithContainers(1);
  for (const path of ["/api/containers", "/nowhere", "/api/containers?state=odd", "/livez"]) {
    const { headers } = await app.call("GET", path);
    equal(headers.get("x-content-type-options"), "nosniff", path);
    equal(headers.get("x-frame-options"), "DENY", path);
    equal(headers.get("cache-control"), "no-store", path);
    match(headers.get("x-request-id")!, /^[0-9a-f-]{36}$/, path);
    match(headers.get("content-type")!, /^application\/json/, path);
  }
});

Deno.test("a liveness probe has the response of the endpoint that it bypasses", async () => {
  using app = testApp({ config: { corsOrigins: ["https://ui.example.org"] } });
  const responseOf = async (path: string) => {
    const headers = { origin: "https://ui.example.org", "x-request-id": "r1" };
    const response = await app.fetch("GET", path, undefined, { headers });
    return [response.status, Object.fromEntries(response.headers), await response.text()];
  };
  deepEqual(await responseOf("/livez"), await responseOf("/livez/"));
  equal((await app.call("GET", "/livez?odd=1")).status, 400);
});

Deno.test("a liveness probe fails while the access policy cannot be loaded", async () => {
  const { load } = accessPolicySource;
  accessPolicySource.load = () => Promise.reject(new Error("no such file"));
  try {
    using app = testApp({ edition: "enterprise" });
    equal((await app.call("GET", "/livez")).status, 500);
  } finally {
    accessPolicySource.load = load;
  }
});

Deno.test("a well-formed request id is kept, any other is replaced", async () => {
  using app = testApp();
  const idFor = async (id: string) =>
    (await app.call("GET", "/livez", undefined, { headers: { "x-request-id": id } }))
      .headers.get("x-request-id");
  equal(await idFor("trace-1.a:b"), "trace-1.a:b");
  notEqual(await idFor("<script>"), "<script>");
  notEqual(await idFor("a".repeat(200)), "a".repeat(200));
});

for (
  const { what, method = "POST", path = "/api/containers/bulk", body, headers, status, error } of [
    {
      what: "an unknown path",
      method: "GET",
      path: "/api/ships",
      status: 404,
      error: "No such path: /api/ships",
    },
    ...["/api/containers//", "/api/containers/a//", "//api/containers"].map((path) => ({
      what: `the path ${path}`,
      method: "GET",
      path,
      status: 404,
      error: `No such path: ${path.replace(/\/$/, "")}`,
    })),
    {
      what: "a method that the path does not have",
      method: "PUT",
      path: "/api/overview",
      status: 405,
      error: "PUT is not allowed; allowed methods: GET, HEAD",
    },
    {
      what: "a body that is not JSON",
      body: "{",
      headers: { "content-type": "application/json" },
      status: 400,
      error: "body: is not valid JSON",
    },
    {
      what: "a body of another type",
      body: "ids=1",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      status: 415,
      error: "Expected a body of type application/json, not application/x-www-form-urlencoded",
    },
    {
      what: "a body that is too large",
      body: `"${"a".repeat(1024 * 1024)}"`,
      headers: { "content-type": "application/json" },
      status: 413,
      error: "The body is larger than 1048576 bytes",
    },
    {
      what: "an anonymous body that is larger than any login",
      path: "/auth/token",
      body: `"${"a".repeat(64 * 1024)}"`,
      headers: { "content-type": "application/json" },
      status: 413,
      error: "The body is larger than 65536 bytes",
    },
    {
      what: "a query parameter given twice",
      method: "GET",
      path: "/api/containers?name=a&name=b",
      status: 400,
      error: "query.name: given 2 times, expected once",
    },
    {
      what: "an unknown value",
      method: "GET",
      path: "/api/containers?state=odd",
      status: 400,
      error:
        "query.state: must be one of created, running, paused, restarting, removing, exited, dead",
    },
    {
      what: "a number out of its range",
      path: "/api/containers/web/stop?t=301",
      status: 400,
      error: "query.t: must be at most 300",
    },
    {
      what: "a malformed number",
      path: "/api/containers/web/stop?t=1e2",
      status: 400,
      error: "query.t: must be a whole number",
    },
    {
      what: "a name that would reach another path of the engine's API",
      method: "GET",
      path: "/api/containers/..%2Fimages",
      status: 400,
      error: "path.id: must be an id, an unambiguous prefix of an id, or a name",
    },
    {
      what: "a host with a slash, which would become part of the path",
      method: "GET",
      path: "/api/containers",
      headers: { host: "a/livez?" },
      status: 400,
      error: "The Host header must be a name or address, with an optional port",
    },
  ] as {
    what: string;
    method?: string;
    path?: string;
    body?: unknown;
    headers?: Record<string, string>;
    status: number;
    error: string;
  }[]
) {
  Deno.test(`${what} is refused with ${status} and a message`, async () => {
    using app = appWithContainers(1);
    const answer = await app.call(method, path, body, { headers: headers ?? {} });
    deepEqual([answer.status, answer.body.error], [status, error]);
  });
}

Deno.test("405 lists the allowed methods", async () => {
  using app = testApp();
  const { headers } = await app.call("DELETE", "/auth/users");
  equal(headers.get("allow"), "GET, HEAD, POST");
});

Deno.test("the order of refusals is token, role, input", async () => {
  using app = testApp();
  const bad = (role: "public" | "viewer" | "operator") =>
    app.call("POST", "/api/containers/bulk", { ids: "no list" }, { role });
  deepEqual(
    [(await bad("public")).status, (await bad("viewer")).status, (await bad("operator")).status],
    [401, 403, 400],
  );
});

Deno.test("data that only the engine has is 503 while the engine is unreachable", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/containers");
  deepEqual([status, typeof body.error], [503, "string"]);
});

Deno.test("an unexpected failure shows only Internal error, and the log has the details", async () => {
  const logged: unknown[] = [];
  using app = testApp({
    log: { ...silentLog, error: (message, fields) => void logged.push({ message, ...fields }) },
  });
  app.deps.inventory.setLive(true);
  app.deps.inventory.list = () => {
    throw new Error("secret detail");
  };
  const { status, body, headers } = await app.call("GET", "/api/containers");
  deepEqual([status, body], [500, { error: "Internal error" }]);
  const [line] = logged as { requestId: string; error: string }[];
  deepEqual([line?.requestId, line?.error], [headers.get("x-request-id"), "secret detail"]);
});

const rule = {
  name: "Processor",
  metric: "cpu_percent",
  operator: ">",
  threshold: 90,
  durationSeconds: 60,
};

Deno.test("with a full disk, writes are 503 and reads succeed", async () => {
  using app = testApp();
  const { page_count: pages } = app.deps.db.get<{ page_count: number }>("PRAGMA page_count")!;
  app.deps.db.exec(`PRAGMA max_page_count = ${pages}`);
  const name = "x".repeat(60);
  let refused = await app.call("POST", "/api/alerts/rules", { ...rule, name });
  for (let n = 0; n < 50 && refused.status === 201; n++) {
    refused = await app.call("POST", "/api/alerts/rules", { ...rule, name: `${name}-${n}` });
  }
  deepEqual([refused.status, refused.body], [503, {
    error: "Cannot store anything: the disk is full",
  }]);
  equal((await app.call("GET", "/api/alerts/rules")).status, 200);

  app.deps.db.exec("PRAGMA max_page_count = 1000000");
  equal((await app.call("POST", "/api/alerts/rules", rule)).status, 201);
});

Deno.test("a database locked by another process is 503 after a short wait", async () => {
  const directory = Deno.makeTempDirSync({ prefix: "longshore-locked-" });
  const data = openDataDirectory(directory, silentLog);
  const other = new DatabaseSync(`${directory}/state.sqlite`);
  try {
    using app = testApp({ db: data.db });
    other.exec("BEGIN IMMEDIATE");
    const error = "Cannot store anything: another process has the database locked; try again";
    await mostlyWithin(2_000, "the refusal", () =>
      durationOf(async () => {
        const { status, body } = await app.call("POST", "/api/alerts/rules", rule);
        deepEqual([status, body], [503, { error }]);
      }), { tries: 3 });
    const login = await app.call("POST", "/auth/token", { apiKey: TEST_API_KEY });
    deepEqual([login.status, login.body], [503, { error }]);
    equal((await app.call("GET", "/api/alerts/rules")).status, 200);

    other.exec("ROLLBACK");
    equal((await app.call("POST", "/api/alerts/rules", rule)).status, 201);
  } finally {
    other.close();
    data[Symbol.dispose]();
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("a client with a current copy gets 304", async () => {
  using app = appWithContainers(3);
  const first = await app.call("GET", "/api/containers");
  const etag = first.headers.get("etag")!;
  const again = await app.call("GET", "/api/containers", undefined, {
    headers: { "if-none-match": etag },
  });
  deepEqual([again.status, again.body, again.headers.get("etag")], [304, undefined, etag]);

  app.deps.inventory.remove(first.body.containers[0].id, app.deps.inventory.readNumber());
  const changed = await app.call("GET", "/api/containers", undefined, {
    headers: { "if-none-match": etag },
  });
  deepEqual([changed.status, changed.body.containers.length], [200, 2]);
});

Deno.test("a cached response follows the clock, because it contains uptimes", async () => {
  using app = appWithContainers(1, { now: "2026-01-01T00:00:30Z" });
  const status = async () => (await app.call("GET", "/api/containers")).body.containers[0].status;
  equal(await status(), "Up 30 seconds");
  app.clock.advance({ seconds: 1 });
  equal(await status(), "Up 31 seconds");
});

Deno.test("a large response is compressed for a client that accepts gzip", async () => {
  using app = appWithContainers(50);
  const response = await app.fetch("GET", "/api/containers", undefined, {
    headers: { "accept-encoding": "gzip, br" },
  });
  equal(response.headers.get("content-encoding"), "gzip");
  const text = new TextDecoder().decode(gunzipSync(new Uint8Array(await response.arrayBuffer())));
  equal(JSON.parse(text).containers.length, 50);

  const refused = await app.fetch("GET", "/api/containers", undefined, {
    headers: { "accept-encoding": "gzip;q=0" },
  });
  equal(refused.headers.get("content-encoding"), null);
  await refused.body?.cancel();
});

Deno.test("HEAD responds like GET, without a body", async () => {
  using app = appWithContainers(1);
  const response = await app.fetch("HEAD", "/api/containers");
  deepEqual([response.status, await response.text()], [200, ""]);
});

Deno.test("HEAD on the event stream leaves no open client", async () => {
  using app = appWithContainers(1);
  equal((await app.fetch("HEAD", "/api/stream")).status, 200);
  equal(app.deps.stream.count, 0);
});

Deno.test("an address over the rate limit gets 429 with the time to wait; probes never do", async () => {
  using app = testApp({ config: { rateLimitPerMinute: 2 } });
  for (let n = 0; n < 2; n++) equal((await app.call("GET", "/api/health")).status, 200);
  const refused = await app.call("GET", "/api/health");
  deepEqual([refused.status, refused.headers.get("retry-after")], [429, "60"]);
  equal(refused.headers.get("ratelimit"), '"default";r=0;t=60');
  equal((await app.call("GET", "/livez")).status, 200);
  equal((await app.call("GET", "/api/health", undefined, { address: "192.0.2.9" })).status, 200);
});

Deno.test("only listed origins may call from a browser", async () => {
  using app = testApp({ config: { corsOrigins: ["https://ops.example"] } });
  const from = async (
    origin: string,
    method = "GET",
  ) => (await app.fetch(method, "/livez", undefined, {
    headers: { origin, "access-control-request-method": "GET" },
  }));
  const listed = await from("https://ops.example");
  equal(listed.headers.get("access-control-allow-origin"), "https://ops.example");
  await listed.body?.cancel();
  const other = await from("https://evil.example");
  equal(other.headers.get("access-control-allow-origin"), null);
  await other.body?.cancel();
  equal((await from("https://ops.example", "OPTIONS")).status, 204);
});

Deno.test("Vary names origin and encoding, for GET and HEAD", async () => {
  using app = testApp({ config: { corsOrigins: ["https://ops.example"] } });
  for (const method of ["GET", "HEAD"]) {
    const { headers, body } = await app.fetch(method, "/docs");
    await body?.cancel();
    equal(headers.get("vary"), "origin, accept-encoding", method);
  }
});

Deno.test("a malformed forwarded address is 400", async () => {
  using app = testApp({ config: { trustedProxies: ["192.0.2.1"] } });
  const answer = createApp(app.deps);
  const response = await answer(
    new Request("http://longshore.test/livez", { headers: { "x-forwarded-for": "no address" } }),
    "192.0.2.1",
  );
  equal(response.status, 400);
  match((await response.json()).error, /X-Forwarded-For is malformed/);
});
