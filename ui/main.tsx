/** The dashboard: what the browser runs first. @module */

import "./styles/main.css";
import { render } from "preact";
import { App, startApp } from "./shell/app.tsx";
import { startTooltips } from "./shell/tooltips.ts";
import { startAppearance } from "./state/appearance.ts";
import { startLive } from "./state/live.ts";
import { startRouter } from "./state/router.ts";

startAppearance();
startRouter();
startLive();
startTooltips();
startApp();
const root = document.createElement("div");
root.id = "app";
document.body.append(root);
render(<App />, root);
