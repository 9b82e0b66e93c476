/** Deletes ended SSO sessions and expired SAML requests and assertion IDs. @module */

import { rounds } from "../../lifecycle.ts";
import { sweepSso } from "./sessions.ts";

const ROUND_MS = 10 * 60 * 1000;

export const sweepSessions = rounds(ROUND_MS, sweepSso);
