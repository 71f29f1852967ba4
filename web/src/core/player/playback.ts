// One item being played: its session, its source, its reports, and the remedies of its faults.
import type { ChangePlaybackBody, PlaybackStart, StartPlaybackBody } from '../../../../api/client/index.ts';
import { problemOf } from '../api/errors.ts';
import { beginning } from './address.ts';
import { directSource } from './direct.ts';
import { takeEarly } from './early.ts';
import { holdFrame, onNextFrame } from './frame.ts';
import { Line } from './line.ts';
import { phaseAfter, type Step } from './machine.ts';
import { Mender } from './mender.ts';
import { probeFile } from './probe-file.ts';
import { Reached } from './reached.ts';
import { type Reading, readingOf } from './reading.ts';
import type { Sign } from './recovery.ts';
import type { Reporter } from './report.ts';
import { reporterOf } from './reporter-of.ts';
import { Ended, type SessionHome, Sessions } from './session.ts';
import { isHls, type Source } from './source.ts';
import type { Store } from './state.ts';
import { AUTO, deliveredAsPicture, isTextTrack, mediaOf, subtitleBefore } from './tracks.ts';

export interface PlaybackHome extends SessionHome {
  video: HTMLVideoElement;
  canvas: HTMLCanvasElement;
  /** For the last request of the page. */
  parting: SessionHome['api'];
  store: Store;
}

/** Undisturbed for so long, the next fault is a new one. */
const SETTLED_MS = 3000;

export class Playback {
  readonly #home: PlaybackHome;
  readonly #sessions: Sessions;
  readonly #mender: Mender;
  readonly line: Line;
  #source: Source | undefined;
  #reporter: Reporter | undefined;
  #reached = new Reached();
  /** Raised by each load; what an older one answers later is left out. */
  #turn = 0;
  /** Where the source begins, while it is not there yet. */
  #pendingMs: number | undefined;
  #quality: string | undefined;
  #settled: ReturnType<typeof setTimeout> | undefined;

