/** Choice of the source of one stack: a candidate, its containers, or a file anywhere on the host. @module */

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import type { TakeoverStack } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Reason, withBreaks } from "../../components/states.tsx";
import { TextField } from "../../components/fields.tsx";
import { Time } from "../../components/time.tsx";
import { plain } from "../../base/text.ts";
import { sentenceOf } from "../../state/toasts.ts";
import { kindText, PlanText, unreadFile } from "./columns.tsx";

type Candidate = TakeoverStack["candidates"][number];

interface Choice {
  source: { kind: "host" | "mount" | "generated"; path: string | null; through?: string };
  acceptRecreate: boolean;
}

/** The choice of a path, besides the numbers of the candidates. */
const OTHER = -1;

export function SourceDialog({ stack, onChoose, onClose }: {
  stack: TakeoverStack;
  /** Resolves when the stack is taken over. */
  onChoose: (choice: Choice) => Promise<void>;
  onClose: () => void;
}) {
  const { name, candidates } = stack;
  const usable = candidates.filter(({ kind }) => kind !== "text");
  const first = usable.findIndex(({ plan }) => plan);
  const chosen = useSignal(first < 0 ? OTHER : first);
  const path = useSignal(unreadFile(stack) ?? "");
  const accepts = useSignal(false);
  const isBusy = useSignal(false);
  const refusal = useSignal<string | undefined>(undefined);
  const candidate = usable[chosen.value];
  const recreates = candidate?.plan?.recreates.join(", ") || recreatedBy(refusal.value);
  const isReadable = candidate ? candidate.plan !== null : path.value.trim().startsWith("/");
  const mayTake = isReadable && (recreates === undefined || accepts.value);
  const choose = (at: number) => {
    chosen.value = at;
    accepts.value = false;
    refusal.value = undefined;
  };
  const take = async () => {
    isBusy.value = true;
    try {
      await onChoose({
        source: candidate ? sourceOf(candidate) : { kind: "host", path: path.value.trim() },
        acceptRecreate: accepts.value,
      });
      onClose();
    } catch (problem) {
      refusal.value = sentenceOf(problem);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={`Source of ${plain(name)}`} onClose={onClose} wide>
      <fieldset class="takeover-sources" role="radiogroup">
        <legend>Source</legend>
        {usable.map((each, at) => (
          <Option
            key={at}
            name={optionName(each)}
            isChosen={chosen.value === at}
            onChoose={() => choose(at)}
          >
            <CandidateText candidate={each} />
          </Option>
        ))}
        <Option
          name="Another Compose file on the host"
          isChosen={chosen.value === OTHER}
          onChoose={() => choose(OTHER)}
        />
      </fieldset>
      {chosen.value === OTHER && (
        <div
          onInput={(event) => {
            path.value = (event.target as HTMLInputElement).value;
            choose(OTHER);
          }}
        >
          <TextField
            label="Path"
            name="path"
            value={path.value}
            placeholder="/srv/shop/compose.yaml"
            hint="Read once; edits are stored in Longshore"
            autocomplete="off"
          />
        </div>
      )}
      {refusal.value !== undefined && (
        <p class="note danger" role="alert">
          {plain(refusal.value)}
        </p>
      )}
      {recreates && (
        <label class="check">
          <input
            type="checkbox"
            checked={accepts.value}
            onChange={({ currentTarget }) => accepts.value = currentTarget.checked}
          />
          The next deploy may recreate {plain(recreates)}
        </label>
      )}
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          disabled={!mayTake}
          busy={isBusy.value}
          onClick={() => void take()}
        >
          Take over
        </Button>
      </div>
    </Dialog>
  );
}

/** Services in the refusal of a file whose plan is not known before. */
const recreatedBy = (refusal: string | undefined): string | undefined =>
  refusal?.match(/^A deploy would recreate (.+);/)?.[1];

function Option({ name, isChosen, onChoose, children }: {
  name: string;
  isChosen: boolean;
  onChoose: () => void;
  children?: ComponentChildren;
}) {
  return (
    <div class="takeover-source">
      <label class="check">
        <input type="radio" name="source" checked={isChosen} onChange={onChoose} />
        <span class="wrap">{withBreaks(name)}</span>
      </label>
      {children}
    </div>
  );
}

const optionName = ({ kind, path, through }: Candidate): string =>
  path === null ? kindText(kind) : `${path}${through === undefined ? "" : ` in ${through}`}`;

function CandidateText({ candidate }: { candidate: Candidate }) {
  const { modifiedAt, plan, error } = candidate;
  return (
    <div class="takeover-facts">
      {modifiedAt !== null && (
        <p class="hint">
          Changed <Time at={modifiedAt} />
        </p>
      )}
      {plan ? <PlanText plan={plan} /> : <Reason>{error}</Reason>}
    </div>
  );
}

function sourceOf({ kind, path, through }: Candidate): Choice["source"] {
  const known = kind === "text" ? "generated" : kind;
  return { kind: known, path, ...(through !== undefined && { through }) };
}
