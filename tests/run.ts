/**
 * Runs every test: those without a container engine, in parallel, and beside them `real_engine/` on
 * two private engines (each with a Podman), which take one file after the other and end with the run.
 * Without them, these tests use the machine's own engine and skip what could harm other containers.
 *
 *     deno task test [word ...] [option of deno test ...]
 *
 * Files are imported in groups, larger ones of those that start neither the program nor a browser:
 * loading the application and compiling the schemas of its document takes about a second of processor
 * time, which a group spends only once. All browser tests of a run share one browser.
 *
 * Words choose the files whose path contains one of them. Without words, the tests that are registered
 * by `long()` are left out; `--long` runs all.
 *
 * The last line is `N passed, N failed` (and `, N skipped` if tests were skipped); the exit status is 0
 * only if none failed. With `LONGSHORE_REQUIRE_ENGINE=1`, as in `.ci/run`, skipping a test because an engine is missing is a
 * failure, and the files of up to ten tests that failed are run once more, one after another.
 * With `LONGSHORE_EXECUTABLE=FILE`, as in `.ci/run`, the tests that start the program start FILE.
 * `--trace-leaks` shows where a test began what it has not ended.
 *
 * @module
 */

import {
  BUSYBOX,
  dockerdObstacle,
  environmentOf,
  findEngine,
  importBusybox,
  isEngineRequired,
  type OwnEngine,
  podmanObstacle,
  startDockerd,
  startPodman,
} from "./helpers/real_engine.ts";
import { BROWSER_VARIABLE, hasBrowser, launchBrowser } from "./helpers/browser.ts";
import { LONG_VARIABLE } from "./helpers/long.ts";
import { OBSTACLE_VARIABLE } from "./helpers/sandbox.ts";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Common to all batches of a run. */
interface Common {
  env: Record<string, string>;
  groups: Map<string, string[]>;
}

/** Limit for the whole run, so that a test that hangs does not hang the run. */
const RUN_MAX_MS = 100 * 60_000;

/** Time that `deno test` has to print the pending tests after SIGINT. */
const PENDING_MAX_MS = 10_000;

/** Enough for all lines of a run, which name its files; limited in case a test prints without end. */
const TAIL_MAX = 4 * 1024 * 1024;

/** More failures than this are not a coincidence, and are not repeated. */
const REPEATED_MAX = 10;

/** Types are left to `deno check`: each of several runs would check them again. */
const OPTIONS = [
  ...["--allow-all", "--no-check", "--sanitize-ops", "--sanitize-resources"],
  // As the program runs: a request is aborted only when its client disconnects.
  "--unstable-no-legacy-abort",
  // Most of what a test calls runs too briefly to be worth optimizing.
  "--v8-flags=--no-opt",
];

const REAL_ENGINE = "tests/real_engine/";

/** Files that share one isolate. */
const GROUP_SIZE = 30;

/** Files that share one isolate and start the program or use the browser; fewer, because they last. */
const ALONE_GROUP_SIZE = 8;

/** Files of `real_engine/` that share one isolate; fewer, because one crash ends them all. */
const REAL_GROUP_SIZE = 8;

/** Files that take long for their size: drills, and what waits for the clock or for a silence. */
const SLOW = /drill|schedules|log_streams|engine_away/;
const SLOW_WEIGHT = 4;

const root = new URL("../", import.meta.url);
const stop = new AbortController();

if (import.meta.main) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => stop.abort(`Stopped by ${signal}`));
  }
  const { passed, failed, skipped } = await run(Deno.args);
  console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
  Deno.exit(failed ? 1 : 0);
}

