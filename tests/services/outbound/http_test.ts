import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { checkOutboundPort } from "../../../services/outbound/connection.ts";
import { OutboundError, type OutboundErrorCode } from "../../../services/outbound/error.ts";
import { outboundHeaderProblem } from "../../../services/outbound/headers.ts";
import { outboundRequest } from "../../../services/outbound/http.ts";
import { testConfig } from "../../helpers/test_app.ts";
import { isInTime } from "../../helpers/in_time.ts";

const LOOPBACK = ["127.0.0.1"];

function deps(outboundAllow: string[], resolve?: (host: string) => Promise<string[]>) {
  return { config: testConfig({ outboundAllow }), ...(resolve && { resolve }) };
}

const limits = { reach: "public", timeoutMs: 60_000, bodyMax: 64 * 1024 } as const;

/** A server on loopback that records what it was asked. */
function serve(answer: (request: Request, port: number) => Response | Promise<Response>) {
  const asked: { url: string; method: string; headers: Headers; body: string }[] = [];
  const listening = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(listening, async (request) => {
    const body = await request.clone().text();
    asked.push({ url: request.url, method: request.method, headers: request.headers, body });
    return await answer(request, server.addr.port);
  });
  const { port } = server.addr;
  return {
    asked,
    port,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A server that answers each connection with the bytes given, whatever it is asked. */
function serveBytes(...pieces: string[]) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  let connections = 0;
  const accepting = (async () => {
    for await (const conn of listener) {
      connections++;
      open.add(conn);
      (async () => {
        await conn.read(new Uint8Array(4096));
        for (const piece of pieces) await conn.write(new TextEncoder().encode(piece));
        if (pieces.length) conn.close(), open.delete(conn);
      })().catch(() => {});
    }
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    port: listener.addr.port,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const conn of open) conn.close();
      await accepting;
    },
  };
}

const failsWith = (code: OutboundErrorCode, message = /./) => (error: unknown) => {
  if (!(error instanceof OutboundError)) throw error;
  equal(error.code, code, error.message);
  match(error.message, message);
  return true;
};

Deno.test("a request arrives as it was given and its answer is read whole", async () => {
  await using server = serve(() => Response.json({ a: 1 }, { headers: { "X-One": "1" } }));
  const answer = await outboundRequest(deps(LOOPBACK), {
    ...limits,
    url: `${server.url}/path?x=%20y#fragment`,
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Token": "secret" },
    body: '{"h\u00e9":1}',
  });

  equal(answer.status, 200);
  equal(answer.headers["x-one"], "1");
  deepEqual(answer.json(), { a: 1 });
  equal(answer.text(), '{"a":1}');
  equal(typeof answer.durationMs, "number");
  const [asked] = server.asked;
  equal(asked!.url, `${server.url}/path?x=%20y`);
  equal(asked!.method, "POST");
  equal(asked!.body, '{"h\u00e9":1}');
  equal(asked!.headers.get("x-token"), "secret");
  match(asked!.headers.get("user-agent")!, /^Longshore\/\d/);
  equal(asked!.headers.get("cookie"), null);
});

Deno.test("a connection to a refused address is never made", async () => {
  await using server = serveBytes("HTTP/1.1 200 OK\r\n\r\n");
  for (const reach of ["public", "internal"] as const) {
    await rejects(
      outboundRequest(deps([]), { ...limits, reach, url: server.url }),
      failsWith("blocked"),
    );
    await rejects(
      checkOutboundPort(deps([]), { ...limits, reach, host: "127.0.0.1", port: server.port }),
      failsWith("blocked"),
    );
  }
  equal(server.connections, 0);
});

Deno.test("a name that resolves to another address at each question gains nothing", async () => {
  await using inside = serve(() => new Response("internal"));
  let questions = 0;
  const rebinding = () => Promise.resolve(questions++ % 2 === 0 ? ["203.0.113.7"] : ["127.0.0.1"]);
  const url = `http://rebinding.example:${inside.port}/`;

  // The first answer passes and is used for the connection; there is no second lookup.
  const allowed = deps(["203.0.113.7"], rebinding);
  await rejects(
    outboundRequest(allowed, { ...limits, timeoutMs: 300, url }),
    (error) => error instanceof OutboundError && error.code !== "blocked",
  );
  equal(questions, 1);
  // The next call gets the other answer, and refuses it.
  await rejects(outboundRequest(allowed, { ...limits, url }), failsWith("blocked"));
  equal(inside.asked.length, 0);
});

