/** Integrations: other systems that are polled for metrics, alerts and events. @module */

import { api } from "../../api/client.ts";
import type { Integration, IntegrationAdapter } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { enabledColumn, NAME_COLUMN, textColumn, timeColumn } from "../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Page } from "../../components/page.tsx";
import { reloadAll, useRead } from "../../components/reading.ts";
import { Reason, State } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { count, milliseconds, plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { IntegrationForm } from "./form.tsx";
import { Records } from "./records.tsx";

export default function Integrations() {
  const integrations = useRead("GET /api/integrations", {});
  const { reload } = integrations;
  const known = useRead("GET /api/integrations/adapters", {});
  const dialog = useDialog();
  const adapters = known.data.value?.adapters;
  const edit = (integration?: Integration) =>
    dialog.open(IntegrationForm, {
      integration,
      adapters: adapters!.filter(({ id, available }) => available || id === integration?.adapter),
      onSaved: reload,
    });
  return (
    <Page
      title="Integrations"
      actions={hasRole("admin", "integrations:write") && adapters && (
        <Button
          kind="primary"
          icon="plus"
          onClick={() => edit()}
        >
          New integration
        </Button>
      )}
    >
      <Listing
        name="Integrations"
        columns={columns(adapters ?? [], reload)}
        rows={integrations.data.value?.integrations}
        error={integrations.error.value ?? known.error.value}
        onRetry={reloadAll(integrations, known)}
        actions={(integration) =>
          menuOf(integration, {
            onChange: reload,
            onEdit: adapters && (() => edit(integration)),
            onData: () => dialog.open(Records, { integration }),
          })}
        defaultSort="name"
        hasTallRows
        empty={"No integrations yet. An integration polls another system, e.g. Prometheus or " +
          "Grafana, for metrics, alerts and events."}
      />
      {dialog.shown}
    </Page>
  );
}

const columns = (
  adapters: readonly IntegrationAdapter[],
  onChange: () => void,
): readonly Column<Integration>[] => {
  const nameOf = ({ adapter }: Integration) =>
    adapters.find(({ id }) => id === adapter)?.name ?? adapter;
  return [
    NAME_COLUMN,
    textColumn("Adapter", nameOf, { wide: true }),
    {
      title: "Status",
      cell: ({ last_status: status, last_error: problem }) => (
        <>
          <State state={STATUSES[status].name} tone={STATUSES[status].tone} />
          <Reason>{problem}</Reason>
        </>
      ),
      sort: ({ last_status: status }) => status,
    },
    timeColumn("Last poll", ({ last_poll_at: at }) => at, { width: "w-m", wide: true }),
    enabledColumn(
      "integrations:write",
      ({ id }, enabled) => api("PUT /api/integrations/{id}", { path: { id }, body: { enabled } }),
      onChange,
    ),
  ];
};

const STATUSES = {
  ok: { name: "OK", tone: "good" },
  error: { name: "error", tone: "bad" },
  never: { name: "not polled", tone: "idle" },
} as const;

function menuOf(integration: Integration, { onChange, onEdit, onData }: {
  onChange: () => void;
  /** `undefined` until the adapters are known. */
  onEdit: (() => void) | undefined;
  onData: () => void;
}): MenuItem[] {
  const data = { name: "Data", onSelect: onData };
  if (!hasRole("admin", "integrations:write")) return [data];
  return [
    { name: "Edit", onSelect: onEdit },
    { name: "Test", onSelect: () => void test(integration) },
    { name: "Poll", onSelect: () => void poll(integration).then(onChange) },
    data,
    deleteItem(() => remove(integration), onChange),
  ];
}

/** A system that does not answer is a result of the test, not a refusal. */
async function test({ id, name }: Integration): Promise<void> {
  try {
    const result = await api("POST /api/integrations/{id}/test", { path: { id } });
    const time = milliseconds(result.latency_ms);
    if (result.ok) showStatus(`Tested ${plain(name)}: it answered in ${time}`);
    else showAlert(`Test of ${plain(name)} failed: ${plain(result.error ?? "no reason given")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

async function poll({ id, name }: Integration): Promise<void> {
  try {
    const result = await api("POST /api/integrations/{id}/poll", { path: { id } });
    if (result.ok) showStatus(`Polled ${plain(name)}: ${count(result.records, "record")}`);
    else showAlert(`Poll of ${plain(name)} failed: ${plain(result.error ?? "no reason given")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

async function remove({ id, name }: Integration): Promise<boolean> {
  const path = { id };
  const records = await api("GET /api/integrations/{id}/data", { path, query: { limit: 1 } })
    .then(({ total }) => count(total, "record")).catch(() => "records");
  const consequence = `The integration ${plain(name)}, its credentials and its ${records} are ` +
    "deleted.";
  return await deleteConfirmed(
    name,
    consequence,
    () => api("DELETE /api/integrations/{id}", { path }),
  );
}
