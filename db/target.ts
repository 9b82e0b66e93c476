/** Targets of rules and windows, as they are stored. @module */

/** The host, or containers: every given part has to match; without one, all containers match. */
export type Target =
  | { kind: "host" }
  | {
    kind: "containers";
    /** Patterns of names; `*` matches any characters. */
    containers?: string[] | undefined;
    /** Patterns of names of compose projects and swarm stacks. */
    stacks?: string[] | undefined;
    /** Labels with patterns of their values. */
    labels?: Record<string, string> | undefined;
  };

/** Stacks as a whole, for alert rules. */
export interface StacksTarget {
  kind: "stacks";
  /** Patterns of names; default: all. */
  stacks?: string[] | undefined;
}
