/** Editor of one text, which is saved if the file has not changed meanwhile. @module */

import { useSignal } from "@preact/signals";
import { ApiError } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { confirm, Dialog, useDialog } from "../../components/dialog.tsx";
import { useUnsaved } from "../../components/unsaved.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { shownPath } from "./columns.tsx";
import { CodeField } from "../editor/code_field.tsx";
import { type OpenText, type Place, readText, writeText } from "./place.ts";

interface EditorProps {
  place: Place;
  opened: OpenText;
  isReadOnly: boolean;
  onSaved: () => void;
  onClose: () => void;
}

export function TextEditor({ place, opened, isReadOnly, onSaved, onClose }: EditorProps) {
  const base = useSignal(opened);
  const text = useSignal(opened.text);
  const revision = useSignal(0);
  const isBusy = useSignal(false);
  const dialog = useDialog();
  const isChanged = text.value !== base.value.text;
  useUnsaved(isChanged);
  const { path } = opened;

  const save = async (etag: string) => {
    isBusy.value = true;
    const saved = text.peek();
    try {
      base.value = { path, text: saved, etag: await writeText(place, { path, text: saved, etag }) };
      showStatus(`Saved ${shownPath(path)}`);
      onSaved();
    } catch (error) {
      const isStale = error instanceof ApiError && error.status === 412;
      if (isStale) dialog.open(Conflict, { path, onDiscard: reopen, onOverwrite: overwrite });
      else showAlert(sentenceOf(error));
    } finally {
      isBusy.value = false;
    }
  };
  const withCurrent = async (work: (current: OpenText) => void | Promise<void>) => {
    try {
      await work(await readText(place, path));
    } catch (error) {
      showAlert(sentenceOf(error));
    }
  };
  const overwrite = () => withCurrent(({ etag }) => save(etag));
  const reopen = () =>
    withCurrent((current) => {
      base.value = current;
      text.value = current.text;
      revision.value++;
    });
  const close = async () => {
    const question = {
      verb: "Discard",
      name: "unsaved changes",
      consequence: `The changes of ${shownPath(path)} were not saved.`,
    };
    if (!isChanged || await confirm(question)) onClose();
  };
  return (
    <div class="file-editor">
      <CodeField
        key={revision.value}
        name={shownPath(path)}
        text={base.peek().text}
        isReadOnly={isReadOnly}
        problems={NONE}
        onChange={(changed) => text.value = changed}
      />
      <div class="actions">
        <Button onClick={() => void close()}>Close</Button>
        {!isReadOnly && (
          <Button
            kind="primary"
            busy={isBusy.value}
            disabled={!isChanged}
            onClick={() => void save(base.peek().etag)}
          >
            Save
          </Button>
        )}
      </div>
      {dialog.shown}
    </div>
  );
}

const NONE: readonly never[] = [];

function Conflict({ path, onDiscard, onOverwrite, onClose }: {
  path: string;
  onDiscard: () => void;
  onOverwrite: () => void;
  onClose: () => void;
}) {
  const choose = (work: () => void) => () => {
    onClose();
    work();
  };
  return (
    <Dialog title={`${shownPath(path)} was changed meanwhile`} onClose={onClose}>
      <p>
        Another program or user has changed or deleted the file since you opened it. Saving replaces
        what is there now.
      </p>
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>
          Keep editing
        </button>
        <Button onClick={choose(onDiscard)}>Discard mine</Button>
        <Button kind="danger" onClick={choose(onOverwrite)}>Save mine</Button>
      </div>
    </Dialog>
  );
}
