/** Kinds that the service serves, in pages and forms. @module */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { capital } from "../base/text.ts";
import { Loading } from "../components/states.tsx";
import type { Kinds } from "../state/kinds.ts";
import { sentenceOf } from "../state/toasts.ts";

/** The kinds, where their codes do as well until they are known, or if they cannot be read. */
export function useKinds<Kind>(kinds: Kinds<Kind>): readonly Kind[] {
  useEffect(() => {
    kinds.read().catch(() => {});
  }, []);
  return kinds.list.value ?? [];
}

/** Content that needs the kinds. @param props.name Its name while they are read. */
export function WithKinds<Kind>({ name, kinds, children }: {
  name: string;
  kinds: Kinds<Kind>;
  children: (list: readonly Kind[]) => ComponentChildren;
}) {
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    kinds.read().catch((error) => failure.value = sentenceOf(error));
  }, []);
  if (failure.value !== undefined) return <p class="note danger" role="alert">{failure.value}</p>;
  return kinds.list.value ? <>{children(kinds.list.value)}</> : <Loading name={name} />;
}

/** A kind in words. */
export interface Worded {
  id: string;
  group: string;
  words: string;
  description: string;
}

/** Kinds by their group, as options of a form. Their tooltips have the codes. */
export const groupsOf = (kinds: readonly Worded[]) =>
  [...new Set(kinds.map(({ group }) => group))].map((title) => ({
    title,
    options: kinds.filter(({ group }) => group === title)
      .map(({ id, words, description }) => ({
        value: id,
        name: capital(words),
        title: `${id}: ${description}`,
      })),
  }));
