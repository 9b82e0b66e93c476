/** Actions on an SLA. @module */

import { api } from "../../../api/client.ts";
import type { SlaDefinition } from "../../../api/types.ts";
import type { MenuItem } from "../../../components/menu.tsx";
import { count, plain } from "../../../base/text.ts";
import { withResult } from "../../../state/toasts.ts";
import type { Deletion } from "../../../components/deletion.ts";

/** The item of an SLA's menu for admins. */
export const recalculateItem = (sla: SlaDefinition, onChange: () => void): MenuItem => ({
  name: "Recalculate",
  onSelect: () => void recalculate(sla).then(onChange),
});

export const SLA_DELETION: Deletion<SlaDefinition> = {
  consequence: describeLoss,
  work: ({ id }) => api("DELETE /api/ext/service-pro/sla/definitions/{id}", { path: { id } }),
};

async function recalculate({ id, name }: SlaDefinition): Promise<void> {
  await withResult(
    `Recalculated ${plain(name)}`,
    () => api("POST /api/ext/service-pro/sla/definitions/{id}/recalculate", { path: { id } }),
  );
}

async function describeLoss({ id, name }: SlaDefinition): Promise<string> {
  const path = { id };
  const totals = await Promise.all([
    api("GET /api/ext/service-pro/sla/definitions/{id}/periods", { path, query: { limit: 1 } }),
    api("GET /api/ext/service-pro/sla/definitions/{id}/breaches", { path, query: { limit: 1 } }),
  ]).catch(() => undefined);
  const periods = totals ? count(totals[0].total, "period") : "periods";
  const breaches = totals ? count(totals[1].total, "breach", "breaches") : "breaches";
  return `The SLA ${plain(name)}, its ${periods} and ${breaches} are deleted. ` +
    "Monitors and their outages are kept.";
}
