import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls } from "node:tls";
import { FIRST_REQUEST_MS, IDLE_MS } from "../../../commands/listener/connections.ts";
import { DELIVERY_MS } from "../../../commands/listener/deliveries.ts";
import { acceptConnections, listen } from "../../../commands/listener/listener.ts";
import { RUNNING_MAX, WAITING_MS } from "../../../commands/listener/turns.ts";
import { respond } from "../../../routes/pipeline/exchange.ts";
import { limitReceivedBytes } from "../../../routes/pipeline/received_bytes.ts";
import { silentLog } from "../../../services/log.ts";
import { selfSigned } from "../../helpers/certificates.ts";
import { holdConnections, LISTENER_DEFAULTS, UNFINISHED } from "../../helpers/held_connections.ts";
import { until } from "../../helpers/until.ts";

const EXCHANGE = { requestId: "1", address: "127.0.0.1", headers: {} };

const answerOk = (_request: Request, _peer: string) =>
  Promise.resolve(respond(EXCHANGE, 200, "ok", {}));

/** A listener whose clock the test controls. */
function served(answer = answerOk, config = {}) {
  const clock = { at: 0 };
  const listener = listen({ ...LISTENER_DEFAULTS, ...config }, silentLog, answer, {
    now: () => clock.at,
  });
  return {
    listener,
    port: Number(new URL(listener.address).port),
    /** Lets time pass, and closes what is overdue then. */
    pass(ms: number) {
      clock.at += ms;
      listener.check();
    },
    [Symbol.asyncDispose]: () => listener.shutdown(),
  };
}

