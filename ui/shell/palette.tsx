/** The command palette: finds containers, stacks, pages and actions by a few letters. @module */

import "../components/page.tsx";
import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { Dialog } from "../components/dialog.tsx";
import { addStyles } from "../components/styles.ts";
import { plain } from "../base/text.ts";
import { ContainerIcon } from "../parts/container_icon.tsx";
import { linksOf } from "../parts/links.tsx";
import { ACTIONS, actionsFor, runAction } from "../state/container_actions.ts";
import { containers, stackOf } from "../state/live.ts";
import { navigate } from "../state/router.ts";
import { hasRole, seesServer } from "../state/session.ts";
import styles from "./palette.css" with { type: "text" };
import type { OverlayProps } from "./places.ts";

addStyles(styles);

interface Command {
  name: string;
  kind: string;
  icon?: string | null;
  run: () => void;
}

/** Limit of shown results. */
const SHOWN_MAX = 40;

export default function Palette({ pages, onClose }: OverlayProps) {
  const id = useId();
  const text = useSignal("");
  const at = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const found = find(text.value, pages);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const move = (to: number) => {
    at.value = (to + found.length) % Math.max(found.length, 1);
    list.current?.children[at.value]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(at.value + 1);
    else if (event.key === "ArrowUp") move(at.value - 1);
    else if (event.key === "Enter") run(found[at.value]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Command palette" onClose={onClose} wide>
      <input
        class="palette-input"
        role="combobox"
        aria-label="Search"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${at.value}` : undefined}
        aria-autocomplete="list"
        placeholder="Containers, stacks, pages and actions"
        autocomplete="off"
        spellcheck={false}
        data-autofocus
        onKeyDown={onKeyDown}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
      />
      <ul ref={list} id={`${id}-list`} class="palette-list" role="listbox" aria-label="Results">
        {found.map((command, index) => (
          // The keyboard is handled by the input.
          <li
            key={`${command.kind} ${command.name}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at.value}
            onClick={() => run(command)}
            onPointerMove={() => at.value = index}
          >
            <span class="palette-name">
              <ContainerIcon id={command.icon ?? null} />
              {command.name}
            </span>
            <span class="muted">{command.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="palette-none" role="status">Nothing matches</p>}
    </Dialog>
  );
}

function find(text: string, pages: OverlayProps["pages"]): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Command[] = [];
  for (const command of commands(pages)) {
    const name = command.name.toLowerCase();
    if (!words.every((word) => name.includes(word))) continue;
    found.push(command);
    if (words.length === 0 && found.length === SHOWN_MAX) break;
  }
  const first = words[0] ?? "";
  const rank = ({ name }: Command) => name.toLowerCase().startsWith(first) ? 0 : 1;
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, SHOWN_MAX);
}

function* commands(pages: OverlayProps["pages"]): Generator<Command> {
  for (const [path, { title }] of pages) {
    yield {
      name: title,
      kind: "Page",
      run: () => navigate(path),
    };
  }
  const all = containers.value ?? [];
  for (const { id, name, icon } of all) {
    yield {
      name: plain(name),
      kind: "Container",
      icon,
      run: () => navigate(`/containers/${id.slice(0, 12)}`),
    };
  }
  const stacks = new Set(all.flatMap((each) => stackOf(each) ?? []));
  for (const stack of stacks) {
    yield {
      name: plain(stack),
      kind: "Stack",
      run: () => navigate(`/stacks/${encodeURIComponent(stack)}`),
    };
  }
  if (hasRole("admin", "stacks:write") && seesServer()) {
    yield { name: "New stack", kind: "Action", run: () => navigate("/stacks/new") };
  }
  for (const container of all) {
    const [link] = linksOf(container);
    if (link) {
      yield {
        name: `Open ${plain(container.name)}`,
        kind: "Link",
        icon: container.icon,
        run: () => void open(link.url, "_blank", "noopener,noreferrer"),
      };
    }
    yield {
      name: `Logs of ${plain(container.name)}`,
      kind: "Action",
      run: () => navigate(`/containers/${container.id.slice(0, 12)}/logs`),
    };
    for (const action of actionsFor(container)) {
      yield {
        name: `${ACTIONS[action].verb} ${plain(container.name)}`,
        kind: "Action",
        run: () => void runAction(container, action),
      };
    }
  }
}
