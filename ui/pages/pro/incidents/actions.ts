/** Actions on an incident. @module */

import { api } from "../../../api/client.ts";
import type { Incident } from "../../../api/types.ts";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import type { MenuItem } from "../../../components/menu.tsx";
import { count, plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";

export function incidentActions(
  incident: Incident,
  { onStatus, onEdit, onDelete }: Record<"onStatus" | "onEdit" | "onDelete", () => void>,
): MenuItem[] {
  return [
    ...hasRole("operator", "incidents:write")
      ? [{ name: "Change status", onSelect: onStatus }]
      : [],
    ...hasRole("admin", "incidents:write")
      ? [
        { name: "Edit", onSelect: onEdit },
        deleteItem(() => remove(incident), onDelete),
      ]
      : [],
  ];
}

async function remove({ id, title }: Incident): Promise<boolean> {
  const path = { id };
  const entries = await api("GET /api/ext/service-pro/incidents/{id}", { path })
    .then(({ timeline }) => count(timeline.length, "timeline entry", "timeline entries"))
    .catch(() => "timeline");
  const consequence = `The incident “${plain(title)}” and its ${entries} are deleted.`;
  return await deleteConfirmed(
    title,
    consequence,
    () => api("DELETE /api/ext/service-pro/incidents/{id}", { path }),
  );
}
