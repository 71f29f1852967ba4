import type { SyncEnd } from '#areas/subtitles/public.ts';

type Refused = Extract<SyncEnd, { refused: string }>['refused'];

/** Nothing can be compared. */
export class Refusal extends Error {
  readonly reason: Refused;
  constructor(reason: Refused) {
    super(reason);
    this.reason = reason;
  }
}
