/** Ways to begin a new stack without writing its Compose file: a command, a file or an example. @module */

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Menu, type MenuItem } from "../../components/menu.tsx";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import type { Draft } from "./editor/draft.ts";
import { Warnings } from "./generated.tsx";
import {
  environmentOf,
  stackNameOf,
  STARTING_POINTS,
  type StartingPoint,
} from "./starting_points/mod.ts";

/** A text that is a command rather than a Compose file. */
const COMMAND = /^\s*([$#]\s+)?(sudo\s+)?(docker|podman)\s+(container\s+)?(run|create)\s/;

/** Largest Compose file that is read from a disk, in bytes. */
const FILE_BYTES_MAX = 1024 * 1024;

interface Props {
  draft: Signal<Draft>;
  /** Shows the draft again, because it was replaced, and proposes a name for the stack. */
  onReplaced: (proposal?: string) => void;
}

export function Beginnings({ draft, onReplaced }: Props) {
  const warnings = useSignal<readonly string[]>([]);
  const before = useRef(draft.peek().compose);
  const replace = (changes: Partial<Draft>, proposal?: string) => {
    draft.value = { ...draft.peek(), ...changes };
    onReplaced(proposal);
  };
  const convert = async (command: string) => {
    try {
      const converted = await api("POST /api/stacks/convert", { body: { command } });
      warnings.value = converted.warnings;
      replace({ compose: converted.compose }, firstService(converted.compose));
      showStatus("Converted the command into a Compose file");
    } catch (error) {
      showAlert(sentenceOf(error));
    }
  };
  // A command that is pasted into the empty editor. One that is typed waits for the button.
  useSignalEffect(() => {
    const { compose } = draft.value;
    if (before.current === "" && COMMAND.test(compose)) void convert(compose);
    before.current = compose;
  });

  const { compose } = draft.value;
  if (COMMAND.test(compose)) {
    return (
      <div class="note">
        <p>This is a command. A stack needs a Compose file.</p>
        <Button onClick={() => void convert(compose)}>Convert the command</Button>
      </div>
    );
  }
  if (compose.trim() !== "") return <Warnings texts={warnings.value} />;
  return (
    <div class="beginnings" role="group" aria-label="Begin with">
      <span class="muted">
        Write a Compose file, paste one or a <code>docker run</code> command, or begin with
      </span>
      <Menu
        name="An example"
        items={() => STARTING_POINTS.map((each) => exampleItem(each, replace))}
      >
        <Icon name="stack" />
        An example
      </Menu>
      <FileButton onText={(text) => replace({ compose: text })} />
    </div>
  );
}

const exampleItem = (
  point: StartingPoint,
  replace: (changes: Partial<Draft>, proposal: string) => void,
): MenuItem => ({
  name: point.name,
  onSelect: () =>
    replace(
      { compose: point.compose, env: environmentOf(point, () => makePassword()) },
      stackNameOf(point),
    ),
});

/** The name of the only service of a converted command, in the form of a stack's name. */
const firstService = (compose: string): string | undefined =>
  /^services:\n +([\w.-]+):/m.exec(compose)?.[1]?.toLowerCase().replaceAll(".", "-");

/** 144 bits. */
const makePassword = () =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))))
    .replaceAll("+", "-").replaceAll("/", "_");

function FileButton({ onText }: { onText: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > FILE_BYTES_MAX) return showAlert(`${plain(file.name)} is larger than 1 MiB`);
    onText(await file.text());
  };
  return (
    <>
      <Button onClick={() => input.current!.click()}>A file</Button>
      <input
        ref={input}
        hidden
        type="file"
        aria-label="Compose file from this computer"
        accept=".yaml,.yml"
        onChange={(event) => void read(event.currentTarget.files?.[0])}
      />
    </>
  );
}
