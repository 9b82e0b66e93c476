/** The service's answer to a draft. @module */

import { type Signal, useSignal } from "@preact/signals";
import type { Draft } from "./draft.ts";

/** An answer about a draft; gone as soon as the draft changes. */
export function useAnswer<Answer>(draft: Signal<Draft>): {
  value: Answer | undefined;
  set: (answer: Answer | undefined) => void;
} {
  const given = useSignal<{ draft: Draft; answer: Answer | undefined } | undefined>(undefined);
  return {
    value: given.value?.draft === draft.value ? given.value.answer : undefined,
    set: (answer) => given.value = { draft: draft.peek(), answer },
  };
}
