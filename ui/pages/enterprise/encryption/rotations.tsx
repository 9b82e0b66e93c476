/** The rotations of the encryption key. @module */

import type { KeyRotation, KeyRotationPage } from "../../../api/types.ts";
import { Listing } from "../../../components/listing.tsx";
import type { MenuItem } from "../../../components/menu.tsx";
import { Section } from "../../../components/page.tsx";
import type { Reading } from "../../../components/reading.ts";
import { State, Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { Time } from "../../../components/time.tsx";
import { userName, type UserOption } from "../../../parts/user_name.ts";
import { RESULTS, type RotationEnd } from "./rotation_form.tsx";

export function Rotations({ reading: { data, error, reload }, users, onEnd }: {
  reading: Reading<KeyRotationPage>;
  users: readonly UserOption[];
  onEnd: (rotation: KeyRotation, status: RotationEnd) => void;
}) {
  const page = data.value;
  const menuOf = (rotation: KeyRotation): MenuItem[] =>
    (Object.keys(RESULTS) as RotationEnd[]).map((status) => ({
      name: RESULTS[status],
      danger: status !== "completed",
      onSelect: rotation.status === "pending" ? () => onEnd(rotation, status) : undefined,
    }));
  return (
    <Section title="Key rotations">
      <Listing
        name="Key rotations"
        columns={columns(users)}
        rows={page?.rotations}
        total={page?.total}
        reading={{ error, reload }}
        nameOf={({ started_at: at }) => `rotation of ${at.slice(0, 10)}`}
        actionsFor={["admin", "encryption:write"]}
        actions={menuOf}
        empty="No rotation has been recorded yet."
      />
    </Section>
  );
}

const TONES = { pending: "busy", completed: "good", failed: "bad", cancelled: "idle" } as const;

const columns = (users: readonly UserOption[]): readonly Column<KeyRotation>[] => [
  {
    title: "Status",
    cell: ({ status }) => <State state={status} tone={TONES[status]} />,
    width: "w-m",
  },
  { title: "Started", cell: ({ started_at: at }) => <Time at={at} />, width: "w-s" },
  { title: "Finished", cell: ({ completed_at: at }) => <Time at={at} />, wide: true, width: "w-s" },
  {
    title: "Started by",
    cell: ({ initiated_by: id }) => <Text>{userName(users, id)}</Text>,
    wide: true,
  },
  { title: "Notes", cell: ({ notes }) => <Text>{notes || "–"}</Text>, wide: true },
];
