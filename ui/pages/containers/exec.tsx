/** Runs one command in a container. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { ExecResult } from "../../api/types.ts";
import { TextField } from "../../components/fields.tsx";
import { Form } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { Badge } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import { plainLines } from "../../base/text.ts";
import styles from "./exec.css" with { type: "text" };
import type { TabProps } from "./tab.ts";

addStyles(styles);

export function Exec({ container: { id, state } }: TabProps) {
  const result = useSignal<ExecResult | undefined>(undefined);
  if (state !== "running") return <p class="muted">The container is not running.</p>;
  return (
    <div class="exec">
      <Form
        submit="Run"
        onSubmit={async ({ command }) => {
          result.value = await api("POST /api/containers/{id}/exec", {
            path: { id },
            body: { command },
          });
        }}
      >
        <TextField
          name="command"
          label="Command"
          required
          maxLength={500}
          autocomplete="off"
          placeholder="df -h"
          hint="Read-only diagnostics unless EXEC_ALLOWLIST allows more. It runs for at most 30 seconds."
        />
      </Form>
      <Section title="Output">
        {result.value
          ? <Output result={result.value} />
          : <p class="muted">Nothing has run yet.</p>}
      </Section>
    </div>
  );
}

function Output({ result }: { result: ExecResult }) {
  const { exitCode, timedOut, truncated, output } = result;
  return (
    <>
      <p>
        {timedOut
          ? <Badge tone="bad">Stopped after 30 seconds</Badge>
          : <Badge tone={exitCode === 0 ? "good" : "bad"}>Exit code {exitCode}</Badge>}{" "}
        {truncated && <Badge tone="warn">Truncated</Badge>}
      </p>
      <pre class="output" tabIndex={0}>{plainLines(output) || "No output"}</pre>
    </>
  );
}
