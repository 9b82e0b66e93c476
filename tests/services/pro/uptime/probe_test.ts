import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { parseHostPort, probe, type ProbeTarget } from "../../../../services/pro/uptime/probe.ts";
import { selfSigned } from "../../../helpers/certificates.ts";
import { dnsServer, type Zone } from "../../../helpers/dns_server.ts";
import { testConfig } from "../../../helpers/test_app.ts";
import { isInTime } from "../../../helpers/in_time.ts";

const deps = { config: testConfig({ outboundAllow: ["127.0.0.0/8"] }) };
const never = new AbortController().signal;

const target = (url: string, change: Partial<ProbeTarget> = {}): ProbeTarget => ({
  type: "http",
  url,
  method: "GET",
  expectedStatus: "200",
  keyword: null,
  recordType: null,
  expected: null,
  timeoutMs: 60_000,
  headers: {},
  body: null,
  ...change,
});

function serve(answer: (request: Request) => Response | Promise<Response>, hostname = "127.0.0.1") {
  const asked: Request[] = [];
  const server = Deno.serve({ hostname, port: 0, onListen() {} }, (request) => {
    asked.push(request.clone());
    return answer(request);
  });
  return {
    asked,
    url: `http://${hostname}:${server.addr.port}`,
    port: server.addr.port,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Sends bytes to each connection and leaves it open. */
function serveBytes(text: string) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const conn of listener) {
      open.push(conn);
      await conn.write(new TextEncoder().encode(text)).catch(() => {});
    }
  })();
  return {
    port: listener.addr.port,
    url: `http://127.0.0.1:${listener.addr.port}`,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const conn of open) conn.close();
      await accepting;
    },
  };
}

const site = (request: Request): Response => {
  const { pathname } = new URL(request.url);
  const hops = /^\/hop\/(\d+)$/.exec(pathname)?.[1];
  if (hops !== undefined) {
    const location = hops === "0" ? "/ok" : `/hop/${Number(hops) - 1}`;
    return new Response(null, { status: 302, headers: { location } });
  }
  if (pathname === "/ok") return new Response("all is well");
  if (pathname === "/far") return new Response("x".repeat(1024 * 1024) + "late");
  if (pathname === "/near") {
    return new Response("x".repeat(1024 * 1024 - 4) + "near" + "y".repeat(99));
  }
  if (pathname === "/inside") {
    return new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } });
  }
  const status = Number(pathname.slice(1));
  return new Response(status === 204 ? null : "no", { status });
};

for (
  const { is, path, change = {}, status, error } of [
    { is: "the expected status", path: "/ok", status: 200, error: null },
    { is: "another status", path: "/503", status: 503, error: "The status is 503, not 200" },
    {
      is: "a status in a range",
      path: "/204",
      change: { expectedStatus: "200-299" },
      status: 204,
      error: null,
    },
    {
      is: "the end of a range",
      path: "/299",
      change: { expectedStatus: "200-299" },
      status: 299,
      error: null,
    },
    {
      is: "a status beside a range",
      path: "/404",
      change: { expectedStatus: "200-299,403" },
      status: 404,
      error: "The status is 404, not 200-299,403",
    },
    {
      is: "one of several",
      path: "/403",
      change: { expectedStatus: "200-299,403" },
      status: 403,
      error: null,
    },
    { is: "the keyword", path: "/ok", change: { keyword: "is well" }, status: 200, error: null },
    {
      is: "the keyword in other letters",
      path: "/ok",
      change: { keyword: "IS WELL" },
      status: 200,
      error: "The keyword is not in the response",
    },
    {
      is: "the keyword at the end of the first MiB",
      path: "/near",
      change: { keyword: "near" },
      status: 200,
      error: null,
    },
    {
      is: "the keyword after the first MiB",
      path: "/far",
      change: { keyword: "late" },
      status: 200,
      error: "The keyword is not in the response",
    },
    { is: "five redirects", path: "/hop/4", status: 200, error: null },
    { is: "six redirects", path: "/hop/5", status: null, error: "More than 5 redirects" },
    { is: "a HEAD request", path: "/ok", change: { method: "HEAD" }, status: 200, error: null },
  ] as {
    is: string;
    path: string;
    change?: Partial<ProbeTarget>;
    status: number | null;
    error: string | null;
  }[]
) {
  Deno.test(`an http check with ${is} gives ${error ?? "up"}`, async () => {
    await using server = serve(site);
    const result = await probe(deps, target(server.url + path, change), never);
    equal(result.error, error);
    equal(result.ok, error === null);
    equal(result.statusCode, status);
    equal(typeof result.responseTimeMs, status === null ? "object" : "number");
  });
}

