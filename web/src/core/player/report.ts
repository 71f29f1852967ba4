// Reports to the server where the viewer is: at the interval that it gave, at each change, and when the page is left.
import type { ReportPlaybackBody, ReportPlaybackResponse } from '../../../../api/client/index.ts';
import { LEAST_MS, type Outbox } from './outbox.ts';
import type { Reached } from './reached.ts';
import type { Reading } from './reading.ts';

export interface ReportHome {
  session: { id: string; profileId: string; itemId: string; fileId: string };
  keepAliveMs: number;
  outbox: Outbox;
  /** Of the item, also across sessions. */
  reached: Reached;
  /** Undefined while the position is unknown, such as before the first picture. */
  read(): Reading | undefined;
  send(id: string, body: ReportPlaybackBody): Promise<ReportPlaybackResponse>;
  /** The same request, which outlives the page. */
  sendLast(id: string, body: ReportPlaybackBody): Promise<unknown>;
  /** Ends the session with its last position; outlives the page too. */
  end(id: string, positionMs: number | undefined): Promise<unknown>;
  answered(answer: ReportPlaybackResponse): void;
  failed(error: unknown): void;
  now(): number;
}

const KEEP_MS = 5000;
/** The server takes five reports a second. */
const LEAST_GAP_MS = 300;

export class Reporter {
  readonly #home: ReportHome;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #soon: ReturnType<typeof setTimeout> | undefined;
  /** The person went to the beginning: its position counts too. */
  #fromStart = false;
  #stopped = false;
  /** A change, such as of a track, that the server does not know yet. */
  #isUnsaid = false;
  #confirmedAt = 0;

  constructor(home: ReportHome) {
    this.#home = home;
    this.#timers.push(setInterval(() => void this.#report(), home.keepAliveMs));
    this.#timers.push(setInterval(() => this.#keep(), KEEP_MS));
  }

  /** A change of state, position, track or rate. Changes in quick succession are one report. */
  changed(): void {
    this.#keep();
    this.#isUnsaid = true;
    if (this.#stopped || this.#soon !== undefined) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      void this.#report();
    }, LEAST_GAP_MS);
  }

  /** The person sought to here. */
  sought(positionMs: number): void {
    this.#fromStart = positionMs < LEAST_MS;
    this.#home.reached.forget();
    this.changed();
  }

  /** The page is hidden. */
  leave(): void {
    const body = this.#body();
    this.#keep();
    if (!body || this.#stopped) return;
    void this.#confirmed(this.#home.sendLast(this.#home.session.id, body), Date.parse(body.at ?? ''));
  }

  /**
   * The player is closed or the page is left: one request has the end and the last position. A change that was not reported
   * goes before it; a page that is left cannot wait for the answer.
   */
  async end({ pageIsLeft = false } = {}): Promise<void> {
    if (this.#stopped) return;
    const body = this.#body();
    this.#keep();
    this.stop();
    if (body && this.#isUnsaid) {
      const last = this.#home.sendLast(this.#home.session.id, body).catch(() => undefined);
      if (!pageIsLeft) await last;
    }
    await this.#confirmed(this.#home.end(this.#home.session.id, body?.positionMs), Date.parse(body?.at ?? ''));
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#soon);
  }

  #reading(): Reading | undefined {
    const reading = this.#home.read();
    return reading && (reading.positionMs >= LEAST_MS || this.#fromStart) ? reading : undefined;
  }

  #at(reading: Reading): number {
    return this.#home.reached.at(reading, this.#home.now());
  }

  #body(): ReportPlaybackBody | undefined {
    const reading = this.#reading();
    return reading && { ...reading, at: new Date(this.#at(reading)).toISOString() };
  }

  #keep(): void {
    const reading = this.#reading();
    if (!reading || this.#stopped) return;
    const at = this.#at(reading);
    if (at <= this.#confirmedAt) return;
    const { profileId, itemId, fileId } = this.#home.session;
    this.#home.outbox.keep({ profileId, itemId, fileId, positionMs: reading.positionMs, at });
  }

  #confirm(at: number): void {
    if (Number.isNaN(at)) return;
    this.#confirmedAt = Math.max(this.#confirmedAt, at);
    this.#home.outbox.confirm({ ...this.#home.session, at });
  }

  /** A position of a request that failed is kept, and a later page sends it. */
  #confirmed(request: Promise<unknown>, at: number): Promise<void> {
    return request.then(
      () => this.#confirm(at),
      () => undefined,
    );
  }

  async #report(): Promise<void> {
    const body = this.#body();
    if (!body || this.#stopped) return;
    const at = Date.parse(body.at ?? '');
    this.#isUnsaid = false;
    try {
      const answer = await this.#home.send(this.#home.session.id, body);
      this.#confirm(at);
      if (!this.#stopped) this.#home.answered(answer);
    } catch (error) {
      this.#isUnsaid = true;
      if (!this.#stopped) this.#home.failed(error);
    }
  }
}
