/** Whether the rule in a form would fire now, and how often it would have fired. @module */

import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { AlertRuleTest, NewAlertRule } from "../../api/types.ts";
import { type FormValues, valuesOf } from "../../components/form_values.ts";
import { count, plain, relativeTime } from "../../base/text.ts";
import { sentenceOf } from "../../state/toasts.ts";

/** Pause of the user before a request, in milliseconds. */
const PAUSE_MS = 500;

/** Limit of named containers. */
const NAMES_MAX = 3;

/** Is placed in the form. It asks the service once the user stops typing. */
export function RulePreview({ ruleOf }: {
  /** The rule in the form's values. */
  ruleOf: (values: FormValues) => NewAlertRule;
}) {
  const element = useRef<HTMLParagraphElement>(null);
  const text = useSignal("");
  const latest = useRef(ruleOf);
  latest.current = ruleOf;
  useEffect(() => {
    const form = element.current!.closest("form")!;
    let end = new AbortController();
    let timer: number | undefined;
    const ask = async () => {
      end = new AbortController();
      // It needs no name yet.
      const rest = [...form.elements].filter((each) => each.getAttribute("name") !== "name");
      const isValid = rest.every((each) => (each as HTMLInputElement).validity?.valid !== false);
      if (!isValid) return void (text.value = "");
      const rule = latest.current(valuesOf(form));
      const body = { ...rule, name: rule.name || "New alert rule" };
      try {
        const result = await api("POST /api/alerts/rules/test", { body }, { signal: end.signal });
        text.value = sentenceOfTest(result);
      } catch (error) {
        if (!end.signal.aborted) text.value = sentenceOf(error);
      }
    };
    const schedule = () => {
      end.abort();
      clearTimeout(timer);
      timer = setTimeout(() => void ask(), PAUSE_MS);
    };
    form.addEventListener("input", schedule);
    schedule();
    return () => {
      form.removeEventListener("input", schedule);
      end.abort();
      clearTimeout(timer);
    };
  }, []);
  return (
    <p ref={element} class="hint" role="status" aria-label="Preview">
      {text.value || "A complete rule is compared with the last 24 hours here."}
    </p>
  );
}

function sentenceOfTest(
  { wouldFire, valueText, firesAt, firings24h, containers, problem }: AlertRuleTest,
): string {
  const names = containers.slice(0, NAMES_MAX).map(plain).join(", ") +
    (containers.length > NAMES_MAX ? ` and ${containers.length - NAMES_MAX} more` : "");
  const now = wouldFire
    ? `It would fire now${names === "" ? "" : ` for ${names}`}`
    : valueText === null
    ? `The present value is unknown${problem === null ? "" : `: ${plain(problem)}`}`
    : firesAt !== null
    ? `The condition holds; it would fire ${relativeTime(Date.parse(firesAt), Date.now())}`
    : "It would not fire now";
  const past = firings24h === null
    ? "No samples of this metric are stored"
    : firings24h === 0
    ? "It would not have fired in the last 24 h"
    : `It would have fired ${count(firings24h, "time")} in the last 24 h`;
  return `${past}. ${now}${valueText === null ? "" : ` (${valueText})`}.`;
}
