/** Actions on images. @module */

import { api } from "../../api/client.ts";
import { download } from "../../api/files.ts";
import { confirm } from "../../components/dialog.tsx";
import { bytes, plain } from "../../base/text.ts";
import { jobEnd } from "../../state/jobs.ts";
import { addJob } from "../../state/live.ts";
import { sentenceOf, showAlert, showStatus, withResult } from "../../state/toasts.ts";
import { type ImageRow, nameOf } from "./columns.tsx";

/** Reference of the row's image in the API: its tag, because an id stands for all tags. */
const referenceOf = ({ tag, image }: ImageRow): string => tag ?? image.id;

/** Starts a pull; its end is reported wherever the user is by then. */
export async function pullImage(
  input: { image: string; platform?: string },
  onDone: () => void,
): Promise<void> {
  const job = await api("POST /api/images/pull", { body: input });
  addJob(job);
  const shown = plain(input.image);
  void withResult(`Pulled ${shown}`, () => jobEnd(job.id)).then(onDone);
}

/** @param force Also if stopped containers use it. */
export async function removeImage(
  row: ImageRow,
  onDone: () => void,
  { force = false } = {},
): Promise<void> {
  const { image } = row;
  const name = nameOf(row);
  const others = image.repoTags.filter((tag) => tag !== row.tag).map(plain);
  const what = others.length > 0
    ? `The tag ${plain(name)} is removed. The image keeps ${others.join(", ")}.`
    : `The image ${plain(name)} (${bytes(image.size)}) is deleted.`;
  const users = image.containers > 0 ? ` Containers that use it: ${image.containers}.` : "";
  const verb = force ? "Force remove" : "Remove";
  if (!await confirm({ verb, name, consequence: what + users })) return;
  const path = { id: referenceOf(row) };
  const work = () => api("DELETE /api/images/{id}", { path, query: { force } });
  if (await withResult(`Removed ${plain(name)}`, work)) onDone();
}

/** Saves the image as an archive, which another host can load. */
export async function exportImage(row: ImageRow): Promise<void> {
  try {
    await download(`api/images/${encodeURIComponent(referenceOf(row))}/export`);
    showStatus(`Exporting ${plain(nameOf(row))}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
