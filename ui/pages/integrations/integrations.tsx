/** Integrations: other systems that are polled for metrics, alerts and events. @module */

import { api } from "../../api/client.ts";
import type { Integration, IntegrationAdapter } from "../../api/types.ts";
import { type Column, NAME_COLUMN, textColumn, timeColumn } from "../../components/columns.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { reloadAll, useRead } from "../../components/reading.ts";
import { Reason, State } from "../../components/states.tsx";
import { count, milliseconds, plain } from "../../base/text.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { IntegrationForm } from "./form.tsx";
import { Records } from "./records.tsx";
import { ResourcePage } from "../../components/resource.tsx";
import type { EditProps } from "../../components/form.tsx";

export default function Integrations() {
  const integrations = useRead("GET /api/integrations", {});
  const known = useRead("GET /api/integrations/adapters", {});
  const { reload } = integrations;
  const dialog = useDialog();
  const adapters = known.data.value?.adapters;
  const Form = (props: EditProps<Integration>) => (
    <IntegrationForm
      {...props}
      adapters={adapters!.filter(({ id, available }) => available || id === props.item?.adapter)}
    />
  );
  return (
    <ResourcePage
      title="Integrations"
      noun="integration"
      reading={{
        error: { value: integrations.error.value ?? known.error.value },
        reload: reloadAll(integrations, known),
      }}
      rows={integrations.data.value?.integrations}
      onChange={reload}
      columns={columns(adapters ?? [])}
      write={["admin", "integrations:write"]}
      form={adapters && Form}
      enable={({ id }, enabled) =>
        api("PUT /api/integrations/{id}", { path: { id }, body: { enabled } })}
      actions={(integration, { edit, remove, mayWrite }) => [
        ...edit,
        ...mayWrite
          ? [
            { name: "Test", onSelect: () => void test(integration) },
            { name: "Poll", onSelect: () => void poll(integration).then(reload) },
          ]
          : [],
        { name: "Data", onSelect: () => dialog.open(Records, { integration }) },
        ...remove,
      ]}
      deletion={{
        consequence: describeLoss,
        work: ({ id }) => api("DELETE /api/integrations/{id}", { path: { id } }),
      }}
      dialog={dialog}
      defaultSort="name"
      hasTallRows
      empty={"No integrations yet. An integration polls another system, e.g. Prometheus or " +
        "Grafana, for metrics, alerts and events."}
    />
  );
}

const columns = (adapters: readonly IntegrationAdapter[]): readonly Column<Integration>[] => {
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
  ];
};

const STATUSES = {
  ok: { name: "OK", tone: "good" },
  error: { name: "error", tone: "bad" },
  never: { name: "not polled", tone: "idle" },
} as const;

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

async function describeLoss({ id, name }: Integration): Promise<string> {
  const records = await api("GET /api/integrations/{id}/data", {
    path: { id },
    query: { limit: 1 },
  }).then(({ total }) => count(total, "record")).catch(() => "records");
  return `The integration ${plain(name)}, its credentials and its ${records} are deleted.`;
}
