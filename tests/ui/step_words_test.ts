import { equal } from "node:assert/strict";
import { deployKind } from "../../services/compose/deploy/kinds.ts";
import { fleetRunKind } from "../../services/fleet/runs/kind.ts";
import { stepInWords } from "../../ui/base/step_words.ts";

for (
  const [step, names, words] of [
    ["finish edge-7", fleetRunKind.steps!, "Wait for the end (edge-7)"],
    ["start web", deployKind.steps!, "Start containers (web)"],
    ["start dependents", deployKind.steps!, deployKind.steps!["start dependents"]],
    ["create 2", { create: "Create a service" }, "Create a service (2)"],
    ["later step", { late: "Late" }, "later step"],
    ["toString", {}, "toString"],
  ] as const
) {
  Deno.test(`The step ${step} is "${words}" in words`, () =>
    equal(stepInWords(step, names), words));
}
