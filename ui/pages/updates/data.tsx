/** Data that an update or a deploy keeps, to bring it back after a failure. @module */

import type { ContainerUpdatePlan } from "../../api/types.ts";
import { Fact } from "../../components/facts.tsx";
import { Icon } from "../../components/icon.tsx";
import { bytes, count, plain } from "../../base/text.ts";

export type DataChoice = ContainerUpdatePlan["data"]["choice"];

export function DataField({ isUndone, onChange }: {
  isUndone: boolean;
  onChange: (choice: DataChoice) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isUndone}
        onChange={(event) => onChange(event.currentTarget.checked ? "undo" : "keep")}
      />
      Bring the data back if it fails
    </label>
  );
}

/** Nothing if the data stays as it is written. */
export function DataFact({ data }: { data: ContainerUpdatePlan["data"] }) {
  if (data.choice !== "undo") return null;
  return (
    <Fact name="Data kept before">
      <span class="wrap">{describeData(data)}</span>
    </Fact>
  );
}

/** E.g. `shop_data (12 MB), at This host, for 7 days`. */
function describeData({ volumes, target, keptDays }: ContainerUpdatePlan["data"]): string {
  if (volumes.length === 0) return "Nothing that is replaced writes to a volume";
  const names = volumes.map(({ name, size }) =>
    size === null ? plain(name) : `${plain(name)} (${bytes(size)})`
  );
  const place = target === null ? "a new target on this host" : plain(target);
  return `${names.join(", ")}, at ${place}, for ${count(keptDays, "day")}`;
}

export function PlanNotes(
  { plan: { obstacles, warnings } }: {
    plan: Pick<ContainerUpdatePlan, "obstacles" | "warnings">;
  },
) {
  return [...obstacles.map(({ message }) => message), ...warnings].map((message) => (
    <div key={message} class="note warn">
      <Icon name="alert" />
      <p class="wrap">{plain(message)}</p>
    </div>
  ));
}
