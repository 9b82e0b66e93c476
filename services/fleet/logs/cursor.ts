/** Ids of frames of merged logs: the last id of each host, by its name. @module */

/** Longest id of a host; that of fifty containers is shorter. */
const ID_MAX = 2_000;

const ENTRY = /^([\w.-]{1,63}):([\w-]+)$/;

export const encodeHostIds = (ids: ReadonlyMap<string, string>): string =>
  [...ids].map(([name, id]) => `${name}:${id}`).join();

/** Entries that are none are left out: clients send what they got from another version, too. */
export function decodeHostIds(text: string | undefined): Map<string, string> {
  const entries = (text ?? "").split(",").flatMap((entry) => {
    const [, name, id] = ENTRY.exec(entry) ?? [];
    return name !== undefined && isHostId(id) ? [[name, id] as const] : [];
  });
  return new Map(entries);
}

/** Whether a host may have this id for a frame. */
export const isHostId = (id: string | undefined): id is string =>
  id !== undefined && id.length <= ID_MAX && /^[\w-]+$/.test(id);
