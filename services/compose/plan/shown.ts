/** A plan as the API shows it: with short texts, and without secret values. @module */

import { valueHider } from "../../containers/secret_values.ts";
import { REDACTED } from "../../text/redact.ts";
import { splitWords } from "../load/values.ts";
import type { StackPlan } from "./plan.ts";

/** Maximum length of a value in a reason. */
const VALUE_MAX = 300;

/** With more secret values, texts are replaced as a whole: a search would take seconds. */
const FORMS_MAX = 2000;

/** Replaces secret values anywhere in a plan, and limits the texts of its reasons. */
export function shownPlan<Plan extends Pick<StackPlan, "changes" | "warnings">>(
  plan: Plan,
  secretValues: readonly string[],
): Plan {
  const forms = new Set(secretValues.flatMap(formsOf));
  const hide = forms.size > FORMS_MAX ? () => REDACTED : valueHider([...forms]);
  // Not before, because the beginning of a secret value would remain.
  const shorten = (text: string) => cut(hide(text));
  return {
    ...plan,
    changes: plan.changes.map((change) => ({
      ...change,
      reasons: change.reasons.map(({ path, from, to, text }) => ({
        path: hide(path),
        from: from && shorten(from),
        to: to && shorten(to),
        text: shorten(text),
      })),
    })),
    warnings: plan.warnings.map(hide),
  };
}

/** A value as it is, as a part of a text in JSON, and as the words of a command in JSON. */
const formsOf = (value: string): string[] => [
  value,
  inJson(value),
  wordsIn(value).map(inJson).join('","'),
];

function wordsIn(value: string): string[] {
  try {
    return splitWords(value);
  } catch {
    // A command with an open quote is refused.
    return [];
  }
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

const cut = (text: string) => text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
