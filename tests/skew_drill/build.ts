/** Executables of several versions: of commits, and one that stands for the version after the present one. @module */

import { equal } from "node:assert/strict";

const root = new URL("../../", import.meta.url).pathname;

/** Built executables; a commit is built once. */
const CACHE = `${root}dist/skew`;

/** A version under test. */
export interface Version {
  /** As `longshore version` and `GET /api/health` say it. */
  name: string;
  /** Path of the executable. */
  program: string;
  /** Endpoints of its API document, e.g. `GET /api/containers/{id}`. */
  endpoints: ReadonlySet<string>;
  /** Types of its control messages. */
  messages: ReadonlySet<string>;
}

/** A change of a source file; each is made once and must be possible. */
interface Change {
  file: string;
  from: string;
  to: string;
}

/**
 * Additions of a later version that need no new protocol: fields and types of control messages, a field of
 * notes, fields and lists of the feed, an endpoint, and a migration.
 */
export const NEXT: readonly Change[] = [
  {
    file: "services/fleet/link/control.ts",
    from: "JSON.stringify(message)",
    to: `JSON.stringify({ ...message, capabilities: ["rehearsals"], later: { since: 1 } })`,
  },
  {
    file: "services/fleet/enrolment/member.ts",
    from: `  log.info("connected to the hub"`,
    to:
      `  link.tell({ type: "rehearse", image: "app:1" } as never);\n  log.info("connected to the hub"`,
  },
  {
    file: "services/fleet/hosts/serve.ts",
    from: "  const waves = newWaveLink();",
    to:
      `  link.tell({ type: "rehearse", image: "app:1" } as never);\n  const waves = newWaveLink();`,
  },
  {
    file: "services/fleet/notes/note.ts",
    from: "    note.nonce,\n  ];",
    to: "    note.nonce,\n    { since: 1 },\n  ];",
  },
  {
    file: "services/fleet/copies/feed.ts",
    from: "    allows: deps.config.fleetAllow,",
    to: "    allows: deps.config.fleetAllow,\n    gpuPercent: 5,",
  },
  {
    file: "services/fleet/copies/feed.ts",
    from: `frames.push(encode("current", position.current));`,
    to: `frames.push(
      encode("volumes", { isWhole: true, set: [{ id: "v1" }], removed: [] }),
      encode("current", [...position.current, "volumes"]),
    );`,
  },
  {
    file: "routes/fleet/boxes.ts",
    from: `  endpoint("GET /api/boxes/:id", {`,
    to: `  endpoint("GET /api/boxes/rehearsals", {
    operationId: "listRehearsals",
    summary: "List rehearsals",
    ...READ,
    returns: z.object({ rehearsals: z.array(z.string()) }).meta({ id: "RehearsalList" }),
  }, () => ({ rehearsals: ["later"] })),

  endpoint("GET /api/boxes/:id", {`,
  },
  {
    file: "db/migrations/state/mod.ts",
    from: "\n];",
    to: `
  {
    name: "9999_later",
    sql: "ALTER TABLE fleet_hosts ADD COLUMN later TEXT; ALTER TABLE fleet_membership ADD COLUMN later TEXT;",
  },
];`,
  },
];

/** The version of a commit, which has the commit as its last part. */
export async function buildCommit(commit: string): Promise<Version> {
  const id = await output("git", "rev-parse", "--short=8", `${commit}^{commit}`);
  const { version } = JSON.parse(await output("git", "show", `${id}:deno.json`));
  return await build(id, `${version}+${id}`, []);
}

/** The last commit of what executables are made of, and the version after it. */
export async function buildPresent(): Promise<Version[]> {
  const others = ["tests", "docs", "bench", "*.md"].map((each) => `:!${each}`);
  const id = await output("git", "log", "-1", "--format=%h", "--abbrev=8", "--", ".", ...others);
  return [await buildCommit(id), await build(id, `0.2.0+next.${id}`, NEXT)];
}

async function build(id: string, name: string, changes: readonly Change[]): Promise<Version> {
  const program = `${CACHE}/longshore-${name}`;
  if (!await Deno.stat(program).catch(() => undefined)) {
    console.log(`Building ${name}`);
    await Deno.mkdir(CACHE, { recursive: true });
    const source = await Deno.makeTempDir({ prefix: "longshore-skew-" });
    try {
      await output("sh", "-c", `git archive ${id} | tar -x -C ${source}`);
      await change(source, { file: "deno.json", ...versionTo(source, name) });
      for (const each of changes) await change(source, each);
      await output(`${source}/compile.sh`, "--output", program);
    } finally {
      await Deno.remove(source, { recursive: true });
    }
  }
  const document = JSON.parse(
    await output("git", "show", `${id}:tests/structure/openapi.snapshot.json`),
  );
  const control = await output("git", "show", `${id}:services/fleet/link/control.ts`);
  const messages = [...control.matchAll(/^ {2}(\w+): (?:z\.object|Empty)/gm)].map(([, type]) =>
    type!
  );
  const paths = Object.entries<Record<string, unknown>>(document.paths);
  const endpoints = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  const added = changes.flatMap(({ to }) => /endpoint\("(GET [^":]+)"/.exec(to)?.[1] ?? []);
  return {
    name,
    program,
    endpoints: new Set([...endpoints, ...added]),
    messages: new Set(messages),
  };
}

function versionTo(source: string, name: string): Pick<Change, "from" | "to"> {
  const { version } = JSON.parse(Deno.readTextFileSync(`${source}/deno.json`));
  return { from: `"version": "${version}"`, to: `"version": "${name}"` };
}

/** @throws {AssertionError} If the file does not have `from` exactly once. */
export async function change(source: string, { file, from, to }: Change): Promise<void> {
  const text = await Deno.readTextFile(`${source}/${file}`);
  equal(text.split(from).length, 2, `${file} does not have ${JSON.stringify(from)} once`);
  await Deno.writeTextFile(`${source}/${file}`, text.replace(from, () => to));
}

/** @throws {Error} If the program fails, with what it wrote. */
async function output(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd: root }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program}: ${decoder.decode(stdout)}${decoder.decode(stderr)}`);
  return decoder.decode(stdout).trim();
}
