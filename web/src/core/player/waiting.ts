// Sends the positions that the server does not have yet: at once, on request and every minute.
import type { SyncPlaybackBody } from '../../../../api/client/index.ts';
import type { Outbox } from './outbox.ts';

export interface WaitingHome {
  profileId: string;
  outbox: Outbox;
  send(body: SyncPlaybackBody): Promise<unknown>;
  now(): number;
  everyMs?: number;
}

const EVERY_MS = 60_000;
/** A player that still runs reports a younger position itself. */
const OWN_MS = 30_000;

export class Waiting {
  readonly #home: WaitingHome;
  readonly #timer: ReturnType<typeof setInterval>;
  #isSending = false;

  constructor(home: WaitingHome) {
    this.#home = home;
    this.#timer = setInterval(() => void this.send(home.now() - OWN_MS), home.everyMs ?? EVERY_MS);
    void this.send();
  }

  /** Sends positions up to a time, all by default. They wait on when the server is not reached. */
  async send(until = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    const { outbox, profileId, send } = this.#home;
    await outbox.flush(profileId, send, until).catch(() => undefined);
    this.#isSending = false;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
