/**
 * Adoption of a stack that another program deployed: its sources come from the host's disk, from its
 * containers or from the user, and are stored after their plan was shown.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api, ApiError } from "../../api/client.ts";
import type { StackDetail } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/choice.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { query, setQuery } from "../../state/router.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { useAnswer } from "./editor/answer.ts";
import { type Draft, draftOf, EMPTY_DRAFT, isSameDraft, sourcesOf } from "./editor/draft.ts";
import { type Problem, problemsOf } from "./editor/problems.tsx";
import { SourceEditor } from "./editor/source_editor.tsx";
import { useUnsaved } from "../../components/unsaved.ts";
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

type Origin = typeof ORIGINS[number];

/** The drafts that the user has changed, by origin. */
type Edited = Readonly<Partial<Record<Origin, Draft | undefined>>>;

export function Adopt({ stack, onDone }: AdoptProps) {
  // Compose files that other programs send to the engine have no path.
  const hasFiles = stack.workingDir !== null && stack.configFiles.length > 0;
  const origins = ORIGINS.filter((each) => each !== "disk" || hasFiles);
  const origin = origins.find((each) => each === query.value.get("from")) ?? origins[0]!;
  const edited = useSignal<Edited>({});
  const isChanged = Object.values(edited.value).some((draft) => draft !== undefined);
  const keepNothing = useUnsaved(isChanged);
  const form = {
    name: stack.name,
    draft: edited.peek()[origin],
    onEdit: (draft: Draft | undefined) => edited.value = { ...edited.peek(), [origin]: draft },
    onDone() {
      keepNothing();
      setQuery({ from: undefined });
      onDone();
    },
  };
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
        ? <OnDisk key={origin} {...form} />
        : origin === "containers"
        ? <Generated key={origin} {...form} stack={stack} />
        : <AdoptForm key={origin} {...form} initial={EMPTY_DRAFT} />}
    </>
  );
}

interface FormProps {
  name: string;
  /** The user's earlier draft, if it was changed. */
  draft: Draft | undefined;
  /** Called with each change; with `undefined` when it is as it was at first. */
  onEdit: (draft: Draft | undefined) => void;
  /** Called when the sources are stored. */
  onDone: () => void;
}

function OnDisk(props: FormProps) {
  const { data, error, reload } = useRead("POST /api/stacks/{name}/adopt", {
    path: { name: props.name },
    body: { dryRun: true },
  });
  if (error.value) return <Failure error={error.value} onRetry={reload} />;
  if (!data.value) return <Loading name="Source" />;
  return <AdoptForm {...props} initial={draftOf(data.value.sources)} found={data.value} />;
}

function Generated({ stack, ...props }: FormProps & Pick<AdoptProps, "stack">) {
  const ids = stack.services.flatMap(({ containers }) => containers.map(({ id }) => id));
  const { data, error, reload } = useGenerated(ids);
  if (error.value) return <Failure error={error.value} onRetry={reload} />;
  if (!data.value) return <Loading name="Source" />;
  const { compose, warnings } = data.value;
  return (
    <>
      <Warnings texts={warnings} />
      <AdoptForm {...props} initial={{ ...EMPTY_DRAFT, compose }} />
    </>
  );
}

/** @param props.found The plan of the files on disk, which are not changed here. */
function AdoptForm({ name, initial, draft: before, found, onEdit, onDone }: FormProps & {
  initial: Draft;
  found?: ShownPlan;
}) {
  const draft = useSignal(before ?? initial);
  useEffect(
    () => onEdit(isSameDraft(draft.value, initial) ? undefined : draft.value),
    [draft.value],
  );
  const refusal = useAnswer<readonly Problem[]>(draft);
  const answer = useAnswer<ShownPlan>(draft);
  const busy = useSignal<"plan" | "adopt" | undefined>(undefined);
  const plan = answer.value ?? found;

  const run = async (what: "plan" | "adopt", work: () => Promise<void>) => {
    if (busy.peek()) return;
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
    showStatus(`Adopted ${plain(name)}`);
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
