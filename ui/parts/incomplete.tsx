/** Badge of an object that could not be read in full. @module */

import { Badge } from "../components/states.tsx";

export function Incomplete({ warning }: { warning: string | null }) {
  if (!warning) return null;
  return (
    <span title={warning}>
      <Badge tone="warn">Incomplete</Badge>
    </span>
  );
}
