import { setTimeout as sleep } from 'node:timers/promises';
import { speechDemand } from '#areas/subtitles/speech/line.store.ts';
import {
  type FoundModel,
  findModel,
  forgetSpeechWorker,
  type ModelFault,
  reportSpeechWorker,
  saveModel,
} from '#areas/subtitles/speech/models.store.ts';
import type { RequestRow } from '#areas/subtitles/speech/requests.store.ts';
import { claimRequest, LEASE_MS, renewTurn, returnTurn } from '#areas/subtitles/speech/turns.store.ts';
import { type Child, ChildFailed } from './child.ts';
import { type HearingDeps, hearFilm } from './hear-film.ts';
import { type LoadedModel, loadModel, type ModelPlace } from './load-model.ts';
import { stateOfFolder } from './model-folder.ts';

const LOOK_MS = 1000;
const REPORT_MS = 5000;
const RENEW_MS = LEASE_MS / 3;
/** After a child that could not be started again. */
const RETRY_MS = 2000;
/** After so many failed starts the model is loaded as at the beginning: on another device, or its fault is recorded. */
const MOST_FAILED_STARTS = 3;
/** How often the folder of a model with a fault is looked at, and after which time the model is tried again in any case. */
const FOLDER_MS = 3000;
const TRY_AGAIN_MS = 600_000;

export interface SpeechStatus {
  model: string;
  device: 'gpu' | 'cpu' | null;
  computeType: string | null;
  state: 'starting' | 'ready' | 'unavailable';
  reason: ModelFault;
  message: string;
  fellBack: boolean;
  /** Requests that wait or run and that no rest holds back, in the whole server. */
  waiting: number;
  secondsPerMinute: number | null;
}

/** Serves requests for subtitles from speech, one at a time. */
export class SpeechWorker {
  readonly status: SpeechStatus;
  readonly #id: string;
  readonly #deps: HearingDeps;
  readonly #place: ModelPlace;
  readonly #stopping = new AbortController();
  #over: Promise<void> = Promise.resolve();
  #model: LoadedModel | undefined;
  #child: Child | undefined;
  /** Of the child, one after the other. */
  #failedStarts = 0;

  constructor(deps: HearingDeps, place: ModelPlace, id: string) {
    this.#deps = deps;
    this.#place = place;
    this.#id = id;
    this.status = {
      ...{ model: place.name, device: null, computeType: null, state: 'starting', reason: '' },
      ...{ message: 'the model is being loaded', fellBack: false, waiting: 0, secondsPerMinute: null },
    };
  }

  start(): void {
    this.#over = this.#run();
  }

