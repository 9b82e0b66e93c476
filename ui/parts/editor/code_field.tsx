/** A field with a text editor, whose library is loaded when the first one is shown. @module */

import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { ComposeKeys } from "../../api/types.ts";
import { addStyles } from "../../components/styles.ts";
import { plain } from "../../base/text.ts";
import type { CodeMirror, TextProblem } from "./code_mirror.ts";
import styles from "./code_field.css" with { type: "text" };

addStyles(styles);

/** A position that the cursor moves to; a new object moves it again. */
export interface Target {
  line: number;
  column: number;
}

/** The editor holds the text. Another `key` opens one with another text. */
export function CodeField({ name, text, isReadOnly, keys, problems, target, onChange }: {
  /** The label. */
  name: string;
  /** Text at first. */
  text: string;
  isReadOnly: boolean;
  /** Keys to complete; makes it an editor of YAML. `null` while they are not known. */
  keys?: ComposeKeys | null;
  problems: readonly TextProblem[];
  target?: Target | undefined;
  onChange: (text: string) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const editor = useSignal<CodeMirror | undefined>(undefined);
  const latest = useRef({ keys, onChange });
  latest.current = { keys, onChange };

  useEffect(() => {
    const host = document.createElement("div");
    frame.current!.append(host);
    let isClosed = false;
    void import("./code_mirror.ts").then(({ openCodeMirror }) => {
      if (isClosed) return;
      editor.value = openCodeMirror(host, {
        name: plain(name),
        text,
        isReadOnly,
        isYaml: keys !== undefined,
        keys: () => latest.current.keys ?? undefined,
        onChange: (text) => latest.current.onChange(text),
      });
    });
    return () => {
      isClosed = true;
      editor.peek()?.close();
      host.remove();
    };
  }, []);
  useEffect(() => editor.value?.setProblems(problems), [editor.value, problems]);
  useEffect(() => {
    if (target) editor.value?.goTo(target.line, target.column);
  }, [editor.value, target]);

  return (
    <div class="code-field">
      <span class="code-label" aria-hidden="true">{plain(name)}</span>
      <div ref={frame} class="code-frame" aria-busy={editor.value ? undefined : "true"} />
    </div>
  );
}
