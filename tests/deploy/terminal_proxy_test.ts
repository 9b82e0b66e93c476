import { deepEqual } from "node:assert/strict";
import { selfSigned } from "../helpers/certificates.ts";
import { setContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { freePort } from "../helpers/free_port.ts";
import { startNginx } from "../helpers/nginx.ts";
import { openTerminal, serveTerminals } from "../helpers/terminal_client.ts";
import { testApp } from "../helpers/test_app.ts";

const PATH = "/api/containers/web/terminal";

/** An engine whose programs print `hello` and exit with 0. */
const helloEngine = () =>
  fakeEngine({
    "POST /containers/*/exec": () => Response.json({ Id: "exec1" }, { status: 201 }),
    "POST /exec/*/start": () => new Response(new Blob(["hello"]).stream()),
    "GET /exec/*/json": () => Response.json({ Running: false, Pid: 0, ExitCode: 0 }),
    "POST /exec/*/resize": () => new Response(null),
  });

/** `deploy/nginx.conf` for loopback: other ports, other files, no redirect. */
async function proxyConfig(
  { port, upstream, directory }: { port: number; upstream: number; directory: string },
): Promise<string> {
  const text = await Deno.readTextFile(new URL("../../deploy/nginx.conf", import.meta.url));
  return text
    .replace(/server \{\s+listen 80;[^}]+\}/, "")
    .replace(/listen \[::\]:443[^;]*;/, "")
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace("127.0.0.1:3000", `127.0.0.1:${upstream}`)
    .replaceAll("/etc/nginx/tls/", `${directory}/`);
}

Deno.test("a terminal works over the service's own TLS and behind deploy/nginx.conf", async () => {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-proxy-" });
  try {
    const { cert, key } = await selfSigned({ name: "localhost", altNames: "IP:127.0.0.1" });
    const tls = {
      tlsCertFile: `${directory}/longshore.crt`,
      tlsKeyFile: `${directory}/longshore.key`,
    };
    await Deno.writeTextFile(tls.tlsCertFile, cert);
    await Deno.writeTextFile(tls.tlsKeyFile, key);
    using client = Deno.createHttpClient({ caCerts: [cert] });
    const hello = async (port: number, ticket: string) => {
      const url = `wss://127.0.0.1:${port}${PATH}?ticket=${ticket}`;
      const terminal = await openTerminal(url, { client });
      deepEqual(await terminal.end(), { message: { exit: 0 }, code: 1000 });
      deepEqual(terminal.output, "hello");
    };

    for (const isProxied of [false, true]) {
      await using engine = helloEngine();
      using app = testApp({ engine: engine.engine, config: { terminal: "admin" } });
      setContainers(app, { name: "web" });
      await using server = serveTerminals(app, isProxied ? undefined : tls);
      if (!isProxied) {
        await hello(server.port, await server.ticket(PATH));
        continue;
      }
      const port = freePort();
      const servers = await proxyConfig({ port, upstream: server.port, directory });
      await using _nginx = await startNginx({ directory, servers, port });
      await hello(port, await server.ticket(PATH));
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
