/** The engine's own description of a container. @module */

import { useRef } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { copyText } from "../../base/copy.ts";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { plainLines } from "../../base/text.ts";
import type { TabProps } from "./tab.ts";

export function Inspect({ container: { id } }: TabProps) {
  const text = useRef<HTMLPreElement>(null);
  const { data, error, reload } = useRead("GET /api/containers/{id}/inspect", { path: { id } });
  if (error.value) return <Failure error={error.value} onRetry={reload} />;
  if (!data.value) return <Loading name="Description" />;
  const json = JSON.stringify(data.value, null, 2);
  return (
    <>
      <div class="filters">
        <Button icon="copy" onClick={() => void copyText(text.current!, json)}>Copy</Button>
        <Button icon="restart" onClick={reload}>Refresh</Button>
      </div>
      <pre ref={text} class="output" data-testid="inspect" tabIndex={0}>{plainLines(json)}</pre>
    </>
  );
}
