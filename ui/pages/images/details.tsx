/** Contents of an image, and the containers that use it. @module */

import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CodeFact, Fact, Facts } from "../../components/facts.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import type { ImageDetail } from "../../api/types.ts";
import { bytes, plain } from "../../base/text.ts";
import { UsedBy } from "../../parts/used_by.tsx";
import { type ImageRow, nameOf } from "./columns.tsx";

export function ImageDetails({ row, onClose }: { row: ImageRow; onClose: () => void }) {
  const { data, error, reload } = useRead("GET /api/images/{id}", { path: { id: row.image.id } });
  return (
    <Dialog title={`Details of ${plain(nameOf(row))}`} onClose={onClose} wide>
      {error.value
        ? <Failure error={error.value} onRetry={reload} />
        : data.value
        ? <Details image={data.value} />
        : <Loading name="Details" />}
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function Details({ image }: { image: ImageDetail }) {
  const { config, history } = image;
  const lines = (texts: readonly string[]) => (
    <span class="wrap">{texts.map(plain).join("\n")}</span>
  );
  const platform = [image.os, image.architecture, image.variant].filter(Boolean).join("/");
  const labels = Object.entries(config.labels);
  return (
    <>
      <Facts>
        <CodeFact name="ID">{image.id}</CodeFact>
        {image.repoDigests.length > 0 && <Fact name="Digests">{lines(image.repoDigests)}</Fact>}
        <Fact name="Platform">{plain(platform)}</Fact>
        <Fact name="Size">{bytes(image.size)}</Fact>
        <Fact name="Containers">
          <UsedBy names={image.usedBy.map(({ name }) => name)} />
        </Fact>
        {config.entrypoint.length > 0 && (
          <Fact name="Entrypoint">{lines([config.entrypoint.join(" ")])}</Fact>
        )}
        {config.command.length > 0 && (
          <Fact name="Command">{lines([config.command.join(" ")])}</Fact>
        )}
        {config.user !== "" && <Fact name="User">{plain(config.user)}</Fact>}
        {config.workingDir !== "" && <Fact name="Directory">{plain(config.workingDir)}</Fact>}
        {config.exposedPorts.length > 0 && <Fact name="Ports">{lines(config.exposedPorts)}</Fact>}
        {config.volumes.length > 0 && <Fact name="Volumes">{lines(config.volumes)}</Fact>}
        {labels.length > 0 && (
          <Fact name="Labels">{lines(labels.map((pair) => pair.join("=")))}</Fact>
        )}
      </Facts>
      {history.length > 0 && (
        <details class="layers">
          <summary>Layers ({history.length})</summary>
          <ol tabIndex={0}>
            {history.map(({ createdBy, size }, at) => (
              <li key={at}>
                <code class="wrap">{plain(createdBy)}</code>
                <span class="muted numeric">{bytes(size)}</span>
              </li>
            ))}
          </ol>
        </details>
      )}
    </>
  );
}
