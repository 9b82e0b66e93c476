import { equal } from "node:assert/strict";
import { statusText } from "../../../services/containers/status.ts";
import type { Container } from "../../../services/containers/inventory.ts";
import { containerOf } from "../../helpers/fake_containers.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();

const container = (change: Partial<Container>) => containerOf({ name: "web", ...change });

// As the command line of the engine (20.10) shows them.
for (
  const [seconds, text] of [
    [0, "Up Less than a second"],
    [1, "Up 1 second"],
    [59, "Up 59 seconds"],
    [60, "Up About a minute"],
    [125, "Up 2 minutes"],
    [3_600, "Up About an hour"],
    [47 * 3_600, "Up 47 hours"],
    [48 * 3_600, "Up 2 days"],
    [13 * 86_400, "Up 13 days"],
    [14 * 86_400, "Up 2 weeks"],
    [59 * 86_400, "Up 8 weeks"],
    [60 * 86_400, "Up 2 months"],
    [729 * 86_400, "Up 24 months"],
    [730 * 86_400, "Up 2 years"],
  ] as const
) {
  Deno.test(`statusText() after ${seconds} s is "${text}"`, () => {
    equal(statusText(container({ startedAt: ago(seconds) }), NOW), text);
  });
}

for (
  const [change, text] of [
    [{ health: "healthy" }, "Up 5 minutes (healthy)"],
    [{ health: "unhealthy" }, "Up 5 minutes (unhealthy)"],
    [{ health: "starting" }, "Up 5 minutes (health: starting)"],
    [{ state: "paused" }, "Up 5 minutes (Paused)"],
    [{ state: "exited", exitCode: 137, finishedAt: ago(7_200) }, "Exited (137) 2 hours ago"],
    [{ state: "restarting", exitCode: 1, finishedAt: ago(3) }, "Restarting (1) 3 seconds ago"],
    [{ state: "created", startedAt: null }, "Created"],
    [{ state: "removing" }, "Removal In Progress"],
    [{ state: "dead" }, "Dead"],
  ] as [change: Partial<Container>, text: string][]
) {
  Deno.test(`statusText() of ${JSON.stringify(change).slice(0, 60)} is "${text}"`, () => {
    equal(statusText(container({ startedAt: ago(300), ...change }), NOW), text);
  });
}
