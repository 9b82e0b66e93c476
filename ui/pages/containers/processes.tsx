/** The processes of a container, as the engine lists them. @module */

import { Button } from "../../components/button.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import type { TabProps } from "./tab.ts";
import { WholeText } from "./texts.tsx";

export function Processes({ container: { id, state } }: TabProps) {
  const isRunning = state === "running";
  const { data, error, reload } = useRead(
    "GET /api/containers/{id}/top",
    isRunning ? { path: { id } } : undefined,
  );
  if (!isRunning) return <p class="muted">The container is not running.</p>;
  if (error.value) return <Failure error={error.value} onRetry={reload} />;
  const { titles = [], processes = [] } = data.value ?? {};
  return (
    <>
      <div class="filters">
        <Button icon="restart" onClick={reload}>Refresh</Button>
      </div>
      <Table
        name="Processes"
        hasTallRows
        busy={!data.value}
        columns={titles.map((title, at) => {
          // The command comes last, and user and PID first.
          const textOf = (row: readonly string[]) => row[at] ?? "";
          if (at < titles.length - 1) {
            return { title, text: textOf, wide: at > 1, width: "w-s" as const };
          }
          return {
            title,
            cell: (row: readonly string[]) => <WholeText>{textOf(row)}</WholeText>,
          };
        })}
        rows={processes}
        keyOf={(row) => row.join(" ")}
      />
    </>
  );
}