async function run(args: string[]): Promise<Counts> {
  const options = args.filter((arg) => arg.startsWith("-") && arg !== "--long");
  const words = args.filter((arg) => !arg.startsWith("-"));
  const files = (await listFiles("tests", /_test\.ts$/)).filter((path) =>
    words.length === 0 || words.some((word) => path.includes(word))
  );
  const real = files.filter((path) => path.startsWith(REAL_ENGINE));
  const other = files.filter((path) => !path.startsWith(REAL_ENGINE));
  if (files.length === 0) {
    console.log(`No test file has ${words.join(" or ")} in its path`);
    return { passed: 0, failed: 1, skipped: 0 };
  }

  await using browser = hasBrowser() && files.some(usesBrowser) ? await startBrowser() : undefined;
  await using groups = await openGroups();
  const isLong = words.length > 0 || args.includes("--long");
  const env = { ...browser?.env, ...(!isLong && { [LONG_VARIABLE]: "off" }) };
  const common = { groups: groups.members, env };
  const runs: Promise<Counts>[] = [];
  if (other.length) {
    const [alone, shared] = split(other, (path) => usesBrowser(path) || startsProgram(path));
    const batch = [
      ...await groups.add(dealt(longFirst(alone), ALONE_GROUP_SIZE), ALONE_GROUP_SIZE),
      ...await groups.add(shared, GROUP_SIZE),
    ];
    // One more than processors, because tests also wait.
    const env = { ...common.env, DENO_JOBS: String(navigator.hardwareConcurrency + 1) };
    runs.push(testFiles(["--parallel", ...options], [batch], { ...common, env }));
  }
  // These tests mostly wait for the engine, so that they fill what the others leave of the processors.
  const engines = Math.min(real.length, dockerdObstacle() === undefined ? 2 : 1);
  const queue = await groups.add(longFirst(real), REAL_GROUP_SIZE);
  const withPodman = podmanObstacle() === undefined && real.some(usesPodman);
  for (let at = 0; at < engines; at++) {
    runs.push(runRealEngine(options, queue, { ...common, withPodman }));
  }
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const each of await Promise.all(runs)) add(counts, each);
  return counts;
}

/** Runs files of the queue, which other engines take from as well, until it is empty. */
async function runRealEngine(
  options: string[],
  queue: string[],
  { withPodman, ...common }: Common & { withPodman: boolean },
): Promise<Counts> {
  const started = await startPrivateEngine();
  if ("engine" in started) {
    await using engine = started.engine;
    // If it does not start, each test that needs it fails with the reason.
    await using podman = withPodman ? await startPodman().catch(() => undefined) : undefined;
    const env = { ...common.env, ...environmentOf(engine, podman) };
    return await testFiles(options, oneByOne(queue), { ...common, env });
  }

  const { obstacle } = started;
  const failed = isEngineRequired() ? 1 : 0;
  const engine = await findEngine();
  if (!engine) {
    console.log(`Skipped ${REAL_ENGINE}: no engine found, and none can be started: ${obstacle}`);
    return { passed: 0, failed, skipped: 0 };
  }
  console.log(
    `Skipped the tests that need a private engine (${obstacle}); ` +
      `the others use ${engine.socketPath}`,
  );
  await importBusybox(engine);
  try {
    const env = { ...common.env, ...environmentOf(engine), [OBSTACLE_VARIABLE]: obstacle };
    const counts = await testFiles(options, oneByOne(queue), { ...common, env });
    return { ...counts, failed: Math.max(counts.failed, failed) };
  } finally {
    await engine.docker("rmi", BUSYBOX);
  }
}

async function startPrivateEngine(): Promise<{ engine: OwnEngine } | { obstacle: string }> {
  const obstacle = dockerdObstacle();
  if (obstacle !== undefined) return { obstacle };
  try {
    return { engine: await startDockerd() };
  } catch (error) {
    return { obstacle: (error as Error).message };
  }
}

