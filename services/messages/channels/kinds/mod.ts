/** Every kind of channel. @module */

import { apprise } from "./apprise.ts";
import { discord } from "./discord.ts";
import { email } from "./email.ts";
import { googlechat } from "./googlechat.ts";
import { gotify } from "./gotify.ts";
import { homeassistant } from "./homeassistant.ts";
import type { ChannelKind } from "./kind.ts";
import { matrix } from "./matrix.ts";
import { mattermost } from "./mattermost.ts";
import { ntfy } from "./ntfy.ts";
import { opsgenie } from "./opsgenie.ts";
import { pagerduty } from "./pagerduty.ts";
import { pushover } from "./pushover.ts";
import { rocketchat } from "./rocketchat.ts";
import { signal } from "./signal.ts";
import { slack } from "./slack.ts";
import { teams } from "./teams.ts";
import { telegram } from "./telegram.ts";
import { webhook } from "./webhook.ts";

/** In the order in which they are offered. */
const KINDS = [
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
];

export type ChannelKindId = (typeof KINDS)[number]["id"];

/** Each kind knows its own config only; `config.ts` has checked it. */
export const CHANNEL_KINDS = KINDS as unknown as readonly (ChannelKind & { id: ChannelKindId })[];

export const CHANNEL_KIND_IDS: readonly ChannelKindId[] = KINDS.map(({ id }) => id);

/** @throws {Error} For an id that is not stored by this service. */
export function channelKind(id: string): (typeof CHANNEL_KINDS)[number] {
  const kind = CHANNEL_KINDS.find((each) => each.id === id);
  if (!kind) throw new Error(`Unknown kind of channel: ${id}`);
  return kind;
}