/** Requests on one connection, one after the other. */
async function openClient(port: number) {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const buffer = new Uint8Array(4_096);
  return {
    async request(path: string): Promise<string> {
      await conn.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`));
      return await this.read();
    },
    /** @returns An empty text if the connection was closed. */
    async read(): Promise<string> {
      const count = await conn.read(buffer).catch(() => null);
      return new TextDecoder().decode(buffer.subarray(0, count ?? 0));
    },
    [Symbol.dispose]: () => conn.close(),
  };
}

Deno.test("a WebSocket of an unknown peer cannot send more than its limit, until that is lifted", async () => {
  const requests: Request[] = [];
  await using service = served((request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onerror = () => {};
    limitReceivedBytes(request, 64 * 1024);
    requests.push(request);
    return Promise.resolve(response);
  }, { terminal: "admin" });
  // The beginning of one message of 16 MiB, which the runtime would wait for.
  const beginning = new Uint8Array(1024 * 1024);
  beginning.set([0x82, 0xff, 0, 0, 0, 0, 1, 0, 0, 0]);
  const key = "dGhlIHNhbXBsZSBub25jZQ==";
  const handshake = "upgrade: websocket\r\nconnection: upgrade\r\n" +
    `sec-websocket-key: ${key}\r\nsec-websocket-version: 13\r\n\r\n`;
  const send = async () => {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: service.port });
    await conn.write(new TextEncoder().encode(`GET / HTTP/1.1\r\nhost: a\r\n${handshake}`));
    const buffer = new Uint8Array(4_096);
    await conn.read(buffer);
    return { conn, buffer };
  };
  const { conn, buffer } = await send();
  await conn.write(beginning).catch(() => {});
  equal(await conn.read(buffer).catch(() => null), null);
  conn.close();

  const lifted = await send();
  limitReceivedBytes(requests[1]!, Infinity);
  for (let at = 0; at < beginning.length;) at += await lifted.conn.write(beginning.subarray(at));
  lifted.conn.close();
});

for (const terminal of ["off", "admin"] as const) {
  for (const beginning of ["nothing", "half a head", "an HTTP/2 preface"] as const) {
    Deno.test(`a connection that sends ${beginning} is closed after half a minute, TERMINAL=${terminal}`, async () => {
      await using service = served(answerOk, { terminal });
      using held = await holdConnections(service.port, {
        count: 3,
        beginning: UNFINISHED[beginning],
      });
      service.pass(FIRST_REQUEST_MS - 1);
      equal(held.open, 3);
      // The listener may not have accepted the last one before its clock was read.
      await until("all are closed", () => {
        service.pass(FIRST_REQUEST_MS);
        return held.open === 0;
      });
    });
  }

  Deno.test(`a kept-alive connection is closed two minutes after its last request, TERMINAL=${terminal}`, async () => {
    await using service = served(answerOk, { terminal });
    using client = await openClient(service.port);
    match(await client.request("/"), /^HTTP\/1\.1 200 /);
    service.pass(IDLE_MS - 1);
    match(await client.request("/"), /^HTTP\/1\.1 200 /);
    service.pass(IDLE_MS);
    equal(await client.read(), "");
  });
}

/** Files with a certificate of its own. */
async function tlsFiles() {
  const { cert, key } = await selfSigned({ name: "longshore.test" });
  const directory = await Deno.makeTempDir();
  const config = { tlsCertFile: `${directory}/cert.pem`, tlsKeyFile: `${directory}/key.pem` };
  await Deno.writeTextFile(config.tlsCertFile, cert);
  await Deno.writeTextFile(config.tlsKeyFile, key);
  return {
    config,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

for (const terminal of ["off", "admin"] as const) {
  Deno.test(`a TLS handshake that does not end is closed after half a minute, TERMINAL=${terminal}`, async () => {
    await using files = await tlsFiles();
    await using service = served(answerOk, { ...files.config, terminal });
    using held = await holdConnections(service.port, { count: 3, beginning: "\x16\x03\x01" });
    equal(await protocolOf(service.port), "h2");
    await until("all are closed", () => {
      service.pass(FIRST_REQUEST_MS);
      return held.open === 0;
    });
  });
}

Deno.test("a request that runs and a stream that is open have no deadline", async () => {
  const gate = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("frame")),
  });
  await using service = served(async (request) => {
    if (request.url.endsWith("/stream")) return respond(EXCHANGE, 200, stream as BodyInit, {});
    await gate.promise;
    return respond(EXCHANGE, 200, "late", {});
  });
  using streaming = await openClient(service.port);
  let text = await streaming.request("/stream");
  while (!text.includes("frame")) text += await streaming.read();

  using waiting = await openClient(service.port);
  const answer = waiting.request("/wait");
  await until("the request runs", async () => {
    using other = await openClient(service.port);
    return await Promise.race([other.request("/wait"), Promise.resolve(true)]);
  });
  service.pass(100 * IDLE_MS);
  gate.resolve();
  match(await answer, /late/);

  using held = await holdConnections(service.port, { count: 1, beginning: "" });
  equal(held.open, 1);
  // The stream is still open when the listener closes it.
});

for (const terminal of ["off", "admin"] as const) {
  Deno.test(`the listener passes the peer's address on and refuses what is above the limits, TERMINAL=${terminal}`, async () => {
    const peers: string[] = [];
    await using service = served((_, peer) => {
      peers.push(peer);
      return answerOk(_, peer);
    }, { maxConnections: 16, terminal });
    using held = await holdConnections(service.port, {
      count: 40,
      beginning: UNFINISHED["half a head"],
      from: "127.0.0.2",
    });
    await until("a quarter is left", () => held.open === 4);
    using client = await openClient(service.port);
    match(await client.request("/"), /^HTTP\/1\.1 200 /);
    deepEqual(peers, ["127.0.0.1"]);
  });
}

/** Requests with HTTP/2 whose bodies the client does not take. */
function openUnread(port: number, paths: string[], method = "GET") {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
  const state = { heads: 0, isClosed: false };
  session.on("error", () => {});
  session.on("close", () => state.isClosed = true);
  const request = (path: string) => {
    const stream = session.request({ ":path": path, ":method": method });
    stream.end();
    stream.on("error", () => {});
    stream.on("response", () => state.heads++);
  };
  paths.forEach(request);
  return { state, request, [Symbol.dispose]: () => session.destroy() };
}

for (const terminal of ["off", "admin"] as const) {
  const large = () => Promise.resolve(respond(EXCHANGE, 200, "x".repeat(775_000), {}));

  Deno.test(`a body that is not taken closes its connection, whatever other requests do, TERMINAL=${terminal}`, async () => {
    await using service = served(
      (request, peer) => request.url.endsWith("/livez") ? answerOk(request, peer) : large(),
      { terminal },
    );
    using client = openUnread(service.port, ["/large"]);
    await until("it has the head", () => client.state.heads === 1);
    service.pass(DELIVERY_MS);
    client.request("/livez");
    await until("the other has its head", () => client.state.heads === 2);
    service.pass(DELIVERY_MS + 10_000);
    await until("it is closed", () => client.state.isClosed);
  });

  for (const method of ["GET", "POST"]) {
    Deno.test(`a small body that is not taken closes its connection, too, ${method}, TERMINAL=${terminal}`, async () => {
      await using service = served(answerOk, { terminal });
      using client = openUnread(service.port, ["/livez"], method);
      await until("it has the head", () => client.state.heads === 1);
      service.pass(DELIVERY_MS - 1);
      client.request("/livez");
      await until("the other has its head", () => client.state.heads === 2);
      service.pass(10_000);
      await until("it is closed", () => client.state.isClosed);
    });
  }

  Deno.test(`bodies that are not taken are bounded, TERMINAL=${terminal}`, async () => {
    await using service = served(large, { terminal });
    using client = openUnread(service.port, Array.from({ length: 30 }, () => "/large"));
    await until("it is closed", () => client.state.isClosed);
    using other = await openClient(service.port);
    match(await other.request("/"), /^HTTP\/1\.1 200 /);
  });
}

