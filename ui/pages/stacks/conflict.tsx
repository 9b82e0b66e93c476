/**
 * The question what to do when a stack was changed while it was edited.
 *
 * @module
 */

import type { StackSource } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { userName, useUserOptions } from "../../components/user_options.ts";
import { Diff } from "./diff.tsx";

/** @param props.based The version that was edited. */
export function Conflict({ based, newer, onTake, onOverwrite, onClose }: {
  based: number;
  newer: StackSource;
  onTake: () => void;
  onOverwrite: () => void;
  onClose: () => void;
}) {
  const { name, version, updatedBy, updatedAt } = newer;
  const users = useUserOptions();
  const { data, error } = useRead("GET /api/stacks/{name}/versions/{version}/diff/{other}", {
    path: { name, version: based, other: version },
  });
  return (
    <Dialog title={`${plain(name)} was changed meanwhile`} onClose={onClose} wide>
      <p>
        {plain(userName(users, updatedBy))} saved version {version} <Time at={updatedAt} />{" "}
        while you edited version {based}. This is what changed:
      </p>
      {error.value
        ? <Failure error={error.value} />
        : data.value
        ? <Diff name={`Version ${based} to version ${version}`} diff={data.value.diff} />
        : <Loading name="Diff" />}
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>
          Keep editing
        </button>
        <Button onClick={onTake}>Discard mine</Button>
        <Button kind="danger" onClick={onOverwrite}>Save mine as version {version + 1}</Button>
      </div>
    </Dialog>
  );
}
