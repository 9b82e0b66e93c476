/** The question before unused objects are removed, with a preview of them. @module */

import { useSignal } from "@preact/signals";
import { api } from "../api/client.ts";
import type { PrunedKind, PruneOptions, PruneResult } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { useRead } from "../components/reading.ts";
import { Failure, Loading } from "../components/states.tsx";
import { addStyles } from "../components/styles.ts";
import { bytes, capital, count, imageName } from "../base/text.ts";
import { sentenceOf, showAlert, showStatus } from "../state/toasts.ts";
import styles from "./prune.css" with { type: "text" };

addStyles(styles);

export const KINDS = {
  containers: { title: "Containers", noun: "container", label: "Stopped containers" },
  images: { title: "Images", noun: "image", label: "Images without a tag" },
  networks: { title: "Networks", noun: "network", label: "Unused networks" },
  buildCache: { title: "Build cache", noun: "cache record", label: "Build cache" },
  volumes: { title: "Volumes", noun: "volume", label: "Unused volumes with their files" },
} as const;

export type Kind = keyof typeof KINDS;

export const AGES = [
  { hours: 0, name: "Any age" },
  { hours: 1, name: "Older than 1 hour" },
  { hours: 24, name: "Older than 1 day" },
  { hours: 168, name: "Older than 7 days" },
  { hours: 720, name: "Older than 30 days" },
];

/** Limit of items of a kind in the preview; the others are counted. */
const SHOWN_MAX = 100;

interface PruneDialogProps {
  /** Noun in the title, e.g. `images`. */
  things: string;
  /** With several, the user chooses from them. Volumes are not chosen at first. */
  kinds: readonly Kind[];
  onClose: () => void;
  onPruned: () => void;
}

export function PruneDialog({ things, kinds, onClose, onPruned }: PruneDialogProps) {
  const chosen = useSignal<readonly Kind[]>(
    kinds.length === 1 ? kinds : kinds.filter((kind) => kind !== "volumes"),
  );
  const unusedImages = useSignal(false);
  const olderThanHours = useSignal(0);
  const isBusy = useSignal(false);
  const refusal = useSignal<string | undefined>(undefined);
  const options: PruneOptions = {
    kinds: [...chosen.value],
    includeVolumes: chosen.value.includes("volumes"),
    unusedImages: unusedImages.value,
    olderThanHours: olderThanHours.value,
  };
  const { data, error, reload } = useRead(
    "POST /api/system/prune",
    chosen.value.length > 0 ? { body: { ...options, dryRun: true } } : undefined,
  );
  const preview = chosen.value.length > 0 ? data.value : undefined;
  const total = preview ? countOf(preview) : 0;

  const prune = async () => {
    isBusy.value = true;
    refusal.value = undefined;
    try {
      report(await api("POST /api/system/prune", { body: options }));
      onPruned();
      onClose();
    } catch (failure) {
      refusal.value = sentenceOf(failure);
    } finally {
      isBusy.value = false;
    }
  };
  const toggle = (kind: Kind) => {
    chosen.value = chosen.peek().includes(kind)
      ? chosen.peek().filter((each) => each !== kind)
      : [...chosen.peek(), kind];
  };
  return (
    <Dialog role="alertdialog" title={`Prune ${things}?`} onClose={onClose} wide>
      <div class="prune-options">
        {kinds.length > 1 && kinds.map((kind) => (
          <Check
            key={kind}
            label={KINDS[kind].label}
            checked={chosen.value.includes(kind)}
            onToggle={() => toggle(kind)}
          />
        ))}
        {kinds.includes("images") && (
          <Check
            label="Unused images with a tag"
            checked={unusedImages.value}
            disabled={!chosen.value.includes("images")}
            onToggle={() => unusedImages.value = !unusedImages.peek()}
          />
        )}
        <label>
          Age
          <select
            value={String(olderThanHours.value)}
            onChange={(event) => olderThanHours.value = Number(event.currentTarget.value)}
          >
            {AGES.map(({ hours, name }) => <option key={hours} value={hours}>{name}</option>)}
          </select>
        </label>
      </div>
      {error.value
        ? <Failure error={error.value} onRetry={reload} />
        : chosen.value.length === 0
        ? <p class="muted">Choose what to remove.</p>
        : preview
        ? <Preview preview={preview} kinds={chosen.value} />
        : <Loading name="Preview" />}
      {refusal.value !== undefined && <p class="note danger" role="alert">{refusal.value}</p>}
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>Cancel</button>
        <Button
          kind="danger"
          disabled={total === 0}
          busy={isBusy.value}
          onClick={() => void prune()}
        >
          Prune
        </Button>
      </div>
    </Dialog>
  );
}

