// One channel after another in one media element: its session, its source, its reports and its buffer.
import type { FoyerClient, LiveSession, PlaybackStart } from 'foyer-client';
import { type Problem, problemOf } from '#core/api/errors.ts';
import type { LiveCaption, LiveSource } from '#core/player/live-source.ts';
import { browserProbe } from '#core/player/probe.ts';
import { clientProfile } from '#core/player/profile.ts';

export interface LiveHome {
  video: HTMLVideoElement;
  api: FoyerClient;
  /** For the last request of the page. */
  parting: FoyerClient;
  storage: Storage;
}

const EDGES_MS = 10_000;
const CLOCK_MS = 500;
/** Nearer to the newest picture than this is live. */
const LIVE_MS = 15_000;
/** A session that fails is opened again after this. */
const AGAIN_MS = 2000;

export class LivePlayer {
  channelId = $state('');
  start = $state.raw<PlaybackStart>();
  session = $state.raw<LiveSession>();
  problem = $state.raw<Problem>();
  isTuning = $state(true);
  isPaused = $state(false);
  isWaiting = $state(false);
  isMuted = $state(false);
  /** The time of the picture that is shown, Unix ms. */
  positionMs = $state(0);
  edgeMs = $state(0);
  captions = $state.raw<LiveCaption[]>([]);
  /** Name of those that are shown. */
  caption = $state<string>();
  /** Language of the picture subtitles that are burned in; they stay with the next channel that has them. */
  pictures = $state<string>();
  readonly #home: LiveHome;
  #source: LiveSource | undefined;
  /** Raised by each channel; what an older one answers later is left out. */
  #turn = 0;
  #timers: ReturnType<typeof setInterval>[] = [];
  #edgeReadAt = 0;
  /** The captions that were chosen last; another channel shows those of the same language. */
  #chosen: LiveCaption | undefined;

  constructor(home: LiveHome) {
    this.#home = home;
    const { video } = home;
    const follow = (): void => {
      this.isPaused = video.paused;
      this.isMuted = video.muted;
    };
    for (const name of ['play', 'pause', 'volumechange']) video.addEventListener(name, follow);
    video.addEventListener('waiting', () => {
      this.isWaiting = true;
    });
    video.addEventListener('playing', () => {
      this.isWaiting = false;
      this.isTuning = false;
    });
  }

  get bufferFromMs(): number {
    return this.session ? Date.parse(this.session.bufferFrom) : this.edgeMs;
  }

  get isLive(): boolean {
    return this.edgeMs - this.positionMs < LIVE_MS;
  }

  /** Tunes to a channel; the one before lets its tuner go in the same step. */
  async open(channelId: string): Promise<void> {
    const replaces = this.start?.session.id;
    const turn = this.#next();
    this.channelId = channelId;
    this.problem = undefined;
    this.session = undefined;
    this.positionMs = 0;
    this.isTuning = true;
    const { api, storage } = this.#home;
    try {
      const client = await clientProfile(browserProbe(), storage);
      const [start, { liveSource }] = await Promise.all([
        api.watchLiveChannel({
          params: { id: channelId },
          body: { client, ...(replaces && { replaces }), ...(this.pictures && { subtitleLanguage: this.pictures }) },
        }),
        import('#core/player/live-source.ts'),
      ]);
      if (turn !== this.#turn) return void api.endPlaybackSession({ params: { id: start.session.id } });
      this.start = start;
      this.#take(start.session.live);
      const fault = (): void => void this.#again(turn);
      const found = (captions: LiveCaption[]): void => this.#found(captions);
      this.#source = liveSource({ video: this.#home.video, url: start.session.url, fault, found });
      void this.#home.video.play().catch(() => undefined);
      this.#run(start);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.start = undefined;
      this.isTuning = false;
      this.problem = problemOf(error);
    }
  }

  toggle(): void {
    const { video } = this.#home;
    if (video.paused) void video.play().catch(() => undefined);
    else video.pause();
  }

  toggleMuted(): void {
    this.#home.video.muted = !this.#home.video.muted;
  }

  seek(atMs: number): void {
    const to = Math.min(Math.max(atMs, this.bufferFromMs), this.edgeMs);
    this.positionMs = to;
    this.#source?.seek(to);
    void this.#report();
  }

  /** Reads the session again, such as after a change of its recording. */
  readAgain(): Promise<void> {
    return this.#readEdges();
  }

  toEdge(): void {
    this.#source?.toEdge();
    void this.#home.video.play().catch(() => undefined);
  }

  /** Shows captions by their name, or none. */
  showCaption(name: string | undefined): void {
    this.#chosen = this.captions.find((one) => one.name === name);
    this.caption = this.#chosen?.name;
    this.#source?.showCaption(this.caption);
  }

  /** Burns picture subtitles in, or no longer: that is another stream, which begins at the newest picture. */
  showPictures(language: string | undefined): void {
    if (language === this.pictures) return;
    this.pictures = language;
    void this.open(this.channelId);
  }

  #found(captions: LiveCaption[]): void {
    this.captions = captions;
    const { name, language } = this.#chosen ?? {};
    const same =
      captions.find((one) => one.name === name) ?? captions.find((one) => language && one.language === language);
    this.caption = same?.name;
    if (same) this.#source?.showCaption(same.name);
  }

  /** Ends the session with a request that outlives the page. */
  close(): void {
    const id = this.start?.session.id;
    this.#next();
    this.start = undefined;
    if (id) void this.#home.parting.endPlaybackSession({ params: { id } }).catch(() => undefined);
  }

  #next(): number {
    this.#source?.destroy();
    this.#source = undefined;
    this.captions = [];
    this.caption = undefined;
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#turn += 1;
    return this.#turn;
  }

  #run({ keepAliveMs }: PlaybackStart): void {
    this.#timers.push(setInterval(() => void this.#report(), keepAliveMs));
    this.#timers.push(setInterval(() => void this.#readEdges(), EDGES_MS));
    this.#timers.push(setInterval(() => this.#tick(), CLOCK_MS));
  }

  #tick(): void {
    const now = this.#source?.now();
    if (now !== undefined) this.positionMs = now;
    if (this.session) this.edgeMs = Date.parse(this.session.liveEdge) + (performance.now() - this.#edgeReadAt);
  }

  #take(session: LiveSession | undefined): void {
    if (!session) return;
    this.session = session;
    this.#edgeReadAt = performance.now();
    this.edgeMs = Date.parse(session.liveEdge);
    this.positionMs ||= this.edgeMs;
  }

  async #readEdges(): Promise<void> {
    const [id, turn] = [this.start?.session.id, this.#turn];
    if (!id) return;
    const session = await this.#home.api.getLiveSession({ params: { id } }).catch(() => undefined);
    if (turn === this.#turn) this.#take(session);
  }

  async #report(): Promise<void> {
    const [id, turn] = [this.start?.session.id, this.#turn];
    if (!id) return;
    const state = this.#home.video.paused ? 'paused' : 'playing';
    const body = { state, positionMs: Math.round(this.positionMs) } as const;
    try {
      await this.#home.api.reportPlayback({ params: { id }, body });
    } catch (error) {
      const { status, reason } = problemOf(error);
      if (status === 404 || reason === 'session-stopped') await this.#again(turn);
    }
  }

  /** The session or its stream was lost: the channel is opened once more. */
  async #again(turn: number): Promise<void> {
    if (turn !== this.#turn) return;
    this.#next();
    this.isTuning = true;
    const waited = this.#turn;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    if (waited === this.#turn) await this.open(this.channelId);
  }
}
