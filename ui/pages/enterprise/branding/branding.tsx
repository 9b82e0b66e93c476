/** Branding: name, logos and colors of the service. @module */

import { api } from "../../../api/client.ts";
import type { BrandList } from "../../../api/types.ts";
import { type Column, NAME_COLUMN, textColumn, timeColumn } from "../../../components/columns.tsx";
import { useRead } from "../../../components/reading.ts";
import { Badge } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import { withResult } from "../../../state/toasts.ts";
import { BrandForm } from "./brand_form.tsx";
import { ResourcePage } from "../../../components/resource.tsx";
import { addStyles } from "../../../components/styles.ts";
import styles from "./branding.css" with { type: "text" };

addStyles(styles);

/** A brand of the list, without its style sheet. */
type ListedBrand = BrandList["brands"][number];

export default function Branding() {
  const reading = useRead("GET /api/ext/service-enterprise/branding", {});
  return (
    <ResourcePage
      title="Branding"
      name="Brands"
      noun="brand"
      reading={reading}
      rows={reading.data.value?.brands}
      columns={COLUMNS}
      write={["admin", "settings:write"]}
      form={BrandForm}
      readItem={({ id }) => api("GET /api/ext/service-enterprise/branding/{id}", { path: { id } })}
      actionsFor={["admin", "settings:write"]}
      actions={(brand, { edit, remove }) => [
        {
          name: "Activate",
          onSelect: brand.is_active ? undefined : () => void activate(brand).then(reading.reload),
        },
        ...edit,
        ...remove,
      ]}
      deletion={{
        consequence: ({ name, is_active: isActive }) =>
          `The brand ${plain(name)} is deleted.` +
          (isActive ? " It is active: pages and mails get the built-in design again." : ""),
        work: ({ id }) => api("DELETE /api/ext/service-enterprise/branding/{id}", { path: { id } }),
      }}
      defaultSort="name"
      empty={"No brands yet. The active brand gives the dashboard your name and colors, and the API page, " +
        "status pages and mails your logo, too."}
    />
  );
}

const COLUMNS: readonly Column<ListedBrand>[] = [
  NAME_COLUMN,
  {
    title: "Status",
    cell: ({ is_active: isActive }) =>
      isActive ? <Badge tone="good">Active</Badge> : <span class="muted">Not active</span>,
    sort: ({ is_active: isActive }) => Number(!isActive),
    width: "w-m",
  },
  textColumn("Service name", ({ app_name: name }) => name, { wide: true }),
  { title: "Colors", cell: (brand) => <Colors brand={brand} />, wide: true, width: "w-m" },
  timeColumn("Changed", ({ updated_at: at }) => at, { wide: true, width: "w-s" }),
];

/** The colors as small squares, with their values on hover. */
function Colors({ brand }: { brand: ListedBrand }) {
  const colors = [brand.primary_color, brand.secondary_color, brand.accent_color]
    .filter((color) => color !== null);
  if (colors.length === 0) return <span class="muted">Built-in</span>;
  return (
    <span class="swatches" role="img" aria-label={colors.join(", ")} title={colors.join(", ")}>
      {colors.map((color, at) => <Swatch key={at} color={color} />)}
    </span>
  );
}

function Swatch({ color }: { color: string }) {
  const set = (element: HTMLElement | null) => {
    if (element) element.style.backgroundColor = color;
  };
  return <span ref={set} />;
}

const activate = ({ id, name }: ListedBrand): Promise<boolean> =>
  withResult(
    `Activated ${plain(name)}. Pages show it after a reload`,
    () => api("PUT /api/ext/service-enterprise/branding/{id}/activate", { path: { id } }),
  );
