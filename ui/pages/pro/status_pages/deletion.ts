/** The deletion of a status page. @module */

import { api } from "../../../api/client.ts";
import type { StatusPage } from "../../../api/types.ts";
import type { Deletion } from "../../../components/deletion.ts";
import { count, plain } from "../../../base/text.ts";

export const PAGE_DELETION: Deletion<StatusPage> = {
  consequence: describeLoss,
  work: ({ id }) =>
    api("DELETE /api/ext/service-pro/status-pages/{pageId}", { path: { pageId: id } }),
};

async function describeLoss({ id, name }: StatusPage): Promise<string> {
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
  return `The status page ${plain(name)} with its ${parts[0]}, ${parts[1]} and ${parts[2]} is ` +
    "deleted, and its address answers no longer.";
}