  constructor(home: PlaybackHome) {
    this.#home = home;
    this.#sessions = new Sessions(home);
    const quality = (id: string): Promise<void> => this.#takeQuality(id);
    this.line = new Line({ store: home.store, quality, now: Date.now });
    this.#mender = new Mender({
      api: home.api,
      store: home.store,
      reload: (positionMs) => this.#reload(positionMs),
      reopen: () => this.reopen(),
      recoverMedia: () => this.#source?.recoverMedia(),
      refuseCodec: () => this.#refuseCodec(),
      quality,
      positionMs: () => this.positionMs(),
      skipTo: (positionMs) => this.seek(positionMs),
    });
  }

  /** Where the viewer is, also while a source is loading. */
  positionMs(): number {
    return this.#pendingMs ?? this.#home.video.currentTime * 1000;
  }

  step(step: Step): void {
    const { store } = this.#home;
    store.patch({ phase: phaseAfter(store.state.phase, step) });
  }

  async open(itemId: string, body: StartPlaybackBody = {}): Promise<void> {
    const { store } = this.#home;
    const turn = this.#next();
    this.step('open');
    this.#reached = new Reached();
    store.patch({ isAuto: undefined, clips: undefined });
    void import('./hls.ts'); // arrives while the server decides
    this.#mender.whenFailed(() => this.open(itemId, body));
    try {
      const request = beginning(body);
      const start = await (takeEarly(itemId, request) ?? this.#sessions.open(itemId, request));
      if (turn !== this.#turn) return void this.#home.api.endPlaybackSession({ params: { id: start.session.id } });
      store.patch({ clips: start.preroll.length > 0 ? start.preroll : undefined });
      await this.#use(start, start.session.positionMs);
    } catch (error) {
      if (turn === this.#turn) await this.#mender.failed(error);
    }
  }

  /** A session in place of one that was lost; goes on at the position. */
  async reopen(): Promise<void> {
    const { start, subtitleId } = this.#home.store.state;
    if (!start) return;
    const [turn, positionMs] = [this.#next(), this.positionMs()];
    this.#mender.whenFailed(() => this.reopen());
    try {
      const again = { positionMs, subtitleStreamId: subtitleId, quality: this.#quality };
      const next = await this.#sessions.reopen(start, again);
      if (turn === this.#turn) await this.#use(next, positionMs);
    } catch (error) {
      if (turn !== this.#turn) return;
      if (error instanceof Ended) this.#home.store.patch({ phase: 'failed', stopReason: error.reason });
      else await this.#mender.failed(error);
    }
  }

  setAudio(audioStreamId: string): Promise<void> {
    return this.#change({ audioStreamId });
  }

  /** A quality of the menu; with Auto a slow line lowers it. */
  setQuality(quality: string): Promise<void> {
    this.#home.store.patch({ isAuto: quality === AUTO });
    return this.#takeQuality(quality);
  }

  /** Text is an overlay of ours and changes at once; pictures are part of the stream. */
  async setSubtitle(id: string | null): Promise<void> {
    const { store } = this.#home;
    const { start, subtitleId } = store.state;
    if (!start || id === subtitleId) return;
    const local = isTextTrack(start, id) && !deliveredAsPicture(start);
    store.patch({ subtitleId: id });
    if (local) this.#reporter?.changed();
    else await this.#change({ subtitleStreamId: id });
  }

  /** Reads the tracks again; pictures and sound play on. */
  readonly renewTexts = (): Promise<void> => this.#change({});

  seek(positionMs: number): void {
    const { store, video } = this.#home;
    const { durationMs } = store.state;
    const to = Math.max(0, durationMs > 0 ? Math.min(positionMs, durationMs) : positionMs);
    if (this.#pendingMs !== undefined || video.readyState === 0) this.#reload(to);
    else video.currentTime = to / 1000;
    store.patch({ positionMs: to });
    this.#reporter?.sought(to);
  }

  changed(): void {
    this.#reporter?.changed();
  }

  /** The page is hidden or will be gone. */
  leave({ forGood }: { forGood: boolean }): void {
    if (forGood) void this.#reporter?.end({ pageIsLeft: true });
    else this.#reporter?.leave();
  }

  close(): void {
    this.#next();
    void this.#reporter?.end();
    this.#source?.destroy();
    this.#source = undefined;
    this.#mender.stop();
    clearTimeout(this.#settled);
    this.step('close');
  }

  /** The media element moves again. */
  moves(): void {
    this.#pendingMs = undefined;
    this.#home.store.patch({ trouble: undefined });
    clearTimeout(this.#settled);
    this.#settled = setTimeout(() => this.#mender.recovered(), SETTLED_MS);
  }

  /** The first picture is there although nothing moves. */
  settled(): void {
    this.#pendingMs = undefined;
    this.#home.store.patch({ trouble: undefined });
  }

  #next(): number {
    clearTimeout(this.#settled);
    this.#turn += 1;
    return this.#turn;
  }

  async #use(start: PlaybackStart, positionMs: number): Promise<void> {
    const { store } = this.#home;
    this.step('decided');
    this.step('reload');
    store.patch({
      start,
      durationMs: start.session.durationMs ?? 0,
      positionMs,
      subtitleId: start.session.decision.subtitle?.streamId ?? null,
      problem: undefined,
      trouble: undefined,
      stopReason: undefined,
      isAuto: store.state.isAuto ?? isHls(start.session.url),
    });
    this.#report(start);
    if (store.state.clips) this.#pendingMs = positionMs;
    else await this.#attach(start, positionMs);
  }

  /** The clips before the film are over. Where the film begins was its position until now, so none of them counted. */
  async begin(): Promise<void> {
    const { start, clips } = this.#home.store.state;
    if (!start || !clips) return;
    this.#home.store.patch({ clips: undefined });
    await this.#attach(start, this.positionMs());
  }

  async #attach({ session }: PlaybackStart, positionMs: number): Promise<void> {
    const { video, canvas, store } = this.#home;
    const turn = this.#next();
    store.patch({ held: holdFrame(video, canvas) });
    this.#source?.destroy();
    this.#source = undefined;
    this.#pendingMs = positionMs;
    const fault = (sign: Sign): void => {
      if (turn === this.#turn) void this.#mender.mend(sign);
    };
    this.#mender.whenFailed(() => this.#attach(store.state.start ?? never(), this.positionMs()));
    const shaky = (): void => {
      if (!store.state.trouble) store.patch({ trouble: { kind: 'reconnecting' } });
    };
    const options = { video, url: session.url, positionMs, fault, shaky };
    if (isHls(session.url)) {
      const { hlsSource } = await import('./hls.ts');
      if (turn === this.#turn) this.#source = hlsSource(options);
    } else {
      this.#source = directSource({ ...options, look: () => probeFile(this.#home.api, store.state.start ?? never()) });
    }
    onNextFrame(video, () => turn === this.#turn && store.patch({ held: false }));
  }

  #reload(positionMs: number): void {
    this.#pendingMs = positionMs;
    if (this.#source) this.#source.load(positionMs);
  }

  #takeQuality(quality: string): Promise<void> {
    this.#quality = quality;
    return this.#change({ quality });
  }

  /** Any change of the session; the old source plays until the answer is there. */
  async #change(body: ChangePlaybackBody): Promise<void> {
    const { subtitleId: subtitleStreamId } = this.#home.store.state;
    await this.#changeBy(({ session }) =>
      this.#sessions.change(session.id, { subtitleStreamId, ...body, positionMs: Math.round(this.positionMs()) }),
    );
  }

  async #refuseCodec(): Promise<void> {
    const { start } = this.#home.store.state;
    const codec = start?.session.decision.video?.codec;
    if (!codec) return;
    await this.#changeBy(({ session }) =>
      this.#sessions.withoutCodec(session.id, codec, Math.round(this.positionMs())),
    );
  }

  async #changeBy(request: (start: PlaybackStart) => Promise<PlaybackStart>): Promise<void> {
    const { store } = this.#home;
    const { start, subtitleId } = store.state;
    if (!start) return;
    try {
      const next = await request(start);
      if (mediaOf(next) !== mediaOf(start)) return await this.#use(next, this.positionMs());
      const isChosen = store.state.subtitleId !== subtitleId; // a choice that was made meanwhile stays
      store.patch({ start: next, ...(!isChosen && { subtitleId: next.session.decision.subtitle?.streamId ?? null }) });
    } catch (error) {
      const problem = problemOf(error);
      if (problem.code === 'CONFLICT' && problem.reason === 'session-stopped') return this.reopen();
      store.patch({ notice: { kind: 'problem', problem }, subtitleId: subtitleBefore(start, subtitleId) });
    }
  }

  #report(start: PlaybackStart): void {
    this.#reporter?.stop();
    this.#reporter = reporterOf(this.#home, start, {
      reached: this.#reached,
      read: () => this.#reading(),
      answered: ({ commands }) => this.#mender.obey(commands),
      lost: () => void this.#mender.mend({ kind: 'network', status: 404 }),
    });
  }

  #reading(): Reading | undefined {
    const { video, store } = this.#home;
    if (this.#pendingMs === undefined && video.readyState === 0) return undefined;
    return readingOf(store.state, video, { positionMs: this.positionMs(), bandwidthBps: this.#source?.bandwidthBps() });
  }
}

function never(): never {
  throw new Error('nothing is being played');
}
