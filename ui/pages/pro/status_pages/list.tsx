/** Status pages: what users of the operator's services see. @module */

import { api } from "../../../api/client.ts";
import type { StatusPage, StatusPageDetail } from "../../../api/types.ts";
import { type Column, linkColumn } from "../../../components/columns.tsx";
import { useDetails } from "../../../parts/details.ts";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { Badge } from "../../../components/states.tsx";
import { PAGE_DELETION } from "./deletion.ts";
import { Address } from "./address.tsx";
import { PageForm } from "./form.tsx";
import { ComponentStatus } from "./words.tsx";
import { ResourcePage } from "../../../components/resource.tsx";

/** A page with its status, once that is read. */
type Row = StatusPage & Partial<StatusPageDetail>;

const COLUMNS: readonly Column<Row>[] = [
  linkColumn("/status-pages"),
  {
    title: "Address",
    cell: (page) => (
      <span class="target">
        <Address page={page} /> {!page.is_public && <Badge>Not public</Badge>}
      </span>
    ),
    sort: ({ custom_domain: domain, slug }) => domain ?? slug,
    wide: true,
  },
  {
    title: "Status",
    cell: ({ overall_status: status }) => status && <ComponentStatus status={status} />,
    sort: ({ overall_status: status }) => status,
    width: "w-l",
  },
  {
    title: "Incidents",
    cell: ({ active_incidents: incidents }) =>
      incidents && (incidents.length > 0 ? `${incidents.length} open` : "–"),
    sort: ({ active_incidents: incidents }) => incidents?.length,
    width: "w-m",
    wide: true,
  },
];

export default function StatusPages() {
  const reading = useRead("GET /api/ext/service-pro/status-pages", {});
  useReloadOn("status_page.", reading.reload);
  const pages = reading.data.value?.pages;
  const details = useDetails(
    pages,
    (pageId, signal) =>
      api("GET /api/ext/service-pro/status-pages/{pageId}", { path: { pageId } }, { signal }),
  );
  const rows = pages?.map((page): Row => ({ ...details.value.get(page.id), ...page }));
  return (
    <ResourcePage
      title="Status pages"
      noun="status page"
      reading={reading}
      rows={rows}
      total={reading.data.value?.total}
      columns={COLUMNS}
      write={["admin", "status_pages:write"]}
      form={PageForm}
      deletion={PAGE_DELETION}
      defaultSort="name"
      empty={"No status pages yet. A status page shows your users what works, and what is being " +
        "done about the rest."}
    />
  );
}
