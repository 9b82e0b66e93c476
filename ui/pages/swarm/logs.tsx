/** The last lines of a service, of all tasks on every node. @module */

import type { SwarmService } from "../../api/types.ts";
import { plain, plainLines } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useRead } from "../../components/reading.ts";
import { Empty, Failure, Loading } from "../../components/states.tsx";

const TAIL = 100;

export function LogsDialog({ service: { id, name }, onClose }: {
  service: SwarmService;
  onClose: () => void;
}) {
  const { data, error, reload } = useRead("GET /api/swarm/services/{id}/logs", {
    path: { id },
    query: { tail: TAIL },
  });
  const logs = data.value;
  const text = logs?.lines.map(({ task, message }) => `${task} | ${message}`).join("\n");
  return (
    <Dialog title={`Logs of ${plain(name)}`} wide onClose={onClose}>
      {error.value && <Failure error={error.value} onRetry={reload} />}
      {!logs && !error.value && <Loading name="Logs" />}
      {logs?.isComplete === false && <p class="hint">A node did not send its part in time.</p>}
      {text === "" && <Empty>This service has written nothing.</Empty>}
      {text && <pre class="code-block" tabIndex={0} aria-label="Log">{plainLines(text)}</pre>}
      <div class="actions">
        <Button icon="restart" onClick={reload}>Refresh</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
