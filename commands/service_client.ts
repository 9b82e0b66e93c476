/** A client of the running service, for commands. @module */

import type { IncomingMessage } from "node:http";
import { nodeHttp, nodeHttps } from "../services/builtins.ts";
import { findInstallation } from "./installation.ts";
import { CommandError, type Program } from "./program.ts";
import { findRunningService } from "./running_service.ts";

interface ServiceEvent {
  id: string | undefined;
  event: string;
  data: unknown;
}

export type ServiceClient = ReturnType<typeof connectService>;

export class RefusedError extends CommandError {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

/** The connection was refused or lost, or the service cannot answer now. */
class LostError extends CommandError {
  /** Of an answer. */
  status: number | undefined;
}

/** An event above this length is refused, in characters. */
const EVENT_LENGTH_MAX = 16 * 1024 * 1024;

/**
 * Connects to the service at `LONGSHORE_URL`, or the one that runs on the data directory, with the
 * API token in `LONGSHORE_TOKEN`, or with `API_KEY`.
 *
 * @throws {CommandError} If one of them is unknown.
 */
export function connectService(program: Program) {
  const { env } = program;
  const base = env["LONGSHORE_URL"] ?? localAddress(program);
  const given = env["LONGSHORE_TOKEN"];
  const apiKey = env["API_KEY"];
  if (!given && !apiKey) {
    throw new CommandError(
      "LONGSHORE_TOKEN is not set: create an API token with `longshore token create`",
    );
  }
  let token = given;

  const open = async (
    path: string,
    signal: AbortSignal,
    { headers = {}, ...options }: {
      headers?: Record<string, string>;
      body?: string;
      method?: string;
    } = {},
  ) => {
    for (let attempt = 0;; attempt++) {
      token ??= await login(base, apiKey!, signal);
      const response = await send(base, path, {
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...options,
        signal,
      });
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) return response;
      const message = await errorText(response);
      // The access token has expired.
      if (statusCode === 401 && !given && attempt === 0) token = undefined;
      else if (statusCode === 429 || statusCode >= 500) {
        throw Object.assign(new LostError(message), { status: statusCode });
      } else throw new RefusedError(message, statusCode);
    }
  };
  return {
    /** The body of a successful response to a GET. Throws a {@linkcode CommandError} otherwise. */
    text: async (path: string, signal: AbortSignal) => await readText(await open(path, signal)),
    /** The body of a successful response to a POST of JSON. Throws like `text`. */
    post: async (path: string, body: unknown, signal: AbortSignal) =>
      await readText(await open(path, signal, { body: JSON.stringify(body) })),
    /** The body of a successful response to a PUT of JSON. Throws like `text`. */
    put: async (path: string, body: unknown, signal: AbortSignal) =>
      await readText(await open(path, signal, { method: "PUT", body: JSON.stringify(body) })),
    /** Throws like `text`. */
    delete: async (path: string, signal: AbortSignal): Promise<void> =>
      void await readText(await open(path, signal, { method: "DELETE" })),
    async events(
      path: string,
      lastId: string | undefined,
      signal: AbortSignal,
    ): Promise<AsyncIterable<ServiceEvent>> {
      const known = lastId === undefined ? undefined : { "last-event-id": lastId };
      const headers = { accept: "text/event-stream", ...known };
      return eventsOf(await open(path, signal, { headers }));
    },
    /** Whether an error means that the service cannot be reached now, or is busy. */
    isLost: (error: unknown): boolean => error instanceof LostError,
    /** HTTP status of the answer that is an error. */
    statusOf: (error: unknown): number | undefined =>
      error instanceof LostError || error instanceof RefusedError ? error.status : undefined,
  };
}

function localAddress(program: Program): string {
  const { dataDir } = findInstallation(program).config;
  const service = findRunningService(dataDir);
  if (service) return service.address;
  throw new CommandError(`No service runs on ${dataDir}: start it, or set LONGSHORE_URL`);
}

async function login(base: string, apiKey: string, signal: AbortSignal): Promise<string> {
  const response = await send(base, "/auth/token", { body: JSON.stringify({ apiKey }), signal });
  if (response.statusCode !== 200) throw new CommandError(await errorText(response));
  return JSON.parse(await readText(response)).accessToken;
}

function send(
  base: string,
  path: string,
  { headers = {}, body, method = body === undefined ? "GET" : "POST", signal }: {
    headers?: Record<string, string>;
    body?: string;
    method?: string;
    signal: AbortSignal;
  },
): Promise<IncomingMessage> {
  const url = URL.parse(base.replace(/\/$/, "") + path);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new CommandError(`LONGSHORE_URL must be an HTTP address, not ${base}`);
  }
  const { request } = url.protocol === "https:" ? nodeHttps() : nodeHttp();
  // The certificate is for the public name, and a connection to this host does not leave it.
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      signal,
      ...(isLocal && { rejectUnauthorized: false }),
    }, resolve);
    sent.on("error", (error) => {
      reject(new LostError(`Cannot reach ${url.origin}: ${error.message}`, { cause: error }));
    });
    sent.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response) text += decoder.decode(bytes, { stream: true });
  } catch (cause) {
    throw new LostError("The connection to the service was lost", { cause });
  }
  return text;
}

async function errorText(response: IncomingMessage): Promise<string> {
  const text = await readText(response);
  try {
    // Fields of a request are options or arguments here.
    return String(JSON.parse(text).error).replace(/^(?:body|query)\./, "");
  } catch {
    return `The service answered ${response.statusCode}`;
  }
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<ServiceEvent> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response) {
      text += decoder.decode(bytes, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const fields = fieldsOf(text.slice(0, end));
        text = text.slice(end + 2);
        const { id, event = "", data = "null" } = fields;
        if (event || id) yield { id, event, data: JSON.parse(data) ?? {} };
      }
      if (text.length > EVENT_LENGTH_MAX) throw new Error("an event is too long");
    }
  } catch (cause) {
    if (cause instanceof Deno.errors.BrokenPipe) throw cause;
    throw new LostError("The connection to the service was lost", { cause });
  }
}

function fieldsOf(block: string): Record<string, string> {
  return Object.fromEntries(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
    }),
  );
}
