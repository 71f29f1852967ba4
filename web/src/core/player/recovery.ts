// What the player does about a fault, by the sign that it shows. Pure, so that the table can be read and tested.
import type { Problem } from '../api/errors.ts';

/** A fault as the media element, hls.js or the server shows it. */
export interface Sign {
  kind: 'network' | 'decode' | 'refused' | 'stalled';
  /** Of the response; 0 without one. */
  status?: number;
  code?: string;
  /** The response in full, where there is one. */
  problem?: Problem;
  /** Where the damaged part ends, of a segment that could not be made. */
  segmentEndMs?: number;
  /** Pictures that were not shown yet are in memory. */
  isAhead?: boolean;
  retryAfterSec?: number;
}

export type Remedy =
  /** The same request again, after a wait. */
  | { do: 'retry'; waitMs: number }
  /** A new access token, then the same request. */
  | { do: 'refresh' }
  /** Another session at the position, after a look why this one ended. */
  | { do: 'reopen' }
  /** Goes on behind a damaged part. */
  | { do: 'skip'; toMs: number }
  /** A lower quality. */
  | { do: 'lower' }
  | { do: 'recoverMedia' }
  /** Another decision without the codec that failed. */
  | { do: 'refuseCodec' }
  /** The storage is not there; the request is sent again. */
  | { do: 'waitStorage'; waitMs: number }
  | { do: 'waitSlot'; waitMs: number }
  /** Too many streams: the person stops another one. */
  | { do: 'stopOther' }
  | { do: 'fail' };

const WAITS_MS = [500, 1000, 2000, 4000];
const NETWORK_LIMIT_MS = 60_000;
const STORAGE_MS = 10_000;
const REOPENS = 3;
const REOPEN_WINDOW_MS = 120_000;
const SKIP_MS = 2000;
/** Of `TRANSCODE_FAILED`: the file itself cannot be read, so another quality has the same fault. */
const UNREADABLE = 'source-read';

export const isUnreadable = ({ problem }: Sign): boolean => problem?.reason === UNREADABLE;

/** The remedies of the faults before this one. A stretch of undisturbed playing starts it afresh. */
export class History {
  #attempts = 0;
  #since: number | undefined;
  #refreshed = false;
  #skipped = false;
  #decodes = 0;
  #reopened: number[] = [];
  #unread = Number.NEGATIVE_INFINITY;

  /** Playing went on: the next fault is a new one. */
  recovered(): void {
    this.#attempts = 0;
    this.#since = undefined;
    this.#refreshed = false;
    this.#skipped = false;
  }

  /** Chooses the remedy and counts it. */
  next(sign: Sign, now: number): Remedy {
    if (sign.kind === 'decode') return this.#decode();
    if (sign.kind === 'refused') return { do: 'refuseCodec' };
    return this.#byStatus(sign, now);
  }

  #decode(): Remedy {
    this.#decodes += 1;
    return this.#decodes === 1 ? { do: 'recoverMedia' } : { do: 'refuseCodec' };
  }

  #byStatus(sign: Sign, now: number): Remedy {
    const own = BY_CODE[sign.code ?? ''] ?? BY_STATUS[sign.status ?? 0];
    if (own === 'refresh') return this.#refresh();
    if (own === 'reopen') return this.#reopen(now);
    if (own === 'storage') return { do: 'waitStorage', waitMs: STORAGE_MS };
    if (own === 'slot') return { do: 'waitSlot', waitMs: (sign.retryAfterSec ?? 5) * 1000 };
    if (own === 'streams') return { do: 'stopOther' };
    if (own === 'damaged') return this.#damaged(sign, now);
    return own === 'none' ? { do: 'fail' } : this.#retry(now);
  }

  #refresh(): Remedy {
    if (this.#refreshed) return { do: 'fail' };
    this.#refreshed = true;
    return { do: 'refresh' };
  }

  #reopen(now: number): Remedy {
    this.#reopened = this.#reopened.filter((at) => now - at < REOPEN_WINDOW_MS);
    if (this.#reopened.length >= REOPENS) return { do: 'fail' };
    this.#reopened.push(now);
    return { do: 'reopen' };
  }

  #damaged(sign: Sign, now: number): Remedy {
    const { segmentEndMs } = sign;
    if (isUnreadable(sign)) return this.#unreadable(sign, now);
    if (this.#skipped || segmentEndMs === undefined) return { do: 'lower' };
    this.#skipped = true;
    return { do: 'skip', toMs: segmentEndMs + SKIP_MS };
  }

  /** A mount may fail for a moment: while there is something to show, one more session reads the file. */
  #unreadable({ isAhead = false }: Sign, now: number): Remedy {
    const isSecond = now - this.#unread < REOPEN_WINDOW_MS;
    this.#unread = now;
    return isAhead && !isSecond ? this.#reopen(now) : { do: 'fail' };
  }

  /** Waits 0.5, 1, 2, 4, 4 … seconds, for a minute; then looks for another session. */
  #retry(now: number): Remedy {
    this.#since ??= now;
    if (now - this.#since > NETWORK_LIMIT_MS) return this.#reopen(now);
    const waitMs = WAITS_MS[Math.min(this.#attempts, WAITS_MS.length - 1)] ?? 0;
    this.#attempts += 1;
    return { do: 'retry', waitMs };
  }
}

type Way = 'refresh' | 'reopen' | 'storage' | 'slot' | 'streams' | 'damaged' | 'none';

const BY_CODE: Readonly<Record<string, Way>> = {
  TRANSCODE_LIMIT_REACHED: 'slot',
  TRANSCODE_FAILED: 'damaged',
  STORAGE_UNAVAILABLE: 'storage',
  STREAM_LIMIT_REACHED: 'streams',
};

const BY_STATUS: Readonly<Record<number, Way>> = {
  400: 'none',
  401: 'refresh',
  403: 'none',
  404: 'reopen',
  409: 'reopen',
  410: 'reopen',
  415: 'none',
  423: 'storage',
  500: 'damaged',
};
