/**
 * A new stack: its name and its sources, empty or generated from containers.
 *
 * @module
 */

import { useId } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api, ApiError } from "../../api/client.ts";
import type { StackPlan } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { containers } from "../../state/live.ts";
import { navigate, query } from "../../state/router.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { pathOf } from "./actions.ts";
import { reportJob } from "./deploy.tsx";
import { useAnswer } from "./editor/answer.ts";
import { type Draft, EMPTY_DRAFT, isSameDraft, sourcesOf } from "./editor/draft.ts";
import { type Problem, problemsOf } from "./editor/problems.tsx";
import { SourceEditor } from "./editor/source_editor.tsx";
import { useUnsaved } from "./editor/unsaved.ts";
import { useGenerated, Warnings } from "./generated.tsx";
import { PlanSection } from "./plan.tsx";

export default function NewStack() {
  const described = query.value.getAll("container");
  const { data, error, reload } = useGenerated(described);
  return (
    <Page title="New stack">
      {error.value
        ? <Failure error={error.value} onRetry={reload} />
        : described.length === 0
        ? <NewStackForm initial={EMPTY_DRAFT} />
        : data.value
        ? (
          <>
            <Warnings texts={data.value.warnings} />
            <NewStackForm initial={{ ...EMPTY_DRAFT, compose: data.value.compose }} />
          </>
        )
        : <Loading name="Source" />}
    </Page>
  );
}

function NewStackForm({ initial }: { initial: Draft }) {
  const name = useSignal("");
  const problem = useSignal<string | undefined>(undefined);
  const draft = useSignal(initial);
  const refusal = useAnswer<readonly Problem[]>(draft);
  const plan = useAnswer<StackPlan & { name: string }>(draft);
  const busy = useSignal<"plan" | "save" | "deploy" | undefined>(undefined);
  const id = useId();
  const keepNothing = useUnsaved(!isSameDraft(draft.value, initial));

  const run = async (what: "plan" | "save" | "deploy", work: () => Promise<void>) => {
    problem.value = problemOf(name.peek());
    if (problem.value !== undefined) return document.getElementById(id)!.focus();
    busy.value = what;
    try {
      await work();
    } catch (error) {
      const hasProblems = error instanceof ApiError && error.status === 400;
      if (hasProblems) refusal.set(problemsOf(error));
      showAlert(hasProblems ? "The sources have errors" : sentenceOf(error));
    } finally {
      busy.value = undefined;
    }
  };
  const showPlan = async () => {
    const path = { name: name.peek() };
    const body = { sources: sourcesOf(draft.peek()) };
    plan.set({ ...await api("POST /api/stacks/{name}/plan", { path, body }), ...path });
  };
  const store = async (deploy: boolean) => {
    const stack = { name: name.peek() };
    const { job } = await api("POST /api/stacks", {
      body: { ...stack, kind: "compose", deploy, ...sourcesOf(draft.peek()) },
    });
    keepNothing();
    showStatus(`Saved ${stack.name}`);
    navigate(pathOf(stack, job ? undefined : "source"), { replace: true });
    if (job) void reportJob(() => Promise.resolve(job), `Deployed ${stack.name}`);
  };
  const isEmpty = draft.value.compose.trim() === "";
  const button = (
    what: "plan" | "save" | "deploy",
    label: string,
    work: () => Promise<void>,
  ) => (
    <Button
      kind={what === "deploy" ? "primary" : "plain"}
      disabled={isEmpty}
      busy={busy.value === what}
      onClick={() => void run(what, work)}
    >
      {label}
    </Button>
  );
  return (
    <>
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
      {plan.value?.name === name.value && <PlanSection plan={plan.value} />}
      <div class="source-bar">
        <span class="muted">A plan stores nothing.</span>
        {button("plan", "Plan", showPlan)}
        {button("save", "Save", () => store(false))}
        {button("deploy", "Deploy", () => store(true))}
      </div>
    </>
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
