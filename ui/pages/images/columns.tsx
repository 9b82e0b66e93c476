/** The rows and columns of the images table. @module */

import { computed } from "@preact/signals";
import type { Image } from "../../api/types.ts";
import { type Column, numberColumn, timeColumn } from "../../components/columns.tsx";
import { Badge, withBreaks } from "../../components/states.tsx";
import { bytes, imageName } from "../../base/text.ts";
import { containers } from "../../state/live.ts";
import { Incomplete } from "../../parts/incomplete.tsx";
import { UsedBy } from "../../parts/used_by.tsx";

/** A tag of an image, or an image without tags. */
export interface ImageRow {
  tag: string | null;
  image: Image;
}

export const rowsOf = (images: readonly Image[]): ImageRow[] =>
  images.flatMap((image): ImageRow[] =>
    image.repoTags.length === 0
      ? [{ tag: null, image }]
      : image.repoTags.map((tag) => ({ tag, image }))
  );

/** The tag, or the short id. */
export const nameOf = ({ tag, image }: ImageRow): string => tag ?? imageName(image.id);

export const COLUMNS: readonly Column<ImageRow>[] = [
  {
    title: "Tag",
    cell: (row) => (
      <span class="name-cell">
        <span class="cut breaks">{withBreaks(nameOf(row))}</span>
        {row.tag === null && (
          <span class="wide">
            <Badge>Untagged</Badge>
          </span>
        )}
        <Incomplete warning={row.image.warning} />
      </span>
    ),
    sort: ({ tag }) => tag,
  },
  {
    title: "ID",
    cell: ({ image }) => <code title={image.id}>{imageName(image.id)}</code>,
    wide: true,
    width: "w-m",
  },
  numberColumn("Size", ({ image }) => image.size, bytes, { width: "w-xs" }),
  timeColumn("Created", ({ image }) => image.createdAt, { wide: true, width: "w-s" }),
  {
    title: "Containers",
    cell: ({ image }) => <Users image={image} />,
    sort: ({ image }) => image.containers,
    wide: true,
    width: "w-l",
  },
];

const containersByImage = computed(() =>
  containers.value && Map.groupBy(containers.value, ({ imageId }) => imageId)
);

function Users({ image }: { image: Image }) {
  const known = containersByImage.value;
  if (!known) return <>{image.containers.toLocaleString("en")}</>;
  return <UsedBy names={known.get(image.id)?.map(({ name }) => name) ?? []} />;
}
