/** The tab "Source" of a stack: its sources, their check, and the plan of a deploy. @module */

import { useSignal } from "@preact/signals";
import { api, ApiError } from "../../api/client.ts";
import type { StackDetail, StackPlan, StackSource } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { useRead } from "../../components/reading.ts";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { Adopt } from "./adopt.tsx";
import { Conflict } from "./conflict.tsx";
import { DeployDialog, deployStack } from "./deploy.tsx";
import { useAnswer } from "./editor/answer.ts";
import { draftOf, isSameDraft, sourcesOf } from "./editor/draft.ts";
import { type Problem, problemsOf } from "./editor/problems.tsx";
import { SourceEditor } from "./editor/source_editor.tsx";
import { useUnsaved } from "../../components/unsaved.ts";
import { PlanSection } from "./plan.tsx";

/** @param props.onAdopted Called when sources were stored of a stack that had none. */
export function Source({ stack, onAdopted }: { stack: StackDetail; onAdopted: () => void }) {
  const { name, kind, hasSources } = stack;
  const { data, error, reload } = useRead(
    "GET /api/stacks/{name}/source",
    hasSources ? { path: { name } } : undefined,
  );
  if (!hasSources) {
    if (kind === "compose" && hasRole("admin", "stacks:write")) {
      return <Adopt stack={stack} onDone={onAdopted} />;
    }
    return (
      <Empty>Longshore does not have the sources of this stack: another program deployed it.</Empty>
    );
  }
  if (error.value && !data.value) return <Failure error={error.value} onRetry={reload} />;
  if (!data.value) return <Loading name="Source" />;
  return <SourceForm initial={data.value} isDeployed={stack.containerCount > 0} />;
}

function SourceForm({ initial, isDeployed }: { initial: StackSource; isDeployed: boolean }) {
  const { name, directory, configFiles } = initial;
  const isReadOnly = !hasRole("admin", "stacks:write");
  const version = useSignal(initial.version);
  const saved = useSignal(draftOf(initial));
  const draft = useSignal(saved.peek());
  const revision = useSignal(0);
  const refusal = useAnswer<readonly Problem[]>(draft);
  const plan = useAnswer<StackPlan>(draft);
  const conflict = useSignal<{ newer: StackSource; diff: string } | undefined>(undefined);
  /** Version of which the deploy is to be confirmed. */
  const asked = useSignal<number | undefined>(undefined);
  const busy = useSignal<"save" | "plan" | "deploy" | undefined>(undefined);
  const isChanged = !isSameDraft(draft.value, saved.value);
  useUnsaved(isChanged);

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
        body: { ...sourcesOf(sent, saved.peek()), expectedVersion },
      });
      version.value = stored.version;
      saved.value = sent;
      showStatus(`Saved version ${stored.version} of ${plain(name)}`);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 400) refusal.set(problemsOf(error));
      const newer = error.diff === undefined ? undefined : await readNewer(name, expectedVersion);
      if (newer) conflict.value = { newer, diff: error.diff! };
      else showAlert(error.status === 400 ? "Not saved: the sources have errors" : error.message);
      return false;
    }
  };
  /** Shows what was stored, or edited on disk, after the page was opened. @returns Whether it was. */
  const showNewer = async (): Promise<boolean> => {
    const newer = await readNewer(name, version.peek());
    if (newer) {
      replace(newer);
      showAlert(`${plain(name)} was changed meanwhile; this is version ${newer.version}`);
    }
    return newer !== undefined;
  };
  const showPlan = async () => {
    if (!isChanged) await showNewer();
    try {
      plan.set(
        await api("POST /api/stacks/{name}/plan", {
          path: { name },
          body: isChanged ? { sources: sourcesOf(draft.peek(), saved.peek()) } : {},
        }),
      );
    } catch (error) {
      if (error instanceof ApiError && error.issues.length > 0) refusal.set(problemsOf(error));
      showAlert(sentenceOf(error));
    }
  };
  const deploy = async () => {
    if (isChanged ? !await save() : await showNewer()) return;
    plan.set(undefined);
    if (isDeployed) asked.value = version.peek();
    else await deployStack(name, { expectedVersion: version.peek() });
  };
  const run = async (what: "save" | "plan" | "deploy", work: () => Promise<unknown>) => {
    if (busy.peek()) return;
    busy.value = what;
    await work().finally(() => busy.value = undefined);
  };

  return (
    <>
      <p class="source-place">
        {directory === null ? "Stored in Longshore." : (
          <>
            On disk in <code class="wrap">{plain(directory)}</code>:{" "}
            {configFiles.map((file) => plain(file.slice(directory.length + 1))).join(", ")}
          </>
        )}
      </p>
      <SourceEditor
        draft={draft}
        revision={revision.value}
        isReadOnly={isReadOnly}
        directory={directory ?? undefined}
        keepsFiles={directory !== null}
        {...(refusal.value && { refusal: refusal.value })}
      />
      {plan.value && <PlanSection plan={plan.value} />}
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
        <Button
          busy={busy.value === "plan"}
          onClick={() => void run("plan", showPlan)}
        >
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
      {asked.value !== undefined && (
        <DeployDialog
          name={name}
          expectedVersion={asked.value}
          onClose={() => asked.value = undefined}
        />
      )}
      {conflict.value && (
        <Conflict
          {...conflict.value}
          based={version.value}
          onTake={() => {
            replace(conflict.value!.newer);
            conflict.value = undefined;
          }}
          onOverwrite={() => {
            const { version } = conflict.value!.newer;
            conflict.value = undefined;
            void run("save", () => save(version));
          }}
          onClose={() => conflict.value = undefined}
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
