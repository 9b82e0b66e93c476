/** Events about status pages (Pro). @module */

import { change, joined, moment } from "../text.ts";
import { kind } from "./kind.ts";

export const statusPageKinds = [
  kind("status_page.updated", {
    data: {} as {
      page: string;
      pageId: string;
      component: string | null;
      incident: string | null;
      /** The title of a planned maintenance; only there for one, as are its times. */
      maintenance?: string;
      startsAt?: string;
      endsAt?: string;
      oldStatus: string | null;
      newStatus: string;
      message: string | null;
    },
    description:
      "A status page shows a change of a component, an incident or a planned maintenance (Pro)",
    group: "Status pages",
    words: "changed",
    title: "Status page",
    name: (field) =>
      [field("page"), field("component") || field("incident") || field("maintenance")]
        .filter(Boolean).join(", "),
    lines: (field, text) => [
      change(field("oldStatus"), field("newStatus")),
      joined("Starts: ", moment(field("startsAt"))),
      joined("Ends: ", moment(field("endsAt"))),
      text("message"),
    ],
    toneOf: (field) =>
      ["operational", "resolved", "completed"].includes(field("newStatus")) ? "good" : undefined,
    page: "/status-pages",
    permission: "status_pages:read",
    subject: ({ component, incident, maintenance, pageId }) => ({
      key: `status_page ${pageId} ${component ?? incident ?? maintenance ?? ""}`,
      kind: "incident",
    }),
  }),
];