Deno.test("of several addresses the next is tried when one does not answer", async () => {
  await using server = serve(() => new Response("here"));
  const both = deps(["127.0.0.0/8", "::1"], () => Promise.resolve(["127.0.0.9", "127.0.0.1"]));
  const answer = await outboundRequest(both, {
    ...limits,
    url: `http://two.example:${server.port}/`,
  });
  equal(answer.text(), "here");
  equal(server.asked[0]!.headers.get("host"), `two.example:${server.port}`);
});

Deno.test("a redirect is an answer like others unless it is to be followed", async () => {
  await using server = serve(() => Response.redirect("http://127.0.0.1:1/", 302));
  const { status } = await outboundRequest(deps(LOOPBACK), { ...limits, url: server.url });
  equal(status, 302);
});

for (
  const { to, location } of [
    { to: "loopback", location: "http://127.0.0.2/" },
    { to: "loopback in another notation", location: "http://2130706434/" },
    { to: "a metadata service", location: "http://169.254.169.254/latest/" },
    { to: "a private address", location: "http://10.0.0.1/" },
    { to: "a mapped address", location: "http://[::ffff:10.0.0.1]/" },
    { to: "a host without a scheme", location: "//192.168.0.1/x" },
    { to: "a metadata name", location: "http://metadata.google.internal/" },
    { to: "an address with credentials", location: "http://a:b@10.0.0.1/" },
    { to: "another scheme", location: "file:///etc/passwd" },
    { to: "a backslash trick", location: "http:\\\\10.0.0.1\\" },
  ]
) {
  Deno.test(`a redirect to ${to} is not followed`, async () => {
    await using server = serve(() => new Response(null, { status: 302, headers: { location } }));
    await rejects(
      outboundRequest(deps(LOOPBACK), { ...limits, url: server.url, redirectsMax: 5 }),
      (error) => {
        if (!(error instanceof OutboundError)) throw error;
        return ["blocked", "redirect"].includes(error.code);
      },
    );
    equal(server.asked.length, 1);
  });
}

Deno.test("redirects are followed up to their number, each checked", async () => {
  await using server = serve((request, port) => {
    const left = Number(new URL(request.url).searchParams.get("left"));
    if (left === 0) return new Response("arrived");
    return new Response(null, {
      status: 307,
      headers: {
        location: left % 2 ? `?left=${left - 1}` : `http://127.0.0.1:${port}/?left=${left - 1}`,
      },
    });
  });
  const at = (left: number) => ({ ...limits, url: `${server.url}/?left=${left}`, redirectsMax: 3 });
  const answer = await outboundRequest(deps(LOOPBACK), at(3));
  equal(answer.text(), "arrived");
  equal(answer.url, `${server.url}/?left=0`);
  await rejects(outboundRequest(deps(LOOPBACK), at(4)), failsWith("redirect"));
});

Deno.test("credentials do not follow a redirect to another origin, nor does a POST's body", async () => {
  await using other = serve(() => new Response("other"));
  await using first = serve(() => Response.redirect(`${other.url}/`, 302));
  await outboundRequest(deps(LOOPBACK), {
    ...limits,
    url: first.url,
    method: "POST",
    headers: { authorization: "Bearer x", "x-api-key": "y", accept: "text/plain" },
    body: "body",
    redirectsMax: 1,
  });
  const [asked] = other.asked;
  equal(asked!.method, "GET");
  equal(asked!.body, "");
  equal(asked!.headers.get("authorization"), null);
  equal(asked!.headers.get("x-api-key"), null);
  equal(asked!.headers.get("accept"), "text/plain");
});

