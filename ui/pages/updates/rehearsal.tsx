/** The rehearsal of an update on a copy of its data. @module */

import type { ContainerUpdatePlan } from "../../api/types.ts";
import { Fact } from "../../components/facts.tsx";
import { Icon } from "../../components/icon.tsx";
import { plain } from "../../base/text.ts";

export function RehearsalField({ isChosen, onChange }: {
  isChosen: boolean;
  onChange: (isChosen: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChosen}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      Rehearse it on a copy of the data first
    </label>
  );
}

/** Facts of the plan about it; nothing without a rehearsal. */
export function RehearsalFacts(
  { rehearsal }: { rehearsal: ContainerUpdatePlan["rehearsal"] },
) {
  if (!rehearsal) return null;
  const { containers, copied, leftOut, obstacle } = rehearsal;
  const list = (names: readonly string[]) => names.map(plain).join(", ");
  return (
    <>
      {obstacle !== null && (
        <Fact name="No rehearsal">
          <Icon name="alert" /> <span class="wrap">{plain(obstacle)}</span>
        </Fact>
      )}
      <Fact name="Rehearsed with">{list(containers)}</Fact>
      {copied.length > 0 && (
        <Fact name="Copied">
          <span class="wrap">{list(copied)}</span>
        </Fact>
      )}
      {leftOut.length > 0 && (
        <Fact name="Not in the copy">
          <span class="wrap">{list(leftOut)}</span>
        </Fact>
      )}
    </>
  );
}