/** Starts the browser that all tests share. */
async function startBrowser(): Promise<AsyncDisposable & { env: Record<string, string> }> {
  const browser = await launchBrowser();
  return {
    env: { [BROWSER_VARIABLE]: browser.wsEndpoint() },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Test files that do nothing but import others, which thereby share an isolate. */
interface Groups extends AsyncDisposable {
  /** The imported files, by the group's own path. */
  members: Map<string, string[]>;
  /** Makes groups of at most `size` files. @returns Their paths; those of `files` if one would do. */
  add(files: string[], size: number): Promise<string[]>;
}

async function openGroups(): Promise<Groups> {
  // In this directory, because the configuration applies to it.
  await Deno.mkdir(new URL("dist/", root), { recursive: true });
  const directory = await Deno.makeTempDir({ dir: new URL("dist/", root).pathname });
  const members = new Map<string, string[]>();
  return {
    members,
    async add(files, size) {
      if (files.length <= size) return files;
      const paths: string[] = [];
      for (let at = 0; at < files.length; at += size) {
        const group = files.slice(at, at + size);
        const name = group[0]!.replace(/^tests\//, "").replaceAll("/", "_");
        const path = `${directory.slice(root.pathname.length)}/${name}`;
        const imports = group.map((file) => `import "${new URL(file, root)}";\n`);
        await Deno.writeTextFile(new URL(path, root), imports.join(""));
        members.set(path, group);
        paths.push(path);
      }
      return paths;
    },
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

function split<T>(all: T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}

/** Takes one file after the other, also while others take from the queue. */
function* oneByOne(queue: string[]): Generator<string[]> {
  for (let file; (file = queue.shift()) !== undefined;) yield [file];
}

/**
 * Runs test files, one batch after the other. In the gate, where a whole submission depends on it,
 * files with a failed test run once more in the end, one after another: on a busy machine, a test can
 * be late. It says so, because that is a defect too.
 */
async function testFiles(
  options: string[],
  batches: Iterable<string[]>,
  { env, groups }: Common,
): Promise<Counts> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failed = new Set<string>();
  let isRepeatable = isEngineRequired();
  for (const files of batches) {
    if (stop.signal.aborted) break;
    const { counts: each, output } = await denoTest(options, files, env);
    add(counts, each);
    if (each.failed === 0) continue;
    const found = parseFailedFiles(output, groups);
    isRepeatable &&= found !== undefined;
    for (const file of found ?? []) failed.add(file);
  }
  isRepeatable &&= !stop.signal.aborted && counts.failed <= REPEATED_MAX;
  if (!isRepeatable || failed.size === 0) return counts;

  const names = [...failed].join(" ");
  console.log(`\nRunning again what failed: ${names}`);
  const alone = options.filter((option) => option !== "--parallel");
  const { counts: again } = await denoTest(alone, [...failed], env);
  if (again.failed === 0) {
    console.log(`Passed at the second attempt only; correct its race: ${names}`);
  }
  return {
    passed: counts.passed + counts.failed - again.failed,
    failed: again.failed,
    skipped: counts.skipped,
  };
}

/** Runs `deno test` in its own process group, and ends the whole group with it. */
async function denoTest(
  options: string[],
  files: string[],
  env: Record<string, string>,
): Promise<{ counts: Counts; output: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", ...OPTIONS, ...options, ...files],
    cwd: root,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    detached: true,
  }).spawn();

  const end = () => kill(-child.pid, "SIGKILL");
  // At SIGINT, `deno test` prints which tests are pending.
  const restMs = Math.max(0, RUN_MAX_MS - performance.now());
  const interrupt = setTimeout(() => kill(child.pid, "SIGINT"), restMs);
  const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(restMs + PENDING_MAX_MS)]);
  if (limit.aborted) end();
  limit.addEventListener("abort", end);
  const output = copyToStdout(child.stdout);
  const { success } = await child.status;
  clearTimeout(interrupt);
  limit.removeEventListener("abort", end);
  // Programs that a crashed test left behind; they would also keep the output open.
  end();
  const text = plainText(await output);

  if (stop.signal.aborted) console.log(String(stop.signal.reason));
  if (performance.now() >= RUN_MAX_MS) console.log(describeLimit(text, files));
  const counts = parseSummary(text) ?? { passed: 0, failed: 1, skipped: 0 };
  // An error outside of every test is in the exit status only.
  if (!success && counts.failed === 0) counts.failed = 1;
  return { counts, output: text };
}

/** Without the codes of colors. */
function plainText(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}

/**
 * Reads e.g. `ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)`, the last such line of `text`,
 * which has no colors.
 *
 * @returns `undefined` if there is none, as after a crash.
 */
