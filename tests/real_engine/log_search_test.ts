/**
 * Search in a large log, by people with the worst intentions.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { startLongshore } from "../helpers/longshore.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

/** Issue: however nasty the pattern, a probe is answered within this, in milliseconds. */
const PROBE_MAX_MS = 50;

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

engineTest(
  "no pattern stalls the service while it searches ten thousand long lines",
  async (engine) => {
    // Twelve megabytes of what makes a backtracking engine despair.
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
    await until(
      "the log is written",
      async () => (await search("^done$")).body.matches?.length === 1,
      {
        deadlineMs: 60_000,
      },
    );

    const slowest = { ms: 0, late: 0, probes: 0 };
    let searching = true;
    const probing = (async () => {
      while (searching) {
        const started = performance.now();
        equal((await program.call("GET", "/livez", undefined, { token: null })).status, 200);
        const ms = performance.now() - started;
        slowest.ms = Math.max(slowest.ms, ms);
        slowest.probes++;
        if (ms > PROBE_MAX_MS) {
          slowest.late++;
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    for (const pattern of PATTERNS) {
      const { status, body } = await search(pattern);
      ok(status === 200 || status === 400, `${pattern}: ${status} ${JSON.stringify(body)}`);
    }
    searching = false;
    await probing;
    // The test's own machine may be busy; the service must not be.
    ok(
      slowest.late <= slowest.probes / 20,
      `${slowest.late} of ${slowest.probes} probes took over ${PROBE_MAX_MS} ms, the slowest ${slowest.ms}`,
    );
  },
);
