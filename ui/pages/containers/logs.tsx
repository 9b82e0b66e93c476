/** The log of a container. @module */

import { LogView } from "../logs/view.tsx";
import type { TabProps } from "./tab.ts";

export function Logs({ container: { id, name } }: TabProps) {
  return (
    <LogView
      stream={`api/containers/${encodeURIComponent(id)}/logs/stream`}
      container={{ id, name }}
    />
  );
}
