/**
 * nginx as a socket proxy in front of an engine: it opens the calls of features as
 * `docs/socket-proxy.md` lists them, and answers others with 403.
 *
 * @module
 */

import { freePort } from "./free_port.ts";
import { type Nginx, startNginx } from "./nginx.ts";

/** Calls of a feature, and the features that it also needs. */
export interface DocumentedFeature {
  also: string[];
  calls: string[];
}

/** The features of the document by their names. */
export async function documentedFeatures(): Promise<Record<string, DocumentedFeature>> {
  const page = await Deno.readTextFile(new URL("../../docs/socket-proxy.md", import.meta.url));
  const sections = page.slice(page.indexOf("## Calls by feature")).split("\n### ").slice(1);
  return Object.fromEntries(sections.map((section) => {
    const [, name = "", text = "", lines = ""] =
      /^(.+)\n([^]*)```text\n([^]*?)\n```/.exec(section) ?? [];
    const also = /^Also: ([^.]+)\./m.exec(text)?.[1]?.split(", ") ?? [];
    return [name, { also: also.map((each) => each.replace("\n", " ")), calls: lines.split("\n") }];
  }));
}

export interface SocketProxy extends AsyncDisposable {
  port: number;
  /** Requests that were answered with 403, as `METHOD /path`. */
  refused(): Promise<string[]>;
}

/** Starts a proxy that opens the calls of features, with what they also need. */
export async function startSocketProxy(
  socketPath: string,
  features: string[],
): Promise<SocketProxy> {
  const documented = await documentedFeatures();
  const names = new Set(features);
  for (const name of names) for (const other of documented[name]!.also) names.add(other);
  const calls = [...names].flatMap((name) => documented[name]!.calls);
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-proxy-" });
  const port = freePort();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(directory, { recursive: true }));
  const nginx: Nginx = stack.use(
    await startNginx({ directory, port, servers: servers(socketPath, calls, directory, port) }),
  );
  void nginx;
  const all = stack.move();
  return {
    port,
    async refused() {
      const lines = (await Deno.readTextFile(`${directory}/calls.log`)).trim().split("\n");
      return lines.filter((line) => line.startsWith("403 ")).map((line) => line.slice(4));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function servers(socketPath: string, calls: string[], directory: string, port: number): string {
  const patterns = calls.map((call) => {
    const [method, path] = call.replaceAll("{id}", "[^/]+").replaceAll("{name}", ".+").split(" ");
    return `"~^${method} (/v[0-9.]+)?${path}$" 1;`;
  });
  return `
    log_format calls '$status $request_method $uri';
    map "$request_method $uri" $is_open { default 0; ${patterns.join(" ")} }
    map $http_upgrade $connection_type { default upgrade; "" ""; }
    server {
      listen 127.0.0.1:${port};
      access_log ${directory}/calls.log calls;
      client_max_body_size 0;
      if ($is_open = 0) { return 403; }
      location / {
        proxy_pass http://unix:${socketPath}:;
        proxy_http_version 1.1;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $connection_type;
        proxy_buffering off;
        proxy_request_buffering off;
        proxy_read_timeout 1h;
      }
    }`;
}
