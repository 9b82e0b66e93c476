/** One status page: its components, incidents, planned maintenance and subscribers. @module */

import type { ComponentType } from "preact";
import { useDialog } from "../../../components/dialog.tsx";
import { Menu } from "../../../components/menu.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { Badge, Failure } from "../../../components/states.tsx";
import { Tabs } from "../../../components/tabs.tsx";
import { plain } from "../../../base/text.ts";
import { Unavailable } from "../../../parts/unavailable.tsx";
import { navigate } from "../../../state/router.ts";
import { hasRole } from "../../../state/session.ts";
import { PAGE_DELETION } from "./deletion.ts";
import { Address } from "./address.tsx";
import { Components } from "./components.tsx";
import { PageForm } from "./form.tsx";
import { Incidents } from "./incidents.tsx";
import { Maintenances } from "./maintenances.tsx";
import { Subscribers } from "./subscribers.tsx";
import type { TabProps } from "./tab.ts";
import { ComponentStatus } from "./words.tsx";
import { deleteItem } from "../../../components/deletion.ts";

const TABS: readonly { name: string; Body: ComponentType<TabProps> }[] = [
  { name: "Components", Body: Components },
  { name: "Incidents", Body: Incidents },
  { name: "Maintenance", Body: Maintenances },
  { name: "Subscribers", Body: Subscribers },
];

export default function Detail({ id = "", tab }: Record<string, string | undefined>) {
  const pageId = decodeURIComponent(id);
  const reading = useRead("GET /api/ext/service-pro/status-pages/{pageId}", { path: { pageId } });
  const { data, error, reload } = reading;
  useReloadOn("status_page.", reload);
  const dialog = useDialog();
  const page = data.value;

  if (!page || error.value?.status === 404) {
    return (
      <Unavailable
        name="Status page"
        list="/status-pages"
        things="status pages"
        reading={reading}
      />
    );
  }
  const edit = () => dialog.open(PageForm, { item: page, onSaved: reload });
  const open = TABS.find(({ name }) => name.toLowerCase() === tab) ?? TABS[0]!;
  const base = `/status-pages/${id}`;
  const actions = hasRole("admin", "status_pages:write") && (
    <Menu
      name="More actions"
      items={() => [
        { name: "Edit", onSelect: edit },
        deleteItem(page, PAGE_DELETION, () => navigate("/status-pages")),
      ]}
    />
  );
  return (
    <Page
      title={plain(page.name)}
      lead={
        <>
          <ComponentStatus status={page.overall_status} />
          {!page.is_public && <Badge>Not public</Badge>}
          <Address page={page} />
        </>
      }
      actions={actions}
    >
      {error.value && <Failure error={error.value} onRetry={reload} />}
      <Tabs
        name="Status page"
        current={open.name}
        tabs={TABS.map(({ name }, at) => ({
          name,
          to: at === 0 ? base : `${base}/${name.toLowerCase()}`,
        }))}
      >
        <open.Body page={page} onChange={reload} />
      </Tabs>
      {dialog.shown}
    </Page>
  );
}
