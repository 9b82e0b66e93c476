/**
 * A text editor: CodeMirror in a shadow root, where it adds its styles as style sheets, which the
 * Content-Security-Policy allows. Style elements are refused.
 *
 * @module
 */

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentService,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, Prec, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { ComposeKeys } from "../../api/types.ts";
import { completeKeys } from "./completion.ts";

/** Problem at a place of a text; line and column begin with 1. */
export interface TextProblem {
  severity: "error" | "warning";
  line: number;
  column: number;
  text: string;
}

export interface CodeMirror {
  setProblems(problems: readonly TextProblem[]): void;
  /** Moves the cursor and the focus; line and column begin with 1. */
  goTo(line: number, column: number): void;
  close(): void;
}

export interface CodeMirrorOptions {
  /** The accessible name. */
  name: string;
  text: string;
  isReadOnly: boolean;
  /** Other texts have neither colors nor completion. */
  isYaml: boolean;
  /** Keys to complete, as soon as they are known. */
  keys: () => ComposeKeys | undefined;
  onChange: (text: string) => void;
}

/** Opens an editor in an empty element. */
export function openCodeMirror(
  frame: HTMLElement,
  { name, text, isReadOnly, isYaml, keys, onChange }: CodeMirrorOptions,
): CodeMirror {
  const root = frame.attachShadow({ mode: "open" });
  const extensions: Extension[] = [
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    EditorState.tabSize.of(2),
    indentUnit.of("  "),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      "aria-label": name,
      autocapitalize: "off",
      autocorrect: "off",
      spellcheck: "false",
      // Also where nothing can be typed: the keys scroll it.
      tabindex: "0",
      ...(isReadOnly && { "aria-readonly": "true" }),
    }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.doc.toString());
    }),
    EditorView.domEventHandlers({ beforeinput: insertLines }),
    THEME,
    syntaxHighlighting(COLORS),
    isReadOnly ? EditorState.readOnly.of(true) : [
      closeBrackets(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      leavable(),
    ],
    ...(isYaml
      ? [
        yaml(),
        indentService.of((context, pos) => indentAfter(context.lineAt(pos, -1).text)),
        indentOnInput(),
        isReadOnly ? [] : autocompletion({
          override: [(context) => completeKeys(context, keys())],
          icons: false,
        }),
      ]
      : []),
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...searchKeymap,
      ...(isReadOnly ? [] : [indentWithTab]),
    ]),
  ];
  const view = new EditorView({
    state: EditorState.create({ doc: text, extensions }),
    parent: root,
    root,
  });
  return {
    setProblems(problems) {
      const { doc } = view.state;
      view.dispatch(setDiagnostics(view.state, problems.map((each) => toDiagnostic(doc, each))));
    },
    goTo(line, column) {
      const anchor = offsetOf(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor) });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

/** Tab indents. After Escape it leaves the editor, until the editor gets the focus again. */
const leavable = (): Extension => [
  // Completion and search handle Escape first while they are open.
  Prec.lowest(keymap.of([{
    key: "Escape",
    run(view) {
      view.setTabFocusMode(true);
      return true;
    },
  }])),
  EditorView.domEventHandlers({
    focus: (_, view) => void view.setTabFocusMode(false),
  }),
];

/**
 * Replaces several lines itself: the browser would join them with style attributes, which the
 * Content-Security-Policy refuses.
 */
function insertLines({ inputType, data }: InputEvent, view: EditorView): boolean {
  const { state } = view;
  const { from, to } = state.selection.main;
  const isInLine = to <= state.doc.lineAt(from).to && !data?.includes("\n");
  if (inputType !== "insertText" || data === null || isInLine || state.readOnly) return false;
  view.dispatch(state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

/** The indentation after a key without a value; otherwise that of the syntax. */
function indentAfter(line: string): number | undefined {
  const [, lead] = /^([ ]*(?:- +)*)[^\s#-][^#]*:\s*$/.exec(line) ?? [];
  return lead === undefined ? undefined : lead.length + 2;
}

/** The offset of a line and column, or the nearest one: the text may have changed since. */
function offsetOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.max(1, Math.min(line, doc.lines)));
  return Math.max(from, Math.min(from + column - 1, to));
}

function toDiagnostic(doc: Text, { line, column, severity, text }: TextProblem): Diagnostic {
  const from = offsetOf(doc, line, column);
  const rest = doc.sliceString(from, doc.lineAt(from).to);
  const word = /^[^\s:,\]}]+/.exec(rest)?.[0] ?? "";
  return { from, to: from + word.length, severity, message: text };
}

const COLORS = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent)" },
  { tag: [tags.string, tags.content, tags.attributeValue], color: "var(--text)" },
  { tag: [tags.keyword, tags.typeName, tags.labelName], color: "var(--warn)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--muted)" },
  {
    tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace],
    color: "var(--muted)",
  },
]);

const THEME = EditorView.theme({
  "&": {
    height: "100%",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-small)",
    background: "var(--raised)",
    color: "var(--text)",
    fontSize: "13px",
    overflow: "hidden",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    border: "0",
    background: "var(--raised)",
    color: "var(--muted)",
  },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  ".cm-activeLineGutter": { background: "var(--hover)", color: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { background: "var(--chart-fill)" },
  ".cm-selectionMatch, .cm-searchMatch": { background: "var(--warn-soft)" },
  ".cm-searchMatch-selected": { outline: "1px solid var(--warn)" },
  "&.cm-focused .cm-matchingBracket": {
    background: "var(--active)",
    outline: "1px solid var(--line-strong)",
  },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "var(--radius-small)",
    background: "var(--raised)",
    boxShadow: "var(--shadow)",
    color: "var(--text)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "240px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    background: "var(--active)",
    color: "var(--text)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--accent)" },
  ".cm-diagnostic": { padding: "4px 10px", fontFamily: "var(--font)" },
  ".cm-panels": { background: "var(--surface)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 32px 6px 8px", fontFamily: "var(--font)" },
  ".cm-textfield": {
    minHeight: "28px",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-small)",
    background: "var(--raised)",
    fontSize: "13px",
  },
  ".cm-button": {
    minHeight: "28px",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius-small)",
    background: "var(--raised)",
    fontSize: "13px",
  },
  ".cm-lint-marker": { width: "12px", height: "12px", marginTop: "4px" },
});
