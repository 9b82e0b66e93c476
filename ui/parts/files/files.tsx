/** The files of a volume, a container or a stack: one directory, and the text that is edited. @module */

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { download } from "../../api/files.ts";
import type { FileList } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { Listing } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { useRead } from "../../components/reading.ts";
import { href, navigate, place as address, query } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus, withResult } from "../../state/toasts.ts";
import { Ancestors, fileColumns, shownPath } from "./columns.tsx";
import {
  createFolder,
  deleteFile,
  encodeName,
  filePath,
  joinPath,
  LIST,
  type OpenText,
  operationOf,
  parametersOf,
  type Place,
  readText,
  renameFile,
  TEXT_BYTES_MAX,
  writeText,
} from "./place.ts";
import { TextEditor } from "./text_editor.tsx";
import { UploadButton, UploadProgress, useUploads } from "./uploads.tsx";

type File = FileList["files"][number];

/** @param props.root Name of the first directory. */
export function Files({ place, root }: { place: Place; root: string }) {
  const path = query.value.get("path") ?? "/";
  const reading = useRead(operationOf(place, LIST), {
    path: parametersOf(place),
    query: { path },
  });
  const { reload } = reading;
  const list = reading.data.value;
  const opened = useSignal<OpenText | undefined>(undefined);
  const dialog = useDialog();
  const names = new Set(list?.files.map(({ name }) => name));
  const uploads = useUploads(place, { directory: path, names, onDone: reload });
  const mayWrite = hasRole("admin", "files:write");

  if (opened.value) {
    return (
      <TextEditor
        key={opened.value.path}
        place={place}
        opened={opened.value}
        isReadOnly={!mayWrite}
        onSaved={reload}
        onClose={() => opened.value = undefined}
      />
    );
  }
  const open = async (path: string) => {
    try {
      opened.value = await readText(place, path);
    } catch (error) {
      showAlert(sentenceOf(error));
    }
  };
  const create = async (name: string) => {
    const at = joinPath(path, encodeName(name));
    await writeText(place, { path: at, text: "", etag: null });
    reload();
    await open(at);
  };
  const createOne = async (name: string) => {
    await createFolder(place, joinPath(path, encodeName(name)));
    showStatus(`Created ${plain(name)}`);
    reload();
  };
  return (
    <DropArea onDrop={mayWrite && list ? (files) => void uploads.send(files) : undefined}>
      <div class="file-bar">
        <Ancestors root={root} path={path} hrefOf={(path) => href(addressOf(path))} />
        {mayWrite && list && (
          <div class="actions">
            <Button
              onClick={() => dialog.open(NameDialog, { noun: "folder", create: createOne })}
            >
              New folder
            </Button>
            <Button onClick={() => dialog.open(NameDialog, { noun: "file", create })}>
              New file
            </Button>
            <UploadButton uploads={uploads} />
          </div>
        )}
      </div>
      <UploadProgress uploads={uploads} />
      <Listing
        name="Files"
        columns={fileColumns<File>((path) => href(addressOf(path)))}
        rows={list?.files}
        keyOf={({ path }) => path}
        nameOf={({ name }) => shownPath(name)}
        actions={(file) =>
          actionsOf(place, file, {
            mayWrite,
            reload,
            open: () => void open(file.path),
            rename: () => dialog.open(RenameDialog, { place, file, onRenamed: reload }),
          })}
        reading={reading}
        empty="This directory is empty."
        defaultSort="name"
      />
      {list?.truncated && (
        <p class="newest muted">
          The directory has more: {list.files.length.toLocaleString("en")} entries are shown.
        </p>
      )}
      {place.kind !== "containers" && list && <Users names={list.runningContainers} />}
      {dialog.shown}
    </DropArea>
  );
}

/** The page at another directory. */
function addressOf(path: string): string {
  const { pathname, search } = address.value;
  const next = new URLSearchParams(search);
  next.set("path", path);
  next.delete("sort");
  return `${pathname}?${next}`;
}

function Users({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p class="newest muted">
      Running containers may change these files at any moment: {names.map(plain).join(", ")}
    </p>
  );
}

function DropArea({ onDrop, children }: {
  onDrop: ((files: Iterable<globalThis.File>) => void) | undefined;
  children: ComponentChildren;
}) {
  const isOver = useSignal(false);
  return (
    <div
      class={isOver.value ? "file-drop over" : "file-drop"}
      onDragOver={(event) => {
        if (!onDrop || !event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => isOver.value = false}
      onDrop={(event) => {
        isOver.value = false;
        if (!onDrop || !event.dataTransfer) return;
        event.preventDefault();
        onDrop(event.dataTransfer.files);
      }}
    >
      {children}
    </div>
  );
}

function actionsOf(
  place: Place,
  { name, path, type, size }: File,
  { mayWrite, reload, open, rename }: {
    mayWrite: boolean;
    reload: () => void;
    open: () => void;
    rename: () => void;
  },
): readonly MenuItem[] {
  const isDirectory = type === "dir";
  const isFile = type === "file";
  const remove = async () => {
    const what = isDirectory ? "The directory and everything in it" : "The file";
    const consequence = `${what} is deleted. This cannot be undone.`;
    const question = { verb: "Delete", name: shownPath(name), consequence, typed: isDirectory };
    if (!await confirm(question)) return;
    if (await withResult(`Deleted ${shownPath(name)}`, () => deleteFile(place, path))) reload();
  };
  return [
    ...(isDirectory ? [{ name: "Open", onSelect: () => navigate(addressOf(path)) }] : []),
    ...(isFile && size <= TEXT_BYTES_MAX
      ? [{ name: mayWrite ? "Edit" : "View", onSelect: open }]
      : []),
    ...(isFile
      ? [{ name: "Download", onSelect: () => void downloadFile(filePath(place, path)) }]
      : []),
    ...(mayWrite
      ? [
        { name: "Rename", onSelect: rename },
        { name: "Delete", danger: true, onSelect: () => void remove() },
      ]
      : []),
  ];
}

async function downloadFile(path: string): Promise<void> {
  try {
    await download(path);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

function NameDialog({ noun, create, onClose }: {
  noun: "file" | "folder";
  create: (name: string) => Promise<void>;
  onClose: () => void;
}) {
  return (
    <FormDialog
      title={`New ${noun}`}
      submit="Create"
      onClose={onClose}
      onSubmit={({ name }) => create(name!)}
    >
      <TextField label="Name" name="name" required maxLength={255} autocomplete="off" />
    </FormDialog>
  );
}

function RenameDialog({ place, file: { name, path }, onRenamed, onClose }: {
  place: Place;
  file: File;
  onRenamed: () => void;
  onClose: () => void;
}) {
  return (
    <FormDialog
      title={`Rename ${shownPath(name)}`}
      submit="Rename"
      onClose={onClose}
      onSubmit={async ({ to }) => {
        await renameFile(place, path, to!);
        showStatus(`Renamed ${shownPath(name)}`);
        onRenamed();
      }}
    >
      <TextField
        label="New path"
        name="to"
        required
        value={path}
        maxLength={4095}
        hint="Below the same root; % is written as %25"
        autocomplete="off"
      />
    </FormDialog>
  );
}
