/** Status pages: what users of the operator's services see. @module */

import { api } from "../../../api/client.ts";
import type { StatusPage, StatusPageDetail } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { linkColumn } from "../../../components/columns.tsx";
import { useDetails } from "../../../parts/details.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { Badge } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { hasRole } from "../../../state/session.ts";
import { pageActions } from "./actions.ts";
import { Address } from "./address.tsx";
import { PageForm } from "./form.tsx";
import { ComponentStatus } from "./words.tsx";

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
  const { data, error, reload } = useRead("GET /api/ext/service-pro/status-pages", {});
  useReloadOn("status_page.", reload);
  const dialog = useDialog();
  const edit = (page?: StatusPage) => dialog.open(PageForm, { page, onSaved: reload });
  const pages = data.value?.pages;
  const details = useDetails(
    pages,
    (pageId, signal) =>
      api("GET /api/ext/service-pro/status-pages/{pageId}", { path: { pageId } }, { signal }),
  );
  const rows = pages?.map((page): Row => ({ ...details.value.get(page.id), ...page }));
  const create = hasRole("admin", "status_pages:write") && (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => edit()}
    >
      New status page
    </Button>
  );
  return (
    <Page title="Status pages" actions={create}>
      <Listing
        name="Status pages"
        columns={COLUMNS}
        rows={rows}
        total={data.value?.total}
        error={error.value}
        onRetry={reload}
        actionsFor={["admin", "status_pages:write"]}
        actions={(page) => pageActions(page, { onEdit: () => edit(page), onDelete: reload })}
        defaultSort="name"
        empty={"No status pages yet. A status page shows your users what works, and what is being " +
          "done about the rest."}
      />
      {dialog.shown}
    </Page>
  );
}
