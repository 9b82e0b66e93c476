/** Silences: about what nothing is sent for some time. @module */

import { api } from "../../api/client.ts";
import type { Silence } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import { Section } from "../../components/page.tsx";
import type { Reading } from "../../components/reading.ts";
import { State } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { SilenceForm } from "./silence_form.tsx";

export function Silences({ reading: { data, error, reload } }: {
  reading: Reading<{ silences: Silence[] }>;
}) {
  const dialog = useDialog();
  const edit = (silence?: Silence) => dialog.open(SilenceForm, { silence, onSaved: reload });
  const canChange = hasRole("operator", "alerts:write");
  return (
    <Section
      title="Silences"
      actions={canChange && <Button icon="plus" onClick={() => edit()}>New silence</Button>}
    >
      <Listing
        name="Silences"
        columns={COLUMNS}
        rows={data.value?.silences}
        error={error.value}
        onRetry={reload}
        nameOf={nameOf}
        hasTallRows
        actionsFor={["operator", "alerts:write"]}
        actions={(silence) => [
          ...(silence.state === "ended" ? [] : [{ name: "Edit", onSelect: () => edit(silence) }]),
          deleteItem(() => remove(silence), reload),
        ]}
        empty={"No silences yet. A silence holds back messages about a known problem until a time " +
          "that you set."}
      />
      {dialog.shown}
    </Section>
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

const remove = (silence: Silence): Promise<boolean> =>
  deleteConfirmed(
    nameOf(silence),
    silence.state === "active"
      ? "The silence ends now. What it held back and is still wrong is reported."
      : "The silence is removed from the list.",
    () => api("DELETE /api/silences/{id}", { path: { id: silence.id } }),
  );
