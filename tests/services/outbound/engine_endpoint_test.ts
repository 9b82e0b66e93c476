import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { describeRefusal } from "../../../engine/calls.ts";
import { connectEngine, type Engine } from "../../../engine/client.ts";
import { EngineUnreachableError, RefusedCallError } from "../../../engine/errors.ts";
import { execStart } from "../../../engine/exec.ts";
import { systemEvents } from "../../../engine/events.ts";
import { systemInfo } from "../../../engine/system.ts";
import { isRefusedAddress, parseOutboundAllow } from "../../../services/outbound/address.ts";
import { tcpEndpoint } from "../../../services/outbound/engine_endpoint.ts";
import { createAuthority } from "../../helpers/certificates.ts";
import { fakeEngine, rawEngine } from "../../helpers/fake_engine.ts";
import { startTcpRelay } from "../../helpers/tcp_relay.ts";
import { testConfig } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

// An entry for other calls must not open the engine's address.
const config = testConfig({ outboundAllow: ["203.0.113.0/24", "proxy.example"] });

function connectTcp(
  port: number,
  { host = "127.0.0.1", addresses }: { host?: string; addresses?: () => string[] } = {},
): Engine {
  const resolve = addresses && (() => Promise.resolve(addresses()));
  return connectEngine(tcpEndpoint({ host, port }, { config, resolve }), {
    probePatienceMs: 60_000,
  });
}

const messageOf = (work: Promise<unknown>) =>
  work.then(() => "no error", (error) => {
    equal(error instanceof EngineUnreachableError, true, String(error));
    return error.message as string;
  });

Deno.test("only private and loopback addresses are used without TLS", () => {
  const allow = parseOutboundAllow([]);
  const accepted = [
    ...["127.0.0.1", "127.8.8.8", "::1", "10.0.0.1", "10.255.255.255"],
    ...["172.16.0.1", "172.31.255.254", "192.168.0.1", "fd12:3456::1", "fc00::1"],
  ];
  const refused = [
    ...["8.8.8.8", "172.15.0.1", "172.32.0.1", "192.169.0.1", "11.0.0.1", "203.0.113.7"],
    ...["100.64.0.1", "100.127.255.254", "169.254.169.254", "0.0.0.0", "0.1.2.3", "224.0.0.1"],
    ...["255.255.255.255", "198.18.0.1", "192.0.0.8", "::", "fe80::1", "fec0::1", "ff02::1"],
    ...["2606:4700::1111", "::ffff:10.0.0.1", "::ffff:a00:1", "::ffff:127.0.0.1", "::10.0.0.1"],
    ...["64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:a00:1::", "2001:db8::1", "fd00:ec2::254"],
    ...["fd20:ce::254", "fd00::5efe:7f00:1", "fd00::1%eth0", "proxy", ""],
  ];
  for (const address of accepted) {
    equal(isRefusedAddress(address, "private", allow), false, address);
  }
  for (const address of refused) equal(isRefusedAddress(address, "private", allow), true, address);
});

Deno.test("calls, streams and hijacked connections work over TCP, and can be cancelled", async () => {
  await using fake = fakeEngine({
    "GET /info": () => Response.json({ Name: "a" }),
    "GET /events": () => new Response(new ReadableStream({})),
    "POST /exec/*/start": ({ signal }) =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("$ ")),
          cancel: () => signal.throwIfAborted(),
        }),
      ),
  });
  await using relay = startTcpRelay(fake.socketPath);
  using engine = connectTcp(relay.port, { host: "localhost", addresses: () => ["127.0.0.1"] });
  equal(engine.endpoint.address, `tcp://localhost:${relay.port}`);
  equal((await systemInfo(engine)).Name, "a");

  using terminal = await execStart(engine, "e1", { tty: true, long: true });
  for await (const { bytes } of terminal.frames) {
    equal(new TextDecoder().decode(bytes), "$ ");
    break;
  }
  const abort = new AbortController();
  const events = await systemEvents(engine, { signal: abort.signal });
  const reading = Array.fromAsync(events);
  abort.abort(new Error("enough"));
  await rejects(reading, { message: "enough" });
  await until("the engine sees the ends", () => fake.open <= 1);
});

