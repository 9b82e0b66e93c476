import { deepEqual, equal, match } from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import {
  createEndpointProber,
  type EndpointCheck,
  probeEndpoint,
} from "../../../services/probes/http.ts";
import {
  createAuthority,
  daysFromNow,
  lookupLoopback,
  tlsServer,
} from "../../helpers/certificates.ts";
import { testConfig } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const NOW = "2026-01-01T12:00:00.000Z";
const now = () => new Date(NOW);

/** Sends this to every client after its request. */
async function rawServer(
  answer: (socket: Socket, request: string) => void,
): Promise<{ url: string; requests: string[] } & AsyncDisposable> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    socket.once("data", (data) => {
      requests.push(data.toString());
      answer(socket, data.toString());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const status = (line: string, rest = "content-length: 0\r\n\r\n") => (socket: Socket) =>
  void socket.write(`HTTP/1.1 ${line}\r\n${rest}`);

const probe = (url: string, expectedStatus = 200, timeoutMs = 5_000): Promise<EndpointCheck> =>
  probeEndpoint({ name: "A", url, expectedStatus }, { now, timeoutMs });

Deno.test("an endpoint that answers the expected status is healthy", async () => {
  await using server = await rawServer(status("204 No Content", "\r\n"));
  const { responseTime, ...rest } = await probe(`${server.url}/health?deep=1`, 204);
  deepEqual(rest, {
    name: "A",
    url: `${server.url}/health?deep=********`,
    healthy: true,
    status: 204,
    expectedStatus: 204,
    error: null,
    checkedAt: NOW,
  });
  equal(Number.isInteger(responseTime) && responseTime! >= 0 && responseTime! < 5_000, true);
  match(server.requests[0]!, /^GET \/health\?deep=1 HTTP\/1\.1\r\n/);
  match(server.requests[0]!, /user-agent: longshore\/\d/i);
});

for (
  const { what, answer, error, seen } of [
    {
      what: "another status",
      answer: status("503 Service Unavailable"),
      error: "The status is 503, not 200",
      seen: 503,
    },
    {
      what: "an unexpected redirect",
      answer: status("302 Found", "location: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
      error: "The status is 302, not 200",
      seen: 302,
    },
    {
      what: "a connection that ends without a response",
      answer: (socket: Socket) => void socket.end(),
      error: /^The server closed the connection/,
    },
    {
      what: "a protocol other than HTTP",
      answer: (socket: Socket) => void socket.write("220 mail.test ESMTP\r\n"),
      error: "The server does not speak HTTP on this port",
    },
    {
      what: "no response",
      answer: () => {},
      error: "No response within 0.5 s",
    },
    {
      what: "headers that arrive one byte at a time",
      answer: (socket: Socket) => {
        const timer = setInterval(() => socket.write("H"), 50);
        socket.once("close", () => clearInterval(timer));
      },
      error: /^(No response within 0\.5 s|The server does not speak HTTP on this port)$/,
    },
    {
      what: "endless interim responses",
      answer: (socket: Socket) => {
        const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 20);
        socket.once("close", () => clearInterval(timer));
      },
      error: "No response within 0.5 s",
    },
    {
      what: "endless headers",
      answer: (socket: Socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        const timer = setInterval(() => socket.write(`x: ${"y".repeat(8_000)}\r\n`), 1);
        socket.once("close", () => clearInterval(timer));
      },
      error: "The server's headers are too large",
    },
  ]
) {
  Deno.test(`an endpoint is unhealthy: ${what}`, async () => {
    await using server = await rawServer(answer);
    const timeoutMs = /within 0/.test(`${error}`) ? 500 : 5_000;
    const result = await probe(server.url, 200, timeoutMs);
    if (typeof error === "string") equal(result.error, error);
    else match(result.error ?? "healthy", error);
    deepEqual([result.healthy, result.status], [false, seen ?? null]);
    equal(typeof result.responseTime, seen === undefined ? "object" : "number");
  });
}

Deno.test("a redirect can be the expected status and is not followed", async () => {
  await using target = await rawServer(status("200 OK"));
  await using server = await rawServer(
    status("301 Moved", `location: ${target.url}\r\ncontent-length: 0\r\n\r\n`),
  );
  deepEqual((await probe(server.url, 301)).healthy, true);
  deepEqual(target.requests, []);
});

Deno.test("the probe ends with the headers, even if the body is endless", async () => {
  let written = 0;
  await using server = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n");
    const block = new Uint8Array(64 * 1024);
    const write = () => {
      if (!socket.destroyed && (written += block.length) < 1e8) socket.write(block, write);
    };
    write();
  });
  equal((await probe(server.url)).healthy, true);
  equal(written < 50e6, true, `${written} bytes were written`);
});

