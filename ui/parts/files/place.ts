/** Requests for the files of a volume, a container or a stack. @module */

import { api, ApiError, refusalOf, send } from "../../api/client.ts";
import type { WrittenFile } from "../../api/types.ts";
import { apiUrl } from "../../state/root.ts";

/** Owner of files. */
export interface Place {
  kind: "volumes" | "containers" | "stacks";
  /** Name; id of a container. */
  ref: string;
}

/** Largest file that the editor opens, in bytes. */
export const TEXT_BYTES_MAX = 1024 * 1024;

/** Stands for the operation of each kind: they differ in the name of a parameter only. */
export const LIST = "GET /api/volumes/{name}/files";

export function operationOf<Name extends string>({ kind }: Place, name: Name): Name {
  const parameter = kind === "containers" ? "id" : "name";
  return name.replace("volumes/{name}", `${kind}/{${parameter}}`) as Name;
}

export const parametersOf = ({ kind, ref }: Place) =>
  ({ [kind === "containers" ? "id" : "name"]: ref }) as { name: string };

/** The path of the API for one file, below the root. */
export const filePath = ({ kind, ref }: Place, path: string): string =>
  `api/${kind}/${encodeURIComponent(ref)}/file?${new URLSearchParams({ path })}`;

export const deleteFile = (place: Place, path: string) =>
  api(operationOf(place, "DELETE /api/volumes/{name}/file"), {
    path: parametersOf(place),
    query: { path },
  });

export const renameFile = (place: Place, path: string, to: string) =>
  api(operationOf(place, "POST /api/volumes/{name}/files/rename"), {
    path: parametersOf(place),
    body: { path, to },
  });

export const createFolder = (place: Place, path: string) =>
  api(operationOf(place, "POST /api/volumes/{name}/files/folder"), {
    path: parametersOf(place),
    body: { path },
  });

/** A text with the tag for its change. */
export interface OpenText {
  path: string;
  text: string;
  etag: string;
}

/** @throws {ApiError} With the service's sentence, and for a file that is not text. */
export async function readText(place: Place, path: string): Promise<OpenText> {
  const response = await send(apiUrl(filePath(place, path)));
  if (!response.ok) throw await refusalOf(response);
  const etag = response.headers.get("etag");
  if (etag === null) {
    await response.body?.cancel();
    throw new ApiError(0, "The file is larger than 1 MiB; download it instead");
  }
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const text = decoder.decode(await response.arrayBuffer());
    if (!text.includes("\0")) return { path, text, etag };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new ApiError(0, "The file is not text in UTF-8; download it instead");
}

/**
 * Stores a text.
 *
 * @param etag Of the text that it replaces; `null` for a new file.
 * @returns The tag of the new text.
 * @throws {ApiError} 412 if the file was changed meanwhile, or exists.
 */
export async function writeText(
  place: Place,
  { path, text, etag }: { path: string; text: string; etag: string | null },
): Promise<string> {
  const response = await send(apiUrl(filePath(place, path)), {
    method: "PUT",
    body: text,
    headers: {
      "content-type": "text/plain",
      ...(etag === null ? { "if-none-match": "*" } : { "if-match": etag }),
    },
  });
  if (!response.ok) throw await refusalOf(response);
  const written: WrittenFile = await response.json();
  return written.etag!;
}

/** A name as it is in paths. */
export const encodeName = (name: string): string => name.replaceAll("%", "%25");

export const joinPath = (directory: string, name: string): string =>
  directory === "/" ? `/${name}` : `${directory}/${name}`;
