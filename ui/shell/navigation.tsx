/** The main navigation. @module */

import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { type Group, GROUPS, LISTED, loadPage, mayOpen, type PageInfo } from "../pages/mod.ts";
import type { Path } from "../paths.ts";
import { hasEdition } from "../state/edition.ts";
import { alerts } from "../state/live.ts";
import { href, page } from "../state/router.ts";

/** Whether the navigation is open where the window is too narrow to show it always. */
export const isMenuOpen = signal(false);

export function Navigation() {
  useEffect(() => page.subscribe(() => void (isMenuOpen.value = false)), []);
  useEffect(() => {
    const close = ({ key }: KeyboardEvent) => {
      if (key === "Escape") isMenuOpen.value = false;
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, []);
  return (
    <nav id="navigation" class={isMenuOpen.value ? "nav open" : "nav"} aria-label="Main">
      {GROUPS.map((group) => {
        const pages = LISTED.filter(([, info]) => info.group === group && mayOpen(info));
        return pages.length > 0 && <NavGroup key={group} group={group} pages={pages} />;
      })}
    </nav>
  );
}

function NavGroup({ group, pages }: { group: Group; pages: [Path, PageInfo][] }) {
  const isCurrent = pages.some(([path]) => isOpen(path));
  const isExpanded = useSignal(group === "Host");
  const expanded = isExpanded.value || isCurrent;
  const list = (
    <ul>
      {pages.map(([path, info]) => <NavLink key={path} path={path} info={info} />)}
    </ul>
  );
  if (group === "Host") return list;
  return (
    <div class="nav-group">
      <button
        type="button"
        aria-expanded={expanded}
        onClick={() => isExpanded.value = !expanded}
      >
        <Icon name="chevron" />
        <span>{group}</span>
        {!expanded && pages.some(([path]) => path === "/alerts") && <FiringCount />}
      </button>
      {expanded && list}
    </div>
  );
}

function NavLink({ path, info }: { path: Path; info: PageInfo }) {
  const preload = () => void loadPage(path);
  const isLocked = info.edition !== undefined && hasEdition(info.edition) === false;
  return (
    <li>
      <a
        href={href(path)}
        aria-label={info.title}
        aria-current={page.value?.path === path ? "page" : isOpen(path) ? "true" : undefined}
        onPointerEnter={preload}
        onFocus={preload}
      >
        <Icon name={info.icon ?? "chevron"} />
        <span>{info.title}</span>
        {path === "/alerts" && <FiringCount />}
        {isLocked && <Icon name="lock" />}
      </a>
    </li>
  );
}

/** Number of firing alerts. The overview says so to assistive technology. */
function FiringCount() {
  const count = alerts.value?.firing.length ?? 0;
  if (count === 0) return null;
  return <span class="firing-count" data-count={count} />;
}

/** Whether the page or one below it is open, e.g. a container of the list. */
const isOpen = (path: Path) =>
  page.value?.path === path || (page.value?.path.startsWith(`${path}/`) ?? false);