function Check({ label, checked, disabled, onToggle }: {
  label: string;
  checked: boolean;
  disabled?: boolean;
  onToggle: () => void;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={onToggle} />
      {label}
    </label>
  );
}

function Preview({ preview, kinds }: { preview: PruneResult; kinds: readonly Kind[] }) {
  const parts = kinds.map((kind) => ({ kind, part: preview[kind] }));
  const found = parts.filter(({ part }) => part.count > 0);
  return (
    <section class="preview" aria-label="Preview">
      {found.length === 0 ? <p>Nothing to remove: everything is in use or too new.</p> : (
        <p>
          <strong>
            {found.map(({ kind, part }) => count(part.count, KINDS[kind].noun)).join(", ")}
          </strong>{" "}
          {countOf(preview) === 1 ? "is" : "are"} removed
          {preview.totalReclaimed > 0 && (
            <>
              , which frees about <strong>{bytes(preview.totalReclaimed)}</strong>
            </>
          )}. This cannot be undone.
        </p>
      )}
      {found.length === 1 && <Items part={found[0]!.part} />}
      {found.length > 1 && found.map(({ kind, part }) => (
        <details key={kind}>
          <summary>{KINDS[kind].title} ({part.count.toLocaleString("en")})</summary>
          <Items part={part} />
        </details>
      ))}
      {parts.map(({ kind, part }) =>
        part.error !== null && (
          <p key={kind} class="note danger" role="alert">{KINDS[kind].title}: {part.error}</p>
        )
      )}
    </section>
  );
}

function Items({ part }: { part: PrunedKind }) {
  const hidden = part.items.length - SHOWN_MAX;
  return (
    <ul tabIndex={0} aria-label="Removed">
      {part.items.slice(0, SHOWN_MAX).map(({ id, name, size }) => (
        <li key={id}>
          <span class="cut">{imageName(name)}</span>
          <span class="muted numeric">{size === null ? "" : bytes(size)}</span>
        </li>
      ))}
      {hidden > 0 && <li class="muted">and {hidden.toLocaleString("en")} more</li>}
    </ul>
  );
}

const kindsOf = (result: PruneResult) =>
  (Object.keys(KINDS) as Kind[]).map((kind) => ({ kind, part: result[kind] }));

const countOf = (result: PruneResult): number =>
  kindsOf(result).reduce((sum, { part }) => sum + part.count, 0);

/** E.g. `removed 2 containers, 1 image, freed 1.2 GB`. */
export function removedText(counts: Record<Kind, number>, freedBytes: number): string {
  const removed = (Object.keys(KINDS) as Kind[]).filter((kind) => counts[kind] > 0)
    .map((kind) => count(counts[kind], KINDS[kind].noun));
  return `removed ${removed.join(", ") || "nothing"}, freed ${bytes(freedBytes)}`;
}

/** Says what was removed, and which kinds failed. */
function report(result: PruneResult): void {
  const parts = kindsOf(result);
  const failed = parts.flatMap(({ part }) => part.error ?? []);
  if (countOf(result) > 0 || failed.length === 0) {
    const counts = Object.fromEntries(parts.map(({ kind, part }) => [kind, part.count]));
    showStatus(capital(removedText(counts as Record<Kind, number>, result.totalReclaimed)));
  }
  if (failed.length > 0) showAlert([...new Set(failed)].join("; "));
}