Deno.test("a name is resolved and checked at each connection, with all of its addresses", async () => {
  await using fake = fakeEngine({ "GET /info": () => Response.json({ Name: "a" }) });
  await using relay = startTcpRelay(fake.socketPath);
  let addresses = ["127.0.0.1"];
  using engine = connectTcp(relay.port, { host: "proxy.example", addresses: () => addresses });
  await systemInfo(engine);
  const before = relay.accepted;
  for (const rebound of [["203.0.113.7"], ["127.0.0.1", "8.8.8.8"], ["::ffff:127.0.0.1"]]) {
    addresses = rebound;
    using another = connectTcp(relay.port, { host: "proxy.example", addresses: () => addresses });
    equal(
      await messageOf(systemInfo(another)),
      "DOCKER_HOST: proxy.example is not on a private network or this host, which plain TCP " +
        "requires; use such an address, or TLS with DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH",
    );
  }
  equal(relay.accepted, before);
});

Deno.test("a name without an address, and a port without a listener, are explained", async () => {
  using unknown = connectTcp(2375, { host: "proxy.example", addresses: () => [] });
  equal(
    await messageOf(systemInfo(unknown)),
    "DOCKER_HOST: proxy.example has no address; start the engine's proxy, or correct the name",
  );
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  using closed = connectTcp(port);
  match(
    await messageOf(systemInfo(closed)),
    /^DOCKER_HOST: tcp:\/\/127\.0\.0\.1:\d+ refused the connection; start the engine/,
  );
});

Deno.test("a TLS handshake that is never answered ends with the call", async () => {
  const authority = await createAuthority("a");
  const client = await authority.issue({ name: "longshore" });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const ended = (async () => {
    const connection = await listener.accept();
    for (const buffer = new Uint8Array(4096); await connection.read(buffer) !== null;);
    connection.close();
  })();
  const endpoint = tcpEndpoint({ host: "127.0.0.1", port: listener.addr.port }, {
    config,
    identity: { ca: authority.cert, ...client },
  });
  using engine = connectEngine(endpoint, { probeTimeoutMs: 20 });
  match(await messageOf(systemInfo(engine)), /does not answer$/);
  await ended;
  listener.close();
});

const page = (status: string, text: string) =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/html\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

/** The first failure of `GET /info` with a response of a proxy. */
async function failureOf(wire: string, { pings = true } = {}): Promise<Error> {
  await using raw = rawEngine(async (connection) => {
    while (await connection.request()) await connection.write(wire);
  }, { pings, probePatienceMs: 60_000 });
  return await systemInfo(raw.engine).then(() => new Error("none"), (error) => error);
}

Deno.test("a proxy's refusal names the call and the option, the engine's own does not", async () => {
  const sentence = "The socket proxy refuses to describe the engine: allow GET /info (option INFO)";
  const html = "<html><body><h1>403 Forbidden</h1></body></html>";
  for (const wire of [page("403 Forbidden", html), page("405 Method Not Allowed", "Forbidden\n")]) {
    const refused = await failureOf(wire);
    deepEqual([refused instanceof RefusedCallError, refused.message], [true, sentence]);
  }
  const own = await failureOf(page("403 Forbidden", `{"message":"denied by plugin"}`));
  deepEqual([own.name, own.message], ["EngineError", "denied by plugin"]);

  const ping = await failureOf(page("403 Forbidden", html), { pings: false });
  match(
    ping.message,
    /is not ready: The socket proxy refuses to check the engine: allow GET \/_ping/,
  );
});

Deno.test("pages of a proxy without an engine, and of a port that needs TLS, are not repeated", async () => {
  const html = "<html><body><h1>503 Service Unavailable</h1></body></html>";
  match(
    (await failureOf(page("503 Unavailable", html))).message,
    /^The proxy at .+ does not reach/,
  );
  match(
    (await failureOf(page("404 Not Found", html))).message,
    /^The engine responded with status 404$/,
  );
  const text = "Client sent an HTTP request to an HTTPS server.\n";
  match(
    (await failureOf(page("400 Bad Request", text), { pings: false })).message,
    /requires TLS: set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH$/,
  );
});

Deno.test("a refused call is found by its path, also with slashes in a name", () => {
  for (
    const [method, path, call] of [
      ["GET", "/images/a/b%3A1/json", "GET /images/{name}/json"],
      ["GET", "/images/json", "GET /images/json"],
      ["DELETE", "/images/a/b", "DELETE /images/{name}"],
      ["POST", "/containers/web/start", "POST /containers/{id}/start"],
      ["POST", "/containers/create", "POST /containers/create"],
      ["GET", "/containers/json", "GET /containers/json"],
    ] as const
  ) {
    match(describeRefusal(method, path), new RegExp(`: allow ${RegExp.escape(call)} \\(option`));
  }
  match(describeRefusal("GET", "/containers/a/b/json"), /refuses GET requests to this path/);
});
