import { deepEqual } from "node:assert/strict";
import { evidenceLines } from "../../../../services/updates/run/evidence.ts";

const of = (container: string, texts: string[], healthLog: [number, string][] = []) => ({
  container,
  logLines: texts.map((text, i) => `2026-01-01T00:00:0${i}.123456789Z ${text}`),
  healthLog: healthLog.map(([exitCode, output]) => ({ exitCode, output })),
});

for (
  const { what, failed, evidence, lines } of [
    {
      what: "the last three log lines, without colors and empty ones",
      failed: "web",
      evidence: [of("web", ["start", "a", "\x1b[31mb\x1b[0m", "", "no database"])],
      lines: ["Log: a", "Log: b", "Log: no database"],
    },
    {
      what: "the output of the last probe if it failed",
      failed: "web",
      evidence: [of("web", [], [[0, "fine"], [1, "connection\nrefused"]])],
      lines: ["Health check: connection refused"],
    },
    {
      what: "no probe that succeeded",
      failed: "web",
      evidence: [of("web", ["x"], [[1, "refused"], [0, "fine"]])],
      lines: ["Log: x"],
    },
    {
      what: "the container that failed, not the one that was updated",
      failed: "proxy",
      evidence: [of("web", ["ready"]), of("proxy", ["no upstream"])],
      lines: ["Log: no upstream"],
    },
    {
      what: "nothing of another container",
      failed: "web",
      evidence: [of("proxy", ["no upstream"])],
      lines: [],
    },
  ]
) {
  Deno.test(`the evidence in a message is ${what}`, () => {
    deepEqual(evidenceLines(evidence, failed), lines);
  });
}
