// The player: its place in the film, changes in the middle, subtitles, and faults.
import type { Break } from './break.ts';

const PLAYBACK = 'web/src/core/player/playback.ts';
const OVERLAY = 'web/src/features/player/Overlay.svelte';
const NEXT_UP = 'web/src/features/player/NextUp.svelte';
const PLAYS = 'plays a file directly, seeks to the frame, shows subtitles, and resumes where it was left';
const COUNTDOWN = 'begin by a countdown that can be ended; the one before is watched';
const CUT = 'goes on after the network was cut for a minute';
const READS_AGAIN = "return isAhead && !isSecond ? this.#reopen(now) : { do: 'fail' };";
const ONCE = { RUNS: '1' };

export const playing: readonly Break[] = [
  {
    rule: 'the countdown to the next item can be ended',
    file: NEXT_UP,
    text: '  isDismissed = true;\n',
    instead: '',
    test: 'test/web/player-next.slow.test.ts',
    title: COUNTDOWN,
  },
  {
    rule: 'the countdown leads to the next item',
    file: NEXT_UP,
    text: '    controller.next();\n  }, 1000);',
    instead: '  }, 1000);',
    test: 'test/web/player-next.slow.test.ts',
    title: COUNTDOWN,
  },
  {
    rule: 'a film resumes where it was left',
    file: PLAYBACK,
    text: 'await this.#use(start, start.session.positionMs);',
    instead: 'await this.#use(start, 0);',
    test: 'test/web/player.test.ts',
    title: PLAYS,
  },
  {
    rule: 'a seek lands on its frame, not on the keyframe before it',
    file: PLAYBACK,
    text: 'else video.currentTime = to / 1000;',
    instead: 'else video.currentTime = Math.floor(to / 2000) * 2;',
    test: 'test/web/player.test.ts',
    title: PLAYS,
  },
  {
    rule: 'markup in a subtitle is text',
    file: OVERLAY,
    text: '{piece.text}</span>',
    instead: '{@html piece.text}</span>',
    test: 'test/web/player.test.ts',
    title: PLAYS,
  },
  {
    rule: 'a change of the stream goes on at the current second',
    file: PLAYBACK,
    text: 'return await this.#use(next, this.positionMs());',
    instead: 'return await this.#use(next, start.session.positionMs);',
    test: 'test/web/player-switch.slow.test.ts',
    title: 'keeps the second of a film that plays, and its subtitles',
  },
  {
    rule: 'a stream begins at its position',
    file: 'web/src/core/player/hls.ts',
    text: 'hls.on(Hls.Events.MANIFEST_PARSED, () => hls.startLoad(startMs / 1000));',
    instead: 'hls.on(Hls.Events.MANIFEST_PARSED, () => hls.startLoad(0));',
    test: 'test/web/player.test.ts',
    title: 'keeps the second while the audio changes in a stream',
  },
  {
    rule: 'subtitles appear at their time',
    file: OVERLAY,
    text: 'seconds * 1000 - controller.offsetMs',
    instead: 'seconds * 1000 - 100 - controller.offsetMs',
    test: 'test/web/player-subtitles.slow.test.ts',
    title: 'appear within 50 ms of their time, also with an offset',
  },
  {
    rule: 'subtitles follow their offset',
    file: OVERLAY,
    text: 'seconds * 1000 - controller.offsetMs',
    instead: 'seconds * 1000',
    test: 'test/web/player-subtitles.slow.test.ts',
    title: 'appear within 50 ms of their time, also with an offset',
  },
  {
    rule: 'a page that is left reports its position',
    file: PLAYBACK,
    text: '    if (forGood) void this.#reporter?.end({ pageIsLeft: true });\n    else this.#reporter?.leave();\n',
    instead: '    void forGood;\n',
    test: 'test/web/player-position.slow.test.ts',
    title: 'survives a closed tab, run',
    env: ONCE,
  },
  {
    rule: 'the position is reported while the film plays',
    file: 'web/src/core/player/report.ts',
    text: '    this.#timers.push(setInterval(() => void this.#report(), home.keepAliveMs));\n',
    instead: '',
    test: 'test/web/player-position.slow.test.ts',
    title: 'survives a killed browser, run',
    env: ONCE,
  },
  {
    rule: 'a position that the server does not have waits in the browser',
    file: 'web/src/core/player/report.ts',
    text: '    this.#home.outbox.keep({ profileId, itemId, fileId, positionMs: reading.positionMs, at });\n',
    instead: '    void [profileId, itemId, fileId];\n',
    test: 'test/web/player-position.slow.test.ts',
    title: 'waits in the browser while the network is gone, run',
    env: ONCE,
  },
  {
    rule: 'a file that cannot be read shows its reason',
    file: 'web/src/core/player/recovery.ts',
    text: READS_AGAIN,
    instead: "return { do: 'lower' };",
    test: 'test/web/player-transcoder.slow.test.ts',
    title: 'shows at once that the file cannot be read',
  },
  {
    rule: 'a file that could not be read for a moment is read by another session',
    file: 'web/src/core/player/recovery.ts',
    text: READS_AGAIN,
    instead: "return { do: 'fail' };",
    test: 'test/web/player-transcoder.slow.test.ts',
    title: 'goes on by another session when the file could not be read for a moment',
  },
  {
    rule: 'a file that is loaded again goes on where it was',
    file: 'web/src/core/player/direct.ts',
    text: '      startMs = atMs;\n',
    instead: '',
    test: 'test/web/player-faults.slow.test.ts',
    title: CUT,
  },
  {
    rule: 'a request that was lost is sent again',
    file: 'web/src/core/player/mender.ts',
    text: '    this.#timer = setTimeout(() => void this.#again(), waitMs);\n',
    instead: '',
    test: 'test/web/player-faults.slow.test.ts',
    title: CUT,
  },
];
