/** The containers that use an image, a network or a volume. @module */

import { computed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Link } from "../components/button.tsx";
import { plain } from "../base/text.ts";
import { containers } from "../state/live.ts";

/** Names that are shown; the others are counted. */
const SHOWN_MAX = 3;

export function UsedBy({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <span class="muted">Not used</span>;
  const hidden = names.length - SHOWN_MAX;
  return (
    <span class="cut links" title={names.map(plain).join(", ")}>
      {names.slice(0, SHOWN_MAX).map((name, at) => (
        <>
          {at > 0 && ", "}
          <Link to={`/containers/${encodeURIComponent(name)}`}>{plain(name)}</Link>
        </>
      ))}
      {hidden > 0 && ` and ${hidden} more`}
    </span>
  );
}

/** Changes when a container is created or removed. */
const containerIds = computed(() => containers.value?.map(({ id }) => id).sort().join());

/** Reads a list again when containers were created or removed. */
export function useContainerChanges(reload: () => void): void {
  const ids = containerIds.value;
  const known = useRef(ids);
  useEffect(() => {
    const before = known.current;
    known.current = ids;
    if (before !== undefined && ids !== undefined && before !== ids) reload();
  }, [ids]);
}
