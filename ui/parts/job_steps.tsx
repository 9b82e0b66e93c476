/** Result of a job, and its steps. @module */

import type { LiveJob } from "../state/live.ts";
import { State } from "../components/states.tsx";
import { stepInWords } from "../base/step_words.ts";
import { capital, duration, plain, plainLines } from "../base/text.ts";

const TONES = { running: "busy", succeeded: "good", failed: "bad" } as const;

const STATUSES: Record<string, { name: string; tone: "good" | "warn" | "bad" | "idle" }> = {
  succeeded: { name: "Succeeded", tone: "good" },
  rolled_back: { name: "Rolled back", tone: "warn" },
  needs_attention: { name: "Needs attention", tone: "bad" },
  failed: { name: "Failed", tone: "bad" },
  cancelled: { name: "Cancelled", tone: "idle" },
};

/** @param props.name What it is called instead. */
export function JobStatus({ status, name }: { status: string; name?: string }) {
  const known = STATUSES[status] ?? { name: status, tone: "idle" };
  return <State state={name ?? known.name} tone={known.tone} />;
}

/** @param props.names Names in words; by default as the service calls them. */
export function JobSteps({ steps, names }: {
  steps: LiveJob["steps"];
  names: Readonly<Record<string, string>>;
}) {
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map(({ name, status, startedAt, endedAt, message }) => (
        <li key={name}>
          <State state={capital(plain(stepInWords(name, names)))} tone={TONES[status]} />{" "}
          <span class="muted">
            {message === null
              ? endedAt !== null && duration((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)
              : plainLines(message)}
          </span>
        </li>
      ))}
    </ol>
  );
}
