/**
 * The tab "Source" of a stack: its sources, their check, and the plan of a deploy.
 *
 * @module
 */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api, ApiError } from "../../api/client.ts";
import type { StackPlan, StackSource } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { useRead } from "../../components/reading.ts";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../components/text.ts";
import { query, setQuery } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { Conflict } from "./conflict.tsx";
import { deployStack } from "./deploy.tsx";
import { draftOf, isSameDraft, sourcesOf } from "./editor/draft.ts";
import { type Problem, problemsOf } from "./editor/problems.tsx";
import { SourceEditor } from "./editor/source_editor.tsx";
import { useUnsaved } from "./editor/unsaved.ts";
import { Plan } from "./plan.tsx";

export function Source({ name }: { name: string }) {
  const { data, error, reload } = useRead("GET /api/stacks/{name}/source", { path: { name } });
  if (error.value?.status === 404) return <WithoutSource />;
  if (error.value && !data.value) return <Failure error={error.value} onRetry={reload} />;
  if (!data.value) return <Loading name="Source" />;
  return <SourceForm initial={data.value} />;
}

function WithoutSource() {
  return <Empty>Longshore has no sources of this stack: it was deployed by another program.</Empty>;
}

function SourceForm({ initial }: { initial: StackSource }) {
  const { name } = initial;
  const isReadOnly = !hasRole("admin");
  const version = useSignal(initial.version);
  const saved = useSignal(draftOf(initial));
  const draft = useSignal(saved.peek());
  const revision = useSignal(0);
  const refusal = useSignal<readonly Problem[] | undefined>(undefined);
  const newer = useSignal<StackSource | undefined>(undefined);
  const plan = useSignal<StackPlan | undefined>(undefined);
  const busy = useSignal<"save" | "plan" | "deploy" | undefined>(undefined);
  const isChanged = !isSameDraft(draft.value, saved.value);
  useUnsaved(isChanged);
  useEffect(() => {
    refusal.value = undefined;
    plan.value = undefined;
  }, [draft.value]);

  const replace = (source: StackSource) => {
    version.value = source.version;
    saved.value = draft.value = draftOf(source);
    revision.value++;
  };
  /** Stores the changes as the next version. @returns Whether they are stored. */
  const save = async (expectedVersion = version.peek()): Promise<boolean> => {
    const sent = draft.peek();
    try {
      const stored = await api("PUT /api/stacks/{name}/source", {
        path: { name },
        body: { ...sourcesOf(sent), expectedVersion },
      });
      version.value = stored.version;
      saved.value = sent;
      showStatus(`Saved version ${stored.version} of ${plain(name)}`);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 400) refusal.value = problemsOf(error);
      const current = error.status === 409 ? await readNewer(name, expectedVersion) : undefined;
      if (current) newer.value = current;
      else showAlert(error.status === 400 ? "Not saved: the sources have errors" : error.message);
      return false;
    }
  };
  const showPlan = async () => {
    if (isChanged && !await save()) return;
    try {
      plan.value = await api("POST /api/stacks/{name}/plan", { path: { name }, body: {} });
    } catch (error) {
      showAlert(sentenceOf(error));
    }
  };
  const deploy = async () => {
    if (isChanged && !await save()) return;
    plan.value = undefined;
    await deployStack(name);
  };
  const run = async (what: "save" | "plan" | "deploy", work: () => Promise<unknown>) => {
    busy.value = what;
    await work().finally(() => busy.value = undefined);
  };
  useEffect(() => {
    if (query.peek().get("show") !== "plan") return;
    setQuery({ show: undefined });
    void run("plan", showPlan);
  }, []);

  return (
    <>
      <SourceEditor
        draft={draft}
        revision={revision.value}
        isReadOnly={isReadOnly}
        {...(refusal.value && { refusal: refusal.value })}
      />
      {plan.value && (
        <section class="section below" aria-label="Plan of a deploy">
          <Plan plan={plan.value} />
        </section>
      )}
      <div class="source-bar">
        <span class="muted">
          {isChanged
            ? `Changes of version ${version.value}, not saved`
            : `Version ${version.value}`}
        </span>
        {!isReadOnly && (
          <Button
            disabled={!isChanged}
            busy={busy.value === "save"}
            onClick={() => void run("save", save)}
          >
            Save
          </Button>
        )}
        <Button busy={busy.value === "plan"} onClick={() => void run("plan", showPlan)}>
          Plan
        </Button>
        {!isReadOnly && (
          <Button
            kind="primary"
            busy={busy.value === "deploy"}
            onClick={() => void run("deploy", deploy)}
          >
            Deploy
          </Button>
        )}
      </div>
      {newer.value && (
        <Conflict
          based={version.value}
          newer={newer.value}
          onTake={() => {
            replace(newer.value!);
            newer.value = undefined;
          }}
          onOverwrite={() => {
            const { version } = newer.value!;
            newer.value = undefined;
            void run("save", () => save(version));
          }}
          onClose={() => newer.value = undefined}
        />
      )}
    </>
  );
}

/** The current sources, if these are of another version; `undefined` also if they cannot be read. */
async function readNewer(name: string, based: number): Promise<StackSource | undefined> {
  try {
    const current = await api("GET /api/stacks/{name}/source", { path: { name } });
    return current.version === based ? undefined : current;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
