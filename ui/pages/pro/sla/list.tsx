/** SLAs: what was promised, and how much of the error budget is left. @module */

import { api } from "../../../api/client.ts";
import type { SlaDefinition, SlaDefinitionDetail } from "../../../api/types.ts";
import { type Column, linkColumn, numberColumn } from "../../../components/columns.tsx";
import { useDetails } from "../../../parts/details.ts";
import { Section } from "../../../components/page.tsx";
import { reloadAll, useRead, useReloadOn } from "../../../components/reading.ts";
import { count, uptime } from "../../../base/text.ts";
import { recalculateItem, SLA_DELETION } from "./actions.ts";
import { Breaches } from "./breaches.tsx";
import { BudgetLeft } from "./budget.tsx";
import { SlaForm } from "./form.tsx";
import { ResourcePage } from "../../../components/resource.tsx";

const BREACHES_SHOWN = 20;

/** A definition with its current period, once that is read. */
type Row = SlaDefinition & Partial<SlaDefinitionDetail>;

const COLUMNS: readonly Column<Row>[] = [
  linkColumn("/sla"),
  {
    title: "Monitors",
    cell: ({ monitor_ids: ids }) => count(ids.length, "monitor"),
    sort: ({ monitor_ids: ids }) => ids.length,
    width: "w-m",
    wide: true,
  },
  {
    title: "Target",
    cell: ({ target_uptime: target, period_type: period }) => (
      <>
        {target} % <span class="muted">{period}</span>
      </>
    ),
    sort: ({ target_uptime: target }) => target,
    width: "w-l",
    wide: true,
  },
  numberColumn("Uptime", ({ current_status: status }) => status?.period.actual_uptime, uptime, {
    width: "w-s",
    wide: true,
  }),
  {
    title: "Budget left",
    cell: ({ current_status: status }) => status && <BudgetLeft budget={status.budget} />,
    sort: ({ current_status: status }) => status?.budget.remaining_percentage,
    width: "w-l",
  },
];

export default function Slas() {
  const slas = useRead("GET /api/ext/service-pro/sla/definitions", {});
  const breaches = useRead("GET /api/ext/service-pro/sla/breaches", {
    query: { limit: BREACHES_SHOWN },
  });
  const reload = reloadAll(slas, breaches);
  useReloadOn("sla.", reload);
  useReloadOn("monitor.", reload);
  const definitions = slas.data.value?.definitions;
  const details = useDetails(
    definitions,
    (id, signal) =>
      api("GET /api/ext/service-pro/sla/definitions/{id}", { path: { id } }, { signal }),
  );
  const rows = definitions?.map((each): Row => ({ ...details.value.get(each.id), ...each }));
  const names = new Map(definitions?.map(({ id, name }) => [id, name]));
  return (
    <ResourcePage
      title="SLA"
      name="SLAs"
      noun="SLA"
      reading={{ error: slas.error, reload }}
      rows={rows}
      columns={COLUMNS}
      write={["admin", "sla:write"]}
      form={SlaForm}
      actionsFor={["admin", "sla:write"]}
      actions={(sla, { edit, remove }) => [recalculateItem(sla, reload), ...edit, ...remove]}
      deletion={SLA_DELETION}
      defaultSort="name"
      empty={"No SLAs yet. An SLA sets the uptime that was promised for a group of monitors, and " +
        "counts the downtime that is left."}
    >
      <div class="below">
        <Section title="Recent breaches">
          <Breaches
            breaches={breaches.data.value?.breaches}
            names={names}
            reading={breaches}
          />
        </Section>
      </div>
    </ResourcePage>
  );
}
