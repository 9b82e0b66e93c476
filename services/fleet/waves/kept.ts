/** The stored blocks of a hub and of a member. @module */

import {
  deleteFleetBlocksBeyond,
  replaceFleetBlock,
  selectBlocksOfDigest,
  selectFleetBlocks,
  type StoredBlock,
} from "../../../db/fleet_blocks.ts";
import { selectFleetKey } from "../../../db/fleet_keys.ts";
import type { Deps } from "../../deps.ts";
import { selectFormerNoteKeys } from "../../../db/fleet_note_keys.ts";
import { checkOf } from "../enrolment/note_keys.ts";
import type { CheckSignature } from "../notes/note.ts";
import { type Block, type ImageKey, keyOf, openBlock, readBlock } from "./block.ts";
import { BLOCKS_MAX, isNews, type KeptBlock } from "./blocks.ts";

type KeptDeps = Pick<Deps, "db">;
type Source = StoredBlock["source"];

/** Newest first. */
export const keptBlocks = ({ db }: KeptDeps, source: Source): KeptBlock[] =>
  selectFleetBlocks(db, source);

/** The block of an image, also a lifted one. */
export function findKept(deps: KeptDeps, source: Source, image: ImageKey): Block | undefined {
  const found = keptBlocks(deps, source).find((each) => keyOf(each) === keyOf(image));
  return found && readBlock(found.text);
}

/** The block of an image that is not lifted, of this hub or of the hub of this member. */
export function blockOfImage({ db }: KeptDeps, { digest, platform }: ImageKey): Block | undefined {
  const found = selectBlocksOfDigest(db, digest).find((each) => each.platform === platform);
  return found && readBlock(found.text);
}

/** Stores a block unless a newer one of the image is kept. @returns Whether it was news. */
export function keepBlock({ db }: KeptDeps, source: Source, block: KeptBlock): boolean {
  if (!isNews(selectFleetBlocks(db, source), block)) return false;
  const { digest, platform, number, isBlocked, text } = block;
  replaceFleetBlock(db, { source, digest, platform, number, isBlocked, text });
  deleteFleetBlocksBeyond(db, source, BLOCKS_MAX);
  return true;
}

/** Opens a block with its signature, for `keepBlock()`. */
export async function openKept(
  check: CheckSignature,
  text: string,
): Promise<KeptBlock | undefined> {
  const block = await openBlock(check, text);
  if (!block) return undefined;
  const { digest, platform, number, isBlocked } = block;
  return { digest, platform, number, isBlocked, text };
}

/** Whether a signature is one of this hub, also with a former key. */
export const ownCheck = ({ db }: KeptDeps): CheckSignature => async (signature, bytes) => {
  const own = [selectFleetKey(db, "note"), ...selectFormerNoteKeys(db)];
  for (const key of own) {
    if (key && await (await checkOf(key.publicKey))(signature, bytes)) return true;
  }
  return false;
};
