/** Compose files that are generated from containers. @module */

import { useRef } from "preact/hooks";
import { Button, LinkButton } from "../../components/button.tsx";
import { copyText } from "../../base/copy.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { plain, plainLines } from "../../base/text.ts";
import { stackPath } from "../../paths.ts";
import { hasRole } from "../../state/session.ts";

/** Reads a file that describes the containers with these ids; nothing without ids. */
export const useGenerated = (containers: readonly string[]) =>
  useRead(
    "POST /api/stacks/generate",
    containers.length === 0 ? undefined : { body: { containers: [...containers] } },
  );

export function Warnings({ texts }: { texts: readonly string[] }) {
  return (
    <>
      {texts.map((text) => (
        <div key={text} class="note warn">
          <Icon name="alert" />
          <p class="wrap">{plain(text)}</p>
        </div>
      ))}
    </>
  );
}

/** A Compose file of the given containers, to copy or to go on with. */
export function GeneratedDialog({ containers, onClose }: {
  containers: readonly string[];
  onClose: () => void;
}) {
  const shown = useRef<HTMLPreElement>(null);
  const { data, error } = useGenerated(containers);
  const file = data.value;
  const parameters = containers.map((id) => `container=${id.slice(0, 12)}`).join("&");
  return (
    <Dialog title="Compose file" onClose={onClose} wide>
      {error.value && <Failure error={error.value} />}
      {!file && !error.value && <Loading name="Compose file" />}
      {file && (
        <>
          <Warnings texts={file.warnings} />
          {file.variables.length > 0 && (
            <p class="muted">
              Only admins see values; the file has these variables: {file.variables.join(", ")}
            </p>
          )}
          <pre ref={shown} class="output" tabIndex={0}>{plainLines(file.compose)}</pre>
        </>
      )}
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>Close</button>
        {file && hasRole("admin", "stacks:write") && (
          file.name === null
            ? <LinkButton to={`/stacks/new?${parameters}`}>New stack</LinkButton>
            : (
              <LinkButton to={stackPath({ name: file.name }, "source")}>
                Open stack {plain(file.name)}
              </LinkButton>
            )
        )}
        {file && (
          <Button
            kind="primary"
            icon="copy"
            onClick={() => void copyText(shown.current!, file.compose)}
          >
            Copy
          </Button>
        )}
      </div>
    </Dialog>
  );
}
