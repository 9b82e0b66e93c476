/**
 * Containers that a caller may see: all of them, or those in the scope of the API token.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Container, Inventory } from "./inventory.ts";
import type { Caller } from "../access/caller.ts";
import { includesContainer, isLimited, type Scope, stackOf } from "../access/scope.ts";

/**
 * Returns the parts of the service as the caller may see them: the inventory has only the containers
 * in the caller's scope. Every read with these parts is filtered, such as `currentContainers()`,
 * `resolveContainer()` and `listStacks()`. Use the unfiltered parts to change a container, because
 * reservations have to cover all containers that an action affects.
 */
export function visibleTo<Parts extends Pick<Deps, "inventory">>(
  parts: Parts,
  { scope }: Pick<Caller, "scope">,
): Parts {
  if (!isLimited(scope)) return parts;
  return { ...parts, inventory: filteredInventory(parts.inventory, scope) };
}

/**
 * Replaces a message that mentions a container outside of the caller's scope, e.g. one that shares a
 * network with a container in it.
 *
 * @param input What the caller sent. Words that the caller used are kept: replacing them would reveal
 * that a container with that name exists.
 */
export function hideForeign(
  { inventory }: Pick<Deps, "inventory">,
  { scope }: Pick<Caller, "scope">,
  message: string,
  input = "",
): string {
  if (!isLimited(scope)) return message;
  const known = wordsOf(input);
  const words = new Set([...wordsOf(message)].filter((word) => !known.has(word)));
  const isMentioned = (container: Container) =>
    [container.name, stackOf(container) ?? "", container.id, container.id.slice(0, 12)]
      .some((word) => words.has(word));
  const isForeign = inventory.list().some((container) =>
    !includesContainer(scope, container) && isMentioned(container)
  );
  return isForeign ? "The reason concerns containers that this token cannot access" : message;
}

/** Returns a failure with its message as of {@linkcode hideForeign}. */
export function redactFailure(
  deps: Pick<Deps, "inventory">,
  caller: Pick<Caller, "scope">,
  failure: AppError,
  input: string,
): AppError {
  const message = hideForeign(deps, caller, failure.message, input);
  if (message === failure.message) return failure;
  return new AppError(failure.code, message, { cause: failure });
}

/** Names and ids in a text, also at the end of a sentence. */
function wordsOf(text: string): Set<string> {
  return new Set(text.split(/[^\w.-]+/).flatMap((word) => [word, trimDots(word)]));
}

/** Removes dots and dashes around a word, in linear time: the text comes from the request. */
function trimDots(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && isDot(word[start]!)) start++;
  while (end > start && isDot(word[end - 1]!)) end--;
  return word.slice(start, end);
}

const isDot = (character: string) => character === "." || character === "-";

/** Reads are filtered; writes go to the inventory itself, which every caller shares. */
function filteredInventory(inventory: Inventory, scope: Scope): Inventory {
  const includes = (container: Container) => includesContainer(scope, container);
  return {
    ...inventory,
    scope,
    get live() {
      return inventory.live;
    },
    get revision() {
      return inventory.revision;
    },
    list: () => inventory.list().filter(includes),
    listFollowed: () => inventory.listFollowed().filter(includes),
    get(id) {
      const found = inventory.get(id);
      return found && includes(found) ? found : undefined;
    },
    async shareListing(list) {
      // Callers share the listing, so that it must not be the filtered one.
      const all = await inventory.shareListing(async () => {
        await list();
        return inventory.list();
      });
      return all.filter(includes);
    },
  };
}
