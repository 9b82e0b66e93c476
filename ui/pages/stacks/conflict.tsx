/** The question what to do when a stack was changed while it was edited. @module */

import type { StackSource } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { userName } from "../../parts/user_name.ts";
import { useUserOptions } from "../../parts/user_options.ts";
import { Diff } from "./diff.tsx";

/** Author of a change on disk, instead of the id of a user. */
export const ON_DISK = "disk";

/**
 * @param props.based The version that was edited.
 * @param props.diff From that version to the newer one.
 */
export function Conflict({ based, newer, diff, onTake, onOverwrite, onClose }: {
  based: number;
  newer: StackSource;
  diff: string;
  onTake: () => void;
  onOverwrite: () => void;
  onClose: () => void;
}) {
  const { name, version, updatedBy, updatedAt, directory } = newer;
  const users = useUserOptions();
  const isOnDisk = updatedBy === ON_DISK;
  return (
    <Dialog
      title={isOnDisk
        ? `${plain(name)} was edited on disk`
        : `${plain(name)} was changed meanwhile`}
      onClose={onClose}
      wide
    >
      <p>
        {isOnDisk && directory !== null
          ? `The files in ${plain(directory)} were edited`
          : `${plain(userName(users, updatedBy))} saved version ${version} `}
        {!isOnDisk && <Time at={updatedAt} />} while you edited version{" "}
        {based}. This is what changed:
      </p>
      <Diff name={`Version ${based} to version ${version}`} diff={diff} />
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