  /** Returns the request in hand at once, and ends. */
  async stop(): Promise<void> {
    this.#stopping.abort('stopping');
    this.#child?.end();
    await this.#over;
    await forgetSpeechWorker(this.#deps.db, this.#id).catch(() => undefined);
  }

  /** Loads the model and serves with it until the worker ends; after a failure it begins again. */
  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        const loaded = await this.#load();
        if (!loaded) return;
        await this.#take(loaded);
        await this.#serve();
      } catch (error) {
        await this.#onBreak(error as Error);
      }
    }
  }

  async #onBreak({ message }: Error): Promise<void> {
    this.#child?.end();
    this.#child = undefined;
    if (this.#stopping.signal.aborted) return;
    this.#deps.log.error({ err: message }, 'the speech worker begins again');
    this.#become({ state: 'unavailable', message });
    await this.#pause(RETRY_MS);
  }

  /** The model; one with a fault is tried again when its files change. Undefined when the worker ends first. */
  async #load(): Promise<LoadedModel | undefined> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const state = await stateOfFolder(this.#place);
      const loaded = await loadModel(this.#place, signal);
      if (!('fault' in loaded)) return loaded;
      await this.#record({ fault: loaded.fault, note: loaded.message });
      this.#become({ state: 'unavailable', reason: loaded.fault, message: loaded.message });
      this.#deps.log.warn({ fault: loaded.fault }, loaded.message);
      const until = performance.now() + (loaded.wasKilled ? 0 : TRY_AGAIN_MS);
      do await this.#pause(FOLDER_MS);
      while (!signal.aborted && performance.now() < until && (await stateOfFolder(this.#place)) === state);
    }
    return undefined;
  }

  async #take(loaded: LoadedModel): Promise<void> {
    this.#model = loaded;
    this.#child = loaded.child;
    this.#failedStarts = 0;
    await this.#record(foundOf(loaded));
    const { device, computeType, fellBack, note, pace } = loaded;
    this.#become({ device, computeType, fellBack, secondsPerMinute: pace });
    this.#become({ state: 'ready', reason: '', message: note ?? 'ready' });
    this.#deps.log.info({ model: this.#place.name, device, computeType }, 'the model is loaded');
  }

  #become(change: Partial<SpeechStatus>): void {
    Object.assign(this.status, change);
  }

  /** The last word about the model. A fault keeps its known device and languages. */
  async #record(found: Partial<FoundModel> & { fault: ModelFault }): Promise<void> {
    const { name } = this.#place;
    const known = await findModel(this.#deps.db, name);
    const { device = null, compute_type = null, sha256 = null, languages = [] } = known ?? {};
    const pace = known?.seconds_per_minute ?? null;
    const kept = { name, device, compute_type, sha256, languages, note: null, seconds_per_minute: pace };
    await saveModel(this.#deps.db, { ...kept, ...found });
  }

  async #serve(): Promise<void> {
    let reported = 0;
    while (!this.#stopping.signal.aborted) {
      if (performance.now() - reported > REPORT_MS || reported === 0) {
        reported = performance.now();
        await this.#report();
      }
      const child = await this.#ready();
      const row = child && (await this.#claim());
      if (row) await this.#hear(child, row);
      else await this.#pause(LOOK_MS);
    }
    this.#child?.end();
  }

  /** The child, started again after it ended. Undefined when that failed; throws when it failed too often. */
  async #ready(): Promise<Child | undefined> {
    if (this.#child?.ended) this.#child = undefined;
    try {
      this.#child ??= await this.#model?.start();
      this.#failedStarts = 0;
      return this.#child;
    } catch (error) {
      this.#failedStarts += 1;
      if (this.#failedStarts >= MOST_FAILED_STARTS) throw error;
      await this.#onFailure(error as Error);
      return undefined;
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #report(): Promise<void> {
    const { db } = this.#deps;
    await reportSpeechWorker(db, this.#id, this.#place.name).catch(() => undefined);
    this.status.waiting = await speechDemand(db, undefined).catch(() => this.status.waiting);
  }

  async #claim(): Promise<RequestRow | undefined> {
    const { db, settings, log } = this.#deps;
    if (settings.get('jobs.paused').includes('speech')) return undefined;
    try {
      return await claimRequest(db, { id: this.#id, model: this.#place.name });
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'no request could be claimed');
      return undefined;
    }
  }

  /** Hears a request while its lease is renewed. */
  async #hear(child: Child, row: RequestRow): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, this.#stopping.signal]);
    const renewing = setInterval(() => void this.#renew(row, lost), RENEW_MS);
    const reporting = setInterval(() => void this.#report(), REPORT_MS);
    const onLost = (): void => child.end(); // what it hears is not wanted any more
    lost.signal.addEventListener('abort', onLost, { once: true });
    try {
      await hearFilm(this.#deps, { row, child, signal });
    } catch (error) {
      await this.#onFailure(error as Error);
    } finally {
      clearInterval(renewing);
      clearInterval(reporting);
    }
    if (lost.signal.aborted) this.#child = undefined;
    if (this.#stopping.signal.aborted) await returnTurn(this.#deps.db, row).catch(() => undefined);
  }

  async #renew(row: RequestRow, lost: AbortController): Promise<void> {
    const renewed = await renewTurn(this.#deps.db, row).catch(() => true); // Postgres is unavailable: the epoch protects
    if (!renewed) lost.abort('lost');
  }

  async #onFailure(error: Error): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#deps.log.warn({ err: error.message }, 'a request was interrupted');
    if (error instanceof ChildFailed) {
      this.#child?.end();
      this.#child = undefined;
      if (error.reason === 'memory' && this.#model?.device === 'gpu') return this.#fallBack(error);
    }
    await this.#pause(RETRY_MS);
  }

  /** Goes on with the CPU when the memory of the GPU does not suffice. */
  async #fallBack({ message }: Error): Promise<void> {
    const loaded = await loadModel({ ...this.#place, device: 'cpu' }, this.#stopping.signal);
    if ('fault' in loaded) throw new Error(loaded.message); // the run begins again
    const note = `fell back to the CPU; the GPU failed: ${message}`.slice(0, 500);
    await this.#take({ ...loaded, fellBack: true, note });
  }
}

function foundOf({ device, computeType, sha256, languages, note, pace }: LoadedModel) {
  return {
    ...{ fault: '' as const, device, compute_type: computeType, sha256, languages, note },
    seconds_per_minute: pace,
  };
}
