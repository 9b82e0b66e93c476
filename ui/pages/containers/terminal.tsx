/** A terminal in a container: a new shell, or its main process. @module */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import { SelectField, TextField } from "../../components/fields.tsx";
import { Form } from "../../components/form.tsx";
import { Empty } from "../../components/states.tsx";
import type { TabProps } from "./tab.ts";
import type { Program } from "./terminal_session.ts";

const PROGRAMS = [
  { value: "shell", name: "New shell" },
  { value: "watch", name: "Main process, read-only" },
  { value: "attach", name: "Main process" },
] as const;

/**
 * Opens a shell at once. Other programs are never a part of the address, because a link could then run
 * them.
 */
export function Terminal({ container: { id, state } }: TabProps) {
  const program = useSignal<Program>({ kind: "shell" });
  const kind = useSignal<Program["kind"]>("shell");
  const ending = useSignal<string | undefined>(undefined);
  /** Why this user gets no terminal, e.g. because they are off. */
  const refusal = useSignal<string | undefined>(undefined);
  const frame = useRef<HTMLDivElement>(null);
  // A terminal that was shown stays when the container stops.
  const isShown = useRef(false);
  isShown.current ||= state === "running";

  useEffect(() => {
    if (!isShown.current) return;
    const closed = new AbortController();
    const { signal } = closed;
    ending.value = undefined;
    void import("./terminal_session.ts")
      .then(({ runTerminal }) => runTerminal(frame.current!, id, program.value, signal))
      .then((sentence) => {
        if (!signal.aborted) ending.value = sentence;
      })
      .catch((error) => {
        if (!(error instanceof ApiError)) throw error;
        if (signal.aborted) return;
        if (error.status === 403) refusal.value = error.message;
        else ending.value = error.message;
      });
    return () => closed.abort();
  }, [program.value, isShown.current]);

  if (refusal.value !== undefined) return <Empty>{refusal.value}</Empty>;
  if (!isShown.current) return <p class="muted">The container is not running.</p>;
  return (
    <div class="terminal">
      <Form
        submit="Connect"
        onSubmit={({ kind, command, user }) => {
          // A new object is a new connection.
          program.value = { kind, command, user };
          return Promise.resolve();
        }}
      >
        <SelectField name="kind" label="Program" choice={kind} options={PROGRAMS} />
        {kind.value === "shell" && (
          <>
            <TextField
              name="command"
              label="Command"
              maxLength={500}
              autocomplete="off"
              placeholder="bash, sh or ash"
            />
            <TextField
              name="user"
              label="User"
              maxLength={129}
              autocomplete="off"
              placeholder="The container's own"
            />
          </>
        )}
      </Form>
      {ending.value !== undefined && <p class="note" role="status">{ending}</p>}
      <div ref={frame} class="terminal-screen" />
      <p class="hint">
        <kbd>Shift Tab</kbd> leaves the terminal. What is typed is not recorded.
      </p>
    </div>
  );
}
