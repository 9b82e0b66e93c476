/** Search in a large log with hostile patterns. @module */

import { equal, ok } from "node:assert/strict";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";
import { limitNow } from "../helpers/in_time.ts";

/** Requirement: a probe is answered within this time for any pattern, in milliseconds. */
const PROBE_MAX_MS = 50;

/** A backtracking engine stalls nearly all of the time; a loaded machine delays a probe now and then. */
const STALLED_SHARE_MAX = 0.25;

/** Number of measurements; one that is in time is enough, because a load of the machine comes and goes. */
const TRIES = 5;

const PATTERNS = [
  "(a+)+$",
  "(a|a)*b",
  "^(\\w+\\s?)*$",
  "(a*)*b",
  "a*a*a*a*a*b",
  "(.*){20}x",
  "(a{1,100}){1,100}b",
  "a+b",
  "\\w+\\s\\w+$",
];

long(engineTest)(
  "no pattern stalls the service while it searches ten thousand long lines",
  async (engine) => {
    // Twelve megabytes of input that is slow for a backtracking engine.
    await using container = await engine.runContainer({
      command: [
        "sh",
        "-c",
        "a=$(head -c 1200 /dev/zero | tr '\\0' a); i=0; while [ $i -lt 10000 ]; do echo $a; i=$((i+1)); done; echo done; sleep 3600",
      ],
      options: ["--init"],
    });
    await using program = await startLongshore({ engineSocket: engine.socketPath });
    const search = (q: string) =>
      program.call(
        "GET",
        `/api/containers/${container.id}/logs/search?regex=true&q=${encodeURIComponent(q)}`,
      );
    // A second, idle process: its delay is that of the machine.
    await using idle = await startLongshore();
    await until(
      "the log is written",
      async () => await engine.docker("logs", "--tail=1", container.id) === "done",
    );

    const measure = async () => {
      let searching = true;
      const limitMs = limitNow(PROBE_MAX_MS);
      const lateness = async ({ call }: Longshore) => {
        const begun = performance.now();
        let lateMs = 0;
        while (searching) {
          const started = performance.now();
          equal((await call("GET", "/livez", undefined, { token: null })).status, 200);
          const ms = performance.now() - started;
          if (ms > limitMs) lateMs += ms;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return lateMs / (performance.now() - begun);
      };
      const probing = Promise.all([lateness(program), lateness(idle)]);
      for (const pattern of PATTERNS) {
        const { status, body } = await search(pattern);
        ok(status === 200 || status === 400, `${pattern}: ${status} ${JSON.stringify(body)}`);
      }
      searching = false;
      const [own, machine] = await probing;
      return own - machine;
    };

    const shares: number[] = [];
    do shares.push(await measure()); while (
      shares.at(-1)! > STALLED_SHARE_MAX && shares.length < TRIES
    );
    ok(
      shares.at(-1)! <= STALLED_SHARE_MAX,
      `probes waited over ${PROBE_MAX_MS} ms for these shares of the time, beyond those at a ` +
        `service with nothing to do: ${shares.map((share) => share.toFixed(3)).join(", ")}`,
    );
  },
);
