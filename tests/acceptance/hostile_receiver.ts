/**
 * Receivers that repeat each request in their response: a response that the service logs contains the
 * service's own secrets.
 *
 * @module
 */

import { freePort } from "../helpers/free_port.ts";
export interface HostileReceiver extends AsyncDisposable {
  /** Answers with a failure whose body, headers and status text repeat the request. */
  failing: string;
  /** Answers 200 with the request as text, which is not JSON. */
  chatty: string;
  /** Redirects to an address that contains the request. */
  redirecting: string;
  /** A port that is not open. */
  unreachable: string;
  /** A mail server that refuses every login and repeats it; `host:port`. */
  mail: string;
  /** Requests so far. */
  readonly asked: number;
  /** Logins at the mail server so far. */
  readonly logins: number;
}

export function hostileReceiver(): HostileReceiver {
  let asked = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    asked++;
    const { pathname, search } = new URL(request.url);
    const headers = [...request.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    const told = `${request.method} ${pathname}${search}\n${headers}\n\n${await request.text()}`;
    const line = encodeURIComponent(told).slice(0, 6_000);
    if (pathname.startsWith("/redirecting")) {
      const location = `/failing?told=${line}`;
      return new Response(told, { status: 302, headers: { location, "retry-after": line } });
    }
    const status = pathname.startsWith("/chatty") ? 200 : 500;
    const echo = { "x-error": line, "retry-after": line, "content-type": "text/plain" };
    return new Response(told, { status, headers: echo });
  });
  const mail = hostileMailServer();
  const origin = `http://127.0.0.1:${server.addr.port}`;
  return {
    failing: `${origin}/failing`,
    chatty: `${origin}/chatty`,
    redirecting: `${origin}/redirecting`,
    unreachable: `http://127.0.0.1:${freePort()}`,
    mail: `127.0.0.1:${mail.port}`,
    get asked() {
      return asked;
    },
    get logins() {
      return mail.logins;
    },
    async [Symbol.asyncDispose]() {
      await mail.close();
      await server.shutdown();
    },
  };
}

/** The part of SMTP that is needed to receive a password (RFC 4954). */
function hostileMailServer() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving: Promise<void>[] = [];
  let logins = 0;

  const answer = (line: string) => {
    if (/^EHLO/i.test(line)) return "250-mail.test\r\n250 AUTH PLAIN LOGIN\r\n";
    if (/^QUIT/i.test(line)) return "221 bye\r\n";
    if (!/^AUTH/i.test(line)) return `502 not before a login: ${line}\r\n`;
    logins++;
    const login = line.split(" ").at(-1)!;
    const plain = new TextDecoder().decode(Uint8Array.fromBase64(login)).replaceAll("\0", " ");
    return `535 5.7.8 wrong: ${login} which is ${plain}\r\n`;
  };
  const serve = async (connection: Deno.Conn) => {
    const write = async (text: string) => {
      const bytes = new TextEncoder().encode(text);
      for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.slice(sent));
    };
    try {
      await write("220 mail.test ESMTP\r\n");
      let pending = "";
      const decoder = new TextDecoder();
      const buffer = new Uint8Array(4_096);
      for (let read; (read = await connection.read(buffer)) !== null;) {
        pending += decoder.decode(buffer.subarray(0, read), { stream: true });
        const lines = pending.split("\r\n");
        pending = lines.pop()!;
        for (const line of lines) await write(answer(line));
      }
    } catch {
      // The client disconnected.
    } finally {
      connection.close();
    }
  };
  const accepting = (async () => {
    for await (const connection of listener) serving.push(serve(connection));
  })();
  return {
    port: listener.addr.port,
    get logins() {
      return logins;
    },
    async close() {
      listener.close();
      await accepting;
      await Promise.all(serving);
    },
  };
}
