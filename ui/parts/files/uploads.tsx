/** Uploads: chosen or dropped files are sent one after the other. @module */

import { useEffect, useRef } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import { upload } from "../../api/files.ts";
import { count, percent } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { confirm } from "../../components/dialog.tsx";
import { ProgressBar } from "../job_list.tsx";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { shownPath } from "./columns.tsx";
import { encodeName, filePath, joinPath, type Place } from "./place.ts";

export interface Uploads {
  /** `undefined` unless a file is being sent; its part from 0 to 1. */
  current: Signal<{ name: string; part: number } | undefined>;
  send(files: Iterable<File>): Promise<void>;
  cancel(): void;
}

/** @param names Names in the directory, which are replaced after a question only. */
export function useUploads(
  place: Place,
  { directory, names, onDone }: {
    directory: string;
    names: ReadonlySet<string>;
    onDone: () => void;
  },
): Uploads {
  const current = useSignal<{ name: string; part: number } | undefined>(undefined);
  const ending = useRef(new AbortController());
  useEffect(() => () => ending.current.abort(), []);

  const sendOne = async (file: File) => {
    const name = encodeName(file.name);
    const isThere = names.has(name);
    const question = {
      verb: "Replace",
      name: shownPath(name),
      consequence: `The directory has a file ${shownPath(name)}, whose content is lost.`,
    };
    if (isThere && !await confirm(question)) return false;
    current.value = { name, part: 0 };
    await upload(filePath(place, joinPath(directory, name)), file, {
      method: "PUT",
      headers: isThere ? {} : { "if-none-match": "*" },
      signal: ending.current.signal,
      onProgress: (part) => current.value = { name, part },
    });
    return true;
  };
  return {
    current,
    cancel() {
      ending.current.abort();
      ending.current = new AbortController();
    },
    async send(files) {
      if (current.peek()) return;
      let sent = 0;
      try {
        for (const file of [...files]) if (await sendOne(file)) sent++;
        if (sent > 0) showStatus(`Uploaded ${count(sent, "file")}`);
      } catch (error) {
        showAlert(sentenceOf(error));
      } finally {
        current.value = undefined;
        onDone();
      }
    },
  };
}

export function UploadButton({ uploads }: { uploads: Uploads }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button busy={uploads.current.value !== undefined} onClick={() => input.current!.click()}>
        Upload
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          void uploads.send(currentTarget.files ?? []);
          currentTarget.value = "";
        }}
      />
    </>
  );
}

export function UploadProgress({ uploads: { current, cancel } }: { uploads: Uploads }) {
  if (!current.value) return null;
  const { name, part } = current.value;
  return (
    <div class="upload" role="status">
      <span>{shownPath(name)}: {part < 1 ? `${percent(part * 100)} sent` : "being stored"}</span>
      <ProgressBar name="Upload" value={part < 1 ? part : undefined} />
      <Button onClick={cancel}>Cancel</Button>
    </div>
  );
}
