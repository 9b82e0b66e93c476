/** The processes of a container, as the engine lists them. @module */

import { Button } from "../../components/button.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Text } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
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
        columns={titles.map((title, at): Column<readonly string[]> => {
          const textOf = (row: readonly string[]) => row[at] ?? "";
          // The command comes last, and user and PID first.
          return at === titles.length - 1
            ? { title, cell: (row) => <WholeText>{textOf(row)}</WholeText> }
            : { title, cell: (row) => <Text>{textOf(row)}</Text>, wide: at > 1, width: "w-s" };
        })}
        rows={processes}
        keyOf={(row) => row.join(" ")}
      />
    </>
  );
}