Deno.test("further requests of a client take turns, and the first one of a connection needs none", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  await using service = served(async (request, peer) => {
    most = Math.max(most, ++running);
    await gate.promise;
    running--;
    return await answerOk(request, peer);
  });
  using clients = new DisposableStack();
  const open = () => clients.use(openUnread(service.port, Array.from({ length: 60 }, () => "/")));
  const many = [open(), open(), open()];
  await until("as many run as may", () => running === RUNNING_MAX + many.length);
  using other = await openClient(service.port);
  const response = other.request("/");
  await until("the other's runs, too", () => running === RUNNING_MAX + many.length + 1);
  gate.resolve();
  match(await response, /^HTTP\/1\.1 200 /);
  await until("all have their heads", () => many.every(({ state }) => state.heads === 60));
  equal(most, RUNNING_MAX + many.length + 1);
});

/** Requests with HTTP/2 whose bodies do not end. @returns The answered ones by status. */
function openUnsent(port: number, count: number, headers = {}) {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const answered: (number | undefined)[] = [];
  session.on("error", () => {});
  for (let at = 0; at < count; at++) {
    const stream = session.request({ ":path": "/", ":method": "POST", ...headers });
    stream.write("x".repeat(1_000));
    stream.on("error", () => {});
    stream.on("response", (head) => answered.push(head[":status"]));
  }
  return { session, answered, [Symbol.dispose]: () => session.destroy() };
}

for (const terminal of ["off", "admin"] as const) {
  Deno.test(`a request that has waited too long for its turn is refused, TERMINAL=${terminal}`, async () => {
    let running = 0;
    const gate = Promise.withResolvers<void>();
    await using service = served(async (request, peer) => {
      running++;
      await gate.promise;
      await request.body?.cancel();
      return await answerOk(request, peer);
    }, { terminal });
    using client = openUnsent(service.port, RUNNING_MAX + 11);
    await until("as many run as may", () => running === RUNNING_MAX + 1);
    await until("the others are refused", () => {
      service.pass(WAITING_MS);
      return client.answered.length === 10;
    });
    deepEqual(new Set(client.answered), new Set([503]));
    equal(client.session.destroyed, false);
    gate.resolve();
    await until("the running ones are answered", () => client.answered.length === RUNNING_MAX + 11);
    equal(running, RUNNING_MAX + 1);
  });
}

/**
 * A listener whose requests other than POST wait, and one HTTP/2 connection with a GET and a HEAD that
 * send as much as the runtime's window for the bodies of a connection, which the POST needs.
 */
function servedBodies(terminal: "off" | "admin") {
  const gate = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const service = served(async (request, peer) => {
    if (request.method === "POST") await request.arrayBuffer();
    else await gate.promise;
    if (request.headers.has("upgrade")) return Deno.upgradeWebSocket(request).response;
    seen.push([request.method, request.body === null]);
    // As the application does: the runtime keeps a connection with a streamed answer to HEAD.
    return request.method === "HEAD" ? new Response(null) : await answerOk(request, peer);
  }, { terminal });
  const session = connectHttp2(`http://127.0.0.1:${service.port}`);
  session.on("error", () => {});
  const answered: string[] = [];
  const send = (method: string, bytes: number) => {
    const stream = session.request({ ":path": "/", ":method": method }, { endStream: false });
    stream.on("error", () => {}).on("response", () => answered.push(method));
    stream.end(new Uint8Array(bytes));
  };
  return {
    ...{ gate, seen, answered, port: service.port },
    sendAll() {
      send("GET", 1024 * 1024);
      send("HEAD", 1024 * 1024);
      send("POST", 100_000);
    },
    async [Symbol.asyncDispose]() {
      session.destroy();
      gate.resolve();
      await service.listener.shutdown();
    },
  };
}

