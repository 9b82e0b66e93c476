/** Actions on a status page. @module */

import { api } from "../../../api/client.ts";
import type { StatusPage } from "../../../api/types.ts";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import type { MenuItem } from "../../../components/menu.tsx";
import { count, plain } from "../../../base/text.ts";

/** For admins. */
export function pageActions(
  page: StatusPage,
  { onEdit, onDelete }: Record<"onEdit" | "onDelete", () => void>,
): MenuItem[] {
  return [
    { name: "Edit", onSelect: onEdit },
    deleteItem(() => remove(page), onDelete),
  ];
}

async function remove({ id, name }: StatusPage): Promise<boolean> {
  const path = { pageId: id };
  const one = { path, query: { limit: 1 } };
  const parts = await Promise.all([
    api("GET /api/ext/service-pro/status-pages/{pageId}/components", { path })
      .then(({ components }) => count(components.length, "component")),
    api("GET /api/ext/service-pro/status-pages/{pageId}/incidents", one)
      .then(({ total }) => count(total, "incident")),
    api("GET /api/ext/service-pro/status-pages/{pageId}/subscribers", one)
      .then(({ total }) => count(total, "subscriber")),
  ]).catch(() => ["components", "incidents", "subscribers"]);
  const consequence = `The status page ${plain(name)} with its ${parts[0]}, ${parts[1]} and ` +
    `${parts[2]} is deleted, and its address answers no longer.`;
  return await deleteConfirmed(
    name,
    consequence,
    () => api("DELETE /api/ext/service-pro/status-pages/{pageId}", { path }),
  );
}
