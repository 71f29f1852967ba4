// Carries out the remedies of the recovery table.
import type { FoyerClient, ReportPlaybackResponse } from '../../../../api/client/index.ts';
import { type Problem, problemOf } from '../api/errors.ts';
import { History, type Remedy, type Sign } from './recovery.ts';
import type { Store } from './state.ts';
import { lowerQuality } from './tracks.ts';

export interface MenderHome {
  api: FoyerClient;
  store: Store;
  reload(positionMs: number): void;
  reopen(): Promise<void>;
  recoverMedia(): void;
  refuseCodec(): Promise<void>;
  quality(id: string): Promise<void>;
  positionMs(): number;
  skipTo(positionMs: number): void;
}

/** Less than this is shown before another session can begin. */
const AHEAD_MS = 1000;

type Again = () => Promise<void> | void;

export class Mender {
  readonly #home: MenderHome;
  readonly #history = new History();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What a wait leads to. */
  #again: Again = () => undefined;

  constructor(home: MenderHome) {
    this.#home = home;
  }

  /** The work to repeat when the current one failed and the remedy is to wait. */
  whenFailed(again: Again): void {
    this.stop();
    this.#again = again;
  }

  recovered(): void {
    this.#history.recovered();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** A request of the session failed. */
  async failed(error: unknown): Promise<void> {
    const problem = problemOf(error);
    const { status = 0, code, retryAfterSec } = problem;
    if (code === 'unexpected' || (status > 0 && status < 500 && !WAITED.includes(status))) return this.#fail(problem);
    const sign: Sign = {
      kind: 'network',
      status,
      code,
      problem,
      ...(retryAfterSec !== undefined && { retryAfterSec }),
    };
    await this.#carryOut(this.#history.next(sign, Date.now()), problem);
  }

  /** The source reports a fault; the source is loaded again where the remedy is to wait. */
  async mend(sign: Sign): Promise<void> {
    const { bufferedMs, positionMs } = this.#home.store.state;
    const remedy = this.#history.next({ ...sign, isAhead: bufferedMs > positionMs + AHEAD_MS }, Date.now());
    this.#again = () => this.#home.reload(this.#home.positionMs());
    await this.#carryOut(remedy, sign.problem);
  }

  /** What the server demands in the answer of a report. */
  obey(commands: ReportPlaybackResponse['commands']): void {
    for (const { command, args } of commands) {
      const { positionMs, text, message } = args as { positionMs?: number; text?: string; message?: string };
      const words = message ?? text;
      if (command === 'pause' || command === 'stop') this.#home.store.patch({ wanted: false });
      if (command === 'seek' && positionMs !== undefined) this.#home.skipTo(positionMs);
      if (words) this.#home.store.patch({ notice: { kind: 'message', text: words } });
    }
  }

  async #carryOut(remedy: Remedy, problem: Problem | undefined): Promise<void> {
    const { store } = this.#home;
    if (remedy.do === 'fail') return this.#fail(problem ?? UNKNOWN);
    if (remedy.do === 'retry') return this.#wait(remedy.waitMs, { kind: 'reconnecting' });
    if (remedy.do === 'waitStorage') return this.#wait(remedy.waitMs, { kind: 'storage' });
    if (remedy.do === 'waitSlot') {
      const until = Date.now() + remedy.waitMs;
      return this.#wait(remedy.waitMs, { kind: 'slot', until, problem: problem ?? UNKNOWN });
    }
    if (remedy.do === 'stopOther') return this.#stopOther(problem ?? UNKNOWN);
    if (remedy.do === 'skip') {
      store.patch({ notice: { kind: 'skipped' } });
      this.#home.skipTo(remedy.toMs);
      return this.#home.reload(remedy.toMs);
    }
    await this.#change(remedy, problem);
  }

  async #change(remedy: Remedy, problem: Problem | undefined): Promise<void> {
    if (remedy.do === 'refresh') return this.#refresh();
    if (remedy.do === 'reopen') return this.#home.reopen();
    if (remedy.do === 'recoverMedia') return this.#home.recoverMedia();
    if (remedy.do === 'refuseCodec') return this.#home.refuseCodec();
    const lower = this.#home.store.state.start && lowerQuality(this.#home.store.state.start.session.decision);
    if (!lower) return this.#fail(problem ?? UNKNOWN);
    this.#home.store.patch({ notice: { kind: 'lowered' } });
    await this.#home.quality(lower.quality);
  }

  /** Any request by the client renews the token, once for all tabs. */
  async #refresh(): Promise<void> {
    try {
      await this.#home.api.getMe();
      await this.#again();
    } catch (error) {
      await this.failed(error);
    }
  }

  async #stopOther(problem: Problem): Promise<void> {
    const { api, store } = this.#home;
    const own = await api.listPlaybackSessions({ query: { include: 'item' } }).catch(() => ({ items: [] }));
    store.patch({ trouble: { kind: 'streams', problem, sessions: own.items } });
  }

  #wait(waitMs: number, trouble: NonNullable<Store['state']['trouble']>): void {
    this.stop();
    this.#home.store.patch({ trouble });
    this.#timer = setTimeout(() => void this.#again(), waitMs);
  }

  #fail(problem: Problem): void {
    this.stop();
    this.#home.store.patch({ phase: 'failed', problem, trouble: undefined });
  }
}

/** Refusals that pass by themselves or by a remedy. */
const WAITED = [401, 423, 429];
const UNKNOWN: Problem = { code: 'unexpected', message: 'The media could not be played', issues: [], details: {} };
