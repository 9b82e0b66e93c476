/**
 * The frames of `GET /api/stream` that clients have not all read yet.
 *
 * There are two kinds of frames. A *state* (metrics, containers) replaces the previous one of its
 * type; an *event* is kept for clients that reconnect. All frames are in one list in the order of
 * their ids, and a reader is little more than its position in that list. A slow reader therefore
 * needs no memory of its own: it misses states, but gets the events that are still held.
 *
 * Every frame is serialized and encoded once, and once more for each view; readers with the same view
 * share the bytes.
 *
 * @module
 */

import { COMMENT, encode, idLine, join, type StreamChunk } from "./chunks.ts";

/** View of a client with a limited API token. */
export interface StreamView {
  /** Clients with the same key see the same. */
  key: string;
  /**
   * Returns the data of a frame as the client may see it: the same object, a reduced copy, or
   * `undefined` to hide the frame.
   */
  apply(type: string, data: unknown): unknown;
}

/** One reader of the frames. `nextPortion()` advances it. */
export interface Reader {
  types: ReadonlySet<string>;
  view: StreamView | undefined;
  /** Equal for readers with the same types and view. */
  typesKey: string;
  /** The id of the last frame that it got. */
  position: number;
  /** Whether it still needs the states, which follow the events that it missed. */
  isNew: boolean;
  /** The last id when it got the states. */
  statesAt: number;
}

/** Maximum number of events that are kept for clients that reconnect. */
const EVENTS_HELD_MAX = 1_000;

/** Maximum number of frames that a reader gets at a time. */
const PORTION_MAX = 100;

/** Maximum number of joined portions that readers share in one round; usually there are few. */
const SHARED_MAX = 64;

/** Maximum number of views whose content of a frame is kept during a round. */
const VIEWS_MAX = 64;

/** An encoded frame with its id. */
interface HeldFrame {
  id: number;
  type: string;
  isEvent: boolean;
  /** The last id when its data changed; readers that got the states later do not need it. */
  setAt: number;
  /** Data before it was encoded, for views. */
  data: unknown;
  /** Its bytes without the line of its id. */
  content: StreamChunk;
}

type SentFrame = Pick<HeldFrame, "id" | "content">;

/** The current state of a type, without an id; no content if there is nothing to send. */
interface State {
  type: string;
  version: string | undefined;
  content: StreamChunk | undefined;
  /** The last id when `content` changed. */
  setAt: number;
  data: unknown;
  onlyChanges: boolean;
}

/** Type of the comment that keeps a connection open. */
const HEARTBEAT = "heartbeat";

/**
 * Creates an empty list.
 *
 * Ids start at the time of the start (in microseconds) and increase by one with each frame. An id
 * from before a restart is therefore lower than all new ones, and its reader gets everything that is
 * held.
 */
