/** `longshore logs`: reads and follows logs through the running service. @module */

import { nodeUtil } from "../services/builtins.ts";
import { sleep } from "../services/waiting.ts";
import { EXIT, type Program, UsageError } from "./program.ts";
import { connectService, type ServiceClient } from "./service_client.ts";

/** Pause before a lost stream is opened again, in milliseconds. */
const RECONNECT_MS = 1_000;

/** Colors of names, in turn: ANSI codes that are readable on light and dark backgrounds. */
const COLORS = [36, 33, 32, 35, 34, 31];

interface Options {
  names: readonly string[];
  stack: string | undefined;
  follow: boolean;
  timestamps: boolean;
  /** Selects lines, as in the API. */
  query: URLSearchParams;
}

/** A line of a stream, as far as it is printed. */
interface Line {
  container: string;
  stream: "stdout" | "stderr";
  timestamp: string;
  message: string;
}

export async function logs(program: Program): Promise<number> {
  const options = parseOptions(program);
  const service = connectService(program);
  const print = createPrinter(program, options);
  try {
    if (options.follow) await follow(program, service, options, print);
    else await read(program, service, options, print);
  } catch (error) {
    // The reader of the output has left, e.g. `head`.
    if (!(error instanceof Deno.errors.BrokenPipe) && !program.signal.aborted) throw error;
  }
  return EXIT.ok;
}

function parseOptions({ args }: Program): Options {
  let parsed;
  try {
    parsed = nodeUtil().parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        follow: { type: "boolean", short: "f" },
        timestamps: { type: "boolean", short: "t" },
        tail: { type: "string", short: "n" },
        since: { type: "string" },
        level: { type: "string" },
        search: { type: "string" },
        stack: { type: "string" },
      },
    });
  } catch (error) {
    throw new UsageError(`logs: ${(error as Error).message.split(/\. |\n/)[0]}`);
  }
  const { values: { follow = false, timestamps = false, stack, ...rest }, positionals: names } =
    parsed;
  if ((names.length > 0) === (stack !== undefined)) {
    throw new UsageError("logs needs names of containers, or --stack NAME");
  }
  if (!follow && (rest.level ?? rest.search) !== undefined) {
    throw new UsageError("logs: --level and --search need --follow");
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) if (value) query.set(name, value);
  return { names, stack, follow, timestamps, query };
}

async function read(
  { signal }: Program,
  service: ServiceClient,
  { names, query, stack }: Options,
  print: (line: Line) => void,
): Promise<void> {
  if (stack === undefined) {
    for (const name of names) (await readLines(service, name, query, signal)).forEach(print);
    return;
  }
  const lines: Line[] = [];
  for (const name of await containersOf(service, stack, signal)) {
    lines.push(...await readLines(service, name, query, signal));
  }
  // The engine's times have the same form and zone.
  lines.sort((a, b) => a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0);
  lines.forEach(print);
}

/** Names of the containers of a stack. */
async function containersOf(
  service: ServiceClient,
  stack: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { services } = JSON.parse(
    await service.text(`/api/stacks/${encodeURIComponent(stack)}`, signal),
  ) as { services: { containers: { name: string }[] }[] };
  return services.flatMap(({ containers }) => containers.map(({ name }) => name));
}

async function readLines(
  service: ServiceClient,
  name: string,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<Line[]> {
  const path = `/api/containers/${encodeURIComponent(name)}/logs?${query}`;
  const { lines } = JSON.parse(await service.text(path, signal)) as { lines: string[] };
  return lines.map((line) => {
    const space = line.indexOf(" ");
    return {
      container: name,
      stream: "stdout",
      timestamp: line.slice(0, space),
      message: line.slice(space + 1),
    };
  });
}

/** Prints lines until the containers are removed or the program is interrupted. */
async function follow(
  { note, signal }: Program,
  service: ServiceClient,
  { names, stack, query }: Options,
  print: (line: Line) => void,
): Promise<void> {
  const path = streamPath(names, stack, query);
  let lastId: string | undefined;
  let isRemoved = false;
  while (!signal.aborted && !isRemoved) {
    let frames;
    try {
      frames = await service.events(path, lastId, signal);
    } catch (error) {
      // The container was removed, or the rights were revoked, while the stream was lost.
      if (lastId === undefined || !service.isLost(error)) throw error;
    }
    try {
      for await (const { id, event, data } of frames ?? []) {
        lastId = id ?? lastId;
        if (event === "log") [data].flat().forEach((line) => print(line as Line));
        const { container, dropped, reason } = data as Record<string, unknown>;
        if (event === "gap") note(`${container}: ${dropped ?? "some"} lines are missing`);
        if (event === "end") note(`${container}: ${END_TEXTS[String(reason)] ?? reason}`);
        isRemoved = event === "end" && reason !== "engine_lost" && names.length === 1;
      }
    } catch (error) {
      if (!service.isLost(error)) throw error;
    }
    if (!isRemoved) await sleep(RECONNECT_MS, signal);
  }
}

const END_TEXTS: Readonly<Record<string, string>> = {
  removed: "the container was removed",
  engine_lost: "the container engine cannot be reached",
  unreadable: "the log cannot be read",
};

function streamPath(
  names: readonly string[],
  stack: string | undefined,
  query: URLSearchParams,
): string {
  if (stack !== undefined) return `/api/stacks/${encodeURIComponent(stack)}/logs/stream?${query}`;
  const [name] = names;
  if (names.length === 1) {
    return `/api/containers/${encodeURIComponent(name!)}/logs/stream?${query}`;
  }
  const all = new URLSearchParams(query);
  for (const name of names) all.append("container", name);
  return `/api/logs/stream?${all}`;
}

/** Returns a function that prints a line, with its container if there are several. */
function createPrinter({ env, terminal }: Program, { names, stack, timestamps }: Options) {
  const isPrefixed = names.length > 1 || stack !== undefined;
  const isColored = terminal !== undefined && !env["NO_COLOR"];
  const colors = new Map<string, number>();
  let width = Math.max(0, ...names.map(({ length }) => length));

  const prefixOf = (container: string) => {
    width = Math.max(width, container.length);
    const text = `${container.padEnd(width)} | `;
    if (!isColored) return text;
    if (!colors.has(container)) colors.set(container, COLORS[colors.size % COLORS.length]!);
    return `\x1b[${colors.get(container)}m${text}\x1b[0m`;
  };
  return ({ container, stream, timestamp, message }: Line) => {
    const prefix = isPrefixed ? prefixOf(container) : "";
    const time = timestamps ? `${timestamp} ` : "";
    // As with `docker logs`, unless several containers share the output.
    const output = stream === "stderr" && !isPrefixed ? Deno.stderr : Deno.stdout;
    const bytes = encoder.encode(`${prefix}${time}${message}\n`);
    for (let at = 0; at < bytes.length;) at += output.writeSync(bytes.subarray(at));
  };
}

const encoder = new TextEncoder();
