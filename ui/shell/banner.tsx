/** The banner: product and server, search, connection and account. @module */

import { Icon } from "../components/icon.tsx";
import { Mark } from "../components/mark.tsx";
import { Menu } from "../components/menu.tsx";
import { PRODUCT } from "../base/product.ts";
import { connection } from "../state/live.ts";
import { href, navigate } from "../state/router.ts";
import { showGetStarted } from "../state/get_started.ts";
import { HOST } from "../state/root.ts";
import { HAS_DASHBOARD, hasRole, seesServer, session, signOut } from "../state/session.ts";
import { withResult } from "../state/toasts.ts";
import { fleetParts } from "./fleet_parts.ts";
import { isMenuOpen } from "./navigation.tsx";
import { openPalette, openShortcuts } from "./overlays.tsx";
import { useShortcuts } from "./shortcuts.ts";

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

export function Banner() {
  useShortcuts();
  return (
    <header class="banner">
      <button
        type="button"
        class="button icon-only menu-button"
        aria-label="Menu"
        aria-expanded={isMenuOpen.value}
        aria-controls="navigation"
        onClick={() => isMenuOpen.value = !isMenuOpen.value}
      >
        <Icon name="menu" />
      </button>
      <a class="brand" href={href("/")} tabIndex={-1} aria-hidden="true">
        <Mark />
        <span class="product">{PRODUCT}</span>
      </a>
      <ServerName />
      <button type="button" class="search-button" aria-label="Search" onClick={openPalette}>
        <Icon name="search" />
        <span>Search</span>
        <kbd data-keys={isApple ? "⌘ K" : "Ctrl K"} />
      </button>
      <Connection />
      <Menu
        name="Account menu"
        icon="user"
        items={() => [
          { name: "Account", onSelect: () => navigate("/account") },
          ...HOST === undefined && hasRole("admin", "settings:write") && seesServer()
            ? [{ name: "Get started", onSelect: () => void start() }]
            : [],
          { name: "Keyboard shortcuts", onSelect: openShortcuts },
          { name: "Sign out", onSelect: () => void signOut() },
        ]}
      />
    </header>
  );
}

function ServerName() {
  const Switcher = fleetParts.value?.HostSwitcher;
  if (Switcher) return <Switcher />;
  return <span class="server" title="Server">{HOST ?? session.value?.serverName}</span>;
}

const start = () =>
  withResult("Get started is on the overview", async () => {
    await showGetStarted(true);
    navigate("/");
  });

/** The banner of public pages, which visitors open without a session. */
export function VisitorBanner() {
  useShortcuts();
  const brand = (
    <>
      <Mark />
      <span>{PRODUCT}</span>
    </>
  );
  return (
    <header class="banner">
      {HAS_DASHBOARD
        ? <a class="brand" href={href("/")}>{brand}</a>
        : <span class="brand">{brand}</span>}
    </header>
  );
}

function Connection() {
  const isLive = connection.value === "live";
  return (
    <span class={isLive ? "connection live" : "connection"} role="status" aria-label="Connection">
      <span class="dot" aria-hidden="true" />
      <span>{isLive ? "Live" : "Reconnecting"}</span>
    </span>
  );
}
