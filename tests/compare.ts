/**
 * Compares two executables: every endpoint of the API document, by every kind of caller, in the
 * Community Edition and in the trial, on private engines with the same containers.
 *
 *     deno task compare OLD NEW [WORD]
 *
 * Compared are status, headers and body (of streams the first frames, of archives the names of their
 * files), and in the end the audit and compliance logs. Numbers, ids and times are masked. Before
 * anything else, each caller has to be signed in. With a word, only paths that contain it are called.
 *
 * @module
 */

import { type Operation, operationsOf } from "../deploy/build/endpoint_check.ts";
import { exampleOf } from "./acceptance/endpoint_walk.ts";
import {
  arrange,
  call,
  type Caller,
  type Edition,
  ENDS_SESSIONS,
  jobEnd,
  keepSignedIn,
  openWorld,
  parsed,
  proveCallers,
  type World,
} from "./helpers/compared_world.ts";

/** Masked responses and log rows, by the request. */
type Recorded = Map<string, Readonly<Record<string, string>>>;

const METHODS = ["GET", "POST", "PUT", "DELETE"];

async function record(program: string, edition: Edition, mode: string, word: string) {
  await using world = await openWorld(program, edition, mode);
  await proveCallers(world);
  const all = await operationsOf(world.service.baseUrl);
  const recorded: Recorded = new Map();
  for (const method of METHODS) {
    for (const operation of all) {
      if (operation.method !== method || !operation.path.includes(word)) continue;
      for (const caller of world.tokens.keys()) {
        for (const [kind, body] of bodiesOf(operation)) {
          const name = `${operation.method} ${operation.path} | ${edition}, ${caller}, ${kind}`;
          recorded.set(name, await send(world, caller, operation, body));
        }
      }
    }
  }
  await recordLogs(world, `${edition}, ${mode} mode`, recorded);
  return recorded;
}

/** An example, and nothing; without a body one request. */
function bodiesOf({ description }: Operation): [string, unknown][] {
  const content = description.requestBody?.content;
  if (!content) return [["without a body", undefined]];
  const schema = content["application/json"]?.schema;
  return [["with an example", schema && exampleOf(schema)], ["with an empty body", {}]];
}

async function send(world: World, caller: Caller, operation: Operation, body: unknown) {
  const { service, engine, tokens, ids } = world;
  const { method, path } = operation;
  const answer = await call(service, tokens.get(caller), method, pathOf(operation, ids), body);
  const done = answer.status < 300;
  if (done && method !== "GET") {
    const { id } = parsed(answer.body) ?? {};
    if (answer.status === 201 && id !== undefined) ids.set(path, String(id));
    if (answer.status === 202 && id !== undefined) await jobEnd(world, String(id));
    await arrange(engine);
  }
  if (method !== "GET" && ENDS_SESSIONS.test(path)) await keepSignedIn(world);
  const { status, headers } = answer;
  return { status: String(status), headers: masked(headers), body: masked(answer.body) };
}

/** The path with ids of what was created, or else examples. */
function pathOf({ path, description }: Operation, ids: World["ids"]): string {
  const real: Record<string, string> = { "/api/containers": "web", "/api/stacks": "shop" };
  return path.replace(/\{(\w+)\}/g, (_, name, at) => {
    const collection = path.slice(0, at - 1);
    const { example, schema } = description.parameters.find((each: { in: string; name: string }) =>
      each.in === "path" && each.name === name
    );
    return encodeURIComponent(
      ids.get(collection) ?? real[collection] ?? example ??
        (schema.format === "uuid" ? "00000000-0000-4000-8000-000000000000" : "unknown"),
    );
  });
}

async function recordLogs({ service, tokens }: World, name: string, recorded: Recorded) {
  const token = [...tokens.values()].at(-1);
  const compliance = "/api/ext/service-enterprise/compliance/logs";
  for (const [path, key] of [["/api/audit", "entries"], [compliance, "logs"]]) {
    const rows: string[] = [];
    for (let offset = 0, total = 1; offset < total; offset += 500) {
      const page = await call(service, token, "GET", `${path}?limit=500&offset=${offset}`);
      if (page.status !== 200) break;
      total = parsed(page.body).total;
      for (const row of parsed(page.body)[key!]) rows.push(masked(JSON.stringify(row)));
    }
    for (const row of new Set(rows)) {
      const count = rows.filter((each) => each === row).length;
      recorded.set(`row of ${path} | ${name} | ${row}`, { count: String(count) });
    }
  }
}

/** Replaces what differs between two runs of the same program. */
const masked = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/"(Up|Exited|Created) [^"]*"/g, '"$1"')
    .replace(/ d=(\\?")[^"]*"/g, " d=$1<path>$1") // A QR code.
    .replace(/\b[\da-f]{12}\b/g, "<id>")
    .replace(/[\w+/=.-]+/g, (word) => word.length >= 20 && /\d/.test(word) ? "<token>" : word)
    .replace(/-?\d+(\.\d+)?/g, "<n>");

/** Prints the differences, those of the same kind together. @returns Their number. */
function report(old: Recorded, now: Recorded): number {
  const groups = new Map<string, { where: string[]; before: string; after: string }>();
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [request, where = ""] = name.split(" | ");
    const [before, after] = [old.get(name) ?? {}, now.get(name) ?? {}];
    for (const part of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [a, b] = [before[part] ?? "nothing", after[part] ?? "nothing"];
      if (a === b) continue;
      const at = [...a].findIndex((char, index) => char !== b[index]);
      const cut = (text: string) => text.slice(Math.max(0, at - 60), Math.max(0, at) + 140);
      const row = request!.startsWith("row") ? ` ${name.split(" | ")[2]}` : "";
      const key = `${request} ${part}${row}\n${cut(a)}\n${cut(b)}`;
      const group = groups.get(key) ?? { where: [], before: cut(a), after: cut(b) };
      group.where.push(where);
      groups.set(key, group);
    }
  }
  for (const [key, { where, before, after }] of groups) {
    console.log(`\n${key.split("\n")[0]} (${where.length}: ${where.slice(0, 4).join("; ")})`);
    console.log(
      `  - ${before.replaceAll("\n", "\n    ")}\n  + ${after.replaceAll("\n", "\n    ")}`,
    );
  }
  return groups.size;
}

if (import.meta.main) {
  const [old, now, word = ""] = Deno.args;
  if (!old || !now) {
    console.error("Usage: deno task compare OLD NEW [WORD]");
    Deno.exit(2);
  }
  let differences = 0;
  for (const edition of ["Community", "trial"] as const) {
    for (const mode of ["users", "key"]) {
      const [a, b] = await Promise.all(
        [old, now].map((program) => record(Deno.realPathSync(program), edition, mode, word)),
      );
      const statuses = Map.groupBy(b!.values(), ({ status = "rows" }) => status);
      const counts = [...statuses].map(([status, all]) => `${status}: ${all.length}`).sort();
      console.log(`\n== ${edition}, ${mode} mode: ${b!.size} compared (${counts.join(", ")})`);
      differences += report(a!, b!);
    }
  }
  console.log(`\n${differences} kinds of differences`);
}
