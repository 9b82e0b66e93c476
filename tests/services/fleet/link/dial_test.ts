import { deepEqual, equal, rejects } from "node:assert/strict";
import type { Config } from "../../../../services/config/config.ts";
import { dial, LINK_PATH } from "../../../../services/fleet/link/dial.ts";
import { selfSigned } from "../../../helpers/certificates.ts";
import { startProxy } from "../../../helpers/proxy.ts";
import { testConfig } from "../../../helpers/test_app.ts";

const SIGNAL = () => AbortSignal.timeout(60_000);

/** A server at the path of links that answers with `status`, or echoes messages. */
function serve({ status, isPlain = false }: { status?: number; isPlain?: boolean } = {}) {
  const paths: string[] = [];
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(!isPlain && certificate),
    onListen: () => {},
  }, (request) => {
    paths.push(new URL(request.url).pathname);
    if (status !== undefined) {
      return new Response(null, { status, headers: { location: "https://127.0.0.1:1/" } });
    }
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => socket.send(data);
    return response;
  });
  const address = `${isPlain ? "http" : "https"}://127.0.0.1:${server.addr.port}`;
  return { address, paths, [Symbol.asyncDispose]: () => server.shutdown() };
}

const certificate = await selfSigned({ name: "hub" });

const config = (changes: Partial<Config> = {}) => ({ config: testConfig(changes) });

async function assertEcho(deps: ReturnType<typeof config>, address: string): Promise<void> {
  const connection = await dial(deps, address, SIGNAL());
  await connection.send(Uint8Array.of(1, 2, 3));
  deepEqual(await connection.receive(), Uint8Array.of(1, 2, 3));
  connection.close("done");
}

Deno.test("dial() connects to a hub with a self-signed certificate, also below a path", async () => {
  await using hub = serve();
  await assertEcho(config(), `${hub.address}/below/`);
  deepEqual(hub.paths, [`/below${LINK_PATH}`]);
});

Deno.test("dial() refuses a redirect, a server without a fleet and a busy one, with the reason", async () => {
  for (const [status, reason] of [[302, /redirects/], [404, /no fleet/], [503, /busy/]] as const) {
    await using hub = serve({ status });
    await rejects(dial(config(), hub.address, SIGNAL()), reason);
    equal(hub.paths.length, 1);
  }
  await rejects(dial(config(), "https://127.0.0.1:1", SIGNAL()), { name: "DialError" });
});

Deno.test("dial() uses plain HTTP only with FLEET_INSECURE=on, and only on private networks", async () => {
  await using hub = serve({ isPlain: true });
  await rejects(dial(config(), hub.address, SIGNAL()), /must begin with https/);
  const insecure = config({ fleetInsecure: "on" });
  await assertEcho(insecure, hub.address);
  await rejects(dial(insecure, "http://192.0.2.1", SIGNAL()), /not on a private network/);
});

Deno.test("dial() obeys the outbound rules with a host, and refuses a redirect of one", async () => {
  const outboundAllow = ["127.0.0.1", "192.0.2.1"];
  const insecure = { fleetInsecure: "on" as const, outboundAllow };
  const toHost = (changes: Partial<Config>, address: string) =>
    dial(config(changes), address, SIGNAL(), "host");
  for (const isPlain of [true, false]) {
    await using host = serve({ status: 302, isPlain });
    await rejects(toHost({ fleetInsecure: "on" }, host.address), /may not reach/);
    equal(host.paths.length, 0);
    await rejects(toHost(insecure, host.address), /redirects/);
    deepEqual(host.paths, ["/fleet/hub"]);
  }
  await rejects(toHost(insecure, "http://192.0.2.1"), /not on a private network/);
  await rejects(toHost({}, "https://169.254.169.254"), /may not reach/);
});

Deno.test("dial() goes through HTTPS_PROXY, except to hosts in NO_PROXY", async () => {
  await using hub = serve();
  using proxy = await startProxy();
  const httpsProxy = `http://user:p%40ss@127.0.0.1:${proxy.port}`;
  const { port } = new URL(hub.address);
  await assertEcho(config({ httpsProxy }), `https://hub.example.com:${port}`);
  deepEqual(proxy.requests, [`CONNECT hub.example.com:${port}`]);
  deepEqual(proxy.authorizations, [`Basic ${btoa("user:p@ss")}`]);

  const noProxy = ["example.com"];
  const direct = dial(config({ httpsProxy, noProxy }), "https://hub.example.com:1", SIGNAL());
  await rejects(direct, { name: "DialError" });
  await assertEcho(config({ httpsProxy }), hub.address);
  equal(proxy.requests.length, 1);
});
