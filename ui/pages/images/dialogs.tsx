/** The dialogs that bring images to the host, and give them further tags. @module */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import { upload } from "../../api/files.ts";
import type { LoadedImages } from "../../api/types.ts";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { ProgressBar } from "../../parts/job_list.tsx";
import { imageName, percent, plain } from "../../base/text.ts";
import { showStatus } from "../../state/toasts.ts";
import { pullImage } from "./actions.ts";
import { type ImageRow, nameOf } from "./columns.tsx";

interface DialogProps {
  onClose: () => void;
  onDone: () => void;
}

export function PullDialog({ onClose, onDone }: DialogProps) {
  return (
    <FormDialog
      title="Pull image"
      submit="Pull"
      onClose={onClose}
      onSubmit={({ image, platform }) =>
        pullImage({ image, ...(platform && { platform }) }, onDone)}
    >
      <TextField
        label="Image"
        name="image"
        required
        maxLength={512}
        placeholder="registry.example:5000/team/app:1"
        hint="The tag is latest unless you give one"
        autocomplete="off"
      />
      <TextField
        label="Platform"
        name="platform"
        placeholder="linux/arm64"
        hint="Optional; the host's own otherwise"
        autocomplete="off"
      />
    </FormDialog>
  );
}

export function LoadDialog({ onClose, onDone }: DialogProps) {
  const sent = useSignal<number | undefined>(undefined);
  const closed = useRef(new AbortController());
  useEffect(() => () => closed.current.abort(), []);
  const load = async ({ file }: { file?: File }) => {
    sent.value = 0;
    try {
      const { images } = await upload<LoadedImages>("api/images/load", file!, {
        signal: closed.current.signal,
        onProgress: (part) => sent.value = part,
      });
      showStatus(`Loaded ${images.map(imageName).join(", ")}`);
      onDone();
    } finally {
      sent.value = undefined;
    }
  };
  return (
    <FormDialog title="Load image" submit="Load" onClose={onClose} onSubmit={load}>
      <TextField
        label="Archive"
        name="file"
        type="file"
        required
        hint="From docker save or Export, also compressed with gzip"
      />
      {sent.value !== undefined && (
        <div class="upload">
          <span>
            {sent.value < 1 ? `${percent(sent.value * 100)} sent` : "The engine is loading it"}
          </span>
          <ProgressBar name="Upload" value={sent.value < 1 ? sent.value : undefined} />
        </div>
      )}
    </FormDialog>
  );
}

export function TagDialog({ row, onClose, onDone }: DialogProps & { row: ImageRow }) {
  const add = async ({ image }: Record<string, string>) => {
    const path = { id: row.image.id };
    const tagged = await api("POST /api/images/{id}/tag", { path, body: { image: image! } });
    showStatus(`Tagged ${plain(tagged.image)}`);
    onDone();
  };
  return (
    <FormDialog
      title={`Add tag to ${plain(nameOf(row))}`}
      submit="Add"
      onClose={onClose}
      onSubmit={add}
    >
      <TextField
        label="Tag"
        name="image"
        required
        maxLength={512}
        placeholder="registry.example:5000/team/app:1"
        hint="Another image that has this tag loses it"
        autocomplete="off"
      />
    </FormDialog>
  );
}
