import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openTranscodeSession, type SubtitleOptions } from '#areas/streaming/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { openPlayer, type PlayerState, playerState } from '#support/hls-browser.ts';
import { look, optionsFor, type StreamChoice } from '#support/hls-render.ts';
import { film, type Stage, worker } from '#support/hls-session.ts';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';

describe('hls.js in Chromium', function () {
  this.timeout(180_000);
  let api: Api;
  let viewer: Person;
  let made: string;

  before(async function () {
    this.timeout(600_000);
    ({ made } = await fixtures());
    api = await startApi();
    viewer = await api.given.owner();
    worker({ ...api.deps, environment: {} } as Stage);
  });

  async function open(name: string, choice: StreamChoice & { subtitles?: SubtitleOptions[] }): Promise<string> {
    copyFileSync(join(made, name), join(api.mediaRoot, name));
    const path = join(api.mediaRoot, name);
    const { fileId, itemId } = await film(api.deps.db, path, api.given.storageId);
    const options = { ...optionsFor(await look(path), choice), fileId, itemId, ...viewer, playbackSessionId: newId() };
    const { url } = await openTranscodeSession(api.deps.db, { ...options, subtitles: choice.subtitles ?? [] });
    return url;
  }

  const fatal = (state: PlayerState): unknown[] => state.faults.filter(([isFatal]) => isFatal);
  /** Holes that a player has to jump; hls.js makes one itself before the first picture of a transport stream. */
  const holes = (state: PlayerState): unknown[] =>
    state.faults.filter(([, word, text]) => word === 'bufferSeekOverHole' && !text.includes('from 0 to 0.'));

  for (const [what, name, choice] of [
    ['an encoded film', 'h264-aac.mp4', { mode: 'encode', height: 180 }],
    ['a copied film, passing over sounds it cannot decode', 'h264-base.mkv', { mode: 'copy', copyAudio: true }],
    ['a film in a transport stream', 'h264-aac.mp4', { mode: 'encode', container: 'ts', height: 180 }],
  ] as [string, string, StreamChoice][]) {
    it(`plays ${what} to its end, and seeks both ways`, async () => {
      const page = await openPlayer(api.url, await open(name, choice), viewer.headers);
      await page.evaluate('v.playbackRate = 2; v.play()');
      const began = await eventually(async () => {
        const state = await playerState(page);
        return (state.at > 1.5 || fatal(state).length > 0) && state;
      }, 30_000);
      expect(fatal(began)).to.deep.equal([]);
      expect(began.width).to.be.greaterThan(0);
      for (const to of [0.8, 0.3]) {
        await page.evaluate(`v.currentTime = v.duration * ${to}`);
        await eventually(async () => {
          const { at, duration, state } = await playerState(page);
          return state >= 3 && at > duration * to + 0.5;
        }, 30_000);
      }
      await page.evaluate('v.playbackRate = 4');
      const end = await eventually(async () => {
        const state = await playerState(page);
        return (state.ended || fatal(state).length > 0) && state;
      }, 60_000);
      expect(fatal(end)).to.deep.equal([]);
      expect(holes(end)).to.deep.equal([]);
      expect(end.at).to.be.closeTo(end.duration, 0.1);
      expect(end.buffered.length).to.equal(1);
      await page.close();
    });
  }

  it('shows subtitles at their time and changes the sound', async () => {
    const subtitles = [
      {
        streamId: newId(),
        streamIndex: 4,
        format: 'srt',
        language: 'en',
        default: true,
        forced: false,
        hearingImpaired: false,
      },
    ];
    const page = await openPlayer(api.url, await open('h264-base.mkv', { mode: 'encode', subtitles }), viewer.headers);
    await page.evaluate(
      'hls.on(Hls.Events.MANIFEST_PARSED, () => { hls.subtitleTrack = 0; hls.subtitleDisplay = true; }); v.play()',
    );
    await eventually(async () => (await playerState(page)).at > 0.5, 30_000);
    const shown = await eventually(async () => {
      const cues = await page.evaluate<[number, string][]>(
        `hls.subtitleTrack = 0, [...v.textTracks].flatMap((t) => [...(t.cues ?? [])]).map((c) => [c.startTime, c.text])`,
      );
      return cues.length >= 2 && cues;
    }, 30_000);
    expect(shown[0]?.[0]).to.be.closeTo(1, 0.05);
    expect(shown[0]?.[1]).to.equal('Good morning.');
    expect(await page.evaluate('hls.audioTracks.length')).to.equal(3);
    await page.evaluate('hls.audioTrack = 2; v.currentTime = 10');
    const state = await eventually(async () => {
      const now = await playerState(page);
      return (now.at > 12 || fatal(now).length > 0) && now;
    }, 40_000);
    expect(fatal(state)).to.deep.equal([]);
    await page.close();
  });
});
