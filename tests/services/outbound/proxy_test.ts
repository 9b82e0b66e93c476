/** Requests through an HTTP proxy. */

import { deepEqual, equal, rejects } from "node:assert/strict";
import type { Config } from "../../../services/config/config.ts";
import { outboundRequest } from "../../../services/outbound/http.ts";
import { proxyFor } from "../../../services/outbound/proxy.ts";
import { createAuthority } from "../../helpers/certificates.ts";
import { startProxy } from "../../helpers/proxy.ts";
import { testConfig } from "../../helpers/test_app.ts";

const LIMITS = { reach: "internal", timeoutMs: 60_000, bodyMax: 1024 } as const;

Deno.test("requests go through the proxy, with the own TLS and the own check of addresses", async () => {
  using proxy = await startProxy();
  const authority = await createAuthority("Private authority");
  const identity = await authority.issue({ name: "shop", altNames: "DNS:shop.example.com" });
  const listening = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const headers: Headers[] = [];
  const answer = async (request: Request) => {
    headers.push(request.headers);
    return Response.json([request.method, request.url, await request.text()]);
  };
  await using secure = Deno.serve({ ...listening, ...identity }, answer);
  await using plain = Deno.serve(listening, answer);
  const address = proxy.url.replace("//", "//ada:p%40ss@");
  const known: Record<string, string> = {
    "internal.example.com": "169.254.169.254",
    "myhost": "127.0.0.1",
  };
  const deps = {
    config: testConfig({ httpsProxy: address, httpProxy: address }),
    resolve: (host: string) =>
      known[host] ? Promise.resolve([known[host]]) : Promise.reject(new Error("unknown")),
  };
  const send = (url: string, more = {}) =>
    outboundRequest(deps, { ...LIMITS, url, caCertificates: authority.cert, ...more });
  const url = `https://shop.example.com:${secure.addr.port}/a?b`;

  const sent = await send(url, { method: "POST", body: "text" });
  deepEqual(sent.json(), ["POST", url, "text"]);
  const http = `http://shop.example.com:${plain.addr.port}/a?b`;
  deepEqual((await send(http)).json(), ["GET", http, ""]);
  deepEqual(proxy.requests, [`CONNECT shop.example.com:${secure.addr.port}`, `GET ${http}`]);
  const basic = `Basic ${btoa("ada:p@ss")}`;
  deepEqual(proxy.authorizations, [basic, basic]);
  equal(headers[0]!.get("proxy-authorization"), null);

  await rejects(send(url, { caCertificates: undefined }), /the certificate is not trusted/);
  const other = url.replace("shop", "blog");
  await rejects(send(other), /blog\.example\.com:\d+: the certificate is for another name/);

  proxy.requests.length = 0;
  for (
    const blocked of ["https://internal.example.com", "http://169.254.169.254/", "https://metadata"]
  ) {
    await rejects(send(blocked), { code: "blocked" });
  }
  await rejects(send(http, { reach: "intranet" }), { code: "unresolvable" });
  deepEqual(proxy.requests, []);

  await rejects(
    outboundRequest({ ...deps, resolve: () => new Promise(() => {}) }, {
      ...LIMITS,
      url,
      reach: "public",
    }),
    { code: "timeout" },
  );
  deepEqual(proxy.requests, []);

  // The proxy's own host has the same address.
  const own = `http://myhost:${plain.addr.port}/a?b`;
  deepEqual((await send(own, { reach: "loopback" })).json(), ["GET", own, ""]);
  deepEqual(proxy.requests, []);

  proxy.refuse = 407;
  await rejects(send(url), { message: "The proxy in HTTPS_PROXY answered 407" });
  equal((await send(http)).status, 407);
  deps.config.httpsProxy = deps.config.httpProxy = "http://127.0.0.1:1";
  await rejects(send(url), { message: "The proxy in HTTPS_PROXY cannot be reached" });
  await rejects(send(http), { message: "The proxy in HTTP_PROXY refused the connection" });
});

Deno.test("NO_PROXY has hosts, domains and networks, and this host is always reached directly", () => {
  const proxied = (url: string, given: Partial<Config>) =>
    proxyFor({ httpsProxy: "http://proxy", httpProxy: null, noProxy: [], ...given }, new URL(url));
  for (
    const [url, noProxy, isDirect] of [
      ["https://a.example.com", [], false],
      ["http://a.example.com", [], true],
      ["https://localhost:1", [], true],
      ["https://[::1]", [], true],
      ["https://a.example.com", ["example.com"], true],
      ["https://a.example.com", ["*.Example.com"], true],
      ["https://example.com.", [".example.com"], true],
      ["https://badexample.com", ["example.com"], false],
      ["https://example.com:444", ["example.com:444"], true],
      ["https://example.com", ["example.com:444"], false],
      ["https://10.1.2.3", ["10.0.0.0/8"], true],
      ["https://11.1.2.3", ["10.0.0.0/8"], false],
      ["https://[fd00::1]", ["fd00::/8"], true],
      ["https://a.example.com", ["*"], true],
    ] as const
  ) {
    equal(proxied(url, { noProxy: [...noProxy] }) === undefined, isDirect, `${url} ${noProxy}`);
  }
});
