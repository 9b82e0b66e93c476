/** Actions on an SLA. @module */

import { api } from "../../../api/client.ts";
import type { SlaDefinition } from "../../../api/types.ts";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import type { MenuItem } from "../../../components/menu.tsx";
import { count, plain } from "../../../base/text.ts";
import { withResult } from "../../../state/toasts.ts";

/** For admins. */
export function slaActions(
  sla: SlaDefinition,
  { onChange, onEdit, onDelete = onChange }: {
    onChange: () => void;
    onEdit: () => void;
    onDelete?: () => void;
  },
): MenuItem[] {
  return [
    { name: "Recalculate", onSelect: () => void recalculate(sla).then(onChange) },
    { name: "Edit", onSelect: onEdit },
    deleteItem(() => remove(sla), onDelete),
  ];
}

async function recalculate({ id, name }: SlaDefinition): Promise<void> {
  await withResult(
    `Recalculated ${plain(name)}`,
    () => api("POST /api/ext/service-pro/sla/definitions/{id}/recalculate", { path: { id } }),
  );
}

async function remove({ id, name }: SlaDefinition): Promise<boolean> {
  const path = { id };
  const totals = await Promise.all([
    api("GET /api/ext/service-pro/sla/definitions/{id}/periods", { path, query: { limit: 1 } }),
    api("GET /api/ext/service-pro/sla/definitions/{id}/breaches", { path, query: { limit: 1 } }),
  ]).catch(() => undefined);
  const periods = totals ? count(totals[0].total, "period") : "periods";
  const breaches = totals ? count(totals[1].total, "breach", "breaches") : "breaches";
  const consequence = `The SLA ${plain(name)}, its ${periods} and ${breaches} are deleted. ` +
    "Monitors and their outages are kept.";
  return await deleteConfirmed(
    name,
    consequence,
    () => api("DELETE /api/ext/service-pro/sla/definitions/{id}", { path }),
  );
}
