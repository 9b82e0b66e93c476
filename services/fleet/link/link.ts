/** An open link: its streams, its beats, and the control messages of its owner. @module */

import { withDeadline } from "../../deadline.ts";
import { type Channel, reasonOf } from "./channel.ts";
import { type Control, decodeControl } from "./control.ts";
import { AWAY_MS, BEAT_MS, type OpenLink } from "./open_link.ts";
import type { Bytes } from "./noise.ts";
import { KIND } from "./sealed.ts";
import type { Accept } from "./stream.ts";
import { createSession } from "./yamux.ts";

/** Longest wait until a peer has taken the last message, in milliseconds. */
const PART_MS = 2_000;

/** Number of the last beats of which the quickest measures the clock of the peer. */
const SAMPLES = 8;

/** Limit of answers to beats that the peer has not read: it sends few, and reads the answers. */
const ECHOES_MAX = 8;

/** Measures time: `wallMs` for people and peers, `steadyMs` for durations. */
export interface LinkClock {
  wallMs: () => number;
  steadyMs: () => number;
}

interface LinkOptions {
  /** Fingerprint of the peer's key. */
  peer: string;
  /** Whether this side has dialed: the member. */
  isClient: boolean;
  /** Takes streams that the peer opens. Without it, the peer may not open any. */
  accept?: Accept | undefined;
  /** Processes control messages other than beats. */
  onControl: (message: Control, link: OpenLink) => void;
  clock: LinkClock;
}

/** Runs a link on a channel whose first messages were exchanged, so that its peer is known. */
export function createLink(
  channel: Channel,
  { peer, isClient, accept, onControl, clock }: LinkOptions,
): OpenLink {
  channel.trust();
  const closed = Promise.withResolvers<string>();
  const beats = new Map<number, { sentMs: number; answered: PromiseWithResolvers<void> }>();
  const samples: { offset: number; roundTrip: number }[] = [];
  let measured = { offset: 0, roundTrip: 0 };
  let nextBeat = 0;
  let echoes = 0;
  let lastBeatMs = clock.steadyMs();
  let lastHeardMs = lastBeatMs;
  let ended: Error | undefined;

  const session = createSession({
    isClient,
    send: (frame) => channel.send(KIND.frame, frame),
    accept: accept && ((stream) => {
      accept(stream, link).catch(() => {}).finally(() => stream.close());
    }),
  });

  const link: OpenLink = {
    peer,
    closed: closed.promise,
    get clock() {
      return measured;
    },
    get silentMs() {
      return clock.steadyMs() - lastHeardMs;
    },
    open: (signal) => Promise.try(() => session.open(signal)),
    close: channel.close,
    tell,
    part(message, reason) {
      session.end(reason);
      const sent = channel.sendControl(message).catch(() => {});
      void withDeadline(sent, PART_MS).finally(() => channel.close(reason));
    },
    tick() {
      if (link.silentMs >= AWAY_MS) return channel.close("the peer does not answer");
      if (!ended && clock.steadyMs() - lastBeatMs >= BEAT_MS) beat();
    },
    probe: () => beat(),
  };
  // Messages that arrived before the end are processed: the last one may say why.
  run().catch((error) => channel.close(reasonOf(error))).then(() => channel.closed).then(end);
  beat();
  return link;

  async function run(): Promise<never> {
    for (;;) {
      const { kind, content } = await channel.receive();
      lastHeardMs = clock.steadyMs();
      if (kind === KIND.frame) session.receive(content);
      else receiveControl(content);
    }
  }

  function end(reason: string): void {
    ended = new Error(`The link has ended: ${reason}`);
    session.end(reason);
    for (const { answered } of beats.values()) answered.reject(ended);
    beats.clear();
    closed.resolve(reason);
  }

  function tell(message: Control): void {
    channel.sendControl(message).catch(() => {});
  }

  function receiveControl(content: Bytes): void {
    const message = decodeControl(content);
    if (message?.type === "beat") echo(message);
    else if (message?.type === "echo") measure(message);
    else if (message) onControl(message, link);
  }

  function echo({ id }: Control<"beat">): void {
    if (++echoes > ECHOES_MAX) return channel.close("the peer does not read answers to its beats");
    channel.sendControl({ type: "echo", id, at: clock.wallMs() })
      .then(() => void echoes--, () => {});
  }

  function beat(): Promise<void> {
    if (ended) return Promise.reject(ended);
    lastBeatMs = clock.steadyMs();
    const id = nextBeat++;
    const answered = Promise.withResolvers<void>();
    answered.promise.catch(() => {});
    beats.set(id, { sentMs: lastBeatMs, answered });
    if (beats.size > SAMPLES) beats.delete(beats.keys().next().value!);
    tell({ type: "beat", id, at: clock.wallMs() });
    return answered.promise;
  }

  /** The quicker the answer, the less the time of the network distorts it. */
  function measure({ id, at }: Control<"echo">): void {
    const sent = beats.get(id);
    if (!sent) return;
    beats.delete(id);
    sent.answered.resolve();
    const roundTrip = clock.steadyMs() - sent.sentMs;
    samples.push({ roundTrip, offset: at + roundTrip / 2 - clock.wallMs() });
    if (samples.length > SAMPLES) samples.shift();
    measured = samples.reduce((best, each) => each.roundTrip < best.roundTrip ? each : best);
  }
}
