/** The document around the pages: sign-in, navigation, banner, messages. @module */

import { computed, effect, signal, useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { Confirmation, isDialogOpen } from "../components/dialog.tsx";
import { Icon } from "../components/icon.tsx";
import { PRODUCT } from "../base/product.ts";
import { Page } from "../components/page.tsx";
import { Toasts } from "../components/toasts.tsx";
import { Denied, Empty } from "../components/states.tsx";
import { LinkButton } from "../components/button.tsx";
import {
  componentOf,
  loadPage,
  mayOpen,
  type PageInfo,
  type PageProps,
  PAGES,
} from "../pages/mod.ts";
import { type Match, matchPath, type Path } from "../paths.ts";
import { hasEdition, readEdition } from "../state/edition.ts";
import { engineReachable, reconnects } from "../state/live.ts";
import { focusPage, keyOf, navigate, page, place, query, visits } from "../state/router.ts";
import { HOST } from "../state/root.ts";
import {
  DOOR,
  endSession,
  HAS_DASHBOARD,
  hasEnded,
  hasRole,
  leaveSession,
  needsFactor,
  refreshToken,
  seesServer,
  session,
  WINDOW_END,
} from "../state/session.ts";
import { Banner, VisitorBanner } from "./banner.tsx";
import { fleetParts, loadFleetParts } from "./fleet_parts.ts";
import { Navigation } from "./navigation.tsx";
import { Overlays } from "./overlays.tsx";
import { reloadIfReachable } from "./reload.ts";

/** The page that is drawn: the open one, as soon as its module is loaded. */
const drawn = signal<Match & { Body: ComponentType<PageProps> }>();

const RETRY_MS = 3_000;

/** Whether the open page needs no session. */
const isPublic = computed(() => page.value !== undefined && PAGES[page.value.path].isPublic);

/** Whether the open page is only for visitors without a session. */
const isDoor = computed(() => isForVisitors(page.value?.path));

const isForVisitors = (path: string | undefined) => path === "/sign-in" || path === "/setup";

const loadSignInAgain = () => import("./sign_in_again.tsx");

/** Reads the session and keeps address, session and drawn page in step. */
export function startApp(): void {
  if (page.peek()) void loadPage(page.peek()!.path);
  if (HAS_DASHBOARD) {
    void restoreSession();
    // The service may have other files when the session ends, and what was typed would be lost.
    addEventListener("input", () => void loadSignInAgain().catch(() => {}), { once: true });
  } else endSession();
  effect(() => {
    if (session.value === undefined) return;
    if (session.value === null && !isPublic.value) {
      const { pathname, search } = place.peek();
      const next = pathname + search;
      navigate(`${DOOR}${next === "/" ? "" : `?next=${encodeURIComponent(next)}`}`, {
        replace: true,
      });
    } else if (session.value && isDoor.value) {
      const next = query.peek().get("next");
      // The window of a sign-in over another page, whose own tab goes on.
      if (next === WINDOW_END) close();
      navigate(safeNext(next), { replace: true });
    }
  });
  effect(() => {
    if (session.value) {
      loadFleetParts();
      // A host that was away has not answered.
      if (HOST !== undefined && reconnects.value > 0) void fleetParts.peek()?.readRoleAtHost();
      if (seesServer()) readEdition().catch(() => {});
    } // It is probably the next one.
    else if (session.value === null && isDoor.value) void loadPage("/");
  });
  effect(() => {
    const open = page.value;
    void reconnects.value; // Parts that could not be loaded are loaded then.
    if (!open) return;
    const draw = () => {
      if (page.peek() === open) drawn.value = { Body: componentOf(open.path)!, ...open };
    };
    // Without a wait, the page before is not drawn once more.
    if (componentOf(open.path)) draw();
    else void loadPage(open.path).then(draw).catch(reloadIfReachable);
  });
}

/** Tries again while the service is away. */
async function restoreSession(): Promise<void> {
  await refreshToken().catch(() => {});
  if (session.peek() === undefined) setTimeout(restoreSession, RETRY_MS);
}

/** A path of the dashboard, from an address that anyone can have written. */
function safeNext(next: string | null): string {
  const path = next?.split("?")[0];
  return path && /^\/(?!\/)/.test(path) && matchPath(path) && !isForVisitors(path) ? next! : "/";
}

export function App() {
  if (session.value === undefined) return null;
  if (session.value === null) return <SignedOut />;
  if (needsFactor.value) return <Enrolment />;
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <Banner />
      <Navigation />
      <Main>
        {engineReachable.value === false && (
          <p class="note danger engine-away" role="alert">
            <Icon name="alert" />
            <p>
              Engine unreachable. What is shown may be out of date; Longshore keeps trying to
              connect.
            </p>
          </p>
        )}
        {HOST !== undefined && fleetParts.value && <fleetParts.value.HostNote />}
        <OpenPage />
      </Main>
      <Overlays />
      <Messages />
    </>
  );
}

