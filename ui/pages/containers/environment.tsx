/**
 * The environment of a container. Values are not in the document until they are asked for.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { hasRole } from "../../state/session.ts";
import type { TabProps } from "./tab.ts";
import { WholeText } from "./texts.tsx";

const MASK = "********";

export function Environment({ container: { env } }: TabProps) {
  const isRevealed = useSignal(false);
  if (env.length === 0) return <Empty>The container has no environment variables.</Empty>;
  return (
    <>
      {hasRole("admin") && (
        <div class="filters">
          <Button icon="eye" onClick={() => isRevealed.value = !isRevealed.value}>
            {isRevealed.value ? "Hide values" : "Reveal values"}
          </Button>
        </div>
      )}
      <Table
        name="Environment"
        hasTallRows
        columns={[
          {
            title: "Name",
            cell: ({ name }) => (
              <code>
                <WholeText>{name}</WholeText>
              </code>
            ),
            sort: ({ name }) => name,
          },
          {
            title: "Value",
            cell: ({ value }) => (
              <code>
                <WholeText>{isRevealed.value ? value : MASK}</WholeText>
              </code>
            ),
          },
        ]}
        rows={env}
        keyOf={({ name }) => name}
        defaultSort="name"
      />
    </>
  );
}
