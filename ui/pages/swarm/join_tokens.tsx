/** The commands with which other engines join the swarm. @module */

import { api } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { confirm, Dialog } from "../../components/dialog.tsx";
import { useRead } from "../../components/reading.ts";
import { SecretField } from "../../components/secret_dialog.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { withResult } from "../../state/toasts.ts";

const ROLES = ["worker", "manager"] as const;

export function JoinTokens({ onClose }: { onClose: () => void }) {
  const { data, error, reload } = useRead("GET /api/swarm/tokens", {});
  const rotate = async (role: typeof ROLES[number]) => {
    const consequence = "The old token is refused from then on. Nodes that have joined stay.";
    if (!await confirm({ verb: "Rotate", name: `${role} token`, consequence })) return;
    await withResult(
      `Rotated the ${role} token`,
      () => api("POST /api/swarm/tokens/rotate", { body: { role } }),
    );
    reload();
  };
  const tokens = data.value;
  return (
    <Dialog title="Join tokens" wide onClose={onClose}>
      {error.value && <Failure error={error.value} onRetry={reload} />}
      {!tokens && !error.value && <Loading name="Join tokens" />}
      {tokens && ROLES.map((role) => (
        <SecretField
          key={role}
          label={role === "worker" ? "As a worker" : "As a manager"}
          secret={tokens[role].command}
        />
      ))}
      <div class="actions">
        <Button onClick={() => void rotate("worker")}>Rotate worker token</Button>
        <Button onClick={() => void rotate("manager")}>Rotate manager token</Button>
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