Deno.test("each redirect is checked like the first address", async () => {
  await using server = serve(site);
  const result = await probe(deps, target(`${server.url}/inside`), never);
  equal(result.ok, false);
  match(result.error!, /^169\.254\.169\.254 is an address that this service may not reach/);
});

Deno.test("an http check sends its method, headers and body, and neither to another origin", async () => {
  await using other = serve(() => new Response("here"));
  await using server = serve(() =>
    new Response(null, { status: 307, headers: { location: `${other.url}/there` } })
  );
  const check = { method: "POST", headers: { "X-Key": "s3cret" } };

  const refused = await probe(deps, target(server.url, { ...check, body: "{}" }), never);
  equal(refused.ok, false);
  match(refused.error!, /redirects to another origin; the request body is not sent there$/);
  equal(server.asked[0]!.method, "POST");
  equal(server.asked[0]!.headers.get("x-key"), "s3cret");
  equal(await server.asked[0]!.text(), "{}");
  equal(other.asked.length, 0);

  const followed = await probe(deps, target(server.url, check), never);
  equal(followed.ok, true);
  equal(other.asked[0]!.method, "POST");
  equal(other.asked[0]!.headers.get("x-key"), null);
  await server.asked[1]!.body?.cancel();
  await other.asked[0]!.body?.cancel();
});

