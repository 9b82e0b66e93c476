/** The screen of a terminal: xterm.js within the Content-Security-Policy. @module */

import { effect } from "@preact/signals";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import xtermStyles from "@xterm/xterm/css/xterm.css" with { type: "text" };
import { confirm } from "../../components/dialog.tsx";
import { addStyles } from "../../components/styles.ts";
import { colorOf, shownTheme } from "../../state/appearance.ts";
import ownStyles from "./terminal.css" with { type: "text" };

addStyles(xtermStyles + ownStyles);
allowStyles();

export interface Size {
  cols: number;
  rows: number;
}

export interface Screen {
  size(): Size;
  write(bytes: Uint8Array): void;
  onInput(send: (bytes: Uint8Array<ArrayBuffer>) => void): void;
  onResize(send: (size: Size) => void): void;
  focus(): void;
  /** Takes no more input; what is shown stays. */
  end(): void;
}

/** Limit of the service for columns and rows. */
const SIZE_MAX = 1_000;

/** Lines that can be scrolled back to. */
const SCROLLBACK_LINES = 5_000;

/**
 * Limit of output that is not drawn yet, in bytes. A browser cannot slow down a WebSocket, and a
 * program can write faster than a screen is drawn; xterm.js fails at 50 MB.
 */
const WAITING_MAX = 4 * 1024 * 1024;

/** Soft reset (DECSTR), because what was skipped may have ended within a control sequence. */
const SKIPPED =
  "\x1b[!p\r\n\x1b[7m Output was skipped: it arrived faster than it can be shown \x1b[m\r\n";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

const encoder = new TextEncoder();

/** Opens a screen that fills `frame`, until `signal` aborts. */
export function openScreen(
  frame: HTMLElement,
  { isReadOnly, convertEol, signal }: {
    isReadOnly: boolean;
    convertEol: boolean;
    signal: AbortSignal;
  },
): Screen {
  const terminal = new Terminal({
    convertEol,
    cursorBlink: !isReadOnly,
    disableStdin: isReadOnly,
    fontFamily: getComputedStyle(frame).getPropertyValue("--mono"),
    fontSize: 13,
    linkHandler: { activate: (_, address) => void openLink(address) },
    minimumContrastRatio: 4.5,
    scrollback: SCROLLBACK_LINES,
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(frame);
  // The keyboard must not be trapped (WCAG 2.1.2), and shells hardly use this key.
  terminal.attachCustomKeyEventHandler(({ key, shiftKey }) => !(key === "Tab" && shiftKey));

  const stopTheme = effect(() => {
    void shownTheme.value;
    terminal.options.theme = themeOf(frame);
  });
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(frame);
  fit.fit();
  signal.addEventListener("abort", () => {
    resized.disconnect();
    stopTheme();
    terminal.dispose();
  });

  let waiting = 0;
  let isSkipping = false;
  const size = () => ({
    cols: Math.min(terminal.cols, SIZE_MAX),
    rows: Math.min(terminal.rows, SIZE_MAX),
  });
  return {
    size,
    write(bytes) {
      isSkipping = waiting > (isSkipping ? 0 : WAITING_MAX);
      if (isSkipping) return;
      waiting += bytes.length;
      terminal.write(bytes, () => {
        waiting -= bytes.length;
        if (isSkipping && waiting === 0) terminal.write(SKIPPED);
      });
    },
    onInput(send) {
      terminal.onData((text) => send(encoder.encode(text)));
      terminal.onBinary((text) => send(Uint8Array.from(text, (each) => each.charCodeAt(0))));
    },
    onResize: (send) => void terminal.onResize(() => send(size())),
    focus: () => terminal.focus(),
    end() {
      terminal.options.disableStdin = true;
      terminal.options.cursorBlink = false;
    },
  };
}

function themeOf(frame: HTMLElement) {
  const color = (name: string) => colorOf(frame, name);
  const named = NAMES.map((name, at) => [name, color(`--ansi-${at}`)] as const);
  const bright = named.map(([name, value]) => {
    return [`bright${name[0]!.toUpperCase()}${name.slice(1)}`, value] as const;
  });
  return {
    background: color("--surface"),
    foreground: color("--text"),
    cursor: color("--accent"),
    cursorAccent: color("--surface"),
    selectionBackground: color("--chart-fill"),
    ...Object.fromEntries([...named, ...bright]),
  };
}

/** A link in the output may show another address than its own. */
async function openLink(address: string): Promise<void> {
  const consequence = "This link is from the output of the container.";
  if (!/^https?:\/\//.test(address)) return;
  if (await confirm({ verb: "Open", name: address, consequence, isSafe: true })) {
    open(address, "_blank", "noopener,noreferrer");
  }
}

/**
 * Lets xterm.js style its elements: the policy of this document allows style elements with a nonce,
 * which xterm.js does not set, and no style attributes, which it uses for colors of 24 bits.
 */
function allowStyles(): void {
  const nonce = document.querySelector<HTMLLinkElement>("link[nonce]")?.nonce ?? "";
  const createElement = document.createElement.bind(document);
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    const element = createElement(name, options);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  };
  HTMLSpanElement.prototype.setAttribute = function (name: string, value: string) {
    if (name === "style") this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}