/** Questions and results, above the page. */
function Messages() {
  return (
    <>
      <Confirmation />
      {hasEnded.value && <EndedSession />}
      {!isDialogOpen.value && <Toasts />}
    </>
  );
}

/** Instead of the pages, until the account has a second factor. */
function Enrolment() {
  const body = useSignal<ComponentType | undefined>(undefined);
  useEffect(() => {
    import("../pages/factors/enrolment.tsx").then((module) => body.value = module.Enrolment)
      .catch(reloadIfReachable);
  }, []);
  const Body = body.value;
  return (
    <>
      <main id="main" tabIndex={-1}>{Body ? <Body /> : <Blank />}</main>
      <Messages />
    </>
  );
}

/** Asks to sign in again, over the page. */
function EndedSession() {
  const body = useSignal<ComponentType | undefined>(undefined);
  useEffect(() => {
    loadSignInAgain().then((module) => body.value = module.SignInAgain).catch(leaveSession);
  }, []);
  const Body = body.value;
  return Body ? <Body /> : null;
}

/** A public page: the one to sign in alone, others below a banner. */
function SignedOut() {
  const { Body, path } = drawn.value ?? {};
  const body = Body && PAGES[path!].isPublic && <Body />;
  if (isForVisitors(path) || !body) return <Main>{body}</Main>;
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <VisitorBanner />
      <Main>{body}</Main>
      <Messages />
    </>
  );
}

/** Main part, which changes with the page. It gets the focus on each page change. */
function Main({ children }: { children: ComponentChildren }) {
  useLayoutEffect(() => {
    if (visits.value > 0) focusPage();
  }, [visits.value]);
  return <main id="main" tabIndex={-1}>{children}</main>;
}

function OpenPage() {
  const open = page.value;
  if (!open) return <NotFound />;
  const info = PAGES[open.path];
  const { role, permission, edition: needed } = info;
  if (role && !hasRole(role, permission)) return <Denied role={role} />;
  if (!mayOpen(info)) return <OfServer title={info.title} />;
  if (needed && hasEdition(needed) === false) return <LockedPage page={PAGES[open.path]} />;
  if (needed && !hasEdition(needed)) return <Blank />; // The edition is not known yet.
  if (!drawn.value || !mayDraw(drawn.value.path)) return <Blank />;
  const { Body, params } = drawn.value;
  const key = keyOf(drawn.value);
  if (HOST === undefined) return <Body key={key} {...params} />;
  const Frame = fleetParts.value?.HostPage;
  return Frame
    ? (
      <Frame key={key} title={PAGES[open.path].title}>
        <Body {...params} />
      </Frame>
    )
    : <Blank />;
}

/** The page before stays until the next is loaded, unless what it reads would be refused. */
function mayDraw(path: Path): boolean {
  const { edition } = PAGES[path];
  return !isForVisitors(path) && mayOpen(PAGES[path]) && (!edition || hasEdition(edition) === true);
}

/** A page about this server itself, for users who see nothing but its hosts. */
function OfServer({ title }: { title: string }) {
  return (
    <Page title={title}>
      <Empty action={<LinkButton to="/hosts">Show hosts</LinkButton>}>
        Your account is limited to hosts. Choose one to see this page there.
      </Empty>
    </Page>
  );
}

/** Says what a page is good for. The first view does not need it. */
function LockedPage({ page }: { page: PageInfo }) {
  const body = useSignal<ComponentType<{ page: PageInfo }> | undefined>(undefined);
  useEffect(() => {
    import("./locked.tsx").then(({ Locked }) => body.value = Locked).catch(reloadIfReachable);
  }, []);
  const Locked = body.value;
  return Locked ? <Locked page={page} /> : <Blank />;
}

/** While the first page is loaded. */
function Blank() {
  return <div class="page" aria-busy="true" />;
}

function NotFound() {
  useEffect(() => void (document.title = PRODUCT), []);
  return (
    <Page title="Page not found">
      <Empty action={<LinkButton to="/">Open the overview</LinkButton>}>
        There is no page at {place.value.pathname}
      </Empty>
    </Page>
  );
}
