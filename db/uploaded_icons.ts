/** The `uploaded_icons` table: images that labels of containers name. @module */

import { type Row, table, text } from "./columns.ts";

const icons = table("uploaded_icons", {
  /** As labels name it, without the extension, e.g. `grafana`. */
  name: text(),
  /** The image as a `data:` URL. */
  url: text(),
  /** ISO 8601, UTC. */
  createdAt: text(),
}, { key: "name" });

export type UploadedIcon = Row<typeof icons>;

export const {
  find: selectUploadedIcon,
  count: countUploadedIcons,
  /** Inserts an icon, or replaces the one of that name. */
  replace: replaceUploadedIcon,
  delete: deleteUploadedIcon,
  /** All icons by name. */
  all: selectUploadedIcons,
} = icons;
