/**
 * Forms, and dialogs that create or change something. A form reads its fields when it is sent.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api, ApiError, type InputOf, type ResultOf } from "../api/client.ts";
import type { Operations } from "../api/types.ts";
import { plain } from "../base/text.ts";
import { sentenceOf, showStatus } from "../state/toasts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Problems } from "./fields.tsx";
import {
  type FormValues,
  inputsOf,
  problemsByField,
  problemsOf,
  valuesOf,
  withLabels,
} from "./form_values.ts";

interface FormProps {
  children: ComponentChildren;
  /** Text of the button. */
  submit: string;
  /** Rejects with the service's refusal, which the form shows. */
  onSubmit: (values: FormValues) => Promise<void>;
  onCancel?: () => void;
  /** Whether what is chosen cannot be sent; the form says why. */
  disabled?: boolean;
  /** The part that is shown, of a form with several. Problems go with the part that had them. */
  part?: string;
}

/** Checks its fields and sends nothing while one is invalid. */
export function Form(
  { children, submit, onSubmit, onCancel, disabled = false, part }: FormProps,
) {
  const form = useRef<HTMLFormElement>(null);
  const problems = useSignal<Record<string, string>>({});
  const refusal = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);

  useEffect(() => {
    problems.value = {};
    refusal.value = undefined;
  }, [part]);

  const show = (found: Record<string, string>) => {
    problems.value = found;
    const first = inputsOf(form.current!).find(({ name }) => name in found);
    const folded = first?.closest("details");
    if (folded) folded.open = true;
    first?.focus();
  };
  const send = async (event: Event) => {
    event.preventDefault();
    if (isBusy.value) return;
    refusal.value = undefined;
    const element = form.current!;
    const found = problemsOf(element);
    show(found);
    if (Object.keys(found).length > 0) return;
    isBusy.value = true;
    try {
      await onSubmit(valuesOf(element));
    } catch (error) {
      // The form may have been closed meanwhile.
      const found = error instanceof ApiError && form.current
        ? problemsByField(error, element)
        : {};
      if (!isOfField(error, found, element)) {
        refusal.value = withLabels(sentenceOf(error), element);
      }
      show(found);
    } finally {
      isBusy.value = false;
    }
  };

  return (
    <form ref={form} class="form" noValidate onSubmit={send}>
      <Problems.Provider value={problems.value}>{children}</Problems.Provider>
      {refusal.value !== undefined && <p class="note danger" role="alert">{refusal.value}</p>}
      <div class="actions">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button submit kind="primary" busy={isBusy.value} disabled={disabled}>{submit}</Button>
      </div>
    </form>
  );
}

/** Whether a refusal says no more than what is shown at a field, of those that have room for it. */
const isOfField = (
  error: unknown,
  found: Record<string, string>,
  form: HTMLFormElement,
): boolean =>
  error instanceof ApiError &&
  inputsOf(form).some((input) =>
    error.message === `body.${input.name}: ${found[input.name]}` &&
    input.closest("div.field, .check-group") !== null
  );

interface DialogProps extends Omit<FormProps, "onCancel"> {
  title: string;
  wide?: boolean;
  onClose: () => void;
}

/** A form in a dialog, which it closes after it was sent. */
export function FormDialog({ title, wide, onClose, ...form }: DialogProps) {
  return (
    <Dialog title={title} wide={wide ?? false} onClose={onClose}>
      <Form
        {...form}
        onCancel={onClose}
        onSubmit={async (values) => {
          await form.onSubmit(values);
          onClose();
        }}
      />
    </Dialog>
  );
}

/** A form in a dialog that creates something, or changes the item that there is already. */
export function EditDialog<Item extends object, Saved extends Item>(
  { noun, item, nameOf = nameOfItem, save, onSaved, ...dialog }:
    & Omit<DialogProps, "title" | "submit" | "onSubmit">
    & SaveProps<Saved>
    & {
      /** Noun of the created object, e.g. `rule`. */
      noun: string;
      item: Item | undefined;
      /** Default: its name or title. */
      nameOf?: (item: Item) => string;
      save: (values: FormValues) => Promise<Saved>;
    },
) {
  return (
    <FormDialog
      {...dialog}
      title={item ? `Edit ${plain(nameOf(item))}` : `New ${noun}`}
      submit={item ? "Save" : "Create"}
      onSubmit={async (values) => {
        const saved = await save(values);
        onSaved(saved);
        showStatus(`${item ? "Saved" : "Created"} ${plain(nameOf(saved))}`);
      }}
    />
  );
}

const nameOfItem = (item: { name?: string; title?: string }) => item.name ?? item.title ?? "";

/** A path below which objects are created, and changed by their id. */
type Collection = {
  [Name in keyof Operations]: Name extends `POST ${infer Path}`
    ? Extract<keyof Operations, `PUT ${Path}/{${string}}`> extends never ? never : Path
    : never;
}[keyof Operations];

/**
 * Creates an object, or changes it if there is one already.
 *
 * @param within The parameters of the path, if it has any.
 */
export function saveItem<Path extends Collection>(
  path: Path,
  item: { id: string } | undefined,
  body: InputOf<`POST ${Path}`> extends { body: infer Body } ? Body : never,
  ...[within]: InputOf<`POST ${Path}`> extends { path: infer Within } ? [within: Within] : []
): Promise<ResultOf<`POST ${Path}`>> {
  const call = api as (...args: unknown[]) => Promise<ResultOf<`POST ${Path}`>>;
  return item
    ? call(`PUT ${path}/{id}`, { path: { ...within as object, id: item.id }, body })
    : call(`POST ${path}`, { path: within, body });
}

export interface SaveProps<Saved = unknown> {
  onClose: () => void;
  onSaved: (saved: Saved) => void;
}

/** Properties of a dialog that creates an object, or edits an existing one. */
export interface EditProps<Item, Saved = unknown> extends SaveProps<Saved> {
  item: Item | undefined;
}
