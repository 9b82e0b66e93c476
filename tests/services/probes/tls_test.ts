import { deepEqual, equal, match } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import {
  type CertificateCheck,
  checkCertificate,
  checkCertificates,
  createCertificateProber,
} from "../../../services/probes/tls.ts";
import {
  type Authority,
  createAuthority,
  daysFromNow,
  type Identity,
  lookupLoopback,
  selfSigned,
  tlsServer,
} from "../../helpers/certificates.ts";
import { testConfig } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const HOST = "shop.test";
const now = () => new Date();

/** Created when the first test needs it. */
const root = once(() => createAuthority("Test Root"));

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

/** Checks a server with the certificate `identity`; the test's root is trusted. */
async function checked(
  identity: Identity,
  { domain = HOST, trusted = true }: { domain?: string; trusted?: boolean } = {},
): Promise<CertificateCheck> {
  await using server = await tlsServer(identity);
  return await checkCertificate({ domain, port: server.port }, {
    now,
    lookup: lookupLoopback,
    ...(trusted && { ca: [(await root()).cert] }),
  });
}

Deno.test("a trusted, unexpired certificate for the domain is valid", async () => {
  const to = daysFromNow(20.5);
  const identity = await (await root()).issue({
    name: HOST,
    altNames: `DNS:${HOST},DNS:www.${HOST},IP:192.0.2.7`,
    to,
  });
  const { port, validFrom, ...rest } = await checked(identity);

  const wholeSecond = Math.floor(to.getTime() / 1000) * 1000;
  deepEqual(rest, {
    domain: HOST,
    valid: true,
    daysRemaining: 20,
    issuer: "CN=Test Root",
    subject: `CN=${HOST}`,
    altNames: [HOST, `www.${HOST}`, "192.0.2.7"],
    expiresAt: new Date(wholeSecond).toISOString(),
    fingerprint: new X509Certificate(identity.cert).fingerprint256,
    error: null,
  });
  match(rest.fingerprint!, /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  match(validFrom!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  equal(port > 0, true);
});

const expired = { from: daysFromNow(-30), to: daysFromNow(-2.5) };

for (
  const { what, make, domain = HOST, trusted = true, error, daysRemaining = 99 } of [
    {
      what: "an expired certificate",
      make: (root: Authority) => root.issue({ name: HOST, altNames: `DNS:${HOST}`, ...expired }),
      error: /^The certificate has expired \(\d{4}-[^()]+Z\)$/,
      daysRemaining: -3,
    },
    {
      what: "a certificate that is not yet valid",
      make: (root: Authority) =>
        root.issue({ name: HOST, altNames: `DNS:${HOST}`, from: daysFromNow(1) }),
      error: /^The certificate is not yet valid \(from \d{4}-[^()]+Z\)$/,
    },
    {
      what: "a self-signed certificate",
      make: () => selfSigned({ name: HOST, altNames: `DNS:${HOST}` }),
      error: /^The certificate is self-signed$/,
    },
    {
      what: "an authority used as a server's certificate",
      make: () => selfSigned({ name: HOST, altNames: `DNS:${HOST}`, authority: true }),
      error: /^The certificate is self-signed$/,
    },
    {
      what: "a wrong name",
      make: (root: Authority) => root.issue({ name: HOST, altNames: "DNS:a.test,DNS:b.test" }),
      error: /^The certificate is for another name \(a\.test, b\.test\)$/,
    },
    {
      what: "a name in the subject only",
      make: (root: Authority) => root.issue({ name: HOST }),
      error: /^The certificate has no subject alternative name$/,
    },
    {
      what: "a wildcard two labels up",
      make: (root: Authority) => root.issue({ name: HOST, altNames: "DNS:*.shop.test" }),
      domain: "a.b.shop.test",
      error: /^The certificate is for another name \(\*\.shop\.test\)$/,
    },
    {
      what: "another address",
      make: (root: Authority) => root.issue({ name: HOST, altNames: `DNS:${HOST},IP:127.0.0.2` }),
      domain: "127.0.0.1",
      error: /^The certificate is for another name \(shop\.test, 127\.0\.0\.2\)$/,
    },
    {
      what: "an unknown authority",
      make: async () =>
        withChain(
          await (await createAuthority("Unknown CA")).issue({
            name: HOST,
            altNames: `DNS:${HOST}`,
          }),
        ),
      error: /^The certificate is signed by an unknown authority or .* \(the issuer CN=Unknown CA /,
    },
    {
      what: "an unknown authority in the chain",
      make: async () => {
        const other = await createAuthority("Unknown CA");
        return withChain(await other.issue({ name: HOST, altNames: `DNS:${HOST}` }), other);
      },
      error: /^The certificate is signed by an unknown authority \(CN=Unknown CA\)$/,
    },
    {
      what: "the test's root, unknown to the runtime",
      make: (root: Authority) => root.issue({ name: HOST, altNames: `DNS:${HOST}` }),
      trusted: false,
      error: /unknown authority/,
    },
    {
      what: "expired, with an unknown authority and for another name",
      make: async () => {
        const other = await createAuthority("Unknown CA");
        return withChain(
          await other.issue({ name: "b", altNames: "DNS:b.test", ...expired }),
          other,
        );
      },
      error:
        /^The certificate has expired \([^)]+\), is signed by an unknown authority \(CN=Unknown CA\) and is for another name \(b\.test\)$/,
      daysRemaining: -3,
    },
    {
      what: "a missing intermediate certificate",
      make: async (root: Authority) =>
        withChain(
          await (await root.issueAuthority({ name: "Middle" })).issue({
            name: HOST,
            altNames: `DNS:${HOST}`,
          }),
        ),
      error:
        /^The certificate is signed by .* incomplete chain \(the issuer CN=Middle is neither trusted nor sent\)$/,
    },
    {
      what: "an expired intermediate certificate",
      make: async (root: Authority) => {
        const middle = await root.issueAuthority({ name: "Middle", ...expired });
        return withChain(await middle.issue({ name: HOST, altNames: `DNS:${HOST}` }), middle);
      },
      error: /^The certificate has an intermediate certificate \(CN=Middle\) that has expired /,
    },
    {
      what: "a certificate that is not valid for servers",
      make: (root: Authority) =>
        root.issue({ name: HOST, altNames: `DNS:${HOST}`, extendedKeyUsage: "clientAuth" }),
      error: /^The certificate is refused \(\w+\)$/,
    },
  ]
) {
  Deno.test(`GET /api/ssl describes the problem: ${what}`, async () => {
    const seen = await checked(await make(await root()), { domain, trusted });
    match(seen.error ?? "valid", error);
    deepEqual([seen.valid, seen.daysRemaining], [false, daysRemaining]);
    equal(typeof seen.fingerprint, "string");
  });
}

for (
  const { what, altNames, domain } of [
    { what: "a wildcard", altNames: "DNS:*.shop.test", domain: "www.shop.test" },
    { what: "another case", altNames: "DNS:Shop.Test", domain: "shop.test" },
    { what: "an IPv4 address", altNames: "IP:127.0.0.1", domain: "127.0.0.1" },
  ]
) {
  Deno.test(`a certificate for ${what} is valid`, async () => {
    const seen = await checked(await (await root()).issue({ name: "x", altNames }), { domain });
    deepEqual([seen.error, seen.valid], [null, true]);
  });
}

Deno.test("a chain with its intermediate certificate is valid", async () => {
  const middle = await (await root()).issueAuthority({ name: "Middle" });
  const leaf = await middle.issue({ name: HOST, altNames: `DNS:${HOST}` });
  const seen = await checked(withChain(leaf, middle));
  deepEqual([seen.error, seen.valid, seen.issuer], [null, true, "CN=Middle"]);
});

Deno.test("the handshake has server name indication, except for an address", async () => {
  const authority = await root();
  const [one, two] = await Promise.all(
    ["one.test", "two.test"].map((name) => authority.issue({ name, altNames: `DNS:${name}` })),
  );
  await using server = await tlsServer(one!, { others: { "two.test": two! } });
  const domains = ["one.test", "two.test", "127.0.0.1"];
  const seen = [];
  for (const domain of domains) {
    seen.push(
      await checkCertificate({ domain, port: server.port }, {
        now,
        ca: [authority.cert],
        lookup: lookupLoopback,
      }),
    );
  }
  deepEqual(seen.map(({ subject, valid }) => [subject, valid]), [
    ["CN=one.test", true],
    ["CN=two.test", true],
    ["CN=one.test", false],
  ]);
  deepEqual(server.names.filter((name) => name !== ""), ["one.test", "two.test"]);
});

Deno.test("an unreachable server and one without TLS have distinct errors", async () => {
  await using silent = await tcpServer(() => {});
  await using http = await tcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await using closing = await tcpServer((socket) => socket.destroy());
  const closed = await tcpServer(() => {});
  await closed[Symbol.asyncDispose]();
  const errorOf = async (domain: string, port: number, timeoutMs = 5_000) => {
    const seen = await checkCertificate({ domain, port }, { now, timeoutMs });
    deepEqual([seen.valid, seen.fingerprint, seen.altNames], [false, null, []]);
    return seen.error;
  };

  equal(
    await errorOf("127.0.0.1", silent.port, 500),
    "Handshake failure: the server did not complete the TLS handshake within 0.5 s",
  );
  equal(
    await errorOf("127.0.0.1", http.port),
    "Handshake failure: the server does not speak TLS on this port",
  );
  equal(
    await errorOf("127.0.0.1", closing.port),
    "Handshake failure: the server closed the connection",
  );
  equal(await errorOf("127.0.0.1", closed.port), "Unreachable: the connection was refused");
  match(await errorOf("nowhere.invalid", 443, 500) ?? "", /^Unreachable: the name |within 0\.5 s$/);
});

Deno.test("ten servers are checked at a time, and concurrent callers share the results", async () => {
  const held: Socket[] = [];
  let connected = 0;
  await using holding = await tcpServer((socket) => void (connected++, held.push(socket)));
  let time = Date.now();
  const list = createCertificateProber({
    config: testConfig({
      sslDomains: Array.from({ length: 15 }, () => ({ domain: "127.0.0.1", port: holding.port })),
    }),
    now: () => new Date(time),
  }, { timeoutMs: 60_000 });
  /** Closes the connections of the servers, ten at a time. */
  const letGo = async () => {
    for (const count of [10, 5]) {
      await until(`${count} are asked`, () => held.length >= count);
      // Another connection now would exceed the limit.
      await new Promise((resolve) => setTimeout(resolve, 50));
      equal(held.length, count);
      for (const socket of held.splice(0)) socket.destroy();
    }
  };

  const [first, second] = await Promise.all([list(), list(), letGo()]);
  equal(first, second);
  equal(first.length, 15);
  equal(connected, 15);

  time += 29_999;
  equal(await list(), first);
  time += 1;
  const [again] = await Promise.all([list(), letGo()]);
  equal(again === first, false);
  equal(connected, 30);
});

Deno.test("an abort interrupts the checks", async () => {
  const stop = new AbortController();
  await using silent = await tcpServer(() => stop.abort());
  const targets = Array.from({ length: 12 }, () => ({ domain: "127.0.0.1", port: silent.port }));
  const seen = await checkCertificates(targets, { now, signal: stop.signal });
  deepEqual([...new Set(seen.map(({ error }) => error))], ["The check was interrupted"]);
});

Deno.test("without domains the list is empty", async () => {
  deepEqual(await checkCertificates([], { now }), []);
});

/** The certificates in the order in which a server sends them. */
function withChain(leaf: Identity, ...issuers: Identity[]): Identity {
  return { key: leaf.key, cert: [leaf, ...issuers].map(({ cert }) => cert).join("") };
}

async function tcpServer(
  onSocket: (socket: Socket) => void,
): Promise<{ port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
