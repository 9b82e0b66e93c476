import { equal } from "node:assert/strict";
import { statusText } from "../../../../services/ce/containers/status.ts";
import type { Container } from "../../../../services/state/inventory.ts";
import { containerOf } from "../../../helpers/fake_containers.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();

const container = (change: Partial<Container>) => containerOf({ name: "web", ...change });

// As the command line of the engine (20.10) shows them.
for (
  const { seconds, text } of [
    { seconds: 0, text: "Up Less than a second" },
    { seconds: 1, text: "Up 1 second" },
    { seconds: 59, text: "Up 59 seconds" },
    { seconds: 60, text: "Up About a minute" },
    { seconds: 125, text: "Up 2 minutes" },
    { seconds: 3_600, text: "Up About an hour" },
    { seconds: 47 * 3_600, text: "Up 47 hours" },
    { seconds: 48 * 3_600, text: "Up 2 days" },
    { seconds: 13 * 86_400, text: "Up 13 days" },
    { seconds: 14 * 86_400, text: "Up 2 weeks" },
    { seconds: 59 * 86_400, text: "Up 8 weeks" },
    { seconds: 60 * 86_400, text: "Up 2 months" },
    { seconds: 729 * 86_400, text: "Up 24 months" },
    { seconds: 730 * 86_400, text: "Up 2 years" },
  ]
) {
  Deno.test(`statusText() after ${seconds} s is "${text}"`, () => {
    equal(statusText(container({ startedAt: ago(seconds) }), NOW), text);
  });
}

for (
  const { change, text } of [
    { change: { health: "healthy" }, text: "Up 5 minutes (healthy)" },
    { change: { health: "unhealthy" }, text: "Up 5 minutes (unhealthy)" },
    { change: { health: "starting" }, text: "Up 5 minutes (health: starting)" },
    { change: { state: "paused" }, text: "Up 5 minutes (Paused)" },
    {
      change: { state: "exited", exitCode: 137, finishedAt: ago(7_200) },
      text: "Exited (137) 2 hours ago",
    },
    {
      change: { state: "restarting", exitCode: 1, finishedAt: ago(3) },
      text: "Restarting (1) 3 seconds ago",
    },
    { change: { state: "created", startedAt: null }, text: "Created" },
    { change: { state: "removing" }, text: "Removal In Progress" },
    { change: { state: "dead" }, text: "Dead" },
  ] as { change: Partial<Container>; text: string }[]
) {
  Deno.test(`statusText() of ${JSON.stringify(change).slice(0, 60)} is "${text}"`, () => {
    equal(statusText(container({ startedAt: ago(300), ...change }), NOW), text);
  });
}
