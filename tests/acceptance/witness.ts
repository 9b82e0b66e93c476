/** Calls the application and keeps all of its output for the search. @module */

import { assertDocumented } from "../helpers/documented.ts";
import type { App } from "../../routes/app.ts";
import type { Leak, PlantedSecrets } from "./planted_secrets.ts";

/** A response that contains a secret on purpose. */
export interface Handover {
  /** Method, pattern of the path and status. */
  at: string;
  /** Roles that may receive it; default: all. */
  as?: string;
  /** Fields of the response, each with the name of the secret that is created there, if any. */
  fields: Record<string, string | null>;
  because: string;
}

/** A response that may repeat a value to the client that sent it. */
export interface Echo {
  where: RegExp;
  /** Names of secrets. */
  secrets: readonly string[];
  /** The text that must surround it; default: any. */
  around?: RegExp;
  because: string;
}

export interface Call {
  method: string;
  /** The requested path. */
  path: string;
  /** The path with parameters as `:name`; default: the requested path. */
  pattern?: string;
  /** The caller, for the report. */
  as: string;
  headers?: Record<string, string>;
  body?: string | undefined;
}

/** A leak and its place. */
export type Found = Leak & { where: string };

export interface Witness {
  // deno-lint-ignore no-explicit-any
  call(app: App, call: Call): Promise<{ status: number; body: any; cookie: string | null }>;
  /** Keeps an output text and its place. */
  hear(where: string, text: string): void;
  /** Secrets that were found. */
  leaks(): Found[];
  /** Unused exceptions, which can be deleted. */
  unused(): string[];
  /** Status codes of each endpoint, by method and pattern. */
  statuses: Map<string, Set<number>>;
  /** Number of distinct texts so far. */
  readonly count: number;
}

/** Between the lines of a text and the entries of a list. No secret contains it. */
const SEPARATOR = /\},\{|\n/;

/** A stream is read up to one of these frames. */
const LAST_FRAMES = ["event: alerts", "event: log", "event: done"];

export function witness(
  secrets: PlantedSecrets,
  { handovers, echoes }: { handovers: readonly Handover[]; echoes: readonly Echo[] },
): Witness {
  /** First place of each text; most responses of a kind are equal. */
  const heard = new Map<string, string>();
  const statuses = new Map<string, Set<number>>();
  const used = new Set<Handover | Echo>();
  let calls = 0;

  const hear = (where: string, text: string) => {
    if (!heard.has(text)) heard.set(text, where);
  };

  /** A response without the secrets that it contains on purpose. */
  const withoutHandovers = (where: string, as: string, answer: Record<string, unknown>) => {
    const rest = { ...answer };
    for (const handover of handovers) {
      if (handover.at !== where || (handover.as ?? as) !== as) continue;
      for (const [field, name] of Object.entries(handover.fields)) {
        if (!(field in answer)) continue;
        used.add(handover);
        delete rest[field];
        // The signature is the part of a signed token that cannot be forged.
        if (name !== null) secrets.keep(name, String(answer[field]).split(".").at(-1)!);
      }
    }
    return rest;
  };

  return {
    hear,
    statuses,
    get count() {
      return heard.size;
    },
    async call(app, { method, path, pattern = path, as, headers = {}, body }) {
      // Each call has its own client address, so that none is throttled.
      const address = `10.${calls >> 16 & 255}.${calls >> 8 & 255}.${calls++ & 255}`;
      const request = new Request(`http://longshore.test${path}`, {
        method,
        headers,
        ...(body !== undefined && { body }),
      });
      const response = await app(request, address);
      const what = `${method} ${pattern}`;
      const where = `${what} ${response.status}`;
      const text = await textOf(response, path);
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      const answer = isJson && text !== "" ? JSON.parse(text) : text;
      assertDocumented({
        method,
        path,
        status: response.status,
        type: response.headers.get("content-type") ?? "",
        body: answer,
      });
      const isRecord = typeof answer === "object" && answer !== null && !Array.isArray(answer);
      const shown = isRecord ? JSON.stringify(withoutHandovers(where, as, answer)) : text;
      hear(`${as}: ${where}`, shown);
      const cookie = response.headers.get("set-cookie");
      response.headers.delete("x-request-id");
      hear(`${as}: ${where}, headers`, [...response.headers].map(String).join("\n"));
      statuses.set(what, (statuses.get(what) ?? new Set()).add(response.status));
      return { status: response.status, body: answer, cookie };
    },
    leaks() {
      const isEcho = ({ where, secret }: Found) => {
        const echo = echoes.find((each) => each.where.test(where) && each.secrets.includes(secret));
        if (echo) used.add(echo);
        return echo !== undefined;
      };
      // The answers of lists have most entries in common, each of which is searched once.
      const searched = new Map<string, Leak[]>();
      const leaksIn = (part: string) => {
        const known = searched.get(part);
        if (known) return known;
        const found = secrets.leaksIn(part);
        searched.set(part, found);
        return found;
      };
      return [...heard].flatMap(([text, where]) =>
        text.split(SEPARATOR).flatMap(leaksIn).map((leak) => ({ where, ...leak }))
          .filter((found) => !isEcho(found))
      );
    },
    unused: () =>
      [...handovers, ...echoes].filter((each) => !used.has(each)).map((each) => each.because),
  };
}

async function textOf(response: Response, path: string): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    return await response.text();
  }
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  // No line contains a secret that is searched for.
  const lastFrames = /(search|regex)=/.test(path) ? ["retry:"] : LAST_FRAMES;
  for (let done = false; !done && !lastFrames.some((frame) => text.includes(frame));) {
    const read = await reader.read();
    text += read.value ?? "";
    done = read.done;
  }
  await reader.cancel();
  return text;
}
