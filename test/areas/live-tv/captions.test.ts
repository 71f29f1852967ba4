import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { captionsKey } from '#platform/live/captions.ts';
import { listSegments, removeSegments } from '#platform/live/segments.ts';
import { type Api, startApi } from '#support/api.ts';
import { CaptionScript, line21, packet708, window708, withCaptions } from '#support/captions.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { teletextStream } from '#support/teletext.ts';
import { broadcast, tunerBox } from '#support/tuner-box.ts';

/** Texts by their time in the eight seconds of the broadcast. */
const TEXTS = new Map([
  ['NEWS AT NINE', 2000],
  ['WEATHER & SPORT', 5000],
]);

/** The broadcast with captions in its pictures, and with pages of teletext. */
function captioned(): Buffer {
  const script = new CaptionScript();
  for (const [text, atMs] of TEXTS) script.field(atMs - 500, line21.popOn(text));
  script.digital(3000, packet708(2, 0, window708('Noticias', 10)));
  const folder = temporaryFolder('captioned');
  const [pictures, pages, path] = ['pictures.ts', 'pages.ts', 'all.ts'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(pictures, broadcast('h264'));
  const lines = (text: string) => [{ row: 20, text }];
  writeFileSync(
    pages,
    teletextStream([
      { atMs: 2000, lines: lines('Die Nachrichten'), national: 1 },
      { atMs: 4000, lines: [] },
      { atMs: 6000, lines: lines('Wetter') },
    ]),
  );
  const args = ['-copyts', '-itsoffset', '-1.4', '-i', pictures, '-i', pages, '-map', '0', '-map', '1:s', '-c', 'copy'];
  const muxing = ['-muxdelay', '0', '-muxpreload', '0', '-f', 'mpegts', path];
  const { status, stderr } = spawnSync('ffmpeg', ['-loglevel', 'error', '-y', ...args, ...muxing]);
  if (status !== 0) throw new Error(String(stderr));
  return withCaptions(readFileSync(path), (atMs) => script.at(atMs));
}

interface Cue {
  text: string;
  /** Ticks of the broadcast, as milliseconds. */
  atMs: number;
}

const ms = (text: string): number => {
  const [h, m, s] = text.split(':').map(Number);
  return Math.round(((h ?? 0) * 3600 + (m ?? 0) * 60 + (s ?? 0)) * 1000);
};

function cuesOf(vtt: string): Cue[] {
  const [, ticks] = /X-TIMESTAMP-MAP=MPEGTS:(\d+),LOCAL:00:00:00.000\n/.exec(vtt) ?? [];
  const blocks = [...vtt.matchAll(/^([\d:.]+) --> ([\d:.]+)[^\n]*\n((?:.+\n)+)/gm)];
  return blocks.map(([, start = '', , text = '']) => ({ text: text.trim(), atMs: ms(start) + Number(ticks) / 90 }));
}

describe('captions of live television', function () {
  this.timeout(60_000);
  let api: Api;
  let stage: LiveStage;
  let headers: Record<string, string>;
  const read = async (path: string): Promise<string> => {
    const answer = await api.fetch(path, { headers });
    expect(answer.status, path).to.equal(200);
    return answer.text();
  };

  before(async () => {
    api = await startApi();
    stage = new LiveStage(api);
    await stage.prepare();
  });

  it('are renditions of WebVTT on the clock of the pictures, and leave with their segments', async () => {
    const box = await tunerBox(captioned(), 1);
    const roof = await stage.tuner(1);
    const channel = await stage.channel('One', [{ tunerId: roof, url: box.channel('1') }]);
    const owner = await api.given.owner();
    headers = owner.headers;
    await stage.process(roof);
    const { body } = await api
      .as(owner)
      .watchLiveChannel({ params: { id: channel }, body: { client: { builtIn: 'chromium' } } });
    const base = `/api/v1/live/sessions/${body.session.id}`;
    const master = await read(`${base}/master.m3u8`);
    expect(master).to.match(/TYPE=SUBTITLES,GROUP-ID="captions",NAME="CC1",.*URI="cc1\/index.m3u8"/);
    expect(master).to.match(/NAME="English",LANGUAGE="en",.*URI="page888\/index.m3u8"/);
    expect(master).to.match(/SUBTITLES="captions",CLOSED-CAPTIONS=NONE\nsource\/index.m3u8/);

    const all = async (rendition: string): Promise<{ cues: Cue[]; firstMs: number }> => {
      const list = await read(`${base}/${rendition}/index.m3u8`);
      const cues: Cue[] = [];
      for (const [file] of list.matchAll(/^segments\/\d+\.vtt$/gm))
        cues.push(...cuesOf(await read(`${base}/${rendition}/${file}`)));
      const source = await read(`${base}/source/index.m3u8`);
      const [first = ''] = /segments\/\d+\.ts/.exec(source) ?? [];
      const path = join(temporaryFolder('first'), 'first.ts');
      writeFileSync(path, Buffer.from(await (await api.fetch(`${base}/source/${first}`, { headers })).arrayBuffer()));
      const probe = ['-v', 'error', '-select_streams', 'v', '-show_entries', 'packet=pts', '-of', 'csv=p=0', path];
      const firstMs = Number.parseInt(String(spawnSync('ffprobe', probe).stdout), 10) / 90;
      return { cues, firstMs };
    };
    await eventually(async () => (await all('cc1')).cues.some(({ text }) => text.startsWith('WEATHER')), 20_000);
    const { cues, firstMs } = await all('cc1');
    for (const [text, atMs] of TEXTS) {
      const cue = cues.find((one) => one.text === text.replace('&', '&amp;'));
      expect(cue?.atMs, text).to.be.closeTo(firstMs + atMs + 300, 300); // a pair of letters comes with each picture
    }
    const pages = (await all('page888')).cues;
    expect(pages.map(({ text }) => text)).to.include.members(['Die Nachrichten', 'Wetter']);
    expect(pages.find(({ text }) => text === 'Wetter')?.atMs).to.be.closeTo(firstMs + 6000, 300);

    const [stream] = await api.deps.db('live_streams').where({ channel_id: channel }).select('facts', 'captions');
    expect(JSON.stringify(stream?.facts).match(/"kind":"\w+"/g)).to.deep.equal(['"kind":"video"', '"kind":"audio"']);
    expect(JSON.stringify(stream?.captions).match(/"id":"\w+"/g)).to.include.members(['"id":"cc1"', '"id":"page888"']);
    for (const path of ['cc1/segments/1.ts', 'source/segments/1.vtt', 'cc9/index.m3u8', 'page88/index.m3u8'])
      expect((await api.fetch(`${base}/${path}`, { headers })).status, path).to.be.oneOf([404, 422, 400]);

    const [segment] = await listSegments(api.deps, channel);
    if (!segment) throw new Error('no segment');
    const key = captionsKey(channel, segment);
    expect(await api.deps.objects.stat('foyer-live', key)).not.to.equal(undefined);
    await removeSegments(api.deps, channel, [segment]);
    expect(await api.deps.objects.stat('foyer-live', key)).to.equal(undefined);
  });
});
