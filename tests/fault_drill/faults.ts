/** Faults that hit a job at its nth call, request or write, and go away again. @module */

import { interrupt, isWrite } from "../helpers/drill.ts";
import type { Moment } from "../helpers/engine_proxy.ts";
import type { Fault as TargetFault } from "../helpers/target_servers.ts";
import type { World } from "./world.ts";

/** A fault that has been laid out. */
export interface Armed {
  hasStruck(): boolean;
  /** Resolves when it is to be taken away; never if the job is over before. */
  over: Promise<void>;
  /** Takes it away, so that the job can end. */
  repair(): Promise<void>;
}

export interface Fault {
  name: string;
  /** Target of the job's snapshots. */
  target: "disk" | "rest";
  /** Largest number; `undefined` if the job says, by ending before the fault strikes. */
  last?: number;
  arm(world: World, number: number): Promise<Armed>;
}

/** Requests that a target refuses before it answers again. */
const REFUSED = 8;

const BACKGROUND = /^\/(_ping|events|info|version|system\/df|containers\/[^/]+\/(stats|logs)|exec)/;

const crash = (moment: Moment): Fault => ({
  name: `crash of the engine ${moment} each change`,
  target: "disk",
  arm({ proxy, engine }, number) {
    const interrupted = interrupt(proxy, {
      number,
      moment,
      isCounted: (call) => isWrite(call) && !BACKGROUND.test(call.path),
      strike: () => engine.kill!(),
    });
    return Promise.resolve({
      hasStruck: () => interrupted.at() !== undefined,
      over: interrupted.struck,
      async repair() {
        proxy.observe(() => {});
        if (interrupted.at() === undefined) return;
        await interrupted.struck;
        await engine.restart!();
      },
    });
  },
});

/** The engine goes on: it may have done what Longshore does not know of. */
const connection = (moment: Moment | "during", what: string): Fault => ({
  name: `connection to the engine lost ${moment} each ${what}`,
  target: "disk",
  arm({ proxy }, number) {
    const interrupted = interrupt(proxy, {
      number,
      moment,
      isCounted: ({ path }) => !BACKGROUND.test(path),
    });
    return Promise.resolve({
      hasStruck: () => interrupted.at() !== undefined,
      over: interrupted.struck,
      repair: () => Promise.resolve(proxy.observe(() => {})),
    });
  },
});

const target = (name: string, fault: TargetFault): Fault => ({
  name,
  target: "rest",
  arm(world, number) {
    const over = Promise.withResolvers<void>();
    let count = 0;
    world.onTargetRequest(() => {
      const at = count++ - number;
      if (at === REFUSED) over.resolve();
      return at >= 0 && at < REFUSED ? fault : undefined;
    });
    return Promise.resolve({
      hasStruck: () => count > number,
      over: over.promise,
      repair: () => Promise.resolve(void world.onTargetRequest(() => undefined)),
    });
  },
});

/** Time for which a disk stays full, in milliseconds: jobs try again for longer. */
const FULL_MS = 20_000;

/** @param portion Bytes that are left more with each number. */
const disk = (
  which: keyof World["disks"],
  what: string,
  { portion, last }: { portion: number; last: number },
): Fault => ({
  name: `${what} full`,
  target: "disk",
  last,
  async arm({ disks }, number) {
    await disks[which].leave(number * portion);
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      hasStruck: () => true,
      over: new Promise((resolve) => timer = setTimeout(resolve, FULL_MS)),
      repair() {
        clearTimeout(timer);
        return disks[which].leave(undefined);
      },
    };
  },
});

export const FAULTS: readonly Fault[] = [
  crash("before"),
  crash("after"),
  connection("before", "call"),
  connection("after", "change"),
  connection("during", "transfer"),
  target("a target that refuses", 403),
  target("a target whose connections break", "cut"),
  disk("target", "disk of the target", { portion: 4_096, last: 24 }),
  disk("data", "disk of `DATA_DIR`", { portion: 8_192, last: 24 }),
  disk("volume", "disk of the volume", { portion: 16_384, last: 24 }),
];
