/**
 * A new stack: its name and its sources.
 *
 * @module
 */

import { useEffect, useId } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api, ApiError } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { containers } from "../../state/live.ts";
import { navigate } from "../../state/router.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { pathOf } from "./actions.ts";
import { EMPTY_DRAFT, isSameDraft, sourcesOf } from "./editor/draft.ts";
import { type Problem, problemsOf } from "./editor/problems.tsx";
import { SourceEditor } from "./editor/source_editor.tsx";
import { useUnsaved } from "./editor/unsaved.ts";

export default function NewStack() {
  const name = useSignal("");
  const problem = useSignal<string | undefined>(undefined);
  const draft = useSignal(EMPTY_DRAFT);
  const refusal = useSignal<readonly Problem[] | undefined>(undefined);
  const busy = useSignal<"plan" | undefined>(undefined);
  const id = useId();
  const keepNothing = useUnsaved(!isSameDraft(draft.value, EMPTY_DRAFT));
  useEffect(() => void (refusal.value = undefined), [draft.value]);

  const store = async (): Promise<boolean> => {
    problem.value = problemOf(name.peek());
    if (problem.value !== undefined) {
      document.getElementById(id)!.focus();
      return false;
    }
    try {
      await api("POST /api/stacks", {
        body: { name: name.peek(), kind: "compose", deploy: false, ...sourcesOf(draft.peek()) },
      });
      keepNothing();
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 400) {
        refusal.value = problemsOf(error);
        showAlert("Not saved: the sources have errors");
      } else {
        showAlert(sentenceOf(error));
      }
      return false;
    }
  };
  const plan = async () => {
    busy.value = "plan";
    const isStored = await store().finally(() => busy.value = undefined);
    if (!isStored) return;
    showStatus(`Saved ${name.peek()}`);
    navigate(`${pathOf({ name: name.peek() }, "source")}?show=plan`, { replace: true });
  };
  const isEmpty = draft.value.compose.trim() === "";
  return (
    <Page title="New stack">
      <div class="field new-stack-name">
        <label for={id}>Name</label>
        <input
          id={id}
          value={name.value}
          maxLength={100}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          placeholder="shop"
          aria-invalid={problem.value === undefined ? undefined : "true"}
          aria-describedby={problem.value === undefined ? undefined : `${id}-problem`}
          onInput={(event) => {
            name.value = event.currentTarget.value;
            problem.value = undefined;
          }}
        />
        {problem.value !== undefined && <p id={`${id}-problem`} class="problem">{problem.value}</p>}
      </div>
      <SourceEditor
        draft={draft}
        revision={0}
        {...(refusal.value && { refusal: refusal.value })}
      />
      <div class="source-bar">
        <span class="muted">A plan stores the stack, and deploys nothing.</span>
        <Button disabled={isEmpty} busy={busy.value === "plan"} onClick={() => void plan()}>
          Plan
        </Button>
      </div>
    </Page>
  );
}

/** What is wrong with a name. */
function problemOf(name: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(name)) {
    return "Must have lowercase letters, digits, dashes and underscores only";
  }
  const isTaken = containers.peek()?.some(({ composeProject }) => composeProject === name);
  return isTaken ? "There is a stack with this name" : undefined;
}
