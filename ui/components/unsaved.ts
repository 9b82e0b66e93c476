/** Unsaved changes. @module */

import { useEffect, useRef } from "preact/hooks";
import { confirm } from "./dialog.tsx";
import { guardPage } from "../state/router.ts";

/** Asks before the page is left with unsaved changes. @returns Ends that, e.g. after they were sent. */
export function useUnsaved(isChanged: boolean): () => void {
  const end = useRef<(() => void) | undefined>(undefined);
  useEffect(() => {
    if (!isChanged) return;
    end.current = guardPage(() =>
      confirm({
        verb: "Discard",
        name: "unsaved changes",
        consequence: "The changes on this page were not saved.",
      })
    );
    return end.current;
  }, [isChanged]);
  return () => end.current?.();
}
