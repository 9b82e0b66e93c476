/** Columns of lists of files, and the directories above the open one. @module */

import { bytes, plain } from "../../base/text.ts";
import { type Column, numberColumn, textColumn, timeColumn } from "../../components/columns.tsx";
import { Icon } from "../../components/icon.tsx";
import { Text } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import styles from "./files.css" with { type: "text" };

addStyles(styles);

/** A name or path for people. Those with bytes that are not UTF-8 keep their `%XX`. */
export const shownPath = (path: string): string =>
  plain(/%(?!25)/.test(path) ? path : path.replaceAll("%25", "%"));

/** A file as every list has it. */
export interface ListedFile {
  name: string;
  path: string;
  type: string;
  size: number;
  mode: string;
  uid: number;
  gid: number;
  modifiedAt: string;
  linkTarget?: string | null;
}

/** Directories that only a snapshot has, such as that of the volumes, have the time 0. */
const isDated = (time: string) => Date.parse(time) > 0;

/** @param hrefOf Address of a directory. */
export const fileColumns = <File extends ListedFile>(
  hrefOf: (path: string) => string,
): readonly Column<File>[] => [
  {
    title: "Name",
    cell: ({ name, path, type, linkTarget }) => (
      <span class="name-cell">
        {type === "dir"
          ? (
            <>
              <Icon name="folder" />
              <a class="cut" href={hrefOf(path)}>{shownPath(name)}</a>
            </>
          )
          : (
            <Text>
              {linkTarget ? `${shownPath(name)} → ${shownPath(linkTarget)}` : shownPath(name)}
            </Text>
          )}
      </span>
    ),
    // Directories come first.
    sort: ({ name, type }) => `${type === "dir" ? 0 : 1} ${name}`,
  },
  numberColumn("Size", ({ type, size }) => type === "file" ? size : null, bytes, { width: "w-s" }),
  timeColumn("Modified", ({ modifiedAt }) => isDated(modifiedAt) ? modifiedAt : null, {
    wide: true,
    width: "w-m",
  }),
  textColumn("Mode", ({ mode }) => mode, { wide: true, width: "w-s" }),
  textColumn("Owner", ({ uid, gid }) => `${uid}:${gid}`, { wide: true, width: "w-s" }),
];

/** The directories above the open one, as links. @param props.root Name of the first one. */
export function Ancestors({ root, path, hrefOf }: {
  root: string;
  path: string;
  hrefOf: (path: string) => string;
}) {
  const names = path.split("/").filter(Boolean);
  return (
    <nav class="ancestors" aria-label="Directory">
      {[root, ...names].map((name, at) => (
        <span key={at}>
          {at > 0 && " / "}
          {at === names.length
            ? <span aria-current="location">{at === 0 ? name : shownPath(name)}</span>
            : (
              <a href={hrefOf(`/${names.slice(0, at).join("/")}`)}>
                {at === 0 ? name : shownPath(name)}
              </a>
            )}
        </span>
      ))}
    </nav>
  );
}
