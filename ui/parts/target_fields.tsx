/** The containers that a rule or a window applies to, in a form. @module */

import type { AlertTarget, Target } from "../api/types.ts";
import { TextArea, TextField } from "../components/fields.tsx";
import { type FormValues, listOf, pairsOf } from "../components/form_values.ts";

/** As in the service's problems. */
const keyOf = (field: "containers" | "stacks" | "labels") => `scope.target.${field}`;

/** Their values are read with {@linkcode containersTarget}. */
export function TargetFields({ target }: { target: AlertTarget | undefined }) {
  const { containers, stacks, labels } = target?.kind === "containers"
    ? target
    : {} as Record<string, undefined>;
  const lines = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return (
    <>
      <div class="field-grid">
        <TextField
          label="Containers"
          name={keyOf("containers")}
          value={containers?.join(", ")}
          placeholder="web*, db"
          hint="Names; * stands for any text. Empty: all containers"
        />
        <TextField
          label="Stacks"
          name={keyOf("stacks")}
          value={stacks?.join(", ")}
          placeholder="shop"
          hint="Only the containers of these stacks"
        />
      </div>
      <TextArea
        label="Labels"
        name={keyOf("labels")}
        value={lines.join("\n")}
        rows={2}
        code
        placeholder="tier=db"
        hint="One in each line; a container must have all of them"
        check={(text) =>
          text.split("\n").every((line) => line.trim() === "" || /[^\s=].*=/.test(line))
            ? undefined
            : "Must have one name=value in each line"}
      />
    </>
  );
}

/** Stacks as a whole. Their values are read with {@linkcode stacksTarget}. */
export function StacksField({ target }: { target: AlertTarget | undefined }) {
  return (
    <TextField
      label="Stacks"
      name={keyOf("stacks")}
      value={target?.kind === "stacks" ? target.stacks?.join(", ") : undefined}
      placeholder="shop"
      hint="Names; * stands for any text. Empty: all stacks"
    />
  );
}

/** The stacks in a form's values. */
export function stacksTarget(values: FormValues): AlertTarget {
  const stacks = listOf(values[keyOf("stacks")]);
  return { kind: "stacks", ...(stacks && { stacks }) };
}

/** The containers in a form's values. */
export function containersTarget(values: FormValues): Target {
  const containers = listOf(values[keyOf("containers")]);
  const stacks = listOf(values[keyOf("stacks")]);
  const labels = pairsOf(values[keyOf("labels")]);
  return {
    kind: "containers",
    ...(containers && { containers }),
    ...(stacks && { stacks }),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
}
