import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { atEndOfRun } from './stores.ts';

let browser: Promise<Browser> | undefined;

/** Debian's Chromium without a window; one a run. */
export function startBrowser(): Promise<Browser> {
  browser ??= chromium
    .launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required', '--mute-audio'],
    })
    .then((started) => {
      atEndOfRun(() => started.close());
      return started;
    });
  return browser;
}

const script = join(import.meta.dirname, '../../node_modules/hls.js/dist/hls.min.js');

/** A page at the server's own origin with hls.js, which plays `url` with these request headers. */
export async function openPlayer(origin: string, url: string, headers: Record<string, string>): Promise<Page> {
  const page = await (await startBrowser()).newPage();
  const html = `<!doctype html><video id="v" width="320" muted></video><script src="/hls.js"></script><script>
    const v = document.getElementById('v');
    window.faults = [];
    window.hls = new Hls({ xhrSetup(xhr) { for (const [k, x] of Object.entries(${JSON.stringify(headers)})) xhr.setRequestHeader(k, x); } });
    hls.on(Hls.Events.ERROR, (_, d) => faults.push([d.fatal, d.details, String(d.error && d.error.message)]));
    hls.loadSource(${JSON.stringify(url)}); hls.attachMedia(v);
    window.say = () => ({ at: v.currentTime, ended: v.ended, duration: v.duration, width: v.videoWidth, state: v.readyState, paused: v.paused,
      frames: v.getVideoPlaybackQuality().totalVideoFrames, dropped: v.getVideoPlaybackQuality().droppedVideoFrames,
      buffered: Array.from({ length: v.buffered.length }, (_, i) => [v.buffered.start(i), v.buffered.end(i)]), faults });
  </script>`;
  await page.route('**/player.html', (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await page.route('**/hls.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: readFileSync(script, 'utf8') }),
  );
  await page.goto(`${origin}/player.html`);
  return page;
}

export interface PlayerState {
  at: number;
  ended: boolean;
  duration: number;
  width: number;
  state: number;
  paused: boolean;
  frames: number;
  dropped: number;
  buffered: [number, number][];
  /** Fatal or not, hls.js's word, the message. */
  faults: [boolean, string, string][];
}

export function playerState(page: Page): Promise<PlayerState> {
  return page.evaluate('say()');
}
