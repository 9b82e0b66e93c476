/**
 * A new stack: its name, where its sources are, and these, empty or generated from containers.
 *
 * @module
 */

import { useId, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api, ApiError } from "../../api/client.ts";
import type { Container, StackPlan } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/choice.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { stackPath } from "../../paths.ts";
import { containers } from "../../state/live.ts";
import { navigate, query } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { dismiss, sentenceOf, showAlert, showStatus, toasts } from "../../state/toasts.ts";
import { Beginnings } from "./beginnings.tsx";
import { reportJob } from "../../state/jobs.ts";
import { useAnswer } from "./editor/answer.ts";
import { type Draft, EMPTY_DRAFT, isSameDraft, sourcesOf } from "./editor/draft.ts";
import { type Problem, problemsOf } from "./editor/problems.tsx";
import { SourceEditor } from "./editor/source_editor.tsx";
import { useUnsaved } from "../../components/unsaved.ts";
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

const PLACES = ["database", "disk"] as const;
const PLACE_NAMES = { database: "In Longshore", disk: "In a directory on the host" };

const KINDS = ["compose", "swarm"] as const;
const KIND_NAMES = { compose: "Compose", swarm: "Swarm" };

function NewStackForm({ initial }: { initial: Draft }) {
  const name = useSignal("");
  /** The name that was proposed, until the user writes another one. */
  const proposed = useRef("");
  const problem = useSignal<string | undefined>(undefined);
  const kind = useSignal<typeof KINDS[number]>("compose");
  const storage = useSignal<typeof PLACES[number]>("database");
  const { data: keys } = useRead("GET /api/compose/keys", {});
  const roots = keys.value?.roots ?? [];
  /** Follows the name until it is changed. */
  const ownDirectory = useSignal<string | undefined>(undefined);
  const directory = storage.value === "disk"
    ? ownDirectory.value ?? `${roots[0]}/${name.value}`
    : undefined;
  const disk = directory === undefined ? {} : { directory };
  const draft = useSignal(initial);
  const revision = useSignal(0);
  const refusal = useAnswer<{ problems: readonly Problem[]; directory: string | undefined }>(draft);
  /** The message of the last failure, which the next try dismisses. */
  const failure = useRef<number>(undefined);
  const plan = useAnswer<StackPlan & { name: string; directory: string | undefined }>(draft);
  const busy = useSignal<"plan" | "save" | "deploy" | undefined>(undefined);
  const id = useId();
  const refused = refusal.value;
  const isChanged = !isSameDraft(draft.value, initial);
  const keepNothing = useUnsaved(isChanged);
  const known = containers.value;

  const replaced = (proposal: string | undefined) => {
    revision.value++;
    if (proposal === undefined || name.peek() !== proposed.current) return;
    if (problemOf(proposal, known) !== undefined) return;
    name.value = proposed.current = proposal;
    problem.value = undefined;
  };
  const run = async (what: "plan" | "save" | "deploy", work: () => Promise<void>) => {
    if (busy.peek()) return;
    problem.value = problemOf(name.peek(), known);
    if (problem.value !== undefined) return document.getElementById(id)!.focus();
    busy.value = what;
    refusal.set(undefined);
    if (failure.current !== undefined) dismiss(failure.current);
    try {
      await work();
    } catch (error) {
      const hasProblems = error instanceof ApiError && error.status === 400;
      if (hasProblems) refusal.set({ problems: problemsOf(error), directory });
      showAlert(hasProblems ? "The sources have errors" : sentenceOf(error));
      failure.current = toasts.peek().at(-1)!.id;
    } finally {
      busy.value = undefined;
    }
  };
  const isEmpty = draft.value.compose.trim() === "";
  const enteredSources = () => {
    const { compose, ...sources } = sourcesOf(draft.peek());
    // Without a text, the files of the directory are used.
    return { ...sources, ...disk, ...(!isEmpty && { compose }) };
  };
  const showPlan = async () => {
    const path = { name: name.peek() };
    const body = { sources: enteredSources() };
    plan.set({ ...await api("POST /api/stacks/{name}/plan", { path, body }), ...path, directory });
  };
  const store = async (deploy: boolean) => {
    const stack = { name: name.peek() };
    const { job } = await api("POST /api/stacks", {
      body: {
        ...stack,
        kind: kind.peek(),
        deploy,
        ...enteredSources(),
      },
    });
    keepNothing();
    showStatus(`Saved ${stack.name}`);
    const page = { ...stack, kind: kind.peek() };
    navigate(stackPath(page, job ? undefined : "source"), { replace: true });
    if (job) void reportJob(() => Promise.resolve(job), `Deployed ${stack.name}`);
  };
  const button = (
    what: "plan" | "save" | "deploy",
    label: string,
    work: () => Promise<void>,
  ) => (
    <Button
      kind={what === "deploy" ? "primary" : "plain"}
      disabled={isEmpty && directory === undefined}
      busy={busy.value === what}
      onClick={() => void run(what, work)}
    >
      {label}
    </Button>
  );
  return (
    <>
      <div class="new-stack">
        <div class="field">
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
          {problem.value !== undefined && (
            <p id={`${id}-problem`} class="problem">{problem.value}</p>
          )}
        </div>
        <Choice
          name="Kind"
          values={KINDS}
          value={kind.value}
          nameOf={(each) => KIND_NAMES[each]}
          onChange={(each) => kind.value = each}
        />
        {roots.length > 0 && (
          <Choice
            name="Sources"
            values={PLACES}
            value={storage.value}
            nameOf={(each) => PLACE_NAMES[each]}
            onChange={(each) => storage.value = each}
          />
        )}
        {directory !== undefined && (
          <div class="field new-stack-directory">
            <label for={`${id}-directory`}>Directory</label>
            <input
              id={`${id}-directory`}
              value={directory}
              maxLength={1024}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              aria-describedby={`${id}-directory-hint`}
              onInput={(event) => ownDirectory.value = event.currentTarget.value}
            />
            <p id={`${id}-directory-hint`} class="hint">
              Below {roots.map((root) => plain(root)).join(" or ")}. Longshore writes{" "}
              <code>compose.yaml</code>, <code>.env</code>{" "}
              and the other files there, and follows edits on the host. Relative paths start there.
              To use the files that are there already, leave the Compose file empty.
            </p>
          </div>
        )}
      </div>
      <Beginnings draft={draft} onReplaced={replaced} />
      <SourceEditor
        draft={draft}
        revision={revision.value}
        directory={directory}
        {...(refused?.directory === directory && refused && { refusal: refused.problems })}
      />
      {plan.value?.name === name.value && plan.value.directory === directory && (
        <PlanSection plan={plan.value} />
      )}
      <div class="source-bar">
        <span class="muted">
          {kind.value === "compose" && "A plan stores nothing."}
        </span>
        {kind.value === "compose" && hasRole("operator", "stack_sources:read") &&
          button("plan", "Plan", showPlan)}
        {button("save", "Save", () => store(false))}
        {button("deploy", "Deploy", () => store(true))}
      </div>
    </>
  );
}

/** Problem of a name. */
function problemOf(name: string, known: readonly Container[] = []): string | undefined {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(name)) {
    return "Must have lowercase letters, digits, dashes and underscores only";
  }
  const isTaken = known.some(({ composeProject }) => composeProject === name);
  return isTaken ? "There is a stack with this name" : undefined;
}