Deno.test("user name and password are sent as basic authentication and never shown", async () => {
  await using server = await rawServer(status("200 OK"));
  const result = await probe(server.url.replace("//", "//ann%40test:p%C3%A4ss%@"));
  equal(result.url, `${server.url}/`);
  const [, credentials] = /authorization: Basic (\S+)/i.exec(server.requests[0]!)!;
  const text = new TextDecoder().decode(Uint8Array.fromBase64(credentials!));
  equal(text, "ann@test:p%C3%A4ss%", "an invalid escape in a password stays as it is");
});

Deno.test("unreachable endpoints have distinct errors", async () => {
  const closed = await rawServer(() => {});
  await closed[Symbol.asyncDispose]();
  equal((await probe(closed.url)).error, "Unreachable: the connection was refused");
  match(
    (await probe("http://nowhere.invalid", 200, 500)).error!,
    /^Unreachable: the name |^No response within 0\.5 s$/,
  );
});

Deno.test("the error of an invalid certificate lists all problems", async () => {
  const [authority, other] = await Promise.all(["One", "Other"].map(createAuthority));
  const speak = {
    onSocket: (socket: { once: (event: "data", then: () => void) => unknown; write: unknown }) =>
      socket.once("data", () => status("200 OK")(socket as Socket)),
  };
  const options = { now: () => new Date(), ca: [authority!.cert], lookup: lookupLoopback };
  const names = { name: "shop", altNames: "DNS:shop.test" };
  const check = async (identity: { cert: string; key: string }) => {
    await using server = await tlsServer(identity, speak);
    const url = `https://shop.test:${server.port}/`;
    return (await probeEndpoint({ name: "A", url, expectedStatus: 200 }, options)).error;
  };

  equal(await check(await authority!.issue(names)), null);
  match(
    (await check(
      await authority!.issue({ ...names, from: daysFromNow(-9), to: daysFromNow(-1.5) }),
    ))!,
    /^The certificate has expired \([^)]+\)$/,
  );
  match((await check(await other!.issue(names)))!, /^The certificate is signed by an unknown /);
  equal(
    await check(await authority!.issue({ name: "shop", altNames: "DNS:other.test" })),
    "The certificate is for another name (other.test)",
  );
});

Deno.test("ten endpoints are probed at a time, and concurrent callers share the results", async () => {
  const held: Socket[] = [];
  await using server = await rawServer((socket) => void held.push(socket));
  let time = Date.parse(NOW);
  const list = createEndpointProber({
    config: testConfig({
      endpoints: Array.from({ length: 15 }, (_, i) => ({
        name: `${i}`,
        url: server.url,
        expectedStatus: 200,
      })),
    }),
    now: () => new Date(time),
  }, { timeoutMs: 60_000 });
  /** Closes the connections of the servers, ten at a time. */
  const letGo = async () => {
    for (const count of [10, 5]) {
      await until(`${count} are asked`, () => held.length >= count);
      // Another request now would exceed the limit.
      await new Promise((resolve) => setTimeout(resolve, 50));
      equal(held.length, count);
      for (const socket of held.splice(0)) socket.destroy();
    }
  };

  const [first, second] = await Promise.all([list(), list(), letGo()]);
  equal(first, second);
  deepEqual(first.map(({ name }) => name), Array.from({ length: 15 }, (_, i) => `${i}`));

  time += 29_999;
  equal(await list(), first);
  time += 1;
  const [again] = await Promise.all([list(), letGo()]);
  equal(again === first, false);
});
