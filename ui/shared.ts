/**
 * Loads what most pages use as one file. The bundler puts modules that are reached from the same pages
 * into one file. Every page, and what is loaded later, imports this module through
 * `components/page.tsx`; without it each combination would be a file, and a request, of its own.
 * Forms, tables, tabs and lists of facts are not part of it, because the first view has none.
 *
 * @module
 */

import "./api/client.ts";
import "./components/button.tsx";
import "./components/chart.tsx";
import "./components/dialog.tsx";
import "./components/icon.tsx";
import "./parts/image_updates.ts";
import "./components/mark.tsx";
import "./components/menu.tsx";
import "./components/reading.ts";
import "./components/states.tsx";
import "./base/text.ts";
import "./components/time.tsx";
import "./parts/unknown_containers.tsx";
import "./parts/event_list.tsx";
import "./parts/history.ts";
import "./paths.ts";
import "./shell/reload.ts";
import "./state/appearance.ts";
import "./state/container_actions.ts";
import "./state/edition.ts";
import "./state/get_started.ts";
import "./state/live.ts";
import "./state/router.ts";
import "./state/session.ts";
import "./state/stream.ts";
import "./state/toasts.ts";
