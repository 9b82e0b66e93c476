/** The nodes of a YAML file, with their positions. @module */

/** Position of a part in its text. */
export interface Position {
  /** Name of an included or extended file, or of an env file; `null` for the Compose text itself. */
  file: string | null;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
}

/** `reset` removes the value before, and is not a value itself; `override` replaces it. */
export type Mark = "reset" | "override";

/** A string, number, boolean or null. */
export interface ScalarNode {
  kind: "scalar";
  mark?: Mark;
  value: string | number | boolean | null;
  /** As written, for numbers that JavaScript would change (`1.0`, 19 digits). */
  text: string;
  at: Position;
}

export interface ListNode {
  kind: "list";
  mark?: Mark;
  items: Node[];
  at: Position;
}

export interface MapNode {
  kind: "map";
  mark?: Mark;
  entries: Map<string, { key: Position; value: Node }>;
  at: Position;
}

export type Node = ScalarNode | ListNode | MapNode;
