/**
 * The sources of a stack: Compose file, variables, further files and profiles, checked while they are
 * written.
 *
 * @module
 */

import { useMemo } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import { Button } from "../../../components/button.tsx";
import { TextField } from "../../../components/fields.tsx";
import { FormDialog } from "../../../components/form.tsx";
import { useRead } from "../../../components/reading.ts";
import { Tabs } from "../../../components/tabs.tsx";
import { plain } from "../../../base/text.ts";
import { pagePath, query, setQuery } from "../../../state/router.ts";
import { addStyles } from "../../../components/styles.ts";
import { CodeField, type Target } from "../../../parts/editor/code_field.tsx";
import styles from "./editor.css" with { type: "text" };
import type { Draft } from "./draft.ts";
import { type Problem, Problems, useValidation } from "./problems.tsx";

addStyles(styles);

const ENVIRONMENT = "Environment";

interface SourceEditorProps {
  draft: Signal<Draft>;
  /** Changes when the editor has to show the draft again, because it was replaced. */
  revision: number;
  isReadOnly?: boolean;
  /** Of a stack on disk: relative paths are relative to it. */
  directory?: string | undefined;
  /** Of a stack on disk: files stay although they are not sent. */
  keepsFiles?: boolean;
  /** Problems that the service refused; gone after the next change. */
  refusal?: readonly Problem[];
}

export function SourceEditor(
  { draft, revision, isReadOnly = false, directory, keepsFiles = false, refusal }:
    SourceEditorProps,
) {
  const { data: keys } = useRead("GET /api/compose/keys", isReadOnly ? undefined : {});
  const validation = useValidation(draft.value, directory);
  const problems = refusal ?? validation?.problems ?? NONE;
  const target = useSignal<Target & { file: string | null } | undefined>(undefined);
  const isAdding = useSignal(false);

  const { compose, env, files, profiles } = draft.value;
  const names = Object.keys(files).sort();
  const file = names.find((name) => name === query.value.get("file"));
  const ofCompose = useOf(problems, null);
  const ofFile = useOf(problems, file ?? null);
  const change = (changes: Partial<Draft>) => draft.value = { ...draft.peek(), ...changes };
  const open = ({ file, line, column }: Problem) => {
    setQuery({ file: file ?? query.peek().get("file") ?? undefined });
    target.value = { file, line, column };
  };
  const targetOf = (file: string | null) => target.value?.file === file ? target.value : undefined;
  const removeFile = (name: string) => {
    const { [name]: _, ...rest } = draft.peek().files;
    change({ files: rest });
  };
  const path = pagePath();
  const pathTo = (file: string | undefined) => {
    const next = new URLSearchParams(query.value);
    if (file === undefined) next.delete("file");
    else next.set("file", file);
    return next.size > 0 ? `${path}?${next}` : path;
  };
  return (
    <>
      <div class="source-editor">
        <CodeField
          key={`compose ${revision}`}
          name="Compose file"
          text={compose}
          isReadOnly={isReadOnly}
          keys={keys.value ?? null}
          problems={ofCompose}
          target={targetOf(null)}
          onChange={(compose) => change({ compose })}
        />
        <div class="source-side">
          <Tabs
            name="Files"
            current={plain(file ?? ENVIRONMENT)}
            tabs={[
              { name: ENVIRONMENT, to: pathTo(undefined) },
              ...names.map((name) => ({ name: plain(name), to: pathTo(name) })),
            ]}
          >
            {file === undefined
              ? (
                <CodeField
                  key={`env ${revision}`}
                  name={ENVIRONMENT}
                  text={env}
                  isReadOnly={isReadOnly}
                  problems={NONE}
                  onChange={(env) => change({ env })}
                />
              )
              : (
                <CodeField
                  key={`file ${file} ${revision}`}
                  name={file}
                  text={files[file]!}
                  isReadOnly={isReadOnly}
                  problems={ofFile}
                  target={targetOf(file)}
                  onChange={(text) => change({ files: { ...draft.peek().files, [file]: text } })}
                />
              )}
          </Tabs>
          {!isReadOnly && (
            <div class="source-actions">
              <Button icon="plus" onClick={() => isAdding.value = true}>Add file</Button>
              {file !== undefined && !keepsFiles && (
                <Button
                  kind="quiet"
                  onClick={() => removeFile(file)}
                >
                  Remove {plain(file)}
                </Button>
              )}
            </div>
          )}
          <label class="field">
            Profiles
            <input
              value={profiles}
              readOnly={isReadOnly}
              placeholder="COMPOSE_PROFILES of the environment"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => change({ profiles: event.currentTarget.value })}
            />
          </label>
          {!isReadOnly && (
            <p class="hint">
              The environment has the variables of the Compose file, as in{" "}
              <code>.env</code>. Files are for <code>env_file</code>, <code>extends</code>,{" "}
              <code>include</code>, configs and secrets. <kbd>Escape</kbd>, then <kbd>Tab</kbd>{" "}
              leaves an editor.
            </p>
          )}
        </div>
      </div>
      {(refusal || validation) && (
        <Problems
          problems={problems}
          services={validation?.services ?? NONE}
          onOpen={open}
        />
      )}
      {isAdding.value && (
        <FileDialog
          taken={names}
          onAdd={(name) => {
            change({ files: { ...draft.peek().files, [name]: "" } });
            setQuery({ file: name });
          }}
          onClose={() => isAdding.value = false}
        />
      )}
    </>
  );
}

const NONE: readonly never[] = [];

/** The problems of one file; the same list until they change. */
const useOf = (problems: readonly Problem[], file: string | null): readonly Problem[] =>
  useMemo(() => problems.filter((each) => each.file === file), [problems, file]);

/** A relative path without `..`, `.` and empty parts, as the service requires it. */
const FILE_NAME = /^(?!\/)(?!.*(?:^|\/)(?:\.{1,2})?(?:\/|$))[^\\\p{Cc}]+$/u;

function FileDialog({ taken, onAdd, onClose }: {
  taken: readonly string[];
  onAdd: (name: string) => void;
  onClose: () => void;
}) {
  return (
    <FormDialog
      title="Add file"
      submit="Add"
      onSubmit={({ name }) => Promise.resolve(onAdd(name))}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        required
        maxLength={255}
        autocomplete="off"
        placeholder="app.env"
        hint="As the Compose file names it, relative to the stack"
        check={(name) =>
          taken.includes(name.trim())
            ? "There is a file with this name"
            : FILE_NAME.test(name.trim())
            ? undefined
            : "Must be a relative path without .."}
      />
    </FormDialog>
  );
}
