/**
 * Calls the application, and keeps everything that comes out of it for the search.
 *
 * @module
 */

import { assertDocumented } from "../helpers/documented.ts";
import type { App } from "../../routes/app.ts";
import type { Leak, PlantedSecrets } from "./planted_secrets.ts";

/** A response that contains a secret on purpose. */
export interface Handover {
  /** Method, pattern of the path and status. */
  at: string;
  /** Who may have it; everybody who gets such an answer unless given. */
  as?: string;
  /** Fields of the answer, each with the name of the secret that is made there, if one is. */
  fields: Record<string, string | null>;
  because: string;
}

/** A response that may repeat a value to the client that sent it. */
export interface Echo {
  where: RegExp;
  /** Names of secrets. */
  secrets: readonly string[];
  /** What has to stand around it; anything unless given. */
  around?: RegExp;
  because: string;
}

export interface Call {
  method: string;
  /** As it is asked for. */
  path: string;
  /** With parameters as `:name`; default: as it is asked for. */
  pattern?: string;
  /** Who asks, for the report. */
  as: string;
  headers?: Record<string, string>;
  body?: string | undefined;
}

/** A leak and where it came out. */
export type Found = Leak & { where: string };

export interface Witness {
  // deno-lint-ignore no-explicit-any
  call(app: App, call: Call): Promise<{ status: number; body: any }>;
  /** Keeps a text that came out; `where` tells where. */
  hear(where: string, text: string): void;
  /** What came out that must not. */
  leaks(): Found[];
  /** The exceptions that nothing was excepted by: they may go. */
  unused(): string[];
  /** What each endpoint answered, by its method and pattern. */
  statuses: Map<string, Set<number>>;
  /** Different texts so far. */
  readonly count: number;
}

/** A stream is read up to this frame, the last of those that are there at once. */
const LAST_FRAME = "event: alerts";

export function witness(
  secrets: PlantedSecrets,
  { handovers, echoes }: { handovers: readonly Handover[]; echoes: readonly Echo[] },
): Witness {
  /** Where each text was heard first; most answers of a kind are the same. */
  const heard = new Map<string, string>();
  const statuses = new Map<string, Set<number>>();
  const used = new Set<Handover | Echo>();
  let calls = 0;

  const hear = (where: string, text: string) => {
    if (!heard.has(text)) heard.set(text, where);
  };

  /** An answer without what it hands over. */
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
      const text = await textOf(response);
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
      response.headers.delete("x-request-id");
      hear(`${as}: ${where}, headers`, [...response.headers].map(String).join("\n"));
      statuses.set(what, (statuses.get(what) ?? new Set()).add(response.status));
      return { status: response.status, body: answer };
    },
    leaks() {
      const isEcho = ({ where, secret }: Found) => {
        const echo = echoes.find((each) => each.where.test(where) && each.secrets.includes(secret));
        if (echo) used.add(echo);
        return echo !== undefined;
      };
      return [...heard].flatMap(([text, where]) =>
        secrets.leaksIn(text).map((leak) => ({ where, ...leak })).filter((found) => !isEcho(found))
      );
    },
    unused: () =>
      [...handovers, ...echoes].filter((each) => !used.has(each)).map((each) => each.because),
  };
}

async function textOf(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    return await response.text();
  }
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let done = false; !done && !text.includes(LAST_FRAME);) {
    const read = await reader.read();
    text += read.value ?? "";
    done = read.done;
  }
  await reader.cancel();
  return text;
}
