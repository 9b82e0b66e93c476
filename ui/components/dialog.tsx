/** Dialogs, and the question before something is destroyed. @module */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { computed, signal, useSignal } from "@preact/signals";
import { focusPage, visits } from "../state/router.ts";
import { Button } from "./button.tsx";
import { plain } from "../base/text.ts";
import { Toasts } from "./toasts.tsx";

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Called by Escape; the caller removes the dialog. */
  onClose: () => void;
  /** Whether Escape does nothing: what the dialog shows is not shown again. */
  ignoresEscape?: boolean;
  role?: "dialog" | "alertdialog";
  wide?: boolean;
}

const FIELDS =
  ":is(input:not([type=hidden], [type=radio]:not(:checked)), select, textarea)" as "input";

/** Ids of the open dialogs, the topmost last. */
const openIds = signal<readonly string[]>([]);

export const isDialogOpen = computed(() => openIds.value.length > 0);

/**
 * A modal dialog. It is open while it is rendered. When it is removed, the focus returns to what
 * opened it, or to the page if another one was opened meanwhile.
 */
export function Dialog(
  { title, children, onClose, ignoresEscape, role = "dialog", wide }: DialogProps,
) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  // Not `useEffect`, whose cleanup runs after the next paint: the focus may have moved on by then.
  useLayoutEffect(() => {
    const visit = visits.peek();
    const opener = document.activeElement as HTMLElement | null;
    const dialog = element.current!;
    dialog.showModal();
    // Browsers prefer the body where it can be scrolled.
    (dialog.querySelector<HTMLElement>("[data-autofocus]") ?? dialog.querySelector(FIELDS))
      ?.focus();
    openIds.value = [...openIds.peek(), id];
    return () => {
      openIds.value = openIds.peek().filter((each) => each !== id);
      // Nothing outside an open modal dialog can get the focus.
      dialog.close();
      if (visits.peek() === visit) opener?.focus();
      else focusPage();
    };
  }, []);

  return (
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      role={role === "alertdialog" ? role : undefined}
      aria-labelledby={`${id}-title`}
      aria-describedby={role === "alertdialog" ? `${id}-text` : undefined}
      onKeyDown={(event) => {
        // A canceled `cancel` is not enough: the second one closes the dialog in any case.
        if (ignoresEscape && event.key === "Escape") event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (!ignoresEscape) onClose();
      }}
    >
      <h2 id={`${id}-title`}>{title}</h2>
      <div id={`${id}-text`} class="dialog-body">{children}</div>
      {/* Everything outside the topmost dialog can be neither read nor clicked. */}
      {openIds.value.at(-1) === id && <Toasts />}
    </dialog>
  );
}

/** Shows one dialog of a page at a time: `{dialog.shown}` is where the page has it. */
export function useDialog() {
  const shown = useSignal<ComponentChildren>(undefined);
  return {
    /** Replaces the open one, which then no longer closes. */
    open<Props extends { onClose: () => void }>(
      Body: (props: Props) => ComponentChildren,
      props: Omit<Props, "onClose">,
      onClosed?: () => void,
    ): void {
      const close = () => {
        if (shown.peek() !== dialog) return;
        shown.value = undefined;
        onClosed?.();
      };
      const dialog = <Body {...props as Props} onClose={close} />;
      shown.value = dialog;
    },
    get shown() {
      return shown.value;
    },
  };
}

export interface Question {
  /** Verb of the action, as on the button: `Remove`. */
  verb: string;
  /** The object's name. */
  name: string;
  /** Loss caused by the action, by name and number; one sentence or several. */
  consequence: ComponentChildren;
  /** For volumes and stacks: the name must be typed. */
  typed?: boolean;
  /** Nothing is destroyed. */
  isSafe?: boolean;
}

const open = signal<{ question: Question; answer: (yes: boolean) => void } | undefined>(undefined);

/** Asks before something is destroyed: `if (await confirm({ verb: "Remove", name, ... }))`. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    open.value = {
      question,
      answer(yes) {
        open.value = undefined;
        resolve(yes);
      },
    };
  });
}

/** Shows the questions of {@linkcode confirm}; once in the document. */
export function Confirmation() {
  if (!open.value) return null;
  const { question, answer } = open.value;
  return <ConfirmDialog {...question} onAnswer={answer} />;
}

function ConfirmDialog(
  { verb, name, consequence, typed, isSafe, onAnswer }: Question & {
    onAnswer: (yes: boolean) => void;
  },
) {
  const text = useSignal("");
  const id = useId();
  const shown = plain(name);
  return (
    <Dialog role="alertdialog" title={`${verb} ${shown}?`} onClose={() => onAnswer(false)}>
      <p>{consequence}</p>
      {typed && (
        <p class="field">
          <label for={id}>Type {shown} to confirm</label>
          <input
            id={id}
            autocomplete="off"
            spellcheck={false}
            value={text.value}
            onInput={(event) => text.value = event.currentTarget.value}
          />
        </p>
      )}
      <div class="actions">
        <button
          type="button"
          class="button plain"
          data-autofocus
          onClick={() => onAnswer(false)}
        >
          Cancel
        </button>
        <Button
          kind={isSafe ? "primary" : "danger"}
          disabled={typed === true && text.value !== name}
          onClick={() => onAnswer(true)}
        >
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}
