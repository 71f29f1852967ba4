// The player of one media element: what a person can do, and the events of the element turned into its state.
import type { StartPlaybackBody } from '../../../../api/client/index.ts';
import { isOpen } from './machine.ts';
import { Playback, type PlaybackHome } from './playback.ts';
import { type PlayerState, Store } from './state.ts';
import { chapterBy, deliveredAsPicture, nextOf, subtitlesOf } from './tracks.ts';

export type PlayerHome = Omit<PlaybackHome, 'store'> & { changed(state: PlayerState): void };

/** Seeks by keys gather for so long. */
const GATHER_MS = 250;
const FRAMES = 24;
const VOLUME = 'foyer.volume';
const CHANNEL = 'foyer-player';
const RATES = { least: 0.25, most: 4 };

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

export class Player {
  readonly #home: PlaybackHome;
  readonly #playback: Playback;
  readonly #store: Store;
  readonly #ends = new AbortController();
  readonly #channel = new BroadcastChannel(CHANNEL);
  #gather: ReturnType<typeof setTimeout> | undefined;

  constructor({ changed, ...home }: PlayerHome) {
    this.#store = new Store((state) => {
      this.#follow(state);
      changed(state);
    });
    this.#home = { ...home, store: this.#store };
    this.#playback = new Playback(this.#home);
    this.#listen();
    this.#restoreVolume();
  }

  get state(): PlayerState {
    return this.#store.state;
  }

  open(itemId: string, body?: StartPlaybackBody): Promise<void> {
    this.#channel.postMessage('plays');
    return this.#playback.open(itemId, body);
  }

  /** After the clips before the film. */
  begin(): Promise<void> {
    return this.#playback.begin();
  }

  reopen(): Promise<void> {
    return this.#playback.reopen();
  }

  play(): void {
    this.#store.patch({ wanted: true });
    this.#channel.postMessage('plays');
    void this.#start();
  }

  pause(): void {
    this.#store.patch({ wanted: false });
  }

  toggle(): void {
    if (this.state.wanted && this.state.phase !== 'ended') this.pause();
    else this.play();
  }

  seek(positionMs: number): void {
    clearTimeout(this.#gather);
    this.#store.patch({ targetMs: undefined });
    this.#playback.seek(positionMs);
  }

  /** Steps in quick succession become one seek. */
  seekBy(ms: number): void {
    const { targetMs, durationMs } = this.state;
    const from = targetMs ?? this.#playback.positionMs();
    const to = clamp(from + ms, 0, durationMs || Number.MAX_SAFE_INTEGER);
    clearTimeout(this.#gather);
    this.#store.patch({ targetMs: to });
    if (this.#isBuffered(to)) this.seek(to);
    else this.#gather = setTimeout(() => this.seek(to), GATHER_MS);
  }

  /** One picture on or back; it pauses. */
  stepFrames(count: number): void {
    this.pause();
    this.seek(this.#playback.positionMs() + (count * 1000) / FRAMES);
  }

  /** Returns false at the last chapter. */
  chapterBy(by: number): boolean {
    const to = chapterBy(this.state.start?.chapters ?? [], this.#playback.positionMs(), by);
    if (to === undefined) return false;
    this.seek(to);
    return true;
  }

  setVolume(volume: number): void {
    const { video, storage } = this.#home;
    video.volume = clamp(Math.round(volume * 100) / 100, 0, 1);
    video.muted = false;
    storage.setItem(VOLUME, String(video.volume));
    this.#heard();
  }

  toggleMuted(): void {
    this.#home.video.muted = !this.#home.video.muted;
    this.#heard();
  }

  setRate(rate: number): void {
    const { video } = this.#home;
    video.defaultPlaybackRate = clamp(rate, RATES.least, RATES.most);
    video.playbackRate = video.defaultPlaybackRate;
    this.#store.patch({ rate: video.playbackRate });
  }

  setSubtitle(id: string | null): Promise<void> {
    return this.#playback.setSubtitle(id);
  }

  /** A text came or went, or has other times, while the film plays. */
  async renewTexts(): Promise<void> {
    const { phase } = this.state;
    if (isOpen(phase) && phase !== 'ended') await this.#playback.renewTexts();
  }

  /** The next track of the list; none after the last. */
  async nextSubtitle(): Promise<void> {
    const { start, subtitleId } = this.state;
    if (!start) return;
    const ids = [null, ...subtitlesOf(start).map(({ streamId }) => streamId)];
    await this.setSubtitle(nextOf(ids, (id) => id === subtitleId) ?? null);
  }

  setAudio(id: string): Promise<void> {
    return this.#playback.setAudio(id);
  }

  setQuality(id: string): Promise<void> {
    return this.#playback.setQuality(id);
  }

  dismissNotice(): void {
    this.#store.patch({ notice: undefined });
  }

  /** Ends the session and leaves the media element empty. */
  close(): void {
    clearTimeout(this.#gather);
    this.#playback.close();
    this.#ends.abort();
    this.#channel.close();
  }

  /** True where the picture of a position is in memory. */
  #isBuffered(positionMs: number): boolean {
    const { buffered } = this.#home.video;
    const at = positionMs / 1000;
    for (let i = 0; i < buffered.length; i += 1) if (buffered.start(i) <= at && at < buffered.end(i) - 0.5) return true;
    return false;
  }

  async #start(): Promise<void> {
    const { video } = this.#home;
    if (!video.paused || video.readyState === 0) return;
    try {
      await video.play();
    } catch (error) {
      // The browser demands a press of the person before anything sounds.
      if (error instanceof DOMException && error.name === 'NotAllowedError') this.pause();
    }
  }

  /** The element does what the state says. */
  #follow(state: PlayerState): void {
    const { video } = this.#home;
    if (!state.wanted && !video.paused) video.pause();
  }

  #restoreVolume(): void {
    const { video, storage } = this.#home;
    const kept = Number(storage.getItem(VOLUME) ?? Number.NaN);
    if (kept >= 0 && kept <= 1) video.volume = kept;
    this.#heard();
  }

  /** The events of the element come later than the words of a key. */
  #heard(): void {
    const { volume, muted } = this.#home.video;
    this.#store.patch({ volume, muted });
  }

  #listen(): void {
    const { video } = this.#home;
    const { signal } = this.#ends;
    const on = (names: string, act: () => void): void => {
      for (const name of names.split(' ')) video.addEventListener(name, act, { signal });
    };
    on('loadedmetadata', () => this.#measure());
    on('canplay', () => this.#ready());
    on('playing', () => this.#moves());
    on('pause', () => this.#halted());
    on('waiting', () => this.#waits());
    on('ended', () => this.#playback.step('end'));
    on('timeupdate progress seeking seeked', () => this.#measure());
    on('seeked', () => this.#ready());
    on('volumechange', () => this.#heard());
    on('ratechange', () => this.#rated());
    addEventListener('pagehide', () => this.#playback.leave({ forGood: true }), { signal });
    addEventListener('pageshow', ({ persisted }) => persisted && void this.reopen(), { signal });
    const hidden = (): void => {
      if (document.visibilityState === 'hidden') this.#playback.leave({ forGood: false });
    };
    document.addEventListener('visibilitychange', hidden, { signal });
    // One tab plays; a second one takes over.
    const other = (): void => {
      if (this.state.phase === 'idle' || !this.state.wanted) return;
      this.#store.patch({ wanted: false, notice: { kind: 'elsewhere' } });
    };
    this.#channel.addEventListener('message', other, { signal });
  }

  #waits(): void {
    if (!this.state.wanted) return;
    if (this.state.phase === 'playing' && !this.#home.video.seeking) void this.#playback.line.starved();
    this.#playback.step('wait');
  }

  #rated(): void {
    this.#store.patch({ rate: this.#home.video.playbackRate });
    this.#playback.changed();
  }

  #ready(): void {
    if (this.state.wanted) void this.#start();
    else this.#halted();
  }

  #moves(): void {
    this.#playback.step('play');
    this.#playback.moves();
    this.#playback.changed();
  }

  #halted(): void {
    const { video } = this.#home;
    // The event comes late: a press that plays again may have come before it.
    if (!video.paused || video.ended || this.state.phase === 'ended' || video.readyState === 0) return;
    if (this.state.wanted && isOpen(this.state.phase) && !document.hidden) {
      // By the system's own controls, or by a headset that was pulled out.
      this.#store.patch({ wanted: false });
    }
    if (this.state.wanted) return;
    this.#playback.step('pause');
    this.#playback.settled();
    this.#playback.changed();
  }

  #measure(): void {
    const { video } = this.#home;
    const { start, durationMs } = this.state;
    const own = Number.isFinite(video.duration) ? video.duration * 1000 : 0;
    this.#store.patch({
      positionMs: this.#playback.positionMs(),
      durationMs: start?.session.durationMs ?? (own || durationMs),
      bufferedMs: this.#bufferedEnd() * 1000,
    });
  }

  #bufferedEnd(): number {
    const { buffered, currentTime } = this.#home.video;
    for (let i = 0; i < buffered.length; i += 1)
      if (buffered.start(i) <= currentTime + 0.2 && currentTime <= buffered.end(i)) return buffered.end(i);
    return currentTime;
  }

  /** The delivered picture has the subtitle in it, so its style is not ours. */
  get isBurnedIn(): boolean {
    return this.state.start !== undefined && deliveredAsPicture(this.state.start);
  }
}
