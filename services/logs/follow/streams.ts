/** All clients of log streams, and the followers that they share. @module */

import { createShares, type Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { LogStreams } from "../open_streams.ts";
import { type Follower, startFollower } from "./follower.ts";
import { createReader, type Followers, type LogReader } from "./reader.ts";
import { createReadSlots } from "./read_slots.ts";

/** Limit of clients. */
const READERS_MAX = 200;

/** Limit of followed containers; each needs a connection to the engine. */
const FOLLOWED_MAX = 100;

/** Limit of connections that read past lines. */
const PAST_READS_MAX = 16;

interface Followed {
  follower: Follower;
  users: number;
  /** Gives the share of the holder back. */
  giveBack: () => void;
}

type StreamDeps = Pick<Deps, "engine" | "inventory" | "limiters" | "now">;

export function createLogStreams(deps: StreamDeps): LogStreams {
  const readers = new Set<LogReader>();
  const followed = new Map<string, Followed>();
  const slots = createReadSlots(PAST_READS_MAX);
  const readerShares = createShares({ what: "log streams", max: READERS_MAX });
  /** A container counts for the holder whose stream was the first one. */
  const followedShares = createShares({ what: "followed containers", max: FOLLOWED_MAX });
  let isClosed = false;

  return {
    get readers() {
      return readers.size;
    },
    get followed() {
      return followed.size;
    },

    async open(request) {
      assertOpen();
      const release = readerShares.take(request.holder);
      const followers = followersOf(request.holder);
      const acquired: Follower[] = [];
      try {
        for (const { id, name } of request.containers) {
          acquired.push(followers.acquire({ id, name }));
        }
        const states = await Promise.allSettled(acquired.map(({ ready }) => ready));
        assertOpen();
        const [only] = states;
        if (states.length === 1 && only?.status === "rejected" && !request.select) {
          throw only.reason;
        }
        const reader = createReader(deps, request, {
          first: acquired,
          followers,
          slots,
          onClose: () => {
            readers.delete(reader);
            release();
          },
        });
        readers.add(reader);
        return reader.stream;
      } catch (error) {
        for (const follower of acquired) followers.release(follower);
        release();
        throw error;
      }
    },

    endUnauthorized() {
      for (const reader of [...readers]) reader.endIfUnauthorized();
    },

    wake: (containerId) => followed.get(containerId)?.follower.wake(),

    tick() {
      for (const { follower } of [...followed.values()]) follower.tick();
      for (const reader of [...readers]) reader.tick();
    },

    close() {
      isClosed = true;
      for (const reader of [...readers]) reader.close();
    },
  };

  function followersOf(holder: Holder | undefined): Followers {
    return {
      acquire(container) {
        const known = followed.get(container.id);
        if (known) {
          known.users++;
          return known.follower;
        }
        const giveBack = followedShares.take(holder);
        const follower = startFollower(deps, container, () => {
          // The next reader starts again.
          if (followed.get(container.id)?.follower === follower) followed.delete(container.id);
          giveBack();
        });
        followed.set(container.id, { follower, giveBack, users: 1 });
        return follower;
      },
      release(follower) {
        const known = followed.get(follower.origin.id);
        if (known?.follower !== follower || --known.users > 0) return;
        followed.delete(follower.origin.id);
        known.giveBack();
        follower.close();
      },
    };
  }

  function assertOpen(): void {
    if (isClosed) throw new AppError("unavailable", "The service is stopping");
  }
}
