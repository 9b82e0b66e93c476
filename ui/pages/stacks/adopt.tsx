/**
 * Adoption of a stack that another program deployed: its sources come from the host's disk, from its
 * containers or from the user, and are stored after their plan was shown.
 *
 * @module
 */

import { type Signal, useSignal } from "@preact/signals";
import { api, ApiError } from "../../api/client.ts";
import type { StackDetail } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/choice.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../components/text.ts";
import { query, setQuery } from "../../state/router.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { useAnswer } from "./editor/answer.ts";
import { type Draft, draftOf, EMPTY_DRAFT, isSameDraft, sourcesOf } from "./editor/draft.ts";
import { type Problem, problemsOf } from "./editor/problems.tsx";
import { SourceEditor } from "./editor/source_editor.tsx";
import { useUnsaved } from "./editor/unsaved.ts";
import { useGenerated, Warnings } from "./generated.tsx";
import { PlanSection, type ShownPlan, summaryOf } from "./plan.tsx";

interface AdoptProps {
  stack: StackDetail;
  /** Called when the sources are stored. */
  onDone: () => void;
}

const ORIGINS = ["disk", "containers", "text"] as const;
const ORIGIN_NAMES = {
  disk: "Files on disk",
  containers: "Generated from the containers",
  text: "Your own text",
};

export function Adopt(props: AdoptProps) {
  const { stack } = props;
  // Compose files that other programs send to the engine have no path.
  const hasFiles = stack.workingDir !== null && stack.configFiles.length > 0;
  const origins = ORIGINS.filter((each) => each !== "disk" || hasFiles);
  const origin = origins.find((each) => each === query.value.get("from")) ?? origins[0]!;
  const text = useSignal(EMPTY_DRAFT);
  return (
    <>
      <p class="source-place">
        Another program deployed this stack. Longshore can adopt it: it stores the sources and
        leaves the containers as they are until the next deploy.
      </p>
      <Choice
        name="Sources"
        values={origins}
        value={origin}
        nameOf={(each) => ORIGIN_NAMES[each]}
        onChange={(from) => setQuery({ from })}
      />
      {origin === "disk"
        ? <OnDisk {...props} />
        : origin === "containers"
        ? <Generated {...props} />
        : <AdoptForm key="text" {...props} draft={text} />}
    </>
  );
}

function OnDisk(props: AdoptProps) {
  const { data, error, reload } = useRead("POST /api/stacks/{name}/adopt", {
    path: { name: props.stack.name },
    body: { dryRun: true },
  });
  if (error.value) return <Failure error={error.value} onRetry={reload} />;
  if (!data.value) return <Loading name="Source" />;
  return <AdoptFiles {...props} initial={draftOf(data.value.sources)} found={data.value} />;
}

function AdoptFiles({ initial, ...props }: AdoptProps & { initial: Draft; found: ShownPlan }) {
  const draft = useSignal(initial);
  return <AdoptForm {...props} draft={draft} />;
}

function Generated(props: AdoptProps) {
  const ids = props.stack.services.flatMap(({ containers }) => containers.map(({ id }) => id));
  const { data, error, reload } = useGenerated(ids);
  if (error.value) return <Failure error={error.value} onRetry={reload} />;
  if (!data.value) return <Loading name="Source" />;
  const { compose, warnings } = data.value;
  return (
    <>
      <Warnings texts={warnings} />
      <AdoptText {...props} compose={compose} />
    </>
  );
}

function AdoptText({ compose, ...props }: AdoptProps & { compose: string }) {
  const draft = useSignal({ ...EMPTY_DRAFT, compose });
  return <AdoptForm {...props} draft={draft} />;
}

/** @param props.found The plan of the files on disk, which are not changed here. */
function AdoptForm({ stack: { name }, onDone, draft, found }: AdoptProps & {
  draft: Signal<Draft>;
  found?: ShownPlan;
}) {
  const initial = useSignal(draft.peek());
  const refusal = useAnswer<readonly Problem[]>(draft);
  const answer = useAnswer<ShownPlan>(draft);
  const busy = useSignal<"plan" | "adopt" | undefined>(undefined);
  const keepNothing = useUnsaved(!isSameDraft(draft.value, initial.value));
  const plan = answer.value ?? found;

  const run = async (what: "plan" | "adopt", work: () => Promise<void>) => {
    busy.value = what;
    try {
      await work();
    } catch (error) {
      if (error instanceof ApiError && error.issues.length > 0) refusal.set(problemsOf(error));
      showAlert(sentenceOf(error));
    } finally {
      busy.value = undefined;
    }
  };
  const showPlan = async () => {
    const body = { sources: sourcesOf(draft.peek()) };
    answer.set(await api("POST /api/stacks/{name}/plan", { path: { name }, body }));
  };
  const adopt = async () => {
    const acceptRecreate = plan!.changes.some(({ action }) => action === "recreate");
    const result = await api("POST /api/stacks/{name}/adopt", {
      path: { name },
      body: { ...!found && sourcesOf(draft.peek()), acceptRecreate },
    });
    if (!result.adopted) {
      answer.set(result);
      return showAlert("Not adopted: a deploy would now recreate containers; check the plan");
    }
    keepNothing();
    showStatus(`Adopted ${plain(name)}`);
    setQuery({ from: undefined });
    onDone();
  };
  return (
    <>
      <SourceEditor
        draft={draft}
        revision={0}
        isReadOnly={found !== undefined}
        {...(refusal.value && { refusal: refusal.value })}
      />
      {plan && <PlanSection plan={plan} isQuiet={plan === found} />}
      <div class="source-bar">
        <span class="muted">
          {plan
            ? `${summaryOf(plan)}. Adopting deploys nothing.`
            : "Show the plan first. It changes nothing."}
        </span>
        {!found && (
          <Button
            disabled={draft.value.compose.trim() === ""}
            busy={busy.value === "plan"}
            onClick={() => void run("plan", showPlan)}
          >
            Plan
          </Button>
        )}
        <Button
          kind="primary"
          disabled={!plan}
          busy={busy.value === "adopt"}
          onClick={() => void run("adopt", adopt)}
        >
          Adopt
        </Button>
      </div>
    </>
  );
}