export function parseSummary(text: string): Counts | undefined {
  const last = [...text.matchAll(/^(?:ok|FAILED) \| (\d+) passed\b.* \| (\d+) failed\b(.*)$/gm)]
    .at(-1);
  if (!last) return undefined;
  const ignored = /\| (\d+) ignored\b/.exec(last[3]!)?.[1] ?? 0;
  return { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(ignored) };
}

/**
 * The test files of the failures that `deno test` explains under "ERRORS", in `text` without colors.
 * An error outside of every test ends a whole group of files, so that it stands for all of them.
 *
 * @returns `undefined` if there are none, or if one names no test file.
 */
export function parseFailedFiles(
  text: string,
  groups = new Map<string, string[]>(),
): string[] | undefined {
  const errors = /^ ERRORS $([^]*?)^ FAILURES $/m.exec(text)?.[1];
  if (errors === undefined) return undefined;
  const [, ...failures] = errors.split(/^(?=.+ => \.\/\S+:\d+:\d+$|\.\/\S+ \(uncaught error\)$)/m);
  const files = failures.flatMap((each) =>
    groups.get(/^\.\/(\S+) \(uncaught error\)$/m.exec(each)?.[1] ?? "") ??
      /tests\/[\w/]+_test\.ts/.exec(each)?.[0]
  );
  const found = files.filter((each) => each !== undefined);
  if (found.length === 0 || found.length < files.length) return undefined;
  return [...new Set(found)];
}

/** Says which of the files (at most 20 of those not started) had not ended at the limit of the run. */
export function describeLimit(text: string, files: string[]): string {
  const pending = text.split("The following tests were pending:")[1] ?? "";
  const started = new Set(
    Array.from(pending.matchAll(/ => \.\/(\S+):\d+:\d+$/gm), ([, file]) => file),
  );
  const waiting = files.filter((file) => !text.includes(`./${file}`));
  return [
    `Limit of ${RUN_MAX_MS / 60_000} minutes reached.`,
    `Not finished: ${[...started].join(" ") || "unknown"}.`,
    `Not started (${waiting.length}): ${waiting.slice(0, 20).join(" ") || "none"}.`,
  ].join(" ");
}

/** Copies a stream to standard output. @returns The last part of its text. */
async function copyToStdout(stream: ReadableStream<Uint8Array>): Promise<string> {
  let tail = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    await writeAll(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-TAIL_MAX);
  }
  return tail;
}

async function writeAll(bytes: Uint8Array): Promise<void> {
  try {
    for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
  } catch {
    // The reader has closed the pipe; the run itself must still end in order.
  }
}

/** Sends a signal to a process, or with a negative id to a group. */
function kill(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

function add(sum: Counts, counts: Counts): void {
  sum.passed += counts.passed;
  sum.failed += counts.failed;
  sum.skipped += counts.skipped;
}

/** The files in about the order of their duration, so that the last ones are short. */
function longFirst(files: string[]): string[] {
  const weight = (path: string) =>
    Deno.statSync(new URL(path, root)).size * (SLOW.test(path) ? SLOW_WEIGHT : 1);
  return files.toSorted((a, b) => weight(b) - weight(a));
}

/** The files in an order in which each group of `size` has one of the first. */
function dealt(files: string[], size: number): string[] {
  const count = Math.ceil(files.length / size);
  return Array.from({ length: count }, (_, group) => files.filter((_, at) => at % count === group))
    .flat();
}

function startsProgram(path: string): boolean {
  return contains(path, /\b(startLongshore|runCommand)\(/);
}

function usesBrowser(path: string): boolean {
  return contains(path, /\b(browserTest|dashboardTest|startBrowser|startDashboardBrowser)\b/);
}

function usesPodman(path: string): boolean {
  return contains(path, /\bpodmanTest\b/);
}

function contains(path: string, pattern: RegExp): boolean {
  return pattern.test(Deno.readTextFileSync(new URL(path, root)));
}

/** The files below a folder whose name matches, sorted. */
export async function listFiles(folder: string, name: RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(new URL(folder, root))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...await listFiles(path, name));
    else if (name.test(entry.name)) found.push(path);
  }
  return found.sort();
}