for (const status of [307, 308]) {
  Deno.test(`a ${status} to another origin gets neither the body nor configured headers`, async () => {
    await using other = serve(() => new Response("other"));
    await using first = serve(() =>
      new Response(null, { status, headers: { location: `${other.url}/` } })
    );
    const request = {
      ...limits,
      url: first.url,
      headers: { authorization: "Bearer x", "user-agent": "token-y", accept: "text/plain" },
      redirectsMax: 5,
    };

    await rejects(
      outboundRequest(deps(LOOPBACK), { ...request, method: "POST", body: "password=x" }),
      failsWith("redirect"),
    );
    equal(other.asked.length, 0);

    await outboundRequest(deps(LOOPBACK), { ...request, method: "PUT" });
    const asked = other.asked.at(-1)!;
    deepEqual([asked.method, asked.body], ["PUT", ""]);
    equal(asked.headers.get("authorization"), null);
    equal(asked.headers.get("user-agent")?.startsWith("Longshore/"), true);
    equal(asked.headers.get("accept"), "text/plain");
  });

  Deno.test(`a ${status} within the origin repeats the body and the headers`, async () => {
    await using server = serve((request) =>
      new URL(request.url).pathname === "/new"
        ? new Response("arrived")
        : new Response(null, { status, headers: { location: "/new" } })
    );
    await outboundRequest(deps(LOOPBACK), {
      ...limits,
      url: server.url,
      method: "POST",
      headers: { authorization: "Bearer x" },
      body: "body",
      redirectsMax: 1,
    });
    const asked = server.asked.at(-1)!;
    deepEqual([asked.method, asked.body, asked.headers.get("authorization")], [
      "POST",
      "body",
      "Bearer x",
    ]);
  });
}

Deno.test("a large body fails, or is cut where that is asked for", async () => {
  await using server = serve(() => new Response("x".repeat(1000)));
  const request = { ...limits, url: server.url, bodyMax: 999 };
  await rejects(outboundRequest(deps(LOOPBACK), request), failsWith("too_large", /999 bytes/));
  const cut = await outboundRequest(deps(LOOPBACK), { ...request, bodyOver: "cut" });
  equal(cut.body.length, 999);
  const whole = await outboundRequest(deps(LOOPBACK), { ...request, bodyMax: 1000 });
  equal(whole.body.length, 1000);
});

Deno.test("a body without a length is cut off at the limit too", async () => {
  const chunk = `400\r\n${"y".repeat(1024)}\r\n`;
  await using chunked = serveBytes(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ...Array(8).fill(chunk),
    "0\r\n\r\n",
  );
  await using plain = serveBytes("HTTP/1.0 200 OK\r\n\r\n", "z".repeat(8192));
  for (const { url } of [chunked, plain]) {
    await rejects(
      outboundRequest(deps(LOOPBACK), { ...limits, url, bodyMax: 2048 }),
      failsWith("too_large"),
    );
    const { body } = await outboundRequest(deps(LOOPBACK), { ...limits, url, bodyMax: 8192 });
    equal(body.length, 8192);
  }
});

for (
  const [wrong, bytes, code] of [
    ["no HTTP", "SSH-2.0-OpenSSH_9.2 secret\r\n\r\n", "network"],
    ["an end within the head", "HTTP/1.1 200 OK\r\nA: b", "network"],
    ["an end within the body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsecret", "network"],
    [
      "two opinions on the body's end",
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nsecret",
      "network",
    ],
    ["interim answers only", "HTTP/1.1 100 C\r\n\r\n".repeat(99), "network"],
    ["a head without end", `HTTP/1.1 200 OK\r\nA: ${"b".repeat(70_000)}`, "too_large"],
    ["too many headers", `HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(200)}\r\n`, "too_large"],
  ] as const
) {
  Deno.test(`${wrong}: the failure says so and repeats nothing of it`, async () => {
    await using server = serveBytes(bytes);
    await rejects(outboundRequest(deps(LOOPBACK), { ...limits, url: server.url }), (error) => {
      equal((error as Error).message.includes("secret"), false);
      return failsWith(code)(error);
    });
  });
}

Deno.test("who does not answer, or answers drop by drop, is given up in time", async () => {
  await using silent = serveBytes();
  const startMs = performance.now();
  await rejects(
    outboundRequest(deps(LOOPBACK), { ...limits, url: silent.url, timeoutMs: 150 }),
    failsWith("timeout", /within 150 ms/),
  );
  equal(isInTime(performance.now() - startMs, 10_000), true);
});

Deno.test("the caller's signal ends a call with its own reason", async () => {
  await using silent = serveBytes();
  const end = new AbortController();
  const call = outboundRequest(deps(LOOPBACK), {
    ...limits,
    url: silent.url,
    signal: end.signal,
  });
  end.abort(new Error("the service ends"));
  await rejects(call, /the service ends/);
});

Deno.test("a port without a listener has its own error", async () => {
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = closed.addr;
  closed.close();
  const url = `http://127.0.0.1:${port}/`;
  await rejects(
    outboundRequest(deps(LOOPBACK), { ...limits, url }),
    failsWith("network", /refused the connection/),
  );
});

