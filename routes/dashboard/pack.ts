/**
 * The dashboard's files, as `deploy/build/ui.ts` packs them: one line of JSON with the index, then
 * the compressed files. Nothing of it stays in memory, because most hosts show it for a few minutes
 * a day.
 *
 * @module
 */

/** Position of a file's compressed bytes, counted from the end of the index. */
type Extent = readonly [offset: number, length: number];

/** A file in each of its encodings. */
export interface PackedFile {
  /** The media type. */
  type: string;
  br: Extent;
  gzip: Extent;
}

export interface PackIndex {
  /** Hash of the sources. */
  source: string;
  /** The HTML page, with `{{name}}` for values that the service fills in. */
  page: string;
  /** By name, which contains a hash of the content. */
  files: Record<string, PackedFile>;
  /** Names of the files that the API page loads: the only ones with `UI=off`. */
  apiPage: string[];
}

/** An open pack. */
export interface Pack extends PackIndex, Disposable {
  /** Reads the compressed bytes of a file. */
  read(extent: Extent): Promise<Uint8Array<ArrayBuffer>>;
}

/** Next to the program in an executable, which runs a bundle; in `dist/` with the sources. */
const PACK_URL = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/ui.pack" : "./ui.pack",
  import.meta.url,
);

/** Limit of the index, in bytes. */
const INDEX_BYTES_MAX = 32 * 1024;

/**
 * Opens the pack for one request: with the sources it may be built again at any time.
 *
 * @returns `undefined` if the dashboard was not built.
 */
export async function openPack(): Promise<Pack | undefined> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(PACK_URL);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const head = await readPart(file, 0, INDEX_BYTES_MAX);
  const end = head.indexOf("\n".charCodeAt(0));
  const index: PackIndex = JSON.parse(new TextDecoder().decode(head.subarray(0, end)));
  return {
    ...index,
    read: ([offset, length]) => readPart(file, end + 1 + offset, length),
    [Symbol.dispose]: () => file.close(),
  };
}

async function readPart(
  file: Deno.FsFile,
  offset: number,
  lengthMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  await file.seek(offset, Deno.SeekMode.Start);
  const bytes = new Uint8Array(lengthMax);
  let length = 0;
  while (length < lengthMax) {
    const read = await file.read(bytes.subarray(length));
    if (read === null) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
