/** The question before the containers of a stack are replaced: what would happen, and what is kept. @module */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import type { StackDeployPlan, StackUpdatePlan } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Facts } from "../../components/facts.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { isAway, LaterButton } from "../../parts/later.tsx";
import { type DataChoice, DataFact, DataField, PlanNotes } from "./data.tsx";
import { RehearsalField } from "./rehearsal.tsx";

/** Choices of the user. */
export interface StackChoices {
  data?: DataChoice;
  rehearse?: boolean;
}

/**
 * @param props.read Reads the plan with the choices.
 * @param props.facts Facts of the plan, as `Fact` elements.
 * @param props.isRehearsed Whether a plan has a rehearsal.
 * @param props.end Says how it ends.
 * @param props.later Path of the request, and its body beyond the choices.
 * @param props.onStart Closes the dialog if it starts.
 */
export function StackDialog<Plan extends StackDeployPlan | StackUpdatePlan>(
  { title, verb, read, facts, isRehearsed, end, later, onStart, onClose }: {
    title: string;
    verb: string;
    read: (choices: StackChoices, signal: AbortSignal) => Promise<unknown>;
    facts: (plan: Plan) => ComponentChildren;
    isRehearsed: (plan: Plan) => boolean;
    end: string;
    later: { path: string; body?: Record<string, unknown> };
    onStart: (choices: StackChoices) => Promise<boolean>;
    onClose: () => void;
  },
) {
  const choices = useSignal<StackChoices>({});
  const { plan, error, reload } = usePlan<Plan>(read, choices.value);
  const choose = (choice: StackChoices) => choices.value = { ...choices.peek(), ...choice };
  const start = async () => {
    // Obstacles of now are part of a new plan.
    if (await onStart(choices.peek())) onClose();
    else reload();
  };
  const { data, rehearse } = choices.value;
  return (
    <Dialog title={title} onClose={onClose} wide>
      {error ? <Failure error={error} onRetry={reload} /> : plan
        ? (
          <>
            <PlanNotes plan={plan} />
            <Facts>
              {facts(plan)}
              <DataFact data={plan.data} />
            </Facts>
            <p class="muted">{end}</p>
          </>
        )
        : <Loading name="Plan" />}
      <DataField
        isUndone={(data ?? plan?.data.choice) === "undo"}
        onChange={(choice) => choose({ data: choice })}
      />
      <RehearsalField
        isChosen={rehearse ?? (plan !== undefined && isRehearsed(plan))}
        onChange={(isChosen) => choose({ rehearse: isChosen })}
      />
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>Cancel</button>
        {isAway(error)
          ? <LaterButton {...later} body={{ ...later.body, ...choices.value }} onDone={onClose} />
          : (
            <Button
              kind="primary"
              disabled={!plan || plan.obstacles.length > 0}
              onClick={() => void start()}
            >
              {verb}
            </Button>
          )}
      </div>
    </Dialog>
  );
}

function usePlan<Plan>(
  read: (choices: StackChoices, signal: AbortSignal) => Promise<unknown>,
  choices: StackChoices,
) {
  const plan = useSignal<Plan | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const round = useSignal(0);
  useEffect(() => {
    const end = new AbortController();
    plan.value = error.value = undefined;
    read(choices, end.signal).then((result) => plan.value = result as Plan).catch((problem) => {
      if (end.signal.aborted) return;
      if (!(problem instanceof ApiError)) throw problem;
      error.value = problem;
    });
    return () => end.abort();
  }, [choices.data, choices.rehearse, round.value]);
  return { plan: plan.value, error: error.value, reload: () => round.value++ };
}
