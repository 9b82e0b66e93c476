/** A network of engines that are in namespaces of their own. @module */

import type { OwnEngine } from "./real_engine.ts";
import { runInside } from "./sandbox.ts";

/** Connects the namespaces of engines; the first one has the bridge. @returns Their addresses. */
export async function connectEngines(
  engines: readonly Pick<OwnEngine, "sandbox">[],
): Promise<string[]> {
  const addressOf = (at: number) => `10.77.0.${at + 1}`;
  const [{ sandbox: first }] = engines as [OwnEngine];
  await runInside(first, ["ip", "link", "add", "engines0", "type", "bridge"]);
  await runInside(first, ["ip", "link", "set", "engines0", "up"]);
  await runInside(first, ["ip", "address", "add", `${addressOf(0)}/24`, "dev", "engines0"]);
  for (const [at, { sandbox }] of engines.entries()) {
    if (at === 0) continue;
    const ends = ["type", "veth", "peer", "name", "up0", "netns", String(sandbox.pid)];
    await run("ip", "link", "add", `port${at}`, "netns", String(first.pid), ...ends);
    await runInside(first, ["ip", "link", "set", `port${at}`, "master", "engines0", "up"]);
    await runInside(sandbox, ["ip", "address", "add", `${addressOf(at)}/24`, "dev", "up0"]);
    await runInside(sandbox, ["ip", "link", "set", "up0", "up"]);
  }
  return engines.map((_, at) => addressOf(at));
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}
