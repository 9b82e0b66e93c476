/** A real nginx with TLS and passwords in front of a Git server. @module */

import { createAuthority } from "./certificates.ts";
import { freePort } from "./free_port.ts";
import { type GitServer, gitServer } from "./git_server.ts";
import { startNginx } from "./nginx.ts";

export interface GitNginx extends AsyncDisposable {
  /** `https://127.0.0.1:…`: below `/slow`, the server sends 256 KiB per second. */
  url: string;
  /** Of the authority, PEM. */
  caCertificate: string;
  /** Behind nginx. */
  server: GitServer;
}

/** Accepts `ada` with `s3cret`, and the token `t0ken`. */
export async function gitNginx(): Promise<GitNginx> {
  const server = await gitServer();
  const directory = await Deno.makeTempDir({ prefix: "longshore-git-nginx-" });
  const authority = await createAuthority("Git authority");
  const { cert, key } = await authority.issue({ name: "git", altNames: "IP:127.0.0.1" });
  await Deno.writeTextFile(`${directory}/cert.pem`, cert);
  await Deno.writeTextFile(`${directory}/key.pem`, key);
  await Deno.writeTextFile(`${directory}/users`, "ada:{PLAIN}s3cret\noauth2:{PLAIN}t0ken\n");
  const port = freePort();
  const nginx = await startNginx({
    directory,
    port,
    servers: `server {
      listen 127.0.0.1:${port} ssl;
      ssl_certificate ${directory}/cert.pem;
      ssl_certificate_key ${directory}/key.pem;
      client_max_body_size 0;
      auth_basic Git;
      auth_basic_user_file ${directory}/users;
      proxy_request_buffering off;
      proxy_http_version 1.1;
      location /slow/ { limit_rate 256k; proxy_pass ${server.url}/; }
      location / { proxy_pass ${server.url}; }
    }`,
  });
  return {
    url: `https://127.0.0.1:${port}`,
    caCertificate: authority.cert,
    server,
    async [Symbol.asyncDispose]() {
      await nginx[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await Deno.remove(directory, { recursive: true });
    },
  };
}
