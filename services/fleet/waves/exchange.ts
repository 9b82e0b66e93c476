/** The exchange about blocked images with one host, as its open link has it. @module */

/** State of the exchange with one host. */
export interface WaveLink {
  /** Whether the host has told the blocks that this hub did not have. */
  isSynced: boolean;
  /** Blocks that it has told. */
  told: number;
  /** Whether it has got all of them. */
  hasAll: boolean;
  second: number;
  asks: number;
  /** Ends when its messages so far are processed. */
  queue: Promise<void>;
}

export const newWaveLink = (): WaveLink => ({
  ...{ isSynced: false, told: 0, hasAll: false, second: 0, asks: 0 },
  queue: Promise.resolve(),
});
