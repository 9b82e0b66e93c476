/** Reads the details of the objects of a list whose operation does not have them. @module */

import { useEffect } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import { ApiError } from "../api/client.ts";

/** Readings at the same time. */
const AT_ONCE = 4;

/**
 * The details by id, as they arrive. Those of an object that is gone meanwhile stay missing.
 *
 * @param list Another list is read again.
 */
export function useDetails<Detail>(
  list: readonly { id: string }[] | undefined,
  read: (id: string, signal: AbortSignal) => Promise<Detail>,
): Signal<ReadonlyMap<string, Detail>> {
  const details = useSignal<ReadonlyMap<string, Detail>>(new Map());
  useEffect(() => {
    if (!list) return;
    const end = new AbortController();
    // The missing ones first: lists may follow each other faster than all details are read.
    const isKnown = ({ id }: { id: string }) => details.peek().has(id);
    const waiting = [...list.filter((row) => !isKnown(row)), ...list.filter(isKnown)]
      .map(({ id }) => id);
    const readNext = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        try {
          const detail = await read(id, end.signal);
          details.value = new Map([...details.peek(), [id, detail]]);
        } catch (error) {
          if (end.signal.aborted) return;
          if (!(error instanceof ApiError)) throw error;
        }
      }
    };
    for (let at = 0; at < AT_ONCE; at++) void readNext();
    return () => end.abort();
  }, [list]);
  return details;
}
