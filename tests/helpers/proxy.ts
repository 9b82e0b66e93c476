/** An HTTP proxy on loopback. All names lead to loopback. @module */

import { createServer, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";

export interface TestProxy extends Disposable {
  port: number;
  url: string;
  /** E.g. `CONNECT git.example.com:443` and `GET http://git.example.com/`. */
  requests: string[];
  /** The credentials of each request, if any. */
  authorizations: (string | undefined)[];
  /** Status of further answers, instead of a tunnel. */
  refuse: number | undefined;
}

export async function startProxy(): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    return socket;
  };
  const record = ({ method, url, headers }: IncomingMessage) => {
    proxy.requests.push(`${method} ${url}`);
    proxy.authorizations.push(headers["proxy-authorization"]);
  };
  const server = createServer((asked, answer) => {
    record(asked);
    if (proxy.refuse) return void answer.writeHead(proxy.refuse).end();
    const { port, pathname, search } = new URL(asked.url!);
    const { method, headers } = asked;
    const inner = request({ port, path: pathname + search, method, headers }, (found) => {
      answer.writeHead(found.statusCode!, found.headers);
      found.pipe(answer);
    });
    inner.on("error", () => answer.destroy());
    asked.pipe(inner);
  });
  server.on("connection", keep);
  server.on("connect", (asked: IncomingMessage, client: Socket) => {
    record(asked);
    keep(client);
    if (proxy.refuse) return void client.end(`HTTP/1.1 ${proxy.refuse} Refused\r\n\r\n`);
    const port = Number(asked.url!.split(":").at(-1));
    const inner = keep(connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connected\r\n\r\n");
      client.pipe(inner).pipe(client);
    }));
    inner.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const proxy: TestProxy = {
    port,
    url: `http://127.0.0.1:${port}`,
    requests: [],
    authorizations: [],
    refuse: undefined,
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}
