/** Every kind of channel. @module */

import { apprise } from "./apprise.ts";
import { discord } from "./discord.ts";
import { email } from "./email.ts";
import { googlechat } from "./googlechat.ts";
import { gotify } from "./gotify.ts";
import { homeassistant } from "./homeassistant.ts";
import type { ChannelKind, ChannelKindId } from "./kind.ts";
import { matrix } from "./matrix.ts";
import { ntfy } from "./ntfy.ts";
import { opsgenie } from "./opsgenie.ts";
import { pagerduty } from "./pagerduty.ts";
import { pushover } from "./pushover.ts";
import { signal } from "./signal.ts";
import { mattermost, rocketchat, slack } from "./slack_family.ts";
import { teams } from "./teams.ts";
import { telegram } from "./telegram.ts";
import { webhook } from "./webhook.ts";

/** In the order in which they are offered. */
export const CHANNEL_KINDS = [
  email,
  ntfy,
  gotify,
  discord,
  slack,
  teams,
  telegram,
  matrix,
  mattermost,
  rocketchat,
  googlechat,
  pushover,
  pagerduty,
  opsgenie,
  signal,
  apprise,
  homeassistant,
  webhook,
  // Each kind knows its own config only; `config.ts` has checked it.
] as unknown as readonly ChannelKind[];

/** @throws {Error} For an id that is not stored by this service. */
export function channelKind(id: ChannelKindId | string): ChannelKind {
  const kind = CHANNEL_KINDS.find((each) => each.id === id);
  if (!kind) throw new Error(`Unknown kind of channel: ${id}`);
  return kind;
}