Deno.test("the check of a port connects, and fails if nothing listens", async () => {
  const target = { ...limits, host: "127.0.0.1" };
  const server = serveBytes();
  const { port } = server;
  await checkOutboundPort(deps(LOOPBACK), { ...target, port });
  equal(server.connections, 1);
  await server[Symbol.asyncDispose]();
  await rejects(
    checkOutboundPort(deps(LOOPBACK), { ...target, port }),
    failsWith("network", /^127\.0\.0\.1:\d+ refused the connection$/),
  );
});

Deno.test("headers that are not the caller's to set are refused", async () => {
  for (const name of ["Host", "connection", "Transfer-Encoding", "content-length", "a b", "a:b"]) {
    equal(typeof outboundHeaderProblem(name, "x"), "string", name);
  }
  for (const value of ["a\r\nb: c", "a\nb", "\u00e9", "\0", "x".repeat(4097)]) {
    equal(typeof outboundHeaderProblem("X-Ok", value), "string");
  }
  equal(outboundHeaderProblem("Authorization", "Bearer x"), undefined);
  await rejects(
    outboundRequest(deps(LOOPBACK), {
      ...limits,
      url: "http://127.0.0.1:1/",
      headers: { a: "b\r\nc: d" },
    }),
    TypeError,
  );
  await rejects(
    outboundRequest(deps(LOOPBACK), {
      ...limits,
      url: "http://127.0.0.1:1/",
      method: "GET / HTTP/1.1\r\nX",
    }),
    TypeError,
  );
});

Deno.test("TLS is verified with the name of the URL, not with the address", async () => {
  const directory = await Deno.makeTempDir({ prefix: "longshore-tls-" });
  try {
    await makeCertificates(directory);
    const [cert, key] = await Promise.all(
      ["server.pem", "server.key"].map((file) => Deno.readTextFile(`${directory}/${file}`)),
    );
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, cert: cert!, key: key!, onListen() {} },
      () => new Response("secured"),
    );
    const names = { resolve: () => Promise.resolve(["127.0.0.1"]) };
    const call = (host: string) =>
      outboundRequest({ ...deps(LOOPBACK), ...names }, {
        ...limits,
        url: `https://${host}:${server.addr.port}/`,
      });
    // This process does not know the issuer.
    await rejects(call("right.example"), failsWith("tls", /not trusted/));

    await using plain = serve(() => new Response("plain"));
    await rejects(
      outboundRequest(deps(LOOPBACK), { ...limits, url: `https://127.0.0.1:${plain.port}/` }),
      failsWith("tls"),
    );

    // Another one that does: the right name passes, a wrong one does not.
    const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        "--no-lock",
        `import { outboundRequest } from "${new URL(
          "../../../services/outbound/http.ts",
          import.meta.url,
        )}";
         for (const host of ["right.example", "wrong.example"]) {
           await outboundRequest(
             {
               config: { outboundAllow: ["127.0.0.1"], httpsProxy: null, httpProxy: null },
               resolve: async () => ["127.0.0.1"],
             },
             { url: "https://" + host + ":${server.addr.port}/", reach: "public", timeoutMs: 60000, bodyMax: 100 },
           ).then((answer) => console.log(answer.text()), (error) => console.log(error.code, error.message));
         }`,
      ],
      env: { NODE_EXTRA_CA_CERTS: `${directory}/ca.pem` },
      stdout: "piped",
      stderr: "piped",
    }).output();
    const text = new TextDecoder();
    equal(success, true, text.decode(stderr));
    equal(
      text.decode(stdout),
      "secured\n" +
        `tls wrong.example:${server.addr.port}: the certificate is for another name\n`,
    );
    await server.shutdown();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** An issuer of our own and a certificate for `right.example`. */
async function makeCertificates(directory: string): Promise<void> {
  await Deno.writeTextFile(
    `${directory}/extensions`,
    "subjectAltName=DNS:right.example\nbasicConstraints=CA:FALSE\n",
  );
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  for (
    const args of [
      ["req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test"],
      ["req", "-new", ...key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=x"],
      [
        ...["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key"],
        ...["-CAcreateserial", "-extfile", "extensions", "-out", "server.pem"],
      ],
    ]
  ) {
    const { success, stderr } = await new Deno.Command("openssl", {
      args,
      cwd: directory,
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  }
}
