// Shared by the parts of the player page: the player's state, its open panel, and the commands of keys and buttons.
import type { PlaybackPreferences, SubtitleStyle } from 'foyer-client';
import { problemOf } from '#core/api/errors.ts';
import { language } from '#core/messages/text.ts';
import type { Command } from '#core/player/keys.ts';
import type { Player } from '#core/player/player.ts';
import type { PlayerState } from '#core/player/state.ts';
import { keepOffset, offsetOf } from '#core/subtitles/style.ts';
import * as m from '#messages/player.ts';
import { failureText } from '#ui/failure-text.ts';
import { subtitleLabel } from './labels.ts';
import { clock, signedSeconds } from './time.ts';

export type Panel = 'subtitles' | 'style' | 'audio' | 'quality' | 'rate' | 'more' | 'why' | 'help';

const HIDE_MS = 3000;
/** The heading, which has the focus after the way here, is none. */
const FOCUSED_CONTROL = '.controls :focus-visible, .top button:focus-visible';
const SAY_MS = 1600;
/** A sentence that was not awaited takes longer to read. */
const SAY_LONG_MS = 6000;
const SPOKEN = 'foyer.spoken';
const FILLED = 'foyer.filled';

/** What the page does itself. */
export interface PageActions {
  fullscreen(): void;
  pip(): void;
  next(): boolean;
  previous(): Promise<boolean>;
  leave(): void;
  /** The button of a marker. */
  skip(): boolean;
  /** Opens the item once more, after a failure. */
  again(): Promise<void>;
}

export class Controller {
  state: PlayerState;
  /** The controls are visible. */
  shown = $state(true);
  panel = $state<Panel>();
  /** The last change by a key, in words. */
  announced = $state('');
  offsetMs = $state(0);
  /** Grows when the text of a track may be another one. */
  textsRead = $state(0);
  style = $state.raw<SubtitleStyle>();
  prefs = $state.raw<PlaybackPreferences>();
  isFullscreen = $state(false);
  /** The picture fills the screen and loses its edges. Kept for the episodes that follow in this tab. */
  isFilled = $state(sessionStorage.getItem(FILLED) === 'yes');
  /** Arrow keys move the focus, as on a television. */
  isSofa = $state(false);
  /** Cues are repeated to screen readers. */
  isSpoken = $state(localStorage.getItem(SPOKEN) === 'yes');
  /** It has moved on this page. */
  hasPlayed = $state(false);
  /** Where dragging would lead. */
  #previewMs = $state<number>();
  #player: Player | undefined;
  #actions: PageActions;
  #hide: ReturnType<typeof setTimeout> | undefined;
  #unsay: ReturnType<typeof setTimeout> | undefined;
  #lastSubtitle: string | null = null;

  constructor(initial: PlayerState, actions: PageActions) {
    this.state = $state.raw(initial);
    this.#actions = actions;
  }

