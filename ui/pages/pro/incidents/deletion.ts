/** The deletion of an incident. @module */

import { api } from "../../../api/client.ts";
import type { Incident } from "../../../api/types.ts";
import type { Deletion } from "../../../components/deletion.ts";
import { count, plain } from "../../../base/text.ts";

export const INCIDENT_DELETION: Deletion<Incident> = {
  access: ["admin", "incidents:write"],
  async consequence({ id, title }) {
    const entries = await api("GET /api/ext/service-pro/incidents/{id}", { path: { id } })
      .then(({ timeline }) => count(timeline.length, "timeline entry", "timeline entries"))
      .catch(() => "timeline");
    return `The incident “${plain(title)}” and its ${entries} are deleted.`;
  },
  work: ({ id }) => api("DELETE /api/ext/service-pro/incidents/{id}", { path: { id } }),
};
