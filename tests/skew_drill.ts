/**
 * Hubs and members of different versions with each other, each as an executable built from its commit:
 * every pair of the given commits, HEAD and the version after it. Then each older version is replaced by
 * each newer one with its data, first the hub, then the member, and nothing joins again.
 *
 *     deno task skew-drill COMMIT ...
 *
 * `SKEW_PAIRS` is the number of pairs at a time (3), `SKEW_ONLY` a pattern of pairs such as
 * `HUB > MEMBER`. Changes that are not committed are not tested. Prints a line for each step, and a table.
 *
 * @module
 */

import { buildCommit, buildPresent, type Version } from "./skew_drill/build.ts";
import { type Pair, startPair } from "./skew_drill/pair.ts";
import { STEPS, UPGRADED } from "./skew_drill/steps.ts";

/** A pair of versions, or an upgrade of one. */
interface Case {
  name: string;
  hub: string;
  member: string;
  run(): Promise<void>;
}

const results = new Map<string, Map<string, string>>();
let failures = 0;

async function take(name: string, step: string, what: () => Promise<string | undefined>) {
  const at = performance.now();
  const result = await what().catch((error) => {
    failures++;
    return `FAILED: ${Deno.inspect(error).slice(0, 3_000)}`;
  });
  const seconds = ((performance.now() - at) / 1_000).toFixed(0);
  console.log(`${name}  ${step}, ${seconds} s: ${result ?? "held"}`);
  const steps = results.get(step) ?? new Map();
  results.set(step, steps.set(name, result ?? "held"));
  return !result?.startsWith("FAILED");
}

/** Goes through steps; after one that failed, the state of the pair is not known. */
async function takeSteps(name: string, pair: Pair, steps: readonly string[]): Promise<boolean> {
  for (const step of steps) {
    if (!await take(name, step, () => STEPS[step]!(pair))) {
      for (const side of ["hub", "member"] as const) {
        const said = pair[side].running;
        console.log(`${name}  ${side}: ${(said.stdout() + said.stderr()).slice(-3_000)}`);
      }
      return false;
    }
  }
  return true;
}

async function goTogether(name: string, hub: Version, member: Version): Promise<void> {
  await using pair = await startPair(hub, member);
  await takeSteps(name, pair, Object.keys(STEPS));
}

async function goOn(name: string, older: Version, newer: Version): Promise<void> {
  await using pair = await startPair(older, older);
  if (!await takeSteps(name, pair, ["join and accept"])) return;
  const replace = async (side: "hub" | "member") => {
    await pair[side].running.stop();
    await pair[side].start(newer);
    await pair.is("connected");
    return undefined;
  };
  const isOn = await take(name, "upgrade of the hub", () => replace("hub")) &&
    await take(name, "upgrade of the member", () => replace("member"));
  if (isOn) await takeSteps(name, pair, UPGRADED);
}

const versions: Version[] = [];
for (const commit of Deno.args) versions.push(await buildCommit(commit));
versions.push(...await buildPresent());

const cases: [string, () => Promise<void>][] = [];
for (const [at, one] of versions.entries()) {
  for (const [other, two] of versions.entries()) {
    const together = `${one.name} > ${two.name}`;
    cases.push([together, () => goTogether(together, one, two)]);
    if (other <= at) continue;
    const upgrade = `${one.name} becomes ${two.name}`;
    cases.push([upgrade, () => goOn(upgrade, one, two)]);
  }
}
const only = new RegExp(Deno.env.get("SKEW_ONLY") ?? "");
const waiting = cases.filter(([name]) => only.test(name));
const worker = async () => {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, run] = next;
    await take(name, "all", async () => void await run());
  }
};
await Promise.all(Array.from({ length: Number(Deno.env.get("SKEW_PAIRS") ?? 3) }, worker));

console.log("\n| step | result | pairs |\n| --- | --- | --- |");
for (const [step, byName] of results) {
  for (const [result, all] of Map.groupBy(byName, ([, result]) => result.split("\n")[0]!)) {
    console.log(`| ${step} | ${result} | ${all.length} |`);
  }
}
if (failures > 0) Deno.exit(1);