Deno.test("without a keyword the body is not read", async () => {
  await using server = serveBytes("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
  const head = await probe(deps, target(server.url), never);
  deepEqual([head.ok, head.error], [true, null]);
  const body = await probe(deps, target(server.url, { keyword: "a", timeoutMs: 200 }), never);
  deepEqual([body.ok, body.error], [false, "No answer within 200 ms"]);
});

for (
  const { is, bytes, error } of [
    { is: "silence", bytes: "", error: /^No answer within 200 ms$/ },
    { is: "no HTTP", bytes: "220 mail.example ESMTP\r\n\r\n", error: /did not answer with HTTP$/ },
  ]
) {
  Deno.test(`an http check with ${is} fails with a message`, async () => {
    await using server = serveBytes(bytes);
    const result = await probe(deps, target(server.url, { timeoutMs: 200 }), never);
    equal(result.ok, false);
    match(result.error!, error);
    equal(result.statusCode, null);
    equal(result.responseTimeMs, null);
  });
}

Deno.test("an untrusted certificate fails the check", async () => {
  const { cert, key } = await selfSigned({ name: "localhost", altNames: "IP:127.0.0.1" });
  const options = {
    hostname: "127.0.0.1",
    port: 0,
    cert,
    key,
    onListen() {},
    onError: () => new Response(),
  };
  const server = Deno.serve(options, () => new Response("secure"));
  try {
    const url = `https://127.0.0.1:${server.addr.port}/`;
    const result = await probe(deps, target(url), never);
    deepEqual(result, {
      ok: false,
      responseTimeMs: null,
      statusCode: null,
      error: `127.0.0.1:${server.addr.port}: the certificate is not trusted`,
    });
  } finally {
    await server.shutdown();
  }
});

Deno.test("a tcp check connects, and reports a refused connection", async () => {
  await using server = serveBytes("");
  const tcp = (port: number) => target(`127.0.0.1:${port}`, { type: "tcp" });
  const up = await probe(deps, tcp(server.port), never);
  ok(up.ok && up.responseTimeMs !== null);

  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = closed.addr;
  closed.close();
  const down = await probe(deps, tcp(port), never);
  deepEqual([down.ok, down.error], [false, `127.0.0.1:${port} refused the connection`]);
});

Deno.test("a tcp check connects only to allowed addresses", async () => {
  const result = await probe(
    { config: testConfig() },
    target("127.0.0.1:22", { type: "tcp" }),
    never,
  );
  match(result.error!, /^127\.0\.0\.1 is an address that this service may not reach/);
});

Deno.test("host and port are parsed strictly", () => {
  deepEqual(parseHostPort("db.internal:5432"), { host: "db.internal", port: 5432 });
  deepEqual(parseHostPort("[::1]:22"), { host: "[::1]", port: 22 });
  for (
    const wrong of [
      "db.internal",
      "db.internal:",
      ":5432",
      "db:0",
      "db:65536",
      "db:5432/x",
      "::1:22",
      "a b:1",
      "user@db:1",
      "http://db:1",
      "db:1\n",
    ]
  ) {
    equal(parseHostPort(wrong), undefined, wrong);
  }
});

const ZONE: Zone = {
  "www.example.test": { A: ["192.0.2.1", "192.0.2.2"], AAAA: ["20010db8000000000000000000000001"] },
  "alias.example.test": { CNAME: ["www.example.test"] },
  "example.test": {
    MX: ["10 mail.example.test", "20 backup.example.test"],
    NS: ["ns1.example.test"],
    TXT: ["v=spf1 |-all", "Key=AbC"],
  },
  "_sip._tcp.example.test": { SRV: ["10 20 5060 sip.example.test"] },
  "1.2.0.192.in-addr.arpa": { PTR: ["www.example.test"] },
};

for (
  const [name, recordType, expected, error] of [
    ["www.example.test", "A", null, null],
    ["www.example.test", "A", "192.0.2.2", null],
    [
      "www.example.test",
      "A",
      "192.0.2.3",
      "No A record of www.example.test has the expected value",
    ],
    ["www.example.test", "AAAA", "2001:DB8:0:0::1", null],
    ["alias.example.test", "CNAME", "WWW.example.test.", null],
    ["example.test", "MX", "20 backup.example.test", null],
    ["example.test", "MX", "mail.example.test", null],
    [
      "example.test",
      "MX",
      "il.example.test",
      "No MX record of example.test has the expected value",
    ],
    ["example.test", "NS", "ns1.example.test", null],
    ["example.test", "TXT", "v=spf1 -all", null],
    [
      "example.test",
      "TXT",
      "key=abc",
      "No TXT record of example.test has the expected value",
    ],
    ["_sip._tcp.example.test", "SRV", "10 20 5060 sip.example.test", null],
    ["1.2.0.192.in-addr.arpa", "PTR", "www.example.test", null],
    ["nowhere.example.test", "A", null, "nowhere.example.test has no A record"],
    ["example.test", "A", "192.0.2.1", "example.test has no A record"],
  ] as const
) {
  Deno.test(`a dns check of ${name} ${recordType} for ${expected} gives ${error ?? "up"}`, async () => {
    await using dns = await dnsServer(ZONE);
    const result = await probe(
      { ...deps, nameServer: dns.nameServer },
      target(name, { type: "dns", recordType, expected }),
      never,
    );
    equal(result.error, error);
    equal(result.ok, error === null);
    equal(typeof result.responseTimeMs, "number");
    ok(dns.questions.includes(`${name} ${recordType}`));
  });
}

Deno.test("a dns check times out if the resolver is silent", async () => {
  await using dns = await dnsServer({}, { silent: true });
  const startMs = performance.now();
  const result = await probe(
    { ...deps, nameServer: dns.nameServer },
    target("www.example.test", { type: "dns", recordType: "A", timeoutMs: 300 }),
    never,
  );
  deepEqual([result.ok, result.error], [false, "No answer within 300 ms"]);
  ok(isInTime(performance.now() - startMs, 10_000));
});

for (const type of ["http", "tcp", "dns"] as const) {
  Deno.test(`a check of type ${type} ends when it is aborted`, async () => {
    await using server = serveBytes("");
    await using dns = await dnsServer({}, { silent: true });
    const end = new AbortController();
    const url = { http: server.url, tcp: "192.0.2.1:1", dns: "a.example.test" }[type];
    const checking = probe(
      { ...deps, resolve: () => new Promise<never>(() => {}), nameServer: dns.nameServer },
      target(type === "tcp" ? "slow.example.test:1" : url, { type, recordType: "A" }),
      end.signal,
    );
    end.abort(new Error("aborted"));
    await rejects(checking, /aborted/);
  });
}
