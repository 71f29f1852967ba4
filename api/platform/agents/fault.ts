import type { CatalogueId } from './agent.ts';

export type FaultReason =
  | 'disabled'
  | 'missing-key'
  | 'refused'
  | 'rate-limited'
  | 'unreachable'
  | 'timeout'
  | 'invalid-answer'
  | 'redirected';

/** A catalogue gave no answer. Items keep what they have. */
export class CatalogueFault extends Error {
  readonly agent: CatalogueId;
  readonly reason: FaultReason;
  /** Earliest time at which another request makes sense. */
  readonly waitMs: number | undefined;
  constructor(agent: CatalogueId, reason: FaultReason, waitMs?: number) {
    super(`${agent}: ${reason}`);
    this.agent = agent;
    this.reason = reason;
    this.waitMs = waitMs;
  }
}