  get player(): Player {
    if (!this.#player) throw new Error('the player has not started');
    return this.#player;
  }

  start(player: Player): void {
    this.#player = player;
  }

  follow(state: PlayerState): void {
    const before = this.state.subtitleId;
    this.state = state;
    this.hasPlayed ||= state.phase === 'playing';
    if (state.subtitleId === before) return;
    if (before) this.#lastSubtitle = before;
    this.offsetMs = offsetOf(localStorage, state.subtitleId);
  }

  /** The person did something: the controls are there for a while. */
  wake(): void {
    this.shown = true;
    clearTimeout(this.#hide);
    this.#hide = setTimeout(() => this.rest(), HIDE_MS);
  }

  /** At once, by the person. */
  hide(): void {
    clearTimeout(this.#hide);
    if (this.state.phase === 'playing') this.shown = false;
  }

  rest(): void {
    clearTimeout(this.#hide);
    const { phase } = this.state;
    const isFocused = document.activeElement?.matches(FOCUSED_CONTROL) ?? false;
    if (phase !== 'playing' || this.panel || isFocused) this.#hide = setTimeout(() => this.rest(), HIDE_MS);
    else this.shown = false;
  }

  toggle(panel: Panel): void {
    this.panel = this.panel === panel ? undefined : panel;
    this.wake();
  }

  close(): void {
    this.panel = undefined;
    this.wake();
  }

  say(text: string, forMs = SAY_MS): void {
    this.announced = text;
    clearTimeout(this.#unsay);
    this.#unsay = setTimeout(() => {
      this.announced = '';
    }, forMs);
  }

  stop(): void {
    clearTimeout(this.#hide);
    clearTimeout(this.#unsay);
  }

  setSpoken(isSpoken: boolean): void {
    this.isSpoken = isSpoken;
    localStorage.setItem(SPOKEN, isSpoken ? 'yes' : 'no');
  }

  fill(isFilled: boolean): void {
    this.isFilled = isFilled;
    sessionStorage.setItem(FILLED, isFilled ? 'yes' : 'no');
    this.say(isFilled ? m.nowFilled() : m.nowWhole());
  }

  /** Says where dragging leads; undefined ends it. */
  preview(ms: number | undefined): void {
    this.#previewMs = ms;
    this.wake();
    if (ms !== undefined) this.say(clock(ms));
  }

  get shownMs(): number {
    return this.#previewMs ?? this.state.targetMs ?? this.state.positionMs;
  }

  again(): Promise<void> {
    return this.#actions.again();
  }

  /** A track could not be loaded; the film goes on without it. */
  failedSubtitle(error: unknown): void {
    const problem = problemOf(error);
    const isOurs = problem.code === 'unexpected';
    this.say(isOurs ? m.subtitlesEnded() : m.subtitleFailed({ reason: failureText(problem).title }), SAY_LONG_MS);
  }

  setOffset(ms: number): void {
    const { subtitleId } = this.state;
    if (!subtitleId) return;
    this.offsetMs = keepOffset(localStorage, subtitleId, ms);
    this.say(m.nowOffset({ offset: signedSeconds(this.offsetMs, language()) }));
  }

  async run(command: Command): Promise<void> {
    const simple = SIMPLE[command.do];
    if (simple) return simple(this);
    if (command.do === 'seekBy') this.player.seekBy(command.by);
    else if (command.do === 'seekTo') this.player.seek(command.share * this.state.durationMs);
    else if (command.do === 'frames') this.player.stepFrames(command.by);
    else if (command.do === 'chapterBy') this.player.chapterBy(command.by);
    else if (command.do === 'volumeBy') this.#volume(command.by);
    else if (command.do === 'rateBy') this.#rate(command.by);
    else if (command.do === 'offsetBy') this.setOffset(this.offsetMs + command.by);
  }

  act(action: 'fullscreen' | 'pip' | 'leave'): void {
    this.#actions[action]();
  }

  next(): void {
    if (!this.#actions.next()) this.say(m.noNext());
  }

  async previous(): Promise<void> {
    try {
      if (!(await this.#actions.previous())) this.say(m.noPrevious());
    } catch (error) {
      this.say(failureText(problemOf(error)).title);
    }
  }

  skip(): void {
    this.#actions.skip();
  }

  /** Closes the topmost panel; leaves with nothing on it. */
  escape(): void {
    if (this.panel) this.close();
    else if (this.isFullscreen) this.act('fullscreen');
    else this.act('leave');
  }

  mute(): void {
    this.player.toggleMuted();
    this.say(this.state.muted ? m.nowMuted() : m.nowVolume({ percent: Math.round(this.state.volume * 100) }));
  }

  async captions(): Promise<void> {
    const { start, subtitleId } = this.state;
    const first = start?.subtitles.find((one) => one.streamId === this.#lastSubtitle) ?? start?.subtitles[0];
    await this.player.setSubtitle(subtitleId ? null : (first?.streamId ?? null));
    this.saySubtitle();
  }

  async nextCaptions(): Promise<void> {
    await this.player.nextSubtitle();
    this.saySubtitle();
  }

  saySubtitle(): void {
    const { start, subtitleId } = this.state;
    const track = start?.subtitles.find((one) => one.streamId === subtitleId);
    if (start?.subtitles.length === 0) this.say(m.noSubtitles());
    else this.say(track ? m.nowSubtitles({ track: subtitleLabel(track).name }) : m.nowSubtitlesOff());
  }

  #volume(by: number): void {
    this.player.setVolume(this.state.volume + by);
    this.say(m.nowVolume({ percent: Math.round(this.state.volume * 100) }));
  }

  #rate(by: number): void {
    this.player.setRate(Math.round((this.state.rate + by) * 100) / 100);
    this.say(m.nowRate({ rate: this.state.rate }));
  }
}

type Simple = Partial<Record<Command['do'], (controller: Controller) => void | Promise<void>>>;
const SIMPLE: Simple = {
  toggle: (c) => c.player.toggle(),
  play: (c) => c.player.play(),
  pause: (c) => c.player.pause(),
  mute: (c) => c.mute(),
  fullscreen: (c) => c.act('fullscreen'),
  pip: (c) => c.act('pip'),
  captions: (c) => c.captions(),
  nextCaptions: (c) => c.nextCaptions(),
  audio: (c) => c.toggle('audio'),
  quality: (c) => c.toggle('quality'),
  why: (c) => c.toggle('why'),
  help: (c) => c.toggle('help'),
  settings: (c) => c.toggle('more'),
  next: (c) => c.next(),
  previous: (c) => c.previous(),
  skip: (c) => c.skip(),
  escape: (c) => c.escape(),
};

/** Where the film is, in words. */
export const timeText = (controller: Controller): string =>
  m.timeOf({ position: clock(controller.shownMs), duration: clock(controller.state.durationMs) });
