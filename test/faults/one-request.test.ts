import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { parseCues } from '#platform/subtitles/cues.ts';
import { type Api, startApi } from '#support/api.ts';
import { longestProbeMs, type Watched } from '#support/cpu.ts';
import { PATIENCE } from '#support/patience.ts';
import { startApiProcess } from '#support/processes.ts';
import { withBoundedTexts } from '#workers/probe/bounded-texts.ts';

const MOST_MS = 100 * PATIENCE;

describe('one request', () => {
  let api: Api;
  let own: Watched;
  before(async () => {
    api = await startApi();
    mkdirSync(api.config.scratchDir, { recursive: true });
    own = await startApiProcess(api);
    await longestProbeMs(own, () => fetch(`${own.url}/api/v1/server/info`)); // code is compiled once
  });

  const takes = (path: string, init: RequestInit): Promise<number> =>
    longestProbeMs(own, () => fetch(own.url + path, init).catch(() => undefined));

  it('of many form fields delays no other request', async () => {
    const body = Array.from({ length: 180_000 }, (_, i) => `${i}=`)
      .join('&')
      .slice(0, 1_000_000);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await takes('/api/v1/auth/oidc/logout', { method: 'POST', body, headers })).to.be.lessThan(MOST_MS);
  });

  it('with a picture of comments delays no other request', async () => {
    const { headers } = await api.given.person('child');
    const me = (await (await fetch(`${own.url}/api/v1/auth/me`, { headers })).json()) as { profile: { id: string } };
    const body = `${'<!---->'.repeat(40)} `;
    const options = { method: 'PUT', body, headers: { ...headers, 'content-type': 'image/svg+xml' } };
    expect(await takes(`/api/v1/auth/profiles/${me.profile.id}/avatar`, options)).to.be.lessThan(MOST_MS);
  });

  it('with a condition of tabs delays no other request', async () => {
    const { headers } = await api.given.admin();
    const options = { headers: { ...headers, 'if-none-match': `a${'\t'.repeat(15_000)}b` } };
    expect(await takes('/api/v1/items', options)).to.be.lessThan(MOST_MS);
  });

  it('for the description of the API delays no other request, the first one either', async () => {
    const fresh = await startApiProcess(api);
    const requestWith = (coding: string) => () =>
      fetch(`${fresh.url}/api/v1/openapi.json`, { headers: { 'accept-encoding': coding } });
    // The first request also loads the modules of its area.
    expect(await longestProbeMs(fresh, requestWith('br')), 'compressed').to.be.lessThan(MOST_MS + 150);
    expect(await longestProbeMs(fresh, requestWith('identity')), 'plain').to.be.lessThan(MOST_MS);
    expect(await longestProbeMs(fresh, () => fetch(`${fresh.url}/api/v1/docs`)), 'page').to.be.lessThan(MOST_MS + 150);
  });
});

describe('one file', () => {
  const spentMs = (work: () => unknown): number => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };

  it('of subtitles is read in one pass, with any content', () => {
    const head = '1\n00:00:01,000 --> 00:00:02,000\n';
    const styled = '[Script Info]\n[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,';
    for (const sign of ['{', '{\\', '{\\pos(', '{\\an', '<', '&', '\t', '\n\t', '-->']) {
      for (const [text, format] of [
        [head + sign.repeat(250_000), 'subrip'],
        [styled + sign.repeat(250_000), 'ass'],
      ] as const) {
        expect(
          spentMs(() => parseCues(text, format)),
          `${format} of ${JSON.stringify(sign)}`,
        ).to.be.lessThan(1000);
      }
    }
  });

  it('with endless texts about itself is kept with short ones', () => {
    const long = '\t'.repeat(19_000);
    const common = { index: 0, default: true, forced: false, hearingImpaired: false };
    const kept = withBoundedTexts({
      container: 'mp4',
      durationMs: 1,
      startMs: 0,
      bitrate: 1,
      streams: [{ ...common, kind: 'video', codec: 'h264', title: long }],
      chapters: Array.from({ length: 100_000 }, () => ({ startMs: 0, endMs: 1, title: long })),
      tags: { ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, long])) },
      probeVersion: 1,
    });
    expect(JSON.stringify(kept).length).to.be.lessThan(6_000_000);
    expect(kept.streams[0]).to.include({ ...common, codec: 'h264' });
  });
});
