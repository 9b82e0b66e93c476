/**
 * Servers of repositories: S3 (npm `@20minutes/s3rver`, which verifies signatures), restic's REST
 * protocol (rclone), and a proxy in front of them that misbehaves on request.
 *
 * @module
 */

import S3rver from "@20minutes/s3rver";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "./free_port.ts";
import { until } from "./until.ts";

export interface TargetServer extends AsyncDisposable {
  /** E.g. `http://127.0.0.1:40123`. */
  url: string;
}

/** Credentials that the S3 server knows. */
export const S3_KEY = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

/**
 * Starts an S3 server with the bucket `backups`.
 *
 * @param options.allowMismatchedSignatures For restic, which signs the path of a bucket with a slash
 * behind it, as other servers do, but not this one.
 */
export async function startS3({ allowMismatchedSignatures = false } = {}): Promise<TargetServer> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-s3-" });
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    allowMismatchedSignatures,
    directory,
    configureBuckets: [{ name: "backups", configs: [] }],
  });
  const { port } = await server.run();
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await server.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** User of a REST server with `isPrivate`. */
export const REST_USER = { username: "longshore", userPassword: "test: password 7" };

/** Starts `rclone serve restic` on a directory of its own. */
export async function startRest(
  { isAppendOnly = false, isPrivate = false } = {},
): Promise<TargetServer> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-rest-" });
  const port = freePort();
  const { username, userPassword } = REST_USER;
  const child = new Deno.Command("rclone", {
    args: [
      "serve",
      "restic",
      directory,
      `--addr=127.0.0.1:${port}`,
      ...(isAppendOnly ? ["--append-only"] : []),
      ...(isPrivate ? [`--user=${username}`, `--pass=${userPassword}`] : []),
    ],
    env: { RCLONE_CONFIG: `${directory}.conf` },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await until("rclone listens", () => {
    return fetch(`http://127.0.0.1:${port}/keys/`).then((answer) => answer.text()).then(() => true);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/**
 * Misbehaviour: a status instead of an answer; no answer; half of the body; a changed byte in the
 * body of the request or the answer; success with the right entity tag for what was never stored.
 */
export type Fault = number | "hang" | "cut" | "change upload" | "change answer" | "lose";

/** Decides about a request, e.g. `PUT /backups/config`. */
export type FaultRule = (request: string) => Fault | undefined;

export interface FaultyProxy extends TargetServer {
  /** Requests so far, without queries. */
  requests: string[];
}

/** Passes requests on as the rule says. */
export async function startFaultyProxy(url: string, rule: FaultRule): Promise<FaultyProxy> {
  const requests: string[] = [];
  const server = createServer(async (incoming, answer) => {
    const name = `${incoming.method} ${incoming.url!.split("?")[0]}`;
    requests.push(name);
    // A client that gives up aborts the request.
    await misbehave(url, rule(name), incoming, answer).catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function misbehave(
  url: string,
  fault: Fault | undefined,
  incoming: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const sent = await readAll(incoming);
  if (fault === "hang") return;
  if (typeof fault === "number") return void answer.writeHead(fault).end("<html>no</html>");
  if (fault === "lose") {
    const etag = createHash("md5").update(sent).digest("hex");
    return void answer.writeHead(200, { etag: `"${etag}"` }).end();
  }
  const { status, headers, body } = await passOn(
    url,
    incoming,
    fault === "change upload" ? changed(sent) : sent,
  );
  answer.writeHead(status, headers);
  if (fault !== "cut") return void answer.end(fault === "change answer" ? changed(body) : body);
  answer.write(body.subarray(0, body.length / 2), () => answer.destroy());
}

/** The host stays, because it is signed. */
function passOn(url: string, { method, url: path, headers }: IncomingMessage, body: Uint8Array) {
  return new Promise<{ status: number; headers: IncomingMessage["headers"]; body: Uint8Array }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(url);
      request({ hostname, port, method, path, headers, agent: false }, async (got) => {
        resolve({ status: got.statusCode!, headers: got.headers, body: await readAll(got) });
      }).on("error", reject).end(body);
    },
  );
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(
    await new Blob((await Array.fromAsync(stream)) as BlobPart[]).arrayBuffer(),
  );
}

function changed(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  if (copy.length > 0) copy[0]! ^= 1;
  return copy;
}