export function createHeldFrames(now: () => Date) {
  const states = new Map<string, State>();
  const shared = new Map<string, StreamChunk>();
  /** Contents of a frame or state by the key of the view. */
  let viewed = new WeakMap<HeldFrame | State, Map<string, StreamChunk | undefined>>();
  let held: HeldFrame[] = [];
  let eventsHeld = 0;
  let lastId = now().getTime() * 1_000;

  return {
    /** @param options.lastEventId Where the reader continues; an id that was never issued is ignored. */
    createReader: (
      { types, view, lastEventId }:
        & Pick<Reader, "types" | "view">
        & { lastEventId: number | undefined },
    ): Reader => ({
      types,
      view,
      typesKey: `${[...types].sort().join()} ${view?.key ?? ""}`,
      position: lastEventId !== undefined && lastEventId <= lastId ? lastEventId : lastId,
      isNew: true,
      statesAt: 0,
    }),

    /** Whether frames wait for the reader, of any type. */
    hasNext: ({ isNew, position }: Reader): boolean => isNew || position < (held.at(-1)?.id ?? 0),

    /** Returns the reader's next frames, encoded, or nothing, and advances the reader. */
    nextPortion(reader: Reader): StreamChunk[] {
      const { due, hasMore } = framesAfter(reader);
      if (due.length > 0) {
        reader.position = hasMore ? due.at(-1)!.id : lastId;
        return shareable(reader, due);
      }
      const chunks = reader.isNew ? currentStates(reader) : [];
      reader.isNew = false;
      reader.position = lastId;
      reader.statesAt = lastId;
      return chunks;
    },

    /** Adds an event, with `name` as the frame's type on the wire. */
    addEvent(type: string, data: unknown, name: string): void {
      hold({ type, isEvent: true, setAt: Infinity, data, content: encode(name, data) });
      if (++eventsHeld > EVENTS_HELD_MAX) {
        held.splice(held.findIndex(({ isEvent }) => isEvent), 1);
        eventsHeld--;
      }
    },

    /** Returns the version of the last `setState()`. */
    stateVersion: (type: string) => states.get(type)?.version,

    /**
     * Sets a state for new readers; the others get it after `renewStates()`. States are sent in the
     * order in which their types were first set.
     *
     * @param version Identifies the state, for `stateVersion()`; may be `undefined`.
     * @param data Sent as JSON; `undefined` to send nothing of this type.
     * @param options.onlyChanges Whether `renewStates()` skips it while its data is unchanged.
     */
    setState(
      type: string,
      version: string | undefined,
      data: unknown,
      { onlyChanges = false }: { onlyChanges?: boolean } = {},
    ): void {
      const before = states.get(type);
      const content = data === undefined ? undefined : encode(type, data);
      // Unchanged data keeps its bytes, by which `renewStates()` recognizes it.
      const isSame = before?.content && content && isEqual(before.content, content);
      const current = isSame
        ? { content: before.content, setAt: before.setAt }
        : { content, setAt: ++lastId };
      states.set(type, { type, version, ...current, data, onlyChanges });
    },

    /** Adds the current states, and a comment for readers without a frame. */
    renewStates(): void {
      // A frame that is not sent again stays for the readers that have not read it yet.
      held = held.filter((frame) => frame.isEvent || isCurrent(frame));
      const kept = new Set(held.map(({ content }) => content));
      for (const { type, content, setAt, data, onlyChanges } of states.values()) {
        if (!content || kept.has(content)) continue;
        hold({ type, isEvent: false, setAt: onlyChanges ? setAt : Infinity, data, content });
      }
      hold({ type: HEARTBEAT, isEvent: false, setAt: Infinity, data: undefined, content: COMMENT });
    },
  };

  function hold(frame: Omit<HeldFrame, "id">): void {
    held.push({ ...frame, id: ++lastId });
    shared.clear();
    // A view depends on the current containers, so that it is applied again in each round.
    viewed = new WeakMap();
  }

  function isCurrent({ type, content }: HeldFrame): boolean {
    const state = states.get(type);
    return state !== undefined && state.onlyChanges && state.content === content;
  }

  /**
   * Returns the frames after the reader's position, lowest id first, and whether others follow;
   * usually these are few. A reader without a frame gets the heartbeat.
   */
  function framesAfter(reader: Reader): { due: SentFrame[]; hasMore: boolean } {
    const { position, types, isNew, statesAt } = reader;
    const first = held.findLastIndex(({ id }) => id <= position) + 1;
    const rest = held.slice(first)
      .filter(({ isEvent, setAt }) => isEvent || !isNew && setAt > statesAt);
    const visible = visibleFrames(reader, rest.filter(({ type }) => types.has(type)));
    if (visible.length === 0) {
      return { due: rest.filter(({ type }) => type === HEARTBEAT), hasMore: false };
    }
    return { due: visible.slice(0, PORTION_MAX), hasMore: isNew || visible.length > PORTION_MAX };
  }

  /** Returns the same bytes, in one piece, to readers that get the same frames. */
  function shareable({ typesKey }: Reader, due: SentFrame[]): StreamChunk[] {
    const key = `${due.map(({ id }) => id).join()} ${typesKey}`;
    const known = shared.get(key);
    if (known) return [known];
    const pieces = due.flatMap(({ id, content }) => [idLine(id), content]);
    if (shared.size >= SHARED_MAX) return pieces;
    const joined = join(pieces);
    shared.set(key, joined);
    return [joined];
  }

  function currentStates(reader: Reader): StreamChunk[] {
    const chunks: StreamChunk[] = [];
    for (const state of states.values()) {
      const content = reader.types.has(state.type) ? contentFor(reader, state) : undefined;
      // A new id, so that ids increase for this reader; the frame itself is shared.
      if (content) chunks.push(idLine(++lastId), content);
    }
    return chunks;
  }

  function visibleFrames(reader: Reader, frames: HeldFrame[]): SentFrame[] {
    if (!reader.view) return frames;
    return frames.flatMap((frame) => {
      const content = contentFor(reader, frame);
      return content ? [{ id: frame.id, content }] : [];
    });
  }

  /** The frame as the reader may see it; `undefined` if it must not see it. */
  function contentFor({ view }: Reader, frame: HeldFrame | State): StreamChunk | undefined {
    if (!view || !frame.content) return frame.content;
    const known = viewed.get(frame) ?? new Map<string, StreamChunk | undefined>();
    if (known.has(view.key)) return known.get(view.key);
    const content = viewedContent(view, frame);
    if (known.size < VIEWS_MAX) viewed.set(frame, known.set(view.key, content));
    return content;
  }
}

function viewedContent(
  view: StreamView,
  { type, data, content }: HeldFrame | State,
): StreamChunk | undefined {
  const seen = view.apply(type, data);
  if (seen === data) return content;
  return seen === undefined ? undefined : encode(type, seen);
}

function isEqual(left: StreamChunk, right: StreamChunk): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}
