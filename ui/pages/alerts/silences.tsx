/** Silences: about what nothing is sent for some time. @module */

import { api } from "../../api/client.ts";
import type { Silence } from "../../api/types.ts";
import type { Reading } from "../../components/reading.ts";
import { State } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { SilenceForm } from "./silence_form.tsx";
import { ResourceSection } from "../../components/resource.tsx";

export function Silences({ reading }: { reading: Reading<{ silences: Silence[] }> }) {
  return (
    <ResourceSection
      title="Silences"
      noun="silence"
      reading={reading}
      rows={reading.data.value?.silences}
      columns={COLUMNS}
      nameOf={nameOf}
      write={["operator", "alerts:write"]}
      form={SilenceForm}
      actionsFor={["operator", "alerts:write"]}
      actions={({ state }, { edit, remove }) => state === "ended" ? remove : [...edit, ...remove]}
      deletion={{
        consequence: ({ state }) =>
          state === "active"
            ? "The silence ends now. What it held back and is still wrong is reported."
            : "The silence is removed from the list.",
        work: ({ id }) => api("DELETE /api/silences/{id}", { path: { id } }),
      }}
      hasTallRows
      empty={"No silences yet. A silence holds back messages about a known problem until a time " +
        "that you set."}
    />
  );
}

/** E.g. `container batch*, severity info`. */
const nameOf = ({ matchers }: Silence): string =>
  Object.entries(matchers).map(([name, value]) => `${name} ${value}`).join(", ");

const TONES = { pending: "busy", active: "warn", ended: "idle" } as const;

const COLUMNS: readonly Column<Silence>[] = [
  {
    title: "Matches",
    cell: (silence) => (
      <>
        <p>{plain(nameOf(silence))}</p>
        {silence.comment !== "" && <p class="hint">{plain(silence.comment)}</p>}
      </>
    ),
  },
  {
    title: "State",
    cell: ({ state }) => <State state={state} tone={TONES[state]} />,
    width: "w-s",
  },
  { title: "Starts", cell: ({ startsAt }) => <Time at={startsAt} />, width: "w-s", wide: true },
  { title: "Ends", cell: ({ endsAt }) => <Time at={endsAt} />, width: "w-s" },
];
