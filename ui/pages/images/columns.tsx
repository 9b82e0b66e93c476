/**
 * The rows and columns of the images table.
 *
 * @module
 */

import type { Image } from "../../api/types.ts";
import { numberColumn, timeColumn } from "../../components/columns.tsx";
import { Badge, withBreaks } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { bytes, imageName, plain } from "../../components/text.ts";
import { href } from "../../state/router.ts";

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
        <span class="cut breaks" title={plain(nameOf(row))}>{withBreaks(nameOf(row))}</span>
        {row.tag === null && (
          <span class="wide">
            <Badge>Untagged</Badge>
          </span>
        )}
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
  numberColumn("Size", ({ image }) => image.size, bytes, { width: "w-s" }),
  timeColumn("Created", ({ image }) => image.createdAt, { wide: true, width: "w-s" }),
  {
    title: "Containers",
    cell: ({ tag, image }) =>
      image.containers > 0 && tag !== null
        ? (
          <a href={href(`/containers?q=${encodeURIComponent(tag)}`)}>
            {image.containers.toLocaleString("en")}
          </a>
        )
        : image.containers.toLocaleString("en"),
    sort: ({ image }) => image.containers,
    numeric: true,
    wide: true,
    width: "w-s",
  },
];
