/**
 * Icons of containers: small images inside of labels, or uploaded ones that labels name. An address
 * in a label is never fetched.
 *
 * @module
 */

import {
  countUploadedIcons,
  deleteUploadedIcon,
  replaceUploadedIcon,
  selectUploadedIcon,
  selectUploadedIcons,
  type UploadedIcon,
} from "../../db/uploaded_icons.ts";
import { sha256 } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { notFound, tooMany } from "../errors.ts";
import { isImage } from "./icon_image.ts";
import type { Container } from "./inventory.ts";
import { currentContainers, type ReadDeps } from "./reads.ts";

export interface Icon {
  /** The same for equal images. */
  id: string;
  /** The image as a `data:` URL. */
  url: string;
}

/** An icon, or the name of one that may have been uploaded. */
type Reference = Icon | { id: string; name: string };

type Labels = Container["labels"];

/** In this order. */
const LABELS = ["longshore.icon", "homepage.icon"];

/** Most icons of one answer. */
const ICONS_MAX = 200;

/** Most icons that are uploaded. */
const UPLOADED_MAX = 200;

/** The labels of a container do not change, and each list asks for its icon. */
const known = new WeakMap<Labels, Reference | null>();

/**
 * The icon in the labels of a container, otherwise the name of an uploaded one, as `grafana` or
 * `grafana.png`; `null` without both.
 */
export function iconOf(labels: Labels): Reference | null {
  let icon = known.get(labels);
  if (icon === undefined) {
    const texts = LABELS.map((name) => labels[name]?.trim() ?? "");
    icon = imageIn(texts) ?? nameIn(texts);
    known.set(labels, icon);
  }
  return icon;
}

function imageIn(texts: string[]): Icon | null {
  const url = texts.find(isImage);
  return url === undefined ? null : { id: sha256(url).slice(0, 22), url };
}

function nameIn(texts: string[]): Reference | null {
  const name = texts.map(iconName).find((name) => name !== undefined);
  return name === undefined ? null : { id: idOfName(name), name };
}

/** Ids of images have no colon. */
const idOfName = (name: string) => `name:${name}`;

/** The name of an icon without the extension of a file, in lower case. */
export const iconName = (text: string): string | undefined =>
  /^([a-z0-9][a-z0-9._-]{0,63}?)(?:\.(?:png|webp|svg|jpe?g))?$/.exec(text.toLowerCase())?.[1];

/** The different icons of the containers. */
export async function listIcons(deps: ReadDeps & Pick<Deps, "db">): Promise<Icon[]> {
  const icons = new Map<string, Icon>();
  for (const { labels } of await currentContainers(deps)) {
    const found = iconOf(labels);
    if (!found || icons.has(found.id)) continue;
    const icon = "url" in found ? found : uploadedAs(deps, found);
    if (icon) icons.set(icon.id, icon);
    if (icons.size === ICONS_MAX) break;
  }
  return [...icons.values()];
}

function uploadedAs(
  { db }: Pick<Deps, "db">,
  { id, name }: { id: string; name: string },
): Icon | undefined {
  const uploaded = selectUploadedIcon(db, name);
  return uploaded && { id, url: uploaded.url };
}

/** All uploaded icons by name. */
export const listUploadedIcons = ({ db }: Pick<Deps, "db">): UploadedIcon[] =>
  selectUploadedIcons(db);

/**
 * Stores an icon; it replaces the one of that name.
 *
 * @param icon.name As of {@linkcode iconName}.
 * @param icon.url As {@linkcode isImage} accepts it.
 * @throws {AppError} `conflict` when the limit is reached.
 */
export function uploadIcon(
  { db, now }: Pick<Deps, "db" | "now">,
  { name, url }: Pick<UploadedIcon, "name" | "url">,
): UploadedIcon {
  const isNew = selectUploadedIcon(db, name) === undefined;
  if (isNew && countUploadedIcons(db) >= UPLOADED_MAX) throw tooMany("icons", UPLOADED_MAX);
  const icon = { name, url, createdAt: now().toISOString() };
  replaceUploadedIcon(db, icon);
  return icon;
}

/** @throws {AppError} `not_found`. */
export function removeIcon({ db }: Pick<Deps, "db">, name: string): void {
  if (!deleteUploadedIcon(db, name)) throw notFound("Icon", name);
}