for (const terminal of ["off", "admin"] as const) {
  Deno.test(`the body of a GET is discarded while the request runs, TERMINAL=${terminal}`, async () => {
    await using service = servedBodies(terminal);
    service.sendAll();
    await until("the POST has its body", () => service.answered.length === 1);
    service.gate.resolve();
    await until("the others are answered", () => service.answered.length === 3);
    deepEqual(service.seen, [["POST", false], ["GET", true], ["HEAD", true]]);
  });
}

Deno.test("a request may become a WebSocket after other bodies were discarded", async () => {
  await using service = servedBodies("admin");
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}/`);
  const opened = new Promise((resolve) => socket.onopen = resolve);
  service.sendAll();
  await until("the POST has its body", () => service.answered.length === 1);
  service.gate.resolve();
  await opened;
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
});

Deno.test("requests of a client behind a proxy do not delay those of another on its connection", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  await using service = served(async (request, peer) => {
    if (request.method === "GET") return answerOk(request, peer);
    running++;
    await gate.promise;
    await request.body?.cancel();
    return await answerOk(request, peer);
  }, { trustedProxies: ["127.0.0.1"] });
  const forwarded = (address: string) => ({ "x-forwarded-for": address });
  using proxy = openUnsent(service.port, RUNNING_MAX + 11, forwarded("203.0.113.9"));
  await until("as many run as may", () => running === RUNNING_MAX + 1);
  const other = proxy.session.request({ ":path": "/", ...forwarded("198.51.100.7") });
  const status = await new Promise((resolve) =>
    other.on("response", (head) => resolve(head[":status"]))
  );
  deepEqual([status, running, proxy.answered], [200, RUNNING_MAX + 1, []]);
  gate.resolve();
  await until("all are answered", () => proxy.answered.length === RUNNING_MAX + 11);
});

Deno.test("a client with HTTP/1.1 that takes a large body slowly gets all of it", async () => {
  const body = "x".repeat(775_000);
  await using service = served(() => Promise.resolve(respond(EXCHANGE, 200, body, {})));
  using client = await openClient(service.port);
  let text = await client.request("/");
  match(text, /content-length: 775000\r\n/);
  const length = text.indexOf("\r\n\r\n") + 4 + body.length;
  // 4 KiB at a time, at 50 kB/s.
  while (text.length < length) {
    service.pass(82);
    text += await client.read();
  }
  equal(text.length, length);
  // The delivery has ended.
  service.pass(IDLE_MS / 2);
  match(await client.request("/"), /^HTTP\/1\.1 200 /);
});

/** A socket whose `accept` gives these results in turn, and then fails as a closed one does. */
function fakeSocket(results: (Error | Deno.Conn)[]) {
  return {
    accept() {
      const next = results.shift() ?? new Deno.errors.BadResource("closed");
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
  };
}

const EMFILE = new Error("Too many open files (os error 24)");

Deno.test("the listener goes on after it could not accept, and makes descriptors free", async () => {
  const happened: string[] = [];
  const results = [EMFILE, EMFILE, {} as Deno.Conn, EMFILE, {} as Deno.Conn];
  await acceptConnections(fakeSocket(results), {
    log: silentLog,
    now: () => 0,
    isClosed: () => results.length === 0 && happened.length === 8,
    onConnection: () => void happened.push("accepted"),
    onFailure: () => void happened.push("relieved"),
    pause: (ms) => {
      happened.push(`paused ${ms}`);
      return Promise.resolve();
    },
  });
  deepEqual(happened, [
    ...["relieved", "paused 100", "relieved", "paused 100", "accepted"],
    ...["relieved", "paused 100", "accepted"],
  ]);
});

Deno.test("the listener fails when it could not accept for a minute", async () => {
  let at = 0;
  let failures = 0;
  const accepting = acceptConnections({ accept: () => Promise.reject(EMFILE) }, {
    log: silentLog,
    now: () => at,
    isClosed: () => false,
    onConnection: () => {},
    onFailure: () => void failures++,
    pause: (ms) => {
      at += ms;
      return Promise.resolve();
    },
  });
  await rejects(accepting, EMFILE);
  equal(failures, 600);
});

async function protocolOf(port: number): Promise<string | false | null> {
  const socket = connectTls({
    host: "127.0.0.1",
    port,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2", "http/1.1"],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve);
      socket.once("error", reject);
    });
    return socket.alpnProtocol;
  } finally {
    socket.destroy();
  }
}
